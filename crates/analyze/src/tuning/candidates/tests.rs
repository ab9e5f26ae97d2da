//! Which settings are tried, by bottleneck, release, target and scenario.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use kgauge_scenario::{Scenario, Size, TuneOptions};

use super::*;
use crate::summary::{Bottleneck, LimitVerdict};

const SCENARIO: &str = "kgauge: 1\nname: s\nquestion: Q?\ntarget: {brokers: 3}\n\
                        topic: {partitions: 2, replication: 3}\n\
                        flows: [{name: w, kind: produce, shape: max, record: {size: 1 kB}}]\n\
                        stages: {hold: 5 s}\n";

fn limit(word: Bottleneck, candidates: &[Bottleneck]) -> LimitVerdict {
    LimitVerdict {
        word,
        evidence: Vec::new(),
        candidates: candidates.to_vec(),
        faults: 0,
        outage: None,
        idle_flow: None,
    }
}

/// What is tried of a scenario on a cluster of three brokers that kgauge started, unless `change` says otherwise.
fn choice_of(
    text: &str,
    options: &TuneOptions,
    limit: &LimitVerdict,
    change: impl Fn(&mut InForce<'_>),
) -> TuneChoice {
    let scenario = Scenario::parse("s.yaml", text).unwrap();
    let trial = scenario.trials(Size::Default).remove(0);
    let plan = TunePlan::new(options, &trial).unwrap();
    let brokers = BTreeMap::from([("num.replica.fetchers".to_owned(), "1".to_owned())]);
    let mut now = InForce {
        trial: &trial,
        brokers: &brokers,
        broker_count: 3,
        release: Some((4, 3)),
        owns_brokers: true,
        owns_topic: true,
        limit: Some(limit),
    };
    change(&mut now);
    let mut changed = |changes: &[(String, String)]| -> Result<Trial, LeftOutCause> {
        let mut scenario = scenario.clone();
        let set = scenario.set_all(changes);
        set.map_err(|error| LeftOutCause::Refused {
            why: error.to_string(),
        })?;
        Ok(scenario.trials(Size::Default).remove(0))
    };
    choose(&plan, &now, &mut changed)
}

fn choice(options: &TuneOptions, word: Bottleneck) -> TuneChoice {
    choice_of(SCENARIO, options, &limit(word, &[]), |_| {})
}

/// Names of settings with their values: `linger.ms=20 100`.
fn tried(choice: &TuneChoice) -> Vec<String> {
    let settings = choice.settings.iter();
    let text = |setting: &TuneSetting| {
        let values: Vec<&str> = setting.values.iter().map(|one| one.text.as_str()).collect();
        format!("{}={}", setting.name, values.join(" "))
    };
    settings.map(text).collect()
}

fn cause<'a>(choice: &'a TuneChoice, name: &str) -> Option<&'a LeftOutCause> {
    let mut left_out = choice.left_out.iter();
    let found = left_out.find(|one| one.name == name);
    found.map(|one| &one.cause)
}

/// A candidate of the user's.
fn candidate(path: &str, value: &str) -> Vec<(String, String)> {
    vec![(path.to_owned(), value.to_owned())]
}

#[test]
fn the_bottleneck_decides_which_settings_are_tried() {
    let choice = choice(&TuneOptions::default(), Bottleneck::Disk);
    let expected = [
        "batch.size=131072 65536 524288",
        "linger.ms=20 100",
        "compression.type=lz4 zstd",
    ];
    assert_eq!(tried(&choice), expected);
    assert_eq!(choice.settings[1].today.as_deref(), Some("5"));
    for (name, expected) in [
        ("buffer.memory", LeftOutCause::OtherBottleneck),
        ("topic.partitions", LeftOutCause::OtherBottleneck),
        ("acks", LeftOutCause::Durability),
        ("fetch.min.bytes", LeftOutCause::Unused),
        ("partitioner", LeftOutCause::InForce),
        // The brokers do not report it, so it has no multiple.
        ("num.io.threads", LeftOutCause::Unknown),
    ] {
        assert_eq!(cause(&choice, name), Some(&expected), "{name}");
    }
}

