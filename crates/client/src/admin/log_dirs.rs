//! DescribeLogDirs: a broker's log directories, the sizes of their logs, and their free space.

use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::describe_log_dirs::{DescribableLogDirTopic, DescribeLogDirsResult};
use kgauge_wire::messages::{DescribeLogDirsRequest, DescribeLogDirsResponse};

use crate::cluster::{Cluster, ClusterError};

/// A directory of `log.dirs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogDir {
    /// Its path on the broker.
    pub path: String,
    /// [`ErrorCode::None`], or why it is offline.
    pub error: ErrorCode,
    /// Size of its file system in bytes; not reported before 3.3.
    pub total_bytes: Option<u64>,
    /// Free space of its file system in bytes; not reported before 3.3.
    pub usable_bytes: Option<u64>,
    /// The replicas in it.
    pub partitions: Vec<LogDirPartition>,
}

/// A replica's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogDirPartition {
    /// The topic's name.
    pub topic: String,
    /// The partition's index.
    pub partition: i32,
    /// Length of its segments in bytes.
    pub size_bytes: u64,
    /// Its lag in records: behind the high watermark for the current replica, behind the current replica for one that
    /// is being moved.
    pub offset_lag: i64,
}

/// Why the directories are unknown.
#[derive(Debug, thiserror::Error)]
#[error("log directories of broker {broker_id}: {error}")]
pub struct LogDirsError {
    /// The broker.
    pub broker_id: i32,
    /// What went wrong.
    #[source]
    pub error: ClusterError,
}

impl Cluster {
    /// A broker's log directories with the replicas of these topics; `None` for all topics.
    pub fn describe_log_dirs(
        &mut self,
        broker_id: i32,
        topics: Option<&[&str]>,
    ) -> Result<Vec<LogDir>, LogDirsError> {
        self.retrying("read log directories", |cluster, _| {
            Ok(cluster.describe_log_dirs_once(broker_id, topics)?)
        })
        .map_err(|failed: ClusterError| LogDirsError {
            broker_id,
            error: failed,
        })
    }

    fn describe_log_dirs_once(
        &mut self,
        broker_id: i32,
        topics: Option<&[&str]>,
    ) -> Result<Vec<LogDir>, ClusterError> {
        let topics = match topics {
            None => None,
            Some(topics) => Some(self.all_partitions(topics)?),
        };
        self.log_dirs_of(broker_id, topics)
    }

    /// A broker's log directories with the replicas of these partitions of a topic, in one attempt.
    pub fn describe_partition_log_dirs(
        &mut self,
        broker_id: i32,
        topic: &str,
        partitions: &[i32],
    ) -> Result<Vec<LogDir>, ClusterError> {
        let topic = DescribableLogDirTopic {
            topic: topic.to_owned().into(),
            partitions: partitions.to_vec(),
        };
        self.log_dirs_of(broker_id, Some(vec![topic]))
    }

    fn log_dirs_of(
        &mut self,
        broker_id: i32,
        topics: Option<Vec<DescribableLogDirTopic<'static>>>,
    ) -> Result<Vec<LogDir>, ClusterError> {
        let reply = self.call(broker_id, &DescribeLogDirsRequest { topics })?;
        let answer: DescribeLogDirsResponse<'_> = reply.decode()?;
        ErrorCode::from(answer.error_code)
            .ok()
            .map_err(|code| ClusterError::Refused {
                api: kgauge_wire::api::ApiKey::DescribeLogDirs,
                code,
                message: None,
            })?;
        Ok(answer.results.iter().map(log_dir).collect())
    }

    /// The request lists single partitions.
    fn all_partitions(
        &mut self,
        topics: &[&str],
    ) -> Result<Vec<DescribableLogDirTopic<'static>>, ClusterError> {
        let mut all = Vec::new();
        for &topic in topics {
            self.leader(topic, 0)?;
            let partitions = self
                .metadata()
                .topic(topic)
                .map_or(&[][..], |known| &known.partitions);
            let indices = partitions.iter().map(|partition| partition.index).collect();
            all.push(DescribableLogDirTopic {
                topic: topic.to_owned().into(),
                partitions: indices,
            });
        }
        Ok(all)
    }
}

fn log_dir(result: &DescribeLogDirsResult<'_>) -> LogDir {
    let mut partitions = Vec::new();
    for topic in &result.topics {
        partitions.extend(topic.partitions.iter().map(|partition| LogDirPartition {
            topic: topic.name.to_string(),
            partition: partition.partition_index,
            size_bytes: u64::try_from(partition.partition_size).unwrap_or(0),
            offset_lag: partition.offset_lag,
        }));
    }
    LogDir {
        path: result.log_dir.to_string(),
        error: ErrorCode::from(result.error_code),
        // -1 means "unknown".
        total_bytes: u64::try_from(result.total_bytes).ok(),
        usable_bytes: u64::try_from(result.usable_bytes).ok(),
        partitions,
    }
}
