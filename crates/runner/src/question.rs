//! What is to be run: a built-in study, a folder, a scenario file or a saved plan, with what the user changes.

use std::fs;
use std::path::Path;

use kgauge_results::folder::layout;
use kgauge_scenario::{
    AbPlan, AuditFacts, BuiltIn, ClusterFacts, FileRead, Files, Plan, PlanRequest, RepeatKey,
    Scenario, Size, Studies, Study, StudyFile, StudyRef, TargetKind, Trial, TunePlan, nearest,
};

use crate::driver_choice;
use crate::error::{OrRunError, RunError};
use crate::published;

/// The plan's file in a run folder.
const PLAN: &str = "plan.json";
/// The largest scenario or plan file that is read.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// The same for traces and records that scenarios name: they are held in memory.
const DATA_BYTES_MAX: u64 = 256 << 20;

/// What is to be run, read once, before the cluster is known.
#[derive(Debug, Clone)]
pub struct Question {
    /// The name that the run goes by.
    pub name: String,
    /// The size of the scenarios.
    pub size: Size,
    /// The trials in the order of the scenarios, as far as they are known before the cluster is.
    pub trials: Vec<Trial>,
    /// The seed of a saved plan.
    pub seed: Option<u64>,
    /// The A/B test that its trials are the sides of.
    pub ab: Option<AbPlan>,
    /// The search for better settings that its trial starts.
    pub tune: Option<TunePlan>,
    pub(crate) study: Option<StudyRef>,
    /// None for a saved plan.
    pub(crate) scenarios: Vec<Scenario>,
}

/// What the user changes in scenarios.
#[derive(Debug, Clone, Default)]
pub struct ScenarioChanges {
    /// Which size is run.
    pub size: Size,
    /// Of a study, only these scenarios; all if empty.
    pub only: Vec<String>,
    /// Other clients that send, one trial each.
    pub drivers: Vec<String>,
    /// Paths and their values.
    pub set: Vec<(String, String)>,
}

impl ScenarioChanges {
    fn are_none(&self) -> bool {
        let are_empty = self.only.is_empty() && self.drivers.is_empty() && self.set.is_empty();
        are_empty && self.size == Size::Default
    }
}

impl Question {
    /// Reads a study by its name or folder, a scenario file, or a saved plan.
    pub fn read(what: &str, changes: &ScenarioChanges) -> Result<Self, RunError> {
        let path = Path::new(what);
        if let Some(study) = Studies::get(what) {
            return of_study(study, changes);
        }
        if path.is_dir() {
            return of_study(read_study_folder(path)?, changes);
        }
        if path.extension().is_some_and(|ending| ending == "json") {
            return saved(path, changes);
        }
        if path.is_file() {
            return of_file(what, path, changes);
        }
        Err(RunError::input(nothing_of_that_name(what)))
    }

    /// Reads the text of a scenario that is in no file.
    pub fn of_text(name: &str, text: &str, changes: &ScenarioChanges) -> Result<Self, RunError> {
        of_scenario(Scenario::parse(name, text).or_bad_input()?, changes)
    }

    /// The question of an interrupted run.
    ///
    /// # Errors
    /// The folder has no readable plan, or it is that of a checkup, whose loads depend on the state of the cluster.
    pub fn resumed(dir: &Path) -> Result<Self, RunError> {
        if dir.join(layout::CHECKUP).exists() {
            return Err(RunError::input(format!(
                "{}: a checkup cannot be resumed\n  start a new one: kgauge checkup",
                dir.display()
            )));
        }
        let plan = read_plan(&dir.join(PLAN))?;
        match plan.tune.clone() {
            Some(tune) => of_tuned_plan(dir, plan, tune),
            None => Ok(of_plan(plan)),
        }
    }

