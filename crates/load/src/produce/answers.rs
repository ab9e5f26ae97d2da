//! Handles responses: every record of an answered batch becomes a sample.

use kgauge_results::Recorder;
use kgauge_wire::error_code::ErrorCode;

use super::response;
use super::{ProduceInFlight, Producer};
use crate::broker_link::{ArrivedAnswer, CORRELATION_BYTES, Loss};
use crate::worker_context::WorkerContext;

/// What an error means for the batch.
enum Refusal {
    /// It can be sent again.
    Retry { refresh_metadata: bool },
    /// It can be sent again with a new producer id: the old one's sequence is broken.
    RetryRenamed,
    /// It is lost.
    Fail,
}

impl Producer {
    /// A connection is readable or writable.
    pub(crate) fn on_event(
        &mut self,
        link: usize,
        recorder: &mut Recorder,
        around: &WorkerContext<'_>,
    ) {
        self.write(link, recorder, around);
        loop {
            let more = self.links[link].receive();
            match more.and_then(|more| self.read_answers(link, recorder, around).map(|()| more)) {
                Ok(true) => {}
                Ok(false) => return,
                Err(loss) => return self.lose_link(link, &loss, recorder, around),
            }
        }
    }

    fn read_answers(
        &mut self,
        link: usize,
        recorder: &mut Recorder,
        around: &WorkerContext<'_>,
    ) -> Result<(), Loss> {
        while let Some(ArrivedAnswer { at, correlation_id }) = self.links[link].next_answer()? {
            let now_ns = around.clock.now_ns();
            let Some(entry) = self.in_flight[link].pop_front() else {
                return Err(Loss::unexpected());
            };
            if correlation_id != Some(entry.correlation_id) {
                self.in_flight[link].push_front(entry);
                return Err(Loss::out_of_order());
            }
            let round_trip_ns = now_ns.saturating_sub(entry.sent_ns);
            recorder.request(now_ns, entry.as_request(Some(round_trip_ns)));
            self.read_answer(link, at, entry, now_ns, recorder, around)?;
        }
        Ok(())
    }

    fn read_answer(
        &mut self,
        link: usize,
        at: std::ops::Range<usize>,
        mut entry: ProduceInFlight,
        now_ns: u64,
        recorder: &mut Recorder,
        around: &WorkerContext<'_>,
    ) -> Result<(), Loss> {
        let version = self.links[link].version();
        let (mut refused, mut unmatched) = (Vec::new(), 0);
        let body = &self.links[link].frame(at)[CORRELATION_BYTES..];
        let (pool, mut acked) = (&self.pool, 0);
        let keeps_offsets = self.echo.is_some() || self.proof.is_some();
        let offsets = &mut self.offsets;
        offsets.clear();
        let outcome = response::read(body, version, |answer| {
            // Brokers answer in the order of the request, so the first guess is right.
            let found = entry.batches[acked..]
                .iter()
                .position(|&slot| pool[slot].partition as i32 == answer.partition);
            match found {
                None => unmatched += 1,
                Some(at) => {
                    entry.batches.swap(acked, acked + at);
                    if answer.error != 0 {
                        let words = answer.message.map(|words| words.into_owned());
                        refused.push((entry.batches[acked], answer.error, words));
                    } else if keeps_offsets {
                        offsets.push((entry.batches[acked], answer.base_offset));
                    }
                    acked += 1;
                }
            }
        });
        let throttle_ms = match outcome {
            Ok(throttle_ms) if unmatched == 0 && acked == entry.batches.len() => throttle_ms,
            _ => {
                self.in_flight[link].push_front(entry);
                let why = "its Produce response is malformed".to_owned();
                return Err(Loss::Malformed(why));
            }
        };
        if throttle_ms > 0 {
            let throttle_ns = u64::from(throttle_ms) * 1_000_000;
            recorder.throttled(now_ns, throttle_ns);
            self.links[link].mute_until(now_ns + throttle_ns);
        }
        self.tick_proof(now_ns, around);
        for (slot, error, words) in refused {
            entry.batches.retain(|&other| other != slot);
            self.refuse(slot, error, words, now_ns, recorder, around);
        }
        self.prove_answered();
        self.record_echo(entry.sent_ns, now_ns, recorder);
        self.answer_all(entry, now_ns, recorder);
        Ok(())
    }

    /// In a verified flow: the acked batches are in the ledger before they are counted.
    fn prove_answered(&mut self) {
        if self.proof.is_some() {
            for at in 0..self.offsets.len() {
                let (slot, base_offset) = self.offsets[at];
                self.prove_acked(slot, base_offset);
            }
        }
    }

