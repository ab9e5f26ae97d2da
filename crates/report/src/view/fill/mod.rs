//! Fills the view from a run folder and its summary. The only place that knows how those are built.

mod commands;
mod drivers;
mod events;
mod factor;
mod faults;
mod headline;
mod heat;
mod machine;
mod picture;
mod process;
mod sheets;
mod time;
mod warnings;
mod words;

use kgauge_analyze::answer::{FactorValues, ScenarioAnswer};
use kgauge_analyze::summary::{Summary, TrialSummary};
use kgauge_results::RunRead;
use kgauge_results::run::TargetKind;

use super::{
    CountCheckView, Fact, Flow, GoalView, ReportView, RunView, ScenarioView, TargetView, TrialView,
    Verbatim,
};
use crate::format;
use crate::text;
use crate::text::trial::name as trial_name;
use crate::text::warning_line::WarningContext;

/// Everything that a report shows of a run.
pub(crate) fn view<'a>(run: &'a RunRead, summary: &'a Summary) -> ReportView<'a> {
    let (notices, warnings) = warnings::sorted(&WarningContext {
        summary,
        command: &run.head.command,
        resume: commands::resume(run).line,
    });
    ReportView {
        title: title(run, summary),
        about: about(run, summary),
        study: run.plan.as_ref().and_then(|plan| plan.study.as_ref()),
        summary: &summary.run,
        run: head(run, summary),
        notices,
        target: target(run, summary),
        count_check: summary.count_check().map(|check| CountCheckView {
            is_good: check.is_good(),
            text: text::count_check::sentence(&check, summary),
        }),
        verification: summary.verification().map(|check| CountCheckView {
            is_good: check.is_good(),
            text: text::verification::sentence(&check),
        }),
        scenarios: scenarios(run, summary),
        capacities: &summary.capacities,
        ab: summary.ab.as_ref(),
        tune: summary.tune.as_ref(),
        checkup: summary.checkup.as_ref(),
        partitions: summary
            .partitions_needed
            .as_ref()
            .map(text::partitions::sentence),
        drivers: drivers::tables(summary),
        verdicts: verdicts(summary),
        warnings,
        headroom: words::headroom(summary),
        limits: words::limits(summary),
        groups: words::groups(summary),
        transactions: words::transactions(summary),
        agents: words::agents(summary),
        mirrors: words::mirrors(summary),
        acked: words::acked(summary),
        sheets: sheets::all(run, summary),
        texts: texts(run),
        faults: faults::lists(run),
        events: events::events(run),
        commands: commands::commands(run),
    }
}

fn title(run: &RunRead, summary: &Summary) -> String {
    let study = summary.run.study.as_ref().map(|study| study.name.clone());
    let scenario = || summary.trials.first().map(|trial| trial.scenario.clone());
    let name = summary.run.name.clone();
    let checkup = summary.checkup.as_ref().map(|_| "checkup".to_owned());
    name.or(study)
        .or(checkup)
        .or_else(scenario)
        .unwrap_or_else(|| run.head.run_id.clone())
}

fn about(run: &RunRead, summary: &Summary) -> Vec<String> {
    let title = summary.run.study.iter().map(|study| study.title.clone());
    let study = run.plan.iter().filter_map(|plan| plan.study.as_ref());
    let question = study.map(|study| study.question.clone());
    title
        .chain(question)
        .filter(|sentence| !sentence.is_empty())
        .collect()
}

fn head(run: &RunRead, summary: &Summary) -> RunView {
    let took = summary
        .run
        .ended_unix_ms
        .and_then(|ended| ended.checked_sub(summary.run.started_unix_ms))
        .map(|ms| format::span(ms.saturating_mul(1_000_000)));
    RunView {
        folder: run.dir.display().to_string(),
        started: time_of_day(summary.run.started_unix_ms),
        took,
        warmed: text::event::warmed(&run.events),
        conditions: text::conditions::clauses(summary),
    }
}

