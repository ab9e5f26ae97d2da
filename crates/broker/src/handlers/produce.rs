//! `Produce` (key 0), versions 3 to 13: record batches onto the logs of partitions led here.
//!
//! * acks 0: no answer; a failure closes the connection, as in Kafka. acks 1: answered when
//!   appended. acks all (−1): answered when the high watermark has passed the batches; refused when
//!   the ISR is smaller than `min.insync.replicas` (NOT_ENOUGH_REPLICAS). Errors after the append: the
//!   ISR became that small meanwhile (NOT_ENOUGH_REPLICAS_AFTER_APPEND), or the request's timeout is
//!   over (REQUEST_TIMED_OUT). Other values are refused (INVALID_REQUIRED_ACKS).
//! * Batches are checked and given their offsets where they lie in the receive buffer, then written
//!   once.
//! * A client beyond its quota (`producer_byte_rate`) gets the throttle time in its answer; its batches
//!   are appended all the same (KIP-219).
//! * Idempotent producers: the last five batches of each are remembered; a repeated batch gets the
//!   offsets of its first arrival.
//! * A topic whose `compression.type` is another than the batch's stores a recompressed copy.
//! * Records without a key on a compacted topic: INVALID_RECORD, with the place of each of the first
//!   1,000 (version 8 and later). Kafka names all of them.
//! * Versions 0 to 2 carry message formats 0 and 1 and are not served (the connection closes), as
//!   in Kafka 4. From version 7 a client may send zstd. From version 8 refusals carry words.
//!   Version 13 names topics by id.
//! * From version 10 the answer may name the new leader; clients also learn it from metadata.
//!
//! Not done: transactions (INVALID_REQUEST for a transactional id); the hint with the new leader.

use std::ops::Range;
use std::sync::Arc;

use kgauge_wire::codec::{Str, Uuid};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::produce::{
    BatchIndexAndErrorMessage, PartitionProduceResponse, ProduceRequest, ProduceResponse,
    TopicProduceResponse,
};

use super::RequestBody;
use super::lookup::{self, TopicKey};
use crate::controller::Refusal;
use crate::counts::RequestPhase;
use crate::image::TopicImage;
use crate::log::{AppendError, AppendInfo};
use crate::node::deviations;
use crate::node::replication::ReplicaRole;
use crate::node::{
    BrokerNode, CloseReason, DelayedAnswer, PendingRequest, Reply, WaitOutcome, WaitTarget,
    Watermark,
};
use crate::quota::QuotaKind;

/// From this version on topics go by id.
const BY_ID_FROM: i16 = 13;
/// The most records that an answer names: a compressed batch may hold millions.
const RECORD_ERRORS_MAX: usize = 1000;
/// The value of acks that waits for the ISR.
const ACKS_ALL: i16 = -1;

/// One topic of the request, without borrowing from it.
struct TopicPlan {
    /// What the answer repeats.
    name: String,
    id: Uuid,
    topic: Result<Arc<TopicImage>, Refusal>,
    partitions: Vec<(i32, Option<Range<usize>>)>,
}

pub(super) fn handle(
    node: &mut BrokerNode,
    call: PendingRequest,
    mut body: RequestBody<'_>,
) -> Result<(), CloseReason> {
    let throttle_time_ms = throttle(node, call, &body);
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
    let timeout_ms = i64::from(request.timeout_ms);
    let mut unfinished = PendingProduce {
        reply: call.reply,
        throttle_time_ms,
        responses: Vec::with_capacity(plan.len()),
        places: Vec::new(),
    };
    let mut targets = Vec::new();
    for topic in plan {
        append_topic(
            node,
            call,
            &mut body,
            acks,
            topic,
            &mut unfinished,
            &mut targets,
        );
    }
    if acks == 0 {
        end_unacknowledged(node, call, &unfinished.responses)?;
    } else if targets.is_empty() {
        unfinished.answer(node);
    } else {
        unfinished.reply = node.goes_on(unfinished.reply, RequestPhase::Remote);
        let waiter = DelayedAnswer::Produce(unfinished);
        node.wait(call.now, call.reply, waiter, &targets, timeout_ms);
    }
    Ok(())
}

