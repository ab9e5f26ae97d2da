//! On what ground two runs stand: what else is different between them than what is compared.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::RunToCompare;
use super::setting_names::SettingDifference;
use crate::summary::words;
use kgauge_results::run::{MachineRecord, RunStatus, TargetKind};

/// Memory within this part is the same machine: what a kernel keeps for itself differs.
const MEMORY_WITHIN: f64 = 0.02;
/// More differing settings are only counted.
const SETTINGS_SHOWN: usize = 6;
/// Beyond it nobody counts.
const SETTINGS_MAX: usize = 100;

/// Something that differs between a run and the baseline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunDifference {
    /// Position of the run.
    pub run: u32,
    /// What.
    pub kind: DifferenceKind,
    /// The scenario, where it is about one.
    pub scenario: Option<String>,
    /// True when figures are not comparable for it; else it is only to be known.
    pub bars: bool,
    /// True when the runs of that side differ among themselves.
    #[serde(default, skip_serializing_if = "is_false")]
    pub within: bool,
    /// In a sentence.
    pub words: String,
}

/// What can differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DifferenceKind {
    /// One is kgauge's embedded cluster, the other is not, or it is not known.
    TargetKind,
    /// The scenario was another text.
    Scenario,
    /// One was quick, the other not.
    Size,
    /// The load came from another machine.
    Machine,
    /// One kgauge was built without optimisation.
    DebugBuild,
    /// A run was not finished.
    NotFinished,
    /// The number of brokers.
    Brokers,
    /// Settings of the trials, such as those given by `--set`.
    Settings,
    /// Settings in force at the brokers.
    BrokerSettings,
    /// The version of kgauge.
    Kgauge,
    /// The seed.
    Seed,
}

/// What the two sides are called.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'a> {
    pub(super) ours: &'a str,
    pub(super) theirs: &'a str,
}

/// All that differs, what bars a comparison first.
pub(super) fn differences(
    index: u32,
    one: RunToCompare<'_>,
    base: RunToCompare<'_>,
    names: Names<'_>,
) -> Vec<RunDifference> {
    let mut found = Vec::new();
    let mut push = |kind, bars, words: Option<String>| {
        if let Some(words) = words {
            found.push(RunDifference {
                run: index,
                kind,
                scenario: None,
                bars,
                within: false,
                words,
            });
        }
    };
    push(DifferenceKind::TargetKind, true, target_kind(one, base));
    push(DifferenceKind::Size, true, size(one, base));
    push(DifferenceKind::Machine, true, machine(one, base));
    push(DifferenceKind::DebugBuild, true, debug_build(one, base));
    push(DifferenceKind::NotFinished, false, not_finished(one));
    push(DifferenceKind::Brokers, false, brokers(one, base, names));
    push(DifferenceKind::Settings, false, settings(one, base, names));
    push(
        DifferenceKind::BrokerSettings,
        false,
        broker_settings(one, base, names),
    );
    push(DifferenceKind::Kgauge, false, kgauge(one, base, names));
    push(DifferenceKind::Seed, false, seed(one, base));
    found.extend(scenarios(index, one, base));
    found.sort_by_key(|found| (!found.bars, found.kind));
    found
}

fn target_kind(one: RunToCompare<'_>, base: RunToCompare<'_>) -> Option<String> {
    let (Some(ours), Some(theirs)) = (one.summary.target.kind, base.summary.target.kind) else {
        return Some("the target of one run is unknown".to_owned());
    };
    let embedded = |kind| kind == TargetKind::Embedded;
    (embedded(ours) != embedded(theirs)).then(|| {
        "only one target is kgauge's embedded cluster, whose figures do not carry over to Apache \
         Kafka"
            .to_owned()
    })
}

fn size(one: RunToCompare<'_>, base: RunToCompare<'_>) -> Option<String> {
    let (ours, theirs) = (&one.summary.run.size, &base.summary.run.size);
    let name = |size: &Option<String>| size.clone().unwrap_or_else(|| "of unknown size".to_owned());
    (ours != theirs).then(|| format!("one run is {}, the other {}", name(ours), name(theirs)))
}

