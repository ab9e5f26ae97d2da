//! Disks and network interfaces between two looks.

use serde::Serialize;

use super::looks::Span;
use crate::run::{DiskLook, NetworkLook};

/// What a disk did between two looks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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

pub(super) fn disk_between(span: Span, one: &&DiskLook, next: &&DiskLook) -> Option<DiskPoint> {
    let flushes = one.flushes.zip(one.flush_ns);
    let flushes = flushes.zip(next.flushes.zip(next.flush_ns));
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
        busy_share: span.share(one.busy_ns, next.busy_ns)?.min(1.0),
        queue_mean: span.share(one.queued_ns, next.queued_ns)?,
    })
}

/// Mean time, from (how many, their times) at both looks.
fn mean(one: (u64, u64), next: (u64, u64)) -> Option<f64> {
    let count = next.0.checked_sub(one.0).filter(|count| *count > 0)?;
    Some(next.1.checked_sub(one.1)? as f64 / count as f64)
}

pub(super) fn network_between(
    span: Span,
    one: &&NetworkLook,
    next: &&NetworkLook,
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
