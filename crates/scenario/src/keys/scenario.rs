//! The keys of a scenario and of a study, except for its flows and Kafka's client settings.

use super::Given::{Default, Empty, Optional, Required};
use super::faults::FAULT;
use super::mirror::MIRROR;
use super::record::RECORD;
use super::{Kind, Refusal, Table, key};

pub(crate) static ROOT: Table = Table {
    name: "Scenario",
    keys: &[
        key(
            "kgauge",
            Kind::Choice(&["1"]),
            Required,
            "Version of this file format. Required, so that no later format can be misread.",
        ),
        key(
            "name",
            Kind::Name,
            Required,
            "The scenario's name in tables and files; in a study, also the file name.",
        ),
        key(
            "question",
            Kind::Text,
            Required,
            "The question that the run answers, in one sentence. Every report shows it above the \
             figures.",
        ),
        key(
            "target",
            Kind::Map(&TARGET),
            Empty,
            "Requirements and settings of the cluster. `--target` selects the cluster.",
        ),
        key(
            "topic",
            Kind::Map(&TOPIC),
            Required,
            "The topic. Each repeat creates a new one.",
        ),
        key(
            "flows",
            Kind::Flows,
            Required,
            "The traffic: one or more flows, which run concurrently.",
        ),
        key(
            "stages",
            Kind::Map(&STAGES),
            Empty,
            "The length of each stage of a run.",
        ),
        key(
            "faults",
            Kind::List(&FAULT),
            Optional("no faults"),
            "Failures to inject while the load runs, such as crashed nodes or stalled requests. \
             See [the guide of faults](faults.md).",
        ),
        key(
            "vary",
            Kind::Vary,
            Optional("one trial"),
            "Factors: paths with lists of values; every combination is a trial. Or [one change at \
             a time, or listed combinations](#vary).",
        ),
        key(
            "repeats",
            Kind::Count,
            Default("3"),
            "The number of runs of each trial. 3 is the smallest number with a useful spread.",
        ),
        key(
            "goals",
            Kind::Texts,
            Optional("no goals"),
            "Conditions, such as `writers.latency.p99 <= 20 ms`. A missed goal gives exit status \
             1.",
        ),
        key(
            "sizes",
            Kind::Map(&SIZES),
            Optional("all sizes are the same"),
            "Changes for `--quick` and `--full`.",
        ),
        key(
            "published",
            Kind::List(&PUBLISHED),
            Optional("no comparison"),
            "Published figures for the same question, which reports show next to the measured \
             ones.",
        ),
    ],
    refused: &[Refusal {
        names: &["hosts", "search", "include", "topics", "servers"],
        why: "not supported yet",
    }],
};

/// The kinds of security that a target can be started with.
pub const SECURITY: &[&str] = &[
    "plaintext",
    "tls",
    "mtls",
    "sasl-plain",
    "scram-sha-256",
    "scram-sha-512",
    "sasl-plain+tls",
    "scram-sha-256+tls",
    "scram-sha-512+tls",
];

pub(crate) static TARGET: Table = Table {
    name: "Target",
    keys: &[
        key(
            "brokers",
            Kind::Count,
            Default("1"),
            "The minimum number of brokers, also for clusters that kgauge starts.",
        ),
        key(
            "config",
            Kind::BrokerConfig,
            Empty,
            "Broker settings, such as `{num.io.threads: 4}`. A cluster that kgauge starts gets \
             them; an existing one must have them. In paths, `broker.KEY` is short for \
             `target.config.KEY`.",
        ),
        key(
            "memory",
            Kind::Size,
            Optional("no limit"),
            "The memory limit of each broker process, including its page cache, such as `2 GiB`. \
             Data beyond it is read from disk. Needs Apache Kafka started by kgauge, and \
             permission to create control groups.",
        ),
        key(
            "security",
            Kind::Choice(SECURITY),
            Optional("as in `--target`, or plaintext"),
            "Security of client connections to a cluster that kgauge starts. When varied, as in \
             `target.security: [plaintext, tls]`, each value gets a separate cluster.",
        ),
        key(
            "mirror",
            Kind::Map(&MIRROR),
            Optional("one cluster"),
            "A second cluster and a replicator that copies to it. Echo flows write to the target \
             and read the copy. See [the guide of mirrors](mirror.md).",
        ),
    ],
    refused: &[
        Refusal {
            names: &["bootstrap.servers", "address", "host", "hosts"],
            why: "`--target` selects the cluster, so that a scenario runs on every cluster",
        },
        Refusal {
            names: &["version", "kafka", "embedded"],
            why: "`--target` selects the release, so that a scenario runs on every release",
        },
    ],
};

