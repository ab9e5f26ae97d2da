//! How a member behaves in its group.

use std::time::Duration;

use super::assignor::Assignor;

/// A member's settings, under Kafka's names, with Kafka's defaults since 3.0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupSettings {
    /// `group.id`
    pub group: String,
    /// The topics that it wants to read.
    pub topics: Vec<String>,
    /// `session.timeout.ms`: a member whose heartbeats stay away for so long is out. Brokers before
    /// 0.10.1, which take at most 30 s, get 30 s in place of the default.
    pub session_timeout: Duration,
    /// `heartbeat.interval.ms`, at most a third of the session's timeout.
    pub heartbeat_interval: Duration,
    /// `max.poll.interval.ms`: how long the others wait for a member when the group rebalances.
    /// Kafka before 0.10.1 waits for the session's timeout.
    pub rebalance_timeout: Duration,
    /// `partition.assignment.strategy`, the most wanted first.
    pub assignors: Vec<Assignor>,
    /// `group.instance.id`: a static member keeps its partitions when it comes back in time.
    pub instance_id: Option<String>,
}

impl GroupSettings {
    /// Kafka's defaults, with the assignor that all releases have.
    pub fn new(group: &str, topic: &str) -> GroupSettings {
        GroupSettings {
            group: group.to_owned(),
            topics: vec![topic.to_owned()],
            session_timeout: Duration::from_secs(45),
            heartbeat_interval: Duration::from_secs(3),
            rebalance_timeout: Duration::from_secs(300),
            assignors: vec![Assignor::Range],
            instance_id: None,
        }
    }
}

/// As the protocol carries a time.
pub(super) fn millis(time: Duration) -> i32 {
    i32::try_from(time.as_millis()).unwrap_or(i32::MAX)
}
