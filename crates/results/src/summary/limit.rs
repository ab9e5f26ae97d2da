//! What limited a trial.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kept a trial from more, as far as the evidence goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitVerdict {
    /// In a word.
    pub word: LimitWord,
    /// The same in a sentence.
    pub sentence: String,
    /// The numbers that it rests on, a sentence each.
    pub evidence: Vec<String>,
    /// Where it is not decided: what it may be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<LimitWord>,
}

/// What can limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitWord {
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

impl LimitWord {
    /// What a candidate is called.
    pub fn as_words(self) -> &'static str {
        match self {
            LimitWord::Load => "nothing but the load",
            LimitWord::Generator => "the generator",
            LimitWord::Broker => "a broker that did not answer",
            LimitWord::OtherPrograms => "other programs on this machine",
            LimitWord::Target => "the target's slow answers",
            LimitWord::Quota => "a quota",
            LimitWord::Processors => "the machine's processors",
            LimitWord::CpuLimit => "a limit on the brokers' CPU time",
            LimitWord::Disk => "a disk",
            LimitWord::NetworkCard => "a network card",
            LimitWord::HotBroker => "one broker that leads too much",
            LimitWord::Replication => "waiting for followers",
            LimitWord::Batching => "small requests",
            LimitWord::Buffer => "the producers' own buffer",
            LimitWord::RequestHandlers => "a broker's request handlers",
            LimitWord::NetworkThreads => "a broker's network threads",
            LimitWord::Consumer => "consumers that fall behind",
            LimitWord::Undecided => "something else",
        }
    }
}
