//! `kgauge report`: the report of a run folder, made again.

use crate::args::Report;
use crate::exit::ExitStatus;

/// Makes summary and report anew from what the folder holds.
pub(crate) fn report(arguments: &Report) -> anyhow::Result<ExitStatus> {
    crate::run::report(&arguments.dir, arguments.json)
}
