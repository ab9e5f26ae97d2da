//! `Produce` (key 0), versions 3 to 13: record batches onto the logs of partitions led here.
//!
//! * acks 0: no answer; a failure closes the connection, as in Kafka. acks 1 and all (−1): answered
//!   when appended; other values are refused (INVALID_REQUIRED_ACKS).
//! * Batches are checked and given their offsets where they lie in the receive buffer, then written
//!   once.
//! * Idempotent producers: the last five batches of each are remembered; a repeated batch gets the
//!   offsets of its first arrival.
//! * Versions 0 to 2 carry message formats 0 and 1 and are not served (the connection closes), as
//!   in Kafka 4. From version 7 a client may send zstd. From version 8 refusals carry words.
//!   Version 13 names topics by id.
//! * From version 10 the answer may name the new leader; clients also learn it from metadata.
//!
//! Not done: transactions (INVALID_REQUEST for a transactional id); waiting for replicas; the hint
//! with the new leader.

use std::ops::Range;
use std::sync::Arc;

use kgauge_wire::codec::{Str, Uuid};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::produce::{
    PartitionProduceResponse, ProduceRequest, ProduceResponse, TopicProduceResponse,
};

use super::Body;
use super::lookup::{self, TopicKey};
use crate::controller::Refusal;
use crate::image::TopicImage;
use crate::log::{AppendError, AppendInfo};
use crate::node::{Call, CloseReason, Node};

/// From this version on topics go by id.
const BY_ID_FROM: i16 = 13;

/// One topic of the request, without borrowing from it.
struct TopicPlan {
    /// What the answer repeats.
    name: String,
    id: Uuid,
    topic: Result<Arc<TopicImage>, Refusal>,
    partitions: Vec<(i32, Option<Range<usize>>)>,
}

pub(super) fn handle(node: &mut Node, call: Call, mut body: Body<'_>) -> Result<(), CloseReason> {
    let request: ProduceRequest<'_> = body.decode(call.version())?;
    let acks = request.acks;
    let refused = refuse_all(&request);
    let plan: Vec<TopicPlan> = request
        .topic_data
        .iter()
        .map(|data| {
            let key = TopicKey::of(&data.name, data.topic_id, call.version() >= BY_ID_FROM);
            TopicPlan {
                name: data.name.to_string(),
                id: data.topic_id,
                topic: match &refused {
                    Some(refusal) => Err(refusal.clone()),
                    None => writable_topic(node, key),
                },
                partitions: data
                    .partition_data
                    .iter()
                    .map(|p| (p.index, p.records.as_deref().and_then(|r| body.range_of(r))))
                    .collect(),
            }
        })
        .collect();
    let responses: Vec<_> = plan
        .into_iter()
        .map(|topic| append_topic(node, call, &mut body, topic))
        .collect();
    if acks == 0 {
        end_unacknowledged(node, call, &responses)?;
    } else {
        let response = ProduceResponse {
            responses,
            ..ProduceResponse::default()
        };
        node.respond(call.reply, &response);
    }
    node.serve_ready_fetches(call.now);
    Ok(())
}

/// Why nothing of the request can be done, if so.
fn refuse_all(request: &ProduceRequest<'_>) -> Option<Refusal> {
    if request.transactional_id.is_some() {
        let words = "The embedded cluster does not do transactions yet.";
        return Some(Refusal::new(ErrorCode::InvalidRequest, words));
    }
    if !(-1..=1).contains(&request.acks) {
        let words = format!("acks must be 0, 1 or -1 (all), not {}.", request.acks);
        return Some(Refusal::new(ErrorCode::InvalidRequiredAcks, words));
    }
    None
}

fn writable_topic(node: &Node, key: TopicKey<'_>) -> Result<Arc<TopicImage>, Refusal> {
    let topic = lookup::topic(node, key).map_err(bare)?;
    if topic.is_internal() {
        let words = "The topic of the groups' committed offsets takes no records from clients.";
        return Err(Refusal::new(ErrorCode::InvalidTopicException, words));
    }
    Ok(topic)
}

fn append_topic(
    node: &mut Node,
    call: Call,
    body: &mut Body<'_>,
    plan: TopicPlan,
) -> TopicProduceResponse<'static> {
    let TopicPlan {
        name,
        id,
        topic,
        partitions,
    } = plan;
    let mut partition_responses = Vec::with_capacity(partitions.len());
    for (index, range) in partitions {
        let result = match (&topic, range) {
            (Ok(topic), Some(range)) => append(node, call, topic, index, body.part(range)),
            (Ok(_), None) => Err(Refusal::new(
                ErrorCode::InvalidRecord,
                "There is no batch to append.",
            )),
            (Err(refusal), _) => Err(refusal.clone()),
        };
        partition_responses.push(partition_response(index, result));
    }
    TopicProduceResponse {
        name: Str::Owned(name),
        topic_id: id,
        partition_responses,
    }
}

/// Appends one partition's batches.
fn append(
    node: &mut Node,
    call: Call,
    topic: &TopicImage,
    index: i32,
    batches: &mut [u8],
) -> Result<AppendInfo, Refusal> {
    let replica = lookup::led(node, topic, index, -1).map_err(bare)?;
    let (id, epoch) = (replica.id, replica.leader_epoch);
    match replica
        .log
        .append_as_leader(batches, epoch, call.now.wall_ms)
    {
        Ok(info) => {
            replica.advance_high_watermark();
            if !info.duplicate {
                node.partition_grown(id, batches.len() as u64);
                node.flush_later(call.now, id);
            }
            Ok(info)
        }
        Err(error) => {
            let refusal = Refusal::new(ErrorCode::from_i16(error.code()), error.to_string());
            if let AppendError::Log(error) = error {
                node.log_failed(error);
            }
            Err(refusal)
        }
    }
}

fn bare(code: ErrorCode) -> Refusal {
    Refusal::new(code, code.explanation())
}

fn partition_response(
    index: i32,
    result: Result<AppendInfo, Refusal>,
) -> PartitionProduceResponse<'static> {
    match result {
        Ok(info) => PartitionProduceResponse {
            index,
            base_offset: info.base_offset,
            log_append_time_ms: info.log_append_time_ms,
            log_start_offset: info.log_start_offset,
            ..PartitionProduceResponse::default()
        },
        Err(Refusal { code, message }) => PartitionProduceResponse {
            index,
            error_code: code.as_i16(),
            base_offset: -1,
            error_message: Some(Str::Owned(message)),
            ..PartitionProduceResponse::default()
        },
    }
}

/// acks=0: silence, or the end of the connection.
fn end_unacknowledged(
    node: &mut Node,
    call: Call,
    responses: &[TopicProduceResponse<'_>],
) -> Result<(), CloseReason> {
    let partitions = responses
        .iter()
        .flat_map(|topic| &topic.partition_responses);
    let failed = partitions
        .into_iter()
        .find(|partition| partition.error_code != 0);
    match failed {
        None => {
            node.stay_silent(call.reply);
            Ok(())
        }
        Some(partition) => {
            let code = ErrorCode::from_i16(partition.error_code);
            Err(CloseReason::UnacknowledgedFailure(code.to_string()))
        }
    }
}
