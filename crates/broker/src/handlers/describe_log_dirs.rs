//! `DescribeLogDirs` (key 35), versions 1 to 5: the node's folder and the bytes of its partitions.
//!
//! * A node has one folder. Version 3 adds an error code for the whole, version 4 size and free
//!   bytes of the file system, version 5 whether the folder is cordoned (never).
//! * A null list of topics asks for all.

use std::collections::BTreeMap;

use kgauge_wire::codec::Str;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::describe_log_dirs::{
    DescribeLogDirsPartition, DescribeLogDirsRequest, DescribeLogDirsResponse,
    DescribeLogDirsResult, DescribeLogDirsTopic,
};

use super::RequestBody;
use super::lookup::RequestedPartitions;
use crate::node::{BrokerNode, CloseReason, PendingRequest};

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: DescribeLogDirsRequest<'_> = body.decode(call.version())?;
    let requested = RequestedPartitions::of(request.topics.as_ref().map(|topics| {
        topics
            .iter()
            .map(|topic| (&*topic.topic, &topic.partitions))
    }));
    let mut topics: BTreeMap<&str, Vec<DescribeLogDirsPartition>> = BTreeMap::new();
    for replica in node.replicas.values() {
        if requested.contains(&replica.topic, replica.id.index) {
            topics
                .entry(&replica.topic)
                .or_default()
                .push(DescribeLogDirsPartition {
                    partition_index: replica.id.index,
                    partition_size: i64::try_from(replica.log.size_bytes()).unwrap_or(i64::MAX),
                    offset_lag: 0,
                    is_future_key: false,
                });
        }
    }
    let entry = |(name, mut partitions): (&str, Vec<DescribeLogDirsPartition>)| {
        partitions.sort_by_key(|partition| partition.partition_index);
        DescribeLogDirsTopic {
            name: Str::Owned(name.to_owned()),
            partitions,
        }
    };
    let topics = topics.into_iter().map(entry).collect();
    let dir = &node.config.dir;
    let bytes = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let space = node.config.storage.space(dir);
    let error = if space.is_ok() {
        ErrorCode::None
    } else {
        ErrorCode::KafkaStorageError
    };
    let result = DescribeLogDirsResult {
        error_code: error.as_i16(),
        log_dir: Str::Owned(dir.display().to_string()),
        topics,
        total_bytes: space.as_ref().map_or(-1, |space| bytes(space.bytes_total)),
        usable_bytes: space.as_ref().map_or(-1, |space| bytes(space.bytes_free)),
        is_cordoned: false,
    };
    let results = vec![result];
    node.respond(
        call.reply,
        &DescribeLogDirsResponse {
            results,
            ..Default::default()
        },
    );
    Ok(())
}
