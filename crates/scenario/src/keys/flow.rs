//! The keys of flows: what produces, what consumes, what does both.

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
    "How many, each with its own buffer and connections, as separate applications have.",
);

const SHAPE_KEY: KeyDefinition = key(
    "shape",
    ValueKind::Shape,
    Required,
    "The rate of the whole flow over time. No default: whether the loop is closed (`max`) \
     or open decides what a latency means.",
);

const ARRIVALS: KeyDefinition = key(
    "arrivals",
    ValueKind::Choice(&["even", "poisson"]),
    Default("even"),
    "How records come around the shape's rate: `even` as soon as it has earned them, \
     `poisson` independently of each other, as many sources make them. With \
     `shape: {poisson: RATE}` it goes without saying.",
);

const RECORDS: KeyDefinition = key(
    "records",
    ValueKind::CountOrVolume,
    Optional("until the stage ends"),
    "The flow ends its hold after so many records, all producers together. A size is \
     divided by the size of a record.",
);

const RECORD_KEY: KeyDefinition = key(
    "record",
    ValueKind::Map(&RECORD),
    Required,
    "What each record looks like.",
);

const SETTINGS: KeyDefinition = key(
    "settings",
    ValueKind::Map(&PRODUCER_SETTINGS),
    Empty,
    "Producer settings by Kafka's own names.",
);

const SKIP_AFTER: KeyDefinition = key(
    "skip-after",
    ValueKind::Time,
    Default("30 s"),
    "A record that is later than this when it could be sent is skipped and counted. \
     30 s is longer than a broker's restart, and short enough that a run ends. \
     Says nothing with `shape: max`.",
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
            "The client that sends: kgauge's own engine, Kafka's Java client, or librdkafka, each \
             producer in a process of its own, fed the same records at the same times. `java` is \
             kafka-clients 4.3.1.",
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
            why: "belongs to consume flows",
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
        "Kafka's Java client of this release of kafka-clients, 1.0.0 or newer.",
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
            "How many, each with its own connections, as separate applications have.",
        ),
        key(
            "partitions",
            ValueKind::Choice(&["split", "all"]),
            Default("split"),
            "`split` deals the partitions out, as to the members of one group; `all` lets every \
             consumer read everything, as groups of their own do.",
        ),
        key(
            "group",
            ValueKind::FlagOrName,
            Default("false"),
            "`true` makes the consumers members of one consumer group: its coordinator finds out who \
             is there, and they share the partitions out as Kafka's own consumers do. A name says \
             what the `group.id` ends with, in place of the flow's name; kgauge puts the run's id \
             before it and deletes the group in the end. All have joined before time begins to \
             count. Needs Kafka 0.9.",
        ),
        key(
            "groups",
            ValueKind::Count,
            Default("1"),
            "With `group`: so many groups, each with so many `consumers`, each reading the whole \
             topic, as several applications do. Their figures are added.",
        ),
        key(
            "from",
            ValueKind::Either(&["earliest", "latest"], &FROM),
            Default("earliest"),
            "Where reading starts; in a group, where no offset is committed (Kafka's \
             `auto.offset.reset`). `earliest` misses nothing; an offset or a time that is not there \
             is brought to the nearer end.",
        ),
        key(
            "records",
            ValueKind::CountOrAll,
            Optional("until the stage ends"),
            "`all` ends the flow at the end offsets that the topic had when the flow started; a \
             count ends it after so many records, all consumers together.",
        ),
        key(
            "settings",
            ValueKind::Map(&CONSUMER_SETTINGS),
            Empty,
            "Consumer settings by Kafka's own names.",
        ),
    ],
    refused: &[
        RefusedKeys {
            names: &["producers", "shape", "record", "skip-after"],
            why: "belongs to produce flows",
        },
        RefusedKeys {
            names: &["topic", "driver", "drivers"],
            why: "not supported yet",
        },
        RefusedKeys {
            names: &["lag"],
            why: "it is measured, not set: the report says how far each flow was behind",
        },
    ],
};

/// How long transactions are.
const TRANSACTION: KeyDefinition = key(
    "transaction",
    ValueKind::CountOrTime,
    Optional("no transactions"),
    "How long each transaction of each producer is: so many records, or so long a time. In its end the \
     producer sends what it has, waits for the answers, and commits before it takes the next record, as \
     `commitTransaction` does. Needs `acks: all`, idempotence and Kafka 0.11; the embedded cluster has \
     none.",
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
            "How many read back, each with its own connections. The partitions are dealt out among \
             them, as to the members of one group.",
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
            "Consumer settings by Kafka's own names, but for those of groups. With `transaction` the \
             readers have to write `isolation.level: read_committed`.",
        ),
        SKIP_AFTER,
    ],
    refused: &[
        RefusedKeys {
            names: &["from", "partitions", "group", "groups"],
            why: "an echo flow reads back what it writes itself, from all partitions",
        },
        RefusedKeys {
            names: &["topic", "drivers", "driver"],
            why: "not supported yet",
        },
    ],
};

/// Where reading starts, if not at an end: one of these.
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
            "The first record that is at most so old when the flow starts. Needs Kafka 0.10.1.",
        ),
    ],
    refused: &[],
};
