//! Kafka's client settings: the supported ones, with the defaults of Kafka 4.3, and the refused ones.
//!
//! Names, types, defaults and ranges are those of `ProducerConfig` and `ConsumerConfig` in
//! kafka-clients 4.3.1, as these classes print them. Every name they print is listed here.

use super::KeyDefault::{Default, Optional};
use super::{RefusedKeys, ScenarioKeys, ValueKind, key};

pub(crate) static PRODUCER_SETTINGS: ScenarioKeys = ScenarioKeys {
    name: "Producer settings",
    keys: &[
        key(
            "acks",
            ValueKind::Choice(&["all", "-1", "1", "0"]),
            Default("all"),
            "Which replicas must have the batch before it is acknowledged. Kafka's default since \
             3.0.",
        ),
        key(
            "batch.size",
            ValueKind::KafkaBytes,
            Default("16384"),
            "The maximum batch size; a batch is sent when the next record would exceed it. 0 means \
             one record per batch. Kafka's default.",
        ),
        key(
            "linger.ms",
            ValueKind::KafkaTime,
            Default("5"),
            "How long an open batch waits for more records. Kafka's default since 4.0; it was 0.",
        ),
        key(
            "buffer.memory",
            ValueKind::KafkaBytes,
            Default("33554432"),
            "Memory per producer for records that wait or are in flight. With `shape: max`, \
             latency is this divided by the throughput. Kafka's default.",
        ),
        key(
            "max.block.ms",
            ValueKind::KafkaTime,
            Default("60000"),
            "How long a send may wait for buffer or metadata before it fails. Kafka's default.",
        ),
        key(
            "max.in.flight.requests.per.connection",
            ValueKind::KafkaNumber,
            Default("5"),
            "Unacknowledged requests per broker. Kafka's default, and the maximum with \
             idempotence.",
        ),
        key(
            "max.request.size",
            ValueKind::KafkaBytes,
            Default("1048576"),
            "The maximum request size, and so the maximum record size. Kafka's default.",
        ),
        key(
            "compression.type",
            ValueKind::Choice(&["none", "gzip", "snappy", "lz4", "zstd"]),
            Default("none"),
            "The codec for batches. Kafka's default.",
        ),
        key(
            "compression.gzip.level",
            ValueKind::KafkaNumber,
            Default("-1"),
            "1 to 9, or -1 for the library's default. Kafka's default.",
        ),
        key(
            "compression.lz4.level",
            ValueKind::KafkaNumber,
            Default("9"),
            "Kafka's default, LZ4's fast compressor. Kafka accepts 1 to 17 and uses LZ4's slow \
             compressor for all levels except 9; it is not available here.",
        ),
        key(
            "compression.zstd.level",
            ValueKind::KafkaNumber,
            Default("3"),
            "-131072 to 22. Kafka's default.",
        ),
        key(
            "enable.idempotence",
            ValueKind::Flag,
            Optional("`true`; `false` when `acks` is not `all` or `retries` is 0"),
            "The broker rejects duplicates. Same default and exceptions as in Kafka.",
        ),
        key(
            "retries",
            ValueKind::KafkaNumber,
            Default("2147483647"),
            "Kafka's default: `delivery.timeout.ms` is the effective limit.",
        ),
        key(
            "retry.backoff.ms",
            ValueKind::KafkaTime,
            Default("100"),
            "The wait before the first retry; it doubles with each. Kafka's default.",
        ),
        key(
            "retry.backoff.max.ms",
            ValueKind::KafkaTime,
            Default("1000"),
            "The longest wait before a retry, also before the first. Kafka's default.",
        ),
        key(
            "delivery.timeout.ms",
            ValueKind::KafkaTime,
            Optional("`120000`, or `linger.ms + request.timeout.ms` when that is more"),
            "The time limit for a record from send to ack or failure, including retries. Same \
             default and exception as in Kafka.",
        ),
        key(
            "request.timeout.ms",
            ValueKind::KafkaTime,
            Default("30000"),
            "How long a request may go unanswered. Kafka's default.",
        ),
        key(
            "partitioner",
            ValueKind::Either(&["sticky", "round-robin"], &PARTITIONER),
            Default("sticky"),
            "kgauge's own key. `sticky` is Kafka's built-in partitioner: it hashes keys with \
             murmur2, and records without a key stay on one partition until a batch is full. \
             `round-robin` changes with every record, whatever its key, like Kafka's class of that \
             name. `{partition: 3}` and `{broker: 1}` send all records to one place.",
        ),
        key(
            "partitioner.class",
            ValueKind::Text,
            Optional("as in `partitioner`"),
            "Kafka's class names for the values of `partitioner`, from all releases: \
             `...RoundRobinPartitioner`, `...UniformStickyPartitioner`, `...DefaultPartitioner`.",
        ),
        key(
            "partitioner.ignore.keys",
            ValueKind::Flag,
            Default("false"),
            "With `true`, `sticky` ignores keys. The default is Kafka's.",
        ),
        key(
            "partitioner.adaptive.partitioning.enable",
            ValueKind::Flag,
            Default("true"),
            "`sticky` prefers partitions with few waiting batches (KIP-794), so that a slow broker \
             gets fewer records. Kafka's default.",
        ),
        key(
            "partitioner.availability.timeout.ms",
            ValueKind::KafkaTime,
            Default("0"),
            "With the setting above: `sticky` avoids a partition if its broker has accepted none \
             of its batches for this long. 0, Kafka's default, disables this.",
        ),
        key(
            "transactional.id",
            ValueKind::Text,
            Optional("the topic and the flow's name"),
            "With the flow's `transaction`: the transactional id. With several producers, each \
             appends its number.",
        ),
        key(
            "transaction.timeout.ms",
            ValueKind::KafkaTime,
            Default("60000"),
            "With the flow's `transaction`: the coordinator aborts a transaction that takes \
             longer. Kafka's default.",
        ),
        key(
            "send.buffer.bytes",
            ValueKind::KafkaBytes,
            Default("131072"),
            "The socket's send buffer; -1 leaves it to the operating system. Kafka's default.",
        ),
        key(
            "receive.buffer.bytes",
            ValueKind::KafkaBytes,
            Default("32768"),
            "The socket's receive buffer; -1 leaves it to the operating system. Kafka's default.",
        ),
        key(
            "client.id",
            ValueKind::Text,
            Optional("`kgauge-` and the flow's name"),
            "The flow's name in broker logs and quotas. Kafka would number its producers.",
        ),
        key(
            "metadata.max.age.ms",
            ValueKind::KafkaTime,
            Default("300000"),
            "The maximum age of metadata. Kafka's default.",
        ),
    ],
    refused: &[
        SECURITY,
        CONNECTION,
        METRICS,
        CODE,
        RefusedKeys {
            names: &["key.serializer", "value.serializer"],
            why: "kgauge generates records as bytes; `record` describes them",
        },
        RefusedKeys {
            names: &["transaction.two.phase.commit.enable"],
            why: "kgauge does not take part in transactions of other systems",
        },
        RefusedKeys {
            names: &["metadata.max.idle.ms"],
            why: "a flow writes to one topic throughout, so its metadata is never idle",
        },
    ],
};

