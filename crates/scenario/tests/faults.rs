//! `faults`: what is read, what is refused, and in which words a plan announces it.

#![allow(clippy::unwrap_used, reason = "tests")]

use kgauge_scenario::{
    CapacityPlan, CapacityUnit, CutDirection, CutEnd, DelayPlan, Fault, FaultNode, FaultPlan,
    FaultStart, Plan, PlanRequest, Problems, RequestFault, Scenario, Size,
};

fn text(faults: &str) -> String {
    format!(
        "kgauge: 1\nname: s\nquestion: What happens?\ntarget: {{brokers: 3}}\n\
         topic: {{partitions: 3, replication: 3}}\nstages: {{warm-up: 2 s, hold: 20 s}}\n\
         flows:\n  - {{name: w, kind: produce, shape: {{constant: 1k/s}}, record: {{size: 100 B}}}}\n\
         faults:\n{faults}"
    )
}

fn read(fault: &str) -> FaultPlan {
    let scenario = Scenario::parse("s.yaml", &text(&format!("  - {{{fault}}}\n")));
    let scenario = scenario.unwrap_or_else(|problems| panic!("{fault}: {problems}"));
    let mut trials = scenario.trials(Size::Default);
    trials.remove(0).faults.remove(0)
}

#[track_caller]
fn refused(fault: &str, word: &str) {
    let problems = Scenario::parse("s.yaml", &text(&format!("  - {{{fault}}}\n")));
    let words = problems.map(|_| fault.to_owned()).unwrap_err().to_string();
    assert!(words.contains(word), "{word:?} is missing in {words}");
    assert!(
        words.contains("s.yaml:10:"),
        "the place is missing in {words}"
    );
}

/// Faults as they are written, and in words.
const KINDS: &[(&str, &str)] = &[
    (
        "at: 3 s, node: 1, crash: true, restart-after: 5 s",
        "at 3 s, node 1: crash, started again after 5 s",
    ),
    (
        "at: 2 s, every: 6 s, node: random, kill: true, restart-after: 3 s",
        "at 2 s and every 6 s from then on, a random node: kill, started again after 3 s",
    ),
    (
        "at: 0 s, node: leader, stop: true",
        "at 0 s, the leader of partition 0: stop",
    ),
    (
        "at: -500 ms, node: 2, restart: true",
        "500 ms before the hold, node 2: restart",
    ),
    (
        "at: 1 s, node: follower, pause: true, for: 2 s",
        "at 1 s, a follower of partition 0: pause, for 2 s",
    ),
    (
        "at: 1 s, node: 1, cut: {with: others}, for: 2 s",
        "at 1 s, node 1: cut off in both directions from all other nodes and the controller, \
         for 2 s",
    ),
    (
        "at: 1 s, node: 1, cut: {from: 2}",
        "at 1 s, node 1: cut off from messages of node 2",
    ),
    (
        "at: 10 s, node: all, api: produce, stall: 1 s",
        "at 10 s, all nodes: produce requests stalled for 1 s",
    ),
    (
        "at: start, node: 2, api: fetch, delay: 5 ms, for: 10 s",
        "at the start, node 2: fetch requests delayed by 5 ms, for 10 s",
    ),
    (
        "at: 1 s, node: 2, delay: {exponential: 5 ms}, times: 10",
        "at 1 s, node 2: all requests delayed by 5 ms on average (exponential), 10 of them",
    ),
    (
        "at: 1 s, node: 1, api: produce, fail: NOT_LEADER_OR_FOLLOWER, times: 3",
        "at 1 s, node 1: produce requests fail with NOT_LEADER_OR_FOLLOWER, 3 of them",
    ),
    (
        "at: 1 s, node: 1, api: produce, drop: after, times: 1",
        "at 1 s, node 1: produce requests dropped after they were served, 1 of them",
    ),
    (
        "at: 2 s, node: 1, capacity: 50 MB/s",
        "at 2 s, node 1: all requests capped at 50 MB/s",
    ),
    (
        "at: 2 s, node: 1, api: produce, capacity: 100k/s, burst: 0",
        "at 2 s, node 1: produce requests capped at 100000/s, bursts of 0",
    ),
    (
        "at: 2 s, node: 1, capacity: 100k/s, noise: 2.5 %",
        "at 2 s, node 1: all requests capped at 100000/s, ±2.5 % from second to second",
    ),
    (
        "at: 2 s, node: 1, disk-full: 10 MiB, for: 3 s",
        "at 2 s, node 1: disk full after 10 MiB more, started again after 3 s",
    ),
    (
        "at: 2 s, node: 1, cut: {with: clients}, for: 1 s",
        "at 2 s, node 1: cut off in both directions from clients, for 1 s",
    ),
    (
        "at: 2 s, node: all, api: end-txn, delay: 5 s, times: 1",
        "at 2 s, all nodes: end-txn requests delayed by 5 s, 1 of them",
    ),
    (
        "at: 2 s, node: 1, flush: 50 ms, for: 3 s",
        "at 2 s, node 1: flushes delayed by 50 ms, for 3 s",
    ),
    (
        "at: 2 s, node: 1, flush: fail, for: 3 s",
        "at 2 s, node 1: flushes fail, started again after 3 s",
    ),
    (
        "at: 2 s, node: 1, clock-offset: -90 s",
        "at 2 s, node 1: clock 90 s behind",
    ),
];