fn machine(one: RunToCompare<'_>, base: RunToCompare<'_>) -> Option<String> {
    let (Some(ours), Some(theirs)) = (&one.summary.machine, &base.summary.machine) else {
        return Some("the machine of one run is unknown".to_owned());
    };
    let mut parts = Vec::new();
    let mut part = |name: &str, ours: Option<String>, theirs: Option<String>| {
        if ours != theirs {
            let show = |text: Option<String>| text.unwrap_or_else(|| "unknown".to_owned());
            parts.push(format!("{name} {} vs {}", show(ours), show(theirs)));
        }
    };
    let cpus = |machine: &MachineRecord| machine.cpu_count.map(|count| count.to_string());
    part(
        "processor",
        ours.cpu_model.clone(),
        theirs.cpu_model.clone(),
    );
    part(
        "architecture",
        ours.architecture.clone(),
        theirs.architecture.clone(),
    );
    part("processors", cpus(ours), cpus(theirs));
    if !same_memory(ours.memory_bytes, theirs.memory_bytes) {
        let gigabytes = |bytes: Option<u64>| {
            bytes.map(|bytes| format!("{} GB", words::number(bytes as f64 / 1e9)))
        };
        part(
            "memory",
            gigabytes(ours.memory_bytes),
            gigabytes(theirs.memory_bytes),
        );
    }
    (!parts.is_empty()).then(|| format!("different machines: {}", parts.join("; ")))
}

fn same_memory(one: Option<u64>, other: Option<u64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            one.abs_diff(other) as f64 <= MEMORY_WITHIN * one.max(other) as f64
        }
        (one, other) => one == other,
    }
}

fn debug_build(one: RunToCompare<'_>, base: RunToCompare<'_>) -> Option<String> {
    let (ours, theirs) = (one.summary.run.kgauge.debug, base.summary.run.kgauge.debug);
    (ours != theirs).then(|| "one run used a kgauge built without optimisation".to_owned())
}

fn not_finished(one: RunToCompare<'_>) -> Option<String> {
    let status = one.summary.run.status;
    (status != RunStatus::Complete).then(|| {
        let why = one.summary.run.why.as_ref();
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        format!("the run is incomplete ({}{why})", status.as_str())
    })
}

fn brokers(one: RunToCompare<'_>, base: RunToCompare<'_>, names: Names<'_>) -> Option<String> {
    let (ours, theirs) = (one.summary.target.brokers?, base.summary.target.brokers?);
    (ours != theirs).then(|| {
        let count = |count: u32| words::counted(u64::from(count), "broker");
        format!(
            "{} in {}, {} in {}",
            count(ours),
            names.ours,
            count(theirs),
            names.theirs
        )
    })
}

fn kgauge(one: RunToCompare<'_>, base: RunToCompare<'_>, names: Names<'_>) -> Option<String> {
    let version = |side: RunToCompare<'_>| side.summary.run.kgauge.version.clone();
    let (ours, theirs) = (version(one), version(base));
    (ours != theirs).then(|| {
        format!(
            "{} was measured by kgauge {ours}, {} by kgauge {theirs}",
            names.ours, names.theirs
        )
    })
}

/// Without the numbers, which the runs have: runs that differ in nothing else get one sentence.
fn seed(one: RunToCompare<'_>, base: RunToCompare<'_>) -> Option<String> {
    let (ours, theirs) = (one.summary.run.seed?, base.summary.run.seed?);
    (ours != theirs).then(|| "different seeds, so records and send times differ".to_owned())
}

/// Scenarios of both runs whose texts differ.
fn scenarios(index: u32, one: RunToCompare<'_>, base: RunToCompare<'_>) -> Vec<RunDifference> {
    let differing = one.run.scenarios.iter().filter(|ours| {
        let mut theirs = base.run.scenarios.iter();
        theirs.any(|theirs| theirs.name == ours.name && theirs.text != ours.text)
    });
    let difference = differing.map(|ours| RunDifference {
        run: index,
        kind: DifferenceKind::Scenario,
        scenario: Some(ours.name.clone()),
        bars: true,
        within: false,
        words: format!("the text of the scenario {} differs", ours.name),
    });
    difference.collect()
}

