//! `kgauge capacity`: a run whose scenario gets a search for the highest rate that keeps its goals.

use anyhow::anyhow;
use kgauge_runner::{OrRunError, Question};
use kgauge_scenario::{BuiltIn, SearchOptions};

use crate::args::{RunArgs, ScenarioArgs};
use crate::capacity_args::CapacityArgs;
use crate::exit::ExitStatus;
use crate::{pods, run};

/// Searches, keeps everything in a run folder, and reports.
pub(crate) fn capacity(arguments: &CapacityArgs) -> anyhow::Result<ExitStatus> {
    let mut arguments = run_arguments(arguments)?;
    let question = question(&mut arguments)?;
    match question.trials.iter().any(|trial| trial.search.is_some()) {
        true => pods::run_question(&arguments, &question),
        false => Err(without_goal()),
    }
}

fn without_goal() -> anyhow::Error {
    anyhow!("the search has no goal\n  add one, such as --goal 'p99 <= 20 ms'")
}

/// The question of a run. If `--quick` does not change the searches of a file, they get the settings of built-in
/// scenarios, except for those that flags set.
fn question(arguments: &mut RunArgs) -> anyhow::Result<Question> {
    let question = run::question(arguments)?;
    if !arguments.changes.quick {
        return Ok(question);
    }
    arguments.changes.quick = false;
    let usual = run::question(arguments)?;
    arguments.changes.quick = true;
    let [quick, usual] = [&question, &usual].map(|question| {
        let trials = question.trials.iter();
        trials
            .map(|trial| trial.search.as_ref())
            .collect::<Vec<_>>()
    });
    if quick != usual || quick.iter().any(Option::is_none) {
        return Ok(question);
    }
    let given = std::mem::take(&mut arguments.changes.set);
    let is_given = |key: &str| {
        let start = format!("search.{key}=");
        given.iter().any(|setting| setting.starts_with(&start))
    };
    // A longer window needs a longer duration.
    let is_open = |key: &str| !(is_given(key) || key == "duration" && is_given("window"));
    let quick = SearchOptions::QUICK.into_iter();
    let quick = quick.filter(|(key, _)| is_open(key));
    let quick: Vec<String> = quick
        .map(|(key, value)| format!("search.{key}={value}"))
        .collect();
    arguments.changes.set = [quick, given].concat();
    run::question(arguments)
}

/// The run that the arguments mean: a built-in scenario is written with a search, others get settings of a search.
fn run_arguments(arguments: &CapacityArgs) -> anyhow::Result<RunArgs> {
    let mut built_in = arguments.built_in.clone();
    let mut search = built_in.take_search()?;
    let settings = [
        ("window", &arguments.window),
        ("width", &arguments.width),
        ("budget", &arguments.budget),
        ("max-rate", &arguments.max_rate),
    ];
    let settings = settings.into_iter();
    let given = settings.filter_map(|(key, value)| Some((key, value.clone()?)));
    search.settings.extend(given);
    let mut set = Vec::new();
    let what = match (&arguments.what, &arguments.resume) {
        (None, None) => Some(BuiltIn::Latency.name().to_owned()),
        (what, _) => what.clone(),
    };
    if what.as_deref().and_then(BuiltIn::named).is_some() {
        if search.goals.is_empty() {
            return Err(without_goal());
        }
        built_in.search = Some(search);
    } else {
        search.check_goals().or_bad_input()?;
        set.extend(search.settings_texts());
        // A scenario's `repeats` may be meant for its trials. A search takes minutes, and is repeated only on request.
        if arguments.repeat.is_none() {
            set.push("repeats=1".to_owned());
        }
    }
    set.extend(arguments.set.iter().cloned());
    Ok(RunArgs {
        what,
        targets: arguments.target.iter().cloned().collect(),
        changes: ScenarioArgs {
            quick: arguments.quick,
            set,
            repeat: arguments.repeat,
            ..ScenarioArgs::default()
        },
        resume: arguments.resume.clone(),
        conduct: arguments.conduct.clone(),
        built_in,
        ..RunArgs::default()
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Arguments, Command};

    fn parsed(words: &[&str]) -> anyhow::Result<RunArgs> {
        let words = ["kgauge", "capacity"].iter().chain(words);
        match Arguments::try_parse_from(words).unwrap().command {
            Command::Capacity(arguments) => run_arguments(&arguments),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn flags_become_the_search_of_a_built_in_scenario() {
        let run = parsed(&["--goal", "p99 <= 20 ms", "--budget", "15 min", "--quick"]).unwrap();
        assert_eq!(run.what.as_deref(), Some("latency"));
        let question = run::question(&run).unwrap();
        let search = question.trials[0].search.as_ref().unwrap();
        assert_eq!((search.windows, question.trials[0].repeats), (4, 1));
        assert_eq!(search.budget_ns, Some(900_000_000_000));
        let error = parsed(&["--budget", "15 min"]).unwrap_err();
        assert!(error.to_string().contains("has no goal"), "{error}");
    }

    #[test]
    fn flags_become_settings_of_a_scenario_file() {
        let run = parsed(&["my.yaml", "--goal", "p99 <= 20 ms", "--width", "5 %"]).unwrap();
        let expected = [
            "search.goals=[\"p99 <= 20 ms\"]",
            "search.width=5 %",
            "repeats=1",
        ];
        assert_eq!(run.changes.set, expected);
    }

    #[test]
    fn a_quick_search_of_a_file_has_shorter_windows_unless_the_file_has_a_quick_search() {
        let dir = tempfile::tempdir().unwrap();
        let quick = |more: &str, flags: &[&str]| {
            let file = dir.path().join("a.yaml");
            let text = format!(
                "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: 1}}\nflows:\n  \
                 - {{name: w, kind: produce, record: {{size: 100 B}}, shape: max}}\n\
                 search: {{goals: [p99 <= 20 ms]}}\n{more}"
            );
            std::fs::write(&file, text).unwrap();
            let words = [&[file.to_str().unwrap(), "--quick"][..], flags].concat();
            let mut run = parsed(&words).unwrap();
            let question = question(&mut run).unwrap();
            let search = question.trials[0].search.clone().unwrap();
            (
                search.window_ns / 1_000_000_000,
                search.windows,
                search.width,
            )
        };
        assert_eq!(quick("", &[]), (2, 4, 0.04));
        assert_eq!(
            quick("sizes: {quick: {stages.warm-up: 1 s}}\n", &[]),
            (2, 4, 0.04)
        );
        assert_eq!(
            quick("sizes: {quick: {search.window: 5 s}}\n", &[]),
            (5, 12, 0.02)
        );
        assert_eq!(quick("", &["--window", "10 s"]), (10, 6, 0.04));
        assert_eq!(quick("", &["--set", "search.width=3 %"]), (2, 4, 0.03));
    }

    #[test]
    fn a_rate_is_refused_because_it_is_what_the_search_finds() {
        let error = parsed(&["--goal", "p99 <= 20 ms", "--rate", "5k/s"]).unwrap_err();
        assert!(error.to_string().contains("--max-rate"), "{error}");
    }
}
