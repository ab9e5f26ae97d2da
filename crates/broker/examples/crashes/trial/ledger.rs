//! What was acknowledged, what was found, and what that makes.

use std::collections::{BTreeMap, HashMap};

/// A record's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The partition.
    pub(crate) partition: i32,
    /// The offset.
    pub(crate) offset: i64,
}

/// A producer's note. The records of a stream are numbered from 0 on.
#[derive(Debug)]
pub(crate) enum Note {
    /// Records were sent and acknowledged, the first of them at this place.
    Acked {
        /// Whose.
        stream: u32,
        /// The first one's number.
        first: u64,
        /// How many.
        count: u64,
        /// The acknowledged place of the first one.
        place: Place,
    },
    /// An answer that says neither yes nor "again".
    Refused(String),
    /// A batch was sent again.
    Again,
}

/// The books.
#[derive(Debug)]
pub(crate) struct Ledger {
    streams: HashMap<u32, Stream>,
    /// The next offset, and the last number of each stream, by partition.
    partitions: Vec<(i64, HashMap<u32, u64>)>,
    refusals: BTreeMap<String, u64>,
    reckoning: Reckoning,
}

#[derive(Debug, Default)]
struct Stream {
    records: Vec<Record>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Record {
    acked: Option<(i32, i64)>,
    /// Whether it is at its acknowledged place.
    in_place: bool,
    found: u16,
}

/// What the books say at the end.
#[derive(Debug, Default)]
pub(crate) struct Reckoning {
    /// Records that were acknowledged.
    pub(crate) acked: u64,
    /// Different records that were found, acknowledged or not.
    pub(crate) found: u64,
    /// Found, but never acknowledged: the answer was lost, or the producer gave up.
    pub(crate) found_unacked: u64,
    /// Acknowledged, but not found.
    pub(crate) lost: u64,
    /// Copies beyond the first.
    pub(crate) doubled: u64,
    /// Found after a later record of the same producer, in the same partition.
    pub(crate) disordered: u64,
    /// Acknowledged and found, but not at the acknowledged offset.
    pub(crate) misplaced: u64,
    /// Found, but written by nobody.
    pub(crate) strange: u64,
    /// Offsets that are missing between two records.
    pub(crate) gaps: u64,
    /// Batches that were sent again.
    pub(crate) again: u64,
    /// Answers that were neither yes nor "again", and how many of each.
    pub(crate) refusals: Vec<(String, u64)>,
}

/// What the settings promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promise {
    /// Every acknowledged record once, in order, at its acknowledged offset.
    Exact,
    /// Nothing but sound logs; what is lost and doubled is counted.
    Counted,
}

impl Reckoning {
    /// What breaks the promise.
    pub(crate) fn broken(&self, promise: Promise) -> Vec<String> {
        let always = [
            (self.strange, "records that nobody wrote"),
            (self.gaps, "gaps between offsets"),
        ];
        let exact = [
            (self.lost, "acknowledged records lost"),
            (self.doubled, "records doubled"),
            (self.disordered, "records out of order"),
            (self.misplaced, "records not at their acknowledged offset"),
        ];
        let exact = exact.into_iter().filter(|_| promise == Promise::Exact);
        let counts = always
            .into_iter()
            .chain(exact)
            .filter(|(count, _)| *count > 0);
        let mut broken: Vec<String> = counts.map(|(n, what)| format!("{n} {what}")).collect();
        let refusals = self.refusals.iter();
        broken.extend(refusals.map(|(words, count)| format!("{count} times {words}")));
        broken
    }
}

impl Ledger {
    pub(super) fn new(partitions: i32) -> Self {
        let count = usize::try_from(partitions).unwrap_or(0);
        Self {
            streams: HashMap::new(),
            partitions: vec![Default::default(); count],
            refusals: BTreeMap::new(),
            reckoning: Reckoning::default(),
        }
    }

    pub(super) fn note(&mut self, note: Note) {
        match note {
            Note::Acked {
                stream,
                first,
                count,
                place,
            } => {
                let stream = self.streams.entry(stream).or_default();
                for (number, offset) in (first..first + count).zip(place.offset..) {
                    stream.record(number).acked = Some((place.partition, offset));
                }
            }
            Note::Refused(words) => *self.refusals.entry(words).or_default() += 1,
            Note::Again => self.reckoning.again += 1,
        }
    }

    /// A record was read: partition by partition, in the order of offsets.
    pub(super) fn found(&mut self, place: Place, value: &[u8]) {
        let Some((next, last)) = usize::try_from(place.partition)
            .ok()
            .and_then(|index| self.partitions.get_mut(index))
        else {
            return;
        };
        self.reckoning.gaps += u64::from(place.offset != *next);
        *next = place.offset + 1;
        let Some((stream, number)) = parse(value) else {
            self.reckoning.strange += 1;
            return;
        };
        if let Some(last) = last.get(&stream) {
            self.reckoning.disordered += u64::from(number < *last);
        }
        last.insert(stream, number);
        let record = self.streams.entry(stream).or_default().record(number);
        record.found = record.found.saturating_add(1);
        record.in_place |= record.acked == Some((place.partition, place.offset));
    }

    pub(super) fn reckon(mut self) -> Reckoning {
        let sum = &mut self.reckoning;
        for record in self.streams.values().flat_map(|stream| &stream.records) {
            let (acked, found) = (record.acked.is_some(), record.found > 0);
            sum.acked += u64::from(acked);
            sum.found += u64::from(found);
            sum.found_unacked += u64::from(found && !acked);
            sum.lost += u64::from(acked && !found);
            sum.doubled += u64::from(record.found.saturating_sub(1));
            sum.misplaced += u64::from(acked && found && !record.in_place);
        }
        sum.refusals = self.refusals.into_iter().collect();
        self.reckoning
    }
}

/// Records of a stream that are believed to exist; a larger number is somebody else's bytes.
const RECORDS_MAX: u64 = 1 << 28;

impl Stream {
    fn record(&mut self, number: u64) -> &mut Record {
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        if self.records.len() <= index {
            self.records.resize(index + 1, Record::default());
        }
        &mut self.records[index]
    }
}

/// The bytes of a record: `stream.number`, as Kafka's verifiable producer writes them, and spaces.
pub(super) fn value(stream: u32, number: u64, bytes: usize) -> Vec<u8> {
    let mut value = format!("{stream}.{number}").into_bytes();
    value.resize(value.len().max(bytes), b' ');
    value
}

/// Stream and number in the bytes of a record.
pub(super) fn parse(value: &[u8]) -> Option<(u32, u64)> {
    let text = str::from_utf8(value).ok()?.trim_end();
    let (stream, number) = text.split_once('.')?;
    let number = number.parse().ok().filter(|number| *number < RECORDS_MAX)?;
    Some((stream.parse().ok()?, number))
}
