//! Adds the trials of a checkup's parts to its run, one part after the other, and reads the cluster at the end.

use std::time::Duration;

use kgauge_analyze::summary::recorded_search;
use kgauge_observe::census;
use kgauge_results::run::SearchRecord;
use kgauge_scenario::{Plan, RepeatKey, run_order};

use crate::checkup::{ActiveCheckup, RATE_MIN};
use crate::error::{OrRunError, RunError};
use crate::fit::drop_unsupported;
use crate::question::{Question, ScenarioChanges};
use crate::session::Session;

/// Of full speed, what is taken for the capacity if no rate kept the goal.
const FALLBACK_PART: f64 = 0.25;
/// How long reading the cluster at the end may take.
const LAST_CENSUS_MAX: Duration = Duration::from_secs(10);

/// The rate that keeps the goal, or what is taken for it; `None` if that is too small for shares of it.
fn capacity(plan: &Plan, record: &SearchRecord) -> Option<f64> {
    let run = record.searches.first()?;
    let search = plan.trials.get(run.trial as usize)?.search.as_ref()?;
    let found = recorded_search(run, search);
    let lower = found.and_then(|found| found.bounds_so_far().lower);
    let rate = lower.or_else(|| run.start.map(|start| start.full_speed * FALLBACK_PART));
    // Shares of less would be the same rate.
    rate.filter(|rate| *rate >= RATE_MIN)
}

/// Adds the trials of the next part to the plan; none if all parts are done, or if this run is no checkup.
pub(crate) fn next_steps(
    session: &mut Session<'_>,
    plan: &mut Plan,
    record: &SearchRecord,
) -> Result<Vec<RepeatKey>, RunError> {
    let Some(mut checkup) = session.checkup.take() else {
        return Ok(Vec::new());
    };
    let steps = add_part(&mut checkup, session, plan, record);
    let written = session.folder.write_checkup(&checkup.record);
    session.checkup = Some(checkup);
    written.or_unwritable()?;
    steps
}

fn add_part(
    checkup: &mut ActiveCheckup,
    session: &mut Session<'_>,
    plan: &mut Plan,
    record: &SearchRecord,
) -> Result<Vec<RepeatKey>, RunError> {
    let capacity = capacity(plan, record);
    let Some(part) = checkup.next_part(capacity) else {
        return Ok(Vec::new());
    };
    let name = part.scenario();
    let text = checkup.text(part, capacity.unwrap_or(0.0), &session.client.client_id);
    let question = Question::of_text(name, &text, &ScenarioChanges::default());
    let question = question
        .map_err(|error| RunError::Defect(format!("scenario {name} of the checkup: {error}")))?;
    let first = plan.trials.len();
    for (index, mut trial) in question.trials.into_iter().enumerate() {
        trial.index = u32::try_from(first + index).unwrap_or(u32::MAX);
        plan.trials.push(trial);
    }
    drop_unsupported(plan, &checkup.facts, &mut session.cluster)?;
    session.folder.write_scenario(name, &text).or_unwritable()?;
    session.folder.write_plan(plan).or_unwritable()?;
    Ok(run_order(&plan.trials[first..], plan.seed))
}

/// Ends the guard, reads the cluster for the last time, and writes down what was found.
pub(crate) fn finish(session: &mut Session<'_>) -> Result<(), RunError> {
    let Some(mut checkup) = session.checkup.take() else {
        return Ok(());
    };
    checkup.end_watch();
    if !session.stopping.is_wanted() && session.death().is_none() {
        session.cluster.set_time_limit(Some(LAST_CENSUS_MAX));
        checkup.record.after = census(&mut session.cluster).ok();
        session.cluster.set_time_limit(None);
    }
    session
        .folder
        .write_checkup(&checkup.record)
        .or_unwritable()
}
