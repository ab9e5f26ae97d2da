//! `kgauge cluster up`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kgauge_runner::{RunError, TargetContext, check_name, fresh_number, run_id, unix_ms};
use kgauge_target::kafka::SecurityKind;
use kgauge_target::{StartSetup, Target, TargetSpec, resolve};

use crate::args::ClusterUp;
use crate::exit::{ExitStatus, OrStop, status_of, stop};
use crate::host::host_setup;
use crate::interrupt::{self, StopRequests};
use crate::print;
use crate::progress::StatusLine;

/// The hosts for which a secured embedded cluster has a certificate.
const CERTIFIED: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// How often a serving cluster is checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Starts a cluster and serves, or leaves it running.
pub(super) fn up(arguments: &ClusterUp) -> anyhow::Result<ExitStatus> {
    let spec = spec(arguments)?;
    arguments.data.as_deref().map_or(Ok(()), check_name)?;
    let number = fresh_number();
    let name = run_id(unix_ms(), number);
    let work = std::env::temp_dir().join(format!("kgauge-cluster-{name}"));
    let data_dir: PathBuf = arguments.data.clone().unwrap_or_else(|| work.join("data"));
    let surroundings = TargetContext {
        name: &name,
        data_dir: &data_dir,
        keep_data: arguments.data.is_some(),
        file_reuse: None,
        log_dir: &work,
        seed: number,
    };
    let stopping = interrupt::listen("stopping the cluster")?;
    let setup = host_setup()?.start_setup(&surroundings);
    match start_and_serve(arguments, &spec, &setup, &stopping, (&data_dir, &name)) {
        Ok(AfterExit::Nothing) => {
            let _ = std::fs::remove_dir_all(&work);
            Ok(ExitStatus::Good)
        }
        Ok(AfterExit::Running) => Ok(ExitStatus::Good),
        Err(error) => Err(bad_end(&work, error)),
    }
}

/// The state of a cluster after this process ends.
enum AfterExit {
    Nothing,
    Running,
}

fn start_and_serve(
    arguments: &ClusterUp,
    spec: &TargetSpec,
    setup: &StartSetup,
    stopping: &StopRequests,
    (data_dir, name): (&Path, &str),
) -> anyhow::Result<AfterExit> {
    let waiting = StatusLine::waiting(&format!("starting {}", arguments.target));
    let target =
        Target::start(spec, setup, &stopping.load).map_err(|error| match stopping.is_wanted() {
            true => stop(
                ExitStatus::Interrupted,
                "stopped before the cluster was ready",
            ),
            false => RunError::from(error).into(),
        })?;
    drop(waiting);
    announce(&target, arguments, data_dir, name)?;
    for line in warnings(spec) {
        print::message(&format!("kgauge: {line}"));
    }
    match target {
        Target::Kafka(kafka) if arguments.detach => {
            kafka.detach().or_target_failed("")?;
            Ok(AfterExit::Running)
        }
        target => {
            serve(target, stopping)?;
            Ok(AfterExit::Nothing)
        }
    }
}

/// After a failure the logs stay, and the error names their folder. If the user stopped the start, they are removed.
fn bad_end(work: &Path, error: anyhow::Error) -> anyhow::Error {
    let status = status_of(&error);
    if status == ExitStatus::Interrupted || !has_files(work) {
        let _ = std::fs::remove_dir_all(work);
        return error;
    }
    stop(
        status,
        format!("{error}\n  its logs are kept in {}", work.display()),
    )
}

/// Whether a folder or one below it contains a file that is not empty.
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

/// The target to start.
fn spec(arguments: &ClusterUp) -> anyhow::Result<TargetSpec> {
    let refuse = |words: String| Err(stop(ExitStatus::BadInput, words));
    if arguments.target.starts_with("strimzi:") {
        return refuse(format!(
            "{} is an existing cluster; use embedded or kafka:VERSION",
            arguments.target
        ));
    }
    let mut spec = TargetSpec::parse(&arguments.target).or_bad_input()?;
    spec.without_metrics();
    if let Some(home) = &arguments.kafka_home
        && !spec.set_kafka_home(home)
    {
        return refuse("--kafka-home needs a target that starts with kafka:".to_owned());
    }
    match &spec {
        TargetSpec::Existing(_) => refuse(format!(
            "{} is an existing cluster; use embedded or kafka:VERSION",
            arguments.target
        )),
        TargetSpec::Embedded(_) if arguments.detach => refuse(
            "--detach: an embedded cluster ends with the kgauge that serves it; start kgauge \
             itself in the background"
                .to_owned(),
        ),
        TargetSpec::Kafka(_) if is_for_embedded(arguments) => refuse(
            "--port, --listen, --advertise, --config and --data belong to embedded clusters; Apache \
             Kafka gets free ports and a temporary folder, or log.dirs=DIR in the target"
                .to_owned(),
        ),
        TargetSpec::Kafka(_) => Ok(spec),
        TargetSpec::Embedded(_) => embedded(spec, arguments),
    }
}

