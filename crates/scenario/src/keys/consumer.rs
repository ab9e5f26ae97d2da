//! Kafka's consumer settings, and those of a consumer group's members: the supported ones, with the defaults of
//! Kafka 4.3, and the refused ones. Every name that `ConsumerConfig` of kafka-clients 4.3.1 prints is listed here.

use serde::{Deserialize, Serialize};

use super::producer::{
    CODE, CONNECTION, METRICS, SECURITY, client_id, request_timeout, socket_buffer,
};
use crate::key_definition::refuse;
use crate::key_map::key_map;
use crate::reader::{Fields, KeyMap, ValueReader, defaults};
use crate::settings::{AssignmentStrategy, GroupProtocol};
use crate::suggest::shorten;
use crate::value_kind::{
    INT_MAX, ValueKind, flag, kafka_bytes, kafka_number, kafka_time, text, words,
};

/// What Kafka's class names begin with.
const PACKAGE: &str = "org.apache.kafka.clients.consumer.";

key_map! {
    map ConsumerMap, "Consumer settings" -> (ConsumerSettings, GroupPlan), made by both,
    shares [ConsumerSettings, GroupPlan],
    refuses [
        SECURITY,
        CONNECTION,
        METRICS,
        CODE,
        refuse(&["key.deserializer", "value.deserializer"], "kgauge reads records as bytes"),
        refuse(
            &["group.id"],
            "kgauge derives it from the run's id, so that no other group is affected; set the \
             flow's `group: NAME`",
        ),
        refuse(
            &["share.acknowledgement.mode", "share.acquire.mode"],
            "share groups are not supported yet",
        ),
        refuse(
            &["auto.offset.reset"],
            "set the flow's `from: earliest`, `from: latest` or `from: {offset: 1000}`",
        ),
        refuse(
            &["allow.auto.create.topics", "exclude.internal.topics"],
            "a flow reads only the trial's own topic",
        ),
        refuse(&["client.rack"], "not supported yet: kgauge reads from leaders"),
        refuse(
            &["metadata.max.age.ms", "retry.backoff.ms", "retry.backoff.max.ms"],
            "not supported yet for consumers",
        ),
    ]
    {}
}

key_map! {
    /// Kafka's consumer settings, every one resolved.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct ConsumerSettings, ConsumerKeys, "Settings of every consumer", checked by check_consumer {
        /// The broker waits for this many bytes. Kafka's default: respond at once.
        pub fetch_bytes_min: u32 = "fetch.min.bytes" ["1"], kafka_bytes(0..=INT_MAX);
        /// The maximum wait for `fetch.min.bytes`. Kafka's default.
        pub fetch_wait_ns_max: u64 = "fetch.max.wait.ms" ["500"], kafka_time();
        /// The maximum size of a fetch response; a larger first batch is still sent whole. Kafka's default.
        pub fetch_bytes_max: u32 = "fetch.max.bytes" ["52428800"], kafka_bytes(0..=INT_MAX);
        /// The maximum size per partition in a fetch response. Kafka's default.
        pub partition_fetch_bytes_max: u32 = "max.partition.fetch.bytes" ["1048576"],
            kafka_bytes(0..=INT_MAX);
        /// Check every batch's CRC-32C. Kafka's default; Kafka's own perf tool disables it.
        pub check_crcs: bool = "check.crcs" ["true"], flag();
        /// `read_committed` reads up to the last stable offset and skips aborted records. Needs Kafka 0.11. The default
        /// is Kafka's.
        pub #[serde(default, skip_serializing_if = "std::ops::Not::not")]
            read_committed: bool = "isolation.level" ["read_uncommitted"],
            words(&[("read_uncommitted", false), ("read_committed", true)]);
        /// The maximum number of records that `poll()` returns. It does not affect requests here, because no
        /// application processes the records. Kafka's default.
        let _poll_records: i64 = "max.poll.records" ["500"], kafka_number(1..=INT_MAX);
        /// How long a request may go unanswered. Kafka's default.
        pub request_timeout_ns: u64 = "request.timeout.ms" ["30000"], request_timeout();
        /// The socket's receive buffer; -1 leaves it to the operating system. Kafka's default.
        pub receive_buffer_bytes: Option<u32> = "receive.buffer.bytes" ["65536"], socket_buffer();
        /// The socket's send buffer; -1 leaves it to the operating system. Kafka's default.
        pub send_buffer_bytes: Option<u32> = "send.buffer.bytes" ["131072"], socket_buffer();
        /// The flow's name in broker logs and quotas.
        pub client_id: String = "client.id" [absent "`kgauge-` and the flow's name", client_id],
            text();
    }
}