#[test]
fn every_kind_of_fault_is_read_and_announced_in_words() {
    for (fault, words) in KINDS {
        assert_eq!(read(fault).to_string(), *words);
    }
}

#[test]
fn what_is_read_is_exact() {
    let quantiles = "at: 1 s, node: all, delay: {quantiles: {p0: 1 ms, p99.9: 40 ms, p100: 2 s}}";
    let fault = read(quantiles);
    assert_eq!(fault.node, FaultNode::All);
    assert_eq!(fault.at, FaultStart::Hold(1_000_000_000));
    assert_eq!(fault.at.at_ns(2_000_000_000), 3_000_000_000);
    let points = vec![
        (0, 1_000_000),
        (999_000, 40_000_000),
        (1_000_000, 2_000_000_000),
    ];
    let what = RequestFault::Delay(DelayPlan::Quantiles(points));
    let (api, times) = (None, None);
    assert_eq!(fault.kind, Fault::Requests { api, times, what });
    let capacity = read("at: start, node: 1, capacity: 1.5 MB/s, burst: 64 KiB");
    let what = RequestFault::Capacity(CapacityPlan {
        unit: CapacityUnit::Bytes,
        per_second: 1_500_000,
        burst: Some(65_536),
        noise_millionths: 0,
    });
    let (api, times) = (None, None);
    assert_eq!(capacity.kind, Fault::Requests { api, times, what });
    assert_eq!(capacity.at.at_ns(2_000_000_000), 0);
    let cut = read("at: -1 s, node: 2, cut: {to: controller}");
    let (direction, end) = (CutDirection::To, CutEnd::Controller);
    assert_eq!(cut.kind, Fault::Cut { direction, end });
    assert_eq!(cut.at.at_ns(2_000_000_000), 1_000_000_000);
}

#[test]
fn mistakes_of_time_and_node_are_refused_with_their_cure() {
    let mistakes = [
        ("at: 3 s, node: 1", "the fault has no action"),
        ("node: 1, crash: true", "`at` is missing"),
        ("at: 3 s, crash: true", "`node` is missing"),
        (
            "at: 3 s, node: 1, crash: true, stop: true",
            "an entry has one action",
        ),
        ("at: 3 s, node: 1, crash: false", "invalid value `false`"),
        ("at: 3, node: 1, crash: true", "has no unit"),
        ("at: 20 s, node: 1, crash: true", "after the hold"),
        ("at: -3 s, node: 1, crash: true", "before the load"),
        (
            "at: 1 s, node: 4, crash: true",
            "write `target: {brokers: 4}`",
        ),
        ("at: 1 s, node: 0, crash: true", "a node number from 1"),
        ("at: 1 s, node: broker, crash: true", "`leader`, `follower`"),
        ("at: 1 s, node: 1, crsh: true", "did you mean `crash`?"),
        (
            "at: 1 s, node: 1, crash: true, for: 2 s",
            "write `restart-after`",
        ),
        (
            "at: 1 s, node: 1, pause: true, restart-after: 2 s",
            "write `for`",
        ),
        (
            "at: 1 s, node: 1, restart: true, for: 2 s",
            "no effect on `restart`",
        ),
        (
            "at: 1 s, node: 1, crash: true, api: produce",
            "no effect on `crash`",
        ),
        (
            "at: 1 s, every: 2 s, node: 1, crash: true",
            "add `restart-after`",
        ),
        (
            "at: 1 s, every: 2 s, node: 1, pause: true, for: 3 s",
            "before it ends",
        ),
    ];
    for (fault, word) in mistakes {
        refused(fault, word);
    }
}

