//! Kafka's command-line tools that only these checks use: which class each script starts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::actions::REPLICATION_FACTOR;
use crate::kafka::{HEAP, Job, KafkaScript, Tools};

/// Every tool gets this long; a machine that is busy with builds is slow.
const TIME_MAX: Duration = Duration::from_secs(300);

/// `kafka-run-class.sh` gives it where a script says nothing else.

/// One of Kafka's scripts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Script {
    /// Its name.
    pub(super) name: &'static str,
    class: &'static str,
}

pub(super) const API_VERSIONS: Script = script(
    "kafka-broker-api-versions",
    "org.apache.kafka.tools.BrokerApiVersionsCommand",
);
pub(super) const CLUSTER: Script = script("kafka-cluster", "org.apache.kafka.tools.ClusterTool");
pub(super) const DELETE_RECORDS: Script = script(
    "kafka-delete-records",
    "org.apache.kafka.tools.DeleteRecordsCommand",
);
pub(super) const LOG_DIRS: Script =
    script("kafka-log-dirs", "org.apache.kafka.tools.LogDirsCommand");
pub(super) const LEADER_ELECTION: Script = script(
    "kafka-leader-election",
    "org.apache.kafka.tools.LeaderElectionCommand",
);
pub(super) const REASSIGN: Script = script(
    "kafka-reassign-partitions",
    "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
);
pub(super) const END_TO_END: Script = script(
    "kafka-e2e-latency",
    "org.apache.kafka.tools.EndToEndLatency",
);
pub(super) const VERIFIABLE_PRODUCER: Script = script(
    "kafka-verifiable-producer",
    "org.apache.kafka.tools.VerifiableProducer",
);
pub(super) const VERIFIABLE_CONSUMER: Script = script(
    "kafka-verifiable-consumer",
    "org.apache.kafka.tools.VerifiableConsumer",
);

const fn script(name: &'static str, class: &'static str) -> Script {
    Script { name, class }
}

impl Script {
    /// Java with this tool and these arguments.
    pub(super) fn command(self, tools: &Tools<'_>, arguments: &[&str]) -> Result<Command> {
        (tools.alive)()?;
        let mut command = tools.release.command_with_heap(HEAP, self.class);
        command.args(arguments);
        Ok(command)
    }

    /// The same as a job, with the cluster's bootstrap servers.
    pub(super) fn call(self, tools: &Tools<'_>, arguments: &[&str]) -> Result<Job> {
        let servers = ["--bootstrap-server", tools.servers.as_str()];
        self.call_as_is(tools, &[arguments, &servers].concat())
    }

    /// The same with exactly these arguments.
    pub(super) fn call_as_is(self, tools: &Tools<'_>, arguments: &[&str]) -> Result<Job> {
        let words = format!("{} {}", self.name, arguments.join(" "));
        Ok(Job::new(words, self.command(tools, arguments)?, TIME_MAX))
    }
}

/// Writes what a tool wants to read from a file, and gives the file's name.
pub(super) fn json_file(folder: &Path, name: &str, content: &Value) -> Result<String> {
    let path: PathBuf = folder.join(name);
    fs::write(&path, content.to_string())?;
    let path = path.to_str().context("the folder's name is not UTF-8")?;
    Ok(path.to_owned())
}

/// Makes a topic with as many replicas as the cluster can keep.
pub(super) fn create(tools: &Tools<'_>, topic: &str, partitions: u32) -> Result<Job> {
    let partitions = partitions.to_string();
    let what = ["--create", "--topic", topic, "--partitions", &partitions];
    let how = ["--replication-factor", REPLICATION_FACTOR];
    tools.call(KafkaScript::TOPICS, &[&what[..], &how].concat())
}
