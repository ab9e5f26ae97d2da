//! Kafka's client settings: which are honoured, with Kafka 4.3's defaults, and which are refused.
//!
//! Names, types, defaults and ranges are those of `ProducerConfig` and `ConsumerConfig` in
//! kafka-clients 4.3.1, as these classes print them. Every name they print stands here.

use super::KeyDefault::{Default, Optional};
use super::{RefusedKeys, ScenarioKeys, ValueKind, key};

pub(crate) static PRODUCER_SETTINGS: ScenarioKeys = ScenarioKeys {
    name: "Producer settings",
    keys: &[
        key(
            "acks",
            ValueKind::Choice(&["all", "-1", "1", "0"]),
            Default("all"),
            "Who must have the batch before the broker answers. Kafka's default since 3.0.",
        ),
        key(
            "batch.size",
            ValueKind::KafkaBytes,
            Default("16384"),
            "A batch is sent when the next record would make it larger; 0 is one record a batch. \
             Kafka's default.",
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
            "Records that wait or are under way, per producer. With `shape: max` this divided by \
             the throughput is the latency. Kafka's default.",
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
            "Unanswered requests to one broker. Kafka's default, and the most that idempotence \
             allows.",
        ),
        key(
            "max.request.size",
            ValueKind::KafkaBytes,
            Default("1048576"),
            "The largest request, and so the largest record. Kafka's default.",
        ),
        key(
            "compression.type",
            ValueKind::Choice(&["none", "gzip", "snappy", "lz4", "zstd"]),
            Default("none"),
            "Codec of a batch. Kafka's default.",
        ),
        key(
            "compression.gzip.level",
            ValueKind::KafkaNumber,
            Default("-1"),
            "1 to 9, or -1 for the library's own. Kafka's default.",
        ),
        key(
            "compression.lz4.level",
            ValueKind::KafkaNumber,
            Default("9"),
            "Kafka's default, LZ4's fast compressor. Kafka takes 1 to 17 and uses LZ4's slow compressor \
             for all but 9; that one is not available here.",
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
            "The broker refuses duplicates. Kafka's default and Kafka's exceptions.",
        ),
        key(
            "retries",
            ValueKind::KafkaNumber,
            Default("2147483647"),
            "Kafka's default: `delivery.timeout.ms` is the true bound.",
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
            "From send to the last word on a record, retries included. Kafka's default and \
             Kafka's exception.",
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
            "kgauge's own key. `sticky` is Kafka's built-in partitioner: a record with a key goes \
             where the key's murmur2 says, one without stays with the others until a batch is \
             full. `round-robin` changes with every record, whatever its key, as Kafka's class of \
             that name does. `{partition: 3}` and `{broker: 1}` send all to one place.",
        ),
        key(
            "partitioner.class",
            ValueKind::Text,
            Optional("as `partitioner` says"),
            "Kafka's own names of what `partitioner` can do, from all releases: \
             `...RoundRobinPartitioner`, `...UniformStickyPartitioner`, `...DefaultPartitioner`.",
        ),
        key(
            "partitioner.ignore.keys",
            ValueKind::Flag,
            Default("false"),
            "`true`: `sticky` treats records with keys as it treats those without. Kafka's default.",
        ),
        key(
            "partitioner.adaptive.partitioning.enable",
            ValueKind::Flag,
            Default("true"),
            "`sticky` draws partitions where few batches wait more often (KIP-794), so that a slow \
             broker gets less. Kafka's default.",
        ),
        key(
            "partitioner.availability.timeout.ms",
            ValueKind::KafkaTime,
            Default("0"),
            "With the setting above: a partition whose broker has taken none of its waiting batches \
             for so long is not drawn. 0, Kafka's default, draws it.",
        ),
        key(
            "transactional.id",
            ValueKind::Text,
            Optional("the topic and the flow's name"),
            "With the flow's `transaction`: the id by which the coordinator knows the producer. With \
             several producers each adds its number.",
        ),
        key(
            "transaction.timeout.ms",
            ValueKind::KafkaTime,
            Default("60000"),
            "With the flow's `transaction`: the coordinator aborts one that is older. Kafka's default.",
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
            "What the broker's logs and quotas call the flow. Kafka would number its producers.",
        ),
        key(
            "metadata.max.age.ms",
            ValueKind::KafkaTime,
            Default("300000"),
            "Metadata is asked for anew after this time. Kafka's default.",
        ),
    ],
    refused: &[
        SECURITY,
        CONNECTION,
        METRICS,
        CODE,
        RefusedKeys {
            names: &["key.serializer", "value.serializer"],
            why: "records are made as bytes: `record` says what they look like",
        },
        RefusedKeys {
            names: &["transaction.two.phase.commit.enable"],
            why: "kgauge takes part in no transaction of anybody else's",
        },
        RefusedKeys {
            names: &["metadata.max.idle.ms"],
            why: "a flow writes to one topic all the time, so its metadata is never idle",
        },
    ],
};

