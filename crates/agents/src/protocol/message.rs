//! The messages of a lead and of an agent, in JSON.

use std::collections::BTreeMap;
use std::fmt;

use kgauge_load::{EchoTally, LoadOutcome, LoadProgress};
use kgauge_results::PaceSeries;
use kgauge_results::run::{AgentNetworkRecord, RepeatKey};
use kgauge_scenario::Share;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What a lead sends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "kebab-case")]
pub enum LeadMessage {
    /// The first message: the agent is part of a run.
    Welcome {
        /// The run.
        run_id: String,
        /// The agent's number, from 0.
        index: u32,
        /// The number of agents.
        count: u32,
    },
    /// A question for the agent's clock.
    ClockProbe {
        /// The lead's clock.
        sent_ns: u64,
    },
    /// Connect everything that a repeat needs. Whatever is left of an earlier repeat ends.
    Prepare {
        /// Numbers the preparations of a run: the answer repeats it.
        round: u32,
        /// What to connect.
        order: Box<PrepareOrder>,
    },
    /// Begin. The agent answers with [`AgentMessage::NotStarted`], or with [`AgentMessage::Started`] and then
    /// [`AgentMessage::Ended`] or [`AgentMessage::LoadFailed`].
    Start {
        /// On the agent's clock.
        at_ns: u64,
        /// The lead's wall clock at that moment, in milliseconds since 1970: ledgers have its times.
        unix_ms: i64,
    },
    /// The hold begins, in an adaptive warm-up.
    BeginHold {
        /// Since the start.
        at_ns: u64,
    },
    /// All record counts are complete: the hold is over.
    EndHold {
        /// Since the start.
        at_ns: u64,
    },
    /// Echo flows are spread over the agents: what to add to the agent's times to get those of a clock that all agents
    /// share.
    ClockShift {
        /// Since the start, the agent's clock has drifted by the opposite.
        shift_ns: i64,
    },
    /// All records of echo flows that are spread over the agents were read.
    EndEchoes,
    /// End the load within a second, or forget what is prepared. Sent once or several times, it means the same.
    Stop,
    /// The run is over.
    Bye,
}

/// What an agent needs for a repeat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrepareOrder {
    /// The repeat.
    pub key: RepeatKey,
    /// The agent's share.
    pub share: Share,
    /// The topic, which exists.
    pub topic: String,
    /// The start of `from: earliest` for each partition of an existing topic.
    pub earliest: Option<Vec<i64>>,
    /// For the label of each group of the trial its `group.id`.
    pub groups: BTreeMap<String, String>,
    /// How to reach the cluster.
    pub client: ClientSettings,
    /// Measure what the flows do at full speed first. The lead does that itself for agents on its machine.
    pub measures_ceilings: bool,
}

/// A client's settings as given: keys and values, among them passwords.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientSettings(pub Vec<(String, String)>);

impl fmt::Debug for ClientSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} settings, not shown", self.0.len())
    }
}

/// What an agent sends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "kebab-case")]
pub enum AgentMessage {
    /// The first message.
    Hello {
        /// The agent's machine.
        host: String,
        /// The version of its kgauge.
        version: String,
        /// Its process.
        pid: u32,
        /// Processors that it may use.
        processors: u32,
    },
    /// The answer to a clock probe.
    ClockAnswer {
        /// From the probe.
        sent_ns: u64,
        /// The agent's clock when it received the probe.
        received_ns: u64,
        /// The agent's clock when it sent the answer.
        answered_ns: u64,
    },
    /// The answer to the first message of a lead while another lead uses the agent.
    Busy,
    /// Everything is connected.
    Prepared {
        /// From the order.
        round: u32,
        /// What the agent found.
        facts: PreparedFacts,
    },
    /// The repeat cannot be prepared.
    PrepareFailed {
        /// From the order.
        round: u32,
        /// In words.
        why: String,
    },
    /// The answer to a start if the load was stopped before, or if nothing is prepared.
    NotStarted,
    /// The load has begun.
    Started {
        /// How long after the agreed time.
        late_ns: u64,
    },
    /// The load, a few times per second.
    Progress {
        /// As the load engine reports it.
        load: Box<LoadProgress>,
        /// For each flow its records over time, until the start of the hold is decided.
        paces: Vec<PaceSeries>,
        /// When the agent's record counts were complete.
        counts_done_ns: Option<u64>,
        /// For each flow the agent's records, if it is an echo flow that is spread over the agents.
        echoes: Vec<Option<EchoTally>>,
    },
    /// The load is over, and everything was sent.
    Ended(Box<AgentOutcome>),
    /// The load engine broke.
    LoadFailed {
        /// In words.
        why: String,
    },
}

/// What an agent found when it prepared a repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreparedFacts {
    /// Load threads.
    pub threads: u32,
}

/// The results of an agent's load, besides its slices and evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentOutcome {
    /// As the load engine reports it.
    pub load: LoadOutcome,
    /// When the agent's record counts were complete.
    pub counts_done_ns: Option<u64>,
    /// For each flow the agent's records, if it is an echo flow that is spread over the agents.
    pub echoes: Vec<Option<EchoTally>>,
    /// CPU time of the process within the hold.
    pub process_hold_cpu_ns: Option<u64>,
    /// Lateness of its records of the hold: the 99th percentile.
    pub lag_ns_p99: Option<u64>,
    /// The largest.
    pub lag_ns_max: Option<u64>,
    /// Periods of a control group's CPU limit during the repeat, and those in which it held the process back.
    pub cpu_limit_periods: Option<(u64, u64)>,
    /// CPU time that a load thread at full speed needs for the records of the hold, by the agent's own ceilings.
    pub full_speed_ns: Option<u64>,
    /// The busiest network interface in the hold.
    pub network: Option<AgentNetworkRecord>,
}

/// A content that is not a message.
#[derive(Debug, thiserror::Error)]
#[error("a message of the agent protocol cannot be read: {0}")]
pub struct AgentMessageError(#[from] serde_json::Error);

/// The content of a message's frame.
pub fn encode(message: &impl Serialize) -> Result<Vec<u8>, AgentMessageError> {
    Ok(serde_json::to_vec(message)?)
}

/// Reads a message. What it allocates is bounded by the frame.
pub fn decode<M: DeserializeOwned>(content: &[u8]) -> Result<M, AgentMessageError> {
    Ok(serde_json::from_slice(content)?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_as_they_were() {
        let lead = LeadMessage::Start {
            at_ns: u64::MAX,
            unix_ms: i64::MIN,
        };
        let bytes = encode(&lead).unwrap();
        assert_eq!(decode::<LeadMessage>(&bytes).unwrap(), lead);
        let agent = AgentMessage::ClockAnswer {
            sent_ns: 1,
            received_ns: 2,
            answered_ns: 3,
        };
        let bytes = encode(&agent).unwrap();
        assert_eq!(decode::<AgentMessage>(&bytes).unwrap(), agent);
        assert!(decode::<LeadMessage>(&bytes).is_err());
        assert!(decode::<AgentMessage>(b"{").is_err());
    }

    #[test]
    fn settings_of_a_client_are_not_shown() {
        let settings = ClientSettings(vec![("sasl.jaas.config".into(), "hunter2".into())]);
        assert_eq!(format!("{settings:?}"), "1 settings, not shown");
    }
}
