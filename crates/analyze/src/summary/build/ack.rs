//! What an ack meant in a trial.

use kgauge_scenario::{Acks, FlowPlan, Trial};

use crate::summary::{AckMeaning, FlushPolicy};
use kgauge_results::folder::RepeatRead;
use kgauge_results::run::TopicFacts;

/// Kafka's "never" for `flush.messages` and `flush.ms`: the largest long.
const NEVER: &str = "9223372036854775807";

pub(super) fn ack_meaning(
    flow: Option<&FlowPlan>,
    trial: Option<&Trial>,
    repeats: &[&RepeatRead],
) -> Option<AckMeaning> {
    let flow = flow.and_then(FlowPlan::produces)?;
    let topic = repeats.iter().find_map(|repeat| {
        let record = repeat.record.as_ref()?;
        record.topics.first().map(|topic| &topic.facts)
    });
    let planned = trial.map(|trial| trial.topic.replication);
    let followers = repeats.iter().map(|repeat| {
        let record = repeat.record.as_ref();
        record.and_then(|record| record.replication)
    });
    Some(AckMeaning {
        acks: acks_value(flow.settings.acks).to_owned(),
        replication_factor: topic.map(|topic| topic.replication_factor).or(planned),
        min_insync_replicas: topic.and_then(|topic| setting(topic, "min.insync.replicas")),
        flush: flush_policy(topic),
        followers: followers.collect(),
    })
}

/// Kafka's value of `acks`.
pub(super) fn acks_value(acks: Acks) -> &'static str {
    match acks {
        Acks::None => "0",
        Acks::Leader => "1",
        Acks::All => "all",
    }
}

fn setting(topic: &TopicFacts, name: &str) -> Option<u32> {
    topic.settings.get(name)?.parse().ok()
}

fn flush_policy(topic: Option<&TopicFacts>) -> FlushPolicy {
    let get = |name: &str| topic.and_then(|topic| topic.settings.get(name));
    let (messages, ms) = (get("flush.messages"), get("flush.ms"));
    if messages.is_none() && ms.is_none() {
        return FlushPolicy::Unknown;
    }
    let limit = |value: Option<&String>| value.filter(|value| *value != NEVER).cloned();
    match (limit(messages), limit(ms)) {
        (Some(records), _) if records == "1" => FlushPolicy::EachRecord,
        (None, None) => FlushPolicy::OperatingSystem,
        (records, ms) => FlushPolicy::Every { records, ms },
    }
}