key_map! {
    /// How the consumers of a flow behave as members of one group.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct GroupPlan, GroupKeys, "Settings of group members", checked by check_group,
    and {
        /// The end of its `group.id`, after the run's id.
        pub label: String;
    }
    {
        /// With `group`: a member that sends no heartbeat for this long is removed. Kafka's default since 3.0. Brokers
        /// before 0.10.1 get 30000, their maximum.
        pub session_timeout_ns: u64 = "session.timeout.ms" ["45000"], not_zero();
        /// With `group`: the interval between heartbeats, by which members also learn of rebalances. Kafka's default.
        pub heartbeat_ns: u64 = "heartbeat.interval.ms" ["3000"], not_zero();
        /// With `group`: how long a rebalance waits for a member. Kafka's default.
        pub rebalance_timeout_ns: u64 = "max.poll.interval.ms" ["300000"], not_zero();
        /// With `group`: `classic`, which every release supports, or `consumer`, where the brokers assign partitions
        /// (KIP-848, Kafka 4.0). With `consumer`, the brokers set session and heartbeat times.
        pub #[serde(default, skip_serializing_if = "GroupProtocol::is_classic")]
            protocol: GroupProtocol = "group.protocol" ["classic"], protocol();
        /// With `group.protocol: consumer`: the broker-side assignor, `uniform` or `range` unless the broker has
        /// others.
        pub #[serde(default, skip_serializing_if = "Option::is_none")]
            remote_assignor: Option<String> = "group.remote.assignor"
            [optional "the broker's first assignor"], text();
        /// With `group`: `range`, `roundrobin`, `sticky`, `cooperative-sticky`, or several with commas, the preferred
        /// one first. Kafka's class names work too. `range` is the effective default of Kafka. With
        /// `cooperative-sticky` alone, members keep reading during a rebalance, except from the partitions they give up
        /// (KIP-429).
        pub strategies: Vec<AssignmentStrategy> = "partition.assignment.strategy"
            [absent "`range`", |_| vec![AssignmentStrategy::Range]], strategies();
        /// With `group`: static members, whose partitions are kept for them. Each consumer's id is this and its number.
        /// Needs Kafka 2.3.
        pub instance_id: Option<String> = "group.instance.id" [optional "dynamic members"], text();
        /// With `group`: `false` never commits, not even at the end. The default is Kafka's.
        let commits: bool = "enable.auto.commit" ["true"], flag();
        /// With `group`: the interval between commits. Members also commit at the end and when they give up partitions.
        /// Kafka's default.
        pub commit_ns: Option<u64> = "auto.commit.interval.ms" ["5000"], kafka_time().map(Some);
    }
}

fn both(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    _: ConsumerMap,
) -> Option<(ConsumerSettings, GroupPlan)> {
    let settings = ConsumerSettings::read_keys(reader, fields);
    let group = GroupPlan::read_keys(reader, fields);
    Some((settings?, group?))
}

impl ConsumerSettings {
    /// Kafka 4.3's defaults.
    pub fn of_kafka() -> ConsumerSettings {
        defaults::<ConsumerSettings>()
    }
}

/// Kafka 4.3's defaults, except that the operating system sizes the sockets' buffers.
impl Default for ConsumerSettings {
    fn default() -> Self {
        ConsumerSettings {
            receive_buffer_bytes: None,
            send_buffer_bytes: None,
            ..ConsumerSettings::of_kafka()
        }
    }
}

