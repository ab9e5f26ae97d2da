//! What kgauge does in the pod of a lead.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use kgauge_kubernetes::{LeadResults, READY_LINE, pack};
use kgauge_runner::OrRunError;
use rustix::process::{Signal, getpid, kill_process};
use signal_hook::consts::SIGTERM;

use super::lead_flags::parsed;
use super::{CHECKUP, LeadArgs};
use crate::args::Command;
use crate::exit::{self, ExitStatus};
use crate::{checkup, print, run};

/// Runs the plan, and keeps its results until they are fetched, however the run ends.
pub(super) fn lead(arguments: &LeadArgs) -> anyhow::Result<ExitStatus> {
    let results = LeadResults::new(arguments.out.parent().unwrap_or(Path::new("/")));
    // Kubernetes ends the pod: nobody will fetch anything.
    let is_ended = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGTERM, Arc::clone(&is_ended)).or_unwritable()?;
    let steered = results.clone();
    std::thread::spawn(move || {
        steered.await_stop();
        // As Ctrl-C: the run ends in order.
        let _ = kill_process(getpid(), Signal::INT);
    });
    // The table is printed where the results arrive.
    print::close();
    let status = exit::report(measure(arguments));
    results.write_status(status as u8).or_unwritable()?;
    print::message(READY_LINE);
    results.await_fetch(&is_ended);
    Ok(status)
}

/// Does what the user asked for on another machine: the plan, or a checkup, which plans its own loads.
fn measure(arguments: &LeadArgs) -> anyhow::Result<ExitStatus> {
    let mut words: Vec<&OsStr> = vec![OsStr::new("kgauge")];
    if arguments.more.first().map(String::as_str) != Some(CHECKUP) {
        words.extend([OsStr::new("run"), arguments.plan.as_os_str()]);
    }
    words.extend(arguments.more.iter().map(OsStr::new));
    words.extend([
        OsStr::new("--target"),
        arguments.target.as_os_str(),
        OsStr::new("--agents"),
        OsStr::new(&arguments.agents),
        OsStr::new("--agents-token-file"),
        arguments.agents_token_file.as_os_str(),
        OsStr::new("--out"),
        arguments.out.as_os_str(),
        OsStr::new("--yes"),
    ]);
    match parsed(words)? {
        Command::Run(arguments) => run::run_question(&arguments, &run::question(&arguments)?),
        Command::Checkup(arguments) => checkup::checkup(&arguments),
        _ => anyhow::bail!("a lead runs a plan or a checkup"),
    }
}

/// Writes the folder of results to stdout.
pub(super) fn pack_results(results: &Path) -> anyhow::Result<ExitStatus> {
    pack(results, print::stdout_stream()).or_unwritable()?;
    Ok(ExitStatus::Good)
}

/// Leaves a file for the lead.
pub(super) fn signal(results: &Path, file: &str) -> anyhow::Result<ExitStatus> {
    LeadResults::new(results).signal(file).or_unwritable()?;
    Ok(ExitStatus::Good)
}