/// Counts the request against its client's quota.
fn throttle(node: &mut BrokerNode, call: PendingRequest, body: &RequestBody<'_>) -> i32 {
    if node.image.client_quotas.entities.is_empty() {
        return 0;
    }
    let connection = call.reply.ticket.connection;
    let (client, bytes) = (body.client_id(), body.bytes());
    node.use_quota(call.now, QuotaKind::Produce, connection, client, bytes)
}

/// An answer of which some partitions wait for their high watermarks.
#[derive(Debug)]
pub(crate) struct PendingProduce {
    reply: Reply,
    throttle_time_ms: i32,
    responses: Vec<TopicProduceResponse<'static>>,
    /// Topic and partition of each target, by place in the answer; none once it is settled.
    places: Vec<Option<(usize, usize)>>,
}

impl PendingProduce {
    /// Notes what became of a target.
    pub(crate) fn settle(&mut self, index: usize, waited: WaitOutcome) {
        let place = self.places.get_mut(index).and_then(Option::take);
        if let (Some((topic, partition)), Some(code)) = (place, waited.error()) {
            let response = &mut self.responses[topic].partition_responses[partition];
            *response = partition_response(response.index, Err(bare(code).into()));
        }
    }

    /// Answers; targets that are not settled become `waited`.
    pub(crate) fn end(mut self, node: &mut BrokerNode, waited: WaitOutcome) {
        (0..self.places.len()).for_each(|index| self.settle(index, waited));
        self.answer(node);
    }

    fn answer(self, node: &mut BrokerNode) {
        let response = ProduceResponse {
            responses: self.responses,
            throttle_time_ms: self.throttle_time_ms,
            ..ProduceResponse::default()
        };
        node.respond(self.reply, &response);
    }
}

/// Why nothing of the request can be done, if so.
fn refuse_all(request: &ProduceRequest<'_>) -> Option<Refusal> {
    if request.transactional_id.is_some() {
        let words = "The embedded cluster does not support transactions.";
        return Some(Refusal::new(ErrorCode::InvalidRequest, words));
    }
    if !(-1..=1).contains(&request.acks) {
        let words = format!("acks must be 0, 1 or -1 (all), not {}.", request.acks);
        return Some(Refusal::new(ErrorCode::InvalidRequiredAcks, words));
    }
    None
}

fn writable_topic(node: &BrokerNode, key: TopicKey<'_>) -> Result<Arc<TopicImage>, Refusal> {
    let topic = lookup::topic(node, key).map_err(bare)?;
    if topic.is_internal() {
        let words = "Clients cannot write to the topic of committed offsets.";
        return Err(Refusal::new(ErrorCode::InvalidTopicException, words));
    }
    Ok(topic)
}

fn append_topic(
    node: &mut BrokerNode,
    call: PendingRequest,
    body: &mut RequestBody<'_>,
    acks: i16,
    plan: TopicPlan,
    unfinished: &mut PendingProduce,
    targets: &mut Vec<(usize, WaitTarget)>,
) {
    let TopicPlan {
        name,
        id,
        topic,
        partitions,
    } = plan;
    let mut partition_responses = Vec::with_capacity(partitions.len());
    for (index, range) in partitions {
        let result = match (&topic, range) {
            (Ok(topic), Some(range)) => append(node, call, acks, topic, index, body.part(range)),
            (Ok(_), None) => {
                let words = "There is no batch to append.";
                Err(Refusal::new(ErrorCode::InvalidRecord, words).into())
            }
            (Err(refusal), _) => Err(refusal.clone().into()),
        };
        if let Ok((_, Some(target))) = &result {
            targets.push((unfinished.places.len(), *target));
            let place = (unfinished.responses.len(), partition_responses.len());
            unfinished.places.push(Some(place));
        }
        partition_responses.push(partition_response(index, result.map(|(info, _)| info)));
    }
    unfinished.responses.push(TopicProduceResponse {
        name: Str::Owned(name),
        topic_id: id,
        partition_responses,
    });
}

