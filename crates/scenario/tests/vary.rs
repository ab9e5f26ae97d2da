//! What a scenario varies: single changes, listed combinations, clusters.

#![allow(clippy::unwrap_used, reason = "tests")]

use kgauge_scenario::{Scenario, Size, Trial};

/// A scenario with one produce flow `w`; `rest` adds keys.
fn scenario(rest: &str) -> Scenario {
    let text = format!(
        "kgauge: 1\nname: small\nquestion: Why?\ntopic: {{partitions: 6}}\nflows:\n  \
         - {{name: w, kind: produce, shape: max, record: {{size: 100 B}}}}\n{rest}"
    );
    match Scenario::parse("small.yaml", &text) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{problems}"),
    }
}

fn trial_names(vary: &str) -> Vec<String> {
    let trials = scenario(vary).trials(Size::Default);
    trials.into_iter().map(|trial| trial.name).collect()
}

#[test]
fn one_at_a_time_has_the_scenario_as_it_is_and_each_single_change() {
    let vary = "vary: {one-at-a-time: {w.settings.acks: [1, all], broker.num.io.threads: [4]}}\n";
    assert_eq!(
        trial_names(vary),
        [
            "baseline",
            "w.settings.acks=1",
            "w.settings.acks=all",
            "broker.num.io.threads=4"
        ]
    );
    let trials = scenario(vary).trials(Size::Default);
    let threads = |trial: &Trial| trial.cluster.config.get("num.io.threads").cloned();
    let found: Vec<_> = trials.iter().map(threads).collect();
    assert_eq!(found, [None, None, None, Some("4".to_owned())]);
    assert_eq!(
        trials[1].factors,
        [("one-at-a-time".to_owned(), "w.settings.acks=1".to_owned())]
    );
}

#[test]
fn listed_combinations_change_all_of_their_paths_and_go_by_their_names() {
    let vary = "vary:\n  topic.partitions: [1, 2]\n  listed:\n    - {name: plain}\n    - {name: big, w.record.size: 1 kB, \
                w.settings.linger.ms: 100}\n";
    assert_eq!(
        trial_names(vary),
        [
            "topic.partitions=1, plain",
            "topic.partitions=1, big",
            "topic.partitions=2, plain",
            "topic.partitions=2, big"
        ]
    );
    let trials = scenario(vary).trials(Size::Default);
    let flow = trials[3].flows[0].produces().unwrap();
    assert_eq!(flow.settings.linger_ns, 100_000_000);
    let paths: Vec<_> = trials[3]
        .changes
        .iter()
        .map(|(path, _)| path.as_str())
        .collect();
    assert_eq!(paths, ["w.record.size", "w.settings.linger.ms"]);
    assert!(trials[0].changes.is_empty());
}

#[test]
fn what_is_set_is_varied_no_more() {
    let vary = "vary:\n  one-at-a-time: {w.settings.acks: [1, all], topic.partitions: [3]}\n  listed: [{name: a}, {name: b, \
                w.settings.linger.ms: 7}]\n";
    let mut scenario = scenario(vary);
    let sets = [("w.settings.acks", "1"), ("w.settings.linger.ms", "5")];
    let sets = sets.map(|(path, value)| (path.to_owned(), value.to_owned()));
    scenario.set_all(&sets).unwrap();
    let trials = scenario.trials(Size::Default);
    let names: Vec<_> = trials.iter().map(|trial| trial.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "baseline, a",
            "baseline, b",
            "topic.partitions=3, a",
            "topic.partitions=3, b"
        ]
    );
    let lingers = trials
        .iter()
        .map(|trial| trial.flows[0].produces().unwrap().settings.linger_ns);
    assert!(lingers.clone().all(|ns| ns == 5_000_000));
}

#[test]
fn a_varied_number_of_brokers_is_exact() {
    let trials = scenario("vary: {target.brokers: [3, 6]}\n").trials(Size::Default);
    let exact: Vec<_> = trials
        .iter()
        .map(|trial| trial.cluster.brokers_exactly())
        .collect();
    assert_eq!(exact, [Some(3), Some(6)]);
    let one = scenario("target: {brokers: 4}\n");
    assert_eq!(one.brokers_needed(Size::Default), 4);
    assert_eq!(one.trials(Size::Default)[0].cluster.brokers_exactly(), None);
}
