//! The log against a list: random appends, rolls, cuts, restarts and crashes, compared after every
//! step.
//!
//! The promise under test: a log serves exactly what was appended and not cut; after a crash it is
//! a prefix of that, which holds everything that was flushed.

use kgauge_broker::log::{AppendError, LogConfig, PartitionLog};
use kgauge_broker::storage::Crash;
use kgauge_wire::record_batch::{BatchHeader, ProducerState};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::{Lab, NOW_MS, append, produced, read_from, read_once};

#[derive(Debug, Clone)]
enum Step {
    Append {
        records: usize,
        value_bytes: usize,
        age_ms: i64,
    },
    /// The idempotent producer's next batch.
    Produce {
        records: usize,
    },
    /// One of its last batches comes again.
    ProduceAgain {
        back: usize,
    },
    NewLeader,
    Roll,
    Flush,
    Checkpoint,
    CloseFiles,
    /// Where, in 256ths of the log.
    TruncateTo(u8),
    StartAnew {
        gap: i64,
    },
    DeleteRecords(u8),
    ApplyRetention {
        bytes: u64,
    },
    /// An append for which the disk has less room than it needs, or just enough.
    AppendOnFullDisk {
        room: u64,
    },
    Restart,
    Crash(Crash),
}

fn step() -> impl Strategy<Value = Step> {
    let append =
        (1..4_usize, 0..120_usize, -50..50_i64).prop_map(|(records, value_bytes, age_ms)| {
            Step::Append {
                records,
                value_bytes,
                age_ms,
            }
        });
    prop_oneof![
        12 => append,
        6 => (1..4_usize).prop_map(|records| Step::Produce { records }),
        2 => (0..7_usize).prop_map(|back| Step::ProduceAgain { back }),
        1 => Just(Step::NewLeader),
        2 => Just(Step::Roll),
        3 => Just(Step::Flush),
        2 => Just(Step::Checkpoint),
        1 => Just(Step::CloseFiles),
        2 => any::<u8>().prop_map(Step::TruncateTo),
        1 => (0..20_i64).prop_map(|gap| Step::StartAnew { gap }),
        1 => any::<u8>().prop_map(Step::DeleteRecords),
        1 => (0..1500_u64).prop_map(|bytes| Step::ApplyRetention { bytes }),
        2 => (0..400_u64).prop_map(|room| Step::AppendOnFullDisk { room }),
        2 => Just(Step::Restart),
        4 => crash().prop_map(Step::Crash),
    ]
}

fn crash() -> impl Strategy<Value = Crash> {
    prop_oneof![
        Just(Crash::KeepEverything),
        Just(Crash::LoseUnflushed),
        (0..200_usize).prop_map(|bytes_kept| Crash::TearLastWrite { bytes_kept }),
        any::<u64>().prop_map(|seed| Crash::Random { seed }),
        any::<u64>().prop_map(|seed| Crash::Random { seed }),
    ]
}

/// What the log should be.
#[derive(Debug, Default)]
struct Model {
    /// The batches with their offsets, and their bytes as the log has them.
    batches: Vec<(BatchHeader, Vec<u8>)>,
    start: i64,
    end: i64,
    flushed: i64,
    epoch: i32,
    /// Sequence that the producer sends next; its epoch changes when the log forgot it.
    sequence: i32,
}

const PRODUCER: i64 = 9;

impl Model {
    fn push(&mut self, bytes: Vec<u8>) {
        let header = BatchHeader::parse(&bytes).unwrap();
        self.end = header.next_offset();
        self.batches.push((header, bytes));
    }

    fn at(&self, share: u8) -> i64 {
        self.start + (self.end - self.start) * i64::from(share) / 255
    }

