//! `kgauge run`: the whole way from a question to a report.

mod announce;
mod ceilings;
mod close;
mod clusters;
mod consent;
mod counts;
mod cpu;
mod data_dirs;
mod disk_space;
mod drivers;
mod embedded_nodes;
mod environment;
mod faults;
mod left_out;
mod metrics;
mod mirror;
mod multi_target;
mod outages;
mod output;
mod process_cpu;
mod processes;
mod published;
mod question;
mod repeat;
mod session;
mod shared;
mod single_target;
mod speeds;
mod start;
mod targets;
mod transactions;
mod trial;
mod warm_up;
mod warming;
mod wire;

use std::ffi::OsString;

use clap::Parser;
use kgauge_analyze::Summary;
use kgauge_results::RunRead;

use crate::args::{Arguments, Command, RunArgs};
use crate::exit::{ExitStatus, OrStop, stop};
use crate::interrupt::{self, StopRequests};
use crate::live::Live;
use question::Question;
use repeat::RepeatEnd;

pub(crate) use question::settings_of;
pub(crate) use start::Beside;

pub(crate) use output::{report, status, terminal_style};

/// Runs what the arguments name on every target, keeps everything in run folders, and reports.
pub(crate) fn run(arguments: &RunArgs) -> anyhow::Result<ExitStatus> {
    let question = Question::read(arguments)?;
    let targets = targets::read(arguments, &question)?;
    let stopping = interrupt::listen("stopping: deleting topics, then writing the report")?;
    let live = Live::start(arguments.serve.as_deref(), &stopping)?;
    let ended = match targets.as_slice() {
        [target] => single_target::run(arguments, &question, target, &stopping, &live),
        targets => multi_target::run(arguments, &question, targets, &stopping, &live),
    };
    live.end(&stopping);
    ended
}

/// One run on one target, with the arguments that `kgauge run` would take; its folder, read back.
/// Nothing is printed on stdout. `beside` is called when the target serves.
pub(crate) fn one(
    words: &[OsString],
    stopping: &StopRequests,
    beside: Option<&Beside<'_>>,
) -> anyhow::Result<(RunRead, Summary)> {
    let line = ["kgauge", "run"].map(OsString::from).into_iter();
    let parsed = Arguments::try_parse_from(line.chain(words.iter().cloned())).or_bad_input()?;
    let Command::Run(arguments) = parsed.command else {
        return Err(stop(
            ExitStatus::BadInput,
            "these are not arguments of a run",
        ));
    };
    let question = Question::read(&arguments)?;
    let targets = targets::read(&arguments, &question)?;
    let [target] = targets.as_slice() else {
        return Err(stop(ExitStatus::BadInput, "this takes one target"));
    };
    let order = start::RunRequest {
        arguments: &arguments,
        question: &question,
        target,
        dir: arguments.out.clone(),
        seed: arguments.seed,
        beside,
        board: None,
    };
    let finished = single_target::measure(&order, stopping.clone())?;
    let made = output::make(&finished.dir)?;
    match finished.ended? {
        RepeatEnd::Complete => Ok(made),
        RepeatEnd::Interrupted => Err(stop(ExitStatus::Interrupted, "stopped by the user")),
    }
}
