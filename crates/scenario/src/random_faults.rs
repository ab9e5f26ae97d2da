//! Faults drawn from a seed: kinds, nodes and lengths of one fault after the other, as a plan lists them.

use kgauge_faults::{CutDirection, CutEnd, DelayPlan, DropPoint, Fault, FlushFault, RequestFault};

use crate::faults::{FaultNode, FaultPlan, FaultStart};
use crate::random::{Random, derive_seed};
use crate::value_kind::NS_PER_MS;

/// A fault ends before this share of the interval, so that the cluster has recovered before the next one.
const LENGTH_SHARE_MAX: f64 = 0.4;

/// The shortest fault as a share of the interval.
const LENGTH_SHARE_MIN: f64 = 0.1;

/// Requests that `drop` affects per node.
const DROPPED: u32 = 10;

/// The longest offset of a clock.
const CLOCK_OFFSET_MS_MAX: u64 = 60_000;

/// The longest delay of a flush.
const FLUSH_NS_MAX: u64 = 500 * NS_PER_MS;

/// The mean delay of a request.
const DELAY_NS: u64 = 20 * NS_PER_MS;

/// What `faults: {random: ...}` draws from.
#[derive(Clone, Debug)]
pub(crate) struct RandomFaults {
    pub(crate) seed: u64,
    pub(crate) kinds: Vec<RandomFaultKind>,
    pub(crate) every_ns: u64,
}

/// The kinds of random faults: the keys of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RandomFaultKind {
    Stop,
    Kill,
    Crash,
    Restart,
    Pause,
    Cut,
    Delay,
    Stall,
    Drop,
    Flush,
    DiskFull,
    ClockOffset,
}

impl RandomFaultKind {
    /// All kinds by name.
    pub(crate) const NAMES: [(&'static str, RandomFaultKind); 12] = [
        ("stop", RandomFaultKind::Stop),
        ("kill", RandomFaultKind::Kill),
        ("crash", RandomFaultKind::Crash),
        ("restart", RandomFaultKind::Restart),
        ("pause", RandomFaultKind::Pause),
        ("cut", RandomFaultKind::Cut),
        ("delay", RandomFaultKind::Delay),
        ("stall", RandomFaultKind::Stall),
        ("drop", RandomFaultKind::Drop),
        ("flush", RandomFaultKind::Flush),
        ("disk-full", RandomFaultKind::DiskFull),
        ("clock-offset", RandomFaultKind::ClockOffset),
    ];

    /// What every target that kgauge starts can have.
    pub(crate) const USUAL: [RandomFaultKind; 4] = [
        RandomFaultKind::Kill,
        RandomFaultKind::Crash,
        RandomFaultKind::Pause,
        RandomFaultKind::Cut,
    ];
}

impl RandomFaults {
    /// The faults of a hold of this length, one per interval, on a cluster with this many brokers. A function of the
    /// seed: a longer hold continues the same faults.
    pub(crate) fn plans(&self, hold_ns: u64, brokers: u32) -> Vec<FaultPlan> {
        let rounds = hold_ns.saturating_sub(1) / self.every_ns.max(1);
        (1..=rounds)
            .map(|round| self.plan(round, brokers))
            .collect()
    }

    fn plan(&self, round: u64, brokers: u32) -> FaultPlan {
        let draws = Draws {
            random: Random::new(derive_seed(self.seed, "random faults")),
            round,
        };
        let kind = self.kinds[draws.below(0, self.kinds.len() as u64) as usize];
        let node = 1 + draws.below(1, u64::from(brokers.max(1)));
        let share = LENGTH_SHARE_MIN + (LENGTH_SHARE_MAX - LENGTH_SHARE_MIN) * draws.share(2);
        let length_ns = (self.every_ns as f64 * share) as u64;
        let length_ns = (length_ns - length_ns % NS_PER_MS).max(NS_PER_MS);
        FaultPlan {
            at: FaultStart::Hold(i64::try_from(round * self.every_ns).unwrap_or(i64::MAX)),
            every_ns: None,
            node: FaultNode::Number(u16::try_from(node).unwrap_or(1)),
            kind: kind.fault(draws, length_ns),
            for_ns: match kind {
                RandomFaultKind::Restart | RandomFaultKind::Stall => None,
                _ => Some(length_ns),
            },
        }
    }
}

/// The random numbers of one fault.
#[derive(Clone, Copy)]
struct Draws {
    random: Random,
    round: u64,
}

impl Draws {
    /// Numbers of a fault; enough for all kinds.
    const PER_FAULT: u64 = 8;

