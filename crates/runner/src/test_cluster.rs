//! A cluster for other tools: started, then served until the user stops it, or left running.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kgauge_target::kafka::SecurityKind;
use kgauge_target::{Target, TargetSpec, resolve};

use crate::error::{ErrorSubject, OrRunError, RunError};
use crate::host::{HostSetup, TargetContext};
use crate::ids::{check_name, fresh_number, run_id, unix_ms};
use crate::stop::StopRequests;
use crate::targets_request::unused_kafka_home;

/// The hosts for which a secured embedded cluster has a certificate.
const CERTIFIED: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// How often a serving cluster is checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// A cluster for other tools, as the user writes it.
#[derive(Debug, Clone)]
pub struct TestClusterRequest {
    /// What is started.
    pub target: String,
    /// The folder for an embedded cluster's data, which is then kept.
    pub data: Option<PathBuf>,
    /// The port of an embedded cluster's first node.
    pub port: Option<u16>,
    /// The address that an embedded cluster listens on.
    pub listen: Option<String>,
    /// The host name that an embedded cluster advertises.
    pub advertise: Option<String>,
    /// A server.properties file for an embedded cluster.
    pub config: Option<PathBuf>,
    /// An unpacked release of Apache Kafka.
    pub kafka_home: Option<PathBuf>,
    /// Whether Apache Kafka is left running.
    pub detach: bool,
}

/// A cluster for other tools, ready to start.
#[derive(Debug)]
pub struct TestCluster {
    request: TestClusterRequest,
    spec: TargetSpec,
    name: String,
    seed: u64,
    data_dir: PathBuf,
    /// A folder for its logs, and for data that is not kept.
    work: PathBuf,
}

/// What to know about a cluster that serves.
#[derive(Debug)]
pub struct ReadyCluster {
    /// Its addresses for scripts, as settings of clients.
    pub addresses: Vec<String>,
    /// Sentences for people: what it is, and warnings.
    pub remarks: Vec<String>,
}

impl TestCluster {
    /// Reads the request.
    ///
    /// # Errors
    /// The target cannot be started, or an option does not fit to it.
    pub fn new(request: TestClusterRequest) -> Result<Self, RunError> {
        let spec = request.spec()?;
        request.data.as_deref().map_or(Ok(()), check_name)?;
        let seed = fresh_number();
        let name = run_id(unix_ms(), seed);
        let work = std::env::temp_dir().join(format!("kgauge-cluster-{name}"));
        let data_dir = request.data.clone().unwrap_or_else(|| work.join("data"));
        Ok(Self {
            request,
            spec,
            name,
            seed,
            data_dir,
            work,
        })
    }

