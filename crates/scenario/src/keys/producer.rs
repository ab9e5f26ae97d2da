//! Kafka's producer settings: the supported ones, with the defaults of Kafka 4.3, and the refused ones.
//!
//! Names, types, defaults and ranges are those of `ProducerConfig` in kafka-clients 4.3.1, as it prints them. Every
//! name it prints is listed here.

use serde::{Deserialize, Serialize};

use crate::key_definition::{RefusedKeys, ValueForm, refuse};
use crate::key_map::key_map;
use crate::reader::{Fields, ValueReader, defaults};
use crate::settings::{ACKS, Acks, Compression, CompressionCodec, PARTITIONERS, Partitioner};
use crate::suggest::shorten;
use crate::tree::YamlNode;
use crate::value_kind::{
    INT_MAX, NS_PER_MS, ValueKind, count, flag, kafka_bytes, kafka_number, kafka_time, text, words,
};

/// 1 TiB: no producer buffers more.
const BUFFER_BYTES_MAX: i64 = 1 << 40;
/// The broker remembers five batches of each idempotent producer.
const IN_FLIGHT_IDEMPOTENT_MAX: u32 = 5;
const DELIVERY_TIMEOUT_NS: u64 = 120_000 * NS_PER_MS;

key_map! {
    /// Kafka's producer settings, every one resolved.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct ProducerSettings, ProducerKeys, "Producer settings", checked by check,
    refuses [
        SECURITY,
        CONNECTION,
        METRICS,
        CODE,
        refuse(
            &["key.serializer", "value.serializer"],
            "kgauge generates records as bytes; `record` describes them",
        ),
        refuse(
            &["transaction.two.phase.commit.enable"],
            "kgauge does not take part in transactions of other systems",
        ),
        refuse(
            &["metadata.max.idle.ms"],
            "a flow writes to one topic throughout, so its metadata is never idle",
        ),
    ],
    and {
        /// `compression.type` and its level.
        pub compression: Compression;
        /// `enable.idempotence`, resolved.
        pub idempotence: bool;
        /// Whether the scenario asks for idempotence by name. If not, a release without it does not use it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub idempotence_asked: bool;
        /// `delivery.timeout.ms`, resolved.
        pub delivery_timeout_ns: u64;
    }
    {
        /// Which replicas must have the batch before it is acknowledged. Kafka's default since 3.0.
        pub acks: Acks = "acks" ["all"], words(&ACKS);
        /// The maximum batch size; a batch is sent when the next record would exceed it. 0 means one record per batch.
        /// Kafka's default.
        pub batch_bytes: u32 = "batch.size" ["16384"], kafka_bytes(0..=INT_MAX);
        /// How long an open batch waits for more records. Kafka's default since 4.0; it was 0.
        pub linger_ns: u64 = "linger.ms" ["5"], kafka_time();
        /// Memory per producer for records that wait or are in flight. With `shape: max`, latency is this divided by
        /// the throughput. Kafka's default.
        pub buffer_bytes: u64 = "buffer.memory" ["33554432"], kafka_bytes(1..=BUFFER_BYTES_MAX);
        /// How long a send may wait for buffer or metadata before it fails. Kafka's default.
        pub block_ns_max: u64 = "max.block.ms" ["60000"], kafka_time();
        /// Unacknowledged requests per broker. Kafka's default, and the maximum with idempotence.
        pub in_flight_max: u32 = "max.in.flight.requests.per.connection" ["5"],
            kafka_number(1..=INT_MAX);
        /// The maximum request size, and so the maximum record size. Kafka's default.
        pub request_bytes_max: u32 = "max.request.size" ["1048576"], kafka_bytes(1..=INT_MAX);
        /// The codec for batches. Kafka's default.
        let codec: CompressionCodec = "compression.type" ["none"], words(&CompressionCodec::NAMES);
        /// 1 to 9, or -1 for the library's default. Kafka's default.
        let gzip_level: i32 = "compression.gzip.level" ["-1"], kafka_number(1..=9).or_word("-1", -1);
        /// Kafka's default, LZ4's fast compressor. Kafka accepts 1 to 17 and uses LZ4's slow compressor for all levels
        /// except 9; it is not available here.
        let lz4_level: i32 = "compression.lz4.level" ["9"], lz4_level();
        /// -131072 to 22. Kafka's default.
        let zstd_level: i32 = "compression.zstd.level" ["3"], kafka_number(-131_072..=22);
        /// The broker rejects duplicates. Same default and exceptions as in Kafka.
        let wants_idempotence: bool = "enable.idempotence"
            [absent "`true`; `false` when `acks` is not `all` or `retries` is 0", |_| true],
            flag();
        /// Kafka's default: `delivery.timeout.ms` is the effective limit.
        pub retries: u32 = "retries" ["2147483647"], kafka_number(0..=INT_MAX);
        /// The wait before the first retry; it doubles with each. Kafka's default.
        pub retry_backoff_ns: u64 = "retry.backoff.ms" ["100"], kafka_time();
        /// The longest wait before a retry, also before the first. Kafka's default.
        pub retry_backoff_ns_max: u64 = "retry.backoff.max.ms" ["1000"], kafka_time();
        /// The time limit for a record from send to ack or failure, including retries. Same default and exception as
        /// in Kafka.
        let delivery: Option<u64> = "delivery.timeout.ms"
            [optional "`120000`, or `linger.ms + request.timeout.ms` when that is more"],
            kafka_time();
        /// How long a request may go unanswered. Kafka's default.
        pub request_timeout_ns: u64 = "request.timeout.ms" ["30000"], request_timeout();
        /// kgauge's own key. `sticky` is Kafka's built-in partitioner: it hashes keys with murmur2, and records without
        /// a key stay on one partition until a batch is full. `round-robin` changes with every record, whatever its
        /// key, like Kafka's class of that name. `{partition: 3}` and `{broker: 1}` send all records to one place.
        pub partitioner: Partitioner = "partitioner" ["sticky"],
            words(&PARTITIONERS).or_map::<PartitionerKeys>();
        /// Kafka's class names for the values of `partitioner`, from all releases: `...RoundRobinPartitioner`,
        /// `...UniformStickyPartitioner`, `...DefaultPartitioner`.
        let class: Option<PartitionerClass> = "partitioner.class" [optional "as in `partitioner`"],
            ValueKind::new(ValueForm::Text, partitioner_class);
        /// With `true`, `sticky` ignores keys. The default is Kafka's.
        pub #[serde(default, skip_serializing_if = "std::ops::Not::not")]
            partitioner_ignores_keys: bool = "partitioner.ignore.keys" ["false"], flag();
        /// `sticky` prefers partitions with few waiting batches (KIP-794), so that a slow broker gets fewer records.
        /// Kafka's default.
        pub #[serde(default, skip_serializing_if = "std::ops::Not::not")]
            partitioner_adaptive: bool = "partitioner.adaptive.partitioning.enable" ["true"], flag();
        /// With the setting above: `sticky` avoids a partition if its broker has accepted none of its batches for this
        /// long. 0, Kafka's default, disables this.
        pub #[serde(default, skip_serializing_if = "is_zero")]
            partitioner_availability_ns: u64 = "partitioner.availability.timeout.ms" ["0"], kafka_time();
        /// With the flow's `transaction`: the transactional id. With several producers, each appends its number.
        pub #[serde(default, skip_serializing_if = "Option::is_none")]
            transactional_id: Option<String> = "transactional.id"
            [optional "the topic and the flow's name"], text();
        /// With the flow's `transaction`: the coordinator aborts a transaction that takes longer. Kafka's default.
        pub #[serde(default = "transaction_timeout", skip_serializing_if = "is_transaction_timeout")]
            transaction_timeout_ns: u64 = "transaction.timeout.ms" ["60000"],
            kafka_time().map(|ns| ns.max(NS_PER_MS));
        /// The socket's send buffer; -1 leaves it to the operating system. Kafka's default.
        pub send_buffer_bytes: Option<u32> = "send.buffer.bytes" ["131072"], socket_buffer();
        /// The socket's receive buffer; -1 leaves it to the operating system. Kafka's default.
        pub receive_buffer_bytes: Option<u32> = "receive.buffer.bytes" ["32768"], socket_buffer();
        /// The flow's name in broker logs and quotas. Kafka would number its producers.
        pub client_id: String = "client.id" [absent "`kgauge-` and the flow's name", client_id],
            text();
        /// The maximum age of metadata. Kafka's default.
        pub metadata_age_ns_max: u64 = "metadata.max.age.ms" ["300000"], kafka_time();
    }
}

