//! Which anomalies the settings in force permit.

use std::collections::BTreeMap;

use kgauge_faults::Fault;
use kgauge_results::run::Anomaly;
use kgauge_scenario::{Acks, FaultNode, FlowPlan, Trial};

/// A crash that is over for this long before the next one leaves the followers time to catch up.
const RECOVERY_NS: u64 = 5_000_000_000;

/// What besides the settings decides on what may happen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PromiseFacts {
    /// A broker was lost during the load, or leaders may have moved unseen.
    pub had_outage: bool,
    /// Other applications write to the topic.
    pub is_shared: bool,
    /// A transaction's outcome is unknown.
    pub has_unknown_transaction: bool,
    /// The brokers have no idempotent producers (before 0.11).
    pub lacks_idempotence: bool,
    /// The topic's settings could not be read.
    pub lacks_settings: bool,
    /// All duplicates are of batches that were sent again with a new producer id.
    pub only_renumbered_duplicates: bool,
}

/// Whether the settings of a flow's trial permit an anomaly. `None` as flow: no flow's records are affected.
pub fn is_permitted(
    anomaly: Anomaly,
    trial: &Trial,
    topic_settings: &BTreeMap<String, String>,
    flow: Option<&FlowPlan>,
    circumstances: PromiseFacts,
) -> bool {
    let writes = flow.and_then(FlowPlan::produces);
    let asks_for_idempotence = writes.is_some_and(|flow| flow.settings.idempotence);
    let idempotent = asks_for_idempotence && !circumstances.lacks_idempotence;
    let retries = writes.is_none_or(|flow| flow.settings.retries > 0);
    let may_lose = || may_lose(trial, topic_settings, flow, circumstances);
    match anomaly {
        Anomaly::LostWrite | Anomaly::TornTransaction => may_lose(),
        Anomaly::Duplicate => {
            !idempotent && retries || circumstances.only_renumbered_duplicates || may_lose()
        }
        Anomaly::NonmonotonicSend => {
            let overlaps = writes.is_none_or(|flow| flow.settings.in_flight_max > 1);
            !idempotent && retries && overlaps
        }
        Anomaly::InconsistentOffsets => !idempotent && retries || may_lose(),
        // A log that loses records also loses the place of its readers, and what they have read.
        Anomaly::PollSkip | Anomaly::NonmonotonicPoll | Anomaly::ReadBeforeCommit => may_lose(),
        Anomaly::CommittedOffsetBack => {
            let is_unclean = is_unclean(trial, topic_settings, circumstances);
            is_unclean || may_lose() || may_forget_commits(trial)
        }
        // Another application may have a transaction open.
        Anomaly::StuckLastStableOffset => {
            circumstances.has_unknown_transaction || circumstances.is_shared
        }
        Anomaly::ForeignRecord => circumstances.is_shared,
        // Replicas in sync are equal, whatever was lost before.
        Anomaly::DivergentReplicas => false,
        Anomaly::AbortedRead | Anomaly::CorruptRecord => false,
    }
}

/// Whether acked records may be lost.
fn may_lose(
    trial: &Trial,
    topic_settings: &BTreeMap<String, String>,
    flow: Option<&FlowPlan>,
    circumstances: PromiseFacts,
) -> bool {
    let acks = flow
        .and_then(FlowPlan::produces)
        .map(|flow| flow.settings.acks);
    let may_fail_over = !trial.faults.is_empty() || circumstances.had_outage;
    if acks.is_some_and(|acks| acks != Acks::All) && may_fail_over {
        return true;
    }
    (may_fail_over && is_unclean(trial, topic_settings, circumstances))
        || may_lose_by_power(trial, topic_settings)
}

/// Kafka's documentation promises an acked record for as long as one in-sync replica stays alive. A machine that fails
/// loses what was not flushed: it counts as not alive.
fn may_lose_by_power(trial: &Trial, topic_settings: &BTreeMap<String, String>) -> bool {
    let crashes = || {
        trial
            .faults
            .iter()
            .filter(|fault| fault.kind == Fault::Crash)
    };
    if crashes().next().is_none() || is_flushed(trial, topic_settings) {
        return false;
    }
    let replicas = u32::from(trial.topic.replication);
    let in_sync_min: u32 = setting(trial, topic_settings, "min.insync.replicas")
        .and_then(|value| value.parse().ok())
        .unwrap_or(1);
    if in_sync_min.min(replicas) < 2 {
        return true;
    }
    crashes().any(|fault| fault.node == FaultNode::All) || do_crashes_overlap(trial)
}

/// Committed offsets are in a topic of their own, of whose replicas and flushing the trial decides nothing. A
/// coordinator that was cut off or hung answers with what it had until it notices that another one has taken over.
fn may_forget_commits(trial: &Trial) -> bool {
    trial
        .faults
        .iter()
        .any(|fault| matches!(fault.kind, Fault::Crash | Fault::Cut { .. } | Fault::Pause))
}

