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
//!   which makes the client name all its partitions each time. A session id from elsewhere gets
//!   FETCH_SESSION_ID_NOT_FOUND. Full requests cost about 40 bytes a partition; sessions pay from
//!   thousands of partitions a consumer on.
//!
//! * From version 11 a consumer may read from a follower, up to the high watermark that it knows; and
//!   with `replica.selector.class` set to the rack-aware one a leader sends a consumer that names
//!   its rack to a follower there (KIP-392).
//! * Replicas of this cluster fetch by other means: a request with a replica id is refused
//!   (INVALID_REQUEST), but for −2, Kafka's debugging consumer, which may read to the log's end.
//!
//! * A client beyond its quota (`consumer_byte_rate`) gets nothing but the time for which it is
//!   throttled (KIP-219).
//!
//! Not done: sessions; the hints with diverging epochs and new leaders.

use std::sync::Arc;

use kgauge_wire::codec::Uuid;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::fetch::FetchRequest;

use super::fetch_response::{BY_ID_FROM, FetchedPartition, TopicAnswer};
use super::lookup::{self, TopicKey};
use super::{RequestBody, fetch_response};
use crate::counts::RequestPhase;
use crate::fault::amount_in_slices;
use crate::ids::{ConnectionId, NodeId, PartitionId};
use crate::image::ClusterImage;
use crate::log::{FirstBatch, ReadRequest};
use crate::node::replication::ReplicaRole;
use crate::node::{BrokerNode, CloseReason, PendingRequest, Replica, Reply};
use crate::quota::QuotaKind;
use crate::time::Now;

/// From this version on consumers may read from followers.
const FOLLOWERS_FROM: i16 = 11;
/// From this version on the replica id is part of the replica's state.
const STATE_FROM: i16 = 15;
/// The replica id of Kafka's debugging consumer.
const DEBUGGING: i32 = -2;

/// A fetch, free of the request's bytes, so that it can wait.
#[derive(Debug)]
pub(crate) struct Fetch {
    reply: Reply,
    /// The client's id; kept only while there are quotas.
    client_id: String,
    wait_ms_max: i32,
    bytes_min: u64,
    bytes_max: usize,
    reader: Reader,
    topics: Vec<TopicFetch>,
}

/// Who reads.
#[derive(Debug)]
enum Reader {
    /// A consumer and its rack; empty if it names none.
    Consumer { rack: String },
    /// Kafka's debugging consumer: to the log's end.
    Debugging,
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

/// Whether a fetch may be parked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParkDecision {
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

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let request: FetchRequest<'_> = body.decode(call.version())?;
    if request.session_id != 0 && request.session_epoch > 0 {
        let error = ErrorCode::FetchSessionIdNotFound;
        fetch_response::send(node, call.reply, error, &[]);
        return Ok(());
    }
    let replica_id = match call.version() {
        STATE_FROM.. => request.replica_state.replica_id,
        _ => request.replica_id,
    };
    if replica_id >= 0 {
        fetch_response::send(node, call.reply, ErrorCode::InvalidRequest, &[]);
        return Ok(());
    }
    let limit = i64::from(request.max_bytes).min(node.settings.fetch_max_bytes);
    let fetch = Fetch {
        reply: call.reply,
        client_id: if node.image.client_quotas.entities.is_empty() {
            String::new()
        } else {
            body.client_id().to_owned()
        },
        wait_ms_max: request.max_wait_ms,
        bytes_min: u64::try_from(request.min_bytes).unwrap_or(0),
        bytes_max: usize::try_from(limit).unwrap_or(0),
        reader: match replica_id {
            DEBUGGING => Reader::Debugging,
            _ => Reader::Consumer {
                rack: request.rack_id.to_string(),
            },
        },
        topics: topics_of(node, &request, call.version()),
    };
    serve(node, call.now, fetch, ParkDecision::Allowed);
    Ok(())
}

