//! Whether two runs can be compared: what differs between them besides what is compared.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::RunToCompare;
use crate::summary::TargetSummary;
use kgauge_results::run::{MachineRecord, RunStatus};

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
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub within: bool,
    /// Of a side of several runs, the id of the one that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// What the run is called.
    pub ours: String,
    /// What the baseline is called.
    pub theirs: String,
    /// In what they differ.
    pub fact: DifferenceFact,
}

/// In what a run, `ours`, differs from the baseline, `theirs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs)] // The fields' names say it.
pub enum DifferenceFact {
    /// It is not known what one target is.
    UnknownTarget,
    /// Only one target is kgauge's embedded cluster.
    OneEmbedded,
    /// Targets that are to be one are different.
    Targets {
        ours: Box<TargetSummary>,
        theirs: Box<TargetSummary>,
    },
    /// Releases of targets that are to be one.
    Releases {
        ours: Option<String>,
        theirs: Option<String>,
    },
    /// `quick`, `default` or `full`.
    Size {
        ours: Option<String>,
        theirs: Option<String>,
    },
    /// It is not known which machine made one load.
    UnknownMachine,
    /// The machines that made the load.
    Machines { differences: Vec<MachineDifference> },
    /// Only one kgauge was built without optimisation.
    DebugBuild,
    /// A run is incomplete.
    NotFinished {
        status: RunStatus,
        why: Option<String>,
    },
    /// The number of brokers.
    Brokers { ours: u32, theirs: u32 },
    /// Settings of the trials.
    Settings { settings: Vec<SettingDifference> },
    /// Settings in force at the first broker.
    BrokerSettings {
        settings: Vec<BrokerSettingDifference>,
    },
    /// Versions of kgauge.
    Kgauge { ours: String, theirs: String },
    /// Seeds.
    Seed,
    /// The text of a scenario.
    Scenario { name: String },
}

/// A property of the machines that make the load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "property", rename_all = "kebab-case")]
#[allow(missing_docs)] // The names say it.
pub enum MachineDifference {
    Processor {
        ours: Option<String>,
        theirs: Option<String>,
    },
    Architecture {
        ours: Option<String>,
        theirs: Option<String>,
    },
    Processors {
        ours: Option<u32>,
        theirs: Option<u32>,
    },
    MemoryBytes {
        ours: Option<u64>,
        theirs: Option<u64>,
    },
}

/// A setting that differs: its path in the plan, such as `flows.writers.settings.linger_ns`, and its values in both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[allow(missing_docs)] // The names say it.
pub struct SettingDifference {
    pub path: String,
    pub ours: Value,
    pub theirs: Value,
}

/// A setting of brokers that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[allow(missing_docs)] // The names say it.
pub struct BrokerSettingDifference {
    pub key: String,
    pub ours: String,
    pub theirs: String,
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
    let facts = [
        target_kind(one, base),
        size(one, base),
        machine(one, base),
        debug_build(one, base),
        not_finished(one),
        brokers(one, base),
        settings(one, base),
        broker_settings(one, base),
        kgauge(one, base),
        seed(one, base),
    ];
    let scenarios = scenarios(one, base).map(|name| DifferenceFact::Scenario { name });
    let facts = facts.into_iter().flatten().chain(scenarios);
    let mut found: Vec<RunDifference> = facts.map(|fact| difference(index, names, fact)).collect();
    found.sort_by_key(|found| (!found.bars, found.kind));
    found
}

pub(super) fn difference(run: u32, names: Names<'_>, fact: DifferenceFact) -> RunDifference {
    let kind = fact.kind();
    RunDifference {
        run,
        kind,
        scenario: match &fact {
            DifferenceFact::Scenario { name } => Some(name.clone()),
            _ => None,
        },
        bars: kind.bars(),
        within: false,
        run_id: None,
        ours: names.ours.to_owned(),
        theirs: names.theirs.to_owned(),
        fact,
    }
}

impl DifferenceFact {
    fn kind(&self) -> DifferenceKind {
        use DifferenceKind as Kind;
        match self {
            Self::UnknownTarget
            | Self::OneEmbedded
            | Self::Targets { .. }
            | Self::Releases { .. } => Kind::TargetKind,
            Self::Size { .. } => Kind::Size,
            Self::UnknownMachine | Self::Machines { .. } => Kind::Machine,
            Self::DebugBuild => Kind::DebugBuild,
            Self::NotFinished { .. } => Kind::NotFinished,
            Self::Brokers { .. } => Kind::Brokers,
            Self::Settings { .. } => Kind::Settings,
            Self::BrokerSettings { .. } => Kind::BrokerSettings,
            Self::Kgauge { .. } => Kind::Kgauge,
            Self::Seed => Kind::Seed,
            Self::Scenario { .. } => Kind::Scenario,
        }
    }
}

impl DifferenceKind {
    /// Whether figures are not comparable for it.
    fn bars(self) -> bool {
        matches!(
            self,
            Self::TargetKind | Self::Scenario | Self::Size | Self::Machine | Self::DebugBuild
        )
    }
}

fn target_kind(one: RunToCompare<'_>, base: RunToCompare<'_>) -> Option<DifferenceFact> {
    let (Some(ours), Some(theirs)) = (one.summary.target.kind, base.summary.target.kind) else {
        return Some(DifferenceFact::UnknownTarget);
    };
    let embedded = [ours, theirs].map(|kind| !kind.is_apache_kafka());
    (embedded[0] != embedded[1]).then_some(DifferenceFact::OneEmbedded)
}

