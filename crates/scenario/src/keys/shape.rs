//! The keys of shapes: a flow's rate over time.

use super::KeyDefault::{Optional, Required};
use super::{ScenarioKeys, ValueKind, key};

/// The shapes that are written as a map with one key.
pub(crate) static SHAPE: ScenarioKeys = ScenarioKeys {
    name: "Shape",
    keys: &[
        key(
            "constant",
            ValueKind::Rate,
            Optional(""),
            "Equal gaps. Record n is due at n / rate, exactly, however long the run.",
        ),
        key(
            "poisson",
            ValueKind::Rate,
            Optional(""),
            "Independent, exponentially distributed gaps with this mean rate, as many independent \
             sources make them. Equal seeds give equal gaps on every machine.",
        ),
        key(
            "ramp",
            ValueKind::Map(&RAMP),
            Optional(""),
            "From one rate to another in a straight line.",
        ),
        key(
            "step",
            ValueKind::List(&STEP),
            Optional(""),
            "One rate after the other. The last one holds on.",
        ),
        key(
            "wave",
            ValueKind::Map(&WAVE),
            Optional(""),
            "A sine around a mean, which it begins with, rising: a day, for instance.",
        ),
        key(
            "burst",
            ValueKind::Map(&BURST),
            Optional(""),
            "A rate, and at the end of each period a higher one.",
        ),
        key(
            "replay",
            ValueKind::Map(&REPLAY),
            Optional(""),
            "What somebody recorded, from a file. Where it ends, the flow ends.",
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
            "The rate at the end, and from then on. May be `0/s`.",
        ),
        key(
            "over",
            ValueKind::Time,
            Optional("the hold"),
            "How long it takes.",
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
            "The rate; the first one also in the warm-up. May be `0/s`.",
        ),
        key("for", ValueKind::Time, Required, "How long."),
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
            "The rate in the middle, also in the warm-up.",
        ),
        key(
            "amplitude",
            ValueKind::Rate,
            Required,
            "By how much it rises and falls; at most the mean.",
        ),
        key("period", ValueKind::Time, Required, "From crest to crest."),
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
        key("burst", ValueKind::Rate, Required, "The rate in a burst."),
        key(
            "every",
            ValueKind::Time,
            Required,
            "From the end of one burst to the end of the next.",
        ),
        key(
            "for",
            ValueKind::Time,
            Required,
            "How long a burst lasts; less than `every`.",
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
            "A file with the time of each record, one a line, never falling: `0.25` (seconds) or \
             `250 ms` after the start of the hold. In the warm-up nothing is sent.",
        ),
        key(
            "rates",
            ValueKind::File,
            Optional(""),
            "A file with the rate of each second, one a line: `250` or `2.5k/s`. The first one \
             holds in the warm-up too.",
        ),
    ],
    refused: &[],
};