    /// The scenarios' names and texts, for the run folder.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let scenarios = self.scenarios.iter();
        scenarios.map(|scenario| (scenario.name(), scenario.text()))
    }

    /// How many brokers its scenarios need, at least.
    pub(crate) fn brokers_needed(&self) -> u32 {
        let needed = self.trials.iter().map(|trial| trial.cluster.brokers_min());
        needed.max().unwrap_or(1)
    }

    /// The only trial, for an experiment that repeats it and judges its figures itself. `experiment` is what messages
    /// call that.
    ///
    /// # Errors
    /// When there are several trials, or the trial searches for a rate.
    pub(crate) fn only_trial(&self, experiment: &str) -> Result<Trial, RunError> {
        let name = &self.name;
        let [trial] = self.trials.as_slice() else {
            return Err(RunError::input(format!(
                "{name} has {} trials, but {experiment} needs exactly one\n  fix what it varies with \
                 --set PATH=VALUE",
                self.trials.len()
            )));
        };
        if trial.search.is_some() {
            return Err(RunError::input(format!(
                "{name} searches for the highest rate, but {experiment} needs a fixed load\n  remove \
                 its `search`, or use kgauge capacity"
            )));
        }
        Ok(Trial {
            index: 0,
            ..unjudged(trial.clone())
        })
    }

    /// Whether its study asks for the disk baseline.
    pub(crate) fn wants_disk_baseline(&self) -> bool {
        self.study.as_ref().is_some_and(|study| study.disk_baseline)
    }

    /// The plan for a cluster.
    pub(crate) fn plan(
        &self,
        run_id: &str,
        seed: u64,
        cluster: ClusterFacts,
    ) -> Result<Plan, RunError> {
        let request = PlanRequest {
            run_id: run_id.to_owned(),
            seed,
            size: self.size,
            study: self.study.clone(),
            cluster,
        };
        let plan = Plan::of_trials(request, self.trials.clone()).or_bad_input()?;
        Ok(Plan {
            ab: self.ab.clone(),
            tune: self.tune.clone(),
            ..plan
        })
    }

    /// The plan with this seed as JSON for a run elsewhere: it repeats the plan on the cluster that it finds.
    ///
    /// # Errors
    /// When the question has no scenario.
    pub(crate) fn saved_plan(&self, seed: u64) -> Result<String, RunError> {
        let plan = self.plan("saved", seed, self.unknown_cluster(TargetKind::Existing))?;
        serde_json::to_string_pretty(&plan).map_err(RunError::input)
    }

    /// A cluster of which only the kind is known.
    pub(crate) fn unknown_cluster(&self, kind: TargetKind) -> ClusterFacts {
        ClusterFacts {
            cluster_id: String::new(),
            brokers: self.brokers_needed(),
            kind,
            version: None,
        }
    }

    /// The order of a run with this seed.
    pub(crate) fn order(&self, seed: u64) -> Vec<RepeatKey> {
        kgauge_scenario::run_order(&self.trials, seed)
    }

    fn of_scenarios(name: String, size: Size, scenarios: Vec<Scenario>) -> Self {
        let trials = Trial::of_scenarios(&scenarios, size);
        Self {
            name,
            size,
            trials,
            seed: None,
            ab: None,
            tune: None,
            study: None,
            scenarios,
        }
    }
}

/// A trial without what judges and answers, and with one repeat: an experiment does that itself.
pub(crate) fn unjudged(trial: Trial) -> Trial {
    Trial {
        repeats: 1,
        goals: Vec::new(),
        published: Vec::new(),
        asks: None,
        against: None,
        ..trial
    }
}

fn of_study(mut study: Study, changes: &ScenarioChanges) -> Result<Question, RunError> {
    let is_known = |name: &String| study.scenarios.iter().any(|one| one.name() == name);
    if let Some(unknown) = changes.only.iter().find(|name| !is_known(name)) {
        return Err(RunError::input(no_such_scenario(&study, unknown)));
    }
    if !changes.only.is_empty() {
        let is_chosen = |one: &Scenario| changes.only.iter().any(|name| name == one.name());
        study.scenarios.retain(is_chosen);
    }
    driver_choice::vary(&mut study.scenarios, &changes.drivers)?;
    study.set_all(&changes.set).or_bad_input()?;
    let name = study.about.name.clone();
    let mut question = Question::of_scenarios(name, changes.size, study.scenarios);
    question.study = Some(study.about);
    published::audit(&mut question.trials, &study.audit)?;
    Ok(question)
}

fn no_such_scenario(study: &Study, unknown: &str) -> String {
    let known = study.scenarios.iter().map(Scenario::name);
    let mut words = format!("study {} has no scenario `{unknown}`", study.about.name);
    match nearest(unknown, known.clone()) {
        Some(near) => words.push_str(&format!("\n  did you mean `{near}`?")),
        None => {
            words.push_str("; it has");
            known.for_each(|name| words.push_str(&format!("\n  {name}")));
        }
    }
    words
}

fn of_file(what: &str, path: &Path, changes: &ScenarioChanges) -> Result<Question, RunError> {
    let text = read_file(path)?;
    let beside = files_beside(path.parent().unwrap_or(Path::new("")));
    of_scenario(
        Scenario::parse_with(what, &text, beside).or_bad_input()?,
        changes,
    )
}

fn of_scenario(scenario: Scenario, changes: &ScenarioChanges) -> Result<Question, RunError> {
    if !changes.only.is_empty() {
        return Err(RunError::input(
            "--only selects scenarios of a study; this is a single scenario",
        ));
    }
    let mut scenarios = vec![scenario];
    driver_choice::vary(&mut scenarios, &changes.drivers)?;
    for scenario in &mut scenarios {
        scenario.set_all(&changes.set).or_bad_input()?;
    }
    let name = scenarios[0].name().to_owned();
    let mut question = Question::of_scenarios(name, changes.size, scenarios);
    published::audit(&mut question.trials, &AuditFacts::default())?;
    Ok(question)
}

