//! Brokers that stop answering during a load, a preload or a warm-up of brokers: what stderr, the live page and the run
//! folder say, and how long anything waits for them.

use std::time::Duration;

use kgauge_client::admin::OffsetsError;
use kgauge_load::{
    LoadOutcome, LoadProgress, Outage, OutageChange, OutageKind, PreloadError, preload,
};
use kgauge_results::run::{EventKind, OutageCause, RepeatKey, TopicFacts};
use kgauge_scenario::format::seconds;
use kgauge_scenario::{FlowPlan, Preload, Stages, TargetKind, Trial};

use crate::error::{RunError, with_fix};
use crate::observer::RunEvent;
use crate::session::{ClusterHealth, Session};

/// How long brokers may take to answer a question after a load that all of them answered.
const QUESTION_MAX: Duration = Duration::from_secs(10);

/// The same after a load that lost connections: it is soon known whether the broker is there again.
const DOUBTFUL_QUESTION_MAX: Duration = Duration::from_secs(3);

/// The same after Ctrl-C: the run should end within a second.
const INTERRUPTED_QUESTION_MAX: Duration = Duration::from_millis(300);

/// Kafka's default of `delivery.timeout.ms`.
const DELIVERY_NS: u64 = 120_000_000_000;

/// How long a load goes on, whatever a broker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutageWait {
    /// Until the drain ends.
    Drain { end_ns: u64, drain_ns: u64 },
    /// Until its records fail, if it ends with their count.
    Delivery { timeout_ns: u64 },
}

impl OutageWait {
    /// That of records that are written before a load.
    pub(crate) const PRELOAD: OutageWait = OutageWait::Delivery {
        timeout_ns: DELIVERY_NS,
    };

    /// That of a load whose hold begins then, or will at the latest.
    pub(crate) fn of_load(trial: &Trial, hold_start_ns: u64) -> OutageWait {
        OutageWait::of_stages(&trial.stages, hold_start_ns).unwrap_or(OutageWait::Delivery {
            timeout_ns: patience_ns(trial),
        })
    }

    fn of_stages(stages: &Stages, hold_start_ns: u64) -> Option<OutageWait> {
        let hold_end_ns = hold_start_ns.saturating_add(stages.hold_ns?);
        Some(OutageWait::Drain {
            end_ns: hold_end_ns.saturating_add(stages.drain_ns_max),
            drain_ns: stages.drain_ns_max,
        })
    }

    fn words(self, at_ns: u64) -> String {
        match self {
            OutageWait::Drain { end_ns, drain_ns } => {
                let left = Duration::from_nanos(end_ns.saturating_sub(at_ns));
                let drain = Duration::from_nanos(drain_ns);
                format!("Waiting up to {} (drain {})", seconds(left), seconds(drain))
            }
            OutageWait::Delivery { timeout_ns } => {
                let timeout = seconds(Duration::from_nanos(timeout_ns));
                format!("Waiting up to {timeout} (delivery.timeout.ms) for any broker")
            }
        }
    }
}

