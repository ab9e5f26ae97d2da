//! Before a run touches somebody's cluster: what it would do, and whether it may.

use std::io::{BufRead, IsTerminal};

use kgauge_scenario::Plan;
use kgauge_target::{DiskSpace, Footprint, TargetFacts};

use crate::exit::{ExitStatus, stop};
use crate::print;

/// Says what the run would do to an existing cluster, and asks, unless the user said yes already.
pub(super) fn ask(
    plan: &Plan,
    facts: &TargetFacts,
    rooms: &[DiskSpace],
    existing_topic: Option<&str>,
    yes: bool,
) -> anyhow::Result<()> {
    let footprint = Footprint::of(plan, facts).to_string();
    print::message("kgauge: this run would do the following to an existing cluster");
    for line in footprint.lines() {
        match existing_topic {
            Some(topic) if line.starts_with("topics ") => {
                print::message(&format!(
                    "  topics   none; it writes to {topic}, and its records stay there"
                ));
            }
            Some(_) if line.starts_with("names ") => {}
            _ => print::message(&format!("  {line}")),
        }
    }
    print::message(&format!("  disks    {}", disks(rooms)));
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        let words = "cannot ask for confirmation: stdin is not a terminal\n  use --yes to confirm";
        return Err(stop(ExitStatus::BadInput, words));
    }
    print::question("Begin? [y/N] ");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    let is_yes = matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes");
    match read {
        Ok(_) if is_yes => Ok(()),
        _ => Err(stop(
            ExitStatus::Interrupted,
            "not started; nothing was changed",
        )),
    }
}

/// What is known of the room on the brokers' disks.
fn disks(rooms: &[DiskSpace]) -> String {
    let known = rooms.iter().filter_map(|room| room.free_bytes);
    match known.min() {
        Some(least) => format!(
            "at least {} MiB free on each of {}",
            least >> 20,
            rooms.len()
        ),
        None => "this release does not report free disk space; check it yourself".to_owned(),
    }
}