/// Whether an option is given that only embedded clusters have.
fn is_for_embedded(arguments: &ClusterUp) -> bool {
    arguments.port.is_some()
        || arguments.listen.is_some()
        || arguments.advertise.is_some()
        || arguments.config.is_some()
        || arguments.data.is_some()
}

/// An embedded cluster with the options and the server.properties applied.
fn embedded(mut spec: TargetSpec, arguments: &ClusterUp) -> anyhow::Result<TargetSpec> {
    let bad = |words: String| stop(ExitStatus::BadInput, words);
    let TargetSpec::Embedded(embedded) = &mut spec else {
        return Ok(spec);
    };
    if let Some(file) = &arguments.config {
        embedded
            .read_server_properties(file)
            .map_err(|words| bad(format!("--config: {words}")))?;
    }
    let listening = &mut embedded.listening;
    if let Some(address) = &arguments.listen {
        let address = resolve(address).map_err(|words| bad(format!("--listen: {words}")))?;
        listening.address = Some(address);
    }
    listening.port = arguments.port.or(listening.port);
    if let Some(host) = &arguments.advertise {
        listening.advertised_host = Some(host.clone());
        listening.advertised_port = None;
    }
    if embedded.security.has_tls()
        && let Some(host) = &embedded.listening.advertised_host
        && !CERTIFIED.contains(&host.as_str())
    {
        return Err(bad(format!(
            "clients would refuse the certificate at {host}: kgauge makes it for {}",
            CERTIFIED.join(", ")
        )));
    }
    Ok(spec)
}

/// Warnings about settings without effect and about access from other machines.
fn warnings(spec: &TargetSpec) -> Vec<String> {
    let TargetSpec::Embedded(embedded) = spec else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    if !embedded.ignored.is_empty() {
        let names: Vec<&str> = embedded.ignored.iter().map(String::as_str).collect();
        lines.push(format!("the embedded cluster ignores {}", names.join(", ")));
    }
    let address = embedded.listening.bound();
    if !address.is_loopback() && !embedded.security.has_tls() {
        let risk = match embedded.security {
            SecurityKind::Plaintext => "anyone who can reach it can read and write all data",
            _ => "passwords and data are not encrypted",
        };
        lines.push(format!(
            "warning: the nodes listen on {address} with {}, beyond this machine's loopback: {risk}",
            embedded.security.protocol()
        ));
    }
    lines
}

/// Prints the addresses to stdout, for scripts, and a message to stderr.
fn announce(
    target: &Target,
    arguments: &ClusterUp,
    data_dir: &Path,
    name: &str,
) -> anyhow::Result<()> {
    let servers = &target.config().bootstrap_servers;
    let servers: Vec<String> = servers.iter().map(ToString::to_string).collect();
    print::line(&format!("bootstrap.servers={}", servers.join(",")));
    if let Some(file) = target.client_properties() {
        print::line(&format!("client.properties={}", file.display()));
    }
    if let Target::Kafka(kafka) = target
        && let Some(zookeeper) = &kafka.started().zookeeper
    {
        print::line(&format!("zookeeper.connect={zookeeper}"));
    }
    let Target::Kafka(kafka) = target else {
        let kept = match arguments.data {
            Some(_) => "kept",
            None => "removed at the end",
        };
        print::message(&format!(
            "kgauge: the embedded cluster (not Apache Kafka) is ready; data in {}, {kept}; Ctrl-C \
             stops it",
            data_dir.display()
        ));
        return Ok(());
    };
    let ends = match arguments.detach {
        true => format!("`kgauge cluster down {name}` stops it"),
        false => "Ctrl-C ends it".to_owned(),
    };
    print::message(&format!(
        "kgauge: Apache Kafka {} is ready ({}) after {:.1} s; logs in {}; {ends}",
        kafka.release().version,
        kafka.started().coordination,
        kafka.started().serves.as_secs_f64(),
        kafka.log_dir().display()
    ));
    Ok(())
}

fn serve(mut target: Target, stopping: &StopRequests) -> anyhow::Result<()> {
    while !stopping.is_wanted() {
        target.check().map_err(RunError::from)?;
        std::thread::sleep(CHECK_INTERVAL);
    }
    // A cluster that has just died is a failure.
    target.check().map_err(RunError::from)?;
    target.stop().or_target_failed("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_listens_beyond_the_loopback_without_encryption_is_warned() {
        let warnings_of = |text: &str| warnings(&TargetSpec::parse(text).unwrap());
        assert!(warnings_of("embedded").is_empty());
        assert!(warnings_of("embedded,listeners=PLAINTEXT://127.0.0.2:0").is_empty());
        let plain = warnings_of("embedded,listeners=PLAINTEXT://:9092,num.io.threads=8");
        assert_eq!(plain[0], "the embedded cluster ignores num.io.threads");
        assert!(
            plain[1].contains("listen on 0.0.0.0 with PLAINTEXT"),
            "{plain:?}"
        );
        let secured = "embedded,security=scram-sha-256,listeners=SASL_PLAINTEXT://:9092";
        assert!(warnings_of(secured)[0].contains("passwords and data are not encrypted"));
        assert!(warnings_of("embedded,security=tls,listeners=SSL://:9092").is_empty());
    }
}
