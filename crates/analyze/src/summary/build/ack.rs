//! What an ack meant in a trial.

use kgauge_scenario::{Acks, FlowPlan, Trial};

use crate::summary::AckMeaning;
use crate::summary::words;
use kgauge_results::folder::RepeatRead;
use kgauge_results::run::{Replication, TopicFacts};

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
    let mut meaning = AckMeaning {
        acks: match flow.settings.acks {
            Acks::None => "0",
            Acks::Leader => "1",
            Acks::All => "all",
        }
        .to_owned(),
        replication_factor: topic.map(|topic| topic.replication_factor).or(planned),
        min_insync_replicas: topic.and_then(|topic| setting(topic, "min.insync.replicas")),
        flush: flush_words(topic),
        followers: followers.collect(),
        sentence: String::new(),
    };
    meaning.sentence = format!(
        "{} {}",
        promise(flow.settings.acks, &meaning),
        followers_words(&meaning)
    );
    Some(meaning)
}

fn setting(topic: &TopicFacts, name: &str) -> Option<u32> {
    topic.settings.get(name)?.parse().ok()
}

fn flush_words(topic: Option<&TopicFacts>) -> String {
    let get = |name: &str| topic.and_then(|topic| topic.settings.get(name));
    let (messages, ms) = (get("flush.messages"), get("flush.ms"));
    let limits = |value: &&String| value.as_str() != NEVER;
    match (messages, ms) {
        (None, None) => "flush policy unknown".to_owned(),
        (Some(messages), _) if messages == "1" => "flushed to disk before the ack".to_owned(),
        _ => {
            let messages = messages
                .filter(limits)
                .map(|messages| format!("flushed every {messages} records"));
            let ms = ms.filter(limits).map(|ms| format!("flushed every {ms} ms"));
            let rules = messages.into_iter().chain(ms).collect::<Vec<_>>();
            if rules.is_empty() {
                "flushing left to the operating system".to_owned()
            } else {
                rules.join(" and ")
            }
        }
    }
}

fn promise(acks: Acks, meaning: &AckMeaning) -> String {
    let flush = &meaning.flush;
    let alone = meaning.replication_factor == Some(1);
    match acks {
        Acks::None => "acks=0: no acknowledgement; a record counts as acked once it is written to \
                       the connection."
            .to_owned(),
        Acks::Leader | Acks::All if alone => format!(
            "acks={}: acked by the leader, the only replica ({flush}).",
            meaning.acks
        ),
        Acks::Leader => {
            format!("acks=1: acked by the leader ({flush}) without waiting for followers.")
        }
        Acks::All => {
            let copies = match meaning.replication_factor {
                Some(factor) => format!(" of {factor}"),
                None => String::new(),
            };
            let least = match meaning.min_insync_replicas {
                Some(least) => format!("at least {least}{copies}"),
                None => format!("an unknown number{copies}"),
            };
            format!("acks=all: acked by every in-sync replica, {least} ({flush}).")
        }
    }
}

fn followers_words(meaning: &AckMeaning) -> String {
    if meaning.replication_factor == Some(1) {
        return "There are no followers.".to_owned();
    }
    let seen = meaning.followers.iter().flatten().collect::<Vec<_>>();
    if seen.is_empty() || seen.len() < meaning.followers.len() {
        return "Follower catch-up was not checked.".to_owned();
    }
    let behind = seen.iter().filter_map(|state| match state {
        Replication::Behind {
            records_missing_max,
            ..
        } => Some(*records_missing_max),
        _ => None,
    });
    if let Some(missing) = behind.max() {
        let missing = words::counted(missing, "record");
        return format!("Followers had not caught up at the end: up to {missing} were missing.");
    }
    let slowest = seen.iter().filter_map(|state| match state {
        Replication::CaughtUp { after_ns } => Some(*after_ns),
        _ => None,
    });
    match slowest.max() {
        Some(after_ns) => format!(
            "All followers caught up within {} of the end.",
            words::time(after_ns as f64)
        ),
        None => "There are no followers.".to_owned(),
    }
}
