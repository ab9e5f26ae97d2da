//! The tracker of an echo flow, shared by its producers and consumers.
//!
//! Each value ends with a mark: a tag that identifies the flow's records, and the record's intended time. A consumer
//! can therefore compute the end-to-end time on the clock that it shares with the producers. The tracker knows when
//! each batch was acked.
//!
//! If the clients of a flow are spread over several agents, each has its own tracker. Marks then contain times of a
//! clock that all agents share, and the lead knows when all records were read.
//!
//! If consumers read a copy on another cluster, the mark also numbers its record: a replicator may copy a record twice,
//! and the copy has its own offsets.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use serde::{Deserialize, Serialize};

use crate::sync::lock;

/// Bytes of a mark: the tag and the time.
const MARK_BYTES: usize = 16;

/// Bytes before it in a copy: the record's number.
const NUMBER_BYTES: usize = 8;

/// Bytes at the end of a value of an echo flow that do not follow from the record's number.
pub(crate) const ECHO_BYTES_MAX: usize = MARK_BYTES + NUMBER_BYTES;

/// The tracker of a flow.
#[derive(Debug)]
pub(crate) struct EchoTracker {
    tag: u64,
    producers_left: AtomicUsize,
    acked: AtomicU64,
    echoed: AtomicU64,
    lanes: Vec<Mutex<Lane>>,
    /// One more than the highest number in a mark.
    numbered_end: AtomicU64,
    /// The records read from a copy; none if the topic itself is read.
    copy: Option<Mutex<CopyTracker>>,
    is_transactional: bool,
    /// Other agents write and read records of the flow, too.
    spread: Option<SpreadEcho>,
}

/// The part of a flow that several agents run.
#[derive(Debug, Default)]
struct SpreadEcho {
    /// What to add to times of this process to get those of the clock that all agents share.
    clock_shift_ns: AtomicI64,
    /// All records were read, somewhere.
    is_over: AtomicBool,
}

/// The records of one agent in an echo flow that several agents run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EchoTally {
    /// Records that its producers wrote and brokers acked.
    pub acked: u64,
    /// Records that its consumers read, whoever wrote them.
    pub echoed: u64,
    /// Its producers have the outcome of every record.
    pub is_written: bool,
}

/// The records of a copy that were read.
#[derive(Debug, Default)]
struct CopyTracker {
    /// One bit per number.
    seen: Vec<u64>,
    doubled: u64,
    last_read_ns: u64,
}

impl CopyTracker {
    /// Whether the record with this number was not read before.
    fn is_new(&mut self, number: u64) -> bool {
        let (word, bit) = ((number / 64) as usize, 1 << (number % 64));
        if word >= self.seen.len() {
            self.seen.resize(word + 1, 0);
        }
        let is_new = self.seen[word] & bit == 0;
        self.seen[word] |= bit;
        self.doubled += u64::from(!is_new);
        is_new
    }
}

/// The contents of a value's mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EchoMark {
    /// The intended time.
    pub(crate) intended_ns: u64,
    /// The record's number in its flow; 0 if the topic itself is read.
    number: u64,
}

/// How complete a copy was, as far as it was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyTally {
    /// Records that were acked and not read.
    pub missing: u64,
    /// Records that were read again.
    pub doubled: u64,
    /// When the last record was read for the first time, ns since the start; 0 without any.
    pub last_read_ns: u64,
}

/// The batches of one partition that were acked and not yet read.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    /// In the order of their offsets.
    batches: VecDeque<AckedBatch>,
    /// One after the last acked record.
    acked_end: i64,
}

#[derive(Debug, Clone, Copy)]
struct AckedBatch {
    base: i64,
    end: i64,
    known: EchoRecord,
}

/// The times of a record in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EchoRecord {
    /// When its ack was read.
    pub(crate) acked_ns: u64,
    /// When its transaction was committed; `None` if that is not known yet, and without transactions.
    pub(crate) committed_ns: Option<u64>,
}

impl EchoTracker {
    /// A tracker for a flow with this unique seed.
    pub(crate) fn new(seed: u64, producers: usize, partitions: u32) -> Self {
        Self {
            tag: seed,
            producers_left: AtomicUsize::new(producers),
            acked: AtomicU64::new(0),
            echoed: AtomicU64::new(0),
            lanes: (0..partitions).map(|_| Mutex::default()).collect(),
            numbered_end: AtomicU64::new(0),
            copy: None,
            is_transactional: false,
            spread: None,
        }
    }

