//! `kgauge-verify` judges what clients of the simulated cluster were told: every broken rule is found with the right
//! class, and the unmodified cluster raises no alarm. More seeds: `examples/verified.rs`.

use kgauge_results::run::Anomaly;
use kgauge_simulation::{Mutant, SeedPlan, mutants, run_verified};

/// Seeds with which a broken rule must be found at least once.
const SEEDS: u64 = 20;

#[test]
fn the_unmodified_cluster_raises_no_alarm() {
    let mut permitted = 0;
    for seed in 0..SEEDS {
        let plan = SeedPlan {
            faults_ms: 3_000,
            members: if seed.is_multiple_of(4) { 3 } else { 0 },
            ..SeedPlan::new(seed)
        };
        for found in run_verified(&plan).anomalies {
            assert!(!found.is_forbidden, "seed {seed}: {found:?}");
            permitted += found.count;
        }
    }
    assert!(permitted > 0, "acks=1 loses some records at crashes");
}

/// The classes that no seed finds.
fn missing(mutant: &Mutant) -> Vec<Anomaly> {
    let mut missing = mutant.anomalies.to_vec();
    for seed in 0..SEEDS {
        if missing.is_empty() {
            break;
        }
        let found = run_verified(&mutant.plan(seed)).anomalies;
        let is_found = |class: Anomaly| {
            let mut forbidden = found.iter().filter(|one| one.is_forbidden);
            forbidden.any(|one| one.anomaly == class)
        };
        missing.retain(|class| !is_found(*class));
    }
    missing
}

#[test]
fn every_broken_rule_is_found_with_its_class() {
    let mutants = mutants();
    assert!(mutants.len() > 20);
    std::thread::scope(|scope| {
        for mutant in &mutants {
            scope.spawn(move || assert_eq!(missing(mutant), [], "{}", mutant.name));
        }
    });
}
