//! The check of one partition: each record that is read in the order of the log, beside the outcomes of its producer.

use std::collections::BTreeMap;

use kgauge_results::run::{Anomaly, UncheckedCause};

use crate::digest::batch_mark;
use crate::gaps::NumberRanges;
use crate::ledger::CLOCK_MS;
use crate::outcomes::{AnywhereRecords, OutcomeRun, PartitionOutcomes, RecordFate};
use crate::polls::{ConsumerPolls, SpanCounter};
use crate::stamp::{Stamp, StampKey, StampReading};
use crate::tally::{PartitionVerdict, Sighting};

/// The most gaps of one producer that are kept: 4 million of 16 bytes.
const GAPS_MAX: usize = 4 << 20;

/// How far a partition was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadExtent {
    /// The first offset that the log still has.
    pub log_start: u64,
    /// One after the last offset that was read.
    pub read_end: u64,
    /// Whether that is the end of the log.
    pub is_complete: bool,
}

/// The check of one partition.
#[derive(Debug)]
pub struct PartitionCheck {
    key: StampKey,
    partition: u32,
    streams: Vec<Stream>,
    /// The position of each producer's stream.
    by_producer: BTreeMap<u32, usize>,
    /// The stream of the last record: a batch has records of one producer.
    last: usize,
    /// Offsets that some consumer passed over, ascending and apart.
    passed_over: Vec<(u64, u64)>,
    /// What each consumer has read.
    spans: Vec<SpanCounter>,
    is_compacted: bool,
    verdict: PartitionVerdict,
}

/// The records of one producer in the partition.
#[derive(Debug)]
struct Stream {
    producer: u32,
    runs: Vec<OutcomeRun>,
    /// The run of the last record.
    at: usize,
    /// One after the highest sequence that was read.
    next: u64,
    /// The same of acked records.
    next_acked: u64,
    gaps: NumberRanges,
    has_too_many_gaps: bool,
    /// Of a client that chooses partitions: its sequences count the records of all of them.
    anywhere: Option<AnywhereRecords>,
}

impl PartitionCheck {
    /// A check against these outcomes, and against what consumers have read.
    pub fn new(key: StampKey, outcomes: PartitionOutcomes, polls: Vec<ConsumerPolls>) -> Self {
        let mut verdict = PartitionVerdict::default();
        let (mut passed_over, mut spans) = (Vec::new(), Vec::new());
        for consumer in polls {
            passed_over.extend(consumer.passed_over);
            if !consumer.spans.is_empty() {
                spans.push(SpanCounter::new(consumer.group, consumer.spans));
            }
            verdict.add_back(consumer.times_back);
        }
        passed_over.sort_unstable();
        passed_over.dedup_by(|next, kept| {
            let overlaps = next.0 <= kept.1;
            if overlaps {
                kept.1 = kept.1.max(next.1);
            }
            overlaps
        });
        passed_over.reverse();
        let mut anywhere = outcomes.anywhere;
        let streams = outcomes.runs.into_iter().map(|(producer, runs)| Stream {
            anywhere: anywhere.remove(&producer),
            ..Stream::new(producer, runs)
        });
        let streams: Vec<Stream> = streams.collect();
        let by_producer = streams.iter().enumerate();
        Self {
            key,
            partition: outcomes.partition,
            by_producer: by_producer.map(|(at, one)| (one.producer, at)).collect(),
            streams,
            last: 0,
            passed_over,
            spans,
            is_compacted: false,
            verdict,
        }
    }

    /// The same for a compacted topic: a later record with the same key may have replaced one that is missing.
    #[must_use]
    pub fn of_compacted(self, is_compacted: bool) -> Self {
        Self {
            is_compacted,
            ..self
        }
    }

