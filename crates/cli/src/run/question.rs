//! What is to be run: a shipped study, a folder, a scenario file or a saved plan, with what the command
//! line changes.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use kgauge_scenario::{
    AuditFacts, ClusterFacts, FileRead, Files, Plan, PlanRequest, RepeatStep, Scenario, Size,
    Studies, Study, StudyFile, StudyRef, TargetKind, Trial,
};

use super::drivers;
use super::published;
use crate::args::RunArgs;
use crate::exit::{ExitStatus, OrStop, stop};

/// The plan's file in a run folder.
const PLAN: &str = "plan.json";
/// The largest scenario or plan file that is read.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// What is to be run, before the cluster is known.
#[allow(clippy::large_enum_variant, reason = "a run has one question")]
pub(crate) enum Question {
    /// Scenarios, of a study or alone.
    Scenarios {
        study: Option<StudyRef>,
        scenarios: Vec<Scenario>,
        name: String,
        /// What has to be known to judge published lines.
        audit: AuditFacts,
    },
    /// A plan that was saved: it is run as it stands.
    Saved { plan: Box<Plan>, name: String },
}

impl Question {
    /// Reads what the command line names.
    pub(crate) fn read(arguments: &RunArgs) -> anyhow::Result<Self> {
        if let Some(dir) = &arguments.resume {
            return saved(&dir.join(PLAN), arguments);
        }
        let what = arguments.what.as_deref().unwrap_or_default();
        let path = Path::new(what);
        if let Some(study) = Studies::get(what) {
            return of_study(study, arguments);
        }
        if path.is_dir() {
            return of_study(read_study_folder(path)?, arguments);
        }
        if path.extension().is_some_and(|ending| ending == "json") {
            return saved(path, arguments);
        }
        if path.is_file() {
            let text = read_file(path)?;
            let beside = files_beside(path.parent().unwrap_or(Path::new("")));
            let scenario = Scenario::parse_with(what, &text, beside).or_bad_input()?;
            let name = scenario.name().to_owned();
            return changed(None, vec![scenario], name, arguments);
        }
        Err(stop(ExitStatus::BadInput, nothing_of_that_name(what)))
    }

    /// The name that the run goes by.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Scenarios { name, .. } | Self::Saved { name, .. } => name,
        }
    }

    /// The scenarios' texts, for the run folder.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let scenarios = match self {
            Self::Scenarios { scenarios, .. } => scenarios.as_slice(),
            Self::Saved { .. } => &[],
        };
        scenarios
            .iter()
            .map(|scenario| (scenario.name(), scenario.text()))
    }

    /// How many brokers its scenarios need, at least.
    pub(crate) fn brokers_needed(&self, size: Size) -> u32 {
        match self {
            Self::Scenarios { scenarios, .. } => {
                let needed = scenarios.iter().map(|one| one.brokers_needed(size));
                needed.max().unwrap_or(1)
            }
            Self::Saved { plan, .. } => {
                let needed = plan.trials.iter().map(|trial| trial.cluster.brokers_min());
                needed.max().unwrap_or(1)
            }
        }
    }

    /// Its trials, as far as they are known before the cluster is.
    pub(crate) fn trials(&self, size: Size) -> Vec<Trial> {
        match self {
            Self::Scenarios { scenarios, .. } => {
                scenarios.iter().flat_map(|one| one.trials(size)).collect()
            }
            Self::Saved { plan, .. } => plan.trials.clone(),
        }
    }

    /// Whether its study asks what the disk does by itself.
    pub(crate) fn wants_disk_baseline(&self) -> bool {
        let study = match self {
            Self::Scenarios { study, .. } => study.as_ref(),
            Self::Saved { plan, .. } => plan.study.as_ref(),
        };
        study.is_some_and(|study| study.disk_baseline)
    }

    /// The seed of a saved plan.
    pub(crate) fn seed(&self) -> Option<u64> {
        match self {
            Self::Scenarios { .. } => None,
            Self::Saved { plan, .. } => Some(plan.seed),
        }
    }

    /// The plan for a cluster.
    pub(crate) fn plan(
        &self,
        run_id: &str,
        seed: u64,
        size: Size,
        cluster: ClusterFacts,
    ) -> anyhow::Result<Plan> {
        match self {
            Self::Scenarios {
                study,
                scenarios,
                audit,
                ..
            } => {
                let request = PlanRequest {
                    run_id: run_id.to_owned(),
                    seed,
                    size,
                    study: study.clone(),
                    cluster,
                };
                let mut plan = Plan::new(request, scenarios).or_bad_input()?;
                published::audit(&mut plan, audit)?;
                Ok(plan)
            }
            Self::Saved { plan, .. } => Ok(Plan {
                run_id: run_id.to_owned(),
                seed,
                cluster,
                ..(**plan).clone()
            }),
        }
    }

    /// The order of a run with this seed, before its cluster is known.
    pub(crate) fn order(
        &self,
        seed: u64,
        size: Size,
    ) -> anyhow::Result<(Vec<Trial>, Vec<RepeatStep>)> {
        let any = ClusterFacts {
            cluster_id: String::new(),
            brokers: u32::MAX,
            kind: TargetKind::Existing,
            version: None,
        };
        let plan = self.plan("", seed, size, any)?;
        let order = plan.order();
        Ok((plan.trials, order))
    }
}

