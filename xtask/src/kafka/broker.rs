//! One real Kafka node, broker and controller in one process, on free ports of this machine.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::process::{ChildProcess, Job, poll};
use super::ready;
use super::release::{RELEASE, ReleaseJars};
use crate::say::remark;

/// As `kafka-server-start.sh` gives it.
const HEAP: &[&str] = &["-Xmx1G", "-Xms1G"];

/// Sixteen bytes in base64, as every cluster id: "kgauge-on-kafka!".
const CLUSTER_ID: &str = "a2dhdWdlLW9uLWthZmthIQ";

const START_MAX: Duration = Duration::from_secs(120);

/// A Kafka that serves. Dropping it stops it; its data lie in the folder that was given.
#[derive(Debug)]
pub(crate) struct KafkaBroker {
    address: SocketAddr,
    log: PathBuf,
    running: ChildProcess,
}

impl KafkaBroker {
    /// Formats storage in `folder`, starts the node and waits until it serves.
    pub(crate) fn start(release: &ReleaseJars, folder: &Path) -> Result<KafkaBroker> {
        remark(&format!("Kafka {RELEASE}: starting"));
        fs::create_dir_all(folder)?;
        let [address, controller] = free_addresses()?;
        let config = folder.join("server.properties");
        fs::write(&config, properties(address, controller, folder))?;
        format(release, &config)?;

        let log = folder.join("kafka.log");
        let file = File::create(&log)?;
        let mut command = release.java(HEAP, "kafka.Kafka");
        // With the folder as its own, Kafka leaves nothing elsewhere.
        command
            .arg(&config)
            .current_dir(folder)
            .stdin(std::process::Stdio::null());
        command.stdout(file.try_clone()?).stderr(file);
        let running = ChildProcess::start("Kafka", &mut command)?;
        let broker = KafkaBroker {
            address,
            log,
            running,
        };
        let serves = poll(START_MAX, || {
            broker.check()?;
            Ok(ready::serves(address).then_some(()))
        })?;
        if serves.is_none() {
            bail!("Kafka does not serve after {START_MAX:?}\n{}", broker.log());
        }
        Ok(broker)
    }

    /// Its bootstrap servers.
    pub(crate) fn servers(&self) -> String {
        self.address.to_string()
    }

    /// An error with its last words when it has ended.
    pub(crate) fn check(&self) -> Result<()> {
        match self.running.ended()? {
            Some(status) => bail!("Kafka has ended: {status}\n{}", self.log()),
            None => Ok(()),
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

/// Two ports that are free at this moment. Kafka must know both before it starts.
fn free_addresses() -> Result<[SocketAddr; 2]> {
    // Both are held until both are known: else they could be the same one.
    let any = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port");
    let (first, second) = (any()?, any()?);
    Ok([first.local_addr()?, second.local_addr()?])
}

/// Kafka's defaults, but for what one node on one machine needs, and for deleted topics, which give
/// their disk back after a second instead of a minute.
fn properties(address: SocketAddr, controller: SocketAddr, folder: &Path) -> String {
    format!(
        "process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://{address},CONTROLLER://{controller}
advertised.listeners=PLAINTEXT://{address}
log.dirs={}
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
log.segment.delete.delay.ms=1000
",
        folder.join("data").display()
    )
}

fn format(release: &ReleaseJars, config: &Path) -> Result<()> {
    let mut command: Command = release.java(&["-Xmx256M"], "kafka.tools.StorageTool");
    command.args(["format", "-t", CLUSTER_ID, "-c"]).arg(config);
    let words = "kafka-storage format".to_owned();
    let done = Job::new(words, command, START_MAX).run()?;
    let formatted = done.status.is_some_and(|status| status.success());
    ensure!(
        formatted,
        "Kafka's storage cannot be formatted\n{}{}",
        done.stdout,
        done.stderr
    );
    Ok(())
}
