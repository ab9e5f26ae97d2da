//! The question of a search for better settings: one trial, which the search changes.

use kgauge_scenario::{TuneGoal, TuneOptions, TunePlan};

use crate::error::{OrRunError, RunError};
use crate::question::Question;

/// The question of a run that searches for better settings.
///
/// # Errors
/// When the question has not exactly one trial, is a saved plan, or the options do not fit.
pub fn tuned(mut question: Question, options: &TuneOptions) -> Result<Question, RunError> {
    let what = match (question.scenarios.len(), question.trials.len()) {
        (0, _) => Some("a saved plan has no settings that could be changed; use the scenario"),
        (1, 1) => None,
        (1, _) => Some("tuning needs a scenario with one trial; fix what it varies with --set"),
        _ => Some("tuning needs one scenario; choose one of the study with --only"),
    };
    if let Some(what) = what {
        return Err(RunError::input(what));
    }
    let [trial] = question.trials.as_mut_slice() else {
        return Err(RunError::input("tuning needs a scenario with one trial"));
    };
    if trial.search.is_some() {
        let words = "the scenario searches for the highest rate\n  remove its `search`, or use \
                     kgauge capacity";
        return Err(RunError::input(words));
    }
    let plan = TunePlan::new(options, trial).or_bad_input()?;
    // The search judges conditions itself.
    trial.goals.clear();
    trial.published.clear();
    trial.repeats = 1;
    trial.name = "settings in force".to_owned();
    trial.factors = vec![("listed".to_owned(), trial.name.clone())];
    let better = match plan.goal {
        TuneGoal::Throughput => "raise throughput",
        TuneGoal::Latency => "shorten latency",
        TuneGoal::Cost => "lower the CPU cost per record",
    };
    trial.question = format!("Which settings {better}?");
    question.tune = Some(plan);
    question.study = None;
    Ok(question)
}
