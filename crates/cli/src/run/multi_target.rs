//! The same run on several targets, one after another, and their comparison.

use std::path::{Path, PathBuf};

use super::output;
use super::question::Question;
use super::repeat::RepeatEnd;
use super::single_target::{measure, publish};
use super::start::RunRequest;
use super::targets::NamedTarget;
use crate::args::RunArgs;
use crate::compare::{COMPARISON, ComparisonSide, compare};
use crate::exit::{ExitStatus, stop};
use crate::interrupt::StopRequests;
use crate::live::Live;
use crate::print;
use crate::run_ids::{fresh_number, run_dir, run_id, unix_ms};

/// Runs on each target with the same seed. A target that fails does not end the others.
pub(super) fn run(
    arguments: &RunArgs,
    question: &Question,
    targets: &[NamedTarget],
    stopping: &StopRequests,
    live: &Live,
) -> anyhow::Result<ExitStatus> {
    let number = fresh_number();
    let parent = parent_dir(arguments, question, number)?;
    let seed = arguments.seed.unwrap_or(number);
    let mut compared: Vec<ComparisonSide> = Vec::new();
    let mut statuses = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        if stopping.is_wanted() {
            break;
        }
        let at = format!("{} of {}", index + 1, targets.len());
        print::message(&format!("kgauge: target {at}: {}", target.text));
        let order = RunRequest {
            arguments,
            question,
            target,
            dir: Some(parent.join(format!("{}-{}", index + 1, target.slug()))),
            seed: Some(seed),
            beside: None,
            board: live.board.as_ref(),
        };
        if let Some(board) = &live.board {
            let of = Some((index + 1, targets.len()));
            board.target_begins(question.name(), &target.text, of);
        }
        stopping.let_next_begin();
        let (found, status) = on_one(&order, stopping);
        match &found {
            Some(found) => publish(live, &target.text, &found.read.dir),
            None => fell_out(live, &target.text),
        }
        compared.extend(found);
        statuses.push(status);
    }
    if stopping.is_wanted() {
        statuses.push(ExitStatus::Interrupted);
    }
    let ended = finish(arguments, &parent, compared, &statuses);
    let page = parent.join(COMPARISON);
    if let (Some(board), Ok(text)) = (live.served(), std::fs::read_to_string(&page)) {
        board.report("The comparison", page, &text);
    }
    ended
}

/// Viewers are told of a target on which no run began; why stands in the terminal.
fn fell_out(live: &Live, target: &str) {
    if let Some(board) = &live.board {
        board.trouble(&format!(
            "No run began on {target}; kgauge's terminal says why."
        ));
    }
}

/// One target's run, if it began. What went wrong is said here.
fn on_one(order: &RunRequest<'_>, stopping: &StopRequests) -> (Option<ComparisonSide>, ExitStatus) {
    let finished = match measure(order, stopping.clone()) {
        Ok(finished) => finished,
        Err(error) => return (None, crate::exit::report(Err(error))),
    };
    let (read, summary) = match output::make(&finished.dir) {
        Ok(made) => made,
        Err(error) => return (None, crate::exit::report(Err(error))),
    };
    let status = match finished.ended {
        Ok(RepeatEnd::Interrupted) => ExitStatus::Interrupted,
        Ok(RepeatEnd::Complete) => output::status(&summary),
        Err(error) => crate::exit::report(Err(error)),
    };
    (Some(ComparisonSide { read, summary }), status)
}

/// The comparison of what there is, and the gravest status.
fn finish(
    arguments: &RunArgs,
    parent: &Path,
    compared: Vec<ComparisonSide>,
    statuses: &[ExitStatus],
) -> anyhow::Result<ExitStatus> {
    let worst = ExitStatus::gravest(statuses);
    match compared.as_slice() {
        [] => {
            // Gone already, unless something else lies in it.
            let _ = std::fs::remove_dir(parent);
            Ok(worst)
        }
        [one] => {
            print::message("kgauge: only one target was measured, so there is nothing to compare");
            output::report(&one.read.dir, arguments.json)?;
            Ok(worst)
        }
        _ => {
            compare(compared, 1, parent, arguments.json)?;
            Ok(worst)
        }
    }
}

fn parent_dir(arguments: &RunArgs, question: &Question, number: u64) -> anyhow::Result<PathBuf> {
    let id = run_id(unix_ms(), number);
    let dir = run_dir(arguments.out.as_deref(), question.name(), &id)?;
    let is_used = dir
        .read_dir()
        .is_ok_and(|mut entries| entries.next().is_some());
    if is_used {
        let words = format!("{} is not empty; name another folder", dir.display());
        return Err(stop(ExitStatus::BadInput, words));
    }
    Ok(dir)
}
