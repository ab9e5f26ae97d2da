//! Room `broker`.
pub mod log;
pub mod storage;

pub mod cluster;
pub mod controller;
pub mod fault;
mod groups;
pub mod handlers;
pub mod ids;
pub mod image;
pub mod node;
pub mod random;
mod server;
pub mod settings;
pub mod time;
mod timers;

pub use fault::{Fault, FaultAction, FaultError};
pub use cluster::{
    Cluster, ClusterConfig, ClusterFailure, ClusterHandle, Disk, Listen, StartError,
};
