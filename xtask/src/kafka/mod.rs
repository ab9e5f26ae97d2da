//! Apache Kafka itself, for checks and comparisons: fetched, started on this machine, and its
//! command-line tools, all as child processes that never outlive the command.

mod broker;
pub(crate) mod output;
mod process;
mod ready;
mod release;
mod tool;

pub(crate) use broker::Broker;
pub(crate) use process::{Finished, Job, Running, poll};
pub(crate) use release::{RELEASE, Release, fetch};
pub(crate) use tool::{Tool, Tools};
