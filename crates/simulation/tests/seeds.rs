//! The cluster's logic in virtual time: the same history twice, the invariants under some seeds, and
//! four broken rules that must be noticed. Thousands of seeds: `examples/simulate.rs`.

use kgauge_broker::node::Deviations;
use kgauge_simulation::{SeedOutcome, SeedPlan, run};

fn outcome(seed: u64) -> (SeedOutcome, String) {
    let mut history = String::new();
    let outcome = run(&SeedPlan::new(seed), &mut |line| {
        history.push_str(line);
        history.push('\n');
    });
    (
        outcome.unwrap_or_else(|failure| panic!("{failure}")),
        history,
    )
}

#[test]
fn one_seed_gives_one_history_byte_for_byte() {
    let (first, first_history) = outcome(7);
    let (second, second_history) = outcome(7);
    assert_eq!(first, second);
    assert!(first_history == second_history);
    let (other, _) = outcome(8);
    assert_ne!(first.history, other.history);
}

#[test]
fn nothing_that_was_acknowledged_by_enough_replicas_is_lost() {
    let (mut acked, mut faults, mut elections) = (0, 0, 0);
    for seed in 100..112 {
        let (outcome, _) = outcome(seed);
        acked += outcome.acked;
        faults += outcome.faults;
        elections += outcome.elections;
    }
    // The run is worth something only if much happened in it.
    assert!(acked > 5_000, "{acked} acknowledged");
    assert!(
        faults > 50 && elections > 50,
        "{faults} faults, {elections} leaders"
    );
}

/// Whether one of twenty seeds notices a broken rule.
fn is_noticed(deviations: Deviations, members: u16) -> bool {
    (0..20).any(|seed| {
        let plan = SeedPlan {
            deviations,
            members,
            ..SeedPlan::new(seed)
        };
        run(&plan, &mut |_| ()).is_err()
    })
}

#[test]
fn an_acknowledgement_before_replication_is_noticed() {
    let deviations = Deviations {
        ack_before_replication: true,
        ..Deviations::default()
    };
    assert!(is_noticed(deviations, 0));
}

#[test]
fn a_dedupe_window_of_four_is_noticed() {
    let deviations = Deviations {
        batches_kept: Some(4),
        ..Deviations::default()
    };
    assert!(is_noticed(deviations, 0));
}

#[test]
fn a_commit_that_is_answered_before_replication_is_noticed() {
    let deviations = Deviations {
        commit_before_replication: true,
        ..Deviations::default()
    };
    assert!(is_noticed(deviations, 3));
}

#[test]
fn truncation_to_the_high_watermark_is_noticed() {
    let deviations = Deviations {
        truncate_to_high_watermark: true,
        ..Deviations::default()
    };
    // It takes a leader that fails in the moment after a follower was cut: about one seed in forty;
    // seed 1 has it.
    assert!(is_noticed(deviations, 0));
}

#[test]
fn a_group_keeps_its_rules_while_its_coordinators_crash() {
    let (mut commits, mut generations) = (0, 0);
    for seed in 10..14 {
        let plan = SeedPlan {
            members: 3,
            ..SeedPlan::new(seed)
        };
        let outcome = run(&plan, &mut |_| ()).unwrap_or_else(|failure| panic!("{failure}"));
        commits += outcome.commits;
        generations += outcome.generations;
    }
    // The run is worth something only if much happened in it.
    assert!(
        commits > 100 && generations > 15,
        "{commits} commits, {generations} generations"
    );
}
