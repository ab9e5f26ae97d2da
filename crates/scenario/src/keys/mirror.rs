//! Keys of a second cluster and the replicator that copies to it.

use super::KeyDefault::{Default, Empty};
use super::{RefusedKeys, ScenarioKeys, ValueKind, key};

/// The supported replicators.
pub(crate) const REPLICATORS: &[&str] = &["mirror-maker-2", "none"];

pub(crate) static MIRROR: ScenarioKeys = ScenarioKeys {
    name: "Mirror",
    keys: &[
        key(
            "brokers",
            ValueKind::Count,
            Default("1"),
            "The number of brokers, if kgauge starts the destination. `--destination` selects an \
             existing cluster; without it kgauge starts one like the target.",
        ),
        key(
            "replicator",
            ValueKind::Choice(REPLICATORS),
            Default("mirror-maker-2"),
            "MirrorMaker 2 of Apache Kafka 4.3.1, which kgauge fetches and starts. With `none` you \
             run your own replicator, which must copy topics whose names begin with `kgauge-`.",
        ),
        key(
            "topic",
            ValueKind::Text,
            Default("source.{topic}"),
            "The name of the copied topic; `{topic}` is replaced by the source topic's name.",
        ),
        key(
            "settings",
            ValueKind::MirrorSettings,
            Empty,
            "MirrorMaker 2 properties, such as `{tasks.max: 4}`, named as in its properties file.",
        ),
    ],
    refused: &[RefusedKeys {
        names: &["bootstrap.servers", "address", "host", "hosts"],
        why: "`--destination` selects the cluster of the copy",
    }],
};
