//! `checkup.json`: the facts about a cluster and the limits of a checkup; its figures are in the run's repeats.
//!
//! Unknown facts are absent or listed in [`ClusterCensus::unread`]; they are never guesses.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The contents of `checkup.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckupRecord {
    /// The goal of the capacity search, as written: `p99 <= 20 ms`.
    pub goal: String,
    /// What the checkup may do to the cluster.
    pub limits: CheckupLimits,
    /// The cluster before any load.
    pub before: ClusterCensus,
    /// The same after all load; absent if the checkup was stopped or the cluster did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<ClusterCensus>,
    /// Response times of the brokers' request handlers during loads.
    #[serde(default)]
    pub round_trips: Vec<BrokerRoundTrips>,
    /// Parts that did not run, and why.
    #[serde(default)]
    pub skipped: Vec<SkippedPart>,
    /// Loads that ended early because they were too much for a broker.
    #[serde(default)]
    pub limited_loads: Vec<LimitedLoad>,
    /// Why the load ended before its time; absent if the cluster stayed healthy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<HealthStop>,
}

/// A part of a checkup: one scenario of its run.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CheckupPart {
    /// Ten records per second from producer to consumer: the cluster without load of kgauge.
    Idle,
    /// The highest rate that keeps the goal, with `acks=all` and the cluster's default replication.
    Capacity,
    /// The time from producer to consumer at shares of the capacity.
    EndToEnd,
    /// `acks` at a quarter of the capacity, on replicated topics.
    Acks,
    /// Numbers of replicas at a quarter of the capacity.
    Replication,
    /// Consumers that read what is being written.
    Tail,
    /// Consumers that read from the start of a topic.
    FromStart,
}

impl CheckupPart {
    /// All of them, in the order in which they run.
    pub const ALL: [CheckupPart; 7] = [
        CheckupPart::Idle,
        CheckupPart::Capacity,
        CheckupPart::EndToEnd,
        CheckupPart::Acks,
        CheckupPart::Replication,
        CheckupPart::Tail,
        CheckupPart::FromStart,
    ];

    /// The name of its scenario.
    pub fn scenario(self) -> &'static str {
        match self {
            CheckupPart::Idle => "idle",
            CheckupPart::Capacity => "capacity",
            CheckupPart::EndToEnd => "end-to-end",
            CheckupPart::Acks => "acks",
            CheckupPart::Replication => "replication",
            CheckupPart::Tail => "tail",
            CheckupPart::FromStart => "from-start",
        }
    }
}

/// The shares of the capacity at which [`CheckupPart::EndToEnd`] measures: its trials, in order.
pub const CAPACITY_SHARES: [f64; 4] = [0.10, 0.50, 0.75, 0.90];

/// What a checkup may do to the cluster, decided before any load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckupLimits {
    /// Its time in seconds.
    pub budget_s: u64,
    /// The longest time of all loads that write, in seconds.
    pub load_s: u64,
    /// Topics that it creates at most, one after another.
    pub topics_max: u32,
    /// Size of a record's value in bytes.
    pub record_bytes: u64,
    /// Partitions of most topics.
    pub partitions: u32,
    /// Replicas of most topics: the cluster's default.
    pub replication: u16,
    /// The highest rate in records per second, all producers together.
    pub rate_max: f64,
    /// What decides the highest rate.
    pub rate_limit: RateLimit,
    /// Bytes that it writes at most in all, replicas included.
    pub written_bytes_max: u64,
    /// Bytes on the brokers' disks at most at any time, replicas and topics that are being deleted included.
    pub disk_bytes_max: u64,
}

/// What decides the highest rate of a checkup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateLimit {
    /// The user.
    User,
    /// The bytes that may be on disk at any time.
    Disk,
    /// A quota of the cluster that applies to kgauge.
    Quota,
}

/// A part that did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedPart {
    /// Which.
    pub part: CheckupPart,
    /// Why.
    pub why: SkipCause,
}

/// Why a part did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SkipCause {
    /// The budget was spent.
    Budget,
    /// The cluster was not healthy before the load.
    Unhealthy,
    /// The cluster has only one broker.
    OneBroker,
    /// No rate is known.
    NoRate,
}

/// A load that ended early because it was too much for a broker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitedLoad {
    /// Its trial in the plan.
    pub trial: u32,
    /// What was seen.
    pub cause: HealthStop,
}

/// A sign that a cluster is not healthy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum HealthStop {
    /// Partitions without a leader.
    Offline {
        /// Their number.
        partitions: u32,
        /// Their number before the load.
        before: u32,
    },
    /// Partitions with replicas that are not in sync.
    UnderReplicated {
        /// Their number.
        partitions: u32,
        /// Their number before the load.
        before: u32,
    },
    /// The request handlers of a broker were barely idle.
    HandlersBusy {
        /// The broker.
        broker: i32,
        /// The share of their time in which they waited for requests.
        idle_part: f64,
    },
    /// A disk of a broker is nearly full.
    DiskFull {
        /// The broker.
        broker: i32,
        /// The directory of its logs.
        path: String,
        /// The used share of the file system.
        used_part: f64,
    },
}

