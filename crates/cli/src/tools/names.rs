//! Under which names the tools of every release were started: scripts, links to them, Java classes.

use super::release::Release;

/// One of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
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
pub(crate) struct Named {
    pub(crate) tool: Tool,
    pub(crate) newest: Release,
}

const LAST_0_8: Release = Release::of(0, 8, 2);
const LAST_0_11: Release = Release::of(0, 11, 0);
const LAST_1: Release = Release::of(1, 1, 1);
const LAST_3_4: Release = Release::of(3, 4, 1);
const NEWEST: Release = Release::NEWEST;

/// Scripts below `bin/`, without `.sh`.
const SCRIPTS: &[(&str, Tool, Release)] = &[
    ("kafka-producer-perf-test", Tool::Producer, NEWEST),
    ("kafka-consumer-perf-test", Tool::Consumer, NEWEST),
    (
        "kafka-simple-consumer-perf-test",
        Tool::SimpleConsumer,
        LAST_0_11,
    ),
    ("kafka-e2e-latency", Tool::EndToEnd, NEWEST),
    ("kafka-topics", Tool::Topics, NEWEST),
    (
        "kafka-verifiable-producer",
        Tool::VerifiableProducer,
        NEWEST,
    ),
    (
        "kafka-verifiable-consumer",
        Tool::VerifiableConsumer,
        NEWEST,
    ),
];

/// Classes for `kafka-run-class`.
const CLASSES: &[(&str, Tool, Release)] = &[
    (
        "org.apache.kafka.tools.ProducerPerformance",
        Tool::Producer,
        NEWEST,
    ),
    (
        "org.apache.kafka.clients.tools.ProducerPerformance",
        Tool::ProducerByPosition,
        LAST_0_8,
    ),
    ("kafka.tools.ProducerPerformance", Tool::OldProducer, LAST_1),
    (
        "kafka.perf.ProducerPerformance",
        Tool::OldProducer,
        LAST_0_8,
    ),
    (
        "org.apache.kafka.tools.ConsumerPerformance",
        Tool::Consumer,
        NEWEST,
    ),
    ("kafka.tools.ConsumerPerformance", Tool::Consumer, LAST_3_4),
    ("kafka.perf.ConsumerPerformance", Tool::Consumer, LAST_0_8),
    (
        "kafka.tools.SimpleConsumerPerformance",
        Tool::SimpleConsumer,
        LAST_0_11,
    ),
    (
        "kafka.perf.SimpleConsumerPerformance",
        Tool::SimpleConsumer,
        LAST_0_8,
    ),
    (
        "org.apache.kafka.tools.EndToEndLatency",
        Tool::EndToEnd,
        NEWEST,
    ),
    ("kafka.tools.EndToEndLatency", Tool::EndToEnd, LAST_3_4),
    ("kafka.tools.TestEndToEndLatency", Tool::EndToEnd, LAST_0_8),
    ("kafka.TestEndToEndLatency", Tool::EndToEnd, LAST_0_8),
    ("org.apache.kafka.tools.TopicCommand", Tool::Topics, NEWEST),
    ("kafka.admin.TopicCommand", Tool::Topics, LAST_3_4),
    (
        "org.apache.kafka.tools.VerifiableProducer",
        Tool::VerifiableProducer,
        NEWEST,
    ),
    (
        "org.apache.kafka.clients.tools.VerifiableProducer",
        Tool::VerifiableProducer,
        Release::of(0, 9, 0),
    ),
    (
        "org.apache.kafka.tools.VerifiableConsumer",
        Tool::VerifiableConsumer,
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
pub(crate) fn script(name: &str) -> Option<Named> {
    find(SCRIPTS, bare(name))
}

/// The tool behind a class's name.
pub(crate) fn class(name: &str) -> Option<Named> {
    find(CLASSES, name)
}

fn find(list: &[(&str, Tool, Release)], name: &str) -> Option<Named> {
    let found = list.iter().find(|(known, ..)| *known == name);
    found.map(|&(_, tool, newest)| Named { tool, newest })
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
            assert_eq!(script(name).unwrap().tool, Tool::Topics, "{name}");
        }
        assert_eq!(script("kgauge"), None);
        assert_eq!(script("kafka-configs.sh"), None);
    }

    #[test]
    fn a_class_that_is_gone_speaks_as_its_last_release_did() {
        let named = class("org.apache.kafka.clients.tools.ProducerPerformance").unwrap();
        assert_eq!(named.tool, Tool::ProducerByPosition);
        assert_eq!(named.newest, LAST_0_8);
        let named = class("org.apache.kafka.tools.ProducerPerformance").unwrap();
        assert_eq!(named.newest, Release::NEWEST);
    }
}
