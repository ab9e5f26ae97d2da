//! Failures: lost connections, retries, expiry, a new producer id.

use kgauge_client::admin::ProducerId;
use kgauge_results::Recorder;
use kgauge_wire::error_code::ErrorCode;

use super::encoder::RecordsFormat;
use super::partition::PartitionQueue;
use super::{Phase, Producer};
use crate::broker_link::{BrokerLink, Loss};
use crate::leaders::{ClientSide, Leaders};
use crate::outage::{BrokerLinkState, add_state};
use crate::worker_context::WorkerContext;

impl Producer {
    /// A connection is lost: batches in flight on it are sent again over the next one.
    pub(super) fn lose_link(
        &mut self,
        link: usize,
        loss: &Loss,
        recorder: &mut Recorder,
        around: &WorkerContext<'_>,
    ) {
        let now_ns = around.clock.now_ns();
        let broker_id = self.links[link].broker_id();
        around.incident(now_ns, &self.flow.name, || {
            format!("lost the connection to broker {broker_id}: {loss}")
        });
        self.totals.note_loss(loss);
        self.links[link].lost(now_ns, around.registry);
        self.note_lost_broker();
        while let Some(mut entry) = self.in_flight[link].pop_front() {
            for slot in entry.batches.drain(..) {
                self.partition_of(slot).in_flight -= 1;
                if self.awaits_answers() {
                    self.retry(slot, ErrorCode::NetworkException.as_i16(), now_ns, recorder);
                } else {
                    // Without acks the outcome is never known; Kafka's producer does not ask either.
                    self.end_unknown(slot, now_ns, recorder);
                }
            }
            self.spare_in_flight.push(entry);
        }
        around.ask_for_leaders();
    }

    /// The state of brokers on its links.
    pub(crate) fn check_brokers(
        &mut self,
        side: ClientSide,
        now_ns: u64,
        states: &mut Vec<BrokerLinkState>,
    ) {
        for (link, in_flight) in self.links.iter_mut().zip(&self.in_flight) {
            let owed_since_ns = in_flight.front().map(|entry| entry.sent_ns);
            add_state(states, link.link_state(side, owed_since_ns, now_ns));
        }
    }

    /// Requests a new connection when the pause is over.
    pub(super) fn reconnect_if_due(
        &mut self,
        link: usize,
        now_ns: u64,
        around: &WorkerContext<'_>,
    ) {
        if self.links[link].take_reconnect(now_ns) {
            around.ask_to_connect(link, self.links[link].broker_id());
        }
    }

    /// A requested connection is ready.
    pub(crate) fn on_connected(
        &mut self,
        link: usize,
        channel: kgauge_client::security::Channel,
        version: i16,
        around: &WorkerContext<'_>,
    ) {
        // Encoded batches stay unchanged, even if the broker returns as a newer release.
        let format = self.pool.format();
        let version = version.min(format.version_max());
        let versions = super::versions_of(self.transaction_kind());
        let version = version.min(*versions.end());
        let fits = RecordsFormat::of(version) == format && versions.contains(&version);
        let (now_ns, registry) = (around.clock.now_ns(), around.registry);
        if fits {
            self.links[link].reconnect_or_lose(channel, version, now_ns, registry);
        } else {
            self.links[link].lost(now_ns, registry);
        }
    }

    /// A requested connection could not be made.
    pub(crate) fn on_not_connected(&mut self, link: usize, around: &WorkerContext<'_>) {
        self.links[link].lost(around.clock.now_ns(), around.registry);
        around.ask_for_leaders();
    }

    /// New metadata: partitions may have moved to other brokers, including unknown ones.
    pub(crate) fn on_leaders(&mut self, leaders: &Leaders, around: &WorkerContext<'_>) {
        for index in 0..self.partitions.len() as u32 {
            let leader = leaders
                .of(index)
                .map(|broker_id| self.link_to(broker_id, around));
            let partition = &mut self.partitions[index as usize];
            if partition.leader == leader || leader.is_none() {
                continue;
            }
            if let (Some(old), true) = (partition.leader, partition.is_listed) {
                self.ready[old].retain(|&other| other != index);
            }
            partition.leader = leader;
            partition.is_listed = false;
            if partition.has_work() {
                self.list_ready(index);
            }
        }
    }

    fn link_to(&mut self, broker_id: i32, around: &WorkerContext<'_>) -> usize {
        if let Some(known) = self
            .links
            .iter()
            .position(|link| link.broker_id() == broker_id)
        {
            return known;
        }
        let index = self.links.len();
        let token = around.token(index);
        self.links.push(BrokerLink::unconnected(
            broker_id,
            token,
            super::RESPONSE_BYTES_MAX,
        ));
        self.in_flight.push(Default::default());
        self.ready.push(Default::default());
        self.stuck_since_ns.push(u64::MAX);
        index
    }

