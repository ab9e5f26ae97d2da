//! The keys of shapes: a flow's rate over time.

use super::Given::{Optional, Required};
use super::{Kind, Table, key};

/// The shapes that are written as a map with one key.
pub(crate) static SHAPE: Table = Table {
    name: "Shape",
    keys: &[
        key(
            "constant",
            Kind::Rate,
            Optional(""),
            "Equal gaps. Record n is due at n / rate, exactly, however long the run.",
        ),
        key(
            "poisson",
            Kind::Rate,
            Optional(""),
            "Independent, exponentially distributed gaps with this mean rate, as many independent \
             sources make them. Equal seeds give equal gaps on every machine.",
        ),
        key(
            "ramp",
            Kind::Map(&RAMP),
            Optional(""),
            "From one rate to another in a straight line.",
        ),
        key(
            "step",
            Kind::List(&STEP),
            Optional(""),
            "One rate after the other. The last one holds on.",
        ),
        key(
            "wave",
            Kind::Map(&WAVE),
            Optional(""),
            "A sine around a mean, which it begins with, rising: a day, for instance.",
        ),
        key(
            "burst",
            Kind::Map(&BURST),
            Optional(""),
            "A rate, and at the end of each period a higher one.",
        ),
        key(
            "replay",
            Kind::Map(&REPLAY),
            Optional(""),
            "What somebody recorded, from a file. Where it ends, the flow ends.",
        ),
    ],
    refused: &[],
};

pub(crate) static RAMP: Table = Table {
    name: "Ramp",
    keys: &[
        key(
            "from",
            Kind::Rate,
            Required,
            "The rate at the start, also in the warm-up. May be `0/s`.",
        ),
        key(
            "to",
            Kind::Rate,
            Required,
            "The rate at the end, and from then on. May be `0/s`.",
        ),
        key(
            "over",
            Kind::Time,
            Optional("the hold"),
            "How long it takes.",
        ),
    ],
    refused: &[],
};

pub(crate) static STEP: Table = Table {
    name: "Step",
    keys: &[
        key(
            "rate",
            Kind::Rate,
            Required,
            "The rate; the first one also in the warm-up. May be `0/s`.",
        ),
        key("for", Kind::Time, Required, "How long."),
    ],
    refused: &[],
};

pub(crate) static WAVE: Table = Table {
    name: "Wave",
    keys: &[
        key(
            "mean",
            Kind::Rate,
            Required,
            "The rate in the middle, also in the warm-up.",
        ),
        key(
            "amplitude",
            Kind::Rate,
            Required,
            "By how much it rises and falls; at most the mean.",
        ),
        key("period", Kind::Time, Required, "From crest to crest."),
    ],
    refused: &[],
};

pub(crate) static BURST: Table = Table {
    name: "Burst",
    keys: &[
        key(
            "base",
            Kind::Rate,
            Required,
            "The rate between bursts, also in the warm-up. May be `0/s`.",
        ),
        key("burst", Kind::Rate, Required, "The rate in a burst."),
        key(
            "every",
            Kind::Time,
            Required,
            "From the end of one burst to the end of the next.",
        ),
        key(
            "for",
            Kind::Time,
            Required,
            "How long a burst lasts; less than `every`.",
        ),
    ],
    refused: &[],
};

pub(crate) static REPLAY: Table = Table {
    name: "Replay",
    keys: &[
        key(
            "times",
            Kind::File,
            Optional(""),
            "A file with the time of each record, one a line, never falling: `0.25` (seconds) or \
             `250 ms` after the start of the hold. In the warm-up nothing is sent.",
        ),
        key(
            "rates",
            Kind::File,
            Optional(""),
            "A file with the rate of each second, one a line: `250` or `2.5k/s`. The first one \
             holds in the warm-up too.",
        ),
    ],
    refused: &[],
};