    /// The log has a readable record at this offset. `has_contents` compares the rest of its key and value with what
    /// follows from its number.
    #[inline]
    pub fn note(
        &mut self,
        offset: u64,
        value: Option<&[u8]>,
        has_contents: impl FnOnce(&Stamp) -> bool,
    ) {
        self.verdict.read += 1;
        self.note_passed_over(offset);
        self.spans
            .iter_mut()
            .for_each(|spans| spans.note(offset, 1));
        let stamp = match self.key.read(value.unwrap_or_default()) {
            StampReading::Own(stamp) => stamp,
            StampReading::Broken => return self.without_stream(Anomaly::CorruptRecord, offset),
            StampReading::OtherRun | StampReading::Unstamped => {
                return self.without_stream(Anomaly::ForeignRecord, offset);
            }
        };
        if ![self.partition, Stamp::ANY_PARTITION].contains(&stamp.partition) {
            return self.without_stream(Anomaly::ForeignRecord, offset);
        }
        let at = self.stream_of(stamp.producer);
        if !has_contents(&stamp) {
            let sighting = Sighting::of(&stamp, offset);
            self.verdict.add(Anomaly::CorruptRecord, &sighting);
        }
        let acked_ms = self.streams[at].note(&stamp, offset, &mut self.verdict);
        if let Some(acked_ms) = acked_ms
            && let Some(read_ms) = self.read_ms(offset)
        {
            let late_ms = read_ms.saturating_sub(acked_ms + CLOCK_MS);
            self.verdict.note_late_read(late_ms, || Sighting {
                unix_ms: Some(acked_ms),
                ..Sighting::of(&stamp, offset)
            });
        }
    }

    /// When the last of the groups that got the record had it, in milliseconds since 1970.
    #[inline]
    fn read_ms(&self, offset: u64) -> Option<u64> {
        let groups = self.spans.chunk_by(|one, next| one.group == next.group);
        let first =
            |group: &[SpanCounter]| group.iter().filter_map(|one| one.read_ms(offset)).min();
        groups.filter_map(first).max()
    }

    /// The log has a batch, readable or not; its records follow.
    pub fn note_batch(&mut self, base_offset: u64, crc: u32) {
        if self.spans.is_empty() {
            return;
        }
        let mark = batch_mark(base_offset, crc);
        self.spans
            .iter_mut()
            .for_each(|spans| spans.note_batch(base_offset, mark));
    }

    /// Records of a batch that cannot be read.
    pub fn note_corrupt(&mut self, offset: u64, records: u64) {
        self.verdict.read += records;
        self.spans
            .iter_mut()
            .for_each(|spans| spans.note(offset, records));
        let sighting = Sighting {
            records,
            ..Sighting::at(offset)
        };
        self.verdict.add(Anomaly::CorruptRecord, &sighting);
    }

    #[inline]
    fn stream_of(&mut self, producer: u32) -> usize {
        let last = self.streams.get(self.last);
        if last.is_some_and(|stream| stream.producer == producer) {
            return self.last;
        }
        self.last = match self.by_producer.get(&producer) {
            Some(&at) => at,
            None => {
                // Its ledger is missing; duplicates and order can still be seen.
                self.streams.push(Stream::new(producer, Vec::new()));
                self.by_producer.insert(producer, self.streams.len() - 1);
                self.streams.len() - 1
            }
        };
        self.last
    }

    fn without_stream(&mut self, anomaly: Anomaly, offset: u64) {
        self.verdict.add(anomaly, &Sighting::at(offset));
    }

    #[inline]
    fn note_passed_over(&mut self, offset: u64) {
        while let Some(&(from, end)) = self.passed_over.last() {
            if offset < from {
                return;
            }
            if offset < end {
                return self.without_stream(Anomaly::PollSkip, offset);
            }
            self.passed_over.pop();
        }
    }

    /// The partition was read as far as possible: acked records that are missing are lost, or could not be checked.
    pub fn finish(mut self, extent: ReadExtent) -> PartitionVerdict {
        for stream in &self.streams {
            stream.finish(extent, self.is_compacted, &mut self.verdict);
        }
        for spans in &self.spans {
            spans.finish((extent.log_start, extent.read_end), &mut self.verdict);
        }
        self.verdict
    }
}

impl Stream {
    fn new(producer: u32, runs: Vec<OutcomeRun>) -> Self {
        Self {
            producer,
            runs,
            at: 0,
            next: 0,
            next_acked: 0,
            gaps: NumberRanges::default(),
            has_too_many_gaps: false,
            anywhere: None,
        }
    }