    /// Starts the cluster, and serves until the user stops it, or leaves it running. `on_ready` is called when it
    /// serves.
    ///
    /// # Errors
    /// The cluster cannot be started, or it broke. Then its logs stay, and the error names their folder; if the user
    /// stopped the start, they are removed.
    pub fn run(
        &self,
        host: &HostSetup,
        stop: &StopRequests,
        on_ready: &mut dyn FnMut(&ReadyCluster),
    ) -> Result<(), RunError> {
        match self.start_and_serve(host, stop, on_ready) {
            Ok(is_running) => {
                if !is_running {
                    let _ = std::fs::remove_dir_all(&self.work);
                }
                Ok(())
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Returns whether the cluster runs on.
    fn start_and_serve(
        &self,
        host: &HostSetup,
        stop: &StopRequests,
        on_ready: &mut dyn FnMut(&ReadyCluster),
    ) -> Result<bool, RunError> {
        let setup = host.start_setup(&TargetContext {
            name: &self.name,
            data_dir: &self.data_dir,
            keep_data: self.request.data.is_some(),
            file_reuse: None,
            log_dir: &self.work,
            seed: self.seed,
        });
        let started = Target::start(&self.spec, &setup, &stop.load);
        let target = started.map_err(|error| match stop.is_wanted() {
            true => RunError::interrupted("stopped before the cluster was ready"),
            false => RunError::from(error),
        })?;
        let mut remarks = vec![self.description(&target)];
        remarks.extend(warnings(&self.spec));
        on_ready(&ReadyCluster {
            addresses: addresses(&target),
            remarks,
        });
        match target {
            Target::Kafka(kafka) if self.request.detach => {
                kafka.detach().or_target_failed("")?;
                Ok(true)
            }
            target => {
                serve(target, stop)?;
                Ok(false)
            }
        }
    }

    /// What serves, and how it ends.
    fn description(&self, target: &Target) -> String {
        let Target::Kafka(kafka) = target else {
            let kept = match self.request.data {
                Some(_) => "kept",
                None => "removed at the end",
            };
            return format!(
                "the embedded cluster (not Apache Kafka) is ready; data in {}, {kept}; Ctrl-C \
                 stops it",
                self.data_dir.display()
            );
        };
        let ends = match self.request.detach {
            true => format!("`kgauge cluster down {}` stops it", self.name),
            false => "Ctrl-C ends it".to_owned(),
        };
        format!(
            "Apache Kafka {} is ready ({}) after {:.1} s; logs in {}; {ends}",
            kafka.release().version,
            kafka.started().coordination,
            kafka.started().serves.as_secs_f64(),
            kafka.log_dir().display()
        )
    }

    fn failed(&self, error: RunError) -> RunError {
        let subject = error.subject();
        if subject == ErrorSubject::Interrupt || !has_files(&self.work) {
            let _ = std::fs::remove_dir_all(&self.work);
            return error;
        }
        let words = format!("{error}\n  its logs are kept in {}", self.work.display());
        RunError::about(subject, words)
    }
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

/// The addresses of a cluster that serves.
fn addresses(target: &Target) -> Vec<String> {
    let mut lines = vec![format!("bootstrap.servers={}", target.config().servers())];
    if let Some(file) = target.client_properties() {
        lines.push(format!("client.properties={}", file.display()));
    }
    if let Target::Kafka(kafka) = target
        && let Some(zookeeper) = &kafka.started().zookeeper
    {
        lines.push(format!("zookeeper.connect={zookeeper}"));
    }
    lines
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

fn serve(mut target: Target, stop: &StopRequests) -> Result<(), RunError> {
    while !stop.is_wanted() {
        target.check()?;
        std::thread::sleep(CHECK_INTERVAL);
    }
    // A cluster that has just died is a failure.
    target.check()?;
    target.stop().or_target_failed("")
}

impl TestClusterRequest {
    /// The target to start.
    fn spec(&self) -> Result<TargetSpec, RunError> {
        let existing = || {
            Err(RunError::input(format!(
                "{} is an existing cluster; use embedded or kafka:VERSION",
                self.target
            )))
        };
        if self.target.starts_with("strimzi:") {
            return existing();
        }
        let mut spec = TargetSpec::parse(&self.target).or_bad_input()?;
        spec.without_metrics();
        if let Some(home) = &self.kafka_home
            && !spec.set_kafka_home(home)
        {
            return Err(unused_kafka_home());
        }
        match &spec {
            TargetSpec::Existing(_) => existing(),
            TargetSpec::Embedded(_) if self.detach => Err(RunError::input(
                "--detach: an embedded cluster ends with the kgauge that serves it; start kgauge \
                 itself in the background",
            )),
            TargetSpec::Kafka(_) if self.is_for_embedded() => Err(RunError::input(
                "--port, --listen, --advertise, --config and --data belong to embedded clusters; Apache \
                 Kafka gets free ports and a temporary folder, or log.dirs=DIR in the target",
            )),
            TargetSpec::Kafka(_) => Ok(spec),
            TargetSpec::Embedded(_) => self.embedded(spec),
        }
    }

    /// Whether an option is given that only embedded clusters have.
    fn is_for_embedded(&self) -> bool {
        self.port.is_some()
            || self.listen.is_some()
            || self.advertise.is_some()
            || self.config.is_some()
            || self.data.is_some()
    }

    /// An embedded cluster with the options and the server.properties applied.
    fn embedded(&self, mut spec: TargetSpec) -> Result<TargetSpec, RunError> {
        let TargetSpec::Embedded(embedded) = &mut spec else {
            return Ok(spec);
        };
        if let Some(file) = &self.config {
            embedded
                .read_server_properties(file)
                .map_err(|words| RunError::input(format!("--config: {words}")))?;
        }
        let listening = &mut embedded.listening;
        if let Some(address) = &self.listen {
            let address =
                resolve(address).map_err(|words| RunError::input(format!("--listen: {words}")))?;
            listening.address = Some(address);
        }
        listening.port = self.port.or(listening.port);
        if let Some(host) = &self.advertise {
            listening.advertised_host = Some(host.clone());
            listening.advertised_port = None;
        }
        if embedded.security.has_tls()
            && let Some(host) = &embedded.listening.advertised_host
            && !CERTIFIED.contains(&host.as_str())
        {
            return Err(RunError::input(format!(
                "clients would refuse the certificate at {host}: kgauge makes it for {}",
                CERTIFIED.join(", ")
            )));
        }
        Ok(spec)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
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

    #[test]
    fn options_that_do_not_fit_to_the_target_are_refused() {
        let request = |target: &str| TestClusterRequest {
            target: target.to_owned(),
            data: None,
            port: None,
            listen: None,
            advertise: None,
            config: None,
            kafka_home: None,
            detach: false,
        };
        let refused = |request: TestClusterRequest| request.spec().unwrap_err().to_string();
        assert!(request("embedded:3").spec().is_ok());
        for existing in ["strimzi:a/b", "b1:9092"] {
            assert!(refused(request(existing)).contains("is an existing cluster"));
        }
        let detached = TestClusterRequest {
            detach: true,
            ..request("embedded")
        };
        assert!(refused(detached).starts_with("--detach: "));
        let port = TestClusterRequest {
            port: Some(9_092),
            ..request("kafka:4.3.1")
        };
        assert!(refused(port).starts_with("--port, "));
        let certified = TestClusterRequest {
            advertise: Some("b1.example".to_owned()),
            ..request("embedded,security=tls")
        };
        assert!(refused(certified).contains("refuse the certificate at b1.example"));
    }
}
