//! The recorder: one per thread and flow. It adds every sample to a slice, without a lock, and without an allocation
//! per sample.

mod sink;
#[cfg(test)]
mod tests;
mod waits;
mod write_failure;
mod writer;

pub use sink::{MemorySlices, SliceSink};
pub use write_failure::WriteError;
pub use writer::{SliceTap, SliceWriter, SlicesWritten};

use crate::pace::PaceSeries;
use crate::slice::{SendOutcome, Slice, SliceKey, TimeKind};
use crate::stage::StageBorders;

/// Slices besides the two in use at the start: those of recently crossed borders.
const PARKED_AT_START: usize = 2;
/// Limit on their number: beyond it, the one that was unused for longest is shipped as a partial slice. After a freeze
/// of a minute, each second of it gets its responses in any order.
const PARKED_MAX: usize = 64;

/// Folds one thread's samples of one flow into slices and ships them to the writer.
///
/// All times are nanoseconds since the start of the repeat on one monotonic clock. A time of a
/// record belongs to the second and stage in which the record was intended; what simply happens
/// (records acked, bytes, requests) belongs to the moment when it happened.
///
/// ```
/// use kgauge_results::{Recorder, SliceSink, StageBorders};
///
/// let (sink, slices) = SliceSink::memory();
/// let mut recorder = Recorder::new(0, StageBorders::open(0), sink);
/// recorder.scheduled(1_000, 1);
/// recorder.sent(3_000, 1);
/// recorder.acked(1_000, 3_000, 9_000, 1, 100);
/// recorder.finish();
/// let mut slice = slices.take().remove(0);
/// slice.settle();
/// assert_eq!(slice.times(kgauge_results::TimeKind::Response).max_ns(), Some(8_000));
/// ```
#[derive(Debug)]
pub struct Recorder {
    flow: u16,
    borders: StageBorders,
    sink: SliceSink,
    /// The slice of the last intended time, which mostly is that of the next one too.
    intended: OpenSlice,
    /// The same for the times of events. It may have the same second as `intended`; the two are added when they are
    /// shipped.
    happened: OpenSlice,
    /// Slices of other seconds, and unused ones.
    parked: Vec<OpenSlice>,
    turn: u64,
    /// Records acked or read in each tenth of a second.
    pace: PaceSeries,
}

/// Why a record is accepted late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordLateness {
    /// The client had buffer space and did not send.
    HadRoom,
    /// It was due while the client waited for buffer space, or was catching up afterwards.
    Waited,
}

/// An open slice and the span of time that belongs to it.
#[derive(Debug)]
struct OpenSlice {
    slice: Box<Slice>,
    start_ns: u64,
    /// 0 while the slice is unused.
    length_ns: u64,
    /// When it was parked.
    turn: u64,
}

impl OpenSlice {
    fn vacant(sink: &SliceSink) -> OpenSlice {
        OpenSlice {
            slice: sink.fresh(),
            start_ns: 0,
            length_ns: 0,
            turn: 0,
        }
    }

    #[inline]
    fn holds(&self, at_ns: u64) -> bool {
        at_ns.wrapping_sub(self.start_ns) < self.length_ns
    }

    fn is_vacant(&self) -> bool {
        self.length_ns == 0
    }
}

impl Recorder {
    /// A recorder for the flow with this index in its trial.
    pub fn new(flow: u16, borders: StageBorders, sink: SliceSink) -> Recorder {
        let mut parked = Vec::with_capacity(PARKED_MAX);
        parked.resize_with(PARKED_AT_START, || OpenSlice::vacant(&sink));
        Recorder {
            flow,
            borders,
            intended: OpenSlice::vacant(&sink),
            happened: OpenSlice::vacant(&sink),
            parked,
            turn: 0,
            pace: PaceSeries::default(),
            sink,
        }
    }

    /// `records` were due at `intended_ns`. A closed loop calls it when it accepts records.
    #[inline]
    pub fn scheduled(&mut self, intended_ns: u64, records: u64) {
        self.at_intended(intended_ns).counts.records_scheduled += records;
    }

