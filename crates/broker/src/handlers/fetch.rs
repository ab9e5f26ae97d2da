//! `Fetch` (key 1), versions 4 to 18: batches from the logs of partitions led here.
//!
//! * The answer carries stretches of log files, which the server sends from the page cache. A
//!   stretch ends within one segment; its last batch may be cut off at the limit, as by Kafka.
//! * Limits: the request's `MaxBytes` or `fetch.max.bytes`, whichever is less, over all partitions,
//!   and each partition's own. The first batch of the first partition that has any comes whole all
//!   the same, so that a consumer gets on.
//! * Fewer than `MinBytes` wait for `MaxWaitMs` at most. An error in any partition answers at once.
//! * Consumers see records below the high watermark, of whatever isolation level: without
//!   transactions the two are one.
//! * Version 9 brings leader epochs (FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH), version 13 topic
//!   ids.
//! * Incremental sessions (from version 7) are declined: the answer always carries session id 0,
//!   which tells the client to name all its partitions each time. A session id from elsewhere gets
//!   FETCH_SESSION_ID_NOT_FOUND. Full requests cost about 40 bytes a partition; sessions pay from
//!   thousands of partitions a consumer on.
//!
//! Not done: sessions; fetches of followers (served like consumers'); preferred read replicas; the
//! hints with diverging epochs and new leaders.

use kgauge_wire::codec::Uuid;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::fetch::FetchRequest;

use super::lookup::{self, TopicKey};
use super::{Body, fetch_response};
use crate::ids::{ConnectionId, PartitionId};
use crate::log::{FirstBatch, ReadRequest};
use crate::node::{Call, CloseReason, Node, Replica, Reply};
use crate::storage::FileSlice;
use crate::time::Now;

/// From this version on topics go by id.
pub(super) const BY_ID_FROM: i16 = 13;

/// A fetch, free of the request's bytes, so that it can wait.
#[derive(Debug)]
pub(crate) struct Fetch {
    reply: Reply,
    wait_ms_max: i32,
    bytes_min: u64,
    bytes_max: usize,
    topics: Vec<TopicFetch>,
}

/// One topic of a fetch.
#[derive(Debug)]
struct TopicFetch {
    name: String,
    id: Uuid,
    /// The id that the topic had when the fetch came; zero when it was not known.
    found: Uuid,
    partitions: Vec<PartitionFetch>,
}

/// One partition of a fetch.
#[derive(Debug, Clone, Copy)]
struct PartitionFetch {
    index: i32,
    leader_epoch: i32,
    offset: i64,
    bytes_max: usize,
}

/// What a partition has to give.
#[derive(Debug)]
pub(super) struct PartitionAnswer {
    pub(super) index: i32,
    pub(super) error: ErrorCode,
    pub(super) high_watermark: i64,
    pub(super) last_stable_offset: i64,
    pub(super) log_start_offset: i64,
    pub(super) records: Option<FileSlice>,
}

/// What a topic has to give.
#[derive(Debug)]
pub(super) struct TopicAnswer<'f> {
    pub(super) name: &'f str,
    pub(super) id: Uuid,
    pub(super) partitions: Vec<PartitionAnswer>,
}

/// Whether a fetch may be parked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// It came just now.
    Allowed,
    /// It has waited: it is answered with what is there.
    Over,
}

impl Fetch {
    pub(crate) fn connection(&self) -> ConnectionId {
        self.reply.ticket.connection
    }

    pub(crate) fn wait_ms_max(&self) -> i64 {
        i64::from(self.wait_ms_max)
    }

    /// The partitions whose appends matter.
    pub(crate) fn watched(&self) -> impl Iterator<Item = PartitionId> {
        self.topics.iter().flat_map(|topic| {
            let partition = |p: &PartitionFetch| PartitionId {
                topic: topic.found,
                index: p.index,
            };
            topic.partitions.iter().map(partition)
        })
    }
}

pub(super) fn handle(node: &mut Node, call: Call, body: Body<'_>) -> Result<(), CloseReason> {
    let request: FetchRequest<'_> = body.decode(call.version())?;
    if request.session_id != 0 && request.session_epoch > 0 {
        let error = ErrorCode::FetchSessionIdNotFound;
        fetch_response::send(node, call.reply, error, &[]);
        return Ok(());
    }
    let limit = i64::from(request.max_bytes).min(node.settings.fetch_max_bytes);
    let fetch = Fetch {
        reply: call.reply,
        wait_ms_max: request.max_wait_ms,
        bytes_min: u64::try_from(request.min_bytes).unwrap_or(0),
        bytes_max: usize::try_from(limit).unwrap_or(0),
        topics: topics_of(node, &request, call.version()),
    };
    serve(node, call.now, fetch, Waiting::Allowed);
    Ok(())
}

