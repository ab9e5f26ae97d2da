//! The keys of records: sizes, keys, headers, compressibility, files.

use super::KeyDefault::{Default, Optional, Required};
use super::{RefusedKeys, ScenarioKeys, ValueKind, key};

pub(crate) static RECORD: ScenarioKeys = ScenarioKeys {
    name: "Record",
    keys: &[
        key(
            "size",
            ValueKind::SizeOr(&SIZE),
            Optional("required without `file`"),
            "Size of the value, or how sizes differ. No default: every figure depends on it. Every \
             value is different, so that compression cannot flatter.",
        ),
        key(
            "key",
            ValueKind::Either(&["none"], &KEY),
            Default("none"),
            "Which keys there are and how they are chosen. With a key, Kafka's partitioner sends a \
             record where the key's hash says.",
        ),
        key(
            "headers",
            ValueKind::Map(&HEADERS),
            Optional("no headers"),
            "Headers of each record. They need Kafka 0.11.",
        ),
        key(
            "null-values",
            ValueKind::Part,
            Default("0"),
            "The part of the records whose value is null: tombstones, to a compacted topic.",
        ),
        key(
            "compressibility",
            ValueKind::Number,
            Optional("values are random: no codec shrinks them"),
            "By how much `compression.type` shrinks full batches: 4 is to a quarter. Before the \
             run kgauge finds, with the flow's own codec, level and records, how much of the \
             values has to repeat; the report says what came out.",
        ),
        key(
            "content",
            ValueKind::Choice(&["random", "letters"]),
            Default("random"),
            "What values are made of: random bytes, or random letters A to Z as Kafka's own tools send \
             since 3.0, which a codec that counts letters shrinks to about 60 %.",
        ),
        key(
            "file",
            ValueKind::FileOr(&RECORD_FILE),
            Optional("values are made"),
            "Values come from this file, one a line, in order, and from the start again: as they \
             stand there, so that they repeat if the file does.",
        ),
    ],
    refused: &[
        RefusedKeys {
            names: &["keys", "cardinality"],
            why: "it belongs to the key: `key: {uniform: {keys: 10k}}`",
        },
        RefusedKeys {
            names: &["distribution"],
            why: "it belongs to the size: `size: {uniform: {from: 100 B, to: 1 kB}}`",
        },
        RefusedKeys {
            names: &["value"],
            why: "a value is described by `size`, `compressibility` and `null-values`, or by `file`",
        },
    ],
};

/// Sizes that differ: one of these.
pub(crate) static SIZE: ScenarioKeys = ScenarioKeys {
    name: "Size",
    keys: &[
        key(
            "uniform",
            ValueKind::Map(&SIZE_UNIFORM),
            Optional(""),
            "Each size of a range is as likely as the others.",
        ),
        key(
            "normal",
            ValueKind::Map(&SIZE_NORMAL),
            Optional(""),
            "The normal distribution.",
        ),
        key(
            "lognormal",
            ValueKind::Map(&SIZE_LOGNORMAL),
            Optional(""),
            "Many small ones and few large ones, as messages of applications often are.",
        ),
        key(
            "weighted",
            ValueKind::List(&SIZE_WEIGHTED),
            Optional(""),
            "Some sizes, each as often as its weight says.",
        ),
    ],
    refused: &[],
};

pub(crate) static SIZE_UNIFORM: ScenarioKeys = ScenarioKeys {
    name: "Uniform sizes",
    keys: &[
        key("from", ValueKind::Size, Required, "The smallest."),
        key("to", ValueKind::Size, Required, "The largest."),
    ],
    refused: &[],
};

pub(crate) static SIZE_NORMAL: ScenarioKeys = ScenarioKeys {
    name: "Normal sizes",
    keys: &[
        key("mean", ValueKind::Size, Required, "The mean."),
        key(
            "deviation",
            ValueKind::Size,
            Required,
            "The standard deviation.",
        ),
        key(
            "from",
            ValueKind::Size,
            Default("1 B"),
            "Smaller ones are brought up to this.",
        ),
        key(
            "to",
            ValueKind::Size,
            Optional("mean + 4 deviations"),
            "Larger ones are brought down to this.",
        ),
    ],
    refused: &[],
};