/// Whether a machine fails while another one is down, or has just come back.
fn do_crashes_overlap(trial: &Trial) -> bool {
    let warm_up_ns = trial.stages.warm_up_ns;
    let hold_ns = trial.stages.hold_ns.unwrap_or(0);
    let end_ns = warm_up_ns.saturating_add(hold_ns);
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for fault in trial.faults.iter().filter(|one| one.kind == Fault::Crash) {
        let away_ns = fault.for_ns.unwrap_or(u64::MAX);
        let away_ns = away_ns.saturating_add(RECOVERY_NS);
        let mut begin_ns = fault.at.at_ns(warm_up_ns);
        loop {
            spans.push((begin_ns, begin_ns.saturating_add(away_ns)));
            let Some(every_ns) = fault.every_ns.filter(|every_ns| *every_ns > 0) else {
                break;
            };
            if every_ns < away_ns {
                return true;
            }
            begin_ns = begin_ns.saturating_add(every_ns);
            if begin_ns >= end_ns {
                break;
            }
        }
    }
    spans.sort_unstable();
    spans.windows(2).any(|pair| pair[0].1 > pair[1].0)
}

/// Whether every record is flushed before its ack.
fn is_flushed(trial: &Trial, topic_settings: &BTreeMap<String, String>) -> bool {
    let of_topic = setting(trial, topic_settings, "flush.messages");
    let of_broker = trial.cluster.config.get("log.flush.interval.messages");
    of_topic.or(of_broker).is_some_and(|value| value == "1")
}

/// Whether a replica that is not in sync may become the leader. If nobody knows, it may: before 0.11, that was the
/// default.
fn is_unclean(
    trial: &Trial,
    topic_settings: &BTreeMap<String, String>,
    circumstances: PromiseFacts,
) -> bool {
    match setting(trial, topic_settings, "unclean.leader.election.enable") {
        Some(value) => value == "true",
        None => circumstances.lacks_settings || circumstances.lacks_idempotence,
    }
}

fn setting<'a>(
    trial: &'a Trial,
    topic_settings: &'a BTreeMap<String, String>,
    name: &str,
) -> Option<&'a String> {
    let of_topic = topic_settings.get(name).or(trial.topic.config.get(name));
    of_topic.or(trial.cluster.config.get(name))
}

#[cfg(test)]
mod tests {
    use kgauge_scenario::{Scenario, Size};

    use super::*;

    /// A trial with a producer and a group, and these faults.
    fn trial(faults: &str) -> Trial {
        let text = format!(
            "kgauge: 1\nname: a\nquestion: b\ntarget: {{brokers: 3}}\ntopic: {{partitions: 1, \
             replication: 3, config: {{min.insync.replicas: 2}}}}\nflows:\n  - {{name: w, kind: produce, \
             shape: {{constant: 1k/s}}, record: {{size: 100 B}}, settings: {{acks: all}}}}\n  - {{name: r, \
             kind: consume, group: true}}\nstages: {{warm-up: 0 s, hold: 20 s}}\n{faults}"
        );
        let scenario = Scenario::parse("a.yaml", &text).unwrap();
        scenario.trials(Size::Default).remove(0)
    }

    fn permits(trial: &Trial, anomaly: Anomaly, flow: usize) -> bool {
        permits_with(trial, anomaly, flow, PromiseFacts::default())
    }

    fn permits_with(trial: &Trial, anomaly: Anomaly, flow: usize, facts: PromiseFacts) -> bool {
        let settings = BTreeMap::new();
        is_permitted(anomaly, trial, &settings, trial.flows.get(flow), facts)
    }

    #[test]
    fn settings_that_nobody_could_read_forbid_no_loss_after_an_outage() {
        let unread = PromiseFacts {
            had_outage: true,
            lacks_settings: true,
            ..PromiseFacts::default()
        };
        let lost = |trial: &Trial, facts| permits_with(trial, Anomaly::LostWrite, 0, facts);
        let unknown = trial("");
        assert!(lost(&unknown, unread));
        let without_outage = PromiseFacts {
            had_outage: false,
            ..unread
        };
        assert!(!lost(&unknown, without_outage), "no leader moved");
        let read = PromiseFacts {
            lacks_settings: false,
            ..unread
        };
        assert!(!lost(&unknown, read));
        let before_0_11 = PromiseFacts {
            lacks_idempotence: true,
            ..read
        };
        assert!(lost(&unknown, before_0_11), "its default is unclean");
        let mut clean = trial("");
        let setting = ("unclean.leader.election.enable", "false");
        clean
            .topic
            .config
            .insert(setting.0.to_owned(), setting.1.to_owned());
        assert!(!lost(&clean, before_0_11), "the scenario sets it");
    }

    #[test]
    fn another_applications_open_transaction_is_permitted_in_its_topic() {
        let trial = trial("");
        let stuck = |facts| permits_with(&trial, Anomaly::StuckLastStableOffset, 0, facts);
        assert!(!stuck(PromiseFacts::default()));
        assert!(stuck(PromiseFacts {
            is_shared: true,
            ..PromiseFacts::default()
        }));
    }

    #[test]
    fn a_killed_leader_excuses_neither_records_nor_commits() {
        let trial = trial("faults: [{at: 5 s, node: leader, kill: true, restart-after: 2 s}]\n");
        assert!(!permits(&trial, Anomaly::LostWrite, 0));
        assert!(!permits(&trial, Anomaly::PollSkip, 1));
        assert!(!permits(&trial, Anomaly::CommittedOffsetBack, 1));
    }

    #[test]
    fn a_failed_machine_excuses_commits_that_nobody_flushed() {
        let trial = trial("faults: [{at: 5 s, node: 1, crash: true, restart-after: 2 s}]\n");
        assert!(!permits(&trial, Anomaly::LostWrite, 0), "two are in sync");
        assert!(permits(&trial, Anomaly::CommittedOffsetBack, 1));
    }
}