#[test]
fn candidates_of_an_undecided_bottleneck_narrow_the_search_too() {
    let of = |candidates: &[Bottleneck]| {
        let limit = limit(Bottleneck::Undecided, candidates);
        let choice = choice_of(SCENARIO, &TuneOptions::default(), &limit, |_| {});
        tried(&choice).len()
    };
    let only = choice(&TuneOptions::default(), Bottleneck::Disk);
    assert_eq!(of(&[Bottleneck::Disk]), tried(&only).len());
    assert!(of(&[]) > tried(&only).len(), "nothing is known of it");
}

#[test]
fn a_release_has_the_values_that_it_knows() {
    let old = choice_of(
        SCENARIO,
        &TuneOptions::default(),
        &limit(Bottleneck::NetworkCard, &[]),
        |now| now.release = Some((2, 0)),
    );
    assert!(tried(&old).contains(&"compression.type=lz4".to_owned()));
    let unknown = choice_of(
        SCENARIO,
        &TuneOptions::default(),
        &limit(Bottleneck::NetworkCard, &[]),
        |now| now.release = None,
    );
    assert!(tried(&unknown).contains(&"compression.type=lz4 zstd".to_owned()));
}

#[test]
fn order_and_brokers_of_others_stay() {
    let keyed = SCENARIO.replace("{size: 1 kB}", "{size: 1 kB, key: {uniform: {keys: 10}}}");
    let of_others = choice_of(
        &keyed,
        &TuneOptions::default(),
        &limit(Bottleneck::Replication, &[]),
        |now| now.owns_brokers = false,
    );
    assert_eq!(
        cause(&of_others, "topic.partitions"),
        Some(&LeftOutCause::Keys)
    );
    assert_eq!(
        cause(&of_others, "num.replica.fetchers"),
        Some(&LeftOutCause::Target)
    );
    let client = TuneOptions {
        scopes: vec![SettingScope::Client],
        ..TuneOptions::default()
    };
    let choice = choice(&client, Bottleneck::Replication);
    let scope = Some(&LeftOutCause::Scope);
    assert_eq!(cause(&choice, "num.replica.fetchers"), scope);
}

#[test]
fn the_users_values_are_shown_as_properties_have_them() {
    let options = TuneOptions {
        candidates: vec![
            candidate("batch.size", "64 KiB"),
            candidate("linger.ms", "20 ms"),
            candidate("linger.ms", "a while"),
            candidate("w.settings.nonsense", "1"),
        ],
        ..TuneOptions::default()
    };
    let choice = choice(&options, Bottleneck::Load);
    assert_eq!(tried(&choice), ["batch.size=65536", "linger.ms=20"]);
    assert_eq!(choice.settings[0].today.as_deref(), Some("16384"));
    let refused = matches!(
        cause(&choice, "nonsense"),
        Some(LeftOutCause::Refused { .. })
    );
    assert!(refused, "{:?}", choice.left_out);
}

#[test]
fn what_a_release_lacks_is_left_out_and_the_rest_is_tried() {
    let own = TuneOptions {
        candidates: vec![
            candidate("compression.type", "zstd"),
            candidate("batch.size", "65536"),
        ],
        ..TuneOptions::default()
    };
    let preset = TuneOptions {
        preset: Some(TunePreset::Durability),
        durability_may_change: true,
        ..TuneOptions::default()
    };
    let load = limit(Bottleneck::Load, &[]);
    let with_acks = SCENARIO.replace("record:", "settings: {acks: 1}, record:");
    for (text, options, release, tried_first, name, since) in [
        (
            SCENARIO,
            own,
            (1, 1),
            "batch.size=65536",
            "compression.type",
            "2.1",
        ),
        (
            with_acks.as_str(),
            preset,
            (0, 10),
            "acks=all",
            "enable.idempotence",
            "0.11",
        ),
    ] {
        let choice = choice_of(text, &options, &load, |now| now.release = Some(release));
        assert_eq!(tried(&choice)[0], tried_first);
        let since = since.to_owned();
        assert_eq!(cause(&choice, name), Some(&LeftOutCause::Release { since }));
    }
}

