//! Topics on releases that cannot create them over the wire (before 0.10.1), with the release's own tool.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use kgauge_client::admin::TopicSpec;

use super::error::KafkaError;

/// The release's own `kafka-topics`.
#[derive(Debug, Clone)]
pub struct TopicTool {
    pub(crate) java: PathBuf,
    pub(crate) class_path: OsString,
    pub(crate) log4j: PathBuf,
    pub(crate) zookeeper: String,
}

impl TopicTool {
    /// Creates a topic. It returns before leaders are known.
    pub fn create(&self, topic: &TopicSpec) -> Result<(), KafkaError> {
        let mut arguments: Vec<String> = vec![
            "--create".to_owned(),
            "--topic".to_owned(),
            topic.name.clone(),
            "--partitions".to_owned(),
            topic.partitions.to_string(),
            "--replication-factor".to_owned(),
            topic.replication_factor.to_string(),
        ];
        for (key, value) in &topic.configs {
            arguments.extend(["--config".to_owned(), format!("{key}={value}")]);
        }
        self.run(&arguments)
    }

    /// Marks a topic for deletion; brokers remove it soon after.
    pub fn delete(&self, name: &str) -> Result<(), KafkaError> {
        self.run(&["--delete".to_owned(), "--topic".to_owned(), name.to_owned()])
    }

    fn run(&self, arguments: &[String]) -> Result<(), KafkaError> {
        let output = Command::new(&self.java)
            .args(["-Xmx128M", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"])
            .arg(log4j(&self.log4j))
            .arg("-cp")
            .arg(&self.class_path)
            .args(["kafka.admin.TopicCommand", "--zookeeper", &self.zookeeper])
            .args(arguments)
            .stdin(Stdio::null())
            .output();
        let output = output.map_err(|error| KafkaError::Spawn {
            role: "the topic tool".to_owned(),
            error,
        })?;
        let bytes = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&bytes);
        // 0.8 prints the error and exits with 0.
        if output.status.success() && !text.contains("Error while executing") {
            return Ok(());
        }
        Err(KafkaError::TopicTool {
            output: text.lines().take(4).collect::<Vec<_>>().join("\n"),
        })
    }
}

/// The flag that sets log4j 1's configuration.
pub(crate) fn log4j(file: &std::path::Path) -> OsString {
    let mut flag = OsString::from("-Dlog4j.configuration=file:");
    flag.push(file);
    flag
}
