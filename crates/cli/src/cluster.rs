//! `kgauge cluster`: an embedded cluster for other tools, and the child process behind `kgauge run`.

use std::io::{stdin, stdout};
use std::path::PathBuf;
use std::time::Duration;

use kgauge_target::{EmbeddedCommand, EmbeddedSetup, Target, TargetSpec, embedded_main};

use crate::args::{Cluster, ClusterAction, ClusterUp};
use crate::exit::{ExitStatus, OrStop, stop, with_cure};
use crate::interrupt;
use crate::place::fresh_number;

/// How often a cluster that serves is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// How long start and stop may take.
const TIME_MAX: Duration = Duration::from_secs(30);

/// Does what `kgauge cluster` was asked for.
pub(crate) fn cluster(arguments: &Cluster) -> anyhow::Result<ExitStatus> {
    match &arguments.action {
        ClusterAction::Up(up) => serve(up),
    }
}

/// The child process: serves until its standard input ends.
#[allow(clippy::exit)]
pub(crate) fn embedded_child() -> ExitStatus {
    let status = embedded_main(stdin(), stdout(), std::io::stderr());
    // Threads of the cluster may still run when the data was removed; nothing may be flushed now.
    std::process::exit(i32::from(status))
}

#[allow(clippy::print_stdout, clippy::print_stderr)]
fn serve(up: &ClusterUp) -> anyhow::Result<ExitStatus> {
    let spec = TargetSpec::parse(&up.target).or_bad_input()?;
    let TargetSpec::Embedded(_) = &spec else {
        let words = format!(
            "{} is there already; only an embedded cluster can be started",
            up.target
        );
        return Err(stop(ExitStatus::BadInput, words));
    };
    let stopping = interrupt::listen("stopping the embedded cluster")?;
    let work = std::env::temp_dir().join(format!("kgauge-cluster-{:08x}", fresh_number() as u32));
    let data_dir: PathBuf = up.data.clone().unwrap_or_else(|| work.join("data"));
    let setup = EmbeddedSetup {
        command: EmbeddedCommand::this_program(["embedded-cluster"]).or_failed()?,
        data_dir: data_dir.clone(),
        keep_data: up.data.is_some(),
        log_file: work.join("cluster.log"),
        first_port: up.port,
        seed: fresh_number(),
        time_limit: TIME_MAX,
    };
    let started = Target::start(&spec, &setup, &stopping.load);
    let mut target =
        started.map_err(|error| stop(ExitStatus::TargetFailed, with_cure(&error, error.cure())))?;
    let servers: Vec<String> = target
        .config()
        .bootstrap_servers
        .iter()
        .map(ToString::to_string)
        .collect();
    println!("bootstrap.servers={}", servers.join(","));
    let kept = if up.data.is_some() {
        "kept"
    } else {
        "removed at the end"
    };
    eprintln!(
        "kgauge: the embedded cluster (not Apache Kafka) serves; data in {}, {kept}; Ctrl-C ends it",
        data_dir.display()
    );
    while !stopping.is_wanted() {
        target
            .check()
            .map_err(|error| stop(ExitStatus::TargetFailed, with_cure(&error, error.cure())))?;
        std::thread::sleep(LOOK);
    }
    target.stop().or_target_failed("")?;
    let _ = std::fs::remove_dir_all(&work);
    Ok(ExitStatus::Good)
}