fn topics_of(node: &BrokerNode, request: &FetchRequest<'_>, version: i16) -> Vec<TopicFetch> {
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
pub(crate) fn serve(node: &mut BrokerNode, now: Now, mut fetch: Fetch, waiting: ParkDecision) {
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
            let answer = read(node, &fetch, topic, partition, left, first)
                .unwrap_or_else(|error| refusal(partition.index, error));
            failed |= answer.error != ErrorCode::None || answer.preferred_read_replica >= 0;
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
    let may_wait = waiting == ParkDecision::Allowed && fetch.wait_ms_max > 0;
    if found < fetch.bytes_min && !failed && may_wait {
        drop(answers);
        let missing = fetch.bytes_min - found;
        fetch.reply = node.goes_on(fetch.reply, RequestPhase::Remote);
        node.park_fetch(now, fetch, missing);
        return;
    }
    let throttle_time_ms = throttle(node, now, &fetch, found);
    if throttle_time_ms > 0 {
        fetch_response::send_throttled(node, fetch.reply, throttle_time_ms);
    } else {
        node.count(|counters| counters.bytes_out.add(found));
        let at_ns = passed_ns(node, now, &fetch, &answers);
        fetch_response::send_at(node, now, fetch.reply, &answers, at_ns);
    }
}

/// When the records have passed the capacities that were set on the node.
fn passed_ns(node: &mut BrokerNode, now: Now, fetch: &Fetch, answers: &[TopicAnswer<'_>]) -> u64 {
    if !node.faults.are_set() {
        return now.mono_ns;
    }
    let slices = || {
        let partitions = answers.iter().flat_map(|topic| &topic.partitions);
        partitions.filter_map(|partition| partition.records.as_ref())
    };
    let amount = |amount| amount_in_slices(amount, slices());
    node.faults.take(fetch.reply.api, now.mono_ns, amount)
}

/// Counts what was found against the client's quota.
fn throttle(node: &mut BrokerNode, now: Now, fetch: &Fetch, found: u64) -> i32 {
    if found == 0 || node.image.client_quotas.entities.is_empty() {
        return 0;
    }
    let bytes = usize::try_from(found).unwrap_or(usize::MAX);
    let connection = fetch.connection();
    node.use_quota(now, QuotaKind::Fetch, connection, &fetch.client_id, bytes)
}

fn read(
    node: &mut BrokerNode,
    fetch: &Fetch,
    topic: &TopicFetch,
    partition: &PartitionFetch,
    left: usize,
    first_batch: FirstBatch,
) -> Result<FetchedPartition, ErrorCode> {
    let version = fetch.reply.version;
    let key = TopicKey::of(&topic.name, topic.id, version >= BY_ID_FROM);
    let topic = lookup::topic(node, key)?;
    // Only a search for the nearest replica needs the image besides the replica.
    let by_rack = node.settings.replica_selector_rack_aware;
    let image = by_rack.then(|| Arc::clone(&node.image));
    let own = node.id();
    let deviations = node.config.deviations;
    let replica = match version {
        FOLLOWERS_FROM.. => lookup::kept(node, &topic, partition.index, partition.leader_epoch)?,
        _ => lookup::led(node, &topic, partition.index, partition.leader_epoch)?,
    };
    if let Some(image) = image
        && version >= FOLLOWERS_FROM
        && let Reader::Consumer { rack } = &fetch.reader
        && let Some(other) = nearer(&image, own, replica, partition.offset, rack)
    {
        return Ok(FetchedPartition {
            preferred_read_replica: other.0,
            ..offsets_of(replica, partition.index)
        });
    }
    let readable = replica.log.high_watermark();
    let request = ReadRequest {
        offset: deviations.read_offset(partition.offset, readable),
        bytes_max: partition.bytes_max.min(left),
        upper_bound_offset: match fetch.reader {
            Reader::Consumer { .. } if !deviations.dirty_reads => readable,
            Reader::Consumer { .. } | Reader::Debugging => replica.log.log_end_offset(),
        },
        first_batch,
    };
    read_replica(replica, partition.index, &request)
}

/// A follower in the reader's rack, if this node leads and is not there itself.
fn nearer(
    image: &ClusterImage,
    own: NodeId,
    replica: &Replica,
    offset: i64,
    rack: &str,
) -> Option<NodeId> {
    let is_in_rack = |node: NodeId| {
        let known = image.nodes.get(&node).and_then(|node| node.rack.as_deref());
        known == Some(rack)
    };
    match &replica.role {
        ReplicaRole::Leading(leading) if !rack.is_empty() && !is_in_rack(own) => {
            leading.reader_replica(offset, is_in_rack)
        }
        _ => None,
    }
}

/// The answer without records.
fn offsets_of(replica: &Replica, index: i32) -> FetchedPartition {
    FetchedPartition {
        index,
        error: ErrorCode::None,
        high_watermark: replica.log.high_watermark(),
        last_stable_offset: replica.log.last_stable_offset(),
        log_start_offset: replica.log.log_start_offset(),
        preferred_read_replica: -1,
        records: None,
    }
}

fn read_replica(
    replica: &mut Replica,
    index: i32,
    request: &ReadRequest,
) -> Result<FetchedPartition, ErrorCode> {
    replica.read = true;
    let read = replica
        .log
        .read(request)
        .map_err(|error| ErrorCode::from_i16(error.code()))?;
    Ok(FetchedPartition {
        records: read.slice,
        ..offsets_of(replica, index)
    })
}

fn refusal(index: i32, error: ErrorCode) -> FetchedPartition {
    FetchedPartition {
        index,
        error,
        high_watermark: -1,
        last_stable_offset: -1,
        log_start_offset: -1,
        preferred_read_replica: -1,
        records: None,
    }
}