fn check_consumer(reader: &mut ValueReader<'_>, fields: &Fields<'_>, read: &mut ConsumerKeys) {
    if let (Some(wait), Some(timeout)) = (read.fetch_wait_ns_max, read.request_timeout_ns)
        && wait >= timeout
    {
        let what = "`fetch.max.wait.ms` is not less than `request.timeout.ms`";
        let cure = "make `fetch.max.wait.ms` smaller than `request.timeout.ms`";
        reader.problem_at(fields, "fetch.max.wait.ms", what, cure);
    }
    if let (Some(min), Some(max)) = (read.fetch_bytes_min, read.fetch_bytes_max)
        && min > max
    {
        let what = "`fetch.min.bytes` is more than `fetch.max.bytes`";
        let cure = "make it smaller; the broker would wait for more than it may send";
        reader.problem_at(fields, "fetch.min.bytes", what, cure);
    }
}

/// Kafka's own rules about which settings go together. The flow sets the label.
fn check_group(reader: &mut ValueReader<'_>, fields: &Fields<'_>, read: &mut GroupKeys) {
    read.label = Some(String::new());
    if !reader.scope.in_group {
        for key in GroupPlan::KEYS
            .own
            .iter()
            .filter(|key| fields.has(key.name))
        {
            let what = format!("`{}` has no effect without a group", key.name);
            let cure = "set the flow's `group: true`, or remove it";
            reader.problem_at(fields, key.name, what, cure);
        }
    }
    match read.protocol {
        Some(GroupProtocol::Consumer) => {
            let classic = [
                "partition.assignment.strategy",
                "session.timeout.ms",
                "heartbeat.interval.ms",
            ];
            for key in classic.into_iter().filter(|key| fields.has(key)) {
                let what = format!("`{key}` has no effect with `group.protocol: consumer`");
                let cure = "remove it: the brokers set it (`group.consumer...`)";
                reader.problem_at(fields, key, what, cure);
            }
        }
        Some(GroupProtocol::Classic) if fields.has("group.remote.assignor") => {
            let what = "`group.remote.assignor` has no effect with `group.protocol: classic`";
            let cure = "write `group.protocol: consumer`, or remove it";
            reader.problem_at(fields, "group.remote.assignor", what, cure);
        }
        Some(GroupProtocol::Classic) | None => {}
    }
    // Kafka's `Heartbeat` rejects an interval that is not below the session's timeout.
    if let (Some(session), Some(heartbeat)) = (read.session_timeout_ns, read.heartbeat_ns)
        && heartbeat >= session
    {
        let key = match fields.has("heartbeat.interval.ms") {
            true => "heartbeat.interval.ms",
            false => "session.timeout.ms",
        };
        let what = "`heartbeat.interval.ms` is not less than `session.timeout.ms`";
        let cure = "make it smaller; one third of `session.timeout.ms` is usual";
        reader.problem_at(fields, key, what, cure);
    }
    if read.commits == Some(false) {
        read.commit_ns = read.commit_ns.map(|_| None);
        if fields.has("auto.commit.interval.ms") {
            let what = "`auto.commit.interval.ms` has no effect: commits are disabled";
            let cure = "remove it, or `enable.auto.commit: false`";
            reader.problem_at(fields, "auto.commit.interval.ms", what, cure);
        }
    }
}

fn not_zero() -> ValueKind<u64> {
    kafka_time().then(|reader, place, ns| match ns {
        0 => reader.refuse(place, "the time is 0", "write at least 1"),
        ns => Some(ns),
    })
}

fn protocol() -> ValueKind<GroupProtocol> {
    text().then(
        |reader, place, text| match text.to_ascii_lowercase().as_str() {
            "classic" => Some(GroupProtocol::Classic),
            "consumer" => Some(GroupProtocol::Consumer),
            other => {
                let what = format!("`{}` is not a group protocol", shorten(other));
                reader.refuse(place, what, "write `classic` or `consumer`")
            }
        },
    )
}

fn strategies() -> ValueKind<Vec<AssignmentStrategy>> {
    text().then(|reader, place, text| {
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
                    return reader.refuse(place, what, cure);
                }
            };
            if !found.contains(&strategy) {
                found.push(strategy);
            }
        }
        Some(found)
    })
}
