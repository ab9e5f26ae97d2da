//! Under which names the tools of every release were started: scripts, links to them, Java classes.

use super::release::ToolRelease;

/// One of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KafkaTool {
    /// `ProducerPerformance` with named options (0.9 and later).
    Producer,
    /// `ProducerPerformance` of 0.8.1 and 0.8.2 with words in a fixed order.
    ProducerByPosition,
    /// The Scala producer tool of 0.8 to 1.x: `--broker-list --topics --messages`.
    OldProducer,
    /// `ConsumerPerformance`.
    Consumer,
    /// `SimpleConsumerPerformance` of 0.8 to 0.11.
    SimpleConsumer,
    /// `EndToEndLatency`.
    EndToEnd,
    /// `TopicCommand`.
    Topics,
    /// `VerifiableProducer`.
    VerifiableProducer,
    /// `VerifiableConsumer`.
    VerifiableConsumer,
}

/// A tool, and the newest release that has it under this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ToolName {
    pub(crate) tool: KafkaTool,
    pub(crate) newest: ToolRelease,
}

const LAST_0_8: ToolRelease = ToolRelease::of(0, 8, 2);
const LAST_0_11: ToolRelease = ToolRelease::of(0, 11, 0);
const LAST_1: ToolRelease = ToolRelease::of(1, 1, 1);
const LAST_3_4: ToolRelease = ToolRelease::of(3, 4, 1);
const NEWEST: ToolRelease = ToolRelease::NEWEST;

/// Scripts below `bin/`, without `.sh`.
const SCRIPTS: &[(&str, KafkaTool, ToolRelease)] = &[
    ("kafka-producer-perf-test", KafkaTool::Producer, NEWEST),
    ("kafka-consumer-perf-test", KafkaTool::Consumer, NEWEST),
    (
        "kafka-simple-consumer-perf-test",
        KafkaTool::SimpleConsumer,
        LAST_0_11,
    ),
    ("kafka-e2e-latency", KafkaTool::EndToEnd, NEWEST),
    ("kafka-topics", KafkaTool::Topics, NEWEST),
    (
        "kafka-verifiable-producer",
        KafkaTool::VerifiableProducer,
        NEWEST,
    ),
    (
        "kafka-verifiable-consumer",
        KafkaTool::VerifiableConsumer,
        NEWEST,
    ),
];

/// Classes for `kafka-run-class`.
const CLASSES: &[(&str, KafkaTool, ToolRelease)] = &[
    (
        "org.apache.kafka.tools.ProducerPerformance",
        KafkaTool::Producer,
        NEWEST,
    ),
    (
        "org.apache.kafka.clients.tools.ProducerPerformance",
        KafkaTool::ProducerByPosition,
        LAST_0_8,
    ),
    (
        "kafka.tools.ProducerPerformance",
        KafkaTool::OldProducer,
        LAST_1,
    ),
    (
        "kafka.perf.ProducerPerformance",
        KafkaTool::OldProducer,
        LAST_0_8,
    ),
    (
        "org.apache.kafka.tools.ConsumerPerformance",
        KafkaTool::Consumer,
        NEWEST,
    ),
    (
        "kafka.tools.ConsumerPerformance",
        KafkaTool::Consumer,
        LAST_3_4,
    ),
    (
        "kafka.perf.ConsumerPerformance",
        KafkaTool::Consumer,
        LAST_0_8,
    ),
    (
        "kafka.tools.SimpleConsumerPerformance",
        KafkaTool::SimpleConsumer,
        LAST_0_11,
    ),
    (
        "kafka.perf.SimpleConsumerPerformance",
        KafkaTool::SimpleConsumer,
        LAST_0_8,
    ),
    (
        "org.apache.kafka.tools.EndToEndLatency",
        KafkaTool::EndToEnd,
        NEWEST,
    ),
    ("kafka.tools.EndToEndLatency", KafkaTool::EndToEnd, LAST_3_4),
    (
        "kafka.tools.TestEndToEndLatency",
        KafkaTool::EndToEnd,
        LAST_0_8,
    ),
    ("kafka.TestEndToEndLatency", KafkaTool::EndToEnd, LAST_0_8),
    (
        "org.apache.kafka.tools.TopicCommand",
        KafkaTool::Topics,
        NEWEST,
    ),
    ("kafka.admin.TopicCommand", KafkaTool::Topics, LAST_3_4),
    (
        "org.apache.kafka.tools.VerifiableProducer",
        KafkaTool::VerifiableProducer,
        NEWEST,
    ),
    (
        "org.apache.kafka.clients.tools.VerifiableProducer",
        KafkaTool::VerifiableProducer,
        ToolRelease::of(0, 9, 0),
    ),
    (
        "org.apache.kafka.tools.VerifiableConsumer",
        KafkaTool::VerifiableConsumer,
        NEWEST,
    ),
];

/// The script that starts any class.
pub(crate) const RUN_CLASS: &str = "kafka-run-class";

/// A name without its folder and `.sh`.
pub(crate) fn bare(name: &str) -> &str {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.strip_suffix(".sh").unwrap_or(name)
}

/// The tool behind a script's name.
pub(crate) fn script(name: &str) -> Option<ToolName> {
    find(SCRIPTS, bare(name))
}

/// The tool behind a class's name.
pub(crate) fn class(name: &str) -> Option<ToolName> {
    find(CLASSES, name)
}

fn find(list: &[(&str, KafkaTool, ToolRelease)], name: &str) -> Option<ToolName> {
    let found = list.iter().find(|(known, ..)| *known == name);
    found.map(|&(_, tool, newest)| ToolName { tool, newest })
}

/// All that `kafka-run-class` can start, for its error.
pub(crate) fn classes() -> impl Iterator<Item = &'static str> {
    CLASSES.iter().map(|(name, ..)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_known_with_and_without_its_ending_and_folder() {
        for name in [
            "kafka-topics",
            "kafka-topics.sh",
            "bin/kafka-topics.sh",
            "/opt/kafka/bin/kafka-topics",
        ] {
            assert_eq!(script(name).unwrap().tool, KafkaTool::Topics, "{name}");
        }
        assert_eq!(script("kgauge"), None);
        assert_eq!(script("kafka-configs.sh"), None);
    }

    #[test]
    fn a_class_that_is_gone_speaks_as_its_last_release_did() {
        let named = class("org.apache.kafka.clients.tools.ProducerPerformance").unwrap();
        assert_eq!(named.tool, KafkaTool::ProducerByPosition);
        assert_eq!(named.newest, LAST_0_8);
        let named = class("org.apache.kafka.tools.ProducerPerformance").unwrap();
        assert_eq!(named.newest, ToolRelease::NEWEST);
    }
}