key_map! {
    one_of PartitionerKeys, "Partitioner" -> Partitioner, otherwise ValueReader::not_one_key {
        /// The partition with this number, counted from 0.
        "partition" => count(0..=INT_MAX as u64).map(Partitioner::Partition);
        /// The partitions that the broker with this id leads when the run starts, chosen as `sticky` does.
        "broker" => count(0..=INT_MAX as u64).map(Partitioner::Broker);
    }
}

pub(super) const SECURITY: RefusedKeys = refuse(
    &["ssl.*", "sasl.*", "security.*"],
    "it belongs to the target: put it into the client.properties file for `--target`",
);

pub(super) const CONNECTION: RefusedKeys = refuse(
    &[
        "bootstrap.servers",
        "client.dns.lookup",
        "config.providers",
        "connections.max.idle.ms",
        "default.api.timeout.ms",
        "metadata.recovery.rebootstrap.trigger.ms",
        "metadata.recovery.strategy",
        "reconnect.backoff.max.ms",
        "reconnect.backoff.ms",
        "socket.connection.setup.timeout.max.ms",
        "socket.connection.setup.timeout.ms",
    ],
    "`--target` and its properties define the connection to the cluster",
);

pub(super) const METRICS: RefusedKeys = refuse(
    &[
        "enable.metrics.push",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
    ],
    "kgauge has its own measurements and no JMX",
);