/// A moment as UTC, so that the same folder reads the same everywhere.
fn time_of_day(unix_ms: u64) -> String {
    i64::try_from(unix_ms)
        .ok()
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
        .map(|time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
        .unwrap_or_else(|| format!("{unix_ms} ms since 1970"))
}

fn target(run: &RunRead, summary: &Summary) -> TargetView {
    let target = &summary.target;
    let fact = |name: &str, value: Option<String>| {
        value.map(|value| Fact {
            name: name.to_owned(),
            value,
        })
    };
    let addresses = run
        .environment
        .as_ref()
        .map(|environment| &environment.target.bootstrap_servers)
        .filter(|servers| !servers.is_empty())
        .map(|servers| servers.join(", "));
    let facts = [
        fact("Cluster id", target.cluster_id.clone()),
        fact("Version", target.version.clone()),
        fact(
            "Brokers",
            target.brokers.map(|count| format::count(count.into())),
        ),
        fact("Addresses", addresses),
        fact(
            "On the load generator's machine",
            target.same_machine.map(yes_no),
        ),
    ];
    TargetView {
        name: target_name(summary),
        words: text::target::sentence(target),
        caution: match target.kind.filter(|kind| !kind.is_apache_kafka()) {
            Some(kind) => caution(&kind.name(target.version.as_deref())),
            None => String::new(),
        },
        is_kafka: target.kind.is_some_and(TargetKind::is_apache_kafka),
        facts: facts.into_iter().flatten().collect(),
    }
}

/// What no reader of figures of other software may miss.
fn caution(name: &str) -> String {
    format!(
        "The target was {name}, not Apache Kafka. The figures do not carry over to a Kafka cluster."
    )
}

/// A short name of the target.
pub(crate) fn target_name(summary: &Summary) -> String {
    let target = &summary.target;
    let brokers = target.brokers.map_or_else(String::new, |count| {
        format!(", {}", format::counted(count.into(), "broker"))
    });
    let Some(kind) = target.kind else {
        return "an unknown target".to_owned();
    };
    let name = kind.name_at(target.address.as_deref(), target.version.as_deref());
    format!("{name}{brokers}")
}

fn yes_no(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}

/// The scenarios with their answers, in the order in which the plan first names them.
fn scenarios<'a>(run: &RunRead, summary: &'a Summary) -> Vec<ScenarioView<'a>> {
    let scenario = |(mut summaries, answer): (Vec<&'a TrialSummary>, ScenarioAnswer)| {
        summaries.retain(|trial| is_shown(summary, trial.index));
        let trials: Vec<TrialView<'a>> = summaries
            .iter()
            .map(|one| trial(run, summary, one))
            .collect();
        let first = summaries.first();
        ScenarioView {
            name: answer.scenario.clone(),
            // The sides of an A/B test have names.
            factor: FactorValues::path_of(&summaries)
                .filter(|_| summary.ab.is_none() && summary.tune.is_none())
                .map(str::to_owned),
            question: first.map_or_else(String::new, |one| one.question.clone()),
            answer: words::capacity(summary, &answer.scenario)
                .or_else(|| text::ab::answer_of_scenario(summary))
                .or_else(|| text::tune::answer_of_scenario(summary))
                .unwrap_or_else(|| text::answer::sentence(&answer, summary)),
            brief: text::answer::brief(&answer, summary),
            picture: picture::of(&answer, summary),
            sweep: factor::sweep(&summaries, &trials),
            trials,
        }
    };
    let answers = summary.scenarios().into_iter().zip(summary.answers());
    answers.map(scenario).collect()
}

/// Whether a trial has a separate place in the report. Of the loads of a search, those at its bounds have; its curve
/// shows the others. Of a search for better settings, those in force and the winner's have.
fn is_shown(summary: &Summary, trial: u32) -> bool {
    if let Some(search) = &summary.tune {
        let winner = search.winner.as_ref();
        return trial == 0 || winner.is_some_and(|one| one.proof.b.trial == Some(trial));
    }
    let mut searches = summary.capacities.iter().flat_map(|one| &one.searches);
    let is_hidden = searches.any(|search| {
        let bounds = [search.strict.lower, search.strict.upper];
        let mut at_bounds = bounds.into_iter().flatten();
        let mut steps = search.steps.iter();
        let is_bound = |rate: f64| search.load_at(rate).is_some_and(|load| load.trial == trial);
        steps.any(|step| step.trial == trial) && !at_bounds.any(is_bound)
    });
    !is_hidden
}

/// One trial with its curves.
pub(crate) fn trial_of<'a>(
    run: &RunRead,
    summary: &'a Summary,
    index: u32,
) -> Option<TrialView<'a>> {
    let mut trials = summary.trials.iter();
    let found = trials.find(|trial| trial.index == index)?;
    Some(trial(run, summary, found))
}

fn trial<'a>(run: &RunRead, summary: &Summary, trial: &'a TrialSummary) -> TrialView<'a> {
    let missing = (trial.repeats_measured == 0).then(|| text::trial::missing(trial, summary));
    TrialView {
        summary: trial,
        name: trial_name(trial),
        short: text::trial::short(trial),
        id: format!("trial-{}", trial.index + 1),
        missing,
        flows: Flow::all(trial),
        timelines: time::timelines(run, trial),
        heat: heat::maps(run, trial),
    }
}

fn verdicts(summary: &Summary) -> Vec<GoalView> {
    let several = summary.trials.len() > 1;
    let goals = summary
        .trials
        .iter()
        .flat_map(|trial| trial.goals.iter().map(move |goal| (trial, goal)));
    goals
        .map(|(trial, goal)| GoalView {
            word: goal.word,
            words: match (several, text::goal::goal(goal)) {
                (true, why) => format!("{}: {} ({why})", trial_name(trial), goal.goal),
                (false, why) => format!("{} ({why})", goal.goal),
            },
        })
        .collect()
}

fn texts(run: &RunRead) -> Vec<Verbatim> {
    let scenarios = run.scenarios.iter().map(|scenario| Verbatim {
        title: format!("Scenario as written: {}", scenario.name),
        text: scenario.text.clone(),
    });
    scenarios.collect()
}
