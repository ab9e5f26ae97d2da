//! Kafka's client settings: the supported ones, with the defaults of Kafka 4.3, and the refused ones.
//!
//! Names, types, defaults and ranges are those of `ProducerConfig` and `ConsumerConfig` in
//! kafka-clients 4.3.1, as these classes print them. Every name they print is listed here.

use super::Given::{Default, Optional};
use super::{Kind, Refusal, Table, key};

pub(crate) static PRODUCER_SETTINGS: Table = Table {
    name: "Producer settings",
    keys: &[
        key(
            "acks",
            Kind::Choice(&["all", "-1", "1", "0"]),
            Default("all"),
            "Which replicas must have the batch before it is acknowledged. Kafka's default since \
             3.0.",
        ),
        key(
            "batch.size",
            Kind::KafkaBytes,
            Default("16384"),
            "The maximum batch size; a batch is sent when the next record would exceed it. 0 means \
             one record per batch. Kafka's default.",
        ),
        key(
            "linger.ms",
            Kind::KafkaTime,
            Default("5"),
            "How long an open batch waits for more records. Kafka's default since 4.0; it was 0.",
        ),
        key(
            "buffer.memory",
            Kind::KafkaBytes,
            Default("33554432"),
            "Memory per producer for records that wait or are in flight. With `shape: max`, \
             latency is this divided by the throughput. Kafka's default.",
        ),
        key(
            "max.block.ms",
            Kind::KafkaTime,
            Default("60000"),
            "How long a send may wait for buffer or metadata before it fails. Kafka's default.",
        ),
        key(
            "max.in.flight.requests.per.connection",
            Kind::KafkaNumber,
            Default("5"),
            "Unacknowledged requests per broker. Kafka's default, and the maximum with \
             idempotence.",
        ),
        key(
            "max.request.size",
            Kind::KafkaBytes,
            Default("1048576"),
            "The maximum request size, and so the maximum record size. Kafka's default.",
        ),
        key(
            "compression.type",
            Kind::Choice(&["none", "gzip", "snappy", "lz4", "zstd"]),
            Default("none"),
            "The codec for batches. Kafka's default.",
        ),
        key(
            "compression.gzip.level",
            Kind::KafkaNumber,
            Default("-1"),
            "1 to 9, or -1 for the library's default. Kafka's default.",
        ),
        key(
            "compression.lz4.level",
            Kind::KafkaNumber,
            Default("9"),
            "Kafka's default, LZ4's fast compressor. Kafka accepts 1 to 17 and uses LZ4's slow \
             compressor for all levels except 9; it is not available here.",
        ),
        key(
            "compression.zstd.level",
            Kind::KafkaNumber,
            Default("3"),
            "-131072 to 22. Kafka's default.",
        ),
        key(
            "enable.idempotence",
            Kind::Flag,
            Optional("`true`; `false` when `acks` is not `all` or `retries` is 0"),
            "The broker rejects duplicates. Same default and exceptions as in Kafka.",
        ),
        key(
            "retries",
            Kind::KafkaNumber,
            Default("2147483647"),
            "Kafka's default: `delivery.timeout.ms` is the effective limit.",
        ),
        key(
            "retry.backoff.ms",
            Kind::KafkaTime,
            Default("100"),
            "The wait before the first retry; it doubles with each. Kafka's default.",
        ),
        key(
            "retry.backoff.max.ms",
            Kind::KafkaTime,
            Default("1000"),
            "The longest wait before a retry, also before the first. Kafka's default.",
        ),
        key(
            "delivery.timeout.ms",
            Kind::KafkaTime,
            Optional("`120000`, or `linger.ms + request.timeout.ms` when that is more"),
            "The time limit for a record from send to ack or failure, including retries. Same \
             default and exception as in Kafka.",
        ),
        key(
            "request.timeout.ms",
            Kind::KafkaTime,
            Default("30000"),
            "How long a request may go unanswered. Kafka's default.",
        ),
        key(
            "partitioner",
            Kind::Either(&["sticky", "round-robin"], &PARTITIONER),
            Default("sticky"),
            "kgauge's own key. `sticky` is Kafka's built-in partitioner: it hashes keys with \
             murmur2, and records without a key stay on one partition until a batch is full. \
             `round-robin` changes with every record, whatever its key, like Kafka's class of that \
             name. `{partition: 3}` and `{broker: 1}` send all records to one place.",
        ),
        key(
            "partitioner.class",
            Kind::Text,
            Optional("as in `partitioner`"),
            "Kafka's class names for the values of `partitioner`, from all releases: \
             `...RoundRobinPartitioner`, `...UniformStickyPartitioner`, `...DefaultPartitioner`.",
        ),
        key(
            "partitioner.ignore.keys",
            Kind::Flag,
            Default("false"),
            "With `true`, `sticky` ignores keys. The default is Kafka's.",
        ),
        key(
            "partitioner.adaptive.partitioning.enable",
            Kind::Flag,
            Default("true"),
            "`sticky` prefers partitions with few waiting batches (KIP-794), so that a slow broker \
             gets fewer records. Kafka's default.",
        ),
        key(
            "partitioner.availability.timeout.ms",
            Kind::KafkaTime,
            Default("0"),
            "With the setting above: `sticky` avoids a partition if its broker has accepted none \
             of its batches for this long. 0, Kafka's default, disables this.",
        ),
        key(
            "transactional.id",
            Kind::Text,
            Optional("the topic and the flow's name"),
            "With the flow's `transaction`: the transactional id. With several producers, each \
             appends its number.",
        ),
        key(
            "transaction.timeout.ms",
            Kind::KafkaTime,
            Default("60000"),
            "With the flow's `transaction`: the coordinator aborts a transaction that takes \
             longer. Kafka's default.",
        ),
        key(
            "send.buffer.bytes",
            Kind::KafkaBytes,
            Default("131072"),
            "The socket's send buffer; -1 leaves it to the operating system. Kafka's default.",
        ),
        key(
            "receive.buffer.bytes",
            Kind::KafkaBytes,
            Default("32768"),
            "The socket's receive buffer; -1 leaves it to the operating system. Kafka's default.",
        ),
        key(
            "client.id",
            Kind::Text,
            Optional("`kgauge-` and the flow's name"),
            "The flow's name in broker logs and quotas. Kafka would number its producers.",
        ),
        key(
            "metadata.max.age.ms",
            Kind::KafkaTime,
            Default("300000"),
            "The maximum age of metadata. Kafka's default.",
        ),
    ],
    refused: &[
        SECURITY,
        CONNECTION,
        METRICS,
        CODE,
        Refusal {
            names: &["key.serializer", "value.serializer"],
            why: "kgauge generates records as bytes; `record` describes them",
        },
        Refusal {
            names: &["transaction.two.phase.commit.enable"],
            why: "kgauge does not take part in transactions of other systems",
        },
        Refusal {
            names: &["metadata.max.idle.ms"],
            why: "a flow writes to one topic throughout, so its metadata is never idle",
        },
    ],
};

