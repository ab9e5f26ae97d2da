//! The time that other programs can have taken from a figure, from what was recorded during a run.
//!
//! It improves no figure. A figure that misses its band by more than this time is wrong; by less, it is inconclusive.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// What was recorded about the machine during a run, in wall-clock time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct MachineLog {
    /// Samples of kgauge's own threads in which some time was lost.
    pub(crate) looks: Vec<TimeSample>,
    /// The machine, second by second.
    pub(crate) seconds: Vec<Second>,
}

/// A few milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TimeSample {
    /// Their end.
    pub(crate) at_unix_ns: u64,
    pub(crate) span_ns: u64,
    /// How long kgauge's threads waited for a processor, all together.
    pub(crate) waited_ns: u64,
    /// How late the sample itself was.
    pub(crate) late_ns: u64,
}

/// About a second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Second {
    /// Its end.
    pub(crate) at_unix_ns: u64,
    pub(crate) span_ns: u64,
    /// How long kgauge's threads waited for a processor, all together.
    pub(crate) waited_ns: u64,
    /// CPU time of all other programs.
    pub(crate) others_cpu_ns: u64,
    /// CPU time that a hypervisor gave to others.
    pub(crate) stolen_ns: u64,
    /// How long some task of the machine waited for storage.
    pub(crate) storage_ns: u64,
}

impl Second {
    /// What others took in it. They cannot have taken more than they ran, nor more than kgauge waited.
    fn taken_ns(&self) -> u64 {
        self.waited_ns.min(self.others_cpu_ns) + self.stolen_ns + self.storage_ns
    }
}

/// A part of a run, in nanoseconds since the start of its repeat.
pub(crate) type Window = Range<f64>;

/// What was lost during a repeat.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lost<'a> {
    pub(crate) log: &'a MachineLog,
    /// The start of the repeat, in wall-clock time.
    pub(crate) origin_unix_ns: f64,
}

/// A second in which kgauge's threads waited for this part of it, while others ran, counts as lost altogether.
const OUTAGE_PART: f64 = 0.25;
/// Before a sample that is this late, nothing of kgauge ran.
const OUTAGE_LATE_NS: u64 = 50_000_000;
/// Others that use less of one processor leave kgauge alone, and kernels count in ticks of 10 ms.
const OTHERS_PART: f64 = 0.03;

