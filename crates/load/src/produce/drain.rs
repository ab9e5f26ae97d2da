//! Sends batches: one per partition in each request, and as many requests as may be in flight.

use kgauge_results::Recorder;
use kgauge_wire::record_batch::ProducerState;

use super::request::ProduceHead;
use super::{ProduceInFlight, Producer};
use crate::worker_context::WorkerContext;

/// Bytes of a request beside its batches: header, topic, and for each partition index, length, tags.
const REQUEST_OVERHEAD_BYTES: usize = 512;

/// Steps by which the estimated compression ratio follows the actual one (`CompressionRatioEstimator`: improving and
/// deteriorating step).
const RATIO_IMPROVING: f32 = 0.005;
const RATIO_DETERIORATING: f32 = 0.05;

impl Producer {
    /// Sends what is ready, as far as the limits allow.
    pub(super) fn drain(&mut self, recorder: &mut Recorder, around: &WorkerContext<'_>) {
        let now_ns = around.clock.now_ns();
        self.drained_at_ns = now_ns;
        self.end_lingers(now_ns);
        if now_ns >= self.next_retry_ns {
            self.note_next_retry(now_ns);
        }
        for link in 0..self.links.len() {
            self.reconnect_if_due(link, now_ns, around);
            if self.identity_wanted {
                continue;
            }
            let mut queued = false;
            while !self.ready[link].is_empty() && self.may_send(link, now_ns) {
                if !self.send_one(link, now_ns, recorder) {
                    break;
                }
                queued = true;
            }
            let waits = !queued && !self.ready[link].is_empty();
            let since_ns = &mut self.stuck_since_ns[link];
            *since_ns = if waits {
                (*since_ns).min(now_ns)
            } else {
                u64::MAX
            };
            if queued {
                self.write(link, recorder, around);
            }
        }
        self.renew_identity_if_quiet(around);
    }

    fn note_next_retry(&mut self, now_ns: u64) {
        let pauses = self
            .partitions
            .iter()
            .map(|partition| partition.retry_at_ns);
        self.next_retry_ns = pauses
            .filter(|&at_ns| at_ns > now_ns)
            .min()
            .unwrap_or(u64::MAX);
    }

    /// Marks a partition as having something to send.
    pub(super) fn list_ready(&mut self, index: u32) {
        let partition = &mut self.partitions[index as usize];
        if let (false, Some(leader)) = (partition.is_listed, partition.leader) {
            partition.is_listed = true;
            self.ready[leader].push_back(index);
        }
    }

    fn may_send(&self, link: usize, now_ns: u64) -> bool {
        self.links[link].is_usable(now_ns)
            && self.in_flight[link].len() < self.flow.settings.in_flight_max as usize
    }

    /// Builds and queues one request; false when no ready partition may send now.
    fn send_one(&mut self, link: usize, now_ns: u64, recorder: &mut Recorder) -> bool {
        let mut picked = std::mem::take(&mut self.picked);
        picked.clear();
        self.pick(link, now_ns, &mut picked);
        let any = !picked.is_empty();
        if any {
            self.queue_request(link, now_ns, &picked, recorder);
        }
        self.picked = picked;
        any
    }

    /// Takes a batch of each ready partition, up to `max.request.size`.
    pub(super) fn pick(&mut self, link: usize, now_ns: u64, picked: &mut Vec<u32>) {
        let bytes_max = self.flow.settings.request_bytes_max as usize;
        let mut bytes = REQUEST_OVERHEAD_BYTES;
        for _ in 0..self.ready[link].len() {
            let Some(index) = self.ready[link].pop_front() else {
                break;
            };
            if !self.may_pick(index, now_ns) {
                // It keeps its turn.
                self.ready[link].push_back(index);
                continue;
            }
            let partition = &mut self.partitions[index as usize];
            if partition.front().is_none() {
                partition.close_open(&mut self.pool);
                if partition.front().is_some() {
                    self.batch_complete(index);
                }
            }
            let partition = &mut self.partitions[index as usize];
            let Some(slot) = partition.front() else {
                partition.is_listed = false;
                continue;
            };
            let batch_bytes = self.pool[slot].encoder.bytes_so_far();
            if !picked.is_empty() && bytes + batch_bytes > bytes_max {
                self.ready[link].push_front(index);
                break;
            }
            partition.pop_front();
            bytes += batch_bytes;
            picked.push(slot);
            self.relist(link, index);
        }
    }

    /// After a batch was taken: whether the partition has more that is ready.
    fn relist(&mut self, link: usize, index: u32) {
        let flushing = self.is_flushing();
        let partition = &mut self.partitions[index as usize];
        partition.in_flight += 1;
        partition.is_listed = partition.front().is_some() || (flushing && partition.has_work());
        if partition.is_listed {
            self.ready[link].push_back(index);
        }
    }

