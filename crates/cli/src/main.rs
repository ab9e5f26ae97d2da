//! The `kgauge` program: arguments in, one call each, an exit status out.

mod ab;
mod agent;
mod agents_args;
mod args;
mod ask;
mod audit;
mod built_in_args;
mod capacity;
mod capacity_args;
mod ceiling;
mod check;
mod checkup;
mod checkup_args;
mod cluster;
mod compare;
mod compare_with;
mod conduct_args;
mod exit;
mod flag_suggestion;
mod help;
mod host;
mod init;
mod interrupt;
mod new_file;
mod open_files;
mod panics;
mod pods;
mod print;
mod progress;
mod report;
mod run;
mod runs;
mod size;
mod size_args;
mod studies;
mod style;
mod tools;
mod topics;
mod truth;
mod tune;
mod value_parsers;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};
use exit::ExitStatus;
use flag_suggestion::suggest_flags;
use kgauge_tools::ToolCall;

fn main() -> ExitCode {
    panics::caught(program).into()
}

fn program() -> ExitStatus {
    // Kafka's own names come first: their arguments are not clap's.
    let words: Vec<String> = std::env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    if let Some(call) = ToolCall::find(&words) {
        open_files::raise_limit();
        return exit::end(tools::run(call), ExitStatus::Failed);
    }
    let ended = match Arguments::try_parse() {
        Ok(arguments) => {
            style::set_color(arguments.color);
            exit::report(command(&arguments.command))
        }
        Err(mut error) => {
            suggest_flags(&mut error, words.get(1..).unwrap_or_default());
            exit::report_usage(&error)
        }
    };
    exit::end(ended, ExitStatus::BadInput)
}

fn command(command: &Command) -> anyhow::Result<ExitStatus> {
    open_files::raise_limit();
    match command {
        Command::Run(run) => pods::run_question(run, &run::question(run)?),
        Command::Agent(arguments) => agent::agent(arguments),
        Command::Agents(command) => pods::agents(command),
        Command::Init(arguments) => init::init(arguments),
        Command::Check(arguments) => check::check(arguments),
        Command::Runs(arguments) => runs::runs(arguments),
        Command::Ab(arguments) => ab::ab(arguments),
        Command::Capacity(arguments) => capacity::capacity(arguments),
        Command::Tune(arguments) => tune::tune(arguments),
        Command::Checkup(arguments) => checkup::checkup(arguments),
        Command::Size(arguments) => size::size(arguments),
        Command::Studies(studies) => studies::list(studies),
        Command::Cluster(cluster) => cluster::cluster(cluster),
        Command::Compare(arguments) => compare::folders(arguments),
        Command::Audit(arguments) => audit::audit(arguments),
        Command::Report(report) => report::report(report),
        Command::Ceiling(arguments) => ceiling::ceiling(arguments),
        Command::Truth(arguments) => truth::truth(arguments),
        Command::Schema(arguments) => topics::schema(arguments.kind),
        Command::Help(arguments) => topics::help(&arguments.words),
        Command::EmbeddedCluster => Ok(cluster::embedded_child()),
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        ExitCode::from(status as u8)
    }
}
