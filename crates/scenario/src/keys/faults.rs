//! The keys of `faults`: what a scenario does to its cluster while it runs.

use super::KeyDefault::{Optional, Required};
use super::{ScenarioKeys, ValueKind, key};

const UNTIL_THE_END: &str = "until the repeat ends";
const NOT_DONE: &str = "–";

/// The APIs that the embedded cluster serves, as `api` names them.
pub static FAULT_APIS: &[&str] = &[
    "produce",
    "fetch",
    "list-offsets",
    "metadata",
    "offset-commit",
    "offset-fetch",
    "find-coordinator",
    "join-group",
    "heartbeat",
    "leave-group",
    "sync-group",
    "describe-groups",
    "list-groups",
    "sasl-handshake",
    "api-versions",
    "create-topics",
    "delete-topics",
    "delete-records",
    "init-producer-id",
    "offset-for-leader-epoch",
    "sasl-authenticate",
    "describe-acls",
    "create-acls",
    "delete-acls",
    "describe-configs",
    "alter-configs",
    "describe-log-dirs",
    "create-partitions",
    "delete-groups",
    "elect-leaders",
    "alter-partition-reassignments",
    "list-partition-reassignments",
    "incremental-alter-configs",
    "offset-delete",
    "describe-client-quotas",
    "alter-client-quotas",
    "describe-user-scram-credentials",
    "alter-user-scram-credentials",
    "describe-cluster",
    "describe-producers",
    "consumer-group-heartbeat",
    "describe-topic-partitions",
];

pub(crate) static FAULT: ScenarioKeys = ScenarioKeys {
    name: "Fault",
    keys: &[
        key(
            "at",
            ValueKind::Moment,
            Required,
            "When it begins: a time after the start of the hold, before it with `-`, or `start`: with \
             the load, before the warm-up.",
        ),
        key(
            "every",
            ValueKind::Time,
            Optional("once"),
            "It begins again and again, so far apart, until the hold ends.",
        ),
        key(
            "node",
            ValueKind::FaultNode,
            Required,
            "Whom it strikes. `leader` leads partition 0 of the topic when the fault begins, \
             `follower` keeps it and does not lead it; `random` is another node each time, as the \
             seed says.",
        ),
        key(
            "for",
            ValueKind::Time,
            Optional(UNTIL_THE_END),
            "How long it lasts. A node with a full disk gets room and starts again.",
        ),
        key(
            "stop",
            ValueKind::True,
            Optional(NOT_DONE),
            "The node stops in order: what it leads goes to others first.",
        ),
        key(
            "kill",
            ValueKind::True,
            Optional(NOT_DONE),
            "Its process dies, as by `kill -9`; what it wrote survives.",
        ),
        key(
            "crash",
            ValueKind::True,
            Optional(NOT_DONE),
            "Its machine dies: what it had not flushed is lost. Embedded cluster only, as all below \
             `restart-after`.",
        ),
        key(
            "restart",
            ValueKind::True,
            Optional(NOT_DONE),
            "It is stopped in order if it runs, and starts again at once.",
        ),
        key(
            "pause",
            ValueKind::True,
            Optional(NOT_DONE),
            "It stands still: it keeps its connections and answers nothing.",
        ),
        key(
            "restart-after",
            ValueKind::Time,
            Optional(UNTIL_THE_END),
            "How long a node stays down that was stopped, killed or crashed.",
        ),
        key(
            "cut",
            ValueKind::Map(&CUT),
            Optional(NOT_DONE),
            "Messages between it and others of the cluster are lost; clients still reach it.",
        ),
        key(
            "api",
            ValueKind::Choice(FAULT_APIS),
            Optional("requests of all APIs"),
            "Whose requests `delay`, `stall`, `fail`, `drop` and `capacity` are about. `fail` needs \
             one; `capacity` takes `produce`, `fetch`, or both together without it.",
        ),
        key(
            "times",
            ValueKind::Count,
            Optional("all of them"),
            "`delay`, `fail` and `drop` strike so many requests of each node and no more.",
        ),
        key(
            "delay",
            ValueKind::Delay,
            Optional(NOT_DONE),
            "Requests are served so much later: a time, or one drawn from a distribution.",
        ),
        key(
            "stall",
            ValueKind::Time,
            Optional(NOT_DONE),
            "Requests are held for so long from the beginning on, then served.",
        ),
        key(
            "fail",
            ValueKind::ErrorName,
            Optional(NOT_DONE),
            "Requests are not carried out and answered with this error of Kafka's.",
        ),
        key(
            "drop",
            ValueKind::Choice(&["before", "after"]),
            Optional(NOT_DONE),
            "The connection closes `before` the request is carried out, or `after` it, instead of an \
             answer.",
        ),
        key(
            "capacity",
            ValueKind::Capacity,
            Optional(NOT_DONE),
            "Records come no faster than so many bytes or records a second. Clients are not told, as \
             by a quota; their answers come late.",
        ),
        key(
            "burst",
            ValueKind::CountOrVolume,
            Optional("a hundredth of a second's"),
            "What a `capacity` lets through at once after a rest. By default so little that a second \
             is off by 1 % at most.",
        ),
        key(
            "disk-full",
            ValueKind::SizeOrTrue,
            Optional(NOT_DONE),
            "Its disk is full, now or after so many more bytes. The node stops, as Kafka does.",
        ),
        key(
            "clock-offset",
            ValueKind::SignedTime,
            Optional(NOT_DONE),
            "Its wall clock is so much ahead, or with `-` behind: whole milliseconds.",
        ),
    ],
    refused: &[],
};

pub(crate) static CUT: ScenarioKeys = ScenarioKeys {
    name: "Cut",
    keys: &[
        key(
            "with",
            ValueKind::CutEnd,
            Optional(NOT_DONE),
            "Both ways. One of the three keys must be there.",
        ),
        key(
            "to",
            ValueKind::CutEnd,
            Optional(NOT_DONE),
            "What the node sends to the other end.",
        ),
        key(
            "from",
            ValueKind::CutEnd,
            Optional(NOT_DONE),
            "What the other end sends to the node.",
        ),
    ],
    refused: &[],
};

pub(crate) static DELAY: ScenarioKeys = ScenarioKeys {
    name: "Delay",
    keys: &[
        key(
            "uniform",
            ValueKind::Times,
            Optional(NOT_DONE),
            "The least and the most; everything between is equally likely. One of the three keys must \
             be there.",
        ),
        key(
            "exponential",
            ValueKind::Time,
            Optional(NOT_DONE),
            "The mean; the longer the rarer.",
        ),
        key(
            "quantiles",
            ValueKind::Quantiles,
            Optional(NOT_DONE),
            "What a measurement gave, from `p0` to `p100`: `{p0: 1 ms, p50: 3 ms, p99.9: 40 ms, \
             p100: 2 s}`. Straight lines between.",
        ),
    ],
    refused: &[],
};