    /// A record was due at each of these times, in order.
    #[inline]
    pub fn scheduled_each(&mut self, intended_ns: &[u64]) {
        let mut rest = intended_ns;
        while let Some(&first_ns) = rest.first() {
            self.at_intended(first_ns);
            let same = self.same_slice(rest);
            self.intended.slice.counts.records_scheduled += same as u64;
            rest = &rest[same..];
        }
    }

    /// How many of these ascending times, which begin in the open slice, are in it.
    #[inline]
    fn same_slice(&self, moments: &[u64]) -> usize {
        match moments.last() {
            Some(&last_ns) if self.intended.holds(last_ns) => moments.len(),
            _ => moments.partition_point(|&at_ns| self.intended.holds(at_ns)),
        }
    }

    /// Scheduled records that were too late to be sent.
    #[inline]
    pub fn skipped(&mut self, intended_ns: u64, records: u64) {
        self.at_intended(intended_ns).counts.records_skipped += records;
    }

    /// The same for records that the client could not accept for lack of buffer space.
    #[inline]
    pub fn skipped_waiting(&mut self, intended_ns: u64, records: u64) {
        let counts = &mut self.at_intended(intended_ns).counts;
        counts.records_skipped += records;
        counts.records_skipped_waiting += records;
    }

    /// A record for each of these intended times, in order, is accepted late: because the client waited for buffer
    /// space, or for its own reasons.
    pub fn late_each(&mut self, intended_ns: &[u64], lateness: RecordLateness) {
        let mut rest = intended_ns;
        while let Some(&first_ns) = rest.first() {
            self.at_intended(first_ns);
            let same = self.same_slice(rest);
            let counts = &mut self.intended.slice.counts;
            counts.records_late += same as u64;
            if lateness == RecordLateness::Waited {
                counts.records_late_waiting += same as u64;
            }
            rest = &rest[same..];
        }
    }

    /// Records accepted by the producer.
    #[inline]
    pub fn sent(&mut self, sent_ns: u64, records: u64) {
        self.at_happened(sent_ns).counts.records_sent += records;
    }

    /// `records` with equal times were acked; `logical_bytes` is their sum.
    ///
    /// A clock that ran backwards is counted as an anomaly and as a time of 0, never dropped.
    #[inline]
    pub fn acked(
        &mut self,
        intended_ns: u64,
        sent_ns: u64,
        acked_ns: u64,
        records: u64,
        logical_bytes: u64,
    ) {
        let counts = &mut self.at_happened(acked_ns).counts;
        counts.records_acked += records;
        counts.logical_bytes_acked += logical_bytes;
        let delay_ns = acked_ns.saturating_sub(intended_ns);
        self.pace.note(acked_ns, records, delay_ns);
        if acked_ns < sent_ns || sent_ns < intended_ns || records == 0 {
            return self.acked_oddly(intended_ns, sent_ns, acked_ns, records);
        }
        let slice = self.at_intended(intended_ns);
        let response_ns = acked_ns - intended_ns;
        if sent_ns == intended_ns {
            let times = slice.times_mut(TimeKind::Immediate);
            times.record_some(response_ns, records, intended_ns);
            return;
        }
        let response = slice.times_mut(TimeKind::Response);
        response.record_some(response_ns, records, intended_ns);
        let service = slice.times_mut(TimeKind::Service);
        service.record_some(acked_ns - sent_ns, records, intended_ns);
        let lag = slice.times_mut(TimeKind::Lag);
        lag.record_some(sent_ns - intended_ns, records, intended_ns);
    }

