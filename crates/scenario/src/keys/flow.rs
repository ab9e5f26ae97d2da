//! The keys of flows: produce, consume and echo.

use super::KeyDefault::{Default, Empty, Optional, Required};
use super::record::RECORD;
use super::settings::{CONSUMER_SETTINGS, PRODUCER_SETTINGS};
use super::{KeyDefinition, RefusedKeys, ScenarioKeys, ValueKind, key};

const NAME: KeyDefinition = key(
    "name",
    ValueKind::Name,
    Required,
    "Unique in the scenario; the first part of paths and figures (`writers.throughput`).",
);

const KIND: KeyDefinition = key(
    "kind",
    ValueKind::Choice(&["produce", "consume", "echo"]),
    Required,
    "`produce` writes, `consume` reads, `echo` writes and reads the same records back.",
);

const PRODUCERS: KeyDefinition = key(
    "producers",
    ValueKind::Count,
    Default("1"),
    "Number of producers, each with its own buffer and connections, like separate applications.",
);

const SHAPE_KEY: KeyDefinition = key(
    "shape",
    ValueKind::Shape,
    Required,
    "The rate of the whole flow over time. No default: the meaning of a latency depends on whether \
     the loop is closed (`max`) or open.",
);

const ARRIVALS: KeyDefinition = key(
    "arrivals",
    ValueKind::Choice(&["even", "poisson"]),
    Default("even"),
    "How records are spaced around the shape's rate: `even`, or `poisson` (independently, as from \
     many sources). `shape: {poisson: RATE}` implies `poisson`.",
);

const RECORDS: KeyDefinition = key(
    "records",
    ValueKind::CountOrVolume,
    Optional("until the stage ends"),
    "The total number of records of all producers in the hold. A size is divided by the record \
     size.",
);

const RECORD_KEY: KeyDefinition = key(
    "record",
    ValueKind::Map(&RECORD),
    Required,
    "The contents of each record.",
);

const SETTINGS: KeyDefinition = key(
    "settings",
    ValueKind::Map(&PRODUCER_SETTINGS),
    Empty,
    "Producer settings, by their Kafka names.",
);

const SKIP_AFTER: KeyDefinition = key(
    "skip-after",
    ValueKind::Time,
    Default("30 s"),
    "Records delayed by more than this are skipped, and counted as skipped. 30 s is longer than a \
     broker restart and short enough that a run ends. Has no effect with `shape: max`.",
);

pub(crate) static PRODUCE: ScenarioKeys = ScenarioKeys {
    name: "Produce flow",
    keys: &[
        NAME,
        KIND,
        PRODUCERS,
        key(
            "driver",
            ValueKind::Either(&["kgauge", "java", "librdkafka"], &DRIVER),
            Default("kgauge"),
            "The client that sends: kgauge's own engine, Kafka's Java client, or librdkafka. Each \
             producer of the last two runs in a separate process and gets the same records at the \
             same times. `java` is kafka-clients 4.3.1.",
        ),
        SHAPE_KEY,
        ARRIVALS,
        RECORDS,
        RECORD_KEY,
        SETTINGS,
        TRANSACTION,
        SKIP_AFTER,
    ],
    refused: &[
        RefusedKeys {
            names: &["consumers", "from", "partitions"],
            why: "it is a key of consume flows",
        },
        RefusedKeys {
            names: &["topic"],
            why: "not supported yet",
        },
    ],
};

/// Another release of the Java client.
pub(crate) static DRIVER: ScenarioKeys = ScenarioKeys {
    name: "Driver",
    keys: &[key(
        "java",
        ValueKind::Text,
        Optional(""),
        "The kafka-clients release of Kafka's Java client, 1.0.0 or newer.",
    )],
    refused: &[],
};