    /// A tracker for a flow that several agents run.
    pub(crate) fn of_agents(self) -> Self {
        Self {
            spread: Some(SpreadEcho::default()),
            ..self
        }
    }

    /// Whether several agents run the flow.
    pub(crate) fn is_spread(&self) -> bool {
        self.spread.is_some()
    }

    /// This agent's records, if several agents run the flow.
    pub(crate) fn tally(&self) -> Option<EchoTally> {
        self.spread.as_ref().map(|_| EchoTally {
            acked: self.acked.load(Ordering::Relaxed),
            echoed: self.echoed.load(Ordering::Relaxed),
            is_written: self.producers_left.load(Ordering::Relaxed) == 0,
        })
    }

    /// All records were read, by all agents together.
    pub(crate) fn end_spread(&self) {
        if let Some(spread) = &self.spread {
            spread.is_over.store(true, Ordering::Relaxed);
        }
    }

    /// The clock that all agents share is ahead of this process's by this time.
    pub(crate) fn set_clock_shift(&self, shift_ns: i64) {
        if let Some(spread) = &self.spread {
            spread.clock_shift_ns.store(shift_ns, Ordering::Relaxed);
        }
    }

    fn clock_shift_ns(&self) -> i64 {
        let spread = self.spread.as_ref();
        spread.map_or(0, |spread| spread.clock_shift_ns.load(Ordering::Relaxed))
    }

    /// A tracker for consumers that read a copy.
    pub(crate) fn of_copy(self) -> Self {
        Self {
            copy: Some(Mutex::default()),
            ..self
        }
    }

    /// Writes a record's mark over the end of its value.
    pub(crate) fn mark(&self, number: u64, intended_ns: u64, value: &mut [u8]) {
        let intended_ns = intended_ns.saturating_add_signed(self.clock_shift_ns());
        let from = value.len().saturating_sub(MARK_BYTES);
        if self.copy.is_some()
            && let Some(to) = value[..from].last_chunk_mut::<NUMBER_BYTES>()
        {
            *to = number.to_be_bytes();
            self.numbered_end.fetch_max(number + 1, Ordering::Relaxed);
        }
        if let Some((tag, time)) = value[from..].split_first_chunk_mut::<8>() {
            *tag = self.tag.to_be_bytes();
            if let Some(time) = time.first_chunk_mut::<8>() {
                *time = intended_ns.to_be_bytes();
            }
        }
    }

    /// The mark of a value; `None` if it is not of this flow.
    pub(crate) fn mark_of(&self, value: &[u8]) -> Option<EchoMark> {
        let (rest, time) = value.split_last_chunk::<8>()?;
        let (rest, tag) = rest.split_last_chunk::<8>()?;
        if u64::from_be_bytes(*tag) != self.tag {
            return None;
        }
        let number = match self.copy {
            Some(_) => u64::from_be_bytes(*rest.last_chunk::<NUMBER_BYTES>()?),
            None => 0,
        };
        // A foreign number must not allocate memory.
        let is_ours = self.copy.is_none() || number < self.numbered_end.load(Ordering::Relaxed);
        is_ours.then(|| EchoMark {
            intended_ns: u64::from_be_bytes(*time).saturating_sub_signed(self.clock_shift_ns()),
            number,
        })
    }

    /// Whether to count a record: one of a copy counts only the first time.
    pub(crate) fn is_first(&self, mark: EchoMark) -> bool {
        let copy = self.copy.as_ref();
        copy.is_none_or(|copy| lock(copy).is_new(mark.number))
    }

    /// Whether consumers read a copy on another cluster.
    pub(crate) fn reads_copy(&self) -> bool {
        self.copy.is_some()
    }

    /// How complete the copy is.
    pub(crate) fn copy_tally(&self) -> Option<CopyTally> {
        let copy = self.copy.as_ref()?;
        let copied = lock(copy);
        Some(CopyTally {
            missing: self.missing(),
            doubled: copied.doubled,
            last_read_ns: copied.last_read_ns,
        })
    }

    /// A batch was acked. `base` is negative if the broker does not report it.
    pub(crate) fn acked(&self, partition: u32, base: i64, records: u64, acked_ns: u64) {
        self.acked.fetch_add(records, Ordering::Relaxed);
        if base < 0 || self.reads_copy() || self.is_spread() {
            return;
        }
        let Some(mut lane) = self.lane(partition) else {
            return;
        };
        let end = base.saturating_add_unsigned(records);
        lane.acked_end = lane.acked_end.max(end);
        // Batches of other producers may have arrived before, but barely.
        let later = lane.batches.iter().rev().take_while(|one| one.base > base);
        let at = lane.batches.len() - later.count();
        let known = EchoRecord {
            acked_ns,
            committed_ns: None,
        };
        lane.batches.insert(at, AckedBatch { base, end, known });
    }