/// What `--set` or the cluster made different in trials of both runs.
fn settings(one: RunToCompare<'_>, base: RunToCompare<'_>, names: Names<'_>) -> Option<String> {
    let (ours, theirs) = (one.run.plan.as_ref()?, base.run.plan.as_ref()?);
    let mut found: Vec<SettingDifference> = Vec::new();
    let by_name = theirs
        .trials
        .iter()
        .map(|trial| ((&trial.scenario, &trial.name), trial));
    let by_name = by_name.collect::<std::collections::BTreeMap<_, _>>();
    for ours in &ours.trials {
        let Some(theirs) = by_name.get(&(&ours.scenario, &ours.name)) else {
            continue;
        };
        let parts = [
            (
                "topic",
                serde_json::to_value(&ours.topic),
                serde_json::to_value(&theirs.topic),
            ),
            (
                "flows",
                serde_json::to_value(&ours.flows),
                serde_json::to_value(&theirs.flows),
            ),
            (
                "stages",
                serde_json::to_value(ours.stages),
                serde_json::to_value(theirs.stages),
            ),
        ];
        for (name, ours, theirs) in parts {
            if let (Ok(ours), Ok(theirs)) = (ours, theirs) {
                differing(name, &ours, &theirs, &mut found);
            }
        }
    }
    let found = found.iter().map(|one| one.words(names.ours, names.theirs));
    let found = listed(found.filter(|words| !words.is_empty()).collect())?;
    Some(format!("different settings: {found}"))
}

/// Paths at which two values differ, with both values; each path once.
fn differing(path: &str, one: &Value, other: &Value, found: &mut Vec<SettingDifference>) {
    match (one, other) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let keys = ours.keys().chain(theirs.keys());
            let keys = keys.collect::<std::collections::BTreeSet<_>>();
            for key in keys {
                let side = |side: &serde_json::Map<String, Value>| {
                    side.get(key).cloned().unwrap_or(Value::Null)
                };
                differing(&format!("{path}.{key}"), &side(ours), &side(theirs), found);
            }
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
            for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                // Flows are called by their names.
                let name = ours.get("name").and_then(Value::as_str);
                let place = name.map_or_else(|| index.to_string(), str::to_owned);
                differing(&format!("{path}.{place}"), ours, theirs, found);
            }
        }
        (ours, theirs) if ours != theirs && found.len() < SETTINGS_MAX => {
            let one = SettingDifference {
                path: path.to_owned(),
                ours: ours.clone(),
                theirs: theirs.clone(),
            };
            if !found.contains(&one) {
                found.push(one);
            }
        }
        _ => {}
    }
}

/// Where a target that kgauge started for a run keeps its data, in the run folder.
const TARGET_DATA: &str = "/target-data/";

/// Settings in force at the first broker of both, those that both tell.
fn broker_settings(
    one: RunToCompare<'_>,
    base: RunToCompare<'_>,
    names: Names<'_>,
) -> Option<String> {
    let first = |side: RunToCompare<'_>| {
        let environment = side.run.environment.as_ref()?;
        Some(environment.target.brokers.first()?.settings.clone())
    };
    let (ours, theirs) = (first(one)?, first(base)?);
    let both = ours.iter().filter_map(|(key, ours)| {
        let theirs = theirs.get(key)?;
        // The run's own folder has another name in every run.
        let is_run_folder = |value: &String| value.contains(TARGET_DATA);
        let same = ours == theirs || (is_run_folder(ours) && is_run_folder(theirs));
        (!same).then(|| {
            format!(
                "{key} {ours} in {}, {theirs} in {}",
                names.ours, names.theirs
            )
        })
    });
    let found = listed(both.collect())?;
    Some(format!("different effective broker settings: {found}"))
}

fn listed(found: Vec<String>) -> Option<String> {
    let more = found.len().saturating_sub(SETTINGS_SHOWN);
    let shown = found.into_iter().take(SETTINGS_SHOWN).collect::<Vec<_>>();
    let more = if more > 0 {
        format!("; and {more} more")
    } else {
        String::new()
    };
    (!shown.is_empty()).then(|| shown.join("; ") + &more)
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(value: &bool) -> bool {
    !*value
}

impl RunDifference {
    /// True when it is about a row of this scenario.
    pub(super) fn concerns(&self, scenario: &str) -> bool {
        self.scenario.as_deref().is_none_or(|name| name == scenario)
    }
}
