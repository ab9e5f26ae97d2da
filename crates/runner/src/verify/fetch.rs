//! One Fetch request for one partition of one broker.

use std::ops::RangeInclusive;

use kgauge_client::{CallError, Cluster, ClusterError};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::FetchRequest;
use kgauge_wire::messages::fetch::{FetchPartition, FetchTopic, PartitionData};

/// The newest version of Fetch with topic names.
pub(super) const VERSION_MAX: i16 = 12;

/// Bytes of one response.
const FETCH_BYTES: i32 = 8 << 20;

/// How long a broker waits for records.
const WAIT_MS: i32 = 500;

/// What to fetch.
pub(super) struct FetchPlace<'a> {
    pub(super) topic: &'a str,
    pub(super) partition: u32,
    pub(super) position: u64,
    pub(super) reads_committed: bool,
    pub(super) versions: RangeInclusive<i16>,
}

/// Why a request gave nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchTrouble {
    /// The broker did not answer.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// Its answer is malformed.
    #[error(transparent)]
    Malformed(#[from] CallError),
    /// It refused.
    #[error("{0}")]
    Code(ErrorCode),
}

/// Fetches from a broker and passes its answer on.
pub(super) fn fetch<R>(
    cluster: &mut Cluster,
    broker_id: i32,
    place: &FetchPlace<'_>,
    take: impl FnOnce(&PartitionData<'_>) -> R,
) -> Result<R, FetchTrouble> {
    let request = FetchRequest {
        max_wait_ms: WAIT_MS,
        min_bytes: 1,
        max_bytes: FETCH_BYTES,
        isolation_level: i8::from(place.reads_committed),
        topics: vec![FetchTopic {
            topic: place.topic.into(),
            partitions: vec![FetchPartition {
                partition: i32::try_from(place.partition).unwrap_or(i32::MAX),
                fetch_offset: i64::try_from(place.position).unwrap_or(i64::MAX),
                partition_max_bytes: FETCH_BYTES,
                ..FetchPartition::default()
            }],
            ..FetchTopic::default()
        }],
        ..FetchRequest::default()
    };
    let limit = cluster.config().request_timeout;
    let reply = cluster.call_between(broker_id, &request, place.versions.clone(), limit)?;
    let response = reply.decode()?;
    check_code(response.error_code)?;
    let mut topics = response.responses.iter();
    let answer = topics.find_map(|topic| topic.partitions.first());
    let Some(answer) = answer else {
        return Err(FetchTrouble::Code(ErrorCode::UnknownTopicOrPartition));
    };
    check_code(answer.error_code)?;
    Ok(take(answer))
}

fn check_code(code: i16) -> Result<(), FetchTrouble> {
    let code = ErrorCode::from_i16(code);
    match code.is_none() {
        true => Ok(()),
        false => Err(FetchTrouble::Code(code)),
    }
}
