//! What hosts and processes showed while a run went on.
//!
//! # Goals
//!
//! * Facts about the machine, the memory and CPU of the generator and of targets on this machine,
//!   once a second on the run's own clock, as [`kgauge_results::run::Evidence`].
//! * What cannot be had is said in words, and never guessed.
//! * Observing costs less than one percent of a core, and says what it did cost.
//!
//! # Non-goals
//!
//! * Judging. What the evidence means is for `results` and `report` to say.
//! * Brokers' own metrics, disks and networks, yet.
//!
//! # Where to start
//!
//! [`host_facts`] for the machine, [`disk_baseline`] for what its disk does by itself, [`Sampler`] for what changes, [`ProcessSampler`] for one look at
//! one process, [`listener_pid`] for the process of a broker that was there before,
//! [`thread_cpu_ns`] for the calling thread.

mod cgroup;
mod cpu_clock;
mod disk;
mod file_system;
mod host;
mod listener;
mod process;
mod sampler;
mod unavailable;

pub use cgroup::CgroupLimits;
pub use cpu_clock::{process_cpu_ns, thread_cpu_ns};
pub use disk::{DiskError, disk_baseline};
pub use file_system::{FileSystem, free_bytes};
pub use host::{HostCpu, HostFacts, host_cpu, host_facts};
pub use listener::listener_pid;
pub use process::{ProcessError, ProcessSample, ProcessSampler, ThreadSample};
pub use sampler::{Sampler, SamplerReport, Watch, WatchedProcess};
pub use unavailable::Unavailable;
