//! Reads one partition from its leader, and checks each record.

use std::time::{Duration, Instant};

use kgauge_client::{Cluster, Interrupt};
use kgauge_load::FlowContent;
use kgauge_verify::{PartitionCheck, ReadExtent, ReplicaDigest, Stamp, producer_place};
use kgauge_wire::compress::Decompressor;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::message_set;
use kgauge_wire::messages::fetch::PartitionData;
use kgauge_wire::record_batch::{Batch, MAGIC, TallyDepth, batches};

use super::fetch::{FetchPlace, FetchTrouble, VERSION_MAX, fetch};

/// Brokers before 0.11 answer with message sets.
const VERSION_MIN: i16 = 0;

/// Where the format is, in batches and in messages.
const MAGIC_AT: usize = 16;

/// Limits the size of a decompressed batch.
const DECOMPRESSED_BYTES_MAX: usize = 256 << 20;

/// A partition that gives nothing for this long is not readable to its end.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// The pause before another attempt.
const PAUSE: Duration = Duration::from_millis(200);

/// Where to read.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartitionRange {
    pub(super) partition: u32,
    /// The first offset of the repeat.
    pub(super) start: u64,
    /// The high watermark.
    pub(super) end: u64,
}

/// How the reading of a partition ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartitionEnd {
    pub(super) extent: ReadExtent,
    /// The last stable offset stayed in front of the end.
    pub(super) is_stuck: bool,
}

impl PartitionEnd {
    /// Nothing could be read.
    pub(super) const UNREAD: Self = Self {
        extent: ReadExtent {
            log_start: 0,
            read_end: 0,
            is_complete: false,
        },
        is_stuck: false,
    };
}

/// Reads partitions one after the other.
pub(super) struct PartitionReader<'a> {
    pub(super) cluster: &'a mut Cluster,
    pub(super) topic: &'a str,
    pub(super) reads_committed: bool,
    pub(super) interrupt: Interrupt,
    /// Until then, a partition may give nothing for longer.
    pub(super) patient_until: Instant,
    pub(super) pages: CheckedPages<'a>,
}

/// What one response had.
struct Progress {
    position: u64,
    last_stable_offset: Option<u64>,
    /// What comes next cannot be read.
    is_corrupt: bool,
}

impl PartitionReader<'_> {
    /// Reads a partition up to its end. `on_progress` gets the number of bytes so far.
    pub(super) fn read(
        &mut self,
        range: PartitionRange,
        check: &mut PartitionCheck,
        mut on_progress: impl FnMut(u64),
    ) -> PartitionEnd {
        let (mut position, mut log_start) = (range.start, range.start);
        let mut moved_at = Instant::now();
        let mut stable = None;
        while position < range.end && !self.interrupt.is_raised() {
            match self.fetch(range.partition, position, check) {
                Ok(progress) => {
                    stable = progress.last_stable_offset;
                    if progress.position > position {
                        (position, moved_at) = (progress.position, Instant::now());
                    } else if progress.is_corrupt {
                        break;
                    } else {
                        std::thread::sleep(PAUSE);
                    }
                }
                Err(FetchTrouble::Code(ErrorCode::OffsetOutOfRange)) => {
                    // Retention has removed what comes next; or the log ends before its own high watermark.
                    let earliest = self.earliest(range.partition).filter(|at| *at > position);
                    match earliest {
                        Some(earliest) => (position, log_start) = (earliest, earliest),
                        None => break,
                    }
                }
                Err(_) => {
                    std::thread::sleep(PAUSE);
                    let _ = self.cluster.refresh(&[self.topic]);
                }
            }
            on_progress(self.pages.bytes);
            if moved_at.elapsed() >= PATIENCE && Instant::now() >= self.patient_until {
                break;
            }
        }
        let is_stuck = stable.is_some_and(|stable| stable < range.end) && position < range.end;
        PartitionEnd {
            extent: ReadExtent {
                log_start: match log_start == range.start {
                    true => 0,
                    false => log_start,
                },
                read_end: position,
                is_complete: position >= range.end,
            },
            is_stuck,
        }
    }

    fn earliest(&mut self, partition: u32) -> Option<u64> {
        let starts = self.cluster.earliest_offsets(self.topic).ok()?;
        u64::try_from(*starts.get(partition as usize)?).ok()
    }

    fn fetch(
        &mut self,
        partition: u32,
        position: u64,
        check: &mut PartitionCheck,
    ) -> Result<Progress, FetchTrouble> {
        let index = i32::try_from(partition).unwrap_or(i32::MAX);
        let leader = self.cluster.leader(self.topic, index)?.broker_id;
        let place = FetchPlace {
            topic: self.topic,
            partition,
            position,
            reads_committed: self.reads_committed,
            versions: VERSION_MIN..=VERSION_MAX,
        };
        let pages = &mut self.pages;
        fetch(self.cluster, leader, &place, |answer| {
            pages.take(answer, position, check)
        })
    }
}

/// The checked batches of a partition.
pub(super) struct CheckedPages<'a> {
    pub(super) contents: &'a mut [Option<FlowContent>],
    pub(super) decompressor: Decompressor,
    pub(super) scratch: Vec<u8>,
    pub(super) bytes: u64,
    /// The end of the partition's records.
    pub(super) end: u64,
    /// The batches of the leader.
    pub(super) digest: ReplicaDigest,
}