/// Writes records before a load, and reports brokers that stop answering meanwhile.
pub(crate) fn preload_watched(
    session: &mut Session<'_>,
    trial: &Trial,
    (topic, records): (&str, &Preload),
    mut on_progress: impl FnMut(&mut Session<'_>, &LoadProgress),
) -> Result<LoadOutcome, PreloadError> {
    let (client, interrupt) = (session.client.clone(), session.stopping.load.clone());
    preload(
        topic,
        &trial.topic,
        records,
        &client,
        &interrupt,
        |progress| {
            report_outages(session, None, OutageWait::PRELOAD, progress);
            on_progress(session, progress);
        },
    )
}

/// Reports what has changed since the last look. Without a repeat, there is no clock in the run folder for the moment.
pub(crate) fn report_outages(
    session: &mut Session<'_>,
    key: Option<RepeatKey>,
    wait: OutageWait,
    progress: &LoadProgress,
) {
    for change in &progress.outage_changes {
        let (at_ns, kind, words) = match change {
            OutageChange::Found { outage, at_ns } => {
                let words = found_words(wait, outage, *at_ns);
                (*at_ns, event_of(outage), words)
            }
            OutageChange::Over { outage, at_ns } => {
                let lasted = Duration::from_nanos(at_ns.saturating_sub(outage.since_ns));
                let words = format!("{} answers again after {}.", name(outage), brief(lasted));
                let kind = EventKind::BrokerBack {
                    broker: outage.broker,
                    address: outage.address.clone(),
                    since_ns: outage.since_ns,
                };
                (*at_ns, kind, words)
            }
        };
        match key {
            Some(key) => session.event(Some((key, at_ns)), kind),
            None => {
                let text = words.clone();
                session.event(None, EventKind::Warning { text });
            }
        }
        session.observer.observe(&RunEvent::Outage(&words));
    }
}

/// Says which brokers answer again although the load ended before they did: those that still lead partitions of the
/// topic have answered the questions after it.
pub(crate) fn report_answers_after(
    session: &mut Session<'_>,
    facts: &TopicFacts,
    key: RepeatKey,
    load: &LoadOutcome,
) {
    for outage in &load.outages {
        let mut partitions = 0..i32::try_from(facts.partitions).unwrap_or(i32::MAX);
        let cluster = &mut session.cluster;
        let leads = |partition: i32| {
            let leader = cluster.leader(&facts.name, partition);
            leader.is_ok_and(|leader| leader.broker_id == outage.broker)
        };
        if !partitions.any(leads) {
            continue;
        }
        let kind = EventKind::BrokerBack {
            broker: outage.broker,
            address: outage.address.clone(),
            since_ns: outage.since_ns,
        };
        session.event(Some((key, load.end_ns)), kind);
        let words = format!("{} answers again, after the load.", name(outage));
        session.observer.observe(&RunEvent::Outage(&words));
    }
}

fn event_of(outage: &Outage) -> EventKind {
    let cause = match outage.kind {
        OutageKind::Unconnected => OutageCause::Unconnected,
        OutageKind::Silent => OutageCause::Silent,
        OutageKind::Held => {
            return EventKind::BrokerSlow {
                broker: outage.broker,
                address: outage.address.clone(),
                since_ns: outage.since_ns,
            };
        }
    };
    EventKind::BrokerUnreachable {
        broker: outage.broker,
        address: outage.address.clone(),
        since_ns: outage.since_ns,
        cause,
        partitions: outage.partitions,
        partitions_without_leader: Some(outage.partitions_without_leader),
    }
}

/// `broker 2 (127.0.0.1:9092) stopped answering 2 s ago (connections fail); 3 of 6 partitions have no leader. Waiting
/// up to 12 s (drain 5 s); Ctrl-C stops now.`
fn found_words(wait: OutageWait, outage: &Outage, at_ns: u64) -> String {
    let ago = Duration::from_nanos(at_ns.saturating_sub(outage.since_ns));
    let how = match outage.kind {
        OutageKind::Unconnected => "connections fail",
        OutageKind::Silent => "requests stay without an answer",
        OutageKind::Held => {
            return format!(
                "{} has not answered requests for {}, although it answers on a new connection; it may be waiting for \
                 its disk or for followers. {}; Ctrl-C stops now.",
                name(outage),
                brief(ago),
                wait.words(at_ns)
            );
        }
    };
    let (without, all) = (outage.partitions_without_leader, outage.partitions);
    let leaders = match without {
        0 => "all partitions have another leader".to_owned(),
        1 => format!("1 of {all} partitions has no leader"),
        _ => format!("{without} of {all} partitions have no leader"),
    };
    format!(
        "{} stopped answering {} ago ({how}); {leaders}. {}; Ctrl-C stops now.",
        name(outage),
        brief(ago),
        wait.words(at_ns)
    )
}

/// How long a load that ends with its record counts goes on without any leader: by then every record has failed.
fn patience_ns(trial: &Trial) -> u64 {
    let producers = trial.flows.iter().filter_map(FlowPlan::produces);
    let delivery = producers.map(|flow| flow.settings.delivery_timeout_ns);
    delivery.max().unwrap_or(DELIVERY_NS)
}

/// Why a load that ends with its record counts is ended: it would never be.
pub(crate) fn given_up(trial: &Trial, progress: &LoadProgress) -> Option<String> {
    if trial.stages.hold_ns.is_some() || !trial.faults.is_empty() {
        return None;
    }
    let has_leader = |outage: &Outage| outage.partitions_without_leader < outage.partitions;
    if progress.outages.is_empty() || progress.outages.iter().any(has_leader) {
        return None;
    }
    let latest_ns = progress
        .outages
        .iter()
        .map(|outage| outage.since_ns)
        .max()?;
    let lasted_ns = progress.elapsed_ns.saturating_sub(latest_ns);
    (lasted_ns >= patience_ns(trial)).then(|| all_gone(&progress.outages, progress.elapsed_ns))
}

/// Why a repeat failed at whose end no partition had a leader that answers.
pub(crate) fn gone_words(load: &LoadOutcome) -> String {
    all_gone(&load.outages, load.end_ns)
}

fn all_gone(outages: &[Outage], now_ns: u64) -> String {
    let each = outages.iter().map(|outage| {
        let ago = Duration::from_nanos(now_ns.saturating_sub(outage.since_ns));
        format!(
            "{} stopped answering {} before the end",
            name(outage),
            brief(ago)
        )
    });
    let words = format!(
        "no partition has a leader that answers: {}",
        each.collect::<Vec<_>>().join(", ")
    );
    with_fix(
        &words,
        "check that the brokers are running, and look at their logs",
    )
}

/// Bounds what is asked of the cluster after a load, until the next begins.
pub(crate) fn limit_questions(session: &mut Session<'_>, trial: &Trial, load: &LoadOutcome) {
    let lost = load
        .flows
        .iter()
        .any(|flow| flow.totals.connections.lost > 0);
    session.health = match trial.faults.is_empty() {
        // What kgauge broke itself may take its time to come back.
        false => ClusterHealth::Sound,
        true if load.is_target_gone => ClusterHealth::Gone,
        true if lost || !load.outages.is_empty() => ClusterHealth::Doubtful,
        true => ClusterHealth::Sound,
    };
    let limit = match session.health {
        _ if session.stopping.is_wanted() => INTERRUPTED_QUESTION_MAX,
        ClusterHealth::Gone | ClusterHealth::Doubtful => DOUBTFUL_QUESTION_MAX,
        ClusterHealth::Sound => QUESTION_MAX,
    };
    session.cluster.set_time_limit(Some(limit));
}

/// The brokers do not say what they have.
pub(crate) fn offsets_unknown(error: &OffsetsError) -> RunError {
    RunError::cluster(with_fix(error, error.fix()))
}

/// Whether somebody's cluster answers no question any more: then nothing that is left to do can be done.
pub(crate) fn is_cluster_gone(session: &mut Session<'_>) -> bool {
    if session.kind != TargetKind::Existing {
        return false;
    }
    if session.health == ClusterHealth::Gone {
        return true;
    }
    session.cluster.set_time_limit(Some(DOUBTFUL_QUESTION_MAX));
    let gone = session.cluster.refresh(&[]).is_err();
    session.cluster.set_time_limit(None);
    gone
}

fn name(outage: &Outage) -> String {
    match outage.address.as_str() {
        "" => format!("broker {}", outage.broker),
        address => format!("broker {} ({address})", outage.broker),
    }
}

/// `2 s`, `5.3 s`, `2 min 10 s`.
fn brief(time: Duration) -> String {
    match time.as_secs_f64() {
        short if short < 10.0 => {
            let tenths = format!("{short:.1}");
            format!("{} s", tenths.trim_end_matches(".0"))
        }
        _ => seconds(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn outage(kind: OutageKind) -> Outage {
        Outage {
            broker: 2,
            address: "127.0.0.1:9092".to_owned(),
            since_ns: SECOND_NS,
            kind,
            partitions: 6,
            partitions_without_leader: 3,
        }
    }

    #[test]
    fn the_stated_wait_counts_from_the_start_of_the_hold_and_not_from_the_longest_warm_up() {
        let stages = Stages {
            warm_up_ns: 2 * SECOND_NS,
            warm_up_ns_max: 20 * SECOND_NS,
            hold_ns: Some(5 * SECOND_NS),
            drain_ns_max: 30 * SECOND_NS,
        };
        let words = |hold_start_ns| {
            let wait = OutageWait::of_stages(&stages, hold_start_ns).unwrap();
            found_words(wait, &outage(OutageKind::Unconnected), 3 * SECOND_NS)
        };
        assert_eq!(
            words(2 * SECOND_NS),
            "broker 2 (127.0.0.1:9092) stopped answering 2 s ago (connections fail); 3 of 6 partitions \
             have no leader. Waiting up to 34 s (drain 30 s); Ctrl-C stops now."
        );
        // The warm-up still goes on.
        let open = words(20 * SECOND_NS);
        assert!(open.contains("Waiting up to 52 s (drain 30 s)"), "{open}");
        let by_count = Stages {
            hold_ns: None,
            ..stages
        };
        assert_eq!(OutageWait::of_stages(&by_count, 0), None);
    }

    #[test]
    fn why_a_broker_holds_requests_is_not_stated_as_a_fact() {
        let words = found_words(
            OutageWait::PRELOAD,
            &outage(OutageKind::Held),
            3 * SECOND_NS,
        );
        assert_eq!(
            words,
            "broker 2 (127.0.0.1:9092) has not answered requests for 2 s, although it answers on a new \
             connection; it may be waiting for its disk or for followers. Waiting up to 2 min 00 s \
             (delivery.timeout.ms) for any broker; Ctrl-C stops now."
        );
    }
}