pub(crate) static SIZE_LOGNORMAL: ScenarioKeys = ScenarioKeys {
    name: "Lognormal sizes",
    keys: &[
        key("median", ValueKind::Size, Required, "Half are smaller."),
        key(
            "p99",
            ValueKind::Size,
            Required,
            "One in a hundred is larger.",
        ),
        key(
            "from",
            ValueKind::Size,
            Default("1 B"),
            "Smaller ones are brought up to this.",
        ),
        key(
            "to",
            ValueKind::Size,
            Optional("10 x `p99`"),
            "Larger ones are brought down to this.",
        ),
    ],
    refused: &[],
};

pub(crate) static SIZE_WEIGHTED: ScenarioKeys = ScenarioKeys {
    name: "Weighted sizes",
    keys: &[
        key("size", ValueKind::Size, Required, "The size."),
        key(
            "weight",
            ValueKind::Number,
            Default("1"),
            "How often, against the weights of the others.",
        ),
    ],
    refused: &[],
};

/// Keys: one of these.
pub(crate) static KEY: ScenarioKeys = ScenarioKeys {
    name: "Key",
    keys: &[
        key(
            "uniform",
            ValueKind::Map(&KEY_UNIFORM),
            Optional(""),
            "Each key is as likely as the others.",
        ),
        key(
            "zipf",
            ValueKind::Map(&KEY_ZIPF),
            Optional(""),
            "Few keys are hot and many are cold: the k-th is chosen in proportion to 1 / k^exponent.",
        ),
        key(
            "sequence",
            ValueKind::Map(&KEY_SEQUENCE),
            Optional(""),
            "One after the other, and from the start again.",
        ),
    ],
    refused: &[],
};

pub(crate) static KEY_UNIFORM: ScenarioKeys = ScenarioKeys {
    name: "Uniform keys",
    keys: &[KEYS, KEY_SIZE],
    refused: &[],
};

pub(crate) static KEY_ZIPF: ScenarioKeys = ScenarioKeys {
    name: "Zipf keys",
    keys: &[
        KEYS,
        KEY_SIZE,
        key(
            "exponent",
            ValueKind::Number,
            Default("0.99"),
            "0.01 to 10. The more, the hotter the first ones. 0.99 is what YCSB made usual.",
        ),
    ],
    refused: &[],
};

pub(crate) static KEY_SEQUENCE: ScenarioKeys = ScenarioKeys {
    name: "Sequence of keys",
    keys: &[
        key(
            "keys",
            ValueKind::Count,
            Optional("every record has its own"),
            "How many there are.",
        ),
        KEY_SIZE,
    ],
    refused: &[],
};

const KEYS: super::KeyDefinition = key("keys", ValueKind::Count, Required, "How many there are.");

const KEY_SIZE: super::KeyDefinition = key(
    "size",
    ValueKind::Size,
    Default("16 B"),
    "Size of each: its number in hexadecimal digits, so that n bytes tell 16^n keys apart.",
);

pub(crate) static HEADERS: ScenarioKeys = ScenarioKeys {
    name: "Headers",
    keys: &[
        key(
            "count",
            ValueKind::Count,
            Default("1"),
            "How many each record has, at most 32.",
        ),
        key(
            "key-size",
            ValueKind::Size,
            Default("8 B"),
            "Size of each header's key.",
        ),
        key(
            "value-size",
            ValueKind::Size,
            Default("16 B"),
            "Size of each header's value. It differs from record to record.",
        ),
    ],
    refused: &[],
};

pub(crate) static RECORD_FILE: ScenarioKeys = ScenarioKeys {
    name: "File of records",
    keys: &[
        key(
            "path",
            ValueKind::File,
            Required,
            "Where it is, from the scenario's folder.",
        ),
        key(
            "delimiter",
            ValueKind::Text,
            Optional("a line's end"),
            "What ends a record. `\"\\n\"` and the like are YAML's, in double quotes.",
        ),
        key(
            "order",
            ValueKind::Choice(&["sequence", "random"]),
            Default("sequence"),
            "One after the other, and from the start again; or each time any of them.",
        ),
    ],
    refused: &[],
};