    /// A record for each of these intended times, in order, was sent at `sent_ns` and acked at `acked_ns`;
    /// `logical_bytes` is their sum. This is [`Recorder::acked`] for each, at lower cost.
    #[inline]
    pub fn acked_each(
        &mut self,
        intended_ns: &[u64],
        sent_ns: u64,
        acked_ns: u64,
        logical_bytes: u64,
    ) {
        let runs_backwards = |&last_ns: &u64| acked_ns < sent_ns || sent_ns < last_ns;
        let (Some(&oldest_ns), Some(false)) =
            (intended_ns.first(), intended_ns.last().map(runs_backwards))
        else {
            return self.acked_one_by_one(intended_ns, sent_ns, acked_ns, logical_bytes);
        };
        let delay_ns = acked_ns.saturating_sub(oldest_ns);
        self.pace.note(acked_ns, intended_ns.len() as u64, delay_ns);
        let counts = &mut self.at_happened(acked_ns).counts;
        counts.records_acked += intended_ns.len() as u64;
        counts.logical_bytes_acked += logical_bytes;
        let mut rest = intended_ns;
        while let Some(&first_ns) = rest.first() {
            self.at_intended(first_ns);
            let (own, others) = rest.split_at(self.same_slice(rest));
            let slice = &mut *self.intended.slice;
            let service = slice.times_mut(TimeKind::Service);
            service.record_some(acked_ns - sent_ns, own.len() as u64, first_ns);
            slice
                .times_mut(TimeKind::Response)
                .record_since(own, acked_ns);
            slice.times_mut(TimeKind::Lag).record_since(own, sent_ns);
            rest = others;
        }
    }

    /// If a clock ran backwards, each record is handled separately.
    #[cold]
    fn acked_one_by_one(
        &mut self,
        intended_ns: &[u64],
        sent_ns: u64,
        acked_ns: u64,
        logical_bytes: u64,
    ) {
        let mut bytes = logical_bytes;
        for &intended_ns in intended_ns {
            self.acked(intended_ns, sent_ns, acked_ns, 1, bytes);
            bytes = 0;
        }
    }

    /// Times that ran backwards become 0 and are reported; without records there is no sample.
    #[cold]
    fn acked_oddly(&mut self, intended_ns: u64, sent_ns: u64, acked_ns: u64, records: u64) {
        let slice = self.at_intended(intended_ns);
        let times = [
            (TimeKind::Response, acked_ns.saturating_sub(intended_ns)),
            (TimeKind::Service, acked_ns.saturating_sub(sent_ns)),
            (TimeKind::Lag, sent_ns.saturating_sub(intended_ns)),
        ];
        slice.counts.clock_anomalies += records;
        for (kind, value_ns) in times {
            slice.times_mut(kind).record(value_ns, records, intended_ns);
        }
    }

    /// The send of `records` failed permanently at `at_ns`, with Kafka's error code or one of
    /// [`crate::client_code`].
    pub fn failed(&mut self, intended_ns: u64, at_ns: u64, records: u64, error: i16) {
        self.at_intended(intended_ns).counts.records_failed += records;
        let errors = &mut self.at_happened(at_ns).errors;
        errors.record(SendOutcome::Failed, error, records);
    }

    /// At `at_ns` it became clear that the outcome of `records` cannot be known.
    pub fn indeterminate(&mut self, intended_ns: u64, at_ns: u64, records: u64, error: i16) {
        self.at_intended(intended_ns).counts.records_indeterminate += records;
        let errors = &mut self.at_happened(at_ns).errors;
        errors.record(SendOutcome::Indeterminate, error, records);
    }

    /// `records` will be sent again because of `error`.
    pub fn retried(&mut self, at_ns: u64, records: u64, error: i16) {
        let slice = self.at_happened(at_ns);
        slice.counts.records_retried += records;
        slice.errors.record(SendOutcome::Retried, error, records);
    }

    /// A produce request was answered (or, with acks=0, written).
    #[inline]
    pub fn request(&mut self, at_ns: u64, request: AnsweredRequest) {
        let slice = self.at_happened(at_ns);
        slice.counts.requests += 1;
        slice.counts.request_batches += request.batches;
        slice.counts.request_records += request.records;
        slice.counts.wire_bytes_sent += request.wire_bytes;
        if let Some(round_trip_ns) = request.round_trip_ns {
            let times = slice.times_mut(TimeKind::RoundTrip);
            times.record(round_trip_ns, 1, at_ns);
        }
    }

    /// Batches were sent that compression reduced from `plain_bytes` to `compressed_bytes`.
    #[inline]
    pub fn compressed(&mut self, at_ns: u64, plain_bytes: u64, compressed_bytes: u64) {
        let counts = &mut self.at_happened(at_ns).counts;
        counts.batch_bytes_plain += plain_bytes;
        counts.batch_bytes_compressed += compressed_bytes;
    }

