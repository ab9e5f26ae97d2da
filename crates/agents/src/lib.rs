//! Load from several processes and machines: a lead plans and merges, agents generate the load.
//!
//! # Goals
//!
//! * All agents together send exactly what one process would, and their slices merge exactly.
//! * They start at one agreed time, and the error of that time is known.
//! * A lost agent, a lost lead or a clock that stepped is found within seconds and never hidden.
//!
//! # Non-goals
//!
//! * Deciding what a run does (`runner`) and what its figures mean (`analyze`).
//! * Redistributing the share of a lost agent.
//!
//! # Where to start
//!
//! [`AgentsSpec`] is what the user asks for. [`AgentToken`] is the secret that both sides prove to each other.

pub mod agent;
mod channel;
pub mod clock;
pub mod lead;
mod monotonic_clock;
pub mod protocol;
mod silence;
mod slots;
mod spec;
mod tls;
mod token;

pub use channel::ChannelError;
pub use spec::{AGENTS_MAX, AgentsLost, AgentsSpec, AgentsSpecError};
pub use tls::AgentTlsError;
pub use token::{AgentToken, AgentTokenError};