impl Lost<'_> {
    /// Whether a span with this end overlaps a window.
    fn overlaps(&self, window: &Window, at_unix_ns: u64, span_ns: u64) -> bool {
        let end = at_unix_ns as f64 - self.origin_unix_ns;
        end - (span_ns as f64) < window.end && end > window.start
    }

    fn samples(&self, window: &Window) -> impl Iterator<Item = &TimeSample> {
        let samples = self.log.looks.iter();
        samples.filter(move |sample| self.overlaps(window, sample.at_unix_ns, sample.span_ns))
    }

    fn seconds(&self, window: &Window) -> impl Iterator<Item = &Second> {
        let seconds = self.log.seconds.iter();
        seconds.filter(move |second| self.overlaps(window, second.at_unix_ns, second.span_ns))
    }

    /// What was lost in a short window: every wait of kgauge's threads in it, what storage and a hypervisor took in the
    /// second around it.
    pub(crate) fn near_ns(&self, window: &Window) -> f64 {
        let samples = self.samples(window);
        let waits = samples.map(|sample| sample.waited_ns + sample.late_ns);
        let seconds = self.seconds(window);
        let rest = seconds.map(|second| second.stolen_ns + second.storage_ns);
        waits.sum::<u64>() as f64 + rest.sum::<u64>() as f64
    }

    /// The time in which kgauge hardly ran: waits that long reach into a tail wherever they fall.
    pub(crate) fn outages_ns(&self, window: &Window) -> f64 {
        let late = self.samples(window).map(|sample| sample.late_ns);
        let late: u64 = late.filter(|late_ns| *late_ns >= OUTAGE_LATE_NS).sum();
        let seconds = self
            .seconds(window)
            .filter(|second| second.taken_ns() as f64 >= OUTAGE_PART * second.span_ns as f64);
        late as f64 + seconds.map(|second| second.span_ns).sum::<u64>() as f64
    }

    /// What others took from a rate.
    pub(crate) fn taken_ns(&self, window: &Window) -> f64 {
        let seconds = self.seconds(window).map(Second::taken_ns);
        let late = self.samples(window).map(|sample| sample.late_ns);
        (seconds.sum::<u64>() + late.sum::<u64>()) as f64
    }

    /// What a part of all requests did not lose more than, when each takes at most `length_ns`. Waits count in the
    /// seconds in which others ran.
    pub(crate) fn per_request_ns(&self, window: &Window, length_ns: f64, part: f64) -> f64 {
        let mut lost = Vec::new();
        let mut start = window.start;
        while start < window.end {
            let request = start..start + length_ns;
            let is_busy = self.seconds(&request).any(|second| {
                let others_ns = second.others_cpu_ns + second.stolen_ns + second.storage_ns;
                others_ns as f64 >= OTHERS_PART * second.span_ns as f64
            });
            lost.push(if is_busy {
                self.near_ns(&request)
            } else {
                let late = self.samples(&request).map(|sample| sample.late_ns);
                late.sum::<u64>() as f64
            });
            start += length_ns / 5.0;
        }
        lost.sort_by(f64::total_cmp);
        let rank = (part * lost.len() as f64).ceil() as usize;
        lost.get(rank.clamp(1, lost.len().max(1)) - 1)
            .copied()
            .unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn sample(at_ms: u64, waited_ms: u64, late_ms: u64) -> TimeSample {
        TimeSample {
            at_unix_ns: at_ms * MS,
            span_ns: 5 * MS,
            waited_ns: waited_ms * MS,
            late_ns: late_ms * MS,
        }
    }

    fn second(at_s: u64, waited_ms: u64, others_ms: u64) -> Second {
        Second {
            at_unix_ns: at_s * 1_000 * MS,
            span_ns: 1_000 * MS,
            waited_ns: waited_ms * MS,
            others_cpu_ns: others_ms * MS,
            ..Second::default()
        }
    }

    fn ms(window: Range<f64>) -> Window {
        window.start * 1e6..window.end * 1e6
    }

    #[test]
    fn only_the_waits_of_a_window_count_for_it() {
        let log = MachineLog {
            looks: vec![
                sample(1_100, 3, 0),
                sample(1_200, 4, 2),
                sample(1_300, 5, 0),
            ],
            seconds: Vec::new(),
        };
        let lost = Lost {
            log: &log,
            origin_unix_ns: 1e9,
        };
        assert_eq!(lost.near_ns(&ms(150.0..250.0)), 6e6);
        assert_eq!(lost.near_ns(&ms(0.0..400.0)), 14e6);
        assert_eq!(lost.near_ns(&ms(210.0..290.0)), 0.0);
    }

    #[test]
    fn others_cannot_take_more_than_they_ran() {
        let log = MachineLog {
            looks: Vec::new(),
            seconds: vec![second(1, 400, 10), second(2, 300, 900), second(3, 5, 900)],
        };
        let lost = Lost {
            log: &log,
            origin_unix_ns: 0.0,
        };
        assert_eq!(lost.taken_ns(&ms(0.0..3_000.0)), 315e6);
        assert_eq!(lost.outages_ns(&ms(0.0..3_000.0)), 1e9, "the second one");
        assert_eq!(lost.outages_ns(&ms(0.0..900.0)), 0.0);
    }

    #[test]
    fn what_requests_lost_is_a_quantile_of_busy_seconds() {
        let log = MachineLog {
            looks: vec![sample(500, 7, 0), sample(1_500, 9, 0)],
            seconds: vec![second(1, 7, 0), second(2, 9, 300)],
        };
        let lost = Lost {
            log: &log,
            origin_unix_ns: 0.0,
        };
        let of = |part| lost.per_request_ns(&ms(0.0..2_000.0), 100e6, part);
        assert_eq!(of(0.5), 0.0);
        assert_eq!(of(1.0), 9e6, "in the first second nobody else ran");
    }
}