    /// A consumer is this many records behind the ends of its partitions. Call it once per second for each consumer: a
    /// flow's lag is the sum over its consumers.
    pub fn behind(&mut self, at_ns: u64, records: u64) {
        let counts = &mut self.at_happened(at_ns).counts;
        counts.lag_records += records;
        counts.lag_samples += 1;
    }

    /// A broker throttled the client for `ns`.
    pub fn throttled(&mut self, at_ns: u64, ns: u64) {
        let counts = &mut self.at_happened(at_ns).counts;
        counts.throttles += 1;
        counts.throttle_ns += ns;
    }

    /// A record waited `ns` for space in the producer's buffer, until `at_ns`.
    #[inline]
    pub fn buffer_wait(&mut self, at_ns: u64, ns: u64) {
        let times = self.at_happened(at_ns).times_mut(TimeKind::BufferWait);
        times.record(ns, 1, at_ns);
    }

    /// Records were read and verified.
    #[inline]
    pub fn consumed(&mut self, at_ns: u64, records: u64, logical_bytes: u64) {
        let counts = &mut self.at_happened(at_ns).counts;
        counts.records_consumed += records;
        counts.logical_bytes_consumed += logical_bytes;
        self.pace.note(at_ns, records, 0);
    }

    /// A client has sent or read all that it was to.
    pub fn client_done(&mut self, at_ns: u64) {
        self.pace.note_done(at_ns);
    }

    /// The records acked or read so far, in bins of equal length.
    pub fn pace(&self) -> &PaceSeries {
        &self.pace
    }

    /// A fetch request was answered, with these bytes on the wire and this number of records.
    #[inline]
    pub fn fetch(&mut self, at_ns: u64, round_trip_ns: u64, wire_bytes: u64, records: u64) {
        let slice = self.at_happened(at_ns);
        slice.counts.fetches += 1;
        slice.counts.fetches_empty += u64::from(records == 0);
        slice.counts.wire_bytes_consumed += wire_bytes;
        let times = slice.times_mut(TimeKind::FetchRoundTrip);
        times.record(round_trip_ns, 1, at_ns);
    }

    /// Records were read whose content does not match its checksum.
    pub fn corrupt(&mut self, at_ns: u64, records: u64) {
        self.at_happened(at_ns).counts.records_corrupt += records;
    }

    /// Echo flows: records intended at `intended_ns` were read back at `consumed_ns`.
    #[inline]
    pub fn echoed(&mut self, intended_ns: u64, consumed_ns: u64, records: u64) {
        self.at_happened(consumed_ns).counts.records_echoed += records;
        let slice = self.at_intended(intended_ns);
        if consumed_ns < intended_ns {
            slice.counts.clock_anomalies += records;
        }
        let end_to_end_ns = consumed_ns.saturating_sub(intended_ns);
        let times = slice.times_mut(TimeKind::EndToEnd);
        times.record(end_to_end_ns, records, intended_ns);
    }

    /// The time integral of the records in flight, from `from_ns` to `to_ns`, as kept by the load engine. Little's law
    /// is checked against it.
    ///
    /// A span over several seconds or stages is spread evenly over them.
    pub fn in_flight(&mut self, from_ns: u64, to_ns: u64, record_ns: u64) {
        let whole_ns = u128::from(to_ns.saturating_sub(from_ns));
        let (mut at_ns, mut left) = (from_ns, record_ns);
        while at_ns < to_ns {
            let (_, end_ns) = self.borders.span_around(at_ns);
            let end_ns = end_ns.min(to_ns);
            let part_ns = u128::from(end_ns - at_ns);
            // At most `record_ns`, which is a u64.
            let part = (u128::from(record_ns) * part_ns / whole_ns) as u64;
            let part = if end_ns == to_ns {
                left
            } else {
                part.min(left)
            };
            self.at_happened(at_ns).counts.in_flight_record_ns += part;
            left -= part;
            at_ns = end_ns;
        }
    }

