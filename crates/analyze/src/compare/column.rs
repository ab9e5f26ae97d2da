//! The columns of a comparison, and a short name for each run.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::{RunToCompare, SideCount, folder_name};
use crate::summary::{Status, Summary, TargetSummary};
use kgauge_results::run::{BuildRecord, MachineRecord, RunStatus, TargetKind};

/// Run ids end with a few characters of their own: `20260301-120000-7f3a`.
const SHORT_ID_MAX: usize = 8;
/// The longest label. A version comes from a broker or a file and could fill the table.
const LABEL_CHARS_MAX: usize = 24;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunColumn {
    /// The name that it was given, or its target in a few words, such as `Kafka 4.3.1` or `embedded ×3`; where two
    /// runs have the same target their folders, or with a short id. Unique in the comparison.
    pub label: String,
    /// The run's id.
    pub run_id: String,
    /// The name of its folder, without what lies above it.
    pub folder: String,
    /// The target; JSON has its sentence.
    #[serde(skip)]
    pub target: TargetSummary,
    /// What the target is; null when not known.
    pub target_kind: Option<TargetKind>,
    /// Its release.
    pub target_version: Option<String>,
    /// Number of brokers.
    pub brokers: Option<u32>,
    /// The load generator's machine.
    pub machine: Option<MachineRecord>,
    /// The kgauge that ran it.
    pub kgauge: BuildRecord,
    /// `quick`, `default` or `full`; null without a plan.
    pub size: Option<String>,
    /// The random seed; null without a plan.
    pub seed: Option<u64>,
    /// Milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// The status of the run.
    pub run_status: RunStatus,
    /// How it ended, the worst first that is true.
    pub status: Status,
    /// Why it failed or was interrupted, as text.
    pub why: Option<String>,
    /// Cost of the target per hour, in the user's currency; absent if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_per_hour: Option<f64>,
    /// Its acked records beside those on the brokers; absent if it wrote nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<SideCount>,
    /// With several runs of a side those after the first, of which the other fields tell; `run_status`, `status` and
    /// `why` are those of the worst.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<FurtherRun>,
}

/// A run of a side beside its first.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FurtherRun {
    /// The run's id.
    pub run_id: String,
    /// The name of its folder, without what lies above it.
    pub folder: String,
    /// The random seed; null without a plan.
    pub seed: Option<u64>,
    /// Milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// The status of the run.
    pub run_status: RunStatus,
}

/// The columns, with labels of their own: the names given, else the targets, else where these are the same the folders.
pub(super) fn columns(sides: &[Vec<RunToCompare<'_>>], names: &[String]) -> Vec<RunColumn> {
    let mut columns: Vec<RunColumn> = sides
        .iter()
        .filter_map(|side| column_of_side(side))
        .collect();
    for (column, name) in columns.iter_mut().zip(names) {
        column.label = shortened(name);
    }
    if names.is_empty() {
        let folders = |columns: &[RunColumn]| -> BTreeSet<String> {
            columns.iter().map(|column| column.folder.clone()).collect()
        };
        let is_told_by_folder = folders(&columns).len() == columns.len();
        make_unique(&mut columns, |column, _| match is_told_by_folder {
            true => shortened(&column.folder),
            false => column.label.clone(),
        });
    }
    make_unique(&mut columns, |column, _| {
        format!("{} {}", column.label, short_id(&column.run_id))
    });
    // The same folder given twice.
    make_unique(&mut columns, |column, index| {
        format!("{} #{}", column.label, index + 1)
    });
    for column in columns
        .iter_mut()
        .filter(|column| !column.further.is_empty())
    {
        column.label = format!("{} ({} runs)", column.label, column.further.len() + 1);
    }
    columns
}

fn column_of_side(side: &[RunToCompare<'_>]) -> Option<RunColumn> {
    let (first, others) = side.split_first()?;
    let mut found = column(first.summary, folder_name(first.run));
    found.counted = SideCount::of(side);
    for other in others {
        let run = &other.summary.run;
        if found.run_status == RunStatus::Complete && run.status != RunStatus::Complete {
            found.run_status = run.status;
            found.status = other.summary.status;
            found.why.clone_from(&run.why);
        }
        found.further.push(FurtherRun {
            run_id: run.run_id.clone(),
            folder: folder_name(other.run),
            seed: run.seed,
            started_unix_ms: run.started_unix_ms,
            run_status: run.status,
        });
    }
    Some(found)
}

/// Gives those that share a label another one.
fn make_unique(columns: &mut [RunColumn], label: impl Fn(&RunColumn, usize) -> String) {
    let mut counts = BTreeMap::new();
    for column in columns.iter() {
        *counts.entry(column.label.clone()).or_insert(0_u32) += 1;
    }
    for (index, column) in columns.iter_mut().enumerate() {
        if counts.get(&column.label).is_some_and(|count| *count > 1) {
            column.label = label(column, index);
        }
    }
}

fn column(summary: &Summary, folder: String) -> RunColumn {
    let (run, target) = (&summary.run, &summary.target);
    RunColumn {
        label: label(summary),
        run_id: run.run_id.clone(),
        folder,
        target: target.clone(),
        target_kind: target.kind,
        target_version: target.version.clone(),
        brokers: target.brokers,
        machine: summary.machine.clone(),
        kgauge: run.kgauge.clone(),
        size: run.size.clone(),
        seed: run.seed,
        started_unix_ms: run.started_unix_ms,
        run_status: run.status,
        status: summary.status,
        why: run.why.clone(),
        price_per_hour: run.price_per_hour,
        counted: None,
        further: Vec::new(),
    }
}

fn label(summary: &Summary) -> String {
    let target = &summary.target;
    let name = match target.kind {
        Some(kind) => kind.short_name(target.version.as_deref()),
        None => "unknown".to_owned(),
    };
    let name = shortened(&name);
    match target.brokers {
        Some(brokers) if brokers > 1 => format!("{name} ×{brokers}"),
        _ => name,
    }
}

/// The name, or its beginning and its end: folders of one day differ in their ends.
fn shortened(name: &str) -> String {
    let count = name.chars().count();
    if count <= LABEL_CHARS_MAX {
        return name.to_owned();
    }
    let start = name.chars().take(LABEL_CHARS_MAX / 2);
    let end = name.chars().skip(count - (LABEL_CHARS_MAX - 1) / 2);
    start.chain(['…']).chain(end).collect()
}

fn short_id(run_id: &str) -> String {
    let last = run_id.rsplit('-').next().unwrap_or(run_id);
    let count = last.chars().count();
    last.chars()
        .skip(count.saturating_sub(SHORT_ID_MAX))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_beginning_and_its_end() {
        let short = shortened("linkedin-2014-20261128-013100-7f3a");
        assert_eq!(short, "linkedin-201…013100-7f3a");
        assert_eq!(short.chars().count(), LABEL_CHARS_MAX);
        let name = "n".repeat(LABEL_CHARS_MAX);
        assert_eq!(shortened(&name), name);
    }
}
