//! The state of one consumer.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use kgauge_results::Recorder;
use kgauge_scenario::ConsumeFlow;
use kgauge_wire::compress::Decompressor;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::message_set::tally;
use kgauge_wire::record_batch::TallyDepth;

use super::committed::sum_of_committed;
use super::group::GroupSubscription;
use super::polls::PollLog;
use super::request::FetchHead;
use super::response::{self, AbortedRange, FetchOutcome};
use crate::broker_link::{ArrivedAnswer, BrokerLink, CORRELATION_BYTES, Loss};
use crate::echo::EchoTracker;
use crate::leaders::Leaders;
use crate::pacing::Until;
use crate::tally::Totals;
use crate::topics::Topics;
use crate::worker_context::WorkerContext;

/// Interval of checks for overdue responses.
const EXPIRY_NS: u64 = 100_000_000;

/// Pause after an error that new metadata may resolve: Kafka's default of `retry.backoff.ms`.
const RETRY_NS: u64 = 100_000_000;

/// Limit on one decompressed records section.
const DECOMPRESSED_BYTES_MAX: usize = 256 << 20;

/// A consumer's position in one partition, identified by its place in [`Topics`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Position {
    pub(crate) partition: u32,
    /// The next offset to read.
    pub(crate) offset: i64,
    /// One after the last readable record, as far as is known.
    pub(crate) high_watermark: i64,
    /// The offset at which reading ends, if there is one.
    pub(crate) end: Option<i64>,
    /// The link to the leader.
    pub(crate) leader: Option<usize>,
    /// No fetch before this time, after an error.
    pub(crate) retry_at_ns: u64,
    /// The assignment that added it. Responses to earlier requests belong to another reader.
    pub(crate) since: u32,
}

impl Position {
    pub(super) fn is_at_end(&self) -> bool {
        self.end.is_some_and(|end| self.offset >= end)
    }
}

/// The settings of a consumer.
pub(crate) struct ConsumerSetup {
    pub(crate) flow: ConsumeFlow,
    pub(crate) topics: Arc<Topics>,
    pub(crate) links: Vec<BrokerLink>,
    pub(crate) positions: Vec<Position>,
    /// Number of records after which this consumer ends.
    pub(crate) records_max: Option<u64>,
    /// When reading ends, if by time.
    pub(crate) hold_end_ns: Option<u64>,
    /// Limit on the size of a response.
    pub(crate) response_bytes_max: usize,
    /// The partitions' leaders.
    pub(crate) leaders: Leaders,
    /// Its membership in a consumer group, if any.
    pub(crate) subscription: Option<GroupSubscription>,
    /// The echo tracker of its flow, if it reads back what the flow writes.
    pub(crate) echo: Option<Arc<EchoTracker>>,
    /// Where it notes unexpected polls, if they are verified.
    pub(crate) polls: Option<PollLog>,
}

/// A request that awaits its response.
#[derive(Debug, Clone, Copy)]
pub(super) struct FetchInFlight {
    correlation_id: i32,
    pub(super) sent_ns: u64,
    /// The assignment to which it belongs: it brings nothing for later ones.
    assignment: u32,
}

/// The records of one partition within a frame.
#[derive(Debug, Clone)]
pub(super) struct FetchedRecords {
    pub(super) position: usize,
    pub(super) from_offset: i64,
    at: Range<usize>,
    aborted: Vec<AbortedRange>,
}

/// One consumer of a flow.
pub(crate) struct Consumer {
    // Configuration
    pub(super) flow: ConsumeFlow,
    pub(super) head: FetchHead,
    pub(super) hold_end_ns: u64,
    records_max: u64,
    pub(super) response_bytes_max: usize,