#[test]
fn values_that_are_refused_together_are_not_combined() {
    let options = TuneOptions {
        candidates: vec![
            candidate("buffer.memory", "64 KiB"),
            candidate("batch.size", "128 KiB"),
            candidate("batch.size", "32 KiB"),
            candidate("linger.ms", "20"),
        ],
        ..TuneOptions::default()
    };
    let choice = choice(&options, Bottleneck::Load);
    let expected = ["buffer.memory=65536", "batch.size=32768", "linger.ms=20"];
    assert_eq!(tried(&choice), expected);
    let Some(LeftOutCause::Refused { why }) = cause(&choice, "batch.size=128 KiB") else {
        panic!("{:?}", choice.left_out);
    };
    assert!(
        why.starts_with("together with buffer.memory=65536: "),
        "{why}"
    );
}

#[test]
fn settings_of_an_existing_topic_stay() {
    let text = SCENARIO
        .replace("replication: 3", "replication: 1")
        .replace("record:", "settings: {acks: 1}, record:");
    let options = TuneOptions {
        preset: Some(TunePreset::Durability),
        durability_may_change: true,
        ..TuneOptions::default()
    };
    let load = limit(Bottleneck::Load, &[]);
    let preset = choice_of(&text, &options, &load, |now| now.owns_topic = false);
    assert_eq!(tried(&preset), ["acks=all", "enable.idempotence=true"]);
    let target = Some(&LeftOutCause::Target);
    assert_eq!(cause(&preset, "topic.replication"), target);
    let options = TuneOptions {
        candidates: vec![vec![("topic".to_owned(), "{partitions: 8}".to_owned())]],
        ..TuneOptions::default()
    };
    let own = choice_of(SCENARIO, &options, &load, |now| now.owns_topic = false);
    assert!(own.settings.is_empty(), "{own:?}");
    assert_eq!(cause(&own, "topic"), target);
}

#[test]
fn a_setting_of_several_flows_changes_in_all_of_them() {
    let two = SCENARIO.replace(
        "flows: [",
        "flows: [{name: v, kind: produce, shape: max, record: {size: 1 kB}}, ",
    );
    let choice = choice_of(
        &two,
        &TuneOptions::default(),
        &limit(Bottleneck::Disk, &[]),
        |_| {},
    );
    let batch = &choice.settings[0].values[0];
    assert_eq!(batch.text, "131072");
    let paths: Vec<&str> = batch
        .changes
        .iter()
        .map(|(path, _)| path.as_str())
        .collect();
    assert_eq!(paths, ["v.settings.batch.size", "w.settings.batch.size"]);
}

#[test]
fn a_preset_is_checked_as_a_whole_and_needs_its_brokers() {
    let text = SCENARIO
        .replace("replication: 3", "replication: 1")
        .replace("record:", "settings: {acks: 1}, record:");
    let options = TuneOptions {
        preset: Some(TunePreset::Durability),
        durability_may_change: true,
        ..TuneOptions::default()
    };
    let load = limit(Bottleneck::Load, &[]);
    let three = choice_of(&text, &options, &load, |_| {});
    let expected = [
        "acks=all",
        "enable.idempotence=true",
        "topic.replication=3",
        "min.insync.replicas=2",
        "unclean.leader.election.enable=false",
    ];
    assert_eq!(tried(&three), expected);
    let in_flight = cause(&three, "max.in.flight.requests.per.connection");
    assert_eq!(in_flight, Some(&LeftOutCause::InForce));
    let one = choice_of(&text, &options, &load, |now| now.broker_count = 1);
    assert_eq!(tried(&one), expected[..2]);
    let needed = Some(&LeftOutCause::Brokers { needed: 3 });
    assert_eq!(cause(&one, "topic.replication"), needed);
}