/// Appends one partition's batches. Also gives what an answer has to wait for.
fn append(
    node: &mut BrokerNode,
    call: PendingRequest,
    acks: i16,
    topic: &TopicImage,
    index: i32,
    batches: &mut [u8],
) -> Result<(AppendInfo, Option<WaitTarget>), RefusedAppend> {
    let deviation = node.config.deviations.append;
    let replica = lookup::led(node, topic, index, -1).map_err(bare)?;
    let (id, epoch) = (replica.id, replica.leader_epoch);
    if acks == ACKS_ALL
        && let ReplicaRole::Leading(leading) = &replica.role
        && !leading.has_enough_in_sync()
    {
        return Err(bare(ErrorCode::NotEnoughReplicas).into());
    }
    let end_before = replica.log.log_end_offset();
    let wall_ms = call.now.wall_ms;
    match deviations::append(deviation, &mut replica.log, batches, epoch, wall_ms) {
        Ok(info) => {
            if !info.duplicate {
                let (bytes, records) = (batches.len() as u64, info.last_offset + 1 - end_before);
                node.count(|counters| {
                    counters.bytes_in.add(bytes);
                    counters
                        .messages_in
                        .add(u64::try_from(records).unwrap_or(0));
                });
                node.appended(call.now, id, end_before, bytes);
            }
            let offset = info.last_offset + 1;
            let target = WaitTarget {
                partition: id,
                mark: Watermark::High,
                offset,
            };
            let acked_early = node.config.deviations.ack_before_replication;
            let waits = acks == ACKS_ALL && !acked_early && node.high_watermark(id) < offset;
            Ok((info, waits.then_some(target)))
        }
        Err(error) => {
            let refusal = Refusal::new(ErrorCode::from_i16(error.code()), error.to_string());
            match error {
                AppendError::Log(error) => node.log_failed(error),
                AppendError::WithoutKey { records } => {
                    return Err(RefusedAppend::without_key(&topic.name, index, &records));
                }
                _ => {}
            }
            Err(refusal.into())
        }
    }
}

/// Why nothing of a partition was appended, and the records at fault.
struct RefusedAppend {
    refusal: Refusal,
    records: Vec<BatchIndexAndErrorMessage<'static>>,
}

impl From<Refusal> for RefusedAppend {
    fn from(refusal: Refusal) -> Self {
        Self {
            refusal,
            records: Vec::new(),
        }
    }
}

impl RefusedAppend {
    /// In Kafka's words.
    fn without_key(topic: &str, index: i32, records: &[i32]) -> Self {
        let words = format!(
            "Compacted topic cannot accept message without key in topic partition {topic}-{index}"
        );
        let count = records.len();
        let shown = |place: &i32| format!("RecordError(batchIndex={place}, message='{words}')");
        let first: Vec<String> = records.iter().take(3).map(shown).collect();
        let message = format!(
            "One or more records have been rejected due to {count} record errors in total, and \
             only showing the first three errors at most: [{}]",
            first.join(", ")
        );
        let record = |place: &i32| BatchIndexAndErrorMessage {
            batch_index: *place,
            batch_index_error_message: Some(Str::Owned(words.clone())),
        };
        Self {
            refusal: Refusal::new(ErrorCode::InvalidRecord, message),
            records: records.iter().take(RECORD_ERRORS_MAX).map(record).collect(),
        }
    }
}

fn bare(code: ErrorCode) -> Refusal {
    Refusal::new(code, code.explanation())
}

fn partition_response(
    index: i32,
    result: Result<AppendInfo, RefusedAppend>,
) -> PartitionProduceResponse<'static> {
    match result {
        Ok(info) => PartitionProduceResponse {
            index,
            base_offset: info.base_offset,
            log_append_time_ms: info.log_append_time_ms,
            log_start_offset: info.log_start_offset,
            ..PartitionProduceResponse::default()
        },
        Err(RefusedAppend { refusal, records }) => PartitionProduceResponse {
            index,
            error_code: refusal.code.as_i16(),
            base_offset: -1,
            record_errors: records,
            error_message: Some(Str::Owned(refusal.message)),
            ..PartitionProduceResponse::default()
        },
    }
}

/// acks=0: silence, or the end of the connection.
fn end_unacknowledged(
    node: &mut BrokerNode,
    call: PendingRequest,
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
