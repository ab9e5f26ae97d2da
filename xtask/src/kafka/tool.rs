//! Kafka's command-line tools: which class each script starts, and with how much memory.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use kgauge_target::kafka::ReleaseTools;

use super::process::Job;

/// Every tool gets this long; a machine that is busy with builds is slow.
const TIME_MAX: Duration = Duration::from_secs(300);

/// What `kafka-run-class.sh` gives to a script that sets no heap.
pub(crate) const HEAP: &str = "-Xmx256M";
/// What the scripts of the performance tools and of the console set.
const HEAP_LARGE: &str = "-Xmx512M";

/// One of Kafka's scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KafkaScript {
    /// The script's name.
    pub(crate) name: &'static str,
    class: &'static str,
    heap: &'static str,
}

/// Makes the constants out of one table: name, script, class (within `org.apache.kafka.tools`) and heap.
macro_rules! scripts {
    ($($name:ident $script:literal $class:literal $heap:ident;)*) => {
        impl KafkaScript {
            $(pub(crate) const $name: KafkaScript = KafkaScript {
                name: $script,
                class: concat!("org.apache.kafka.tools.", $class),
                heap: $heap,
            };)*

            /// Its class is the only one elsewhere.
            pub(crate) const CONFIGS: KafkaScript = KafkaScript {
                name: "kafka-configs",
                class: "kafka.admin.ConfigCommand",
                heap: HEAP,
            };
        }
    };
}

scripts! {
    TOPICS "kafka-topics" "TopicCommand" HEAP;
    GROUPS "kafka-consumer-groups" "consumer.group.ConsumerGroupCommand" HEAP;
    OFFSETS "kafka-get-offsets" "GetOffsetShell" HEAP;
    API_VERSIONS "kafka-broker-api-versions" "BrokerApiVersionsCommand" HEAP;
    CLUSTER "kafka-cluster" "ClusterTool" HEAP;
    DELETE_RECORDS "kafka-delete-records" "DeleteRecordsCommand" HEAP;
    LOG_DIRS "kafka-log-dirs" "LogDirsCommand" HEAP;
    LEADER_ELECTION "kafka-leader-election" "LeaderElectionCommand" HEAP;
    REASSIGN "kafka-reassign-partitions" "reassign.ReassignPartitionsCommand" HEAP;
    END_TO_END "kafka-e2e-latency" "EndToEndLatency" HEAP;
    VERIFIABLE_PRODUCER "kafka-verifiable-producer" "VerifiableProducer" HEAP;
    VERIFIABLE_CONSUMER "kafka-verifiable-consumer" "VerifiableConsumer" HEAP;
    PRODUCER_PERF "kafka-producer-perf-test" "ProducerPerformance" HEAP_LARGE;
    CONSUMER_PERF "kafka-consumer-perf-test" "ConsumerPerformance" HEAP_LARGE;
    CONSOLE_PRODUCER "kafka-console-producer" "ConsoleProducer" HEAP_LARGE;
    CONSOLE_CONSUMER "kafka-console-consumer" "consumer.ConsoleConsumer" HEAP_LARGE;
}

/// The tools of a release, for one cluster.
pub(crate) struct Tools<'a> {
    /// Where the tools come from.
    pub(crate) release: &'a ReleaseTools,
    /// The cluster's bootstrap servers.
    pub(crate) servers: String,
    /// An error when the cluster is gone: then every tool would try for a minute.
    pub(crate) alive: &'a dyn Fn() -> Result<()>,
}

impl Tools<'_> {
    /// Java with the tool of a script and exactly these arguments.
    pub(crate) fn command<A: AsRef<str>>(
        &self,
        script: KafkaScript,
        arguments: &[A],
    ) -> Result<Command> {
        (self.alive)()?;
        let mut command = self.release.command_with_heap(script.heap, script.class);
        command.args(arguments.iter().map(AsRef::as_ref));
        Ok(command)
    }

    /// A call of a script with these arguments and the cluster's bootstrap servers.
    pub(crate) fn call<A: AsRef<str>>(&self, script: KafkaScript, arguments: &[A]) -> Result<Job> {
        let mut command = self.command(script, arguments)?;
        command.args(["--bootstrap-server", &self.servers]);
        let words: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
        let words = format!("{} {}", script.name, words.join(" "));
        Ok(Job::new(words, command, TIME_MAX))
    }

    /// Makes a topic of one replica.
    pub(crate) fn create(&self, topic: &str, partitions: u32) -> Result<Job> {
        let partitions = partitions.to_string();
        let arguments = [
            "--create",
            "--topic",
            topic,
            "--partitions",
            &partitions,
            "--replication-factor",
            "1",
        ];
        self.call(KafkaScript::TOPICS, &arguments)
    }

    /// Deletes the topics that a Java regular expression, or a name, fits.
    pub(crate) fn delete(&self, topics: &str) -> Result<Job> {
        self.call(KafkaScript::TOPICS, &["--delete", "--topic", topics])
    }
}