    pub(super) fn partition_of(&mut self, slot: u32) -> &mut PartitionQueue {
        &mut self.partitions[self.pool[slot].partition as usize]
    }

    /// Returns a batch to be sent again, if that is still allowed.
    pub(super) fn retry(&mut self, slot: u32, error: i16, now_ns: u64, recorder: &mut Recorder) {
        let batch = &mut self.pool[slot];
        batch.attempts += 1;
        batch.last_error = error;
        self.note_attempt(slot, error);
        let (settings, batch) = (&self.flow.settings, &self.pool[slot]);
        let expired = now_ns.saturating_sub(batch.created_ns) >= settings.delivery_timeout_ns;
        if batch.attempts > settings.retries || expired {
            if error == ErrorCode::NetworkException.as_i16() {
                return self.end_unknown(slot, now_ns, recorder);
            }
            return self.fail(slot, error, now_ns, recorder);
        }
        // Doubles as in KIP-580, without its jitter: each connection has one producer here.
        let pause_ns = (settings.retry_backoff_ns << (batch.attempts - 1).min(10))
            .min(settings.retry_backoff_ns_max);
        let index = batch.partition;
        let partition = &mut self.partitions[index as usize];
        partition.put_back(slot, &self.pool);
        partition.retry_at_ns = now_ns + pause_ns;
        self.next_retry_ns = self.next_retry_ns.min(partition.retry_at_ns);
        self.list_ready(index);
    }

    /// The leader of a batch's partition has changed.
    pub(super) fn forget_leader(&mut self, slot: u32, around: &WorkerContext<'_>) {
        let index = self.pool[slot].partition;
        let known = self.partitions[index as usize].leader;
        if known.is_some() {
            around.ask_for_leaders();
        }
    }

    /// The records of a batch are certainly not in the log.
    pub(super) fn fail(&mut self, slot: u32, error: i16, now_ns: u64, recorder: &mut Recorder) {
        let mut records = 0;
        self.pool[slot].times.each_intended(|intended_ns, count| {
            recorder.failed(intended_ns, now_ns, count, error);
            records += count;
        });
        self.totals.failed += records;
        self.prove_failed(slot, error);
        self.gave_up(slot);
        self.release(slot, records, now_ns);
    }

    /// The batches of a partition that cannot be sent.
    pub(super) fn fail_waiting(&mut self, index: u32, now_ns: u64, recorder: &mut Recorder) {
        self.partitions[index as usize].close_open(&mut self.pool);
        while let Some(slot) = self.partitions[index as usize].pop_front() {
            let error = ErrorCode::InvalidTxnState.as_i16();
            self.fail(slot, error, now_ns, recorder);
        }
    }

    /// It is unknown whether the records of a batch are in the log.
    fn end_unknown(&mut self, slot: u32, now_ns: u64, recorder: &mut Recorder) {
        let (mut records, error) = (0, self.pool[slot].last_error);
        self.pool[slot].times.each_intended(|intended_ns, count| {
            recorder.indeterminate(intended_ns, now_ns, count, error);
            records += count;
        });
        self.totals.indeterminate += records;
        self.prove_unknown(slot);
        self.gave_up(slot);
        self.release(slot, records, now_ns);
    }

    /// A batch with sequence numbers that never arrives leaves a gap that the broker refuses. An idempotent producer
    /// therefore continues with a new identity.
    fn gave_up(&mut self, slot: u32) {
        if self.abort_transaction_later() {
            return;
        }
        if self.identity.is_some() && self.pool[slot].base_sequence >= 0 {
            self.identity_wanted = true;
        }
    }

    /// Ends batches older than `delivery.timeout.ms`, connections with an overdue response, and records that have
    /// waited for memory for `max.block.ms`.
    pub(super) fn expire(
        &mut self,
        now_ns: u64,
        recorder: &mut Recorder,
        around: &WorkerContext<'_>,
    ) {
        if now_ns >= self.next_metadata_ns {
            self.next_metadata_ns = now_ns.saturating_add(self.flow.settings.metadata_age_ns_max);
            around.ask_for_leaders();
        }
        let request_timeout_ns = self.flow.settings.request_timeout_ns;
        for link in 0..self.links.len() {
            let overdue = self.in_flight[link]
                .front()
                .is_some_and(|entry| now_ns.saturating_sub(entry.sent_ns) >= request_timeout_ns);
            if overdue && self.awaits_answers() {
                self.lose_link(link, &Loss::TimedOut, recorder, around);
            }
        }
        for index in 0..self.partitions.len() {
            self.expire_partition(index, now_ns, recorder);
        }
        if let Some(since_ns) = self.blocked_since_ns
            && now_ns.saturating_sub(since_ns) >= self.flow.settings.block_ns_max
        {
            self.blocked_since_ns = Some(now_ns);
            self.fail_blocked(now_ns, recorder);
        }
    }