    /// Notes a record. Returns when it was acked, in milliseconds since 1970, the first time that it is read.
    #[inline]
    fn note(&mut self, stamp: &Stamp, offset: u64, verdict: &mut PartitionVerdict) -> Option<u64> {
        let run = self.run_of(stamp.sequence);
        if run.is_none() && self.anywhere.is_some() {
            self.note_unplaced(stamp, offset, verdict);
            return None;
        }
        let sighting = Sighting {
            unix_ms: run.map(|run| run.unix_ms),
            acked_offset: run.and_then(|run| run.offset_of(stamp.sequence)),
            ..Sighting::of(stamp, offset)
        };
        let is_displaced = sighting.acked_offset.is_some_and(|acked| acked != offset);
        let is_acked = run.is_some_and(|run| run.fate.is_acked());
        if !self.is_new((stamp.sequence, is_acked), &sighting, verdict) {
            verdict.add(Anomaly::Duplicate, &sighting);
            if run.is_some_and(|run| run.fate == RecordFate::AckedRenumbered) {
                verdict.duplicates_renumbered += 1;
            }
            if sighting.acked_offset == Some(offset) {
                // The copy that was acked comes after another one.
                verdict.withdraw_displaced(&sighting);
            }
            return None;
        }
        let Some(run) = run else {
            verdict.unlisted += 1;
            return None;
        };
        match run.fate {
            RecordFate::Acked | RecordFate::AckedRenumbered => verdict.confirmed += 1,
            RecordFate::Unknown => verdict.unknown_present += 1,
            RecordFate::Undecided => {
                verdict.unknown_present += 1;
                verdict.note_undecided(self.producer, run.transaction, (1, 0));
            }
            RecordFate::Refused => {
                verdict.add(Anomaly::AbortedRead, &sighting);
                return None;
            }
        }
        if is_displaced {
            verdict.add(Anomaly::InconsistentOffsets, &sighting);
        }
        (run.fate.is_acked() && run.unix_ms > 0).then_some(run.unix_ms)
    }

    /// A record of a client that chooses partitions, which is not acked in this one.
    fn note_unplaced(&mut self, stamp: &Stamp, offset: u64, verdict: &mut PartitionVerdict) {
        let Some(anywhere) = &mut self.anywhere else {
            return;
        };
        let sighting = Sighting::of(stamp, offset);
        match anywhere.fate_of(stamp.sequence) {
            // It was acked in another partition, or never sent.
            None if anywhere.is_complete => verdict.add(Anomaly::ForeignRecord, &sighting),
            None => verdict.unlisted += 1,
            Some(fate) => match (anywhere.note_read(stamp.sequence), fate) {
                (false, _) => verdict.add(Anomaly::Duplicate, &sighting),
                (true, RecordFate::Refused) => verdict.add(Anomaly::AbortedRead, &sighting),
                (true, _) => verdict.unknown_anywhere += 1,
            },
        }
    }

    /// Whether the record was not read before; notes what was passed over. Only acked records have an order: a request
    /// that nobody answered may reach the log at any later time.
    #[inline]
    fn is_new(
        &mut self,
        (sequence, is_acked): (u64, bool),
        sighting: &Sighting,
        verdict: &mut PartitionVerdict,
    ) -> bool {
        let is_behind = is_acked && sequence < self.next_acked;
        if is_acked {
            self.next_acked = self.next_acked.max(sequence + 1);
        }
        if sequence >= self.next {
            if sequence > self.next {
                match self.anywhere.is_some() {
                    true => self.pass_over_listed(sequence),
                    false => self.pass_over(self.next, sequence),
                }
            }
            self.next = sequence + 1;
            return true;
        }
        if self.gaps.remove(sequence) {
            if is_behind {
                verdict.add(Anomaly::NonmonotonicSend, sighting);
            }
            return true;
        }
        // A gap that was not kept may have had it.
        self.has_too_many_gaps
    }

    #[inline]
    fn pass_over(&mut self, from: u64, end: u64) {
        self.has_too_many_gaps |= self.gaps.count() >= GAPS_MAX;
        if !self.has_too_many_gaps {
            self.gaps.push(from, end);
        }
    }

    /// Other sequences up to this one belong to other partitions.
    fn pass_over_listed(&mut self, end: u64) {
        let from = self.next;
        let mut at = self.runs.partition_point(|run| run.end() <= from);
        while let Some(run) = self.runs.get(at).filter(|run| run.first < end) {
            let missing = (run.first.max(from), run.end().min(end));
            self.pass_over(missing.0, missing.1);
            at += 1;
        }
    }