pub(super) const CODE: RefusedKeys =
    refuse(&["interceptor.classes"], "kgauge cannot load Java classes");

impl ProducerSettings {
    /// Kafka 4.3's defaults.
    pub fn of_kafka() -> ProducerSettings {
        defaults::<ProducerSettings>()
    }
}

/// Kafka 4.3's defaults, except that the operating system sizes the sockets' buffers.
impl Default for ProducerSettings {
    fn default() -> Self {
        ProducerSettings {
            send_buffer_bytes: None,
            receive_buffer_bytes: None,
            ..ProducerSettings::of_kafka()
        }
    }
}

/// Kafka's default of `transaction.timeout.ms`.
fn transaction_timeout() -> u64 {
    60_000 * NS_PER_MS
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_transaction_timeout(ns: &u64) -> bool {
    *ns == transaction_timeout()
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(ns: &u64) -> bool {
    *ns == 0
}

pub(super) fn request_timeout() -> ValueKind<u64> {
    kafka_time().then(|reader, place, ns| match ns {
        0 => {
            let cure = "write at least 1; with 0 every request fails at once";
            reader.refuse(place, "the time is 0", cure)
        }
        ns => Some(ns),
    })
}

/// `None` for -1: the operating system's size.
pub(super) fn socket_buffer() -> ValueKind<Option<u32>> {
    kafka_bytes(-1..=INT_MAX).map(|bytes: i64| u32::try_from(bytes).ok())
}

pub(super) fn client_id(reader: &ValueReader<'_>) -> String {
    match reader.scope.flow.as_str() {
        "" => "kgauge".to_owned(),
        flow => format!("kgauge-{flow}"),
    }
}

fn lz4_level() -> ValueKind<i32> {
    ValueKind::new(ValueForm::KafkaNumber, |reader, node| {
        if node.as_text() == Some("9") {
            return Some(9);
        }
        let what = "only level 9, LZ4's fast compressor, is available";
        let cure = "write 9; Kafka uses LZ4's slow compressor for all other levels";
        reader.refuse(node.place, what, cure)
    })
}

/// What a class of Kafka's means: a partitioner, and whether it ignores keys whatever is set.
#[derive(Clone, Copy, Debug)]
struct PartitionerClass {
    partitioner: Partitioner,
    ignores_keys: bool,
}

fn partitioner_class(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<PartitionerClass> {
    let class = reader.scalar(node, "a Kafka class")?;
    let (partitioner, ignores_keys) = match class.rsplit('.').next() {
        Some("RoundRobinPartitioner") => (Partitioner::RoundRobin, false),
        Some("DefaultPartitioner") => (Partitioner::Sticky, false),
        Some("UniformStickyPartitioner") => (Partitioner::Sticky, true),
        _ => {
            let what = format!("`{}` cannot be loaded", shorten(class));
            let cure = "kgauge cannot load Java classes: write `RoundRobinPartitioner`, or remove \
                        it for Kafka's built-in partitioner";
            return reader.refuse(node.place, what, cure);
        }
    };
    Some(PartitionerClass {
        partitioner,
        ignores_keys,
    })
}

/// Kafka's own rules about which settings go together.
fn check(reader: &mut ValueReader<'_>, fields: &Fields<'_>, read: &mut ProducerKeys) {
    read.compression = compression(reader, fields, read);
    read.delivery_timeout_ns = delivery_timeout(reader, fields, read);
    read.idempotence_asked = Some(fields.has("enable.idempotence"));
    read.idempotence = idempotence(reader, fields, read);
    if let Some(Some(class)) = read.class {
        if fields.has("partitioner") {
            let what = "`partitioner` and `partitioner.class` exclude each other";
            reader.problem_at(fields, "partitioner.class", what, "remove one of them");
        }
        read.partitioner = Some(class.partitioner);
        let ignores_keys = |set| set || class.ignores_keys;
        read.partitioner_ignores_keys = read.partitioner_ignores_keys.map(ignores_keys);
    }
    if let (Some(wait), Some(longest)) = (read.retry_backoff_ns, read.retry_backoff_ns_max) {
        // KIP-580: when it is the larger one, the maximum is used from the first retry on.
        read.retry_backoff_ns = Some(wait.min(longest));
    }
    // A batch must fit its buffer and its request, or every send would fail.
    let limits = [
        (read.buffer_bytes, "buffer.memory"),
        (read.request_bytes_max.map(u64::from), "max.request.size"),
    ];
    for (limit, key) in limits {
        if limit < read.batch_bytes.map(u64::from) && limit.is_some() {
            let what = format!("`batch.size` is more than `{key}`");
            let written = match fields.has("batch.size") {
                true => "batch.size",
                false => key,
            };
            let cure = format!("make `batch.size` smaller or `{key}` larger");
            reader.problem_at(fields, written, what, cure);
        }
    }
}

/// Rules of `ProducerConfig.postProcessAndValidateIdempotenceConfigs` in 4.3.1: what is asked for and impossible is an
/// error; what is not asked for and impossible is switched off, except that too many requests in flight are an error
/// even then.
fn idempotence(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    read: &ProducerKeys,
) -> Option<bool> {
    if !read.wants_idempotence? {
        return Some(false);
    }
    let is_asked = fields.has("enable.idempotence");
    let mut conflict = |key: &'static str, what: &str, cure: &str| {
        reader.problem_at(fields, key, what, cure);
    };
    if read.in_flight_max? > IN_FLIGHT_IDEMPOTENT_MAX {
        conflict(
            "max.in.flight.requests.per.connection",
            "an idempotent producer may have at most 5 requests in flight",
            "write at most 5, or `enable.idempotence: false` (Kafka requires this even with acks 1)",
        );
    }
    let (acks, retries) = (read.acks?, read.retries?);
    if is_asked && acks != Acks::All {
        conflict(
            "acks",
            "an idempotent producer needs `acks: all`",
            "write `acks: all`, or remove `enable.idempotence`",
        );
    }
    if is_asked && retries == 0 {
        conflict(
            "retries",
            "an idempotent producer needs retries",
            "remove `retries`, or remove `enable.idempotence`",
        );
    }
    Some(acks == Acks::All && retries > 0)
}

fn compression(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    read: &ProducerKeys,
) -> Option<Compression> {
    let levels = [
        (
            "compression.gzip.level",
            CompressionCodec::Gzip,
            read.gzip_level,
        ),
        (
            "compression.lz4.level",
            CompressionCodec::Lz4,
            read.lz4_level,
        ),
        (
            "compression.zstd.level",
            CompressionCodec::Zstd,
            read.zstd_level,
        ),
    ];
    for (key, owner, _) in levels {
        let is_other = read.codec.is_some_and(|codec| codec != owner);
        if is_other && fields.has(key) && !reader.scope.is_varied("settings.compression.type") {
            let what = format!("`{key}` has no effect with another codec");
            let cure = "choose the codec with `compression.type`, or remove the level";
            reader.problem_at(fields, key, what, cure);
        }
    }
    let codec = read.codec?;
    let own = levels.into_iter().find(|(_, owner, _)| *owner == codec);
    let level = own.and_then(|(.., level)| level);
    Some(Compression { codec, level })
}

/// `KafkaProducer.configureDeliveryTimeout`: too short is an error if it is written, and is raised otherwise.
fn delivery_timeout(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    read: &ProducerKeys,
) -> Option<u64> {
    let least = read.linger_ns? + read.request_timeout_ns?;
    let written = read.delivery?;
    if written.is_some_and(|ns| ns < least) {
        let what = "`delivery.timeout.ms` is less than `linger.ms` + `request.timeout.ms`";
        let least_ms = least / NS_PER_MS;
        let cure = format!("write at least {least_ms}, or shorten the others");
        reader.problem_at(fields, "delivery.timeout.ms", what, cure);
    }
    Some(written.unwrap_or(DELIVERY_TIMEOUT_NS.max(least)))
}
