//! `kgauge cluster`: clusters for other tools, and the child process behind embedded ones.

mod list;
mod up;

use std::io::{stdin, stdout};

use kgauge_target::embedded_main;

use crate::args::{ClusterAction, ClusterArgs};
use crate::exit::ExitStatus;

/// Runs an action of `kgauge cluster`.
pub(crate) fn cluster(arguments: &ClusterArgs) -> anyhow::Result<ExitStatus> {
    match &arguments.action {
        ClusterAction::Up(arguments) => up::up(arguments),
        ClusterAction::Down(arguments) => list::down(arguments),
        ClusterAction::Status(arguments) => list::status(arguments),
        ClusterAction::Versions(arguments) => list::releases(arguments),
    }
}

/// The child process: serves until its standard input ends.
#[allow(clippy::exit)]
pub(crate) fn embedded_child() -> ExitStatus {
    let status = embedded_main(stdin(), stdout(), std::io::stderr());
    // Threads of the cluster may still run after their data was removed; they must not flush anything now.
    std::process::exit(i32::from(status))
}
