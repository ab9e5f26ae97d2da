//! Apache Kafka itself, for checks and comparisons: fetched, started on this machine, and its
//! command-line tools, all as child processes that never outlive the command.

mod broker;
pub(crate) mod output;
mod process;
mod ready;
mod release;
mod tool;

pub(crate) use broker::KafkaBroker;
pub(crate) use process::{ChildProcess, FinishedJob, Job, poll};
pub(crate) use release::{RELEASE, ReleaseJars, fetch};
pub(crate) use tool::{KafkaScript, Tools};