#[test]
fn mistakes_of_what_is_done_are_refused_with_their_cure() {
    let mistakes = [
        (
            "at: 1 s, node: 1, api: produces, stall: 1 s",
            "did you mean `produce`?",
        ),
        ("at: 1 s, node: 1, fail: UNKNOWN_SERVER_ERROR", "add `api`"),
        (
            "at: 1 s, node: 1, api: produce, fail: not_leader_or_folower",
            "did you mean `NOT_LEADER_OR_FOLLOWER`?",
        ),
        (
            "at: 1 s, node: 1, api: api-versions, fail: UNKNOWN_SERVER_ERROR",
            "no error that clients check",
        ),
        (
            "at: 1 s, node: 1, api: metadata, capacity: 5/s",
            "carry no records",
        ),
        ("at: 1 s, node: 1, capacity: 50 MB", "is not a capacity"),
        (
            "at: 1 s, node: 1, cut: {with: 1}",
            "cannot be cut off from itself",
        ),
        (
            "at: 1 s, node: 1, cut: {with: 2, to: 3}",
            "one direction and one end",
        ),
        ("at: 1 s, node: 1, cut: {with: 5}", "node 5 may not exist"),
        (
            "at: 1 s, node: 1, delay: {uniform: [5 ms, 1 ms]}",
            "in ascending order",
        ),
        (
            "at: 1 s, node: 1, delay: {quantiles: {p50: 1 ms}}",
            "do not form a distribution",
        ),
        (
            "at: 1 s, node: 1, delay: {quantiles: {fifty: 1 ms}}",
            "is not a quantile",
        ),
        (
            "at: 1 s, node: 1, clock-offset: 5 us",
            "millisecond resolution",
        ),
        (
            "at: 1 s, node: 1, clock-offset: 0 s",
            "millisecond resolution",
        ),
    ];
    for (fault, word) in mistakes {
        refused(fault, word);
    }
}

#[test]
fn a_plan_keeps_faults_and_reads_them_back() {
    let faults = "  - {at: 3 s, every: 8 s, node: random, crash: true, restart-after: 5 s}\n  \
                  - {at: start, node: all, api: fetch, delay: {uniform: [1 ms, 5 ms]}}\n  \
                  - {at: 1 s, node: 1, cut: {with: others}, for: 1 s}\n";
    let scenario = Scenario::parse("s.yaml", &text(faults)).unwrap();
    let request = PlanRequest {
        run_id: "r".to_owned(),
        seed: 1,
        size: Size::Default,
        study: None,
        cluster: kgauge_scenario::ClusterFacts {
            cluster_id: "c".to_owned(),
            brokers: 3,
            kind: kgauge_scenario::TargetKind::Embedded,
            version: None,
        },
    };
    let plan = Plan::new(request, &[scenario]).unwrap();
    assert_eq!(plan.trials[0].faults.len(), 3);
    assert_eq!(Plan::from_json(&plan.to_json()).unwrap(), plan);
}

fn random_faults(random: &str) -> Result<Vec<FaultPlan>, Problems> {
    let random = format!("faults: {{random: {random}}}\n");
    let text = text("").replace("faults:\n", &random);
    let mut scenario = Scenario::parse("s.yaml", &text)?;
    scenario.set("stages.hold", "100 s").unwrap();
    Ok(scenario.trials(Size::Default).remove(0).faults)
}

#[test]
fn random_faults_are_listed_by_the_plan() {
    let of = random_faults;
    let problem = |random: &str| of(random).unwrap_err().to_string();
    let faults = of("{seed: 3, kinds: [kill, flush], every: 10 s}").unwrap();
    assert_eq!(faults.len(), 9);
    assert_eq!(faults[0].at, FaultStart::Hold(10_000_000_000));
    for fault in &faults {
        assert!(
            matches!(fault.kind, Fault::Kill | Fault::Flush(_)),
            "{fault}"
        );
        assert!(matches!(fault.node, FaultNode::Number(1..=3)), "{fault}");
    }
    assert_eq!(of("{every: 10 s}").unwrap().len(), 9);
    assert!(problem("{every: 30 s}").contains("would begin after the hold"));
    assert!(problem("{kinds: [], every: 10 s}").contains("nothing to draw from"));
    assert!(problem("{kinds: [fail], every: 10 s}").contains("fail"));
}
