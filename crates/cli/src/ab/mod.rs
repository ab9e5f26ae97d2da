//! `kgauge ab`: two sides, measured in pairs until the answer is clear.

mod flags;
mod two_targets;

use std::path::Path;

use anyhow::{bail, ensure};
use kgauge_results::folder::layout::RUN;
use kgauge_runner::{AbRequest, AbSides, Question, split_settings, two_sides};
use kgauge_scenario::{AbKind, AbOptions, BuiltIn};

use crate::args::{RunArgs, ScenarioArgs};
use crate::built_in_args::BuiltInArgs;
use crate::exit::ExitStatus;
use crate::{pods, run};

pub(crate) use flags::AbArgs;

/// Measures, keeps everything in run folders, and reports.
pub(crate) fn ab(arguments: &AbArgs) -> anyhow::Result<ExitStatus> {
    arguments.built_in.without_goals()?;
    if let Some(dir) = &arguments.resume {
        return resume(arguments, dir);
    }
    let request = request(arguments)?;
    match request.kind {
        AbKind::Targets if arguments.conduct.agents.pods().is_some() => {
            bail!("--agents k8s: measures one target")
        }
        AbKind::Targets => {
            let question = side(arguments, 0, &[], &built_in(arguments))?;
            two_targets::start(arguments, &question, &request)
        }
        AbKind::Settings | AbKind::Scenarios | AbKind::Same => {
            let question = question(arguments, &request)?;
            pods::run_question(&run_arguments(arguments), &question)
        }
    }
}

/// What the sides are, and their names.
fn request(arguments: &AbArgs) -> anyhow::Result<AbRequest> {
    let is_setting = |what: &&String| what.contains('=') && !Path::new(what).exists();
    if let Some(setting) = arguments.what.iter().find(is_setting) {
        bail!("`{setting}` is a setting, not a scenario\n  use --a or --b to give it to a side");
    }
    let sides = AbSides {
        settings: [split_settings(&arguments.a), split_settings(&arguments.b)],
        scenarios: arguments.what.clone(),
        targets: arguments.targets.clone(),
        is_same: arguments.aa,
    };
    let options = AbOptions {
        metric: arguments.metric.clone(),
        width: arguments.width.clone(),
        budget: arguments.budget.clone(),
        blocks_max: arguments.pairs,
        is_duet: arguments.duet,
    };
    Ok(AbRequest::of_sides(&sides, options)?)
}

/// The question of a run that has both sides.
fn question(arguments: &AbArgs, request: &AbRequest) -> anyhow::Result<Question> {
    let built_in = built_in(arguments);
    let a = side(arguments, 0, &split_settings(&arguments.a), &built_in)?;
    let last = arguments.what.len().saturating_sub(1);
    let b = side(
        arguments,
        last,
        &split_settings(&arguments.b),
        &built_in.again(),
    )?;
    Ok(two_sides(a, &b, request)?)
}

/// The flags of built-in scenarios, with a shorter repeat.
fn built_in(arguments: &AbArgs) -> BuiltInArgs {
    let mut built_in = arguments.built_in.clone();
    let is_built_in = |what: &String| BuiltIn::named(what).is_some();
    if arguments.what.iter().all(is_built_in) && !arguments.quick {
        built_in.shorten_repeats();
    }
    built_in
}

/// The question of one side.
fn side(
    arguments: &AbArgs,
    index: usize,
    settings: &[String],
    built_in: &BuiltInArgs,
) -> anyhow::Result<Question> {
    let changes = |settings: &[String]| {
        run::changes_of(&ScenarioArgs {
            quick: arguments.quick,
            set: [arguments.set.as_slice(), settings].concat(),
            ..ScenarioArgs::default()
        })
    };
    let what = arguments.what.get(index).map(String::as_str);
    let what = what.unwrap_or(BuiltIn::Throughput.name());
    let question = run::question_of(what, &built_in.again(), &changes(settings)?)?;
    // The scenario is that of both sides.
    built_in.keep(what, &changes(&[])?)?;
    Ok(question)
}

/// The arguments of the run that measures both sides.
fn run_arguments(arguments: &AbArgs) -> RunArgs {
    RunArgs {
        targets: arguments.targets.clone(),
        resume: arguments.resume.clone(),
        conduct: arguments.conduct.clone(),
        ..RunArgs::default()
    }
}

/// Goes on with a test: one run folder, or the folder with those of both sides.
fn resume(arguments: &AbArgs, dir: &Path) -> anyhow::Result<ExitStatus> {
    if !dir.join(RUN).is_file() {
        return two_targets::resume(arguments, dir);
    }
    let question = Question::resumed(dir)?;
    let Some(plan) = &question.ab else {
        bail!(
            "{} is not an A/B test\n  use kgauge run --resume",
            dir.display()
        );
    };
    ensure!(
        plan.own_sides().len() != 1,
        "{} is one side of an A/B test of two targets\n  resume the folder that has both sides",
        dir.display()
    );
    run::run_question(&run_arguments(arguments), &question)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Arguments, Command};

    fn parsed(words: &[&str]) -> AbArgs {
        let words = ["kgauge", "ab"].iter().chain(words);
        match Arguments::try_parse_from(words).unwrap().command {
            Command::Ab(arguments) => *arguments,
            other => panic!("{other:?}"),
        }
    }

    fn refusal(words: &[&str]) -> String {
        request(&parsed(words)).unwrap_err().to_string()
    }

    #[test]
    fn settings_become_two_trials_of_one_scenario() {
        let arguments = parsed(&["--a", "linger.ms=0", "--b", "linger.ms=5", "--quick"]);
        let request = request(&arguments).unwrap();
        assert_eq!(request.kind, AbKind::Settings);
        let question = question(&arguments, &request).unwrap();
        let plan = question.ab.unwrap();
        assert_eq!(plan.metric.to_string(), "writers.throughput");
        let linger = question.trials.iter().map(|trial| {
            let flow = trial.flows[0].produces().unwrap();
            flow.settings.linger_ns
        });
        assert_eq!(linger.collect::<Vec<_>>(), [0, 5_000_000]);
    }

    #[test]
    fn one_side_may_be_the_scenario_as_it_is() {
        let request = request(&parsed(&["latency", "--b", "acks=1"])).unwrap();
        assert_eq!(request.names, ["unchanged", "acks=1"]);
    }

    #[test]
    fn sides_differ_in_exactly_one_way() {
        assert!(refusal(&[]).contains("no two sides"));
        assert!(
            refusal(&["--a", "acks=1", "--target", "x:1", "--target", "y:1"]).contains("one way")
        );
        assert!(refusal(&["--a", "acks=1", "--b", "acks=1"]).contains("--aa"));
        assert!(refusal(&["--target", "x:1", "--target", "x:1"]).contains("both sides are x:1"));
        assert!(refusal(&["--a", "acks=1", "--duet"]).contains("two targets"));
        assert!(refusal(&["linger.ms=0", "linger.ms=20"]).contains("use --a or --b"));
        let error = refusal(&["--target", "x:1", "--target", "y:1", "--target", "z:1"]);
        assert!(error.contains("twice"), "{error}");
    }

    #[test]
    fn a_typo_in_a_setting_is_refused_before_anything_starts() {
        let arguments = parsed(&["--a", "linger.ns=0"]);
        let request = request(&arguments).unwrap();
        let error = question(&arguments, &request).unwrap_err().to_string();
        assert!(error.contains("linger.ns"), "{error}");
    }
}
