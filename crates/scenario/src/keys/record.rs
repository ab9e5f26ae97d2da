//! The keys of records: sizes, keys, headers, compressibility, files.

use super::Given::{Default, Optional, Required};
use super::{Kind, Refusal, Table, key};

pub(crate) static RECORD: Table = Table {
    name: "Record",
    keys: &[
        key(
            "size",
            Kind::SizeOr(&SIZE),
            Optional("required without `file`"),
            "Size of the value, or how sizes differ. No default: every figure depends on it. Every \
             value is different, so that compression cannot flatter.",
        ),
        key(
            "key",
            Kind::Either(&["none"], &KEY),
            Default("none"),
            "Which keys there are and how they are chosen. With a key, Kafka's partitioner sends a \
             record where the key's hash says.",
        ),
        key(
            "headers",
            Kind::Map(&HEADERS),
            Optional("no headers"),
            "Headers of each record. They need Kafka 0.11.",
        ),
        key(
            "null-values",
            Kind::Part,
            Default("0"),
            "The part of the records whose value is null: tombstones, to a compacted topic.",
        ),
        key(
            "compressibility",
            Kind::Number,
            Optional("values are random: no codec shrinks them"),
            "By how much `compression.type` shrinks full batches: 4 is to a quarter. Before the \
             run kgauge finds, with the flow's own codec, level and records, how much of the \
             values has to repeat; the report says what came out.",
        ),
        key(
            "content",
            Kind::Choice(&["random", "letters"]),
            Default("random"),
            "What values are made of: random bytes, or random letters A to Z as Kafka's own tools send \
             since 3.0, which a codec that counts letters shrinks to about 60 %.",
        ),
        key(
            "file",
            Kind::FileOr(&RECORD_FILE),
            Optional("values are made"),
            "Values come from this file, one a line, in order, and from the start again: as they \
             stand there, so that they repeat if the file does.",
        ),
    ],
    refused: &[
        Refusal {
            names: &["keys", "cardinality"],
            why: "it belongs to the key: `key: {uniform: {keys: 10k}}`",
        },
        Refusal {
            names: &["distribution"],
            why: "it belongs to the size: `size: {uniform: {from: 100 B, to: 1 kB}}`",
        },
        Refusal {
            names: &["value"],
            why: "a value is described by `size`, `compressibility` and `null-values`, or by `file`",
        },
    ],
};

/// Sizes that differ: one of these.
pub(crate) static SIZE: Table = Table {
    name: "Size",
    keys: &[
        key(
            "uniform",
            Kind::Map(&SIZE_UNIFORM),
            Optional(""),
            "Each size of a range is as likely as the others.",
        ),
        key(
            "normal",
            Kind::Map(&SIZE_NORMAL),
            Optional(""),
            "The normal distribution.",
        ),
        key(
            "lognormal",
            Kind::Map(&SIZE_LOGNORMAL),
            Optional(""),
            "Many small ones and few large ones, as messages of applications often are.",
        ),
        key(
            "weighted",
            Kind::List(&SIZE_WEIGHTED),
            Optional(""),
            "Some sizes, each as often as its weight says.",
        ),
    ],
    refused: &[],
};

pub(crate) static SIZE_UNIFORM: Table = Table {
    name: "Uniform sizes",
    keys: &[
        key("from", Kind::Size, Required, "The smallest."),
        key("to", Kind::Size, Required, "The largest."),
    ],
    refused: &[],
};

pub(crate) static SIZE_NORMAL: Table = Table {
    name: "Normal sizes",
    keys: &[
        key("mean", Kind::Size, Required, "The mean."),
        key("deviation", Kind::Size, Required, "The standard deviation."),
        key(
            "from",
            Kind::Size,
            Default("1 B"),
            "Smaller ones are brought up to this.",
        ),
        key(
            "to",
            Kind::Size,
            Optional("mean + 4 deviations"),
            "Larger ones are brought down to this.",
        ),
    ],
    refused: &[],
};

pub(crate) static SIZE_LOGNORMAL: Table = Table {
    name: "Lognormal sizes",
    keys: &[
        key("median", Kind::Size, Required, "Half are smaller."),
        key("p99", Kind::Size, Required, "One in a hundred is larger."),
        key(
            "from",
            Kind::Size,
            Default("1 B"),
            "Smaller ones are brought up to this.",
        ),
        key(
            "to",
            Kind::Size,
            Optional("10 x `p99`"),
            "Larger ones are brought down to this.",
        ),
    ],
    refused: &[],
};

pub(crate) static SIZE_WEIGHTED: Table = Table {
    name: "Weighted sizes",
    keys: &[
        key("size", Kind::Size, Required, "The size."),
        key(
            "weight",
            Kind::Number,
            Default("1"),
            "How often, against the weights of the others.",
        ),
    ],
    refused: &[],
};

/// Keys: one of these.
pub(crate) static KEY: Table = Table {
    name: "Key",
    keys: &[
        key(
            "uniform",
            Kind::Map(&KEY_UNIFORM),
            Optional(""),
            "Each key is as likely as the others.",
        ),
        key(
            "zipf",
            Kind::Map(&KEY_ZIPF),
            Optional(""),
            "Few keys are hot and many are cold: the k-th is chosen in proportion to 1 / k^exponent.",
        ),
        key(
            "sequence",
            Kind::Map(&KEY_SEQUENCE),
            Optional(""),
            "One after the other, and from the start again.",
        ),
    ],
    refused: &[],
};

pub(crate) static KEY_UNIFORM: Table = Table {
    name: "Uniform keys",
    keys: &[KEYS, KEY_SIZE],
    refused: &[],
};

pub(crate) static KEY_ZIPF: Table = Table {
    name: "Zipf keys",
    keys: &[
        KEYS,
        KEY_SIZE,
        key(
            "exponent",
            Kind::Number,
            Default("0.99"),
            "0.01 to 10. The more, the hotter the first ones. 0.99 is what YCSB made usual.",
        ),
    ],
    refused: &[],
};

pub(crate) static KEY_SEQUENCE: Table = Table {
    name: "Sequence of keys",
    keys: &[
        key(
            "keys",
            Kind::Count,
            Optional("every record has its own"),
            "How many there are.",
        ),
        KEY_SIZE,
    ],
    refused: &[],
};

const KEYS: super::Key = key("keys", Kind::Count, Required, "How many there are.");

const KEY_SIZE: super::Key = key(
    "size",
    Kind::Size,
    Default("16 B"),
    "Size of each: its number in hexadecimal digits, so that n bytes tell 16^n keys apart.",
);

pub(crate) static HEADERS: Table = Table {
    name: "Headers",
    keys: &[
        key(
            "count",
            Kind::Count,
            Default("1"),
            "How many each record has, at most 32.",
        ),
        key(
            "key-size",
            Kind::Size,
            Default("8 B"),
            "Size of each header's key.",
        ),
        key(
            "value-size",
            Kind::Size,
            Default("16 B"),
            "Size of each header's value. It differs from record to record.",
        ),
    ],
    refused: &[],
};

pub(crate) static RECORD_FILE: Table = Table {
    name: "File of records",
    keys: &[
        key(
            "path",
            Kind::File,
            Required,
            "Where it is, from the scenario's folder.",
        ),
        key(
            "delimiter",
            Kind::Text,
            Optional("a line's end"),
            "What ends a record. `\"\\n\"` and the like are YAML's, in double quotes.",
        ),
        key(
            "order",
            Kind::Choice(&["sequence", "random"]),
            Default("sequence"),
            "One after the other, and from the start again; or each time any of them.",
        ),
    ],
    refused: &[],
};
