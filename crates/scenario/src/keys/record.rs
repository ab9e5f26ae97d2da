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
            "Size of the value, or a distribution of sizes. No default: every figure depends on \
             it. All values differ, so that compression results stay realistic.",
        ),
        key(
            "key",
            ValueKind::Either(&["none"], &KEY),
            Default("none"),
            "The set of keys and how they are chosen. With a key, Kafka's partitioner chooses the \
             partition from the key's hash.",
        ),
        key(
            "headers",
            ValueKind::Map(&HEADERS),
            Optional("no headers"),
            "Headers of each record. Needs Kafka 0.11.",
        ),
        key(
            "null-values",
            ValueKind::Part,
            Default("0"),
            "The share of records with a null value: tombstones in a compacted topic.",
        ),
        key(
            "compressibility",
            ValueKind::Number,
            Optional("random values, which no codec shrinks"),
            "The factor by which `compression.type` shrinks full batches: 4 means to a quarter. \
             Before the run kgauge finds the necessary repetition in values, using the flow's \
             codec, level and records. The report shows the actual factor.",
        ),
        key(
            "content",
            ValueKind::Choice(&["random", "letters"]),
            Default("random"),
            "The bytes of values: random bytes, or random letters A to Z as in Kafka's own tools \
             since 3.0. Entropy coding shrinks letters to about 60 %.",
        ),
        key(
            "file",
            ValueKind::FileOr(&RECORD_FILE),
            Optional("generated values"),
            "A file with one value per line, used unchanged and in order, then from the start \
             again. Compression profits if the file repeats.",
        ),
    ],
    refused: &[
        RefusedKeys {
            names: &["keys", "cardinality"],
            why: "it is part of the key: `key: {uniform: {keys: 10k}}`",
        },
        RefusedKeys {
            names: &["distribution"],
            why: "it is part of the size: `size: {uniform: {from: 100 B, to: 1 kB}}`",
        },
        RefusedKeys {
            names: &["value"],
            why: "`size`, `compressibility` and `null-values` describe values, or `file` provides \
                them",
        },
    ],
};

/// Distributions of sizes: one of these keys.
pub(crate) static SIZE: ScenarioKeys = ScenarioKeys {
    name: "Size",
    keys: &[
        key(
            "uniform",
            ValueKind::Map(&SIZE_UNIFORM),
            Optional(""),
            "All sizes of a range are equally likely.",
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
            "Many small and few large sizes, as is common in applications.",
        ),
        key(
            "weighted",
            ValueKind::List(&SIZE_WEIGHTED),
            Optional(""),
            "A list of sizes with weights.",
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
            "Smaller sizes are raised to this.",
        ),
        key(
            "to",
            ValueKind::Size,
            Optional("mean + 4 deviations"),
            "Larger sizes are lowered to this.",
        ),
    ],
    refused: &[],
};

pub(crate) static SIZE_LOGNORMAL: ScenarioKeys = ScenarioKeys {
    name: "Lognormal sizes",
    keys: &[
        key(
            "median",
            ValueKind::Size,
            Required,
            "The median: half are smaller.",
        ),
        key(
            "p99",
            ValueKind::Size,
            Required,
            "The 99th percentile: 1 % are larger.",
        ),
        key(
            "from",
            ValueKind::Size,
            Default("1 B"),
            "Smaller sizes are raised to this.",
        ),
        key(
            "to",
            ValueKind::Size,
            Optional("10 x `p99`"),
            "Larger sizes are lowered to this.",
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
            "The frequency relative to the other weights.",
        ),
    ],
    refused: &[],
};

/// Distributions of keys: one of these keys.
pub(crate) static KEY: ScenarioKeys = ScenarioKeys {
    name: "Key",
    keys: &[
        key(
            "uniform",
            ValueKind::Map(&KEY_UNIFORM),
            Optional(""),
            "All keys are equally likely.",
        ),
        key(
            "zipf",
            ValueKind::Map(&KEY_ZIPF),
            Optional(""),
            "Few hot and many cold keys: key k is chosen in proportion to 1 / k^exponent.",
        ),
        key(
            "sequence",
            ValueKind::Map(&KEY_SEQUENCE),
            Optional(""),
            "Keys in order, then from the start again.",
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
            "0.01 to 10. Higher values make the first keys hotter. 0.99 is the default of YCSB.",
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
            Optional("a new key per record"),
            "The number of keys.",
        ),
        KEY_SIZE,
    ],
    refused: &[],
};

const KEYS: super::KeyDefinition = key("keys", ValueKind::Count, Required, "The number of keys.");

const KEY_SIZE: super::KeyDefinition = key(
    "size",
    ValueKind::Size,
    Default("16 B"),
    "Size of each key, which is its number in hexadecimal: n bytes distinguish 16^n keys.",
);

pub(crate) static HEADERS: ScenarioKeys = ScenarioKeys {
    name: "Headers",
    keys: &[
        key(
            "count",
            ValueKind::Count,
            Default("1"),
            "Headers per record, at most 32.",
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
            "Size of each header's value. Values differ between records.",
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
            "The path, relative to the scenario's folder.",
        ),
        key(
            "delimiter",
            ValueKind::Text,
            Optional("end of line"),
            "The record separator. YAML needs double quotes for escapes such as `\"\\n\"`.",
        ),
        key(
            "order",
            ValueKind::Choice(&["sequence", "random"]),
            Default("sequence"),
            "In order, then from the start again; or at random.",
        ),
    ],
    refused: &[],
};