pub(crate) static TOPIC: Table = Table {
    name: "Topic",
    keys: &[
        key(
            "partitions",
            Kind::Count,
            Required,
            "The number of partitions. No default, because with one partition a single broker does \
             all the work; that should be a deliberate choice.",
        ),
        key(
            "replication",
            Kind::Count,
            Default("1"),
            "Replicas of each partition, including the leader. A cluster of one broker allows only \
             1.",
        ),
        key(
            "config",
            Kind::TopicConfig,
            Empty,
            "Topic settings, by their Kafka names, passed on unchanged.",
        ),
        key(
            "preload",
            Kind::Map(&PRELOAD),
            Optional("the topic starts empty"),
            "Records written before the first stage, for consumers that read a backlog.",
        ),
    ],
    refused: &[Refusal {
        names: &["name"],
        why: "kgauge derives the name from the run's id, and writes only to topics that it created",
    }],
};

/// Kafka 4.3's topic settings (`LogConfig` and `TopicConfig`).
pub(crate) static TOPIC_CONFIG: &[&str] = &[
    "cleanup.policy",
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.type",
    "compression.zstd.level",
    "delete.retention.ms",
    "file.delete.delay.ms",
    "flush.messages",
    "flush.ms",
    "follower.replication.throttled.replicas",
    "index.interval.bytes",
    "leader.replication.throttled.replicas",
    "local.retention.bytes",
    "local.retention.ms",
    "max.compaction.lag.ms",
    "max.message.bytes",
    "message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms",
    "message.timestamp.type",
    "min.cleanable.dirty.ratio",
    "min.compaction.lag.ms",
    "min.insync.replicas",
    "preallocate",
    "remote.log.copy.disable",
    "remote.log.delete.on.disable",
    "remote.storage.enable",
    "retention.bytes",
    "retention.ms",
    "segment.bytes",
    "segment.index.bytes",
    "segment.jitter.ms",
    "segment.ms",
    "unclean.leader.election.enable",
];

pub(crate) static PRELOAD: Table = Table {
    name: "Preload",
    keys: &[
        key(
            "records",
            Kind::Count,
            Required,
            "The number of records, spread evenly over the partitions.",
        ),
        key(
            "record",
            Kind::Map(&RECORD),
            Required,
            "The contents of each record.",
        ),
    ],
    refused: &[],
};

pub(crate) static STAGES: Table = Table {
    name: "Stages",
    keys: &[
        key(
            "warm-up",
            Kind::Time,
            Default("2 s"),
            "Unmeasured load that lets connections, metadata and the page cache settle. The \
             warm-up continues until throughput and latency are steady; this is its minimum \
             length. `0 s` skips it.",
        ),
        key(
            "warm-up-limit",
            Kind::Time,
            Default("20 s"),
            "Maximum length of the warm-up. A load that is not steady by then is measured and \
             marked. The warm-up takes exactly `warm-up` if the limit is not above it. This also \
             holds with faults, shapes that change the rate, consumers of a fixed number of \
             records, and other clients.",
        ),
        key(
            "hold",
            Kind::TimeOrNone,
            Default("15 s"),
            "The measured stage. It ends early when every flow has completed its `records`; with \
             `none`, only then. 15 s gives 15 slices of one second.",
        ),
        key(
            "drain",
            Kind::Time,
            Default("30 s"),
            "How long kgauge waits after the hold for outstanding responses. Requests still \
             unanswered then count as failed. 30 s is Kafka's `request.timeout.ms`.",
        ),
    ],
    refused: &[Refusal {
        names: &["ramp-up", "cool-down"],
        why: "not supported yet",
    }],
};

pub(crate) static SIZES: Table = Table {
    name: "Sizes",
    keys: &[
        key(
            "quick",
            Kind::Paths,
            Optional("as default"),
            "Changes for `--quick`: a first look.",
        ),
        key(
            "full",
            Kind::Paths,
            Optional("as default"),
            "Changes for `--full`: as published.",
        ),
    ],
    refused: &[Refusal {
        names: &["default"],
        why: "the values outside `sizes` are the default size",
    }],
};

