//! What nodes recorded about a fault that was lifted, with times on the run's clock.

use std::time::{SystemTime, UNIX_EPOCH};

use kgauge_load::Clock;
use kgauge_results::run::NodeStall;
use kgauge_target::{Done, FaultCounts};

use super::Log;

/// What a fault did, as the nodes recorded it.
#[derive(Default)]
pub(super) struct NodesReport {
    /// The affected requests, if it affects requests.
    pub(super) struck: Option<FaultCounts>,
    /// Per node, when a stall began and when the node answered afterwards.
    pub(super) stalls: Vec<NodeStall>,
}

impl Log {
    /// Converts a target's answer. The nodes' times are wall-clock times: their process has its own monotonic clock.
    pub(super) fn report(&self, done: Done) -> NodesReport {
        let offset_ns = offset_ns(self.clock);
        let on_run_clock = |unix_ns: u64| {
            let ns = i128::from(unix_ns) - offset_ns;
            u64::try_from(ns).unwrap_or(0)
        };
        let stalls = done.stalls.into_iter().map(|stall| NodeStall {
            node: stall.node,
            begin_ns: on_run_clock(stall.begin_unix_ns),
            answers: stall
                .answers
                .into_iter()
                .map(|(at_ns, records)| (on_run_clock(at_ns), records))
                .collect(),
        });
        NodesReport {
            struck: done.struck,
            stalls: stalls.collect(),
        }
    }
}

/// The wall-clock time at which the run's clock showed zero. Both clocks are read a few times, and the closest pair
/// counts: between two readings the thread may lose its processor.
fn offset_ns(clock: Clock) -> i128 {
    let read = || {
        let before_ns = i128::from(clock.now_ns());
        let unix = SystemTime::now().duration_since(UNIX_EPOCH);
        let after_ns = i128::from(clock.now_ns());
        let unix_ns = i128::try_from(unix.unwrap_or_default().as_nanos()).unwrap_or(0);
        (
            after_ns - before_ns,
            unix_ns - i128::midpoint(before_ns, after_ns),
        )
    };
    let closest = (0..5).map(|_| read()).min_by_key(|(apart_ns, _)| *apart_ns);
    closest.map_or(0, |(_, offset_ns)| offset_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_clock_times_are_placed_on_the_runs_clock() {
        let clock = Clock::start();
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let at_ns = i128::try_from(unix.as_nanos()).unwrap() - offset_ns(clock);
        let now_ns = i128::from(clock.now_ns());
        assert!(
            (0..=now_ns + 1_000_000).contains(&(at_ns + 1_000_000)),
            "{at_ns}"
        );
    }
}
