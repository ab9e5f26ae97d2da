//! `kgauge ab` with two targets: from its flags to its report.

use std::path::Path;

use anyhow::Context;
use kgauge_live::AbSideObserver;
use kgauge_runner::{
    AbPair, AbRequest, FinishedRun, Question, RunRequest, RunTarget, parent_dir, remove_unused,
    write_results,
};
use kgauge_scenario::AbSide;

use super::{AbArgs, run_arguments};
use crate::args::RunArgs;
use crate::exit::{self, ExitStatus};
use crate::interrupt;
use crate::print;
use crate::progress::StderrTerminal;
use crate::run;

/// Starts a test of two targets.
pub(super) fn start(
    arguments: &AbArgs,
    question: &Question,
    request: &AbRequest,
) -> anyhow::Result<ExitStatus> {
    refuse_server(arguments)?;
    let targets = run::targets(&run_arguments(arguments), question)?;
    let conduct = &arguments.conduct;
    let (out, name) = (conduct.out.as_deref(), conduct.name.as_deref());
    let (parent, seed) = parent_dir(out, name, &question.name, conduct.seed)?;
    let pair = AbPair::new(question, request, targets, &parent, seed)?;
    let ended = run_both(arguments, &pair);
    remove_unused(&parent);
    ended
}

/// Goes on with the runs of both sides in their folders.
pub(super) fn resume(arguments: &AbArgs, parent: &Path) -> anyhow::Result<ExitStatus> {
    refuse_server(arguments)?;
    let pair = AbPair::resumed(parent, |side, dir, question| {
        resumed_target(arguments, side, dir, question)
    });
    run_both(arguments, &pair?)
}

/// The target of a resumed side: the one that the user names again, or that of its run.
fn resumed_target(
    arguments: &AbArgs,
    side: AbSide,
    dir: &Path,
    question: &Question,
) -> anyhow::Result<RunTarget> {
    let target = arguments.targets.get(side.index());
    let of_side = RunArgs {
        resume: Some(dir.to_owned()),
        targets: target.cloned().into_iter().collect(),
        ..run_arguments(arguments)
    };
    let mut targets = run::targets(&of_side, question)?;
    targets.pop().context("the run has no target")
}

/// The live page shows one run at a time.
fn refuse_server(arguments: &AbArgs) -> anyhow::Result<()> {
    anyhow::ensure!(
        arguments.conduct.serve.is_none(),
        "--serve shows one run at a time, and a test of two targets has two"
    );
    Ok(())
}

/// Runs both sides, and reports.
fn run_both(arguments: &AbArgs, pair: &AbPair) -> anyhow::Result<ExitStatus> {
    let conduct = &arguments.conduct;
    interrupt::listen_for(
        "stopping (press Ctrl-C again to stop without waiting for answers)",
        pair.stops(),
    )?;
    let ended: [Option<anyhow::Result<FinishedRun>>; 2] = pair.run(
        |job| {
            Ok(RunRequest {
                agents: conduct.agents.request()?,
                ..conduct.request(&job.question, &job.target)?
            })
        },
        |side| {
            Box::new(AbSideObserver::new(
                StderrTerminal,
                side,
                conduct.detail.quiet,
            ))
        },
    );
    report(arguments, ended, pair.is_stopped())
}

/// Writes the reports of both sides, prints the answer, and gives the gravest status.
fn report(
    arguments: &AbArgs,
    ended: [Option<anyhow::Result<FinishedRun>>; 2],
    is_stopped: bool,
) -> anyhow::Result<ExitStatus> {
    let (mut statuses, mut is_shown) = (Vec::new(), false);
    for finished in ended.into_iter().flatten() {
        let finished = match finished {
            Ok(finished) => finished,
            Err(error) => {
                statuses.push(exit::report(Err(error)));
                continue;
            }
        };
        let (read, summary) = write_results(&finished.dir)?;
        // Both have the same pairs.
        if !is_shown {
            let conduct = &arguments.conduct;
            run::show(&read, &summary, conduct.json, conduct.detail)?;
            is_shown = true;
        } else if !arguments.conduct.json && !arguments.conduct.detail.quiet {
            print::line(&format!("Side B {}/report.html", finished.dir.display()));
        }
        statuses.push(run::ended_status(finished.ended, &summary));
    }
    if is_stopped {
        statuses.push(ExitStatus::Interrupted);
    }
    Ok(ExitStatus::gravest(&statuses))
}
