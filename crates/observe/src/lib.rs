//! Samples hosts, processes and brokers during a run.
//!
//! # Goals
//!
//! * Brokers' own metrics, once per second.
//! * Facts about the machine; and once per second, on the run's clock, its activity (processors, memory and page cache,
//!   disks, network, waits) and the part of generator and targets, as [`kgauge_results::run::Evidence`].
//! * The state of the run's topic, over Kafka's protocol: replicas and their lag, leaders, sizes, groups.
//! * Unavailable data is reported once, and never guessed.
//! * Observing costs less than one percent of a core, and reports its cost.
//!
//! # Non-goals
//!
//! * Judging evidence, which is up to `analyze` and `report`.
//! * Other machines, except for their brokers' metrics.
//!
//! # Where to start
//!
//! | | |
//! |---|---|
//! | [`machine_record`] | facts about the machine |
//! | [`Sampler`] | its activity: `sampler_state` is one sample, `machine` and `process_watch` its parts |
//! | `block`, `network`, `pressure`, `proc_table` | parsers of the kernel's texts |
//! | `network_speed` | interface speeds |
//! | [`ProcessSampler`], `programs` | one process; other programs that use the processors |
//! | [`BrokerSource`] | metrics that brokers report (`broker`) |
//! | [`WireWatcher`] | state that brokers report over Kafka's protocol (`wire`) |
//! | [`census`], [`ClusterWatch`] | facts about a cluster; its health and the speed of its brokers during loads |
//! | [`disk_baseline`], `data_dir` | speed of a disk alone; the disks under a folder |
//! | [`listener_pid`] | process of a broker that somebody else started |
//! | [`CpuTrack`], [`CompilerTrack`] | CPU time between two moments: of a process; of a JVM's compilers |
//! | [`RunQueue`] | waits for a processor |

mod block;
mod broker;
mod census;
mod cgroup;
mod change_filter;
mod cluster_watch;
mod compiler_track;
mod cpu_clock;
mod cpu_limit;
mod cpu_track;
mod data_dir;
mod disk;
mod file_system;
mod host;
mod listener;
mod machine;
mod network;
mod network_speed;
mod observation;
mod pressure;
mod proc_file;
mod proc_table;
mod process;
mod process_clock;
mod process_watch;
mod programs;
mod run_queue;
mod sampler;
mod sampler_state;
mod sampling_plan;
mod source;
mod sync;
mod unavailable;
mod wire;

pub use broker::{
    BrokerSamples, BrokerSource, Jolokia, LOOK_MAX, MetricsEndpoint, MetricsUrl, MetricsUrlError,
    MissedBroker, metrics_not_seen,
};
pub use census::census;
pub use cluster_watch::{ClusterWatch, HealthLimits, HealthTap};
pub use compiler_track::CompilerTrack;
pub use cpu_track::CpuTrack;
pub use disk::{DiskError, disk_baseline};
pub use host::{HostCpu, host_cpu, machine_record};
pub use listener::listener_pid;
pub use network_speed::{UserSpeed, network_interfaces};
pub use observation::unix_ms;
pub use process::{ProcessError, ProcessSample, ProcessSampler};
pub use run_queue::{RunQueue, RunQueueSample, storage_wait_ns};
pub use sampler::Sampler;
pub use sampling_plan::{SamplerReport, SamplingPlan, WatchedProcess};
pub use unavailable::Unavailable;
pub use wire::{TopicObservation, WireWatch, WireWatcher};