/// Where all records go: one of these.
pub(crate) static PARTITIONER: ScenarioKeys = ScenarioKeys {
    name: "Partitioner",
    keys: &[
        key(
            "partition",
            ValueKind::Count,
            Optional(""),
            "The partition of this number, from 0.",
        ),
        key(
            "broker",
            ValueKind::Count,
            Optional(""),
            "The partitions that the broker of this id leads when the run starts, drawn as \
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
            "The broker waits until it has so much. Kafka's default: answer at once.",
        ),
        key(
            "fetch.max.wait.ms",
            ValueKind::KafkaTime,
            Default("500"),
            "How long it waits for that. Kafka's default.",
        ),
        key(
            "fetch.max.bytes",
            ValueKind::KafkaBytes,
            Default("52428800"),
            "The most that one fetch answers; a larger first batch still comes whole. Kafka's \
             default.",
        ),
        key(
            "max.partition.fetch.bytes",
            ValueKind::KafkaBytes,
            Default("1048576"),
            "The same for one partition. Kafka's default.",
        ),
        key(
            "check.crcs",
            ValueKind::Flag,
            Default("true"),
            "Check every batch's CRC-32C. Kafka's default; Kafka's own perf tool switches it off.",
        ),
        key(
            "isolation.level",
            ValueKind::Choice(&["read_uncommitted", "read_committed"]),
            Default("read_uncommitted"),
            "`read_committed` reads up to the last stable offset and passes over what was aborted; it \
             needs Kafka 0.11. Kafka's default.",
        ),
        key(
            "max.poll.records",
            ValueKind::KafkaNumber,
            Default("500"),
            "How many records Kafka's `poll()` hands over at once, from what was fetched. Here the \
             application does nothing with them, so that it changes no request. Kafka's default.",
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
            "What the broker's logs and quotas call the flow.",
        ),
        key(
            "session.timeout.ms",
            ValueKind::KafkaTime,
            Default("45000"),
            "With `group`: a member whose heartbeats stay away for so long is out. Kafka's default \
             since 3.0. Brokers before 0.10.1 get 30000 in its place, the most that they take.",
        ),
        key(
            "heartbeat.interval.ms",
            ValueKind::KafkaTime,
            Default("3000"),
            "With `group`: how often a member says that it is there, and hears of a rebalance. \
             Kafka's default.",
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
            "With `group`: `classic`, which every release has, or `consumer`, where the brokers deal out \
             (KIP-848, Kafka 4.0). `consumer` takes the times of sessions and heartbeats from the brokers.",
        ),
        key(
            "group.remote.assignor",
            ValueKind::Text,
            Optional("the broker's first"),
            "With `group.protocol: consumer`: who deals out on the broker's side, `uniform` or `range` \
             unless it has others.",
        ),
        key(
            "partition.assignment.strategy",
            ValueKind::Text,
            Optional("`range`"),
            "With `group`: `range`, `roundrobin`, `sticky`, `cooperative-sticky`, or several, the \
             preferred one first, with commas; Kafka's class names will do. `range` is what Kafka's \
             default comes to. With `cooperative-sticky` alone members read on while they rebalance, \
             but for what they have to give up (KIP-429).",
        ),
        key(
            "group.instance.id",
            ValueKind::Text,
            Optional("members come and go"),
            "With `group`: static members, whose partitions wait for them. Each consumer's id is this \
             and its number. Needs Kafka 2.3.",
        ),
        key(
            "enable.auto.commit",
            ValueKind::Flag,
            Default("true"),
            "With `group`: `false` commits nothing, not even in the end. Kafka's default.",
        ),
        key(
            "auto.commit.interval.ms",
            ValueKind::KafkaTime,
            Default("5000"),
            "With `group`: how often offsets are committed, beside when partitions are given up and \
             in the end. Kafka's default.",
        ),
    ],
    refused: &[
        SECURITY,
        CONNECTION,
        METRICS,
        CODE,
        RefusedKeys {
            names: &["key.deserializer", "value.deserializer"],
            why: "records are read as bytes",
        },
        RefusedKeys {
            names: &["group.id"],
            why: "kgauge makes it of the run's id, so that no other group is touched: write the \
                  flow's `group: NAME`",
        },
        RefusedKeys {
            names: &["share.acknowledgement.mode", "share.acquire.mode"],
            why: "share groups are not supported yet",
        },
        RefusedKeys {
            names: &["auto.offset.reset"],
            why: "write the flow's `from: earliest`, `from: latest` or `from: {offset: 1000}`",
        },
        RefusedKeys {
            names: &["allow.auto.create.topics", "exclude.internal.topics"],
            why: "a flow reads the trial's own topic and no other",
        },
        RefusedKeys {
            names: &["client.rack"],
            why: "not supported yet: leaders are read",
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
    why: "it belongs to the target, not to the load: a client.properties file holds it",
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
    why: "how the cluster is reached is the target's part: `--target` and its properties",
};

const METRICS: RefusedKeys = RefusedKeys {
    names: &[
        "enable.metrics.push",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
    ],
    why: "kgauge measures by itself and has no JMX",
};

const CODE: RefusedKeys = RefusedKeys {
    names: &["interceptor.classes"],
    why: "no Java class can be loaded",
};
