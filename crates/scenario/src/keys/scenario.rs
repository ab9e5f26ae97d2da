//! The keys of a scenario and of a study, except for its flows and Kafka's client settings.

use super::KeyDefault::{Default, Empty, Optional, Required};
use super::faults::FAULT;
use super::mirror::MIRROR;
use super::record::RECORD;
use super::{RefusedKeys, ScenarioKeys, ValueKind, key};

pub(crate) static ROOT: ScenarioKeys = ScenarioKeys {
    name: "Scenario",
    keys: &[
        key(
            "kgauge",
            ValueKind::Choice(&["1"]),
            Required,
            "Version of this file format. Required, so that no later format can be misread.",
        ),
        key(
            "name",
            ValueKind::Name,
            Required,
            "The scenario's name in tables and files; in a study, also the file name.",
        ),
        key(
            "question",
            ValueKind::Text,
            Required,
            "The question that the run answers, in one sentence. Every report shows it above the \
             figures.",
        ),
        key(
            "target",
            ValueKind::Map(&TARGET),
            Empty,
            "Requirements and settings of the cluster. `--target` selects the cluster.",
        ),
        key(
            "topic",
            ValueKind::Map(&TOPIC),
            Required,
            "The topic. Each repeat creates a new one.",
        ),
        key(
            "flows",
            ValueKind::Flows,
            Required,
            "The traffic: one or more flows, which run concurrently.",
        ),
        key(
            "stages",
            ValueKind::Map(&STAGES),
            Empty,
            "The length of each stage of a run.",
        ),
        key(
            "faults",
            ValueKind::List(&FAULT),
            Optional("no faults"),
            "Failures to inject while the load runs, such as crashed nodes or stalled requests. \
             See [the guide of faults](faults.md).",
        ),
        key(
            "vary",
            ValueKind::Vary,
            Optional("one trial"),
            "Factors: paths with lists of values; every combination is a trial. Or [one change at \
             a time, or listed combinations](#vary).",
        ),
        key(
            "repeats",
            ValueKind::Count,
            Default("3"),
            "The number of runs of each trial. 3 is the smallest number with a useful spread.",
        ),
        key(
            "goals",
            ValueKind::Texts,
            Optional("no goals"),
            "Conditions, such as `writers.latency.p99 <= 20 ms`. A missed goal gives exit status \
             1.",
        ),
        key(
            "sizes",
            ValueKind::Map(&SIZES),
            Optional("all sizes are the same"),
            "Changes for `--quick` and `--full`.",
        ),
        key(
            "published",
            ValueKind::List(&PUBLISHED),
            Optional("no comparison"),
            "Published figures for the same question, which reports show next to the measured \
             ones.",
        ),
    ],
    refused: &[RefusedKeys {
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

pub(crate) static TARGET: ScenarioKeys = ScenarioKeys {
    name: "Target",
    keys: &[
        key(
            "brokers",
            ValueKind::Count,
            Default("1"),
            "The minimum number of brokers, also for clusters that kgauge starts.",
        ),
        key(
            "config",
            ValueKind::BrokerConfig,
            Empty,
            "Broker settings, such as `{num.io.threads: 4}`. A cluster that kgauge starts gets \
             them; an existing one must have them. In paths, `broker.KEY` is short for \
             `target.config.KEY`.",
        ),
        key(
            "memory",
            ValueKind::Size,
            Optional("no limit"),
            "The memory limit of each broker process, including its page cache, such as `2 GiB`. \
             Data beyond it is read from disk. Needs Apache Kafka started by kgauge, and \
             permission to create control groups.",
        ),
        key(
            "security",
            ValueKind::Choice(SECURITY),
            Optional("as in `--target`, or plaintext"),
            "Security of client connections to a cluster that kgauge starts. When varied, as in \
             `target.security: [plaintext, tls]`, each value gets a separate cluster.",
        ),
        key(
            "mirror",
            ValueKind::Map(&MIRROR),
            Optional("one cluster"),
            "A second cluster and a replicator that copies to it. Echo flows write to the target \
             and read the copy. See [the guide of mirrors](mirror.md).",
        ),
    ],
    refused: &[
        RefusedKeys {
            names: &["bootstrap.servers", "address", "host", "hosts"],
            why: "`--target` selects the cluster, so that a scenario runs on every cluster",
        },
        RefusedKeys {
            names: &["version", "kafka", "embedded"],
            why: "`--target` selects the release, so that a scenario runs on every release",
        },
    ],
};

pub(crate) static TOPIC: ScenarioKeys = ScenarioKeys {
    name: "Topic",
    keys: &[
        key(
            "partitions",
            ValueKind::Count,
            Required,
            "The number of partitions. No default, because with one partition a single broker does \
             all the work; that should be a deliberate choice.",
        ),
        key(
            "replication",
            ValueKind::Count,
            Default("1"),
            "Replicas of each partition, including the leader. A cluster of one broker allows only \
             1.",
        ),
        key(
            "config",
            ValueKind::TopicConfig,
            Empty,
            "Topic settings, by their Kafka names, passed on unchanged.",
        ),
        key(
            "preload",
            ValueKind::Map(&PRELOAD),
            Optional("the topic starts empty"),
            "Records written before the first stage, for consumers that read a backlog.",
        ),
    ],
    refused: &[RefusedKeys {
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

pub(crate) static PRELOAD: ScenarioKeys = ScenarioKeys {
    name: "Preload",
    keys: &[
        key(
            "records",
            ValueKind::Count,
            Required,
            "The number of records, spread evenly over the partitions.",
        ),
        key(
            "record",
            ValueKind::Map(&RECORD),
            Required,
            "The contents of each record.",
        ),
    ],
    refused: &[],
};

pub(crate) static STAGES: ScenarioKeys = ScenarioKeys {
    name: "Stages",
    keys: &[
        key(
            "warm-up",
            ValueKind::Time,
            Default("2 s"),
            "Unmeasured load that lets connections, metadata and the page cache settle. The \
             warm-up continues until throughput and latency are steady; this is its minimum \
             length. `0 s` skips it.",
        ),
        key(
            "warm-up-limit",
            ValueKind::Time,
            Default("20 s"),
            "Maximum length of the warm-up. A load that is not steady by then is measured and \
             marked. The warm-up takes exactly `warm-up` if the limit is not above it. This also \
             holds with faults, shapes that change the rate, consumers of a fixed number of \
             records, and other clients.",
        ),
        key(
            "hold",
            ValueKind::TimeOrNone,
            Default("15 s"),
            "The measured stage. It ends early when every flow has completed its `records`; with \
             `none`, only then. 15 s gives 15 slices of one second.",
        ),
        key(
            "drain",
            ValueKind::Time,
            Default("30 s"),
            "How long kgauge waits after the hold for outstanding responses. Requests still \
             unanswered then count as failed. 30 s is Kafka's `request.timeout.ms`.",
        ),
    ],
    refused: &[RefusedKeys {
        names: &["ramp-up", "cool-down"],
        why: "not supported yet",
    }],
};

pub(crate) static SIZES: ScenarioKeys = ScenarioKeys {
    name: "Sizes",
    keys: &[
        key(
            "quick",
            ValueKind::Paths,
            Optional("as default"),
            "Changes for `--quick`: a first look.",
        ),
        key(
            "full",
            ValueKind::Paths,
            Optional("as default"),
            "Changes for `--full`: as published.",
        ),
    ],
    refused: &[RefusedKeys {
        names: &["default"],
        why: "the values outside `sizes` are the default size",
    }],
};

pub(crate) static PUBLISHED: ScenarioKeys = ScenarioKeys {
    name: "Published",
    keys: &[
        key(
            "figure",
            ValueKind::Text,
            Required,
            "The figure, such as `writers.throughput`.",
        ),
        key(
            "value",
            ValueKind::Text,
            Required,
            "The value with its unit, such as `821557 records/s`.",
        ),
        key(
            "source",
            ValueKind::Text,
            Optional("the study's source"),
            "Where the figure was published.",
        ),
        key(
            "trial",
            ValueKind::Paths,
            Optional("every trial"),
            "The factor values of the published figure. Required when the scenario varies.",
        ),
        key(
            "differs",
            ValueKind::Text,
            Optional("only the machines differ"),
            "Differences from this scenario, other than the machines.",
        ),
        key(
            "not-comparable",
            ValueKind::Text,
            Optional("comparable"),
            "Why the two figures cannot be compared; the text follows \"not comparable because\".",
        ),
        key(
            "line",
            ValueKind::Text,
            Optional("unknown"),
            "The output line of Kafka's own tool, verbatim; one line per producer. The report \
             checks it by arithmetic, as `kgauge audit` does.",
        ),
        key(
            "audit",
            ValueKind::Map(&AUDIT),
            Empty,
            "Facts for the check of `line`, where they differ from those of the study.",
        ),
    ],
    refused: &[],
};

pub(crate) static STUDY: ScenarioKeys = ScenarioKeys {
    name: "Study",
    keys: &[
        key(
            "kgauge",
            ValueKind::Choice(&["1"]),
            Required,
            "Version of this file format.",
        ),
        key(
            "title",
            ValueKind::Text,
            Required,
            "The title of the report.",
        ),
        key(
            "question",
            ValueKind::Text,
            Required,
            "The question of the study, in one sentence.",
        ),
        key(
            "source",
            ValueKind::Map(&SOURCE),
            Required,
            "The published document.",
        ),
        key(
            "setup",
            ValueKind::Text,
            Required,
            "The authors' hardware and software.",
        ),
        key(
            "found",
            ValueKind::Text,
            Optional("nothing"),
            "The authors' findings, and how far they hold.",
        ),
        key(
            "target",
            ValueKind::Text,
            Optional("any"),
            "The target most similar to the authors', such as `kafka:1.0.2,brokers=3`.",
        ),
        key(
            "audit",
            ValueKind::Map(&AUDIT),
            Empty,
            "Facts for the check of the lines in `published`, as in `kgauge audit`.",
        ),
        key(
            "disk-baseline",
            ValueKind::Flag,
            Default("false"),
            "Measure the target's disk with fio before the first trial. Without fio, the report \
             notes that this was not measured.",
        ),
        key(
            "partition-formula",
            ValueKind::Map(&PARTITION_FORMULA),
            Optional("none"),
            "Two flows on one partition, from which the report calculates the partitions needed \
             for given rates.",
        ),
        key(
            "differs",
            ValueKind::Texts,
            Optional("nothing"),
            "What one machine cannot reproduce, and why.",
        ),
        key(
            "scenarios",
            ValueKind::Texts,
            Required,
            "The scenarios' names, in the order of execution.",
        ),
    ],
    refused: &[],
};

pub(crate) static PARTITION_FORMULA: ScenarioKeys = ScenarioKeys {
    name: "Partition formula",
    keys: &[
        key(
            "produce",
            ValueKind::Text,
            Required,
            "The flow that measures P, as `scenario.flow`: one producer, one partition.",
        ),
        key(
            "consume",
            ValueKind::Text,
            Required,
            "The flow that measures C: one consumer, one partition.",
        ),
        key(
            "rates",
            ValueKind::Texts,
            Required,
            "Rates T, such as `1M/s`: each needs max(T/P, T/C) partitions.",
        ),
    ],
    refused: &[],
};

pub(crate) static AUDIT: ScenarioKeys = ScenarioKeys {
    name: "Audit",
    keys: &[
        key(
            "buffer-memory",
            ValueKind::Size,
            Optional("Kafka's 32 MiB"),
            "The producers' `buffer.memory`.",
        ),
        key(
            "nic",
            ValueKind::Text,
            Optional("unknown"),
            "The network speed of each broker in bits per second, such as `1G`.",
        ),
        key(
            "brokers",
            ValueKind::Count,
            Optional("unknown"),
            "The number of brokers that shared the load.",
        ),
        key(
            "replication",
            ValueKind::Count,
            Optional("1"),
            "Replicas of each partition.",
        ),
        key(
            "partitions",
            ValueKind::Count,
            Optional("unknown"),
            "Partitions of the topic.",
        ),
        key(
            "as-of",
            ValueKind::Text,
            Optional("unknown"),
            "The Kafka release of the tool, such as `1.0.2`.",
        ),
    ],
    refused: &[],
};

pub(crate) static SOURCE: ScenarioKeys = ScenarioKeys {
    name: "Source",
    keys: &[
        key("title", ValueKind::Text, Required, "The document's title."),
        key(
            "year",
            ValueKind::Count,
            Required,
            "The year of publication.",
        ),
        key(
            "address",
            ValueKind::Text,
            Optional("unknown"),
            "The address of the document.",
        ),
    ],
    refused: &[],
};