    fn bits(self, index: u64) -> u64 {
        self.random.bits(self.round * Self::PER_FAULT + index)
    }

    fn below(self, index: u64, count: u64) -> u64 {
        self.bits(index) % count.max(1)
    }

    /// From 0 to below 1.
    fn share(self, index: u64) -> f64 {
        (self.bits(index) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl RandomFaultKind {
    fn fault(self, draws: Draws, length_ns: u64) -> Fault {
        let requests = |times, what| Fault::Requests {
            api: None,
            times,
            what,
        };
        match self {
            Self::Stop => Fault::Stop,
            Self::Kill => Fault::Kill,
            Self::Crash => Fault::Crash,
            Self::Restart => Fault::Restart,
            Self::Pause => Fault::Pause,
            Self::Cut => Fault::Cut {
                direction: [CutDirection::With, CutDirection::To, CutDirection::From]
                    [draws.below(3, 3) as usize],
                end: [CutEnd::Nodes, CutEnd::Others][draws.below(4, 2) as usize],
            },
            Self::Delay => {
                let delay = DelayPlan::Exponential { mean_ns: DELAY_NS };
                requests(None, RequestFault::Delay(delay))
            }
            Self::Stall => requests(None, RequestFault::Stall { length_ns }),
            Self::Drop => {
                let point = [DropPoint::Before, DropPoint::After][draws.below(3, 2) as usize];
                requests(Some(DROPPED), RequestFault::Drop(point))
            }
            Self::Flush => Fault::Flush(FlushFault::Delay {
                length_ns: (1 + draws.below(3, FLUSH_NS_MAX / NS_PER_MS)) * NS_PER_MS,
            }),
            Self::DiskFull => Fault::DiskFull { after_bytes: 0 },
            Self::ClockOffset => {
                let ms = 1 + draws.below(3, CLOCK_OFFSET_MS_MAX) as i64;
                let ahead_ms = if draws.below(4, 2) == 0 { ms } else { -ms };
                Fault::ClockOffset { ahead_ms }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn faults(seed: u64) -> RandomFaults {
        let kinds = RandomFaultKind::NAMES.map(|(_, kind)| kind).to_vec();
        RandomFaults {
            seed,
            kinds,
            every_ns: 20 * SECOND_NS,
        }
    }

    #[test]
    fn a_longer_hold_continues_the_faults_of_a_shorter_one() {
        let short = faults(7).plans(60 * SECOND_NS, 3);
        let long = faults(7).plans(600 * SECOND_NS, 3);
        assert_eq!(short.len(), 2, "none begins with the end of the hold");
        assert_eq!(long[..2], short[..]);
        assert_ne!(faults(8).plans(600 * SECOND_NS, 3), long);
    }

    #[test]
    fn every_fault_has_a_node_and_ends_well_before_the_next_one() {
        let all = faults(1).plans(20_000 * SECOND_NS, 3);
        assert_eq!(all.len(), 999);
        for (index, plan) in all.iter().enumerate() {
            let at_ns = (index as i64 + 1) * 20 * SECOND_NS as i64;
            assert_eq!(plan.at, FaultStart::Hold(at_ns));
            assert!(matches!(plan.node, FaultNode::Number(1..=3)), "{plan}");
            let lasts = plan.for_ns.unwrap_or(0);
            assert!(lasts <= 8 * SECOND_NS, "{plan}");
        }
        let count = |is: fn(&Fault) -> bool| all.iter().filter(|one| is(&one.kind)).count();
        for found in [
            count(|kind| *kind == Fault::Crash),
            count(|kind| matches!(kind, Fault::Cut { .. })),
            count(|kind| matches!(kind, Fault::ClockOffset { ahead_ms: ..0 })),
        ] {
            assert!(found > 20, "{found}");
        }
    }
}
