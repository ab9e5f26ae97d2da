//! The command lines and files of a cluster's processes.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::agent::{Agent, POLICY, POLICY_FILE};
use super::error::KafkaError;
use super::fetch::Jars;
use super::java::Java;
use super::process::ProcessStart;
use super::properties::{self, KafkaNode};
use super::release::Logger;
use super::spec::{BESIDE_HEAP_MIB, KafkaSpec};
use super::topics::log4j;
use crate::security::{SecurityFiles, private};

/// The flags of `kafka-run-class.sh` of 4.3.1 for every Java process. Older releases use the same ones, or collectors
/// that current Java versions lack.
pub(crate) const JVM: &[&str] = &[
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-Djava.awt.headless=true",
];

/// A sufficient heap for ZooKeeper, MiB.
const ZOOKEEPER_HEAP_MIB: u64 = 256;

/// The inputs of all command lines.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) spec: &'a KafkaSpec,
    pub(crate) jars: &'a Jars,
    pub(crate) java: &'a Java,
    /// The folder of the configurations, readable only by this user.
    pub(crate) conf_dir: &'a Path,
    pub(crate) log_dir: &'a Path,
    pub(crate) secured: &'a SecurityFiles,
    pub(crate) agent: &'a Agent,
}

impl Launch<'_> {
    /// A folder that only this user can read.
    pub(crate) fn make_conf_dir(&self) -> Result<(), KafkaError> {
        private::make(self.conf_dir).map_err(KafkaError::file(self.conf_dir))?;
        self.write("log4j.properties", properties::LOG4J)?;
        if let Agent::Jar(_) = self.agent {
            self.write(POLICY_FILE, POLICY)?;
        }
        Ok(())
    }

    /// Writes a file that only this user can read.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> Result<PathBuf, KafkaError> {
        private::write(self.conf_dir, name, text.as_ref())
            .map_err(KafkaError::file(&self.conf_dir.join(name)))
    }

    /// A node's process.
    pub(crate) fn node(&self, node: &KafkaNode, config: &Path) -> ProcessStart {
        let heap = format!("{}M", self.spec.heap_bytes >> 20);
        let mut arguments = self.flags(&heap);
        arguments.extend(self.spec.jvm.iter().map(OsString::from));
        if node.is_broker {
            arguments.extend(self.agent.flag(node.metrics_port, self.conf_dir));
        }
        if let Some(jaas) = &self.secured.jaas {
            let mut flag = OsString::from("-Djava.security.auth.login.config=");
            flag.push(jaas);
            arguments.push(flag);
            // The users are for clients; ZooKeeper has none.
            arguments.push("-Dzookeeper.sasl.client=false".into());
        }
        self.start(
            node.role(),
            &node.file_name(),
            arguments,
            "kafka.Kafka",
            config,
        )
    }

    /// ZooKeeper's process.
    pub(crate) fn zookeeper(&self, config: &Path) -> ProcessStart {
        let arguments = self.flags(&format!("{ZOOKEEPER_HEAP_MIB}M"));
        let class = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
        self.start(
            "ZooKeeper".to_owned(),
            "zookeeper",
            arguments,
            class,
            config,
        )
    }

    /// The Java flags of a node, for the record.
    pub(crate) fn jvm_flags(&self) -> Vec<String> {
        let heap = self.spec.heap_bytes >> 20;
        let mut flags = vec![format!("-Xmx{heap}M"), format!("-Xms{heap}M")];
        flags.extend(JVM.iter().map(|flag| (*flag).to_owned()));
        flags.extend(self.spec.jvm.clone());
        flags.extend(self.agent.flag_told());
        flags
    }

    fn flags(&self, heap: &str) -> Vec<OsString> {
        let mut flags: Vec<OsString> =
            vec![format!("-Xmx{heap}").into(), format!("-Xms{heap}").into()];
        flags.extend(JVM.iter().map(OsString::from));
        match self.jars.release.logger {
            Logger::Log4j => flags.push(log4j(&self.log4j())),
            Logger::Simple => {
                flags.push("-Dorg.slf4j.simpleLogger.defaultLogLevel=info".into());
                flags.push("-Dorg.slf4j.simpleLogger.showDateTime=true".into());
            }
        }
        flags
    }

    /// The configuration of log4j.
    pub(crate) fn log4j(&self) -> PathBuf {
        self.conf_dir.join("log4j.properties")
    }

    fn start(
        &self,
        role: String,
        file_name: &str,
        mut arguments: Vec<OsString>,
        class: &str,
        config: &Path,
    ) -> ProcessStart {
        arguments.extend([
            "-cp".into(),
            self.jars.class_path(),
            class.into(),
            config.into(),
        ]);
        ProcessStart {
            role,
            program: self.java.path.clone(),
            arguments,
            dir: self.conf_dir.to_owned(),
            log_file: self.log_dir.join(format!("{file_name}.log")),
            group: None,
            environment: Vec::new(),
        }
    }

    /// Formats a node's storage (KRaft).
    pub(crate) fn format(&self, role: &str, config: &Path) -> Result<(), KafkaError> {
        // It runs for a second: fast startup matters more than speed.
        let output = Command::new(&self.java.path)
            .args([
                "-Xmx256M",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xshare:auto",
            ])
            .arg(log4j(&self.log4j()))
            .arg("-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
            .arg("-cp")
            .arg(self.jars.class_path())
            .args([
                "kafka.tools.StorageTool",
                "format",
                "-t",
                properties::CLUSTER_ID,
                "-c",
            ])
            .arg(config)
            .stdin(Stdio::null())
            .current_dir(self.conf_dir)
            .output();
        let output = output.map_err(|error| KafkaError::Spawn {
            role: "the storage tool".to_owned(),
            error,
        })?;
        if output.status.success() {
            return Ok(());
        }
        let bytes = [output.stdout, output.stderr].concat();
        Err(KafkaError::Format {
            role: role.to_owned(),
            output: decisive(&String::from_utf8_lossy(&bytes)),
        })
    }

    /// Refuses what does not fit into the machine's memory.
    pub(crate) fn check_memory(&self, nodes: usize, zookeeper: bool) -> Result<(), KafkaError> {
        let each = (self.spec.heap_bytes >> 20) + BESIDE_HEAP_MIB;
        let zookeeper_mib = if zookeeper { ZOOKEEPER_HEAP_MIB } else { 0 };
        let needed_mib = each.saturating_mul(nodes as u64) + zookeeper_mib;
        match available_mib() {
            Some(available_mib) if available_mib < needed_mib => Err(KafkaError::NoMemory {
                processes: u32::try_from(nodes).unwrap_or(u32::MAX) + u32::from(zookeeper),
                needed_mib,
                available_mib,
            }),
            _ => Ok(()),
        }
    }
}

/// Memory available without swapping, according to the kernel, MiB.
fn available_mib() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024)
}

/// The lines of a Java program's output that describe an error.
fn decisive(text: &str) -> String {
    let is_frame = |line: &str| line.trim_start().starts_with("at ") || line.trim().is_empty();
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !is_frame(line))
        .take(6)
        .collect();
    lines.join("\n")
}
