//! From the arguments of `kgauge run` to the question and its targets.

use std::path::Path;

use kgauge_results::RunRead;
use kgauge_results::run::RunHead;
use kgauge_runner::{
    DestinationTarget, Question, RunTarget, ScenarioChanges, read_addresses, read_speeds,
};
use kgauge_scenario::Size;
use kgauge_target::TargetSpec;

use crate::args::{RunArgs, ScenarioArgs};
use crate::built_in_args::BuiltInArgs;
use crate::exit::{ExitStatus, OrStop, stop};
use crate::host::env_target;
use crate::print;

/// What is to be run.
pub(crate) fn question(arguments: &RunArgs) -> anyhow::Result<Question> {
    if let Some(dir) = &arguments.resume {
        return Ok(Question::resumed(dir)?);
    }
    let changes = changes_of(&arguments.changes)?;
    let what = arguments.what.as_deref().unwrap_or_default();
    question_of(what, &arguments.built_in, &changes)
}

/// The question of a built-in scenario, a study, a file or a saved plan.
pub(crate) fn question_of(
    what: &str,
    built_in: &BuiltInArgs,
    changes: &ScenarioChanges,
) -> anyhow::Result<Question> {
    match built_in.text(what)? {
        Some(text) => Ok(Question::of_text(what, &text, changes)?),
        None => Ok(Question::read(what, changes)?),
    }
}

/// What the flags change in scenarios.
pub(crate) fn changes_of(arguments: &ScenarioArgs) -> anyhow::Result<ScenarioChanges> {
    let mut set = settings_of(&arguments.set)?;
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

/// Paths and values of `--set`.
pub(crate) fn settings_of(set: &[String]) -> anyhow::Result<Vec<(String, String)>> {
    let pairs = set.iter().map(|pair| match pair.split_once('=') {
        Some((path, value)) => Ok((path.trim().to_owned(), value.to_owned())),
        None => Err(refused(format!(
            "--set {pair}: write it as PATH=VALUE, such as stages.hold='5 s'"
        ))),
    });
    pairs.collect()
}

fn refused(words: impl std::fmt::Display) -> anyhow::Error {
    stop(ExitStatus::BadInput, words)
}

/// Reads all targets, so that a mistake in the last one is found before the first one starts.
pub(crate) fn targets(arguments: &RunArgs, question: &Question) -> anyhow::Result<Vec<RunTarget>> {
    let earlier = arguments.resume.as_deref().map(RunRead::head);
    let earlier = earlier.transpose().or_bad_input()?;
    let texts = match (&arguments.targets, &earlier) {
        (texts, _) if !texts.is_empty() => texts.clone(),
        (
            _,
            Some(RunHead {
                target: Some(text), ..
            }),
        ) => vec![text.clone()],
        _ => vec![env_target().unwrap_or_else(|| RunTarget::DEFAULT.to_owned())],
    };
    check_prices(&arguments.prices, texts.len())?;
    if arguments.resume.is_some() && texts.len() > 1 {
        return Err(refused(
            "--resume continues one run on one target\n  each target of a comparison has its own \
             run folder",
        ));
    }
    let destination = destination(arguments, question, earlier.as_ref())?;
    let metrics = read_addresses(&arguments.conduct.metrics)?;
    let speeds = read_speeds(&arguments.conduct.network_speeds, earlier.as_ref())?;
    let mut targets = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let mut target = read_target(text, question)?;
        let is_one_existing = target.is_existing() && texts.len() == 1;
        if !metrics.is_empty() && !is_one_existing {
            return Err(refused(
                "--metrics needs a single existing cluster; brokers that kgauge starts are polled \
                 automatically",
            ));
        }
        target.price_per_hour = arguments.prices.get(index).copied();
        target.destination.clone_from(&destination);
        if !metrics.is_empty() {
            target.metrics.clone_from(&metrics);
        }
        target.speeds.clone_from(&speeds);
        targets.push(target);
    }
    if let Some(home) = &arguments.conduct.kafka_home {
        set_kafka_home(home, &mut targets)?;
    }
    for target in &targets {
        check_existing_topic(arguments, question, target)?;
        target.check(question)?;
    }
    Ok(targets)
}