pub(crate) static PUBLISHED: Table = Table {
    name: "Published",
    keys: &[
        key(
            "figure",
            Kind::Text,
            Required,
            "The figure, such as `writers.throughput`.",
        ),
        key(
            "value",
            Kind::Text,
            Required,
            "The value with its unit, such as `821557 records/s`.",
        ),
        key(
            "source",
            Kind::Text,
            Optional("the study's source"),
            "Where the figure was published.",
        ),
        key(
            "trial",
            Kind::Paths,
            Optional("every trial"),
            "The factor values of the published figure. Required when the scenario varies.",
        ),
        key(
            "differs",
            Kind::Text,
            Optional("only the machines differ"),
            "Differences from this scenario, other than the machines.",
        ),
        key(
            "not-comparable",
            Kind::Text,
            Optional("comparable"),
            "Why the two figures cannot be compared; the text follows \"not comparable because\".",
        ),
        key(
            "line",
            Kind::Text,
            Optional("unknown"),
            "The output line of Kafka's own tool, verbatim; one line per producer. The report \
             checks it by arithmetic, as `kgauge audit` does.",
        ),
        key(
            "audit",
            Kind::Map(&AUDIT),
            Empty,
            "Facts for the check of `line`, where they differ from those of the study.",
        ),
    ],
    refused: &[],
};

pub(crate) static STUDY: Table = Table {
    name: "Study",
    keys: &[
        key(
            "kgauge",
            Kind::Choice(&["1"]),
            Required,
            "Version of this file format.",
        ),
        key("title", Kind::Text, Required, "The title of the report."),
        key(
            "question",
            Kind::Text,
            Required,
            "The question of the study, in one sentence.",
        ),
        key(
            "source",
            Kind::Map(&SOURCE),
            Required,
            "The published document.",
        ),
        key(
            "setup",
            Kind::Text,
            Required,
            "The authors' hardware and software.",
        ),
        key(
            "found",
            Kind::Text,
            Optional("nothing"),
            "The authors' findings, and how far they hold.",
        ),
        key(
            "target",
            Kind::Text,
            Optional("any"),
            "The target most similar to the authors', such as `kafka:1.0.2,brokers=3`.",
        ),
        key(
            "audit",
            Kind::Map(&AUDIT),
            Empty,
            "Facts for the check of the lines in `published`, as in `kgauge audit`.",
        ),
        key(
            "disk-baseline",
            Kind::Flag,
            Default("false"),
            "Measure the target's disk with fio before the first trial. Without fio, the report \
             notes that this was not measured.",
        ),
        key(
            "partition-formula",
            Kind::Map(&PARTITION_FORMULA),
            Optional("none"),
            "Two flows on one partition, from which the report calculates the partitions needed \
             for given rates.",
        ),
        key(
            "differs",
            Kind::Texts,
            Optional("nothing"),
            "What one machine cannot reproduce, and why.",
        ),
        key(
            "scenarios",
            Kind::Texts,
            Required,
            "The scenarios' names, in the order of execution.",
        ),
    ],
    refused: &[],
};

pub(crate) static PARTITION_FORMULA: Table = Table {
    name: "Partition formula",
    keys: &[
        key(
            "produce",
            Kind::Text,
            Required,
            "The flow that measures P, as `scenario.flow`: one producer, one partition.",
        ),
        key(
            "consume",
            Kind::Text,
            Required,
            "The flow that measures C: one consumer, one partition.",
        ),
        key(
            "rates",
            Kind::Texts,
            Required,
            "Rates T, such as `1M/s`: each needs max(T/P, T/C) partitions.",
        ),
    ],
    refused: &[],
};

pub(crate) static AUDIT: Table = Table {
    name: "Audit",
    keys: &[
        key(
            "buffer-memory",
            Kind::Size,
            Optional("Kafka's 32 MiB"),
            "The producers' `buffer.memory`.",
        ),
        key(
            "nic",
            Kind::Text,
            Optional("unknown"),
            "The network speed of each broker in bits per second, such as `1G`.",
        ),
        key(
            "brokers",
            Kind::Count,
            Optional("unknown"),
            "The number of brokers that shared the load.",
        ),
        key(
            "replication",
            Kind::Count,
            Optional("1"),
            "Replicas of each partition.",
        ),
        key(
            "partitions",
            Kind::Count,
            Optional("unknown"),
            "Partitions of the topic.",
        ),
        key(
            "as-of",
            Kind::Text,
            Optional("unknown"),
            "The Kafka release of the tool, such as `1.0.2`.",
        ),
    ],
    refused: &[],
};

pub(crate) static SOURCE: Table = Table {
    name: "Source",
    keys: &[
        key("title", Kind::Text, Required, "The document's title."),
        key("year", Kind::Count, Required, "The year of publication."),
        key(
            "address",
            Kind::Text,
            Optional("unknown"),
            "The address of the document.",
        ),
    ],
    refused: &[],
};