    // State
    pub(super) links: Vec<BrokerLink>,
    pub(super) in_flight: Vec<Option<FetchInFlight>>,
    pub(super) positions: Vec<Position>,
    pub(super) leaders: Leaders,
    pub(super) subscription: Option<GroupSubscription>,
    /// The tracker of an echo flow.
    pub(super) echo: Option<Arc<EchoTracker>>,
    /// Where it notes what it reads, if that is verified.
    pub(super) polls: Option<PollLog>,
    /// Offsets and intended times of records read back; reused.
    pub(super) echoes: Vec<(i64, u64)>,
    /// It reads the remaining records, and nothing later.
    pub(super) is_draining: bool,
    pub(super) assignment: u32,
    pub(super) seen_ns: u64,
    /// The partitions of the next request to a link; reused.
    asked: Vec<(u32, i64)>,
    fetched: Vec<FetchedRecords>,
    decompressor: Decompressor,
    scratch: Vec<u8>,
    next_expiry_ns: u64,
    /// The second in which its lag was last recorded.
    pub(super) lag_second: Option<u64>,
    pub(super) done: bool,
    pub(super) totals: Totals,
}

impl Consumer {
    /// A consumer before its first read.
    pub(crate) fn new(setup: ConsumerSetup) -> Self {
        let settings = &setup.flow.settings;
        let number = |bytes: u32| i32::try_from(bytes).unwrap_or(i32::MAX);
        let head = FetchHead {
            client_id: settings.client_id.clone(),
            topics: setup.topics,
            wait_ms_max: i32::try_from(settings.fetch_wait_ns_max / 1_000_000).unwrap_or(i32::MAX),
            bytes_min: number(settings.fetch_bytes_min),
            bytes_max: number(settings.fetch_bytes_max),
            partition_bytes_max: number(settings.partition_fetch_bytes_max),
            read_committed: settings.read_committed,
        };
        Self {
            head,
            hold_end_ns: setup.hold_end_ns.unwrap_or(u64::MAX),
            records_max: setup.records_max.unwrap_or(u64::MAX),
            response_bytes_max: setup.response_bytes_max,
            in_flight: vec![None; setup.links.len()],
            links: setup.links,
            positions: setup.positions,
            leaders: setup.leaders,
            subscription: setup.subscription,
            echo: setup.echo,
            polls: setup.polls,
            echoes: Vec::new(),
            is_draining: false,
            assignment: 0,
            seen_ns: 0,
            flow: setup.flow,
            asked: Vec::new(),
            fetched: Vec::new(),
            decompressor: Decompressor::new(),
            scratch: Vec::new(),
            next_expiry_ns: EXPIRY_NS,
            lag_second: None,
            done: false,
            totals: Totals::default(),
        }
    }

    /// Registers its connections with the worker's event loop.
    pub(crate) fn register(&mut self, around: &WorkerContext<'_>) -> io::Result<()> {
        if let Some(subscription) = &self.subscription {
            subscription.begin();
        }
        self.links
            .iter_mut()
            .try_for_each(|link| link.register(around.registry))
    }

    /// Sends a fetch to every leader that has none in flight.
    pub(crate) fn step(&mut self, around: &WorkerContext<'_>) {
        self.handle_events(around);
        let now_ns = around.clock.now_ns();
        self.seen_ns = now_ns;
        if now_ns >= self.hold_end_ns || self.has_read_enough() || self.has_read_back() {
            self.stop();
        }
        if self.done {
            return;
        }
        if now_ns >= self.next_expiry_ns {
            self.next_expiry_ns = now_ns + EXPIRY_NS;
            self.expire(now_ns, around);
        }
        for link in 0..self.links.len() {
            if self.links[link].take_reconnect(now_ns) {
                around.ask_to_connect(link, self.links[link].broker_id());
            }
            self.send_fetch(link, now_ns, around);
        }
    }

    /// Stops reading.
    pub(crate) fn stop(&mut self) {
        self.done = true;
        if let Some(subscription) = &self.subscription {
            subscription.end();
        }
    }