    /// The transaction of an acked batch was committed at this time, or aborted: then nobody will read it.
    pub(crate) fn ended(
        &self,
        (partition, base): (u32, i64),
        records: u64,
        committed_ns: Option<u64>,
    ) {
        if committed_ns.is_none() {
            self.acked.fetch_sub(records, Ordering::Relaxed);
        }
        let Some(mut lane) = self.lane(partition) else {
            return;
        };
        // Records that were already read are no longer there.
        let Ok(at) = lane.batches.binary_search_by_key(&base, |one| one.base) else {
            return;
        };
        match committed_ns {
            Some(_) => lane.batches[at].known.committed_ns = committed_ns,
            None => drop(lane.batches.remove(at)),
        }
    }

    /// Whether its records are written in transactions.
    pub(crate) fn is_transactional(&self) -> bool {
        self.is_transactional
    }

    /// A tracker for records that are written in transactions.
    pub(crate) fn of_transactions(self) -> Self {
        Self {
            is_transactional: true,
            ..self
        }
    }

    /// Records were read back.
    pub(crate) fn echoed(&self, records: u64, consumed_ns: u64) {
        self.echoed.fetch_add(records, Ordering::Relaxed);
        if let (Some(copy), true) = (&self.copy, records > 0) {
            let mut copied = lock(copy);
            copied.last_read_ns = copied.last_read_ns.max(consumed_ns);
        }
    }

    /// A producer has the outcome of every record.
    pub(crate) fn producer_done(&self) {
        self.producers_left.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether all acked records were read, by a consumer with these positions.
    pub(crate) fn is_complete(&self, mut positions: impl Iterator<Item = (u32, i64)>) -> bool {
        if let Some(spread) = &self.spread {
            return spread.is_over.load(Ordering::Relaxed);
        }
        self.producers_left.load(Ordering::Relaxed) == 0
            && self.missing() == 0
            // A copy has its own offsets.
            && (self.reads_copy() || positions.all(|(partition, offset)| {
                let lane = self.lane(partition);
                lane.is_none_or(|lane| offset >= lane.acked_end)
            }))
    }

    /// Records that were acked and not read back yet; 0 if only the lead knows.
    pub(crate) fn missing(&self) -> u64 {
        if self.is_spread() {
            return 0;
        }
        let acked = self.acked.load(Ordering::Relaxed);
        acked.saturating_sub(self.echoed.load(Ordering::Relaxed))
    }

    /// One partition's batches, for one reader at a time.
    pub(crate) fn lane(&self, partition: u32) -> Option<MutexGuard<'_, Lane>> {
        let lane = self.lanes.get(partition as usize)?;
        Some(lock(lane))
    }
}

