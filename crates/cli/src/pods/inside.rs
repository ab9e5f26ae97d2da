//! What kgauge does in the pod of a lead.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kgauge_kubernetes::{READY_LINE, RELEASE_FILE, STATUS_FILE, STOP_FILE, pack};
use rustix::process::{Pid, Signal, kill_process};

use super::LeadArgs;
use crate::exit::{ExitStatus, OrStop};
use crate::{interrupt, print};

/// How long results wait to be fetched.
const KEEP: Duration = Duration::from_secs(900);

/// How often files and processes are checked.
const POLL: Duration = Duration::from_millis(100);

/// Runs the plan in a child, so that results stay fetchable however the run ends.
pub(super) fn lead(arguments: &LeadArgs) -> anyhow::Result<ExitStatus> {
    let stopping = interrupt::listen("stopping: deleting topics, then writing the report")?;
    let results = arguments.out.parent().unwrap_or(Path::new("/"));
    let program = std::env::current_exe().or_unwritable()?;
    let mut command = Command::new(program);
    command
        .arg("run")
        .arg(&arguments.plan)
        .arg("--target")
        .arg(&arguments.target)
        .args(["--agents", &arguments.agents, "--agents-token-file"])
        .arg(&arguments.agents_token_file)
        .arg("--out")
        .arg(&arguments.out)
        .arg("--yes")
        .args(&arguments.more);
    // The table is printed again where the results arrive.
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .or_unwritable()?;
    let mut is_stopped = false;
    let status = loop {
        if let Some(status) = child.try_wait().or_unwritable()? {
            break status;
        }
        let is_asked = || stopping.is_wanted() || results.join(STOP_FILE).exists();
        if !is_stopped && is_asked() {
            is_stopped = true;
            let _ = kill_process(Pid::from_child(&child), Signal::INT);
        }
        std::thread::sleep(POLL);
    };
    let code = status.code().unwrap_or(ExitStatus::Defect as i32);
    fs::write(results.join(STATUS_FILE), format!("{code}\n")).or_unwritable()?;
    print::message(READY_LINE);
    let deadline = Instant::now() + KEEP;
    let is_over = || stopping.is_wanted() || results.join(RELEASE_FILE).exists();
    while !is_over() && Instant::now() < deadline {
        std::thread::sleep(POLL);
    }
    Ok(ExitStatus::of_code(code))
}

/// Writes the folder of results to stdout.
pub(super) fn pack_results(results: &Path) -> anyhow::Result<ExitStatus> {
    pack(results, print::stdout_stream()).or_unwritable()?;
    Ok(ExitStatus::Good)
}

/// Leaves a file for the lead.
pub(super) fn signal(results: &Path, file: &str) -> anyhow::Result<ExitStatus> {
    fs::write(results.join(file), "").or_unwritable()?;
    Ok(ExitStatus::Good)
}