    /// Ends an open hold at `at_ns`: later intended times and events belong to the drain.
    ///
    /// Recorded samples stay where they are, so call it before recording anything later.
    pub fn close_hold(&mut self, at_ns: u64) {
        self.ship_all();
        self.borders.hold_end_ns = at_ns.max(self.borders.warm_up_end_ns);
    }

    /// The hold starts and ends at other times than announced, both in the future.
    ///
    /// Recorded samples stay where they are, so call it before recording anything of the hold.
    pub fn move_hold(&mut self, borders: StageBorders) {
        self.ship_all();
        self.borders = borders;
    }

    /// Ships everything new. Call it about once per second: a killed process loses what came after the last tick.
    pub fn tick(&mut self) {
        self.ship_all();
    }

    /// Ships the rest; returns the records acked or read over time.
    pub fn finish(mut self) -> PaceSeries {
        self.ship_all();
        self.pace
    }

    #[inline]
    fn at_intended(&mut self, at_ns: u64) -> &mut Slice {
        if !self.intended.holds(at_ns) {
            let mut open = self.take_open(at_ns);
            std::mem::swap(&mut open, &mut self.intended);
            self.park(open);
        }
        &mut self.intended.slice
    }

    #[inline]
    fn at_happened(&mut self, at_ns: u64) -> &mut Slice {
        if !self.happened.holds(at_ns) {
            let mut open = self.take_open(at_ns);
            std::mem::swap(&mut open, &mut self.happened);
            self.park(open);
        }
        &mut self.happened.slice
    }

    /// The parked slice of a time, or an unused one.
    #[cold]
    fn take_open(&mut self, at_ns: u64) -> OpenSlice {
        if let Some(known) = self.parked.iter().position(|open| open.holds(at_ns)) {
            return self.parked.swap_remove(known);
        }
        let vacant = self.parked.iter().position(OpenSlice::is_vacant);
        let mut open = match vacant {
            Some(vacant) => self.parked.swap_remove(vacant),
            None => OpenSlice::vacant(&self.sink),
        };
        let (start_ns, end_ns) = self.borders.span_around(at_ns);
        open.start_ns = start_ns;
        open.length_ns = end_ns - start_ns;
        open.slice.key = SliceKey::at(self.flow, at_ns, &self.borders);
        open
    }

    /// Parks a slice. If there are too many, the one that was unused for longest is shipped.
    #[cold]
    fn park(&mut self, mut open: OpenSlice) {
        self.turn += 1;
        open.turn = self.turn;
        if self.parked.len() == PARKED_MAX {
            let oldest = self.parked.iter_mut().min_by_key(|open| open.turn);
            if let Some(oldest) = oldest {
                ship(&self.sink, oldest);
                std::mem::swap(oldest, &mut open);
            }
            return;
        }
        self.parked.push(open);
    }

    fn ship_all(&mut self) {
        let same_key = self.intended.slice.key == self.happened.slice.key;
        if same_key && !self.intended.is_vacant() && !self.happened.is_vacant() {
            // One line instead of two; event slices have few distributions and are quickly added.
            self.intended.slice.add(&self.happened.slice);
            self.happened.slice.reset(self.happened.slice.key);
        }
        ship(&self.sink, &mut self.happened);
        ship(&self.sink, &mut self.intended);
        for open in &mut self.parked {
            ship(&self.sink, open);
        }
    }
}

/// Ships a slice unless it is empty, and leaves an unused one.
fn ship(sink: &SliceSink, open: &mut OpenSlice) {
    if open.is_vacant() {
        return;
    }
    open.length_ns = 0;
    if !open.slice.is_empty() {
        sink.ship(&mut open.slice);
    }
}

/// An answered produce request.
#[derive(Clone, Copy, Debug)]
pub struct AnsweredRequest {
    /// Bytes on the wire, including the frame.
    pub wire_bytes: u64,
    /// Record batches in it.
    pub batches: u64,
    /// Records in it.
    pub records: u64,
    /// Response read - request written; `None` with acks=0, which has no response.
    pub round_trip_ns: Option<u64>,
}
