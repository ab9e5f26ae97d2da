//! What the sampler watches, and what it reports of itself.

use std::path::PathBuf;
use std::time::Duration;

use kgauge_results::run::{RepeatKey, Subject};

use crate::network_speed::UserSpeed;

/// What to sample, and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplingPlan {
    /// The interval; samples are taken at multiples of it on the run's clock.
    pub every: Duration,
    /// The repeat that is observed.
    pub repeat: Option<RepeatKey>,
    /// The target's processes on this machine, and other processes.
    pub targets: Vec<WatchedProcess>,
    /// Folders on this machine with the target's data: the disks under them are recorded.
    pub data_dirs: Vec<PathBuf>,
    /// Interface speeds given by the user; drivers report all others.
    pub speeds: Vec<UserSpeed>,
}

/// Another process to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedProcess {
    /// The operating system's number.
    pub pid: u32,
    /// The subject of its evidence. Two processes with the same subject could not be distinguished.
    pub subject: Subject,
}

impl SamplingPlan {
    /// Watches this process, its load threads, the machine and these processes, once per second.
    pub fn each_second(repeat: RepeatKey, targets: Vec<WatchedProcess>) -> SamplingPlan {
        SamplingPlan {
            every: Duration::from_secs(1),
            repeat: Some(repeat),
            targets,
            data_dirs: Vec::new(),
            speeds: Vec::new(),
        }
    }

    /// Adds the folders of the target's data.
    pub fn with_data_dirs(mut self, data_dirs: Vec<PathBuf>) -> SamplingPlan {
        self.data_dirs = data_dirs;
        self
    }

    /// Adds interface speeds given by the user.
    pub fn with_speeds(mut self, speeds: Vec<UserSpeed>) -> SamplingPlan {
        self.speeds = speeds;
        self
    }
}

/// The cost and the problems of observing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SamplerReport {
    /// Number of samples.
    pub looks: u64,
    /// CPU time of the thread.
    pub cpu_ns: u64,
    /// From its first sample to its last, on the run's clock.
    pub span_ns: u64,
    /// What could not be read or written, each problem once.
    pub notes: Vec<String>,
}
