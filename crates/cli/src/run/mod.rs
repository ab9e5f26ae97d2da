//! `kgauge run`: the whole way from a question to a report.

mod close;
mod consent;
mod cpu;
mod environment;
mod faults;
mod one;
mod output;
mod question;
mod repeat;
mod room;
mod session;
mod several;
mod shared;
mod start;
mod targets;
mod trial;

use crate::args::Run;
use crate::exit::ExitStatus;
use crate::interrupt;
use question::Question;

pub(crate) use output::{print_json, report, terminal_style};

/// Runs what the arguments name on every target, keeps everything in run folders, and reports.
pub(crate) fn run(arguments: &Run) -> anyhow::Result<ExitStatus> {
    let question = Question::read(arguments)?;
    let targets = targets::read(arguments, &question)?;
    let stopping = interrupt::listen("stopping; topics are deleted, then the report is written")?;
    match targets.as_slice() {
        [target] => one::run(arguments, &question, target, stopping),
        targets => several::run(arguments, &question, targets, &stopping),
    }
}