    /// Whether it has stopped reading.
    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    /// Running totals.
    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    /// When [`Consumer::step`] is next due, if nothing arrives before.
    pub(crate) fn until(&self) -> Until {
        let reconnects = self.links.iter().map(BrokerLink::reconnect_at_ns);
        let retries = self.positions.iter().map(|position| position.retry_at_ns);
        let first = reconnects.chain(retries.filter(|&at_ns| at_ns > 0)).min();
        Until::Deadline(
            first
                .unwrap_or(u64::MAX)
                .min(self.group_poll_at_ns())
                .min(self.next_expiry_ns)
                .min(self.hold_end_ns),
        )
    }

    /// No partition of an older assignment remains.
    fn has_only_newer(&self, assignment: u32) -> bool {
        let mut positions = self.positions.iter();
        positions.all(|position| position.since > assignment)
    }

    pub(super) fn flow_name(&self) -> &str {
        &self.flow.name
    }

    fn has_read_enough(&self) -> bool {
        if let Some(subscription) = &self.subscription {
            return subscription.shared.has_read_enough();
        }
        self.totals.consumed >= self.records_max || self.positions.iter().all(Position::is_at_end)
    }

    /// Sends a request for all readable partitions of a link.
    fn send_fetch(&mut self, link: usize, now_ns: u64, around: &WorkerContext<'_>) {
        if self.in_flight[link].is_some() || !self.links[link].is_usable(now_ns) {
            return;
        }
        self.asked.clear();
        for position in &mut self.positions {
            let is_due = position.retry_at_ns <= now_ns;
            if position.leader == Some(link) && is_due && !position.is_at_end() {
                position.retry_at_ns = 0;
                self.asked.push((position.partition, position.offset));
            }
        }
        if self.asked.is_empty() {
            return;
        }
        let version = self.links[link].version();
        let (mut frame, correlation_id) = self.links[link].new_frame();
        // A broker answers in the order of the request until the size limit is reached, so the first partition must
        // change from request to request.
        let turn = correlation_id.unsigned_abs() as usize % self.asked.len();
        self.asked.rotate_left(turn);
        let written = self
            .head
            .write(&mut frame.head, version, correlation_id, &self.asked);
        debug_assert!(
            written.is_ok(),
            "topics and client id were checked before the run"
        );
        self.links[link].push(frame);
        self.in_flight[link] = Some(FetchInFlight {
            correlation_id,
            sent_ns: now_ns,
            assignment: self.assignment,
        });
        self.write(link, around);
    }

    fn write(&mut self, link: usize, around: &WorkerContext<'_>) {
        if let Err(error) = self.links[link].write(&crate::link::NoBodies) {
            self.lose_link(link, &error.into(), around);
        }
    }

