//! The question of a search for better settings: one trial, which the search changes.

use std::path::Path;

use kgauge_analyze::tuning::REPEATS_MIN;
use kgauge_results::RunRead;
use kgauge_results::run::TuneEnd;
use kgauge_scenario::format::seconds;
use kgauge_scenario::{FlowPlan, LISTED, Trial, TuneGoal, TuneOptions, TunePlan};

use crate::error::{OrRunError, RunError};
use crate::question::Question;
use crate::tune_trials::check_candidates;

/// The question of a run that searches for better settings.
///
/// # Errors
/// When the question has not exactly one trial, is a saved plan, or the options do not fit.
pub fn tuned(mut question: Question, options: &TuneOptions) -> Result<Question, RunError> {
    let what = match question.scenarios.len() {
        0 => Some("a saved plan has no settings that could be changed; use the scenario"),
        1 => None,
        _ => Some("tuning needs one scenario; choose one of the study with --only"),
    };
    if let Some(what) = what {
        return Err(RunError::input(what));
    }
    let mut trial = question.only_trial("tuning")?;
    let plan = TunePlan::new(options, &trial).or_bad_input()?;
    check_candidates(&question, &plan.own)?;
    check_budget(plan.budget_ns, &trial)?;
    trial.name = "settings in force".to_owned();
    trial.factors = vec![(LISTED.to_owned(), trial.name.clone())];
    let better = match plan.goal {
        TuneGoal::Throughput => "raise throughput",
        TuneGoal::Latency => "shorten latency",
        TuneGoal::Cost => "lower the CPU cost per record",
    };
    trial.question = format!("Which settings {better}?");
    let folder = question.scenarios.first().and_then(|scenario| {
        let file = std::fs::canonicalize(scenario.source()).ok()?;
        Some(file.parent()?.display().to_string())
    });
    question.tune = Some(TunePlan { folder, ..plan });
    question.study = None;
    question.trials = vec![trial];
    Ok(question)
}

/// Refuses a budget that is too short even if nothing takes time but the repeats' stages.
fn check_budget(budget_ns: u64, trial: &Trial) -> Result<(), RunError> {
    // A flow with a number of records may be done before the hold is.
    let mut sends = trial.flows.iter().filter_map(FlowPlan::produces);
    let lasts = sends.any(|flow| flow.records_max.is_none());
    let Some(hold_ns) = trial.stages.hold_ns.filter(|_| lasts) else {
        return Ok(());
    };
    let repeat_ns = hold_ns.saturating_add(trial.stages.warm_up_ns);
    let needed_ns = repeat_ns.saturating_mul(REPEATS_MIN);
    if needed_ns <= budget_ns {
        return Ok(());
    }
    let time = |ns: u64| seconds(std::time::Duration::from_nanos(ns));
    Err(RunError::input(format!(
        "--budget: {} is too short: a proof takes {REPEATS_MIN} repeats of {}\n  use --budget '{}', \
         or a shorter hold",
        time(budget_ns),
        time(repeat_ns),
        in_minutes(needed_ns.saturating_mul(2)),
    )))
}

/// As `--budget` takes it.
fn in_minutes(ns: u64) -> String {
    format!("{} min", ns.div_ceil(60_000_000_000).max(1))
}

/// The question of a search for better settings that goes on in its folder. `budget` is the new time of the whole
/// search, earlier attempts included.
///
/// # Errors
/// When the folder has no such search, or the search has no time left.
pub fn resumed_tune(dir: &Path, budget: Option<&str>) -> Result<Question, RunError> {
    let mut question = Question::resumed(dir)?;
    let Some(plan) = &mut question.tune else {
        return Err(RunError::input(format!(
            "{} is not a search for better settings\n  use kgauge run --resume",
            dir.display()
        )));
    };
    if budget.is_some() {
        plan.set_budget(budget).or_bad_input()?;
    }
    let record = RunRead::open(dir).or_bad_input()?.tune.unwrap_or_default();
    let is_spent = match record.end {
        Some(TuneEnd::Budget | TuneEnd::BudgetTooShort { .. }) => budget.is_none(),
        None
        | Some(
            TuneEnd::Decided
            | TuneEnd::NothingToTry
            | TuneEnd::Generator
            | TuneEnd::NotSteady
            | TuneEnd::ConditionMissed { .. }
            | TuneEnd::Void { .. },
        ) => false,
    };
    if is_spent || record.took_ns >= plan.budget_ns {
        let more = match record.end {
            Some(TuneEnd::BudgetTooShort { needed_ns }) => needed_ns,
            _ => plan.budget_ns.max(record.took_ns).saturating_mul(2),
        };
        return Err(RunError::input(format!(
            "the search has no time left\n  give the whole search more, such as --budget '{}'",
            in_minutes(more)
        )));
    }
    Ok(question)
}