fn of_study(study: Study, arguments: &RunArgs) -> anyhow::Result<Question> {
    let mut study = study;
    let known: Vec<String> = study
        .scenarios
        .iter()
        .map(|one| one.name().to_owned())
        .collect();
    if let Some(unknown) = arguments.only.iter().find(|name| !known.contains(name)) {
        let words = format!(
            "study {} has no scenario `{unknown}`; it has {}",
            study.name,
            known.join(", ")
        );
        return Err(stop(ExitStatus::BadInput, words));
    }
    if !arguments.only.is_empty() {
        study
            .scenarios
            .retain(|one| arguments.only.iter().any(|name| name == one.name()));
    }
    drivers::vary(&mut study.scenarios, &arguments.drivers)?;
    study.set_all(&settings(arguments)?).or_bad_input()?;
    let name = study.name.clone();
    Ok(Question::Scenarios {
        study: Some(study.reference()),
        audit: study.audit.clone(),
        scenarios: study.scenarios,
        name,
    })
}

fn changed(
    study: Option<StudyRef>,
    mut scenarios: Vec<Scenario>,
    name: String,
    arguments: &RunArgs,
) -> anyhow::Result<Question> {
    if !arguments.only.is_empty() {
        let words = "--only selects scenarios of a study; this is a single scenario";
        return Err(stop(ExitStatus::BadInput, words));
    }
    drivers::vary(&mut scenarios, &arguments.drivers)?;
    let settings = settings(arguments)?;
    for scenario in &mut scenarios {
        scenario.set_all(&settings).or_bad_input()?;
    }
    Ok(Question::Scenarios {
        study,
        scenarios,
        name,
        audit: AuditFacts::default(),
    })
}

/// What `--set` and `--repeat` change.
fn settings(arguments: &RunArgs) -> anyhow::Result<Vec<(String, String)>> {
    let mut settings = settings_of(&arguments.set)?;
    if let Some(repeats) = arguments.repeat {
        settings.push(("repeats".to_owned(), repeats.to_string()));
    }
    Ok(settings)
}

/// Paths and values of `--set`.
pub(crate) fn settings_of(set: &[String]) -> anyhow::Result<Vec<(String, String)>> {
    let mut settings = Vec::new();
    for pair in set {
        let Some((path, value)) = pair.split_once('=') else {
            let words = format!("--set {pair}: write it as PATH=VALUE, such as stages.hold='5 s'");
            return Err(stop(ExitStatus::BadInput, words));
        };
        settings.push((path.trim().to_owned(), value.to_owned()));
    }
    Ok(settings)
}

fn saved(path: &Path, arguments: &RunArgs) -> anyhow::Result<Question> {
    let is_changed =
        !arguments.set.is_empty() || !arguments.only.is_empty() || !arguments.drivers.is_empty();
    if is_changed || arguments.repeat.is_some() || arguments.quick || arguments.full {
        let words = "a saved plan is run as it stands: --set, --driver, --only, --repeat, --quick and \
                     --full belong to scenarios and studies";
        return Err(stop(ExitStatus::BadInput, words));
    }
    let plan = Plan::from_json(&read_file(path)?)
        .map_err(|error| stop(ExitStatus::BadInput, format!("{}: {error}", path.display())))?;
    let name = match (&plan.study, plan.trials.first()) {
        (Some(study), _) => study.name.clone(),
        (None, Some(trial)) => trial.scenario.clone(),
        (None, None) => "plan".to_owned(),
    };
    Ok(Question::Saved {
        plan: Box::new(plan),
        name,
    })
}

fn read_study_folder(dir: &Path) -> anyhow::Result<Study> {
    let mut files = Vec::new();
    let entries = fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()));
    for entry in entries.or_bad_input()? {
        let path = entry.or_bad_input()?.path();
        if path
            .extension()
            .is_some_and(|ending| ending == "yaml" || ending == "yml")
        {
            files.push((path.display().to_string(), read_file(&path)?));
        }
    }
    files.sort();
    let files: Vec<StudyFile<'_>> = files
        .iter()
        .map(|(path, text)| StudyFile { path, text })
        .collect();
    let name = dir
        .file_name()
        .map_or_else(|| "study".into(), |name| name.to_string_lossy());
    Study::from_files_with(&name, &files, &files_beside(dir)).or_bad_input()
}

/// Traces and records that scenarios of a folder name.
fn files_beside(dir: &Path) -> Files {
    /// They are held in memory.
    const BYTES_MAX: u64 = 256 << 20;
    let dir = dir.to_owned();
    Files::by(move |name| {
        let path = dir.join(name);
        let read = || -> anyhow::Result<Vec<u8>> {
            if fs::metadata(&path)?.len() > BYTES_MAX {
                bail!("it is larger than {} MiB", BYTES_MAX >> 20);
            }
            Ok(fs::read(&path)?)
        };
        let bytes = read().map_err(|error| error.to_string())?;
        // A saved plan finds it again from wherever it is run.
        let path = fs::canonicalize(&path).unwrap_or(path);
        let path = path.display().to_string();
        Ok(FileRead { path, bytes })
    })
}

fn read_file(path: &Path) -> anyhow::Result<String> {
    let read = || -> anyhow::Result<String> {
        if fs::metadata(path)?.len() > FILE_BYTES_MAX {
            bail!("it is larger than {} MiB", FILE_BYTES_MAX >> 20);
        }
        Ok(fs::read_to_string(path)?)
    };
    read().map_err(|error| {
        stop(
            ExitStatus::BadInput,
            format!("cannot read {}: {error}", path.display()),
        )
    })
}

fn nothing_of_that_name(what: &str) -> String {
    let studies: Vec<&str> = Studies::names().collect();
    let mut words = format!("`{what}` is neither a built-in study nor a file or folder");
    match Studies::nearest(what) {
        Some(near) => words.push_str(&format!("\n  did you mean `{near}`?")),
        None => words.push_str(&format!("\n  studies: {}", studies.join(", "))),
    }
    words
}
