//! The settings of a consumer group's members, with Kafka's own rules about which go together.

use super::settings::time;
use crate::reader::{Fields, Reader, shorten};
use crate::settings::{AssignmentStrategy, GroupPlan};
use crate::tree::Node;

/// What Kafka's class names begin with.
const PACKAGE: &str = "org.apache.kafka.clients.consumer.";

/// What means nothing to consumers of assigned partitions.
const GROUP_KEYS: [&str; 7] = [
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
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    means_nothing: bool,
) -> Option<GroupPlan> {
    for key in GROUP_KEYS {
        if means_nothing && fields.has(key) {
            let what = format!("`{key}` says nothing without a group");
            reader.problem_at(
                fields,
                key,
                what,
                "write the flow's `group: true`, or remove it",
            );
        }
    }
    let session = time(reader, fields, "session.timeout.ms");
    let heartbeat = time(reader, fields, "heartbeat.interval.ms");
    let rebalance = time(reader, fields, "max.poll.interval.ms");
    let strategies = match fields.has("partition.assignment.strategy") {
        true => reader.field(fields, "partition.assignment.strategy", strategies),
        false => Some(vec![AssignmentStrategy::Range]),
    };
    let instance_id = match fields.has("group.instance.id") {
        true => reader
            .field(fields, "group.instance.id", Reader::text)
            .map(Some),
        false => Some(None),
    };
    let commits = reader.field(fields, "enable.auto.commit", Reader::flag);
    let commit = time(reader, fields, "auto.commit.interval.ms");
    bounds(reader, fields, session, heartbeat, rebalance);
    if commits == Some(false) && fields.has("auto.commit.interval.ms") {
        let what = "`auto.commit.interval.ms` says nothing: nothing is committed";
        let cure = "remove it, or `enable.auto.commit: false`";
        reader.problem_at(fields, "auto.commit.interval.ms", what, cure);
    }
    Some(GroupPlan {
        label: String::new(),
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
    reader: &mut Reader<'_>,
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
            "a third of the session's timeout is usual",
        );
    }
}

fn strategies(reader: &mut Reader<'_>, node: &Node) -> Option<Vec<AssignmentStrategy>> {
    let text = reader.text(node)?;
    let mut found = Vec::new();
    for word in text.split(',').map(str::trim) {
        let strategy = match word.strip_prefix(PACKAGE).unwrap_or(word) {
            "range" | "RangeAssignor" => AssignmentStrategy::Range,
            "roundrobin" | "RoundRobinAssignor" => AssignmentStrategy::RoundRobin,
            "sticky" | "StickyAssignor" | "cooperative-sticky" | "CooperativeStickyAssignor" => {
                let what = format!("`{}` is not supported yet", shorten(word));
                let cure = "write `range` or `roundrobin`: members give up all when they rebalance";
                reader.problem(node.place, what, cure);
                return None;
            }
            _ => {
                let what = format!("`{}` is no assignment strategy", shorten(word));
                reader.problem(node.place, what, "write `range` or `roundrobin`");
                return None;
            }
        };
        if !found.contains(&strategy) {
            found.push(strategy);
        }
    }
    Some(found)
}
