//! What a start of Apache Kafka needs to know beside the spec.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Folders, names and limits of a start.
#[derive(Debug, Clone)]
pub struct KafkaSetup {
    /// Names the cluster; no other that runs may have it.
    pub name: String,
    /// Where fetched releases lie, for all runs.
    pub cache_dir: PathBuf,
    /// Where the records of clusters that run lie, and their configurations with secrets in them.
    pub state_dir: PathBuf,
    /// Where the data lies. It must not be there before.
    pub data_dir: PathBuf,
    /// Whether the data stays.
    pub keep_data: bool,
    /// Where everything goes that the processes say.
    pub log_dir: PathBuf,
    /// The Java to use; without it the one in `path`.
    pub java_home: Option<PathBuf>,
    /// Where programs are looked for, as in the environment variable `PATH`.
    pub path: Option<OsString>,
    /// How long the start may take, without fetching.
    pub time_limit: Duration,
    /// Tells the user what takes long.
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
