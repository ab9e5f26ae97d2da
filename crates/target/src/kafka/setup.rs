//! Parameters of a start of Apache Kafka besides the spec.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Folders, names and limits of a start.
#[derive(Debug, Clone)]
pub struct KafkaSetup {
    /// Name of the cluster, unique among running ones.
    pub name: String,
    /// Cache folder of fetched releases, shared by all runs.
    pub cache_dir: PathBuf,
    /// Folder of the records of running clusters, and of their configurations with secrets.
    pub state_dir: PathBuf,
    /// Data folder. It must not exist.
    pub data_dir: PathBuf,
    /// Whether the data is kept.
    pub keep_data: bool,
    /// Log folder for the output of all processes.
    pub log_dir: PathBuf,
    /// The Java to use; otherwise the one in `path`.
    pub java_home: Option<PathBuf>,
    /// Search path for programs, as in the environment variable `PATH`.
    pub path: Option<OsString>,
    /// Time limit of the start, without fetching.
    pub time_limit: Duration,
    /// Reports slow steps to the user.
    pub remark: fn(&str),
}

impl KafkaSetup {
    /// The first program of this name in `path`.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let path = self.path.as_ref()?;
        std::env::split_paths(path)
            .map(|dir| dir.join(name))
            .find(|file| file.is_file())
    }
}

#[cfg(test)]
impl KafkaSetup {
    /// With its folders below this one, for tests that start no cluster.
    pub(crate) fn below(dir: &std::path::Path, path: Option<OsString>) -> Self {
        Self {
            name: "x".to_owned(),
            cache_dir: dir.join("cache"),
            state_dir: dir.join("state"),
            data_dir: dir.join("data"),
            keep_data: false,
            log_dir: dir.join("logs"),
            java_home: None,
            path,
            time_limit: Duration::from_secs(600),
            remark: |_| {},
        }
    }
}
