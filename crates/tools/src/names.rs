//! The names under which the tools of all releases were started: scripts, and Java classes for `kafka-run-class`.

use KafkaTool::*;

use crate::option_tables as tables;
use crate::options::OptionTable;
use crate::release::ToolRelease;

/// One of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KafkaTool {
    /// `ProducerPerformance` with named options (0.9 and later).
    Producer,
    /// `ProducerPerformance` of 0.8.1 and 0.8.2 with positional arguments.
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

impl KafkaTool {
    /// The options of all releases.
    pub(crate) fn options(self) -> &'static OptionTable {
        match self {
            Producer => &tables::PRODUCER,
            ProducerByPosition => &tables::PRODUCER_BY_POSITION,
            OldProducer => &tables::OLD_PRODUCER,
            Consumer | SimpleConsumer => &tables::CONSUMER,
            EndToEnd => &tables::END_TO_END,
            Topics => &tables::TOPICS,
            VerifiableProducer => &tables::VERIFIABLE_PRODUCER,
            VerifiableConsumer => &tables::VERIFIABLE_CONSUMER,
        }
    }
}

/// A tool, and the newest release that has it under this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ToolName {
    pub(crate) tool: KafkaTool,
    pub(crate) newest: ToolRelease,
}

const LAST_0_8: ToolRelease = ToolRelease::of(0, 8, 2);
const LAST_0_9: ToolRelease = ToolRelease::of(0, 9, 0);
const LAST_0_11: ToolRelease = ToolRelease::of(0, 11, 0);
const LAST_1: ToolRelease = ToolRelease::of(1, 1, 1);
const LAST_3_4: ToolRelease = ToolRelease::of(3, 4, 1);
const NEWEST: ToolRelease = ToolRelease::NEWEST;

/// Scripts in `bin/`, without `.sh`.
#[rustfmt::skip]
const SCRIPTS: &[(&str, KafkaTool, ToolRelease)] = &[
    ("kafka-producer-perf-test", Producer, NEWEST),
    ("kafka-consumer-perf-test", Consumer, NEWEST),
    ("kafka-simple-consumer-perf-test", SimpleConsumer, LAST_0_11),
    ("kafka-e2e-latency", EndToEnd, NEWEST),
    ("kafka-topics", Topics, NEWEST),
    ("kafka-verifiable-producer", VerifiableProducer, NEWEST),
    ("kafka-verifiable-consumer", VerifiableConsumer, NEWEST),
];

/// Classes for `kafka-run-class`.
#[rustfmt::skip]
const CLASSES: &[(&str, KafkaTool, ToolRelease)] = &[
    ("org.apache.kafka.tools.ProducerPerformance", Producer, NEWEST),
    ("org.apache.kafka.clients.tools.ProducerPerformance", ProducerByPosition, LAST_0_8),
    ("kafka.tools.ProducerPerformance", OldProducer, LAST_1),
    ("kafka.perf.ProducerPerformance", OldProducer, LAST_0_8),
    ("org.apache.kafka.tools.ConsumerPerformance", Consumer, NEWEST),
    ("kafka.tools.ConsumerPerformance", Consumer, LAST_3_4),
    ("kafka.perf.ConsumerPerformance", Consumer, LAST_0_8),
    ("kafka.tools.SimpleConsumerPerformance", SimpleConsumer, LAST_0_11),
    ("kafka.perf.SimpleConsumerPerformance", SimpleConsumer, LAST_0_8),
    ("org.apache.kafka.tools.EndToEndLatency", EndToEnd, NEWEST),
    ("kafka.tools.EndToEndLatency", EndToEnd, LAST_3_4),
    ("kafka.tools.TestEndToEndLatency", EndToEnd, LAST_0_8),
    ("kafka.TestEndToEndLatency", EndToEnd, LAST_0_8),
    ("org.apache.kafka.tools.TopicCommand", Topics, NEWEST),
    ("kafka.admin.TopicCommand", Topics, LAST_3_4),
    ("org.apache.kafka.tools.VerifiableProducer", VerifiableProducer, NEWEST),
    ("org.apache.kafka.clients.tools.VerifiableProducer", VerifiableProducer, LAST_0_9),
    ("org.apache.kafka.tools.VerifiableConsumer", VerifiableConsumer, NEWEST),
];

/// The script that starts any class.
pub(crate) const RUN_CLASS: &str = "kafka-run-class";

/// A name without its folder and `.sh`.
pub(crate) fn bare(name: &str) -> &str {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.strip_suffix(".sh").unwrap_or(name)
}

/// The tool that a script starts.
pub(crate) fn script(name: &str) -> Option<ToolName> {
    find(SCRIPTS, bare(name))
}

/// The tool that a class is.
pub(crate) fn class(name: &str) -> Option<ToolName> {
    find(CLASSES, name)
}

fn find(list: &[(&str, KafkaTool, ToolRelease)], name: &str) -> Option<ToolName> {
    let found = list.iter().find(|(known, ..)| *known == name);
    found.map(|&(_, tool, newest)| ToolName { tool, newest })
}

/// All classes that kgauge knows.
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
            assert_eq!(script(name).unwrap().tool, Topics, "{name}");
        }
        assert_eq!(script("kgauge"), None);
        assert_eq!(script("kafka-configs.sh"), None);
    }

    #[test]
    fn a_removed_class_prints_as_its_last_release_did() {
        let named = class("org.apache.kafka.clients.tools.ProducerPerformance").unwrap();
        assert_eq!((named.tool, named.newest), (ProducerByPosition, LAST_0_8));
        let named = class("org.apache.kafka.tools.ProducerPerformance").unwrap();
        assert_eq!(named.newest, ToolRelease::NEWEST);
    }
}
