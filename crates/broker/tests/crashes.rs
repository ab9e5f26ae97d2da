//! Nodes that crash while producers write, in real threads on a real disk: a short form of
//! `examples/crashes`, which does it for any length of time.
#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

#[path = "../examples/crashes/trial/mod.rs"]
mod trial;

use std::time::Duration;

use trial::{Acks, Outcome, Plan, Promise};

fn run(acks: Acks, seconds: u64) -> Outcome {
    let plan = Plan {
        seed: 3,
        time: Duration::from_secs(seconds),
        acks,
        partitions: 3,
        producers: 2,
        records_per_second: 3_000,
        gap_ms: 100..400,
        down_ms: 50..2_000,
        outside: None,
    };
    let dir = tempfile::tempdir().unwrap();
    let mut story = String::new();
    let outcome = trial::run(&plan, dir.path(), &mut |line| {
        story.push_str(line);
        story.push('\n');
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}\n{story}"))
}

#[test]
fn what_enough_replicas_acknowledged_is_there_once_and_in_order_after_crashes() {
    let outcome = run(Acks::All, 10);
    let (crashes, sum) = (&outcome.crashes, &outcome.reckoning);
    // The run is worth something only if much happened in it.
    assert!(crashes.count >= 2 && crashes.bytes_lost > 0, "{crashes:?}");
    assert!(sum.acked > 1_000, "{sum:?}");
    assert_eq!(sum.broken(Promise::Exact), [""; 0], "{sum:?}");
}

#[test]
fn what_a_leader_alone_acknowledged_may_be_lost_and_is_counted() {
    let outcome = run(Acks::Leader, 5);
    let (crashes, sum) = (&outcome.crashes, &outcome.reckoning);
    assert!(crashes.count >= 1 && sum.acked > 500, "{crashes:?} {sum:?}");
    assert_eq!(sum.broken(Promise::Counted), [""; 0], "{sum:?}");
    assert_eq!(sum.found + sum.lost, sum.acked + sum.found_unacked);
}