/// Reads one target, and shows what the user should know about it.
pub(crate) fn read_target(text: &str, question: &Question) -> anyhow::Result<RunTarget> {
    if text.starts_with("strimzi:") {
        // The login of kubectl may take a while.
        print::message(&format!("kgauge: asking kubectl for {text}"));
    }
    let target = RunTarget::parse(text, question)?;
    if let TargetSpec::Existing(config) = &target.spec {
        for note in &config.notes {
            print::message(&format!("kgauge: {note}"));
        }
    }
    for remark in &target.remarks {
        print::message(&format!("kgauge: {remark}"));
    }
    Ok(target)
}

/// One folder holds one release: that of the targets, or else that of the destination.
fn set_kafka_home(home: &Path, targets: &mut [RunTarget]) -> anyhow::Result<()> {
    let mut is_used = false;
    for target in targets.iter_mut() {
        is_used |= target.spec.set_kafka_home(home);
    }
    if !is_used {
        let destinations = targets.iter_mut();
        for destination in destinations.filter_map(|target| target.destination.as_mut()) {
            is_used |= destination.spec.set_kafka_home(home);
        }
    }
    match is_used {
        true => Ok(()),
        false => Err(refused(
            "--kafka-home needs a target that starts with kafka:",
        )),
    }
}

fn check_existing_topic(
    arguments: &RunArgs,
    question: &Question,
    target: &RunTarget,
) -> anyhow::Result<()> {
    let has_mirror = || {
        let mut trials = question.trials.iter();
        trials.any(|trial| trial.cluster.mirror.is_some())
    };
    match arguments.conduct.allow_existing {
        Some(_) if !target.is_existing() => Err(refused(format!(
            "--allow-existing: {} starts empty, so it has no such topic",
            target.text
        ))),
        Some(_) if has_mirror() => Err(refused(
            "--allow-existing: a mirror needs a topic created by the run, to recognise its records",
        )),
        Some(_) | None => Ok(()),
    }
}

/// The second cluster, if the user names one. A run that goes on keeps its own.
fn destination(
    arguments: &RunArgs,
    question: &Question,
    earlier: Option<&RunHead>,
) -> anyhow::Result<Option<DestinationTarget>> {
    let text = match (&arguments.destination, earlier) {
        (Some(text), Some(earlier)) if earlier.destination.as_ref() != Some(text) => {
            let was = earlier.destination.as_deref();
            return Err(refused(format!(
                "the second cluster of this run was {}, and --destination is {text}\n  use the \
                 same one, or start a new run",
                was.unwrap_or("one like the target")
            )));
        }
        (Some(text), _) => Some(text),
        (None, earlier) => earlier.and_then(|earlier| earlier.destination.as_ref()),
    };
    let Some(text) = text else {
        return Ok(None);
    };
    let mut trials = question.trials.iter();
    if trials.all(|trial| trial.cluster.mirror.is_none()) {
        return Err(refused(
            "--destination: none of the scenarios has a mirror (target.mirror), so a second \
             cluster has no use",
        ));
    }
    Ok(Some(DestinationTarget::parse(text)?))
}

/// A price for each target or for none, each one that can be divided by.
fn check_prices(prices: &[f64], targets: usize) -> anyhow::Result<()> {
    if !prices.is_empty() && prices.len() != targets {
        return Err(refused(format!(
            "the numbers of prices ({}) and targets ({targets}) differ\n  give --price once for each --target, in \
             their order",
            prices.len()
        )));
    }
    let is_sound = |price: &&f64| price.is_finite() && **price > 0.0;
    match prices.iter().find(|price| !is_sound(price)) {
        Some(price) => Err(refused(format!(
            "--price {price}: give the target's cost per hour, such as 0.916"
        ))),
        None => Ok(()),
    }
}
