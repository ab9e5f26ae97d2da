//! Apache Kafka itself, for checks and comparisons: fetched, started on this machine, and its
//! command-line tools, all as child processes that never outlive the command.

mod broker;
pub(crate) mod output;
mod process;
mod tool;

pub(crate) use broker::{KafkaBroker, RELEASE, setup, tools};
pub(crate) use kgauge_target::kafka::ReleaseTools;
pub(crate) use process::{ChildProcess, FinishedJob, Job, poll, printed, status};
pub(crate) use tool::{HEAP, KafkaScript, Tools};