    /// A connection is readable or writable.
    pub(crate) fn on_event(
        &mut self,
        link: usize,
        recorder: &mut Recorder,
        around: &WorkerContext<'_>,
    ) {
        self.write(link, around);
        loop {
            let more = self.links[link].receive();
            match more.and_then(|more| self.read_answers(link, recorder, around).map(|()| more)) {
                Ok(true) => {}
                Ok(false) => return,
                Err(loss) => return self.lose_link(link, &loss, around),
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
            let Some(asked) = self.in_flight[link].take() else {
                return Err(Loss::unexpected());
            };
            if correlation_id != Some(asked.correlation_id) {
                return Err(Loss::out_of_order());
            }
            if asked.assignment != self.assignment && self.has_only_newer(asked.assignment) {
                self.send_fetch(link, now_ns, around);
                continue;
            }
            let frame_bytes = at.len() as u64 + 4;
            self.note_answer(link, asked, at.clone(), now_ns, recorder, around)?;
            // The broker prepares the next response while this one is checked.
            if now_ns < self.hold_end_ns {
                self.send_fetch(link, now_ns, around);
            }
            let records = self.check_fetched(link, now_ns, recorder, around);
            self.tick_polls(now_ns, around);
            let round_trip_ns = now_ns.saturating_sub(asked.sent_ns);
            recorder.fetch(now_ns, round_trip_ns, frame_bytes, records);
        }
        Ok(())
    }

    /// Reads a response's outline: the new positions of its partitions, and where their records are.
    fn note_answer(
        &mut self,
        link: usize,
        asked: FetchInFlight,
        at: Range<usize>,
        now_ns: u64,
        recorder: &mut Recorder,
        around: &WorkerContext<'_>,
    ) -> Result<(), Loss> {
        let frame = self.links[link].frame(at.clone());
        let frame_address = frame.as_ptr() as usize;
        let (positions, fetched) = (&mut self.positions, &mut self.fetched);
        let (read_committed, topics) = (self.head.read_committed, &*self.head.topics);
        fetched.clear();
        let mut refused = None;
        let outcome = response::read(
            &frame[CORRELATION_BYTES..],
            self.links[link].version(),
            |topic, part| {
                let Some(place) = topics.place(topic, part.partition) else {
                    return;
                };
                let known = positions
                    .iter()
                    .position(|position| position.partition == place);
                let known = known.filter(|&index| positions[index].since <= asked.assignment);
                let Some(index) = known else { return };
                if part.error != 0 {
                    positions[index].retry_at_ns = now_ns + RETRY_NS;
                    refused = Some((index, part.error));
                    return;
                }
                let is_stable = read_committed && part.last_stable_offset >= 0;
                positions[index].high_watermark = if is_stable {
                    part.last_stable_offset
                } else {
                    part.high_watermark
                };
                if !part.records.is_empty() {
                    let start = at.start + (part.records.as_ptr() as usize - frame_address);
                    fetched.push(FetchedRecords {
                        position: index,
                        from_offset: positions[index].offset,
                        at: start..start + part.records.len(),
                        aborted: part.aborted,
                    });
                }
            },
        );
        let outcome = outcome.map_err(|error| {
            Loss::Malformed(format!("its Fetch response is malformed: {error}"))
        })?;
        self.note_throttle(link, outcome, now_ns, recorder);
        if outcome.error != 0 {
            let code = ErrorCode::from_i16(outcome.error);
            return Err(Loss::Refused(format!(
                "it rejected a Fetch request: {code}"
            )));
        }
        self.advance(link, now_ns, around)?;
        if let Some((index, error)) = refused {
            self.refuse(index, error, now_ns, around);
        }
        Ok(())
    }

    fn note_throttle(
        &mut self,
        link: usize,
        outcome: FetchOutcome,
        now_ns: u64,
        recorder: &mut Recorder,
    ) {
        if outcome.throttle_ms > 0 {
            let throttle_ns = u64::from(outcome.throttle_ms) * 1_000_000;
            recorder.throttled(now_ns, throttle_ns);
            self.links[link].mute_until(now_ns + throttle_ns);
        }
    }

    /// Moves each position past the complete batches that have arrived.
    fn advance(
        &mut self,
        link: usize,
        now_ns: u64,
        around: &WorkerContext<'_>,
    ) -> Result<(), Loss> {
        /// Since Fetch 3, the first record of the first partition is sent whatever its size (KIP-74).
        const WHOLE_FROM: i16 = 3;
        let may_starve = self.links[link].version() < WHOLE_FROM;
        for part in &self.fetched {
            let bytes = self.links[link].frame(part.at.clone());
            let position = &mut self.positions[part.position];
            let walked = tally(
                bytes,
                part.from_offset,
                TallyDepth::Headers,
                (&mut self.decompressor, &mut self.scratch),
                DECOMPRESSED_BYTES_MAX,
                |_, _| (),
            );
            let (partition, offset) = (position.partition, position.offset);
            if let (Some(polls), Ok(found)) = (&mut self.polls, &walked) {
                polls.note(partition, part.from_offset, bytes, found.next_offset);
            }
            match walked {
                Ok(found) if may_starve && found.next_offset.is_none() => {
                    // It would be requested forever and never arrive.
                    around.broken(now_ns, &self.flow.name, || {
                        let bytes = self.flow.settings.partition_fetch_bytes_max;
                        let which = self.head.topics.describe(partition);
                        format!(
                            "{which} at offset {offset}: the record is larger than \
                             max.partition.fetch.bytes ({bytes}), and this release sends no \
                             larger one"
                        )
                    });
                    position.end = Some(offset);
                    if let Some(subscription) = &self.subscription {
                        subscription.shared.give_up();
                    }
                }
                Ok(found) => position.offset = found.next_offset.unwrap_or(position.offset),
                Err(error) => {
                    let which = self.head.topics.describe(partition);
                    let why = format!("{which} at offset {offset}: {error}");
                    return Err(Loss::Malformed(why));
                }
            }
        }
        Ok(())
    }

    /// Checks and counts the records that the outline found.
    fn check_fetched(
        &mut self,
        link: usize,
        now_ns: u64,
        recorder: &mut Recorder,
        around: &WorkerContext<'_>,
    ) -> u64 {
        let depth = if self.flow.settings.check_crcs {
            TallyDepth::Records
        } else {
            TallyDepth::RecordsUnchecked
        };
        let mut all = 0;
        let unix_ms = around.clock.shared_unix_ms(now_ns);
        let echo = self.echo.as_deref();
        let depth = match echo {
            Some(_) => TallyDepth::Records,
            None => depth,
        };
        for part in &self.fetched {
            let bytes = self.links[link].frame(part.at.clone());
            let position = self.positions[part.position];
            self.echoes.clear();
            let mut count = |bytes: &[u8]| {
                let buffers = (&mut self.decompressor, &mut self.scratch);
                let (from, bytes_max) = (part.from_offset, DECOMPRESSED_BYTES_MAX);
                tally(bytes, from, depth, buffers, bytes_max, |offset, value| {
                    if let Some(echo) = echo {
                        let mark = value.and_then(|value| echo.mark_of(value));
                        let mark = mark.filter(|mark| echo.is_first(*mark));
                        self.echoes
                            .extend(mark.map(|mark| (offset, mark.intended_ns)));
                    }
                })
            };
            let counted = match part.aborted.as_slice() {
                [] => count(bytes),
                aborted => sum_of_committed(bytes, aborted, count),
            };
            match counted {
                Ok(found) if echo.is_some() => {
                    Self::note_polled(&mut self.polls, &position, part, &found, bytes, unix_ms);
                    let consumed_ns = around.clock.now_ns();
                    all += self.echoes.len() as u64;
                    self.totals.consumed += self.echoes.len() as u64;
                    self.note_echoes(part, consumed_ns, recorder);
                }
                Ok(found) => {
                    Self::note_polled(&mut self.polls, &position, part, &found, bytes, unix_ms);
                    let logical_bytes = found.key_bytes + found.value_bytes + found.header_bytes;
                    // Only checked records count as read.
                    recorder.consumed(around.clock.now_ns(), found.records, logical_bytes);
                    self.totals.consumed += found.records;
                    self.totals.logical_bytes += logical_bytes;
                    all += found.records;
                    let skipped = self.note_read(part, found.records);
                    if let (Some(skipped), Some(polls)) = (skipped, &mut self.polls) {
                        polls.note_skipped(position.partition, skipped);
                    }
                }
                Err(error) => {
                    recorder.corrupt(now_ns, 1);
                    self.note_read(part, 0);
                    around.broken(now_ns, &self.flow.name, || {
                        let from = part.from_offset;
                        let which = self.head.topics.describe(position.partition);
                        format!("{which} from offset {from}: {error}")
                    });
                }
            }
        }
        all
    }

    fn refuse(&mut self, index: usize, error: i16, now_ns: u64, around: &WorkerContext<'_>) {
        let code = ErrorCode::from_i16(error);
        if code.refreshes_metadata() {
            around.ask_for_leaders();
        }
        let position = &mut self.positions[index];
        let which = self.head.topics.describe(position.partition);
        let say = || format!("{which} at offset {}: {code}", position.offset);
        if code.is_retriable() {
            around.incident(now_ns, &self.flow.name, say);
        } else {
            around.broken(now_ns, &self.flow.name, say);
            position.end = Some(position.offset);
            if let Some(subscription) = &self.subscription {
                subscription.shared.give_up();
            }
        }
    }
}
