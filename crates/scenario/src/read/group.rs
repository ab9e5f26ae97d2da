//! The settings of a consumer group's members, with Kafka's own rules about which go together.

use super::settings::time;
use crate::reader::{Fields, ValueReader, shorten};
use crate::settings::{AssignmentStrategy, GroupPlan, GroupProtocol};
use crate::tree::YamlNode;

/// What Kafka's class names begin with.
const PACKAGE: &str = "org.apache.kafka.clients.consumer.";

/// What means nothing to consumers of assigned partitions.
const GROUP_KEYS: [&str; 9] = [
    "group.protocol",
    "group.remote.assignor",
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "max.poll.interval.ms",
    "partition.assignment.strategy",
    "group.instance.id",
    "enable.auto.commit",
    "auto.commit.interval.ms",
];

/// Reads them; the label stays empty. Where they mean nothing, each that is written is a mistake.
pub(super) fn group_settings(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    means_nothing: bool,
) -> Option<GroupPlan> {
    for key in GROUP_KEYS {
        if means_nothing && fields.has(key) {
            let what = format!("`{key}` has no effect without a group");
            reader.problem_at(
                fields,
                key,
                what,
                "set the flow's `group: true`, or remove it",
            );
        }
    }
    let protocol = reader.field(fields, "group.protocol", protocol);
    let remote_assignor = match fields.has("group.remote.assignor") {
        true => reader
            .field(fields, "group.remote.assignor", ValueReader::text)
            .map(Some),
        false => Some(None),
    };
    belongs(reader, fields, protocol);
    let session = time(reader, fields, "session.timeout.ms");
    let heartbeat = time(reader, fields, "heartbeat.interval.ms");
    let rebalance = time(reader, fields, "max.poll.interval.ms");
    let strategies = match fields.has("partition.assignment.strategy") {
        true => reader.field(fields, "partition.assignment.strategy", strategies),
        false => Some(vec![AssignmentStrategy::Range]),
    };
    let instance_id = match fields.has("group.instance.id") {
        true => reader
            .field(fields, "group.instance.id", ValueReader::text)
            .map(Some),
        false => Some(None),
    };
    let commits = reader.field(fields, "enable.auto.commit", ValueReader::flag);
    let commit = time(reader, fields, "auto.commit.interval.ms");
    bounds(reader, fields, session, heartbeat, rebalance);
    if commits == Some(false) && fields.has("auto.commit.interval.ms") {
        let what = "`auto.commit.interval.ms` has no effect: commits are disabled";
        let cure = "remove it, or `enable.auto.commit: false`";
        reader.problem_at(fields, "auto.commit.interval.ms", what, cure);
    }
    Some(GroupPlan {
        label: String::new(),
        protocol: protocol?,
        remote_assignor: remote_assignor?,
        session_timeout_ns: session?,
        heartbeat_ns: heartbeat?,
        rebalance_timeout_ns: rebalance?,
        strategies: strategies?,
        instance_id: instance_id?,
        commit_ns: commit.filter(|_| commits == Some(true)),
    })
}

/// Kafka's `Heartbeat` refuses an interval that is not below the session's timeout.
fn bounds(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    session: Option<u64>,
    heartbeat: Option<u64>,
    rebalance: Option<u64>,
) {
    let zero = [
        ("session.timeout.ms", session),
        ("heartbeat.interval.ms", heartbeat),
        ("max.poll.interval.ms", rebalance),
    ];
    for (key, value) in zero {
        if value == Some(0) {
            reader.problem_at(fields, key, "the time is 0", "write at least 1");
        }
    }
    if let (Some(session), Some(heartbeat)) = (session, heartbeat)
        && heartbeat >= session
        && session > 0
    {
        let key = match fields.has("heartbeat.interval.ms") {
            true => "heartbeat.interval.ms",
            false => "session.timeout.ms",
        };
        let what = "`heartbeat.interval.ms` is not less than `session.timeout.ms`";
        reader.problem_at(
            fields,
            key,
            what,
            "make it smaller; one third of `session.timeout.ms` is usual",
        );
    }
}

fn protocol(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<GroupProtocol> {
    match reader.text(node)?.to_ascii_lowercase().as_str() {
        "classic" => Some(GroupProtocol::Classic),
        "consumer" => Some(GroupProtocol::Consumer),
        other => {
            let what = format!("`{}` is not a group protocol", shorten(other));
            reader.problem(node.place, what, "write `classic` or `consumer`");
            None
        }
    }
}

/// Kafka's consumer refuses what belongs to the other protocol.
fn belongs(reader: &mut ValueReader<'_>, fields: &Fields<'_>, protocol: Option<GroupProtocol>) {
    let of_other: &[&str] = match protocol {
        Some(GroupProtocol::Consumer) => &[
            "partition.assignment.strategy",
            "session.timeout.ms",
            "heartbeat.interval.ms",
        ],
        Some(GroupProtocol::Classic) => &["group.remote.assignor"],
        None => &[],
    };
    for key in of_other.iter().filter(|key| fields.has(key)) {
        let (what, cure) = match protocol {
            Some(GroupProtocol::Consumer) => (
                format!("`{key}` has no effect with `group.protocol: consumer`"),
                "remove it: the brokers set it (`group.consumer...`)",
            ),
            _ => (
                format!("`{key}` has no effect with `group.protocol: classic`"),
                "write `group.protocol: consumer`, or remove it",
            ),
        };
        reader.problem_at(fields, key, what, cure);
    }
}

fn strategies(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<Vec<AssignmentStrategy>> {
    let text = reader.text(node)?;
    let mut found = Vec::new();
    for word in text.split(',').map(str::trim) {
        let strategy = match word.strip_prefix(PACKAGE).unwrap_or(word) {
            "range" | "RangeAssignor" => AssignmentStrategy::Range,
            "roundrobin" | "RoundRobinAssignor" => AssignmentStrategy::RoundRobin,
            "sticky" | "StickyAssignor" => AssignmentStrategy::Sticky,
            "cooperative-sticky" | "CooperativeStickyAssignor" => {
                AssignmentStrategy::CooperativeSticky
            }
            _ => {
                let what = format!("`{}` is not an assignment strategy", shorten(word));
                let cure = "write `range`, `roundrobin`, `sticky` or `cooperative-sticky`";
                reader.problem(node.place, what, cure);
                return None;
            }
        };
        if !found.contains(&strategy) {
            found.push(strategy);
        }
    }
    Some(found)
}
