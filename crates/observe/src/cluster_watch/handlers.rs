//! The request handlers' idle time, from the counters of brokers' metrics.

use std::collections::BTreeMap;

use kgauge_results::metrics::MetricId;
use kgauge_results::run::{Evidence, EvidenceKind, Subject};

/// Handlers are busy if they are in this many samples in a row: a pause of the garbage collector is shorter.
const BUSY_MIN: u32 = 3;
/// The shortest span for a share.
const SPAN_NS_MIN: u64 = 500_000_000;

/// The last counter of each broker.
#[derive(Debug, Default)]
pub(super) struct IdleHandlers {
    of: BTreeMap<i32, IdleCounter>,
}

#[derive(Debug, Clone, Copy)]
struct IdleCounter {
    at_ns: u64,
    idle_ns: u64,
    busy: u32,
}

impl IdleHandlers {
    /// Adds a line of evidence; returns a broker whose handlers are busy, and the share of time in which they waited.
    pub(super) fn add(&mut self, evidence: &Evidence, idle_part_min: f64) -> Option<(i32, f64)> {
        let Subject::Target {
            broker: Some(broker),
        } = evidence.subject
        else {
            return None;
        };
        let (EvidenceKind::Broker(sample), Some(at_ns)) = (&evidence.kind, evidence.at_ns) else {
            return None;
        };
        let idle_ns = sample.get(MetricId::HandlerIdle)?;
        let pools = sample.get(MetricId::HandlerPools).unwrap_or(1).max(1);
        let now = IdleCounter {
            at_ns,
            idle_ns,
            busy: 0,
        };
        let Some(last) = self.of.get(&broker).copied() else {
            self.of.insert(broker, now);
            return None;
        };
        let span_ns = at_ns.checked_sub(last.at_ns)?;
        if span_ns < SPAN_NS_MIN {
            return None;
        }
        // A counter that falls is that of a new process.
        let waited_ns = idle_ns.checked_sub(last.idle_ns);
        let idle_part = waited_ns.map(|ns| ns as f64 / (span_ns as f64 * pools as f64));
        let is_busy = idle_part.is_some_and(|part| part < idle_part_min);
        let busy = if is_busy { last.busy + 1 } else { 0 };
        self.of.insert(broker, IdleCounter { busy, ..now });
        idle_part
            .filter(|_| busy >= BUSY_MIN)
            .map(|part| (broker, part))
    }
}

#[cfg(test)]
mod tests {
    use kgauge_results::run::BrokerSample;

    use super::*;

    fn line(second: u64, idle_ns: u64, pools: Option<u64>) -> Evidence {
        let mut sample = BrokerSample::default();
        sample.values.insert(MetricId::HandlerIdle, idle_ns);
        if let Some(pools) = pools {
            sample.values.insert(MetricId::HandlerPools, pools);
        }
        Evidence {
            at_unix_ms: 0,
            repeat: None,
            at_ns: Some(second * 1_000_000_000),
            subject: Subject::Target { broker: Some(7) },
            kind: EvidenceKind::Broker(Box::new(sample)),
        }
    }

    #[test]
    fn three_busy_seconds_in_a_row_count() {
        let mut handlers = IdleHandlers::default();
        // 50 ms of idle time per second are 5 %.
        let add = |handlers: &mut IdleHandlers, second, idle_ms: u64| {
            handlers.add(&line(second, idle_ms * 1_000_000, None), 0.10)
        };
        for (second, idle_ms) in [(0, 0), (1, 50), (2, 100), (3, 900), (4, 950), (5, 1_000)] {
            assert_eq!(add(&mut handlers, second, idle_ms), None, "{second}");
        }
        let (broker, part) = add(&mut handlers, 6, 1_050).unwrap_or_default();
        assert_eq!(broker, 7);
        assert!((part - 0.05).abs() < 1e-9, "{part}");
    }

    #[test]
    fn two_pools_have_twice_the_idle_time() {
        let mut handlers = IdleHandlers::default();
        let mut found = Vec::new();
        for second in 0..4 {
            // 150 ms per second over two pools are 7.5 %.
            let line = line(second, second * 150_000_000, Some(2));
            found.extend(handlers.add(&line, 0.10));
        }
        assert_eq!(found.len(), 1);
    }
}
