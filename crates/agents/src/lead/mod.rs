//! The lead: gathers agents, starts their loads together, merges what they send.

mod clock_probe;
mod error;
mod gather;
mod launch;
mod ledgers;
mod link;
mod merge;
mod parallel;
mod pool;
mod prepare;
mod progress;
mod record;
mod run;
mod ssh;

pub use error::AgentsError;
pub use pool::{AgentPool, AgentPoolSetup};
pub use run::{AgentsRepeat, AgentsRun, AgentsTrouble};