    /// Forgets the batches that end above an offset.
    fn cut(&mut self, offset: i64) {
        let first_gone = self.batches.iter().find(|(h, _)| h.last_offset() >= offset);
        self.end = first_gone.map_or(self.end, |(h, _)| h.base_offset.min(offset));
        self.batches.retain(|(h, _)| h.last_offset() < offset);
        if self.end < self.start {
            self.batches.clear();
            self.end = self.start;
        }
        self.flushed = self.flushed.min(self.end);
    }

    /// The batches that a reader from the start gets.
    fn served(&self) -> Vec<u8> {
        let served = self
            .batches
            .iter()
            .filter(|(header, _)| header.last_offset() >= self.start);
        served
            .flat_map(|(_, bytes)| bytes.iter().copied())
            .collect()
    }

    /// The producer's batches that the log should know: the last five.
    fn known(&self) -> Vec<(i32, i64)> {
        let of_producer = |(header, _): &&(BatchHeader, Vec<u8>)| header.producer_id == PRODUCER;
        let all: Vec<_> = self.batches.iter().filter(of_producer).collect();
        let skip = all.len().saturating_sub(5);
        all[skip..]
            .iter()
            .map(|(h, _)| (h.last_sequence(), h.last_offset()))
            .collect()
    }
}

struct Pair {
    lab: Lab,
    log: Option<PartitionLog>,
    model: Model,
    config: LogConfig,
}

impl Pair {
    fn new(lab: Lab) -> Self {
        let config = LogConfig {
            segment_bytes: 600,
            index_interval_bytes: 150,
            retention_ms: None,
            flush_messages: None,
            ..LogConfig::default()
        };
        let log = Some(lab.open_with(config.clone()));
        Self {
            lab,
            log,
            model: Model::default(),
            config,
        }
    }

    fn log(&mut self) -> &mut PartitionLog {
        self.log.as_mut().unwrap()
    }

