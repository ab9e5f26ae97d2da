//! Broken rules, and the classes of anomalies that `kgauge-verify` must find for each.

use kgauge_broker::node::{AppendDeviation as Append, Deviations};
use kgauge_results::run::Anomaly;

use crate::SeedPlan;

/// A broken rule.
#[derive(Debug, Clone, Copy)]
pub struct Mutant {
    /// What goes wrong.
    pub name: &'static str,
    /// The rule.
    pub deviations: Deviations,
    /// Each of these classes must be found.
    pub anomalies: &'static [Anomaly],
    /// Members of a consumer group.
    members: u16,
    /// Duration of the faults in virtual milliseconds.
    faults_ms: u64,
}

impl Mutant {
    fn of(name: &'static str, deviations: Deviations, anomalies: &'static [Anomaly]) -> Mutant {
        Mutant {
            name,
            deviations,
            anomalies,
            members: 0,
            faults_ms: 3_000,
        }
    }

    /// The run with a seed.
    #[must_use]
    pub fn plan(&self, seed: u64) -> SeedPlan {
        SeedPlan {
            deviations: self.deviations,
            members: self.members,
            faults_ms: self.faults_ms,
            ..SeedPlan::new(seed)
        }
    }
}

/// All of them.
#[must_use]
pub fn mutants() -> Vec<Mutant> {
    let mut mutants = of_appends();
    mutants.extend(of_replication());
    mutants.extend(of_commits());
    mutants
}

/// Batches of which something is wrong in the log or in the ack.
fn of_appends() -> Vec<Mutant> {
    let of = |name: &'static str, append: Append, anomalies: &'static [Anomaly]| {
        let deviations = Deviations {
            append: Some(append),
            ..Deviations::default()
        };
        Mutant::of(name, deviations, anomalies)
    };
    vec![
        of("drop", Append::Drop, &[Anomaly::LostWrite]),
        of("truncate", Append::DropHalf, &[Anomaly::LostWrite]),
        of("double", Append::Double, &[Anomaly::Duplicate]),
        of(
            "overwrite",
            Append::Overwrite,
            &[Anomaly::Duplicate, Anomaly::LostWrite],
        ),
        of("swap", Append::Swap, &[Anomaly::NonmonotonicSend]),
        of("foreign record", Append::Foreign, &[Anomaly::ForeignRecord]),
        of(
            "missing value",
            Append::Blank,
            &[Anomaly::ForeignRecord, Anomaly::LostWrite],
        ),
        of("changed value", Append::Change, &[Anomaly::CorruptRecord]),
        of(
            "changed identity",
            Append::ChangeIdentity,
            &[Anomaly::CorruptRecord],
        ),
        of(
            "ack with the next offset",
            Append::OffsetAfter,
            &[Anomaly::InconsistentOffsets],
        ),
        of(
            "ack with the offset before",
            Append::OffsetBefore,
            &[Anomaly::InconsistentOffsets],
        ),
        of(
            "refused, but appended",
            Append::RefuseAppended,
            &[Anomaly::AbortedRead],
        ),
        of(
            "torn commit of a transaction",
            Append::TearTransaction,
            &[Anomaly::TornTransaction],
        ),
    ]
}

/// Acks, replicas and reads.
fn of_replication() -> Vec<Mutant> {
    let early_ack = Deviations {
        ack_before_replication: true,
        ..Deviations::default()
    };
    let wrong_truncation = Deviations {
        truncate_when_elected: true,
        ..Deviations::default()
    };
    let small_window = Deviations {
        batches_kept: Some(4),
        ..Deviations::default()
    };
    let changed_replica = Deviations {
        change_replicas: true,
        ..Deviations::default()
    };
    let skipped_read = Deviations {
        skip_reads: true,
        ..Deviations::default()
    };
    let dirty_read = Deviations {
        dirty_reads: true,
        ..Deviations::default()
    };
    vec![
        Mutant::of("early ack", early_ack, &[Anomaly::LostWrite]),
        Mutant::of("wrong truncation", wrong_truncation, &[Anomaly::LostWrite]),
        // It takes five batches in the log whose acks are lost.
        Mutant {
            faults_ms: 6_000,
            ..Mutant::of("dedupe window of four", small_window, &[Anomaly::Duplicate])
        },
        Mutant::of(
            "changed replica",
            changed_replica,
            &[Anomaly::DivergentReplicas],
        ),
        Mutant::of("skipped read", skipped_read, &[Anomaly::PollSkip]),
        Mutant::of(
            "read before replication",
            dirty_read,
            &[Anomaly::ReadBeforeCommit],
        ),
    ]
}

/// Commits of consumer groups.
fn of_commits() -> Vec<Mutant> {
    let early_commit = Deviations {
        commit_before_replication: true,
        ..Deviations::default()
    };
    let torn_commit = Deviations {
        tear_commits: true,
        ..Deviations::default()
    };
    let of_group = |members: u16, mutant: Mutant| Mutant {
        members,
        faults_ms: 6_000,
        ..mutant
    };
    let back = &[Anomaly::CommittedOffsetBack];
    vec![
        of_group(
            3,
            Mutant::of("commit before replication", early_commit, back),
        ),
        // The only member owns all partitions.
        of_group(1, Mutant::of("torn commit of offsets", torn_commit, back)),
    ]
}
