//! `kgauge capacity`: a run whose scenario gets a search for the highest rate that keeps its goals.

use kgauge_runner::Question;
use kgauge_scenario::{BuiltIn, SearchGoal};

use crate::args::{CapacityArgs, RunArgs};
use crate::exit::{ExitStatus, stop};
use crate::run;

/// What a first look changes in a built-in scenario, whose loads are otherwise measured for a minute.
const QUICK: [(&str, &str); 3] = [
    ("search.window", "2 s"),
    ("search.duration", "8 s"),
    ("search.width", "4 %"),
];

/// Searches, keeps everything in a run folder, and reports.
pub(crate) fn capacity(arguments: &CapacityArgs) -> anyhow::Result<ExitStatus> {
    let arguments = run_arguments(arguments)?;
    let mut question = run::question(&arguments)?;
    if question.trials.iter().all(|trial| trial.search.is_none()) {
        let words = "the search has no goal\n  add one, such as --goal 'p99 <= 20 ms'";
        return Err(stop(ExitStatus::BadInput, words));
    }
    ask_for_capacity(&mut question, arguments.what.as_deref());
    run::run_question(&arguments, &question)
}

/// A built-in scenario asks for something else.
fn ask_for_capacity(question: &mut Question, what: Option<&str>) {
    if what.and_then(BuiltIn::named).is_none() {
        return;
    }
    question.name = format!("capacity-{}", question.name);
    for trial in &mut question.trials {
        if let Some(search) = &trial.search {
            let goals = search.goals.len() - search.added as usize;
            let goals = search.goals[..goals].iter().map(SearchGoal::text);
            let goals: Vec<&str> = goals.collect();
            trial.question = format!("What is the highest rate with {}?", goals.join(" and "));
        }
    }
}

/// The run that the arguments mean: what they say of the search becomes settings of the scenario.
fn run_arguments(arguments: &CapacityArgs) -> anyhow::Result<RunArgs> {
    let mut built_in = arguments.built_in.clone();
    let flags = built_in.take_search()?;
    let what = match (&arguments.what, &arguments.resume) {
        (None, None) => Some(BuiltIn::Latency.name().to_owned()),
        (what, _) => what.clone(),
    };
    let is_built_in = what.as_deref().and_then(BuiltIn::named).is_some();
    let mut set = Vec::new();
    let mut put = |path: &str, value: &str| set.push(format!("{path}={value}"));
    if arguments.quick && is_built_in {
        QUICK.iter().for_each(|(path, value)| put(path, value));
    }
    if !flags.goals.is_empty() {
        put("search.goals", &list(&flags.goals));
    }
    let values = [
        ("search.duration", &flags.duration),
        ("search.window", &arguments.window),
        ("search.width", &arguments.width),
        ("search.budget", &arguments.budget),
        ("search.max-rate", &arguments.max_rate),
    ];
    for (path, value) in values {
        if let Some(value) = value {
            put(path, value);
        }
    }
    // A scenario's `repeats` may be meant for its trials: a search takes minutes, and is repeated only on request.
    if arguments.repeat.is_none() {
        put("repeats", "1");
    }
    set.extend(arguments.set.iter().cloned());
    Ok(RunArgs {
        what,
        targets: arguments.target.iter().cloned().collect(),
        metrics: arguments.metrics.clone(),
        quick: arguments.quick,
        set,
        repeat: arguments.repeat,
        seed: arguments.seed,
        out: arguments.out.clone(),
        resume: arguments.resume.clone(),
        keep: arguments.keep,
        yes: arguments.yes,
        kafka_home: arguments.kafka_home.clone(),
        json: arguments.json,
        serve: arguments.serve.clone(),
        built_in,
        ..RunArgs::default()
    })
}

/// A list as a scenario has it: `["p99 <= 20 ms"]`.
fn list(goals: &[String]) -> String {
    let quoted = goals.iter().map(|goal| format!("{goal:?}"));
    format!("[{}]", quoted.collect::<Vec<_>>().join(", "))
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
    fn flags_become_settings_of_the_search() {
        let run = parsed(&["--goal", "p99 <= 20 ms", "--budget", "15 min", "--quick"]).unwrap();
        assert_eq!(run.what.as_deref(), Some("latency"));
        for setting in [
            "search.goals=[\"p99 <= 20 ms\"]",
            "search.budget=15 min",
            "search.window=2 s",
            "repeats=1",
        ] {
            assert!(run.set.iter().any(|one| one == setting), "{:?}", run.set);
        }
        let question = run::question(&run).unwrap();
        let search = question.trials[0].search.as_ref().unwrap();
        assert_eq!((search.windows, question.trials[0].repeats), (4, 1));
        assert_eq!(search.budget_ns, Some(900_000_000_000));
    }

    #[test]
    fn a_rate_is_refused_because_it_is_what_the_search_finds() {
        let error = parsed(&["--goal", "p99 <= 20 ms", "--rate", "5k/s"]).unwrap_err();
        assert!(error.to_string().contains("--max-rate"), "{error}");
    }
}
