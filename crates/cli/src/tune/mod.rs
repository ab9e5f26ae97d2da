//! `kgauge tune`: a run that searches for better settings.

mod flags;

use kgauge_runner::{Question, read_settings, resumed_tune, split_settings, tuned};
use kgauge_scenario::{BuiltIn, TuneOptions};
use serde::de::DeserializeOwned;

use crate::args::{RunArgs, ScenarioArgs};
use crate::exit::ExitStatus;
use crate::run;

pub(crate) use flags::TuneArgs;

/// Searches, keeps everything in a run folder, and reports.
pub(crate) fn tune(arguments: &TuneArgs) -> anyhow::Result<ExitStatus> {
    let question = match &arguments.resume {
        Some(dir) => {
            run::check_run_folder(dir)?;
            resumed_tune(dir, arguments.budget.as_deref())?
        }
        None => question(arguments)?,
    };
    let arguments = RunArgs {
        targets: arguments.target.iter().cloned().collect(),
        resume: arguments.resume.clone(),
        conduct: arguments.conduct.clone(),
        ..RunArgs::default()
    };
    run::run_question(&arguments, &question)
}

fn question(arguments: &TuneArgs) -> anyhow::Result<Question> {
    // Full speed shows no latency.
    let goals = [arguments.goal.as_deref(), arguments.preset.as_deref()];
    let built_in = match goals.contains(&Some(BuiltIn::Latency.name())) {
        true => BuiltIn::Latency,
        false => BuiltIn::Throughput,
    };
    let what = arguments.what.as_deref().unwrap_or(built_in.name());
    let mut built_in = arguments.built_in.clone();
    if BuiltIn::named(what).is_some() && !arguments.quick {
        built_in.shorten_repeats();
    }
    let changes = run::changes_of(&ScenarioArgs {
        quick: arguments.quick,
        only: arguments.only.clone(),
        set: arguments.set.clone(),
        ..ScenarioArgs::default()
    })?;
    let question = run::question_of(what, &built_in, &changes)?;
    let options = TuneOptions {
        set: changes.set,
        ..options(arguments)?
    };
    Ok(tuned(question, &options)?)
}

fn options(arguments: &TuneArgs) -> anyhow::Result<TuneOptions> {
    let candidate = |text: &String| {
        let together = split_settings(std::slice::from_ref(text));
        read_settings(&together)
    };
    let candidates = arguments.candidates.iter().map(candidate);
    let scopes = arguments.scopes.iter().map(|scope| named(scope));
    Ok(TuneOptions {
        goal: arguments.goal.as_deref().map(named).transpose()?,
        metric: arguments.metric.clone(),
        keep: arguments.conditions.clone(),
        width: arguments.width.clone(),
        budget: arguments.budget.clone(),
        scopes: scopes.collect::<Result<_, _>>()?,
        durability_may_change: arguments.durability_may_change,
        preset: arguments.preset.as_deref().map(named).transpose()?,
        candidates: candidates.collect::<Result<_, _>>()?,
        set: Vec::new(),
    })
}

/// A value of an enum by the name that it has in files.
fn named<T: DeserializeOwned>(name: &str) -> serde_json::Result<T> {
    serde_json::from_value(name.into())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use clap::Parser;
    use kgauge_scenario::{SettingScope, TuneGoal};

    use super::*;
    use crate::args::{Arguments, Command};

    fn parsed(words: &[&str]) -> anyhow::Result<Question> {
        let words = ["kgauge", "tune"].iter().chain(words);
        match Arguments::try_parse_from(words).unwrap().command {
            Command::Tune(arguments) => question(&arguments),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn flags_become_a_search_and_keep_is_a_condition() {
        let words = [
            "latency",
            "--keep",
            "p99 <= 20 ms",
            "--try",
            "client,topic",
            "--budget",
            "20 min",
        ];
        let plan = parsed(&words).unwrap().tune.unwrap();
        assert_eq!(plan.goal, TuneGoal::Latency);
        assert_eq!(plan.keep[0].text, "writers.latency.p99 <= 20 ms");
        assert_eq!(plan.scopes, [SettingScope::Client, SettingScope::Topic]);
        assert_eq!(plan.budget_ns, 1_200_000_000_000);
        assert!(parsed(&["--keep-data"]).is_ok());
    }

    #[test]
    fn candidates_with_commas_change_together() {
        let words = [
            "--candidate",
            "topic.partitions=8",
            "--candidate",
            "broker.socket.send.buffer.bytes=1048576,broker.socket.receive.buffer.bytes=1048576",
        ];
        let plan = parsed(&words).unwrap().tune.unwrap();
        assert_eq!(plan.own.len(), 2);
        assert_eq!(plan.own[1].values[0].changes.len(), 2);
    }

    #[test]
    fn a_goal_of_latency_needs_a_rate_and_what_is_set_is_kept_for_a_later_attempt() {
        for words in [["--goal", "latency"], ["--preset", "latency"]] {
            let question = parsed(&words).unwrap();
            assert_eq!(question.name, "latency");
            assert_eq!(question.tune.unwrap().goal, TuneGoal::Latency);
        }
        let plan = parsed(&["--set", "linger.ms=0"]).unwrap().tune.unwrap();
        assert_eq!(plan.set, [("linger.ms".to_owned(), "0".to_owned())]);
        let only = parsed(&["aks-2019", "--only", "broker-settings"]);
        let error = only.unwrap_err().to_string();
        assert!(error.contains("exactly one"), "{error}");
    }

    #[test]
    fn what_cannot_be_tuned_is_refused() {
        for (words, reason) in [
            (&["latency", "--goal", "throughput"][..], "shape=max"),
            (&["--budget", "1 min"], "24 repeats"),
            (&["--preset", "durability"], "--durability-may-change"),
            (&["--candidate", "acks=1"], "--durability-may-change"),
            (
                &["--candidate", "linger.msx=5"],
                "--candidate linger.msx=5: ",
            ),
            (&["--candidate", "stages.hold=3 s"], "changes the load"),
            (&["linkedin-2014"], "--only"),
            (&["--keep", "p99"], "not a condition"),
        ] {
            let error = parsed(words).unwrap_err().to_string();
            assert!(error.contains(reason), "{words:?}: {error}");
        }
    }
}
