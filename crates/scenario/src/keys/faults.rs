//! The keys of `faults`: failures that a scenario injects into its cluster.

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
            "When the fault begins, relative to the start of the hold; a time with `-` is before \
             it. `start` means with the load, before the warm-up.",
        ),
        key(
            "every",
            ValueKind::Time,
            Optional("once"),
            "The interval at which the fault is repeated until the hold ends.",
        ),
        key(
            "node",
            ValueKind::FaultNode,
            Required,
            "Which node is affected. `leader` leads partition 0 of the topic when the fault \
             begins, `follower` has a replica of it and is not the leader. `random` is drawn each \
             time from the seed.",
        ),
        key(
            "for",
            ValueKind::Time,
            Optional(UNTIL_THE_END),
            "How long the fault lasts. After a full disk, space is freed and the node starts \
             again.",
        ),
        key(
            "stop",
            ValueKind::True,
            Optional(NOT_DONE),
            "The node shuts down cleanly: its partitions move to other leaders first.",
        ),
        key(
            "kill",
            ValueKind::True,
            Optional(NOT_DONE),
            "The node's process is killed, as by `kill -9`. Data it has written survives.",
        ),
        key(
            "crash",
            ValueKind::True,
            Optional(NOT_DONE),
            "The node's machine fails: data that was not flushed is lost. Embedded cluster only, \
             like all keys below `restart-after`.",
        ),
        key(
            "restart",
            ValueKind::True,
            Optional(NOT_DONE),
            "The node shuts down cleanly if it is running, and starts again at once.",
        ),
        key(
            "pause",
            ValueKind::True,
            Optional(NOT_DONE),
            "The node hangs: it keeps its connections but does not respond.",
        ),
        key(
            "restart-after",
            ValueKind::Time,
            Optional(UNTIL_THE_END),
            "How long a stopped, killed or crashed node stays down.",
        ),
        key(
            "cut",
            ValueKind::Map(&CUT),
            Optional(NOT_DONE),
            "Messages between the node and others of the cluster are lost. Clients still reach it.",
        ),
        key(
            "api",
            ValueKind::Choice(FAULT_APIS),
            Optional("requests of all APIs"),
            "The API whose requests `delay`, `stall`, `fail`, `drop` and `capacity` affect. `fail` \
             requires it. `capacity` accepts `produce` or `fetch`; without `api` it limits both \
             together.",
        ),
        key(
            "times",
            ValueKind::Count,
            Optional("all requests"),
            "The number of requests per node that `delay`, `fail` and `drop` affect.",
        ),
        key(
            "delay",
            ValueKind::Delay,
            Optional(NOT_DONE),
            "The delay of each request: a fixed time, or one drawn from a distribution.",
        ),
        key(
            "stall",
            ValueKind::Time,
            Optional(NOT_DONE),
            "How long requests are held from the start of the fault before they are served.",
        ),
        key(
            "fail",
            ValueKind::ErrorName,
            Optional(NOT_DONE),
            "Requests are rejected with this Kafka error.",
        ),
        key(
            "drop",
            ValueKind::Choice(&["before", "after"]),
            Optional(NOT_DONE),
            "The connection closes without a response, `before` or `after` the request is \
             processed.",
        ),
        key(
            "capacity",
            ValueKind::Capacity,
            Optional(NOT_DONE),
            "The maximum rate in bytes or records per second. Responses are delayed to enforce it; \
             unlike with a quota, clients are not notified.",
        ),
        key(
            "burst",
            ValueKind::CountOrVolume,
            Optional("`capacity` for 10 ms"),
            "The amount that `capacity` lets through at once after idle time. The default keeps \
             the rate of each second within 1 %.",
        ),
        key(
            "disk-full",
            ValueKind::SizeOrTrue,
            Optional(NOT_DONE),
            "The node's disk is full at once (`true`) or after this many more bytes. The node \
             stops, as Kafka does.",
        ),
        key(
            "clock-offset",
            ValueKind::SignedTime,
            Optional(NOT_DONE),
            "How far the node's wall clock is ahead, or behind with `-`, in whole milliseconds.",
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
            "Messages in both directions. One of the three keys is required.",
        ),
        key(
            "to",
            ValueKind::CutEnd,
            Optional(NOT_DONE),
            "Messages from the node to the other end.",
        ),
        key(
            "from",
            ValueKind::CutEnd,
            Optional(NOT_DONE),
            "Messages from the other end to the node.",
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
            "The minimum and the maximum, with all values between equally likely. One of the three \
             keys is required.",
        ),
        key(
            "exponential",
            ValueKind::Time,
            Optional(NOT_DONE),
            "The mean of an exponential distribution.",
        ),
        key(
            "quantiles",
            ValueKind::Quantiles,
            Optional(NOT_DONE),
            "A measured distribution, from `p0` to `p100`: `{p0: 1 ms, p50: 3 ms, p99.9: 40 ms, \
             p100: 2 s}`. Values between are interpolated linearly.",
        ),
    ],
    refused: &[],
};
