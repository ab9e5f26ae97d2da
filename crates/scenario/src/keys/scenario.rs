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
            "Version of this file format. Required, so that a later format can never be misread.",
        ),
        key(
            "name",
            ValueKind::Name,
            Required,
            "Names the scenario in tables and files; in a study it is the file's name too.",
        ),
        key(
            "question",
            ValueKind::Text,
            Required,
            "What the run answers, in one sentence. It stands above the figures in every report.",
        ),
        key(
            "target",
            ValueKind::Map(&TARGET),
            Empty,
            "What the cluster must have and be set to. Which cluster it is, `--target` says.",
        ),
        key(
            "topic",
            ValueKind::Map(&TOPIC),
            Required,
            "The topic that each repeat creates for itself.",
        ),
        key(
            "flows",
            ValueKind::Flows,
            Required,
            "The traffic, at least one flow. All run at once.",
        ),
        key(
            "stages",
            ValueKind::Map(&STAGES),
            Empty,
            "How long each span of a run lasts.",
        ),
        key(
            "faults",
            ValueKind::List(&FAULT),
            Optional("nothing goes wrong"),
            "What is done to the cluster while the load runs: nodes that crash, requests that stall. \
             See [the guide of faults](faults.md).",
        ),
        key(
            "vary",
            ValueKind::Vary,
            Optional("one trial"),
            "Factors: each path gets each of its values, and all combinations are run, each as a \
             trial of its own. Or [one change at a time, or listed combinations](#vary).",
        ),
        key(
            "repeats",
            ValueKind::Count,
            Default("3"),
            "How often each trial runs. One figure has no spread; 3 is the least that has one.",
        ),
        key(
            "goals",
            ValueKind::Texts,
            Optional("nothing is demanded"),
            "What must hold, such as `writers.latency.p99 <= 20 ms`. A goal missed is exit status 1.",
        ),
        key(
            "sizes",
            ValueKind::Map(&SIZES),
            Optional("all sizes are the same"),
            "What `--quick` and `--full` change.",
        ),
        key(
            "published",
            ValueKind::List(&PUBLISHED),
            Optional("nothing to compare with"),
            "Figures of others for the same question; they stand beside the measured ones.",
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
            "The cluster must have at least so many brokers; one that kgauge makes gets them.",
        ),
        key(
            "config",
            ValueKind::BrokerConfig,
            Empty,
            "Broker settings, such as `{num.io.threads: 4}`: a cluster that kgauge starts gets \
             them, one that is there must have them. In paths `broker.KEY` means the same as \
             `target.config.KEY`.",
        ),
        key(
            "memory",
            ValueKind::Size,
            Optional("no bound"),
            "The most memory that the process of each broker may use, its page cache included, such as `2 GiB`: what it \
             cannot keep there is read from its disk. Apache Kafka that kgauge starts, with the right to make control groups.",
        ),
        key(
            "security",
            ValueKind::Choice(SECURITY),
            Optional("what `--target` says; plaintext without a word of it"),
            "How clients reach a cluster that kgauge starts. Varied, each kind gets a cluster: \
             `target.security: [plaintext, tls]`.",
        ),
        key(
            "mirror",
            ValueKind::Map(&MIRROR),
            Optional("there is one cluster"),
            "A second cluster that a replicator copies to: echo flows write to the target and read \
             the copy. See [the guide of mirrors](mirror.md).",
        ),
    ],
    refused: &[
        RefusedKeys {
            names: &["bootstrap.servers", "address", "host", "hosts"],
            why: "which cluster it is, `--target` says, so that a scenario fits every cluster",
        },
        RefusedKeys {
            names: &["version", "kafka", "embedded"],
            why: "what the cluster is, `--target` says, so that a scenario fits every release",
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
            "How many. No default: with one partition a single broker does all the work, and that \
             must be a decision, not an accident.",
        ),
        key(
            "replication",
            ValueKind::Count,
            Default("1"),
            "Copies of each partition, the leader's among them. 1 is all that a cluster of one \
             broker can do.",
        ),
        key(
            "config",
            ValueKind::TopicConfig,
            Empty,
            "Topic settings by Kafka's own names, passed on as written.",
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
        why: "the name is made from the run's id: kgauge writes only to topics that it created",
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
            "How many, spread evenly over the partitions.",
        ),
        key(
            "record",
            ValueKind::Map(&RECORD),
            Required,
            "What each looks like.",
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
            "Load without counting, first: connections, metadata and page cache settle. The \
             warm-up goes on until throughput and latency are steady; this is the least. `0 s` \
             leaves it out.",
        ),
        key(
            "warm-up-limit",
            ValueKind::Time,
            Default("20 s"),
            "The longest that the warm-up may take. A load that is not steady by then is measured \
             and marked. With a limit at or below `warm-up`, and with faults, shapes that change \
             the rate, consumers of a fixed amount or other clients, the warm-up takes exactly \
             `warm-up`.",
        ),
        key(
            "hold",
            ValueKind::TimeOrNone,
            Default("15 s"),
            "The span that figures come from. It ends earlier when every flow has done its \
             `records`; `none` leaves it to them alone. 15 s gives 15 slices of one second.",
        ),
        key(
            "drain",
            ValueKind::Time,
            Default("30 s"),
            "How long answers to what was sent are awaited after the hold; what is still open \
             then counts as failed. 30 s is Kafka's `request.timeout.ms`.",
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
            "What `--quick` changes: a first look.",
        ),
        key(
            "full",
            ValueKind::Paths,
            Optional("as default"),
            "What `--full` changes: as published.",
        ),
    ],
    refused: &[RefusedKeys {
        names: &["default"],
        why: "what the file says without `sizes` is the default size",
    }],
};

