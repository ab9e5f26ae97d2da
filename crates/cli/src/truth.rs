//! `kgauge truth`: known answers, put to kgauge itself.

use kgauge_live::TerminalObserver;
use kgauge_truth::{DeliberateError, SuiteFolder, TruthRequest};

use crate::args::{Doubt, TruthArgs};
use crate::exit::ExitStatus;
use crate::host::{command_line, host_setup};
use crate::interrupt;
use crate::print;
use crate::progress::StderrTerminal;

/// Runs the suite, or judges an earlier one again; 1 when a figure is wrong, else 2 when one is inconclusive.
pub(crate) fn truth(arguments: &TruthArgs) -> anyhow::Result<ExitStatus> {
    let request = TruthRequest {
        folder: match (&arguments.again, &arguments.out) {
            (Some(dir), _) => SuiteFolder::Earlier(dir.clone()),
            (None, Some(dir)) => SuiteFolder::New(dir.clone()),
            (None, None) => SuiteFolder::Default,
        },
        only: arguments.only.clone(),
        is_quick: arguments.quick,
        seed: arguments.seed,
        tries: arguments.tries,
        error: arguments.doubt.map(|doubt| match doubt {
            Doubt::Recorder => DeliberateError::Recorder,
            Doubt::Figures => DeliberateError::Figures,
        }),
        command: command_line(),
        stop: interrupt::listen("stopping")?,
        host: host_setup()?,
    };
    let report = kgauge_truth::truth(
        &request,
        &mut TerminalObserver::new(StderrTerminal, None, false),
    )?;
    print::result(match arguments.json {
        true => &report.json,
        false => &report.text,
    });
    Ok(match (report.failed, report.inconclusive) {
        (0, 0) => ExitStatus::Good,
        (0, _) => ExitStatus::BadInput,
        _ => ExitStatus::Failed,
    })
}
