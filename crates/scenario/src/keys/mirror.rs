//! Keys of a second cluster and of what copies to it.

use super::KeyDefault::{Default, Empty};
use super::{RefusedKeys, ScenarioKeys, ValueKind, key};

/// What can copy.
pub(crate) const REPLICATORS: &[&str] = &["mirror-maker-2", "none"];

pub(crate) static MIRROR: ScenarioKeys = ScenarioKeys {
    name: "Mirror",
    keys: &[
        key(
            "brokers",
            ValueKind::Count,
            Default("1"),
            "The destination gets so many brokers if kgauge starts it. Which cluster it is, \
             `--destination` says; without it kgauge starts one like the target.",
        ),
        key(
            "replicator",
            ValueKind::Choice(REPLICATORS),
            Default("mirror-maker-2"),
            "What copies: the MirrorMaker 2 of Apache Kafka 4.3.1, which kgauge fetches and starts, \
             or `none`: you run your own, and it takes topics whose names begin with `kgauge-`.",
        ),
        key(
            "topic",
            ValueKind::Text,
            Default("source.{topic}"),
            "What the replicator calls the copy; `{topic}` stands for the topic's name.",
        ),
        key(
            "settings",
            ValueKind::MirrorSettings,
            Empty,
            "Properties of MirrorMaker 2, such as `{tasks.max: 4}`, as in its file.",
        ),
    ],
    refused: &[RefusedKeys {
        names: &["bootstrap.servers", "address", "host", "hosts"],
        why: "which cluster the copy is on, `--destination` says",
    }],
};