impl Lane {
    /// The times of the record at an offset; `None` if its ack has not been read. Offsets rise from call to call.
    pub(crate) fn known(&mut self, offset: i64) -> Option<EchoRecord> {
        while self.batches.front().is_some_and(|one| one.end <= offset) {
            self.batches.pop_front();
        }
        let first = self.batches.front()?;
        (first.base <= offset).then_some(first.known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_back_and_others_are_not_taken_for_one() {
        let tracker = EchoTracker::new(77, 1, 1);
        let mut value = vec![b'x'; 48];
        tracker.mark(5, 123_456, &mut value);
        let mark = tracker.mark_of(&value).unwrap();
        assert_eq!((mark.intended_ns, mark.number), (123_456, 0));
        assert_eq!(value[..32], [b'x'; 32]);
        assert_eq!(EchoTracker::new(78, 1, 1).mark_of(&value), None);
        assert_eq!(tracker.mark_of(b"short"), None);
    }

    #[test]
    fn of_a_copy_each_counted_clients_once_and_what_is_missing_is_known() {
        let tracker = EchoTracker::new(7, 1, 1).of_copy();
        let value = |number| {
            let mut value = vec![b'x'; 32];
            tracker.mark(number, 1_000, &mut value);
            value
        };
        tracker.acked(0, 0, 3, 1);
        for (number, is_first) in [(130, true), (0, true), (130, false)] {
            let mark = tracker.mark_of(&value(number)).unwrap();
            assert_eq!(tracker.is_first(mark), is_first, "{number}");
            tracker.echoed(u64::from(is_first), 10 + number);
        }
        let tally = CopyTally {
            missing: 1,
            doubled: 1,
            last_read_ns: 140,
        };
        assert_eq!(tracker.copy_tally(), Some(tally));
        assert_eq!(EchoTracker::new(7, 1, 1).copy_tally(), None);
        let mut forged = value(1);
        forged[8..16].copy_from_slice(&u64::MAX.to_be_bytes());
        assert_eq!(tracker.mark_of(&forged), None, "nobody has written it");
        assert_eq!(tracker.mark_of(&value(1)[16..]), None, "it has no number");
    }

    #[test]
    fn batches_acked_out_of_order_are_found_by_their_offsets() {
        let tracker = EchoTracker::new(1, 1, 2);
        tracker.acked(1, 10, 5, 200);
        tracker.acked(1, 0, 10, 300);
        let mut lane = tracker.lane(1).unwrap();
        let found: Vec<_> = [0, 9, 10, 14, 15]
            .map(|offset| lane.known(offset).map(|known| known.acked_ns))
            .into();
        assert_eq!(found, [Some(300), Some(300), Some(200), Some(200), None]);
    }

    #[test]
    fn aborted_records_are_not_awaited_and_committed_ones_have_their_commit_time() {
        let tracker = EchoTracker::new(1, 1, 1).of_transactions();
        tracker.acked(0, 0, 5, 100);
        tracker.acked(0, 6, 4, 200);
        // A retry whose offset is unknown.
        tracker.acked(0, -1, 2, 210);
        assert_eq!(tracker.missing(), 11);
        tracker.ended((0, 0), 5, Some(150));
        tracker.ended((0, 6), 4, None);
        tracker.ended((0, -1), 2, None);
        assert_eq!(tracker.missing(), 5, "the others will never be read");
        let known = tracker.lane(0).unwrap().known(4);
        let expected = EchoRecord {
            acked_ns: 100,
            committed_ns: Some(150),
        };
        assert_eq!(known, Some(expected));
        assert_eq!(tracker.lane(0).unwrap().known(6), None);
        tracker.echoed(5, 300);
        tracker.producer_done();
        assert!(
            !tracker.is_complete([(0, 5)].into_iter()),
            "the reader is not past them"
        );
        assert!(tracker.is_complete([(0, 10)].into_iter()));
    }

    #[test]
    fn spread_over_agents_times_are_those_of_a_shared_clock_and_the_lead_ends_the_flow() {
        let (writer, reader) = (
            EchoTracker::new(7, 1, 1).of_agents(),
            EchoTracker::new(7, 0, 1).of_agents(),
        );
        // The writer's clock is 300 ahead of the shared one, the reader's 200 behind.
        writer.set_clock_shift(-300);
        reader.set_clock_shift(200);
        let mut value = vec![b'x'; 32];
        writer.mark(0, 10_300, &mut value);
        // 10,000 on the shared clock.
        assert_eq!(reader.mark_of(&value).unwrap().intended_ns, 9_800);
        writer.acked(0, 5, 3, 100);
        reader.echoed(3, 200);
        assert_eq!((writer.missing(), reader.missing()), (0, 0));
        let written = EchoTally {
            acked: 3,
            echoed: 0,
            is_written: false,
        };
        assert_eq!(writer.tally(), Some(written));
        let read = EchoTally {
            acked: 0,
            echoed: 3,
            is_written: true,
        };
        assert_eq!(reader.tally(), Some(read));
        assert!(!reader.is_complete([(0, 8)].into_iter()));
        reader.end_spread();
        assert!(reader.is_complete([(0, 0)].into_iter()));
        assert_eq!(EchoTracker::new(7, 1, 1).tally(), None);
    }

    #[test]
    fn all_is_read_when_producers_are_done_and_positions_have_come_to_the_end() {
        let tracker = EchoTracker::new(1, 1, 1);
        tracker.acked(0, 4, 3, 100);
        tracker.echoed(3, 0);
        assert!(
            !tracker.is_complete([(0, 7)].into_iter()),
            "it may yet write"
        );
        tracker.producer_done();
        assert!(!tracker.is_complete([(0, 6)].into_iter()));
        assert!(tracker.is_complete([(0, 7)].into_iter()));
        tracker.acked(0, -1, 1, 100);
        assert_eq!(tracker.missing(), 1);
        assert!(!tracker.is_complete([(0, 9)].into_iter()));
    }
}
