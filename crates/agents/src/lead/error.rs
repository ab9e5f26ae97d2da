//! Why a run has no agents.

use std::io;

use crate::channel::ChannelError;
use crate::tls::AgentTlsError;

/// Why agents cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AgentsError {
    /// The lead cannot listen.
    #[error("--agents: cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: String,
        /// The system's message.
        source: io::Error,
    },
    /// A process cannot be started.
    #[error("--agents: cannot start {program}: {source}")]
    Launch {
        /// The program.
        program: String,
        /// The system's message.
        source: io::Error,
    },
    /// A host cannot be used.
    #[error("--agents: host {host}: {why}")]
    Ssh {
        /// The host.
        host: String,
        /// What ssh, or the host, said.
        why: String,
    },
    /// A process that was started has ended.
    #[error("--agents: {name} ended before it joined: {status}")]
    Ended {
        /// The agent.
        name: String,
        /// What is known of its end.
        status: String,
    },
    /// An agent cannot be reached.
    #[error(
        "--agents: cannot reach {address}: {source}\n  start it there: kgauge agent --listen 0.0.0.0:PORT --token-file \
         FILE"
    )]
    Connect {
        /// Its address.
        address: String,
        /// The system's message.
        source: io::Error,
    },
    /// An agent is refused, or refuses the lead.
    #[error("--agents: {address}: {source}")]
    Refused {
        /// Its address.
        address: String,
        /// Why.
        source: ChannelError,
    },
    /// Not all joined in time.
    #[error("--agents: {joined} of {count} agents joined within {seconds} s{last}")]
    Missing {
        /// How many did.
        joined: usize,
        /// How many are needed.
        count: usize,
        /// How long the lead waited.
        seconds: u64,
        /// The last refusal, as a sentence; empty without one.
        last: String,
    },
    /// An agent serves another run.
    #[error("--agents: {name} serves another run; wait for its end, or start another agent")]
    Busy {
        /// The agent.
        name: String,
    },
    /// An agent has another version of kgauge.
    #[error(
        "--agents: {name} runs kgauge {theirs}, the lead {}; use the same version on all machines",
        env!("CARGO_PKG_VERSION")
    )]
    Version {
        /// The agent.
        name: String,
        /// Its version.
        theirs: String,
    },
    /// Agents of this kind are not available.
    #[error("--agents {kind}: not supported")]
    Unsupported {
        /// The kind.
        kind: String,
    },
    /// An agent cannot connect to the target.
    #[error("{name}: {why}")]
    Prepare {
        /// The agent.
        name: String,
        /// Its message.
        why: String,
    },
    /// An agent was lost between repeats.
    #[error("lost {name}: {why}")]
    Lost {
        /// The agent.
        name: String,
        /// What the lead noticed.
        why: String,
    },
    /// The user stops the run.
    #[error("interrupted while waiting for agents")]
    Interrupted,
    /// There is no TLS.
    #[error(transparent)]
    Tls(#[from] AgentTlsError),
    /// The system refuses a thread.
    #[error("--agents: cannot start a thread: {0}")]
    Thread(io::Error),
}