/// A fixed destination of all records: one of these keys.
pub(crate) static PARTITIONER: Table = Table {
    name: "Partitioner",
    keys: &[
        key(
            "partition",
            Kind::Count,
            Optional(""),
            "The partition with this number, counted from 0.",
        ),
        key(
            "broker",
            Kind::Count,
            Optional(""),
            "The partitions that the broker with this id leads when the run starts, chosen as \
             `sticky` does.",
        ),
    ],
    refused: &[],
};

pub(crate) static CONSUMER_SETTINGS: Table = Table {
    name: "Consumer settings",
    keys: &[
        key(
            "fetch.min.bytes",
            Kind::KafkaBytes,
            Default("1"),
            "The broker waits for this many bytes. Kafka's default: respond at once.",
        ),
        key(
            "fetch.max.wait.ms",
            Kind::KafkaTime,
            Default("500"),
            "The maximum wait for `fetch.min.bytes`. Kafka's default.",
        ),
        key(
            "fetch.max.bytes",
            Kind::KafkaBytes,
            Default("52428800"),
            "The maximum size of a fetch response; a larger first batch is still sent whole. \
             Kafka's default.",
        ),
        key(
            "max.partition.fetch.bytes",
            Kind::KafkaBytes,
            Default("1048576"),
            "The maximum size per partition in a fetch response. Kafka's default.",
        ),
        key(
            "check.crcs",
            Kind::Flag,
            Default("true"),
            "Check every batch's CRC-32C. Kafka's default; Kafka's own perf tool disables it.",
        ),
        key(
            "isolation.level",
            Kind::Choice(&["read_uncommitted", "read_committed"]),
            Default("read_uncommitted"),
            "`read_committed` reads up to the last stable offset and skips aborted records. Needs \
             Kafka 0.11. The default is Kafka's.",
        ),
        key(
            "max.poll.records",
            Kind::KafkaNumber,
            Default("500"),
            "The maximum number of records that `poll()` returns. It does not affect requests \
             here, because no application processes the records. Kafka's default.",
        ),
        key(
            "request.timeout.ms",
            Kind::KafkaTime,
            Default("30000"),
            "How long a request may go unanswered. Kafka's default.",
        ),
        key(
            "receive.buffer.bytes",
            Kind::KafkaBytes,
            Default("65536"),
            "The socket's receive buffer; -1 leaves it to the operating system. Kafka's default.",
        ),
        key(
            "send.buffer.bytes",
            Kind::KafkaBytes,
            Default("131072"),
            "The socket's send buffer; -1 leaves it to the operating system. Kafka's default.",
        ),
        key(
            "client.id",
            Kind::Text,
            Optional("`kgauge-` and the flow's name"),
            "The flow's name in broker logs and quotas.",
        ),
        key(
            "session.timeout.ms",
            Kind::KafkaTime,
            Default("45000"),
            "With `group`: a member that sends no heartbeat for this long is removed. Kafka's \
             default since 3.0. Brokers before 0.10.1 get 30000, their maximum.",
        ),
        key(
            "heartbeat.interval.ms",
            Kind::KafkaTime,
            Default("3000"),
            "With `group`: the interval between heartbeats, by which members also learn of \
             rebalances. Kafka's default.",
        ),
        key(
            "max.poll.interval.ms",
            Kind::KafkaTime,
            Default("300000"),
            "With `group`: how long a rebalance waits for a member. Kafka's default.",
        ),
        key(
            "group.protocol",
            Kind::Text,
            Default("classic"),
            "With `group`: `classic`, which every release supports, or `consumer`, where the \
             brokers assign partitions (KIP-848, Kafka 4.0). With `consumer`, the brokers set \
             session and heartbeat times.",
        ),
        key(
            "group.remote.assignor",
            Kind::Text,
            Optional("the broker's first assignor"),
            "With `group.protocol: consumer`: the broker-side assignor, `uniform` or `range` \
             unless the broker has others.",
        ),
        key(
            "partition.assignment.strategy",
            Kind::Text,
            Optional("`range`"),
            "With `group`: `range`, `roundrobin`, `sticky`, `cooperative-sticky`, or several with \
             commas, the preferred one first. Kafka's class names work too. `range` is the \
             effective default of Kafka. With `cooperative-sticky` alone, members keep reading \
             during a rebalance, except from the partitions they give up (KIP-429).",
        ),
        key(
            "group.instance.id",
            Kind::Text,
            Optional("dynamic members"),
            "With `group`: static members, whose partitions are kept for them. Each consumer's id \
             is this and its number. Needs Kafka 2.3.",
        ),
        key(
            "enable.auto.commit",
            Kind::Flag,
            Default("true"),
            "With `group`: `false` never commits, not even at the end. The default is Kafka's.",
        ),
        key(
            "auto.commit.interval.ms",
            Kind::KafkaTime,
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
        Refusal {
            names: &["key.deserializer", "value.deserializer"],
            why: "kgauge reads records as bytes",
        },
        Refusal {
            names: &["group.id"],
            why: "kgauge derives it from the run's id, so that no other group is affected; set the \
                flow's `group: NAME`",
        },
        Refusal {
            names: &["share.acknowledgement.mode", "share.acquire.mode"],
            why: "share groups are not supported yet",
        },
        Refusal {
            names: &["auto.offset.reset"],
            why: "set the flow's `from: earliest`, `from: latest` or `from: {offset: 1000}`",
        },
        Refusal {
            names: &["allow.auto.create.topics", "exclude.internal.topics"],
            why: "a flow reads only the trial's own topic",
        },
        Refusal {
            names: &["client.rack"],
            why: "not supported yet: kgauge reads from leaders",
        },
        Refusal {
            names: &[
                "metadata.max.age.ms",
                "retry.backoff.ms",
                "retry.backoff.max.ms",
            ],
            why: "not supported yet for consumers",
        },
    ],
};

const SECURITY: Refusal = Refusal {
    names: &["ssl.*", "sasl.*", "security.*"],
    why: "it belongs to the target: put it into the client.properties file for `--target`",
};

const CONNECTION: Refusal = Refusal {
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

const METRICS: Refusal = Refusal {
    names: &[
        "enable.metrics.push",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
    ],
    why: "kgauge has its own measurements and no JMX",
};

const CODE: Refusal = Refusal {
    names: &["interceptor.classes"],
    why: "kgauge cannot load Java classes",
};
