//! A node with its controller on a virtual clock and a disk in memory: no thread, no socket.

mod authenticating;
mod bench;
mod configuring;
mod faulting;
mod fetching;
mod grouping;
mod mangled;
mod many;
mod producing;
mod serving;
mod storing;
mod throttling;

pub(crate) use bench::Bench;
