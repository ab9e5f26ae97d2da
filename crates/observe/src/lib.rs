//! What hosts, processes and brokers showed while a run went on.
//!
//! # Goals
//!
//! * Brokers' own metrics, once a second, from whoever tells them.
//! * Facts about the machine; and once a second, on the run's own clock, what the machine does (processors, memory and
//!   page cache, disks, network, waits) and what the generator and targets on this machine use of it, as
//!   [`kgauge_results::run::Evidence`].
//! * What brokers tell over the wire of the run's topic: replicas and how far they are behind, leaders, sizes, groups.
//! * What cannot be had is said in words, once, and never guessed.
//! * Observing costs less than one percent of a core, and says what it did cost.
//!
//! # Non-goals
//!
//! * Judging. What the evidence means is for `results` and `report` to say.
//! * Other machines, but for the metrics that their brokers tell.
//!
//! # Where to start
//!
//! [`host_facts`] for the machine, [`disk_baseline`] for what its disk does by itself, [`data_dir`] for the disks under
//! a folder, [`Sampler`] for what changes (`looker` is one look, `machine` and `process_watch` what it sees, `block`,
//! `memory`, `network` and `pressure` the kernel's texts, `network_speed` how fast interfaces are), [`ProcessSampler`]
//! for one look at one process, `programs` for who else uses the processors, [`BrokerSource`] for what brokers tell of
//! themselves (`broker`), [`WireWatcher`] for what they are asked in Kafka's protocol, [`listener_pid`] for the process
//! of a broker that was there before, [`thread_cpu_ns`] for the calling thread, [`RunQueue`] for waits for a processor.

mod block;
mod broker;
mod cgroup;
mod change_filter;
mod cpu_clock;
mod cpu_limit;
mod data_dir;
mod disk;
mod file_system;
mod host;
mod listener;
mod machine;
mod memory;
mod network;
mod network_speed;
mod pressure;
mod proc_file;
mod process;
mod process_clock;
mod process_watch;
mod programs;
mod run_queue;
mod sampler;
mod sampler_state;
mod source;
mod unavailable;
mod wire;

pub use broker::{
    BrokerSamples, BrokerSource, Jolokia, LOOK_MAX, MetricsEndpoint, MetricsUrl, MetricsUrlError,
    MissedBroker, metrics_not_seen,
};
pub use cgroup::CgroupLimits;
pub use cpu_clock::{process_cpu_ns, thread_cpu_ns};
pub use data_dir::data_dir;
pub use disk::{DiskError, disk_baseline};
pub use file_system::{FileSystem, free_bytes};
pub use host::{HostCpu, HostFacts, host_cpu, host_facts};
pub use listener::listener_pid;
pub use network_speed::{UserSpeed, network_interfaces};
pub use process::{ProcessError, ProcessSample, ProcessSampler, ThreadSample};
pub use run_queue::{RunQueue, RunQueueSample, storage_wait_ns};
pub use sampler::{Sampler, SamplerReport, SamplingPlan, WatchedProcess};
pub use unavailable::Unavailable;
pub use wire::{TopicObservation, WireWatch, WireWatcher};
