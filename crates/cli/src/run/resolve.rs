//! From the arguments of `kgauge run` to the question and its targets.

use std::path::Path;

use kgauge_results::FolderError;
use kgauge_results::folder::layout::RUN;
use kgauge_runner::{Question, RunTarget, ScenarioChanges, TargetsRequest, read_settings};
use kgauge_scenario::Size;

use crate::args::{RunArgs, ScenarioArgs};
use crate::built_in_args::BuiltInArgs;
use crate::host::env_target;
use crate::print;

/// What is to be run.
pub(crate) fn question(arguments: &RunArgs) -> anyhow::Result<Question> {
    if let Some(dir) = &arguments.resume {
        check_run_folder(dir)?;
        return Ok(Question::resumed(dir)?);
    }
    let changes = changes_of(&arguments.changes)?;
    let what = arguments.what.as_deref().unwrap_or_default();
    question_of(what, &arguments.built_in, &changes)
}

/// Refuses to resume what is no run.
pub(crate) fn check_run_folder(dir: &Path) -> Result<(), FolderError> {
    match dir.join(RUN).is_file() {
        true => Ok(()),
        false => Err(FolderError::NotARun {
            dir: dir.to_owned(),
        }),
    }
}

/// The question of a built-in scenario, a study, a file or a saved plan.
pub(crate) fn question_of(
    what: &str,
    built_in: &BuiltInArgs,
    changes: &ScenarioChanges,
) -> anyhow::Result<Question> {
    let question = match built_in.text(what)? {
        Some(text) => Question::of_text(what, &text, changes)?,
        None => Question::read(what, changes)?,
    };
    built_in.keep(what, changes)?;
    Ok(question)
}

/// What the flags change in scenarios.
pub(crate) fn changes_of(arguments: &ScenarioArgs) -> anyhow::Result<ScenarioChanges> {
    let mut set = read_settings(&arguments.set)?;
    if arguments.verify {
        set.push(("verify".to_owned(), "true".to_owned()));
    }
    let repeats = arguments.repeat.iter();
    set.extend(repeats.map(|repeats| ("repeats".to_owned(), repeats.to_string())));
    Ok(ScenarioChanges {
        size: match (arguments.quick, arguments.full) {
            (true, _) => Size::Quick,
            (false, true) => Size::Full,
            (false, false) => Size::Default,
        },
        only: arguments.only.clone(),
        drivers: arguments.drivers.clone(),
        set,
    })
}

/// The targets of a run.
pub(crate) fn targets(arguments: &RunArgs, question: &Question) -> anyhow::Result<Vec<RunTarget>> {
    let conduct = &arguments.conduct;
    let request = TargetsRequest {
        texts: arguments.targets.clone(),
        default: env_target(),
        prices: arguments.prices.clone(),
        destination: arguments.destination.clone(),
        resume: arguments.resume.clone(),
        metrics: conduct.metrics.clone(),
        speeds: conduct.network_speeds.clone(),
        kafka_home: conduct.kafka_home.clone(),
        uses_existing_topic: conduct.allow_existing.is_some(),
    };
    Ok(request.resolve(question, &print::remark)?)
}
