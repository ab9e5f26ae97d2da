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

impl KafkaScript {
    pub(crate) const TOPICS: KafkaScript =
        tool("kafka-topics", "org.apache.kafka.tools.TopicCommand", HEAP);
    pub(crate) const CONFIGS: KafkaScript =
        tool("kafka-configs", "kafka.admin.ConfigCommand", HEAP);
    pub(crate) const GROUPS: KafkaScript = tool(
        "kafka-consumer-groups",
        "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
        HEAP,
    );
    pub(crate) const OFFSETS: KafkaScript = tool(
        "kafka-get-offsets",
        "org.apache.kafka.tools.GetOffsetShell",
        HEAP,
    );
    pub(crate) const PRODUCER_PERF: KafkaScript = tool(
        "kafka-producer-perf-test",
        "org.apache.kafka.tools.ProducerPerformance",
        HEAP_LARGE,
    );
    pub(crate) const CONSUMER_PERF: KafkaScript = tool(
        "kafka-consumer-perf-test",
        "org.apache.kafka.tools.ConsumerPerformance",
        HEAP_LARGE,
    );
    pub(crate) const CONSOLE_PRODUCER: KafkaScript = tool(
        "kafka-console-producer",
        "org.apache.kafka.tools.ConsoleProducer",
        HEAP_LARGE,
    );
    pub(crate) const CONSOLE_CONSUMER: KafkaScript = tool(
        "kafka-console-consumer",
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        HEAP_LARGE,
    );
}

const fn tool(name: &'static str, class: &'static str, heap: &'static str) -> KafkaScript {
    KafkaScript { name, class, heap }
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
    /// A call of `tool` with the cluster's bootstrap servers and these arguments.
    pub(crate) fn call<A: AsRef<str>>(&self, tool: KafkaScript, arguments: &[A]) -> Result<Job> {
        (self.alive)()?;
        let mut command: Command = self.release.command_with_heap(tool.heap, tool.class);
        command.args(["--bootstrap-server", &self.servers]);
        let mut words = tool.name.to_owned();
        for argument in arguments.iter().map(AsRef::as_ref) {
            command.arg(argument);
            words.push(' ');
            words.push_str(argument);
        }
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
