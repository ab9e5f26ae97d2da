//! Disks and network interfaces between two looks.

use super::samples_by_thing::Span;
use kgauge_results::run::{DiskSample, NetworkSample};

/// What a disk did between two looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiskPoint {
    /// From when, in nanoseconds since the start of the repeat.
    pub start_ns: u64,
    /// To when.
    pub end_ns: u64,
    /// Bytes read.
    pub read_bytes_per_s: f64,
    /// Bytes written.
    pub written_bytes_per_s: f64,
    /// Reads completed.
    pub reads_per_s: f64,
    /// Writes completed.
    pub writes_per_s: f64,
    /// Mean time of those reads; `None` without any.
    pub read_ns_mean: Option<f64>,
    /// Mean time of those writes.
    pub write_ns_mean: Option<f64>,
    /// Mean time of the flushes of its own cache.
    pub flush_ns_mean: Option<f64>,
    /// The share of the time with anything under way, 0 to 1.
    pub busy_share: f64,
    /// Mean number of reads and writes under way.
    pub queue_mean: f64,
}

/// What went through an interface between two looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkPoint {
    /// From when, in nanoseconds since the start of the repeat.
    pub start_ns: u64,
    /// To when.
    pub end_ns: u64,
    /// Bytes in.
    pub received_bytes_per_s: f64,
    /// Packets in.
    pub received_packets_per_s: f64,
    /// Bytes out.
    pub sent_bytes_per_s: f64,
    /// Packets out.
    pub sent_packets_per_s: f64,
    /// Packets dropped, coming in or going out.
    pub drops: u64,
}

pub(super) fn disk_between(span: Span, one: &&DiskSample, next: &&DiskSample) -> Option<DiskPoint> {
    let flushes = one.flushes.zip(one.flush_ns);
    let flushes = flushes.zip(next.flushes.zip(next.flush_ns));
    let length_ns = span.end_ns.saturating_sub(span.start_ns).max(1);
    let mean = |one, next| mean(length_ns, one, next);
    let share = |one, next| Some(rise_ns(length_ns, one, next)? as f64 / length_ns as f64);
    Some(DiskPoint {
        start_ns: span.start_ns,
        end_ns: span.end_ns,
        read_bytes_per_s: span.per_s(one.read_bytes, next.read_bytes)?,
        written_bytes_per_s: span.per_s(one.written_bytes, next.written_bytes)?,
        reads_per_s: span.per_s(one.reads, next.reads)?,
        writes_per_s: span.per_s(one.writes, next.writes)?,
        read_ns_mean: mean((one.reads, one.read_ns), (next.reads, next.read_ns)),
        write_ns_mean: mean((one.writes, one.write_ns), (next.writes, next.write_ns)),
        flush_ns_mean: flushes.and_then(|(one, next)| mean(one, next)),
        // The kernel counts it in steps: a busy second may show a little more than a second.
        busy_share: share(one.busy_ns, next.busy_ns)?.min(1.0),
        queue_mean: share(one.queued_ns, next.queued_ns)?,
    })
}

/// Mean time, from (how many, their times) at both looks.
fn mean(length_ns: u64, one: (u64, u64), next: (u64, u64)) -> Option<f64> {
    let count = next.0.checked_sub(one.0).filter(|count| *count > 0)?;
    Some(rise_ns(length_ns, one.1, next.1)? as f64 / count as f64)
}

/// Where the kernel's counters of milliseconds begin again: `/proc/diskstats` shows 32 bits of them. What a queue's
/// times add up to gets there in two days with a mean of 25 under way.
const WRAP_NS: u64 = (1 << 32) * 1_000_000;
/// More requests than this are never under way at one disk: a larger rise is a counter that was set back.
const QUEUE_MAX: u64 = 100_000;

/// How much a counter of a disk's times rose, even if it began again meanwhile.
fn rise_ns(length_ns: u64, one: u64, next: u64) -> Option<u64> {
    let wrapped = || {
        let rise_ns = WRAP_NS.checked_sub(one)?.checked_add(next)?;
        (rise_ns <= length_ns.saturating_mul(QUEUE_MAX)).then_some(rise_ns)
    };
    next.checked_sub(one).or_else(wrapped)
}

pub(super) fn network_between(
    span: Span,
    one: &&NetworkSample,
    next: &&NetworkSample,
) -> Option<NetworkPoint> {
    let received_drops = next.received_drops.checked_sub(one.received_drops)?;
    let sent_drops = next.sent_drops.checked_sub(one.sent_drops)?;
    Some(NetworkPoint {
        start_ns: span.start_ns,
        end_ns: span.end_ns,
        received_bytes_per_s: span.per_s(one.received_bytes, next.received_bytes)?,
        received_packets_per_s: span.per_s(one.received_packets, next.received_packets)?,
        sent_bytes_per_s: span.per_s(one.sent_bytes, next.sent_bytes)?,
        sent_packets_per_s: span.per_s(one.sent_packets, next.sent_packets)?,
        drops: received_drops.saturating_add(sent_drops),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn sample(seconds: u64, writes: u64) -> DiskSample {
        DiskSample {
            writes,
            write_ns: seconds * SECOND_NS % WRAP_NS,
            busy_ns: seconds * SECOND_NS % WRAP_NS,
            queued_ns: 3 * seconds * SECOND_NS % WRAP_NS,
            ..DiskSample::default()
        }
    }

    fn between(one: &DiskSample, next: &DiskSample) -> Option<DiskPoint> {
        let (start_ns, end_ns) = (0, 4 * SECOND_NS);
        disk_between(Span { start_ns, end_ns }, &one, &next)
    }

    #[test]
    fn counters_of_the_kernel_that_begin_again_drop_no_point() {
        // 2^32 ms are 4,294,967 s and some.
        for first in [4_294_966, 1_431_654, 1_431_655] {
            let point = between(&sample(first, 5), &sample(first + 2, 105)).unwrap();
            assert_eq!((point.busy_share, point.queue_mean), (0.5, 1.5));
            assert_eq!(point.write_ns_mean, Some(20_000_000.0));
        }
    }

    #[test]
    fn a_disk_whose_counters_were_set_back_makes_no_point() {
        assert_eq!(between(&sample(9, 5), &sample(0, 5)), None);
        let beyond = DiskSample {
            busy_ns: u64::MAX,
            ..DiskSample::default()
        };
        assert_eq!(between(&beyond, &DiskSample::default()), None);
    }
}