fn topics_of(node: &Node, request: &FetchRequest<'_>, version: i16) -> Vec<TopicFetch> {
    let topic = |topic: &kgauge_wire::messages::fetch::FetchTopic<'_>| {
        let key = TopicKey::of(&topic.topic, topic.topic_id, version >= BY_ID_FROM);
        TopicFetch {
            name: topic.topic.to_string(),
            id: topic.topic_id,
            found: lookup::topic(node, key).map_or(Uuid::ZERO, |topic| topic.id),
            partitions: topic
                .partitions
                .iter()
                .map(|p| PartitionFetch {
                    index: p.partition,
                    leader_epoch: p.current_leader_epoch,
                    offset: p.fetch_offset,
                    bytes_max: usize::try_from(p.partition_max_bytes).unwrap_or(0),
                })
                .collect(),
        }
    };
    request.topics.iter().map(topic).collect()
}

/// Answers a fetch, or parks it when there is too little and it may wait.
pub(crate) fn serve(node: &mut Node, now: Now, fetch: Fetch, waiting: Waiting) {
    let mut left = fetch.bytes_max;
    let mut found = 0;
    let mut failed = fetch.topics.is_empty();
    let mut answers = Vec::with_capacity(fetch.topics.len());
    for topic in &fetch.topics {
        let mut partitions = Vec::with_capacity(topic.partitions.len());
        for partition in &topic.partitions {
            let first = if found == 0 {
                FirstBatch::Whole
            } else {
                FirstBatch::MayBeCut
            };
            let answer = read(node, fetch.reply.version, topic, partition, left, first)
                .unwrap_or_else(|error| refusal(partition.index, error));
            failed |= answer.error != ErrorCode::None;
            let bytes = answer.records.as_ref().map_or(0, |slice| slice.len);
            left = left.saturating_sub(bytes);
            found += bytes as u64;
            partitions.push(answer);
        }
        answers.push(TopicAnswer {
            name: &topic.name,
            id: topic.id,
            partitions,
        });
    }
    let may_wait = waiting == Waiting::Allowed && fetch.wait_ms_max > 0;
    if found < fetch.bytes_min && !failed && may_wait {
        drop(answers);
        let missing = fetch.bytes_min - found;
        node.park_fetch(now, fetch, missing);
        return;
    }
    fetch_response::send(node, fetch.reply, ErrorCode::None, &answers);
}

fn read(
    node: &mut Node,
    version: i16,
    topic: &TopicFetch,
    partition: &PartitionFetch,
    left: usize,
    first_batch: FirstBatch,
) -> Result<PartitionAnswer, ErrorCode> {
    let key = TopicKey::of(&topic.name, topic.id, version >= BY_ID_FROM);
    let image = lookup::topic(node, key)?;
    let replica = lookup::led(node, &image, partition.index, partition.leader_epoch)?;
    let bytes_max = partition.bytes_max.min(left);
    read_replica(replica, partition, bytes_max, first_batch)
}

fn read_replica(
    replica: &mut Replica,
    partition: &PartitionFetch,
    bytes_max: usize,
    first_batch: FirstBatch,
) -> Result<PartitionAnswer, ErrorCode> {
    replica.read = true;
    let high_watermark = replica.log.high_watermark();
    let request = ReadRequest {
        offset: partition.offset,
        bytes_max,
        upper_bound_offset: high_watermark,
        first_batch,
    };
    let read = replica
        .log
        .read(&request)
        .map_err(|error| ErrorCode::from_i16(error.code()))?;
    Ok(PartitionAnswer {
        index: partition.index,
        error: ErrorCode::None,
        high_watermark,
        last_stable_offset: replica.log.last_stable_offset(),
        log_start_offset: replica.log.log_start_offset(),
        records: read.slice,
    })
}

fn refusal(index: i32, error: ErrorCode) -> PartitionAnswer {
    PartitionAnswer {
        index,
        error,
        high_watermark: -1,
        last_stable_offset: -1,
        log_start_offset: -1,
        records: None,
    }
}
