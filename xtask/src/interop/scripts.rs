//! Calls of Kafka's command-line tools that several checks make.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::actions::REPLICATION_FACTOR;
use crate::kafka::{Job, KafkaScript, Tools};

/// Writes what a tool wants to read from a file, and gives the file's name.
pub(super) fn json_file(folder: &Path, name: &str, content: &Value) -> Result<String> {
    let path: PathBuf = folder.join(name);
    fs::write(&path, content.to_string())?;
    let path = path.to_str().context("the folder's name is not UTF-8")?;
    Ok(path.to_owned())
}

/// Makes a topic with as many replicas as the cluster can keep.
pub(super) fn create(tools: &Tools<'_>, topic: &str, partitions: u32) -> Result<Job> {
    let partitions = partitions.to_string();
    let what = ["--create", "--topic", topic, "--partitions", &partitions];
    let how = ["--replication-factor", REPLICATION_FACTOR];
    tools.call(KafkaScript::TOPICS, &[&what[..], &how].concat())
}