    fn may_pick(&mut self, index: u32, now_ns: u64) -> bool {
        if self.partitions[index as usize].retry_at_ns > now_ns {
            return false;
        }
        if self.transaction.is_some() && !self.transaction_admits(index) {
            return false;
        }
        let partition = &self.partitions[index as usize];
        // A retried batch of an idempotent producer is sent alone: batches that overtook it were refused as out of
        // order, and follow it.
        let is_retry = partition
            .front()
            .is_some_and(|slot| self.pool[slot].attempts > 0);
        !(is_retry && self.identity.is_some() && partition.in_flight > 0)
    }

    fn queue_request(&mut self, link: usize, now_ns: u64, picked: &[u32], recorder: &mut Recorder) {
        for &slot in picked {
            self.finish_batch(slot);
        }
        let version = self.links[link].version();
        let (mut frame, correlation_id) = self.links[link].new_frame();
        let result = self
            .head
            .begin(&mut frame, version, correlation_id, picked.len());
        debug_assert!(
            result.is_ok(),
            "topic and client id were checked before the run"
        );
        let (mut records, partitions) = (0, &mut self.partitions);
        let (mut plain_bytes, mut packed_bytes) = (0, 0);
        for &slot in picked {
            let batch = &mut self.pool[slot];
            if batch.attempts > 0 {
                let error = batch.last_error;
                recorder.retried(now_ns, u64::from(batch.encoder.records()), error);
            }
            records += u64::from(batch.encoder.records());
            let bytes = batch.encoder.bytes_so_far();
            if batch.plain_bytes > 0 {
                plain_bytes += batch.plain_bytes as u64;
                packed_bytes += bytes as u64;
            }
            ProduceHead::partition(&mut frame, version, batch.partition, slot, bytes);
            partitions[batch.partition as usize].retry_at_ns = 0;
        }
        ProduceHead::end(&mut frame, version);
        if plain_bytes > 0 {
            recorder.compressed(now_ns, plain_bytes, packed_bytes);
        }
        frame.seal(&self.pool);
        let wire_bytes = frame.wire_bytes(&self.pool) as u64;
        self.links[link].push(frame);
        let mut entry = self.spare_in_flight.pop().unwrap_or_default();
        entry.batches.clear();
        entry.batches.extend_from_slice(picked);
        self.in_flight[link].push_back(ProduceInFlight {
            correlation_id,
            sent_ns: now_ns,
            records,
            wire_bytes,
            ..entry
        });
    }

    /// Compresses, and writes header and CRC: when the batch is full, or when it is sent before that.
    pub(super) fn finish_batch(&mut self, slot: u32) {
        let overhead_bytes = self.pool.format().overhead_bytes();
        let is_transactional = self.is_transactional();
        let batch = &mut self.pool[slot];
        if batch.is_finished {
            return;
        }
        batch.is_finished = true;
        let mut state = ProducerState::NONE;
        state.transactional = is_transactional;
        if let Some(identity) = self.identity {
            let partition = &mut self.partitions[batch.partition as usize];
            batch.base_sequence = partition.take_sequences(batch.encoder.records());
            state.id = identity.id;
            state.epoch = identity.epoch;
            state.base_sequence = batch.base_sequence;
        }
        let Some(compressor) = &mut self.compressor else {
            batch.encoder.finish(&state);
            return;
        };
        batch.plain_bytes = batch.encoder.bytes_so_far();
        let plain_bytes = batch.plain_bytes - overhead_bytes;
        if batch.encoder.finish_compressed(&state, compressor).is_err() {
            // The codec ran out of memory: an uncompressed batch is still correct.
            batch.encoder.finish(&state);
        }
        let seen =
            (batch.encoder.bytes_so_far() - overhead_bytes) as f32 / plain_bytes.max(1) as f32;
        let ratio = &mut self.compression_ratio;
        *ratio = if seen > *ratio {
            (*ratio + RATIO_DETERIORATING).max(seen)
        } else {
            (*ratio - RATIO_IMPROVING).max(seen)
        };
    }

    /// Writes queued requests to the sockets.
    pub(super) fn write(
        &mut self,
        link: usize,
        recorder: &mut Recorder,
        around: &WorkerContext<'_>,
    ) {
        match self.links[link].write(&self.pool) {
            Ok(complete) if complete > 0 && !self.awaits_answers() => {
                let now_ns = around.clock.now_ns();
                for _ in 0..complete {
                    if let Some(entry) = self.in_flight[link].pop_front() {
                        recorder.request(now_ns, entry.as_request(None));
                        for &slot in &entry.batches {
                            // Nothing is acknowledged.
                            self.prove_unknown(slot);
                        }
                        self.answer_all(entry, now_ns, recorder);
                    }
                }
            }
            Ok(_) => {}
            Err(error) => self.lose_link(link, &error.into(), recorder, around),
        }
    }
}
