//! What a run needs from its machine: folders for caches and state, Java, the program of the embedded cluster.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kgauge_target::kafka::{KafkaSetup, START_MAX};
use kgauge_target::{EmbeddedCommand, EmbeddedSetup, FileReuse, StartSetup};

/// How long an embedded cluster may take to start, and to stop.
const EMBEDDED_TIME_MAX: Duration = Duration::from_secs(30);

/// The folder for the logs of Apache Kafka's processes.
pub(crate) const TARGET_LOGS: &str = "target-logs";

/// What kgauge needs from a machine and its user to start targets.
#[derive(Debug, Clone)]
pub struct HostSetup {
    /// Starts the embedded cluster.
    pub embedded: EmbeddedCommand,
    /// The folder of fetched Apache Kafka releases.
    pub cache_dir: PathBuf,
    /// The folder with the records of started clusters.
    pub state_dir: PathBuf,
    /// The Java to use; without it the one in `path`.
    pub java_home: Option<PathBuf>,
    /// Folders to search for programs, as in the environment variable `PATH`.
    pub path: Option<OsString>,
    /// Tells the user what takes long.
    pub remark: fn(&str),
}

/// Where things of a target go, and what becomes of them.
#[derive(Debug)]
pub(crate) struct TargetContext<'a> {
    /// Names it.
    pub(crate) name: &'a str,
    /// A folder for its data.
    pub(crate) data_dir: &'a Path,
    /// Whether the data stays.
    pub(crate) keep_data: bool,
    /// Whether an embedded cluster uses the files of removed logs again, unless the data stays.
    pub(crate) file_reuse: Option<FileReuse>,
    /// A folder for logs.
    pub(crate) log_dir: &'a Path,
    /// Where the randomness of an embedded cluster's faults comes from.
    pub(crate) seed: u64,
}

impl HostSetup {
    /// The setup for a target of any kind.
    pub(crate) fn start_setup(&self, of: &TargetContext<'_>) -> StartSetup {
        StartSetup {
            embedded: EmbeddedSetup {
                command: self.embedded.clone(),
                data_dir: of.data_dir.to_owned(),
                keep_data: of.keep_data,
                file_reuse: of.file_reuse.filter(|_| !of.keep_data),
                log_file: of.log_dir.join("target.log"),
                private_dir: self.state_dir.join(of.name),
                seed: of.seed,
                time_limit: EMBEDDED_TIME_MAX,
            },
            kafka: KafkaSetup {
                name: of.name.to_owned(),
                data_dir: of.data_dir.to_owned(),
                keep_data: of.keep_data,
                log_dir: of.log_dir.join(TARGET_LOGS),
                ..self.kafka_setup()
            },
        }
    }

    /// The setup for questions that start nothing.
    pub fn kafka_setup(&self) -> KafkaSetup {
        KafkaSetup {
            name: String::new(),
            cache_dir: self.cache_dir.clone(),
            state_dir: self.state_dir.clone(),
            data_dir: PathBuf::new(),
            keep_data: false,
            log_dir: PathBuf::new(),
            java_home: self.java_home.clone(),
            path: self.path.clone(),
            time_limit: START_MAX,
            remark: self.remark,
        }
    }
}
