//! What limited a trial.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kept a trial from more, as far as the evidence goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitVerdict {
    /// In a word.
    pub word: Bottleneck,
    /// The same in a sentence.
    pub sentence: String,
    /// The numbers that it rests on, a sentence each.
    pub evidence: Vec<String>,
    /// Where it is not decided: what it may be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Bottleneck>,
}

/// What can limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bottleneck {
    /// Nothing: all that was asked for was done in time.
    Load,
    /// The threads or processes that made the load.
    Generator,
    /// A broker that did not answer: it was dead, paused or could not be reached.
    Broker,
    /// Programs that are no part of the measurement: they used the machine's processors.
    OtherPrograms,
    /// The target: it answered too slowly for the rate, and the evidence does not show which part of it was slow.
    Target,
    /// A quota: brokers asked for pauses.
    Quota,
    /// The processors of the machine that load and target share.
    Processors,
    /// A limit that was put on the CPU time of brokers, such as a container's.
    CpuLimit,
    /// A disk with the target's data.
    Disk,
    /// A network interface of the machine that makes the load.
    NetworkCard,
    /// One broker that had much more to do than the others.
    HotBroker,
    /// Waiting for followers.
    Replication,
    /// So little in a request that requests are what is paid for.
    Batching,
    /// The producers' memory or the requests that they may have under way; brokers had time.
    Buffer,
    /// A broker's request handlers, and what they wait for.
    RequestHandlers,
    /// A broker's network threads: copies, TLS.
    NetworkThreads,
    /// Consumers that read less than was written.
    Consumer,
    /// The evidence does not say.
    Undecided,
}

impl Bottleneck {
    /// What a candidate is called.
    pub fn as_words(self) -> &'static str {
        match self {
            Bottleneck::Load => "the offered load",
            Bottleneck::Generator => "load generator",
            Bottleneck::Broker => "unresponsive broker",
            Bottleneck::OtherPrograms => "other programs on this machine",
            Bottleneck::Target => "slow responses from the target",
            Bottleneck::Quota => "client quota",
            Bottleneck::Processors => "CPU on this machine",
            Bottleneck::CpuLimit => "broker CPU limit",
            Bottleneck::Disk => "disk",
            Bottleneck::NetworkCard => "network card",
            Bottleneck::HotBroker => "hot broker (uneven leadership)",
            Bottleneck::Replication => "replication (waiting for followers)",
            Bottleneck::Batching => "small requests",
            Bottleneck::Buffer => "producer buffer",
            Bottleneck::RequestHandlers => "broker request handlers",
            Bottleneck::NetworkThreads => "broker network threads",
            Bottleneck::Consumer => "slow consumers",
            Bottleneck::Undecided => "unknown",
        }
    }
}