/// A cluster at one moment, as its brokers describe it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ClusterCensus {
    /// Milliseconds since 1970-01-01 UTC.
    pub at_unix_ms: u64,
    /// The node id of the controller; with KRaft, brokers name any of themselves.
    pub controller: Option<i32>,
    /// The brokers, sorted by id.
    pub brokers: Vec<BrokerCensus>,
    /// Ids of brokers that are registered, but fenced; known since Kafka 4.0.
    pub fenced: Vec<i32>,
    /// Topics without Kafka's internal ones.
    pub topics: u32,
    /// All partitions, with those of internal topics.
    pub partitions: u32,
    /// Partitions without a leader.
    pub offline: u32,
    /// Partitions with replicas that are not in sync.
    pub under_replicated: u32,
    /// Partitions of topics that are not internal and have one replica.
    pub single_replica: u32,
    /// Partitions that another broker leads than the first of their replicas.
    pub not_preferred: u32,
    /// Quotas that apply to kgauge's clients.
    pub quotas: Vec<AppliedQuota>,
    /// Facts that could not be read.
    pub unread: Vec<UnreadFact>,
}

/// A broker at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BrokerCensus {
    /// Its node id.
    pub id: i32,
    /// Its rack.
    pub rack: Option<String>,
    /// The release, as far as its API versions show it.
    pub release: Option<String>,
    /// Partitions that it leads.
    pub leaders: u32,
    /// Replicas that it has.
    pub replicas: u32,
    /// Those of them that are not in sync.
    pub out_of_sync: u32,
    /// The settings of [`PRACTICE_SETTINGS`] in force, as far as it reports them.
    pub settings: BTreeMap<String, String>,
    /// The directories of its logs.
    pub log_dirs: Vec<LogDirCensus>,
}

/// A directory of logs at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LogDirCensus {
    /// Its path on the broker.
    pub path: String,
    /// Kafka's error code if it is offline.
    pub error: Option<String>,
    /// Bytes of the logs in it.
    pub log_bytes: u64,
    /// Size of its file system in bytes; known since Kafka 3.3.
    pub total_bytes: Option<u64>,
    /// Free bytes of its file system; known since Kafka 3.3.
    pub usable_bytes: Option<u64>,
}

impl LogDirCensus {
    /// The used share of the file system.
    pub fn used_part(&self) -> Option<f64> {
        let (total, usable) = self.total_bytes.zip(self.usable_bytes)?;
        let used = total.saturating_sub(usable) as f64;
        (total > 0).then(|| used / total as f64)
    }
}

/// A fact that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadFact {
    /// Which.
    pub what: String,
    /// Why, in the words of the client or the broker.
    pub why: String,
}

impl UnreadFact {
    /// The name of the quotas of all clients.
    pub const QUOTAS: &'static str = "client quotas";
    /// The name of the quotas of kgauge's own user.
    pub const USER_QUOTAS: &'static str = "quotas of this user";

    /// Whether quotas that apply to kgauge may be missing.
    pub fn is_of_quotas(&self) -> bool {
        [UnreadFact::QUOTAS, UnreadFact::USER_QUOTAS].contains(&self.what.as_str())
    }
}

/// A quota that applies to kgauge's clients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AppliedQuota {
    /// Kafka's key: `producer_byte_rate`, `consumer_byte_rate`, `request_percentage` or `controller_mutation_rate`.
    pub key: String,
    /// Its value: bytes per second and broker, percent of a broker's threads, or mutations per second.
    pub value: f64,
    /// At which level it is set.
    pub level: QuotaLevel,
}

/// The levels of quotas, in Kafka's order of precedence.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum QuotaLevel {
    /// This user and this client id.
    UserAndClient,
    /// This user, any client id.
    UserAndDefaultClient,
    /// This user.
    User,
    /// Any user, this client id.
    DefaultUserAndClient,
    /// Any user, any client id.
    DefaultUserAndDefaultClient,
    /// Any user.
    DefaultUser,
    /// This client id.
    Client,
    /// Any client id.
    DefaultClient,
}

/// Response times of one broker to the smallest request, ten times a second during one load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrokerRoundTrips {
    /// The trial of the load.
    pub trial: u32,
    /// The broker.
    pub broker: i32,
    /// Answered requests.
    pub count: u32,
    /// Requests without an answer.
    pub lost: u32,
    /// Median in nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile in nanoseconds.
    pub p99_ns: u64,
    /// Largest in nanoseconds.
    pub max_ns: u64,
}

/// Broker settings that a checkup compares with good practice.
pub const PRACTICE_SETTINGS: &[&str] = &[
    "auto.create.topics.enable",
    "auto.leader.rebalance.enable",
    "compression.type",
    "controlled.shutdown.enable",
    "default.replication.factor",
    "delete.topic.enable",
    "inter.broker.protocol.version",
    "log.flush.interval.messages",
    "log.flush.interval.ms",
    "log.message.format.version",
    "log.segment.delete.delay.ms",
    "min.insync.replicas",
    "num.io.threads",
    "num.network.threads",
    "offsets.topic.replication.factor",
    "transaction.state.log.min.isr",
    "transaction.state.log.replication.factor",
    "unclean.leader.election.enable",
];

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_an_older_version_is_readable() {
        let text = r#"{"goal": "p99 <= 20 ms", "limits": {"budget_s": 900, "load_s": 600, "topics_max": 20,
            "record_bytes": 1000, "partitions": 6, "replication": 3, "rate_max": 1e6, "rate_limit": "disk",
            "written_bytes_max": 1, "disk_bytes_max": 2}, "before": {"topics": 4}}"#;
        let record: CheckupRecord = serde_json::from_str(text).unwrap();
        assert_eq!((record.before.topics, record.stop), (4, None));
    }

    #[test]
    fn the_used_share_needs_both_sizes() {
        let mut dir = LogDirCensus {
            total_bytes: Some(200),
            ..LogDirCensus::default()
        };
        assert_eq!(dir.used_part(), None);
        dir.usable_bytes = Some(30);
        assert_eq!(dir.used_part(), Some(0.85));
    }

    #[test]
    fn the_settings_are_sorted_and_unique() {
        assert!(PRACTICE_SETTINGS.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