    fn append(&mut self, mut bytes: Vec<u8>) {
        let epoch = self.model.epoch;
        let info = self
            .log()
            .append_as_leader(&mut bytes, epoch, NOW_MS)
            .unwrap();
        assert_eq!(info.base_offset, self.model.end);
        assert!(!info.duplicate);
        self.model.push(bytes);
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Append {
                records,
                value_bytes,
                age_ms,
            } => {
                let timestamps = vec![NOW_MS + age_ms; records];
                self.append(produced(
                    &timestamps,
                    &ProducerState::NONE,
                    &vec![b'v'; value_bytes],
                ));
            }
            Step::Produce { records } => {
                let batch = self.produce(self.model.sequence, records);
                self.model.sequence += records as i32;
                self.append(batch);
            }
            Step::ProduceAgain { back } => self.produce_again(back),
            Step::NewLeader => self.model.epoch += 1,
            Step::Roll => self.log().roll(NOW_MS).unwrap(),
            Step::Flush => {
                self.log().flush().unwrap();
                self.model.flushed = self.model.end;
            }
            Step::Checkpoint => self.log().checkpoint().unwrap(),
            Step::CloseFiles => self.log().close_files().unwrap(),
            Step::TruncateTo(share) => {
                let offset = self.model.at(share);
                let end = self.log().truncate_to(offset, NOW_MS).unwrap();
                self.model.cut(offset);
                assert_eq!(end, self.model.end);
                self.resume_producer();
            }
            Step::StartAnew { gap } => {
                let offset = self.model.end + gap;
                self.log()
                    .truncate_fully_and_start_at(offset, NOW_MS)
                    .unwrap();
                self.model.batches.clear();
                (self.model.start, self.model.end, self.model.flushed) = (offset, offset, offset);
            }
            Step::DeleteRecords(share) => self.delete_records(share),
            Step::ApplyRetention { bytes } => self.apply_retention(bytes),
            Step::AppendOnFullDisk { room } => self.append_on_full_disk(room),
            Step::Restart => {
                self.log.take().unwrap().close().unwrap();
                self.model.flushed = self.model.end;
                self.log = Some(self.lab.open_with(self.config.clone()));
                self.drop_removed();
            }
            Step::Crash(crash) => self.crash(crash),
        }
    }

    fn append_on_full_disk(&mut self, room: u64) {
        let Some(memory) = self.lab.memory.clone() else {
            return;
        };
        memory.set_capacity(Some(memory.used_bytes() + room));
        let mut bytes = produced(&[NOW_MS; 2], &ProducerState::NONE, &[b'f'; 60]);
        let epoch = self.model.epoch;
        let answer = self.log().append_as_leader(&mut bytes, epoch, NOW_MS);
        memory.set_capacity(None);
        match answer {
            Ok(_) => self.model.push(bytes),
            Err(AppendError::Log(error)) => assert!(error.is_disk_full(), "{error}"),
            Err(error) => panic!("{error}"),
        }
    }

    fn produce(&self, base_sequence: i32, records: usize) -> Vec<u8> {
        let producer = ProducerState {
            id: PRODUCER,
            epoch: 0,
            base_sequence,
            transactional: false,
        };
        produced(&vec![NOW_MS; records], &producer, b"p")
    }

    fn produce_again(&mut self, back: usize) {
        let sent = |(header, _): &&(BatchHeader, Vec<u8>)| header.producer_id == PRODUCER;
        let Some(header) = self
            .model
            .batches
            .iter()
            .rev()
            .filter(sent)
            .nth(back)
            .map(|b| b.0)
        else {
            return;
        };
        let mut bytes = self.produce(header.base_sequence, header.records() as usize);
        let epoch = self.model.epoch;
        let answer = self.log().append_as_leader(&mut bytes, epoch, NOW_MS);
        if back < 5 {
            let info = answer.unwrap();
            assert!(info.duplicate);
            assert_eq!(
                (info.base_offset, info.last_offset),
                (header.base_offset, header.last_offset())
            );
        } else {
            assert_eq!(answer.unwrap_err().code(), 45);
        }
    }

    /// The producer goes on after what the log still knows of it.
    fn resume_producer(&mut self) {
        let entry = self
            .log()
            .producers()
            .iter()
            .find(|(id, _)| *id == PRODUCER);
        if let Some(last) = entry.and_then(|(_, entry)| entry.batches().last()) {
            self.model.sequence = last.last_sequence + 1;
        }
    }

    fn delete_records(&mut self, share: u8) {
        let offset = self.model.at(share);
        let end = self.model.end;
        self.log().set_high_watermark(end);
        self.log().delete_records_before(offset).unwrap();
        self.model.start = offset;
        self.model.flushed = self.model.flushed.max(offset);
        self.drop_removed();
    }

    fn apply_retention(&mut self, bytes: u64) {
        let end = self.model.end;
        let config = LogConfig {
            retention_bytes: Some(bytes),
            ..self.config.clone()
        };
        let before = self.log().size_bytes();
        self.log().set_high_watermark(end);
        self.log().set_config(config);
        let removed = self.log().apply_retention(NOW_MS).unwrap();
        let gone: u64 = removed.iter().map(|segment| segment.bytes).sum();
        assert_eq!(self.log().size_bytes(), before - gone);
        use kgauge_broker::log::RemovalReason;
        let for_size = removed
            .last()
            .is_some_and(|last| last.reason == RemovalReason::Size);
        assert!(!for_size || before - gone >= bytes);
        let config = self.config.clone();
        self.log().set_config(config);
        let start = self.log().log_start_offset();
        assert!(start >= self.model.start);
        self.model.start = start;
        self.model.flushed = self.model.flushed.max(start);
        self.drop_removed();
    }

    /// The model forgets batches that are in no segment any more; those of a segment that stays can
    /// still be brought back to the producer's memory by a cut.
    fn drop_removed(&mut self) {
        let first = self.log().segments().next().unwrap().0;
        self.model
            .batches
            .retain(|(header, _)| header.last_offset() >= first);
    }

    fn crash(&mut self, crash: Crash) {
        self.log = None;
        // On a real disk only the process can die.
        let crash = match &self.lab.memory {
            Some(memory) => {
                memory.crash(crash);
                crash
            }
            None => Crash::KeepEverything,
        };
        self.log = Some(self.lab.open_with(self.config.clone()));
        let end = self.log().log_end_offset();
        let model = &self.model;
        assert!(
            end <= model.end,
            "{end} is more than was appended: {}",
            model.end
        );
        assert!(
            end >= model.flushed,
            "{end} is less than was flushed: {}",
            model.flushed
        );
        if crash == Crash::KeepEverything {
            assert_eq!(end, model.end, "the process died, not the machine");
        }
        self.model
            .batches
            .retain(|(header, _)| header.last_offset() < end);
        self.model.end = end;
        self.drop_removed();
        // What was found is not flushed by that; but it was found.
        self.resume_producer();
    }

    fn compare(&mut self) {
        let (start, end) = (self.model.start, self.model.end);
        let served = self.model.served();
        let known = self.model.known();
        let epoch = self.model.epoch;
        let log = self.log();
        assert_eq!((log.log_start_offset(), log.log_end_offset()), (start, end));
        assert_eq!(read_from(log, start), served);
        assert!(log.flushed_offset() <= end);
        let middle = start + (end - start) / 2;
        if middle < end {
            let header = BatchHeader::parse(&read_once(log, middle, 1)).unwrap();
            assert!(header.base_offset <= middle && header.last_offset() >= middle);
        }
        let entry = log.producers().iter().find(|(id, _)| *id == PRODUCER);
        let in_log: Vec<(i32, i64)> = entry.map_or(vec![], |(_, entry)| {
            entry
                .batches()
                .iter()
                .map(|b| (b.last_sequence, b.last_offset))
                .collect()
        });
        // Deleted batches may be remembered still; those that are there must be.
        assert!(
            in_log.ends_with(&known),
            "{in_log:?} must end with {known:?}"
        );
        assert!(
            log.leader_epochs()
                .iter()
                .all(|e| e.epoch <= epoch && e.start_offset <= end)
        );
        self.compare_timestamps();
    }

    fn compare_timestamps(&mut self) {
        for age_ms in [-50, -1, 0, 1, 49] {
            let timestamp_ms = NOW_MS + age_ms;
            // All records of a batch have one timestamp here.
            let late = |(h, _): &&(BatchHeader, Vec<u8>)| {
                h.max_timestamp_ms >= timestamp_ms && h.last_offset() >= self.model.start
            };
            let expected = self.model.batches.iter().find(late);
            let expected = expected.map(|(h, _)| h.base_offset.max(self.model.start));
            let found = self.log().offset_for_timestamp(timestamp_ms).unwrap();
            assert_eq!(found.map(|found| found.offset), expected, "{age_ms}");
        }
    }
}

fn check(lab: Lab, steps: &[Step]) {
    let mut pair = Pair::new(lab);
    for step in steps {
        pair.take(step);
        pair.compare();
    }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(ProptestConfig::default().cases))]

    #[test]
    fn a_log_is_what_was_appended_whatever_happens(steps in vec(step(), 1..60)) {
        check(Lab::in_memory(), &steps);
    }
}

proptest! {
    #![proptest_config(config(32))]

    #[test]
    fn so_it_is_on_a_real_disk(steps in vec(step(), 1..40)) {
        check(Lab::on_real_disk(), &steps);
    }
}

#[test]
fn a_log_of_one_append_is_the_model_too() {
    let mut pair = Pair::new(Lab::in_memory());
    let mut batch = pair.produce(0, 2);
    append(pair.log(), batch.clone());
    batch[..8].copy_from_slice(&0_i64.to_be_bytes());
    batch[12..16].copy_from_slice(&0_i32.to_be_bytes());
    pair.model.push(batch);
    pair.model.sequence = 2;
    pair.compare();
}