pub(crate) static CONSUME: ScenarioKeys = ScenarioKeys {
    name: "Consume flow",
    keys: &[
        NAME,
        KIND,
        key(
            "consumers",
            ValueKind::Count,
            Default("1"),
            "Number of consumers, each with its own connections, like separate applications.",
        ),
        key(
            "partitions",
            ValueKind::Choice(&["split", "all"]),
            Default("split"),
            "`split` divides the partitions among the consumers, as in one group. With `all`, \
             every consumer reads every partition, like consumers in separate groups.",
        ),
        key(
            "group",
            ValueKind::FlagOrName,
            Default("false"),
            "`true` makes the consumers members of one consumer group, which assigns the \
             partitions as for Kafka's own consumers. A name replaces the flow's name at the end \
             of the `group.id`. kgauge puts the run's id before it and deletes the group at the \
             end. Measurement starts once all members have joined. Needs Kafka 0.9.",
        ),
        key(
            "groups",
            ValueKind::Count,
            Default("1"),
            "With `group`: the number of groups, each with `consumers` members. Each group reads \
             the whole topic, like several applications. Their figures are added.",
        ),
        key(
            "from",
            ValueKind::Either(&["earliest", "latest"], &FROM),
            Default("earliest"),
            "Where reading starts; in a group, only if no offset is committed (Kafka's \
             `auto.offset.reset`). `earliest` misses nothing. If an offset or a time does not \
             exist, reading starts at the nearer end.",
        ),
        key(
            "records",
            ValueKind::CountOrAll,
            Optional("until the stage ends"),
            "`all` ends the flow at the end offsets that the topic had when the flow started. A \
             count is the total number of records of all consumers.",
        ),
        key(
            "settings",
            ValueKind::Map(&CONSUMER_SETTINGS),
            Empty,
            "Consumer settings, by their Kafka names.",
        ),
    ],
    refused: &[
        RefusedKeys {
            names: &["producers", "shape", "record", "skip-after"],
            why: "it is a key of produce flows",
        },
        RefusedKeys {
            names: &["topic", "driver", "drivers"],
            why: "not supported yet",
        },
        RefusedKeys {
            names: &["lag"],
            why: "it is a result, not a setting: the report shows the lag of each flow",
        },
    ],
};

/// Length of transactions.
const TRANSACTION: KeyDefinition = key(
    "transaction",
    ValueKind::CountOrTime,
    Optional("no transactions"),
    "Length of each producer's transactions, in records or as a time. At the end of each \
     transaction the producer flushes, waits for acks and commits, like `commitTransaction`. Needs \
     `acks: all`, idempotence and Kafka 0.11; the embedded cluster does not support transactions.",
);

pub(crate) static ECHO: ScenarioKeys = ScenarioKeys {
    name: "Echo flow",
    keys: &[
        NAME,
        KIND,
        PRODUCERS,
        key(
            "consumers",
            ValueKind::Count,
            Default("1"),
            "Number of consumers that read back, each with its own connections. The partitions are \
             divided among them, as in one group.",
        ),
        SHAPE_KEY,
        ARRIVALS,
        RECORDS,
        RECORD_KEY,
        SETTINGS,
        TRANSACTION,
        key(
            "consumer-settings",
            ValueKind::Map(&CONSUMER_SETTINGS),
            Empty,
            "Consumer settings, by their Kafka names, except those of groups. With `transaction`, \
             `isolation.level: read_committed` is required.",
        ),
        SKIP_AFTER,
    ],
    refused: &[
        RefusedKeys {
            names: &["from", "partitions", "group", "groups"],
            why: "an echo flow reads back its own records, from all partitions",
        },
        RefusedKeys {
            names: &["topic", "drivers", "driver"],
            why: "not supported yet",
        },
    ],
};

/// Where reading starts, other than at an end: one of these keys.
pub(crate) static FROM: ScenarioKeys = ScenarioKeys {
    name: "From",
    keys: &[
        key(
            "offset",
            ValueKind::Count,
            Optional(""),
            "This offset in every partition.",
        ),
        key(
            "time",
            ValueKind::Text,
            Optional(""),
            "The first record at or after this time: `2026-01-31T08:00:00Z`, or milliseconds since \
             1970. Needs Kafka 0.10.1.",
        ),
        key(
            "ago",
            ValueKind::Time,
            Optional(""),
            "The first record that is at most this old when the flow starts. Needs Kafka 0.10.1.",
        ),
    ],
    refused: &[],
};
