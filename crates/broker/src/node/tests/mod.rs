//! A node with its controller on a virtual clock and a disk in memory: no thread, no socket.

mod authenticating;
mod bench;
mod faulting;
mod fetching;
mod grouping;
mod mangled;
mod producing;
mod serving;
mod throttling;

pub(crate) use bench::Bench;