fn saved(path: &Path, changes: &ScenarioChanges) -> Result<Question, RunError> {
    if !changes.are_none() {
        return Err(RunError::input(
            "a saved plan cannot be changed: --set, --driver, --only, --repeat, --quick and \
             --full need a scenario or a study",
        ));
    }
    let plan = read_plan(path)?;
    if plan.tune.is_some() {
        return Err(RunError::input(format!(
            "{}: a search for better settings cannot be repeated from its plan\n  start a new one: \
             kgauge tune",
            path.display()
        )));
    }
    Ok(of_plan(plan))
}

fn read_plan(path: &Path) -> Result<Plan, RunError> {
    Plan::from_json(&read_file(path)?)
        .map_err(|error| RunError::input(format!("{}: {error}", path.display())))
}

fn of_plan(mut plan: Plan) -> Question {
    // A search finds its loads again.
    plan.trials.retain(|trial| trial.load.is_none());
    // An A/B test adds its repeats again.
    for trial in plan.trials.iter_mut().filter(|_| plan.ab.is_some()) {
        trial.repeats = 1;
    }
    let name = match (&plan.study, plan.trials.first()) {
        (Some(study), _) => study.name.clone(),
        (None, Some(trial)) => trial.scenario.clone(),
        (None, None) => "plan".to_owned(),
    };
    Question {
        name,
        size: plan.size,
        trials: plan.trials,
        seed: Some(plan.seed),
        ab: plan.ab,
        tune: None,
        study: plan.study,
        scenarios: Vec::new(),
    }
}

/// The question of an interrupted search for better settings: the scenario in its folder, which it changes again. The
/// search adds its trials behind the first one.
fn of_tuned_plan(dir: &Path, mut plan: Plan, tune: TunePlan) -> Result<Question, RunError> {
    plan.trials.truncate(1);
    let mut question = of_plan(plan);
    let path = dir
        .join(layout::SCENARIOS)
        .join(format!("{}.yaml", question.name));
    let files = files_beside(Path::new(tune.folder.as_deref().unwrap_or_default()));
    let text = read_file(&path)?;
    let scenario = Scenario::parse_with(&path.display().to_string(), &text, files);
    let mut scenario = scenario.or_bad_input()?;
    scenario.set_all(&tune.set).or_bad_input()?;
    for trial in &mut question.trials {
        trial.repeats = 1;
    }
    question.scenarios.push(scenario);
    question.tune = Some(tune);
    Ok(question)
}

fn read_study_folder(dir: &Path) -> Result<Study, RunError> {
    let mut files = Vec::new();
    let unreadable = |error| RunError::input(format!("cannot read {}: {error}", dir.display()));
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let ending = path.extension();
        if ending.is_some_and(|ending| ending == "yaml" || ending == "yml") {
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
    let dir = dir.to_owned();
    Files::by(move |name| {
        let path = dir.join(name);
        let bytes = read_limited(&path, DATA_BYTES_MAX)?;
        // A saved plan finds it again from wherever it is run.
        let path = fs::canonicalize(&path).unwrap_or(path);
        let path = path.display().to_string();
        Ok(FileRead { path, bytes })
    })
}

fn read_file(path: &Path) -> Result<String, RunError> {
    let bytes = read_limited(path, FILE_BYTES_MAX);
    let text = bytes.and_then(|bytes| {
        String::from_utf8(bytes).map_err(|_| "stream did not contain valid UTF-8".to_owned())
    });
    text.map_err(|why| RunError::input(format!("cannot read {}: {why}", path.display())))
}

/// The content of a file; else why there is none.
fn read_limited(path: &Path, bytes_max: u64) -> Result<Vec<u8>, String> {
    let file = fs::metadata(path).map_err(|error| error.to_string())?;
    if file.len() > bytes_max {
        return Err(format!("it is larger than {} MiB", bytes_max >> 20));
    }
    fs::read(path).map_err(|error| error.to_string())
}

fn nothing_of_that_name(what: &str) -> String {
    let start = format!("`{what}` is neither a built-in scenario or study nor a file or folder");
    match BuiltIn::nearest(what).or_else(|| Studies::nearest(what)) {
        Some(near) => format!("{start}\n  did you mean `{near}`?"),
        None => {
            let studies: Vec<&str> = Studies::names().collect();
            format!(
                "{start}\n  built-in scenarios: {}\n  studies: {}",
                BuiltIn::ALL.map(BuiltIn::name).join(", "),
                studies.join(", ")
            )
        }
    }
}
