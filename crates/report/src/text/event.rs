//! What happened during a run.

use kgauge_results::run::{self, BrokerWarming, EventKind, OutageCause, RepeatKey, RepeatOutcome};

use super::replicas;
use crate::format;

/// An event in words.
pub(crate) fn event(event: &run::Event) -> String {
    let place = event
        .repeat
        .map_or_else(String::new, |key| format!("{}: ", repeat_name(key)));
    let words = match &event.kind {
        EventKind::TopicCreated { topic } => format!("topic {topic} created"),
        EventKind::TopicDeleted { topic } => format!("topic {topic} deleted"),
        EventKind::RepeatStarted => "started".to_owned(),
        EventKind::RepeatEnded { outcome } => match outcome {
            RepeatOutcome::Complete => "complete".to_owned(),
            RepeatOutcome::Failed { why } => format!("failed: {why}"),
            RepeatOutcome::Interrupted => "interrupted".to_owned(),
        },
        EventKind::TrialLeftOut { trial, why } => format!("trial {} skipped: {why}", trial + 1),
        EventKind::TrialFailed { trial, why } => format!("trial {} abandoned: {why}", trial + 1),
        EventKind::ClusterStarted {
            brokers,
            release,
            settings,
        } => {
            let brokers = format::counted(u64::from(*brokers), "broker");
            let release = release.iter().map(|release| format!(", release {release}"));
            let release: String = release.collect();
            let settings = settings
                .iter()
                .map(|(key, value)| format!(", {key}={value}"));
            format!(
                "another cluster started: {brokers}{release}{}",
                settings.collect::<String>()
            )
        }
        EventKind::BrokersWarmed(found) => format!("brokers warmed: {}", warming(found)),
        EventKind::Warning { text } => format!("warning: {text}"),
        EventKind::Error {
            text,
            code: Some(code),
        } => format!("error {code}: {text}"),
        EventKind::Error { text, code: None } => format!("error: {text}"),
        EventKind::Fault {
            text, active: true, ..
        } => format!("fault: {text}"),
        EventKind::Fault {
            text,
            active: false,
            ..
        } => format!("fault ended: {text}"),
        EventKind::ReplicasChanged {
            text,
            changes,
            partitions,
            further,
        } => match text.is_empty() {
            true => replicas::with_partitions(changes, partitions, *further),
            false => text.clone(),
        },
        EventKind::BrokerUnreachable { .. }
        | EventKind::BrokerSlow { .. }
        | EventKind::BrokerBack { .. } => outage(event),
        EventKind::Interrupted => "stopped by the user".to_owned(),
        EventKind::Unknown => "an event unknown to this version of kgauge".to_owned(),
    };
    place + &words
}

/// How long brokers were warmed, each time that some were started.
pub(crate) fn warmed(events: &[run::Event]) -> String {
    let found = events.iter().filter_map(|event| match &event.kind {
        EventKind::BrokersWarmed(found) => Some(warming(found)),
        _ => None,
    });
    found.collect::<Vec<_>>().join("; ")
}

/// `24.0 s, 210,000 → 1,342,000 records/s`
fn warming(found: &BrokerWarming) -> String {
    format!(
        "{}, {} → {} records/s{}",
        format::nanoseconds(found.length_ns as f64),
        format::figure(found.records_per_s_first as f64),
        format::figure(found.records_per_s_last as f64),
        if found.is_steady {
            ""
        } else {
            ", not steady by then"
        },
    )
}

/// A broker that stopped answering, or answers again.
fn outage(event: &run::Event) -> String {
    match &event.kind {
        EventKind::BrokerUnreachable {
            broker,
            address,
            since_ns,
            cause,
            partitions,
            partitions_without_leader,
        } => {
            let how = match cause {
                OutageCause::Unconnected => "connections failed",
                OutageCause::Silent => "requests got no response",
                OutageCause::Unknown => "no response",
            };
            let since = format::nanoseconds(*since_ns as f64);
            let leaders = partitions_without_leader.map_or_else(String::new, |without| {
                format!("; partitions without a leader: {without} of {partitions}")
            });
            format!("broker {broker} ({address}) stopped responding at {since}: {how}{leaders}")
        }
        EventKind::BrokerSlow {
            broker,
            address,
            since_ns,
        } => {
            let since = format::nanoseconds(*since_ns as f64);
            format!(
                "broker {broker} ({address}) delayed some requests from {since} on while \
                     answering others"
            )
        }
        EventKind::BrokerBack {
            broker,
            address,
            since_ns,
        } => {
            let lasted = event.at_ns.unwrap_or(*since_ns).saturating_sub(*since_ns);
            let lasted = format::nanoseconds(lasted as f64);
            format!("broker {broker} ({address}) responds again after {lasted}")
        }
        _ => String::new(),
    }
}

/// Counted from 1, as people do.
pub(crate) fn repeat_name(key: RepeatKey) -> String {
    format!(
        "trial {}, repeat {}",
        u64::from(key.trial) + 1,
        u64::from(key.repeat) + 1
    )
}