fn size(one: RunToCompare<'_>, base: RunToCompare<'_>) -> Option<DifferenceFact> {
    let size = |side: RunToCompare<'_>| side.summary.run.size.clone();
    let (ours, theirs) = (size(one), size(base));
    (ours != theirs).then_some(DifferenceFact::Size { ours, theirs })
}

fn machine(one: RunToCompare<'_>, base: RunToCompare<'_>) -> Option<DifferenceFact> {
    let (Some(ours), Some(theirs)) = (&one.summary.machine, &base.summary.machine) else {
        return Some(DifferenceFact::UnknownMachine);
    };
    let processor = (ours.cpu_model != theirs.cpu_model).then(|| MachineDifference::Processor {
        ours: ours.cpu_model.clone(),
        theirs: theirs.cpu_model.clone(),
    });
    let is_other = ours.architecture != theirs.architecture;
    let architecture = is_other.then(|| MachineDifference::Architecture {
        ours: ours.architecture.clone(),
        theirs: theirs.architecture.clone(),
    });
    let is_other = ours.cpu_count != theirs.cpu_count;
    let processors = is_other.then_some(MachineDifference::Processors {
        ours: ours.cpu_count,
        theirs: theirs.cpu_count,
    });
    let is_other = !MachineRecord::is_same_memory(ours.memory_bytes, theirs.memory_bytes);
    let memory = is_other.then_some(MachineDifference::MemoryBytes {
        ours: ours.memory_bytes,
        theirs: theirs.memory_bytes,
    });
    let differences = [processor, architecture, processors, memory];
    let differences: Vec<MachineDifference> = differences.into_iter().flatten().collect();
    (!differences.is_empty()).then_some(DifferenceFact::Machines { differences })
}

fn debug_build(one: RunToCompare<'_>, base: RunToCompare<'_>) -> Option<DifferenceFact> {
    let (ours, theirs) = (one.summary.run.kgauge.debug, base.summary.run.kgauge.debug);
    (ours != theirs).then_some(DifferenceFact::DebugBuild)
}

fn not_finished(one: RunToCompare<'_>) -> Option<DifferenceFact> {
    let status = one.summary.run.status;
    (status != RunStatus::Complete).then(|| DifferenceFact::NotFinished {
        status,
        why: one.summary.run.why.clone(),
    })
}

fn brokers(one: RunToCompare<'_>, base: RunToCompare<'_>) -> Option<DifferenceFact> {
    let (ours, theirs) = (one.summary.target.brokers?, base.summary.target.brokers?);
    (ours != theirs).then_some(DifferenceFact::Brokers { ours, theirs })
}

fn kgauge(one: RunToCompare<'_>, base: RunToCompare<'_>) -> Option<DifferenceFact> {
    let version = |side: RunToCompare<'_>| side.summary.run.kgauge.version.clone();
    let (ours, theirs) = (version(one), version(base));
    (ours != theirs).then_some(DifferenceFact::Kgauge { ours, theirs })
}

/// Without the numbers, which the runs have: runs that differ in nothing else get one sentence.
fn seed(one: RunToCompare<'_>, base: RunToCompare<'_>) -> Option<DifferenceFact> {
    let (ours, theirs) = (one.summary.run.seed?, base.summary.run.seed?);
    (ours != theirs).then_some(DifferenceFact::Seed)
}

/// Scenarios of both runs whose texts differ.
fn scenarios(one: RunToCompare<'_>, base: RunToCompare<'_>) -> impl Iterator<Item = String> {
    let differing = one.run.scenarios.iter().filter(move |ours| {
        let mut theirs = base.run.scenarios.iter();
        theirs.any(|theirs| theirs.name == ours.name && theirs.text != ours.text)
    });
    differing.map(|ours| ours.name.clone())
}

/// What `--set` or the cluster made different in trials of both runs.
fn settings(one: RunToCompare<'_>, base: RunToCompare<'_>) -> Option<DifferenceFact> {
    let (ours, theirs) = (one.run.plan.as_ref()?, base.run.plan.as_ref()?);
    let mut found: Vec<SettingDifference> = Vec::new();
    let by_name = theirs
        .trials
        .iter()
        .map(|trial| ((&trial.scenario, &trial.name), trial));
    let by_name = by_name.collect::<std::collections::BTreeMap<_, _>>();
    // Loads of searches follow from what the target did.
    for ours in ours.trials.iter().filter(|trial| trial.load.is_none()) {
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
            (
                "search",
                serde_json::to_value(&ours.search),
                serde_json::to_value(&theirs.search),
            ),
        ];
        for (name, ours, theirs) in parts {
            if let (Ok(ours), Ok(theirs)) = (ours, theirs) {
                differing(name, &ours, &theirs, &mut found);
            }
        }
    }
    // That a setting was asked for is no setting.
    found.retain(|one| !one.path.ends_with(".idempotence_asked"));
    (!found.is_empty()).then_some(DifferenceFact::Settings { settings: found })
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
fn broker_settings(one: RunToCompare<'_>, base: RunToCompare<'_>) -> Option<DifferenceFact> {
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
        (!same).then(|| BrokerSettingDifference {
            key: key.clone(),
            ours: ours.clone(),
            theirs: theirs.clone(),
        })
    });
    let settings: Vec<BrokerSettingDifference> = both.collect();
    (!settings.is_empty()).then_some(DifferenceFact::BrokerSettings { settings })
}

impl RunDifference {
    /// True when it is about a row of this scenario.
    pub(super) fn concerns(&self, scenario: &str) -> bool {
        self.scenario.as_deref().is_none_or(|name| name == scenario)
    }
}