impl CheckedPages<'_> {
    /// Checks the batches of an answer.
    fn take(
        &mut self,
        answer: &PartitionData<'_>,
        position: u64,
        check: &mut PartitionCheck,
    ) -> Progress {
        let mut progress = Progress {
            position,
            last_stable_offset: u64::try_from(answer.last_stable_offset).ok(),
            is_corrupt: false,
        };
        let bytes = answer.records.as_deref().unwrap_or_default();
        let magic = bytes.get(MAGIC_AT);
        if magic.is_some_and(|magic| i8::from_be_bytes([*magic]) < MAGIC) {
            self.take_messages(bytes, &mut progress, check);
            return progress;
        }
        let mut aborted = AbortedTransactions::of(answer);
        for batch in batches(bytes) {
            let Ok(batch) = batch else {
                // The next request begins with it.
                if progress.position == position {
                    check.note_corrupt(position, 1);
                    progress.is_corrupt = true;
                }
                break;
            };
            let end = u64::try_from(batch.header.next_offset()).unwrap_or(u64::MAX);
            if end <= progress.position {
                continue;
            }
            self.bytes += batch.bytes().len() as u64;
            let base = u64::try_from(batch.header.base_offset).unwrap_or(0);
            if base >= progress.position && base < self.end {
                let header = &batch.header;
                self.digest.note(base, header.crc, header.leader_epoch);
                check.note_batch(base, header.crc);
            }
            if !aborted.hides(&batch) && !batch.header.attributes.is_control() {
                self.take_batch(&batch, progress.position, check);
            }
            progress.position = end;
        }
        progress
    }

    /// Checks the messages of a broker before 0.11. They are read twice: none of them counts if one is corrupt.
    fn take_messages(&mut self, bytes: &[u8], progress: &mut Progress, check: &mut PartitionCheck) {
        let from = i64::try_from(progress.position).unwrap_or(i64::MAX);
        let contents = &mut *self.contents;
        let buffers = (&mut self.decompressor, &mut self.scratch);
        let max = DECOMPRESSED_BYTES_MAX;
        let sound = message_set::tally(bytes, from, TallyDepth::Records, buffers, max, |_, _| ());
        let Ok(sound) = sound else {
            check.note_corrupt(progress.position, 1);
            progress.is_corrupt = true;
            return;
        };
        self.bytes += sound.batch_bytes;
        let buffers = (&mut self.decompressor, &mut self.scratch);
        let depth = TallyDepth::RecordsUnchecked;
        let _ = message_set::tally(bytes, from, depth, buffers, max, |offset, value| {
            check.note(
                u64::try_from(offset).unwrap_or(0),
                value,
                |stamp: &Stamp| {
                    let (flow, _) = producer_place(stamp.producer);
                    let content = contents.get_mut(flow).and_then(Option::as_mut);
                    content
                        .is_some_and(|one| one.has_value(stamp.number, value.unwrap_or_default()))
                },
            );
        });
        let next = sound.next_offset.and_then(|next| u64::try_from(next).ok());
        progress.position = next.unwrap_or(0).max(progress.position);
    }

    fn take_batch(&mut self, batch: &Batch<'_>, from: u64, check: &mut PartitionCheck) {
        let base = u64::try_from(batch.header.base_offset).unwrap_or(0);
        if batch.validate_crc().is_err() {
            return check.note_corrupt(base, u64::from(batch.header.records()));
        }
        self.scratch.clear();
        let (decompressor, scratch) = (&mut self.decompressor, &mut self.scratch);
        let Ok(records) = batch.records(decompressor, scratch, DECOMPRESSED_BYTES_MAX) else {
            return check.note_corrupt(base, u64::from(batch.header.records()));
        };
        let contents = &mut *self.contents;
        for record in records {
            let Ok(record) = record else {
                return check.note_corrupt(base, 1);
            };
            let offset = u64::try_from(record.offset).unwrap_or(0);
            if offset < from {
                continue;
            }
            check.note(offset, record.value, |stamp: &Stamp| {
                let (flow, _) = producer_place(stamp.producer);
                let content = contents.get_mut(flow).and_then(Option::as_mut);
                let value = record.value.unwrap_or_default();
                let headers = record.headers();
                content.is_some_and(|one| one.is(stamp.number, record.key, value, headers))
            });
        }
    }
}

/// Aborted transactions of an answer, as Kafka's consumer uses them: each hides its producer's records from its first
/// offset up to its marker.
struct AbortedTransactions {
    /// (first offset, producer), the next one last.
    ahead: Vec<(i64, i64)>,
    producers: Vec<i64>,
}

impl AbortedTransactions {
    fn of(answer: &PartitionData<'_>) -> Self {
        let all = answer.aborted_transactions.as_deref().unwrap_or_default();
        let mut ahead: Vec<(i64, i64)> = all
            .iter()
            .map(|one| (one.first_offset, one.producer_id))
            .collect();
        ahead.sort_unstable_by(|one, other| other.cmp(one));
        Self {
            ahead,
            producers: Vec::new(),
        }
    }

    fn hides(&mut self, batch: &Batch<'_>) -> bool {
        let header = &batch.header;
        while let Some(&(first, producer)) = self.ahead.last() {
            if first > header.last_offset() {
                break;
            }
            self.producers.push(producer);
            self.ahead.pop();
        }
        if header.attributes.is_control() {
            // Each transaction of a producer ends with a marker; a commit's has no entry.
            let of_producer = |one: &i64| *one == header.producer_id;
            if let Some(at) = self.producers.iter().position(of_producer) {
                self.producers.swap_remove(at);
            }
            return false;
        }
        header.attributes.is_transactional() && self.producers.contains(&header.producer_id)
    }
}