pub(crate) static PUBLISHED: ScenarioKeys = ScenarioKeys {
    name: "Published",
    keys: &[
        key(
            "figure",
            ValueKind::Text,
            Required,
            "Which figure, such as `writers.throughput`.",
        ),
        key(
            "value",
            ValueKind::Text,
            Required,
            "With its unit, such as `821557 records/s`.",
        ),
        key(
            "source",
            ValueKind::Text,
            Optional("the study's source"),
            "Where it stands.",
        ),
        key(
            "trial",
            ValueKind::Paths,
            Optional("every trial"),
            "The factors' values for which it was published. Required when the scenario varies.",
        ),
        key(
            "differs",
            ValueKind::Text,
            Optional("nothing but the machines"),
            "What was different there, beside the machines.",
        ),
        key(
            "not-comparable",
            ValueKind::Text,
            Optional("it can be compared"),
            "Why the two figures cannot be compared: the words after \"not comparable because\".",
        ),
        key(
            "line",
            ValueKind::Text,
            Optional("unknown"),
            "What Kafka's own tool printed there, verbatim; of several producers a line each. The report says \
             what arithmetic makes of it, as `kgauge audit` does.",
        ),
        key(
            "audit",
            ValueKind::Map(&AUDIT),
            Empty,
            "What has to be known to judge `line`, where it is not what the study says.",
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
            "Stands above the report.",
        ),
        key(
            "question",
            ValueKind::Text,
            Required,
            "What the study asks, in one sentence.",
        ),
        key(
            "source",
            ValueKind::Map(&SOURCE),
            Required,
            "The document that it answers.",
        ),
        key("setup", ValueKind::Text, Required, "What the authors used."),
        key(
            "found",
            ValueKind::Text,
            Optional("nothing"),
            "What the authors asked and found, and what it is worth.",
        ),
        key(
            "target",
            ValueKind::Text,
            Optional("any"),
            "The target that comes nearest to what the authors used, such as `kafka:1.0.2,brokers=3`.",
        ),
        key(
            "audit",
            ValueKind::Map(&AUDIT),
            Empty,
            "What has to be known to judge the lines of `published`, as `kgauge audit` takes it.",
        ),
        key(
            "disk-baseline",
            ValueKind::Flag,
            Default("false"),
            "Before the first trial, measure with fio what the disk under the target does by itself; without fio the \
             report says so.",
        ),
        key(
            "partition-formula",
            ValueKind::Map(&PARTITION_FORMULA),
            Optional("none"),
            "Two of the study's flows on one partition, from which the report works out how many partitions rates need.",
        ),
        key(
            "differs",
            ValueKind::Texts,
            Optional("nothing"),
            "What cannot be repeated on one machine, and why.",
        ),
        key(
            "scenarios",
            ValueKind::Texts,
            Required,
            "Names of the scenarios, in running order.",
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
            "What the network card of a broker carries, in bits a second: `1G`.",
        ),
        key(
            "brokers",
            ValueKind::Count,
            Optional("unknown"),
            "How many brokers shared the load.",
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
            "The release of Kafka's tool, such as `1.0.2`.",
        ),
    ],
    refused: &[],
};

pub(crate) static SOURCE: ScenarioKeys = ScenarioKeys {
    name: "Source",
    keys: &[
        key("title", ValueKind::Text, Required, "The document's title."),
        key("year", ValueKind::Count, Required, "When it was published."),
        key(
            "address",
            ValueKind::Text,
            Optional("unknown"),
            "Where it can be read.",
        ),
    ],
    refused: &[],
};
