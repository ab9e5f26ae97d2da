//! `kgauge cluster up`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kgauge_target::{StartSetup, Target, TargetSpec};

use crate::args::ClusterUp;
use crate::exit::{ExitStatus, OrStop, Stop, stop};
use crate::interrupt::{self, Stopping};
use crate::place::{fresh_number, run_id, unix_ms};
use crate::targets::{Surroundings, failed, setup};

/// How often a cluster that serves is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Starts a cluster and serves, or leaves it running.
pub(super) fn up(arguments: &ClusterUp) -> anyhow::Result<ExitStatus> {
    let spec = spec(arguments)?;
    let number = fresh_number();
    let name = run_id(unix_ms(), number);
    let work = std::env::temp_dir().join(format!("kgauge-cluster-{name}"));
    let data_dir: PathBuf = arguments.data.clone().unwrap_or_else(|| work.join("data"));
    let surroundings = Surroundings {
        name: &name,
        data_dir: &data_dir,
        keep_data: arguments.data.is_some(),
        log_dir: &work,
        first_port: arguments.port,
        seed: number,
    };
    let stopping = interrupt::listen("stopping the cluster")?;
    let setup = setup(&surroundings)?;
    match start_and_serve(arguments, &spec, &setup, &stopping, (&data_dir, &name)) {
        Ok(Left::Nothing) => {
            let _ = std::fs::remove_dir_all(&work);
            Ok(ExitStatus::Good)
        }
        Ok(Left::Running) => Ok(ExitStatus::Good),
        Err(error) => Err(bad_end(&work, error)),
    }
}

/// What is left of a cluster when this process ends.
enum Left {
    Nothing,
    Running,
}

fn start_and_serve(
    arguments: &ClusterUp,
    spec: &TargetSpec,
    setup: &StartSetup,
    stopping: &Stopping,
    (data_dir, name): (&Path, &str),
) -> anyhow::Result<Left> {
    let target =
        Target::start(spec, setup, &stopping.load).map_err(|error| match stopping.is_wanted() {
            true => stop(ExitStatus::Interrupted, "stopped before the cluster served"),
            false => failed(error),
        })?;
    announce(&target, arguments, data_dir, name)?;
    match target {
        Target::Kafka(kafka) if arguments.detach => {
            kafka.detach().or_target_failed("")?;
            Ok(Left::Running)
        }
        target => {
            serve(target, stopping)?;
            Ok(Left::Nothing)
        }
    }
}

/// After a bad end the logs stay, and their place is told. Who stops a start wants none.
fn bad_end(work: &Path, error: anyhow::Error) -> anyhow::Error {
    let failed = error.downcast_ref::<Stop>();
    let is_wanted = failed.is_some_and(|failed| failed.status == ExitStatus::Interrupted);
    if is_wanted || !has_files(work) {
        let _ = std::fs::remove_dir_all(work);
        return error;
    }
    let status = failed.map_or(ExitStatus::TargetFailed, |failed| failed.status);
    stop(
        status,
        format!("{error}\n  its logs are kept in {}", work.display()),
    )
}

/// Whether there is a file with something in it, in a folder or in those below.
fn has_files(dir: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return false;
    };
    entries.flatten().any(
        |entry| match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => has_files(&entry.path()),
            false => entry.metadata().is_ok_and(|facts| facts.len() > 0),
        },
    )
}

/// What is to be started, if it can be.
fn spec(arguments: &ClusterUp) -> anyhow::Result<TargetSpec> {
    let refuse = |words: String| Err(stop(ExitStatus::BadInput, words));
    let mut spec = TargetSpec::parse(&arguments.target).or_bad_input()?;
    spec.without_metrics();
    if let Some(home) = &arguments.kafka_home
        && !spec.set_kafka_home(home)
    {
        return refuse("--kafka-home belongs to a target that starts with kafka:".to_owned());
    }
    match &spec {
        TargetSpec::Existing(_) => refuse(format!(
            "{} is there already; embedded and kafka:VERSION can be started",
            arguments.target
        )),
        TargetSpec::Embedded(_) if arguments.detach => refuse(
            "--detach: an embedded cluster ends with the kgauge that serves it; start kgauge \
             itself in the background"
                .to_owned(),
        ),
        TargetSpec::Kafka(_) if arguments.port.is_some() || arguments.data.is_some() => refuse(
            "--port and --data belong to embedded clusters; Apache Kafka gets free ports and a \
             temporary folder, or log.dirs=DIR in the target"
                .to_owned(),
        ),
        _ => Ok(spec),
    }
}

/// The addresses on stdout, for scripts; the words on stderr.
#[allow(clippy::print_stdout, clippy::print_stderr)]
fn announce(
    target: &Target,
    arguments: &ClusterUp,
    data_dir: &Path,
    name: &str,
) -> anyhow::Result<()> {
    let servers = &target.config().bootstrap_servers;
    let servers: Vec<String> = servers.iter().map(ToString::to_string).collect();
    println!("bootstrap.servers={}", servers.join(","));
    if let Some(file) = target.client_properties() {
        println!("client.properties={}", file.display());
    }
    if let Target::Kafka(kafka) = target
        && let Some(zookeeper) = &kafka.started().zookeeper
    {
        println!("zookeeper.connect={zookeeper}");
    }
    let Target::Kafka(kafka) = target else {
        let kept = match arguments.data {
            Some(_) => "kept",
            None => "removed at the end",
        };
        eprintln!(
            "kgauge: the embedded cluster (not Apache Kafka) serves; data in {}, {kept}; Ctrl-C \
             ends it",
            data_dir.display()
        );
        return Ok(());
    };
    let ends = match arguments.detach {
        true => format!("`kgauge cluster down {name}` ends it"),
        false => "Ctrl-C ends it".to_owned(),
    };
    eprintln!(
        "kgauge: Apache Kafka {} serves ({}) after {:.1} s; logs in {}; {ends}",
        kafka.release().version,
        kafka.started().coordination,
        kafka.started().serves.as_secs_f64(),
        kafka.log_dir().display()
    );
    Ok(())
}

fn serve(mut target: Target, stopping: &Stopping) -> anyhow::Result<()> {
    while !stopping.is_wanted() {
        target.check().map_err(failed)?;
        std::thread::sleep(LOOK);
    }
    // One that died just now is a bad end, too.
    target.check().map_err(failed)?;
    target.stop().or_target_failed("")
}