    fn expire_partition(&mut self, index: usize, now_ns: u64, recorder: &mut Recorder) {
        let timeout_ns = self.flow.settings.delivery_timeout_ns;
        loop {
            let partition = &mut self.partitions[index];
            let Some(slot) = partition.front().or(partition.open) else {
                return;
            };
            if now_ns.saturating_sub(self.pool[slot].created_ns) < timeout_ns {
                return;
            }
            if partition.pop_front().is_none() {
                partition.open = None;
            }
            if self.pool[slot].attempts > 0 {
                self.end_unknown(slot, now_ns, recorder);
            } else {
                self.fail(slot, ErrorCode::RequestTimedOut.as_i16(), now_ns, recorder);
            }
        }
    }

    /// The record that waits for memory fails, as in Kafka's `send()`.
    fn fail_blocked(&mut self, now_ns: u64, recorder: &mut Recorder) {
        let mut intended_ns = now_ns;
        if let Some(due) = &mut self.due {
            intended_ns = due.peek_ns();
            due.advance(1);
        }
        if intended_ns >= self.hold_start_ns {
            self.records_left = self.records_left.saturating_sub(1);
        }
        self.totals.scheduled += 1;
        self.totals.failed += 1;
        recorder.scheduled(intended_ns, 1);
        recorder.failed(intended_ns, now_ns, 1, ErrorCode::RequestTimedOut.as_i16());
    }

    /// Requests a new producer id once nothing is in flight with the old one.
    pub(super) fn renew_identity_if_quiet(&mut self, around: &WorkerContext<'_>) {
        if self.identity_wanted
            && self.identity.is_some()
            && self.in_flight.iter().all(|requests| requests.is_empty())
        {
            self.identity = None;
            around.ask_for_producer_id();
        }
    }

    /// There is a new producer id: sequences start at zero, and waiting batches get new numbers.
    pub(crate) fn on_identity(&mut self, identity: ProducerId) {
        self.identity = Some(identity);
        self.identity_wanted = false;
        for index in 0..self.partitions.len() {
            self.partitions[index].next_sequence = 0;
            self.partitions[index].acked_sequence = 0;
            let waiting: Vec<u32> = self.partitions[index].waiting().collect();
            for slot in waiting {
                if self.pool[slot].is_finished {
                    self.renumber(index, slot, identity);
                }
            }
        }
    }

    fn renumber(&mut self, index: usize, slot: u32, identity: ProducerId) {
        let transactional = self.is_transactional();
        let batch = &mut self.pool[slot];
        batch.base_sequence = self.partitions[index].take_sequences(batch.encoder.records());
        batch.is_renumbered |= batch.attempts > 0;
        let state = kgauge_wire::record_batch::ProducerState {
            id: identity.id,
            epoch: identity.epoch,
            base_sequence: batch.base_sequence,
            transactional,
        };
        let rewritten = batch
            .encoder
            .batch_mut()
            .map(|bytes| kgauge_wire::record_batch::rewrite_producer(bytes, &state));
        debug_assert!(
            matches!(rewritten, Some(Ok(_))),
            "this producer finished the batch itself"
        );
    }

    /// The run ends here: records without an outcome get one.
    pub(crate) fn abandon(&mut self, now_ns: u64, recorder: &mut Recorder) {
        if self.is_done() {
            return;
        }
        self.phase = Phase::Draining;
        for link in 0..self.links.len() {
            while let Some(mut entry) = self.in_flight[link].pop_front() {
                for slot in entry.batches.drain(..) {
                    self.partition_of(slot).in_flight -= 1;
                    self.end_unknown(slot, now_ns, recorder);
                }
            }
        }
        for index in 0..self.partitions.len() {
            let partition = &mut self.partitions[index];
            partition.close_open(&mut self.pool);
            while let Some(slot) = self.partitions[index].pop_front() {
                if self.pool[slot].attempts > 0 {
                    self.end_unknown(slot, now_ns, recorder);
                } else {
                    self.fail(slot, ErrorCode::RequestTimedOut.as_i16(), now_ns, recorder);
                }
            }
        }
        self.end();
    }
}
