//! The folders on this machine with the target's data. They show which disks matter in the evidence.

use std::path::PathBuf;

use kgauge_observe::WatchedProcess;
use kgauge_target::{Target, TargetFacts};

/// The folders of a target that kgauge started, or the existing folders that brokers on this machine report.
/// Brokers in a container name folders of their own: without a process that can be seen, none of it is taken for this
/// machine's.
pub(crate) fn of(
    target: &Target,
    facts: &TargetFacts,
    processes: &[WatchedProcess],
) -> Vec<PathBuf> {
    let own = target.data_dirs();
    if !own.is_empty() || facts.same_machine != Some(true) || processes.is_empty() {
        return own;
    }
    let named = facts.brokers.iter().filter_map(|broker| {
        let settings = &broker.settings;
        settings.get("log.dirs").or_else(|| settings.get("log.dir"))
    });
    let mut dirs: Vec<PathBuf> = named
        .flat_map(|dirs| dirs.split(','))
        .map(|dir| PathBuf::from(dir.trim()))
        .filter(|dir| dir.is_absolute() && dir.exists())
        .collect();
    dirs.sort();
    dirs.dedup();
    dirs
}