    /// In an echo flow: where the acked batches are, and how long each record waited for what.
    fn record_echo(&mut self, written_ns: u64, now_ns: u64, recorder: &mut Recorder) {
        if self.echo.is_none() {
            return;
        }
        for at in 0..self.offsets.len() {
            let (slot, base_offset) = self.offsets[at];
            let batch = &self.pool[slot];
            let (partition, records) = (batch.partition, batch.encoder.records().into());
            self.post(partition, base_offset, records, now_ns);
            let batch = &self.pool[slot];
            for (handed, intended_ns) in batch.times.each() {
                let each = u64::from(handed.records) / intended_ns.len().max(1) as u64;
                for &intended_ns in intended_ns {
                    let since = (intended_ns, handed.sent_ns);
                    recorder.ack_waited(since, written_ns, now_ns, each);
                }
            }
        }
    }

    /// Every batch of the request has been acked.
    pub(super) fn answer_all(
        &mut self,
        entry: ProduceInFlight,
        now_ns: u64,
        recorder: &mut Recorder,
    ) {
        for &slot in &entry.batches {
            self.partition_of(slot).in_flight -= 1;
            self.ack(slot, now_ns, recorder);
        }
        self.spare_in_flight.push(entry);
    }

    pub(super) fn ack(&mut self, slot: u32, now_ns: u64, recorder: &mut Recorder) {
        let (mut records, mut logical_bytes) = (0, 0);
        for (handed, intended_ns) in self.pool[slot].times.each() {
            let (sent_ns, bytes) = (handed.sent_ns, handed.logical_bytes);
            let count = u64::from(handed.records);
            if handed.is_immediate {
                recorder.acked(sent_ns, sent_ns, now_ns, count, bytes);
            } else {
                recorder.acked_each(intended_ns, sent_ns, now_ns, bytes);
            }
            records += count;
            logical_bytes += bytes;
        }
        self.totals.acked += records;
        self.totals.logical_bytes += logical_bytes;
        self.note_in_log(slot, records);
        self.release(slot, records, now_ns);
    }

    /// The batch has its outcome: its memory is free again.
    pub(super) fn release(&mut self, slot: u32, records: u64, now_ns: u64) {
        self.outstanding.change(now_ns, 0, records);
        self.pool.give_back(slot);
    }

    /// The broker refused a batch.
    fn refuse(
        &mut self,
        slot: u32,
        error: i16,
        words: Option<String>,
        now_ns: u64,
        recorder: &mut Recorder,
        around: &WorkerContext<'_>,
    ) {
        self.partition_of(slot).in_flight -= 1;
        let code = ErrorCode::from_i16(error);
        if code == ErrorCode::DuplicateSequenceNumber {
            // A retry of a batch that had arrived: the broker has it once.
            let batch = &self.pool[slot];
            let (partition, records) = (batch.partition, batch.encoder.records().into());
            self.post(partition, -1, records, now_ns);
            self.prove_acked(slot, -1);
            return self.ack(slot, now_ns, recorder);
        }
        match self.judge(code, slot) {
            Refusal::Retry { refresh_metadata } => {
                if refresh_metadata {
                    self.forget_leader(slot, around);
                }
                self.retry(slot, error, now_ns, recorder);
            }
            Refusal::RetryRenamed => {
                self.identity_wanted = true;
                self.retry(slot, error, now_ns, recorder);
            }
            Refusal::Fail => {
                let partition = self.pool[slot].partition;
                self.note_refused(partition, code);
                around.incident(now_ns, &self.flow.name, || {
                    let words = words.map_or_else(String::new, |words| format!(": {words}"));
                    let topic = &self.head.topic;
                    format!("{topic} rejected a batch of partition {partition}: {code}{words}")
                });
                self.fail(slot, error, now_ns, recorder);
            }
        }
    }

    fn judge(&self, code: ErrorCode, slot: u32) -> Refusal {
        match code {
            ErrorCode::OutOfOrderSequenceNumber if self.is_overtaking(slot) => Refusal::Retry {
                refresh_metadata: false,
            },
            // An earlier batch is missing at the broker, or it has forgotten the producer. As in Kafka's producer since
            // 2.5 (KIP-360), a new identity numbers the remaining batches from zero.
            ErrorCode::OutOfOrderSequenceNumber
            | ErrorCode::UnknownProducerId
            | ErrorCode::InvalidProducerEpoch
            | ErrorCode::InvalidProducerIdMapping
                if self.transaction.is_none()
                    && (self.identity.is_some() || self.identity_wanted) =>
            {
                Refusal::RetryRenamed
            }
            code if code.is_retriable() => Refusal::Retry {
                refresh_metadata: code.refreshes_metadata(),
            },
            _ => Refusal::Fail,
        }
    }
}
