//! The `kgauge` program: arguments in, one call each, an exit status out.

mod args;
mod audit;
mod ceiling;
mod cluster;
mod compare;
mod exit;
mod interrupt;
mod live;
mod open_files;
mod place;
mod progress;
mod report;
mod run;
mod studies;
mod targets;
mod tools;
mod truth;
mod with;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};
use exit::ExitStatus;

fn main() -> ExitCode {
    // Kafka's own names come first: their arguments are not clap's.
    let words: Vec<String> = std::env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    if let Some(call) = tools::called(&words) {
        open_files::raise_limit();
        return tools::run(call).into();
    }
    let arguments = Arguments::parse();
    open_files::raise_limit();
    let ended = match arguments.command {
        Command::Run(run) => run::run(&run),
        Command::Studies(studies) => studies::list(&studies),
        Command::Cluster(cluster) => cluster::cluster(&cluster),
        Command::Compare(arguments) => compare::folders(&arguments),
        Command::Audit(arguments) => audit::audit(&arguments),
        Command::Report(report) => report::report(&report),
        Command::Ceiling(arguments) => ceiling::ceiling(&arguments),
        Command::Truth(arguments) => truth::truth(&arguments),
        Command::EmbeddedCluster => Ok(cluster::embedded_child()),
    };
    exit::say(ended).into()
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        ExitCode::from(status as u8)
    }
}
