//! A group member's settings.

use std::time::Duration;

use super::assignor::Assignor;

/// A member's settings, under Kafka's names, with Kafka's defaults since 3.0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupSettings {
    /// `group.id`
    pub group: String,
    /// The topics to read.
    pub topics: Vec<String>,
    /// `session.timeout.ms`: a member without heartbeats for this long is removed. Brokers before 0.10.1, which accept
    /// at most 30 s, get 30 s instead of the default.
    pub session_timeout: Duration,
    /// `heartbeat.interval.ms`, at most a third of the session timeout.
    pub heartbeat_interval: Duration,
    /// `max.poll.interval.ms`: how long a rebalance waits for a member. Kafka before 0.10.1 waits for the session
    /// timeout.
    pub rebalance_timeout: Duration,
    /// `partition.assignment.strategy`, the preferred one first.
    pub assignors: Vec<Assignor>,
    /// `group.instance.id`: a static member keeps its partitions if it returns in time.
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

/// A time in the protocol's form.
pub(super) fn millis(time: Duration) -> i32 {
    i32::try_from(time.as_millis()).unwrap_or(i32::MAX)
}