/// A fixed destination of all records: one of these keys.
pub(crate) static PARTITIONER: ScenarioKeys = ScenarioKeys {
    name: "Partitioner",
    keys: &[
        key(
            "partition",
            ValueKind::Count,
            Optional(""),
            "The partition with this number, counted from 0.",
        ),
        key(
            "broker",
            ValueKind::Count,
            Optional(""),
            "The partitions that the broker with this id leads when the run starts, chosen as \
             `sticky` does.",
        ),
    ],
    refused: &[],
};

pub(crate) static CONSUMER_SETTINGS: ScenarioKeys = ScenarioKeys {
    name: "Consumer settings",
    keys: &[
        key(
            "fetch.min.bytes",
            ValueKind::KafkaBytes,
            Default("1"),
            "The broker waits for this many bytes. Kafka's default: respond at once.",
        ),
        key(
            "fetch.max.wait.ms",
            ValueKind::KafkaTime,
            Default("500"),
            "The maximum wait for `fetch.min.bytes`. Kafka's default.",
        ),
        key(
            "fetch.max.bytes",
            ValueKind::KafkaBytes,
            Default("52428800"),
            "The maximum size of a fetch response; a larger first batch is still sent whole. \
             Kafka's default.",
        ),
        key(
            "max.partition.fetch.bytes",
            ValueKind::KafkaBytes,
            Default("1048576"),
            "The maximum size per partition in a fetch response. Kafka's default.",
        ),
        key(
            "check.crcs",
            ValueKind::Flag,
            Default("true"),
            "Check every batch's CRC-32C. Kafka's default; Kafka's own perf tool disables it.",
        ),
        key(
            "isolation.level",
            ValueKind::Choice(&["read_uncommitted", "read_committed"]),
            Default("read_uncommitted"),
            "`read_committed` reads up to the last stable offset and skips aborted records. Needs \
             Kafka 0.11. The default is Kafka's.",
        ),
        key(
            "max.poll.records",
            ValueKind::KafkaNumber,
            Default("500"),
            "The maximum number of records that `poll()` returns. It does not affect requests \
             here, because no application processes the records. Kafka's default.",
        ),
        key(
            "request.timeout.ms",
            ValueKind::KafkaTime,
            Default("30000"),
            "How long a request may go unanswered. Kafka's default.",
        ),
        key(
            "receive.buffer.bytes",
            ValueKind::KafkaBytes,
            Default("65536"),
            "The socket's receive buffer; -1 leaves it to the operating system. Kafka's default.",
        ),
        key(
            "send.buffer.bytes",
            ValueKind::KafkaBytes,
            Default("131072"),
            "The socket's send buffer; -1 leaves it to the operating system. Kafka's default.",
        ),
        key(
            "client.id",
            ValueKind::Text,
            Optional("`kgauge-` and the flow's name"),
            "The flow's name in broker logs and quotas.",
        ),
        key(
            "session.timeout.ms",
            ValueKind::KafkaTime,
            Default("45000"),
            "With `group`: a member that sends no heartbeat for this long is removed. Kafka's \
             default since 3.0. Brokers before 0.10.1 get 30000, their maximum.",
        ),
        key(
            "heartbeat.interval.ms",
            ValueKind::KafkaTime,
            Default("3000"),
            "With `group`: the interval between heartbeats, by which members also learn of \
             rebalances. Kafka's default.",
        ),
        key(
            "max.poll.interval.ms",
            ValueKind::KafkaTime,
            Default("300000"),
            "With `group`: how long a rebalance waits for a member. Kafka's default.",
        ),
        key(
            "group.protocol",
            ValueKind::Text,
            Default("classic"),
            "With `group`: `classic`, which every release supports, or `consumer`, where the \
             brokers assign partitions (KIP-848, Kafka 4.0). With `consumer`, the brokers set \
             session and heartbeat times.",
        ),
        key(
            "group.remote.assignor",
            ValueKind::Text,
            Optional("the broker's first assignor"),
            "With `group.protocol: consumer`: the broker-side assignor, `uniform` or `range` \
             unless the broker has others.",
        ),
        key(
            "partition.assignment.strategy",
            ValueKind::Text,
            Optional("`range`"),
            "With `group`: `range`, `roundrobin`, `sticky`, `cooperative-sticky`, or several with \
             commas, the preferred one first. Kafka's class names work too. `range` is the \
             effective default of Kafka. With `cooperative-sticky` alone, members keep reading \
             during a rebalance, except from the partitions they give up (KIP-429).",
        ),
        key(
            "group.instance.id",
            ValueKind::Text,
            Optional("dynamic members"),
            "With `group`: static members, whose partitions are kept for them. Each consumer's id \
             is this and its number. Needs Kafka 2.3.",
        ),
        key(
            "enable.auto.commit",
            ValueKind::Flag,
            Default("true"),
            "With `group`: `false` never commits, not even at the end. The default is Kafka's.",
        ),
        key(
            "auto.commit.interval.ms",
            ValueKind::KafkaTime,
            Default("5000"),
            "With `group`: the interval between commits. Members also commit at the end and when \
             they give up partitions. Kafka's default.",
        ),
    ],
    refused: &[
        SECURITY,
        CONNECTION,
        METRICS,
        CODE,
        RefusedKeys {
            names: &["key.deserializer", "value.deserializer"],
            why: "kgauge reads records as bytes",
        },
        RefusedKeys {
            names: &["group.id"],
            why: "kgauge derives it from the run's id, so that no other group is affected; set the \
                flow's `group: NAME`",
        },
        RefusedKeys {
            names: &["share.acknowledgement.mode", "share.acquire.mode"],
            why: "share groups are not supported yet",
        },
        RefusedKeys {
            names: &["auto.offset.reset"],
            why: "set the flow's `from: earliest`, `from: latest` or `from: {offset: 1000}`",
        },
        RefusedKeys {
            names: &["allow.auto.create.topics", "exclude.internal.topics"],
            why: "a flow reads only the trial's own topic",
        },
        RefusedKeys {
            names: &["client.rack"],
            why: "not supported yet: kgauge reads from leaders",
        },
        RefusedKeys {
            names: &[
                "metadata.max.age.ms",
                "retry.backoff.ms",
                "retry.backoff.max.ms",
            ],
            why: "not supported yet for consumers",
        },
    ],
};

const SECURITY: RefusedKeys = RefusedKeys {
    names: &["ssl.*", "sasl.*", "security.*"],
    why: "it belongs to the target: put it into the client.properties file for `--target`",
};

const CONNECTION: RefusedKeys = RefusedKeys {
    names: &[
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
    why: "`--target` and its properties define the connection to the cluster",
};

const METRICS: RefusedKeys = RefusedKeys {
    names: &[
        "enable.metrics.push",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
    ],
    why: "kgauge has its own measurements and no JMX",
};

const CODE: RefusedKeys = RefusedKeys {
    names: &["interceptor.classes"],
    why: "kgauge cannot load Java classes",
};
