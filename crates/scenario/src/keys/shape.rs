//! The keys of shapes: a flow's rate over time.

use super::KeyDefault::{Optional, Required};
use super::{ScenarioKeys, ValueKind, key};

/// The shapes written as a map with one key.
pub(crate) static SHAPE: ScenarioKeys = ScenarioKeys {
    name: "Shape",
    keys: &[
        key(
            "constant",
            ValueKind::Rate,
            Optional(""),
            "Equal gaps. Record n is due at exactly n / rate, however long the run is.",
        ),
        key(
            "poisson",
            ValueKind::Rate,
            Optional(""),
            "Independent, exponentially distributed gaps with this mean rate, as from many \
             independent sources. Equal seeds give equal gaps on every machine.",
        ),
        key(
            "ramp",
            ValueKind::Map(&RAMP),
            Optional(""),
            "A linear change from one rate to another.",
        ),
        key(
            "step",
            ValueKind::List(&STEP),
            Optional(""),
            "A sequence of rates. The last one continues.",
        ),
        key(
            "wave",
            ValueKind::Map(&WAVE),
            Optional(""),
            "A sine around a mean: a daily cycle, for instance. It starts at the mean, rising.",
        ),
        key(
            "burst",
            ValueKind::Map(&BURST),
            Optional(""),
            "A base rate, with a higher rate at the end of each period.",
        ),
        key(
            "replay",
            ValueKind::Map(&REPLAY),
            Optional(""),
            "A recording from a file. The flow ends with the file.",
        ),
    ],
    refused: &[],
};

pub(crate) static RAMP: ScenarioKeys = ScenarioKeys {
    name: "Ramp",
    keys: &[
        key(
            "from",
            ValueKind::Rate,
            Required,
            "The rate at the start, also in the warm-up. May be `0/s`.",
        ),
        key(
            "to",
            ValueKind::Rate,
            Required,
            "The rate at the end and afterwards. May be `0/s`.",
        ),
        key(
            "over",
            ValueKind::Time,
            Optional("the hold"),
            "The duration of the change.",
        ),
    ],
    refused: &[],
};

pub(crate) static STEP: ScenarioKeys = ScenarioKeys {
    name: "Step",
    keys: &[
        key(
            "rate",
            ValueKind::Rate,
            Required,
            "The rate; the first one is also used in the warm-up. May be `0/s`.",
        ),
        key("for", ValueKind::Time, Required, "The duration."),
    ],
    refused: &[],
};

pub(crate) static WAVE: ScenarioKeys = ScenarioKeys {
    name: "Wave",
    keys: &[
        key(
            "mean",
            ValueKind::Rate,
            Required,
            "The mean rate, also used in the warm-up.",
        ),
        key(
            "amplitude",
            ValueKind::Rate,
            Required,
            "The deviation from the mean in both directions; at most the mean.",
        ),
        key(
            "period",
            ValueKind::Time,
            Required,
            "The time from crest to crest.",
        ),
    ],
    refused: &[],
};

pub(crate) static BURST: ScenarioKeys = ScenarioKeys {
    name: "Burst",
    keys: &[
        key(
            "base",
            ValueKind::Rate,
            Required,
            "The rate between bursts, also in the warm-up. May be `0/s`.",
        ),
        key(
            "burst",
            ValueKind::Rate,
            Required,
            "The rate during a burst.",
        ),
        key(
            "every",
            ValueKind::Time,
            Required,
            "The time from the end of one burst to the end of the next.",
        ),
        key(
            "for",
            ValueKind::Time,
            Required,
            "The duration of a burst; less than `every`.",
        ),
    ],
    refused: &[],
};

pub(crate) static REPLAY: ScenarioKeys = ScenarioKeys {
    name: "Replay",
    keys: &[
        key(
            "times",
            ValueKind::File,
            Optional(""),
            "A file with the time of each record, one per line, in ascending order: `0.25` \
             (seconds) or `250 ms` after the start of the hold. Nothing is sent in the warm-up.",
        ),
        key(
            "rates",
            ValueKind::File,
            Optional(""),
            "A file with the rate of each second, one per line: `250` or `2.5k/s`. The warm-up \
             uses the first rate.",
        ),
    ],
    refused: &[],
};