    /// What is known about a record.
    #[inline]
    fn run_of(&mut self, sequence: u64) -> Option<OutcomeRun> {
        let has = |run: &OutcomeRun| (run.first..run.end()).contains(&sequence);
        for at in [self.at, self.at + 1] {
            if let Some(run) = self.runs.get(at).filter(|run| has(run)) {
                self.at = at;
                return Some(*run);
            }
        }
        let at = self.runs.partition_point(|run| run.end() <= sequence);
        let run = self.runs.get(at).filter(|run| has(run))?;
        self.at = at;
        Some(*run)
    }

    fn finish(&self, extent: ReadExtent, is_compacted: bool, verdict: &mut PartitionVerdict) {
        for run in &self.runs {
            match run.fate {
                RecordFate::Acked | RecordFate::AckedRenumbered => verdict.acked += run.count,
                RecordFate::Refused => verdict.refused += run.count,
                RecordFate::Unknown | RecordFate::Undecided => {}
            }
            if self.has_too_many_gaps {
                if run.fate.is_acked() {
                    verdict.add_unchecked(UncheckedCause::TooManyGaps, run.count);
                }
                continue;
            }
            let tail = (self.next.max(run.first), run.end());
            let missing = self.gaps.within(run.first, run.end());
            for (from, end) in missing.chain((tail.0 < tail.1).then_some(tail)) {
                let missing = MissingRecords::of(run, (from, end), extent, is_compacted);
                self.note_missing(run, &missing, verdict);
            }
        }
    }

    /// Records of a run were not read.
    fn note_missing(
        &self,
        run: &OutcomeRun,
        missing: &MissingRecords,
        verdict: &mut PartitionVerdict,
    ) {
        match run.fate {
            RecordFate::Refused => return,
            RecordFate::Unknown | RecordFate::Undecided => {
                verdict.unknown_absent += missing.records;
                if run.fate == RecordFate::Undecided && !missing.is_compacted {
                    verdict.note_undecided(self.producer, run.transaction, (0, missing.lost()));
                }
                return;
            }
            RecordFate::Acked | RecordFate::AckedRenumbered => {}
        }
        verdict.add_unchecked(UncheckedCause::Deleted, missing.deleted);
        verdict.add_unchecked(UncheckedCause::Unreadable, missing.unread);
        verdict.add_unchecked(UncheckedCause::Compacted, missing.compacted);
        let lost = missing.lost();
        if lost == 0 {
            return;
        }
        let first = missing.first_lost;
        verdict.add(
            Anomaly::LostWrite,
            &Sighting {
                producer: Some(self.producer),
                sequence: Some(first),
                records: lost,
                offset: None,
                acked_offset: run.offset_of(first),
                unix_ms: Some(run.unix_ms),
            },
        );
        // Of a transaction, compaction may have removed the rest.
        if !missing.is_compacted {
            verdict.note_lost_in(self.producer, run.transaction, lost);
        }
    }
}

/// Adjacent records of a run that were not read. Those without another reason are lost.
struct MissingRecords {
    records: u64,
    deleted: u64,
    unread: u64,
    /// Compaction may have removed them.
    compacted: u64,
    /// The sequence of the first lost one, if any is.
    first_lost: u64,
    is_compacted: bool,
}

impl MissingRecords {
    /// Jepsen's condition: a record is lost if the log was read past its place.
    fn of(
        run: &OutcomeRun,
        (from, end): (u64, u64),
        extent: ReadExtent,
        is_compacted: bool,
    ) -> Self {
        let records = end - from;
        let (deleted, unread) = match run.offset_of(from) {
            Some(offset) => {
                let before = extent.log_start.saturating_sub(offset).min(records);
                let past = (offset + records).saturating_sub(extent.read_end.max(offset));
                (before, if extent.is_complete { 0 } else { past })
            }
            None if extent.is_complete && extent.log_start == 0 => (0, 0),
            None => (0, records),
        };
        let left = records.saturating_sub(deleted + unread);
        // Compaction never moves the end of a log: acked records beyond it are lost.
        let compacted = match run.offset_of(from + deleted) {
            Some(offset) => extent.read_end.saturating_sub(offset).min(left),
            None => left,
        };
        let compacted = if is_compacted { compacted } else { 0 };
        Self {
            records,
            deleted,
            unread,
            compacted,
            first_lost: from + deleted + compacted,
            is_compacted,
        }
    }

    fn lost(&self) -> u64 {
        let explained = self.deleted + self.unread + self.compacted;
        self.records.saturating_sub(explained)
    }
}
