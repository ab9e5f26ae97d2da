//! The check of a log with known anomalies.

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

use kgauge_results::run::{Anomaly, UncheckedCause};
use kgauge_verify::{
    BatchEntry, BatchFate, ConsumerPolls, LedgerEntry, LedgerKind, LedgerReader, LedgerWriter,
    PARTITION_UNKNOWN, PartitionCheck, PartitionOutcomes, PartitionVerdict, ReadExtent, ReadSpan,
    STAMP_BYTES, Stamp, StampKey, TransactionFate, acked_records, producer_number,
};

const PARTITION: u32 = 2;

fn key() -> StampKey {
    StampKey::new(7)
}

/// A batch of ten records, the `index`-th of its producer, at ten times its index.
fn batch(fate: BatchFate, index: u64) -> LedgerEntry {
    LedgerEntry::Batch(BatchEntry {
        fate,
        partition: PARTITION,
        sequence: index * 10,
        count: 10,
        offset: (fate != BatchFate::Failed && fate != BatchFate::Unknown).then_some(index * 10),
    })
}

fn outcomes(entries: &[LedgerEntry], kind: LedgerKind) -> PartitionOutcomes {
    let mut bytes = Vec::new();
    let mut writer = LedgerWriter::new(&mut bytes, producer_number(1, 0));
    entries.iter().for_each(|entry| writer.push(*entry));
    writer.close().unwrap();
    let mut outcomes = PartitionOutcomes::new(PARTITION);
    let mut reader = LedgerReader::new(bytes.as_slice()).unwrap();
    outcomes.add(&mut reader, kind).unwrap();
    outcomes
}

/// What a consumer's log has.
fn consumer(entries: &[LedgerEntry]) -> ConsumerPolls {
    let mut bytes = Vec::new();
    let mut writer = LedgerWriter::new(&mut bytes, 0);
    entries.iter().for_each(|entry| writer.push(*entry));
    writer.close().unwrap();
    let mut reader = LedgerReader::new(bytes.as_slice()).unwrap();
    ConsumerPolls::read(&mut reader, PARTITION, Some(0)).unwrap()
}

fn value_in(partition: u32, sequence: u64) -> [u8; STAMP_BYTES] {
    let mut value = [0; STAMP_BYTES];
    let stamp = Stamp {
        producer: producer_number(1, 0),
        partition,
        sequence,
        number: sequence,
    };
    key().write(&stamp, &mut value);
    value
}

fn value(sequence: u64) -> [u8; STAMP_BYTES] {
    value_in(PARTITION, sequence)
}

fn extent(read_end: u64) -> ReadExtent {
    ReadExtent {
        log_start: 0,
        read_end,
        is_complete: true,
    }
}

fn three_acked() -> Vec<LedgerEntry> {
    (0..3).map(|at| batch(BatchFate::Acked, at)).collect()
}

/// Checks a log of (offset, sequence) against three acked batches.
fn checked(log: impl IntoIterator<Item = (u64, u64)>) -> PartitionVerdict {
    checked_against(&three_acked(), LedgerKind::Plain, log)
}

fn checked_against(
    entries: &[LedgerEntry],
    kind: LedgerKind,
    log: impl IntoIterator<Item = (u64, u64)>,
) -> PartitionVerdict {
    let mut check = PartitionCheck::new(key(), outcomes(entries, kind), Vec::new());
    let mut end = 0;
    for (offset, sequence) in log {
        check.note(offset, Some(&value(sequence)), |_| true);
        end = offset + 1;
    }
    check.finish(extent(end))
}

fn classes(verdict: &PartitionVerdict) -> Vec<(Anomaly, u64)> {
    let anomalies = verdict.anomalies.iter();
    anomalies
        .map(|((one, _), tally)| (*one, tally.count))
        .collect()
}

#[test]
fn a_log_as_acked_has_no_anomaly() {
    let verdict = checked((0..30).map(|at| (at, at)));
    assert_eq!((verdict.acked, verdict.confirmed), (30, 30));
    assert_eq!(classes(&verdict), []);
}

#[test]
fn a_missing_record_is_lost_and_named() {
    let verdict = checked((0..30).filter(|at| *at != 12).map(|at| (at, at)));
    assert_eq!(classes(&verdict), [(Anomaly::LostWrite, 1)]);
    let tally = &verdict.anomalies[&(Anomaly::LostWrite, Some(1))];
    assert_eq!(tally.examples[0].acked_offset, Some(12));
    assert_eq!(tally.examples[0].sequence, Some(12));
}

#[test]
fn a_lost_record_has_the_time_of_its_own_ack() {
    let lost_at = |end: Option<TransactionFate>, kind| {
        let mut entries = vec![
            LedgerEntry::Clock(1_000),
            batch(BatchFate::Acked, 0),
            LedgerEntry::Clock(2_000),
            batch(BatchFate::Acked, 1),
            LedgerEntry::Clock(3_000),
        ];
        entries.extend(end.map(LedgerEntry::TransactionEnd));
        let verdict = checked_against(&entries, kind, (0..15).map(|at| (at, at)));
        verdict.anomalies[&(Anomaly::LostWrite, Some(1))].examples[0].unix_ms
    };
    assert_eq!(lost_at(None, LedgerKind::Plain), Some(2_000));
    let committed = Some(TransactionFate::Committed);
    assert_eq!(lost_at(committed, LedgerKind::Transactional), Some(3_000));
}

#[test]
fn a_missing_tail_is_lost() {
    let verdict = checked((0..25).map(|at| (at, at)));
    assert_eq!(classes(&verdict), [(Anomaly::LostWrite, 5)]);
    let tally = &verdict.anomalies[&(Anomaly::LostWrite, Some(1))];
    assert_eq!(tally.examples.len(), 1, "adjacent records are one example");
}

#[test]
fn a_record_at_two_offsets_is_a_duplicate() {
    let again = (0..30).map(|at| (at, at)).chain([(30, 7)]);
    assert_eq!(classes(&checked(again)), [(Anomaly::Duplicate, 1)]);
}

#[test]
fn a_copy_before_the_acked_one_is_only_a_duplicate() {
    let entry = LedgerEntry::Batch(BatchEntry {
        fate: BatchFate::Acked,
        partition: PARTITION,
        sequence: 0,
        count: 10,
        offset: Some(10),
    });
    let log = (0..20).map(|at| (at, at % 10));
    let verdict = checked_against(&[entry], LedgerKind::Plain, log);
    assert_eq!(classes(&verdict), [(Anomaly::Duplicate, 10)]);
}

#[test]
fn swapped_records_are_out_of_order_and_displaced() {
    let swapped = (0..30).map(|at| match at {
        4 => (4, 5),
        5 => (5, 4),
        at => (at, at),
    });
    let expected = [
        (Anomaly::InconsistentOffsets, 2),
        (Anomaly::NonmonotonicSend, 1),
    ];
    assert_eq!(classes(&checked(swapped)), expected);
}

#[test]
fn only_acked_records_have_an_order() {
    // A request that nobody answered arrives after the next one was acked.
    let late = [batch(BatchFate::Unknown, 0), batch(BatchFate::Acked, 1)];
    let log = (10..20).chain(0..10).enumerate();
    let log: Vec<(u64, u64)> = log
        .map(|(at, sequence)| (at as u64 + 10, sequence))
        .collect();
    let verdict = checked_against(&late, LedgerKind::Plain, log.clone());
    assert_eq!(classes(&verdict), []);
    assert_eq!((verdict.confirmed, verdict.unknown_present), (10, 10));
    // An acked record behind one of unknown outcome.
    let early = [batch(BatchFate::Acked, 0), batch(BatchFate::Unknown, 1)];
    let verdict = checked_against(&early, LedgerKind::Plain, log);
    assert_eq!(verdict.count_of(Anomaly::NonmonotonicSend), 0);
    assert_eq!(verdict.count_of(Anomaly::InconsistentOffsets), 10);
}

#[test]
fn another_records_copy_does_not_put_a_displaced_one_in_its_place() {
    // Records 0 to 9 are one offset behind their acks; a record of unknown outcome is in the log twice.
    let entries = [batch(BatchFate::Acked, 0), batch(BatchFate::Unknown, 1)];
    let displaced = (0..10).map(|sequence| (sequence + 1, sequence));
    let log = displaced.chain([(11, 10), (12, 10)]);
    let verdict = checked_against(&entries, LedgerKind::Plain, log);
    let expected = [(Anomaly::Duplicate, 1), (Anomaly::InconsistentOffsets, 10)];
    assert_eq!(classes(&verdict), expected);
}

#[test]
fn compaction_excuses_no_record_beyond_the_end_of_the_log() {
    let entries = [
        batch(BatchFate::Acked, 0),
        batch(BatchFate::Acked, 1),
        batch(BatchFate::Acked, 2),
        LedgerEntry::TransactionEnd(TransactionFate::Committed),
    ];
    let outcomes = outcomes(&entries, LedgerKind::Transactional);
    let check = PartitionCheck::new(key(), outcomes, Vec::new());
    let mut check = check.of_compacted(true);
    // Offsets 5 to 11 are missing before the last record; the log ends at 25 instead of 30.
    for at in (0..5).chain(12..25) {
        check.note(at, Some(&value(at)), |_| true);
    }
    let verdict = check.finish(extent(25));
    assert_eq!(classes(&verdict), [(Anomaly::LostWrite, 5)]);
    let lost = &verdict.anomalies[&(Anomaly::LostWrite, Some(1))].examples[0];
    assert_eq!((lost.sequence, lost.acked_offset), (Some(25), Some(25)));
    assert_eq!(verdict.unchecked[&UncheckedCause::Compacted], 7);
    assert!(
        verdict.lost_by_transaction.is_empty(),
        "not torn for certain"
    );
}

#[test]
fn a_failed_record_that_is_readable_is_an_aborted_read() {
    let entries = [batch(BatchFate::Failed, 0), batch(BatchFate::Acked, 1)];
    let verdict = checked_against(&entries, LedgerKind::Plain, (0..20).map(|at| (at, at)));
    assert_eq!(classes(&verdict), [(Anomaly::AbortedRead, 10)]);
    let none = checked_against(&entries, LedgerKind::Plain, (10..20).map(|at| (at, at)));
    assert_eq!(classes(&none), []);
}

#[test]
fn records_of_unknown_outcome_may_be_there_or_not() {
    let entries = [batch(BatchFate::Unknown, 0), batch(BatchFate::Acked, 1)];
    let some = (3..5).chain(10..20).map(|at| (at, at));
    let verdict = checked_against(&entries, LedgerKind::Plain, some);
    assert_eq!(classes(&verdict), []);
    assert_eq!((verdict.unknown_present, verdict.unknown_absent), (2, 8));
}

#[test]
fn the_end_of_a_transaction_decides_on_its_records() {
    let of = |fate| {
        let entries = [
            batch(BatchFate::Acked, 0),
            LedgerEntry::TransactionEnd(TransactionFate::Committed),
            batch(BatchFate::Acked, 1),
            LedgerEntry::TransactionEnd(fate),
            batch(BatchFate::Acked, 2),
        ];
        let log = (0..15).map(|at| (at, at));
        checked_against(&entries, LedgerKind::Transactional, log)
    };
    let torn = of(TransactionFate::Committed);
    assert_eq!(classes(&torn), [(Anomaly::LostWrite, 5)]);
    let lost: Vec<_> = torn.lost_by_transaction.into_iter().collect();
    assert_eq!(lost, [((producer_number(1, 0), 1), 5)]);
    let aborted = of(TransactionFate::Aborted);
    assert_eq!(classes(&aborted), [(Anomaly::AbortedRead, 5)]);
    let unknown = of(TransactionFate::Unknown);
    assert_eq!(classes(&unknown), []);
    assert_eq!(unknown.unknown_absent, 15, "with those of the open one");
    let half: Vec<u32> = unknown.half_committed().collect();
    assert_eq!(half, [producer_number(1, 0)], "5 of 10 are readable");
    assert_eq!(aborted.half_committed().count(), 0);
}

#[test]
fn a_transaction_of_unknown_end_is_whole_or_absent_over_all_partitions() {
    let in_partition = |partition| {
        LedgerEntry::Batch(BatchEntry {
            fate: BatchFate::Acked,
            partition,
            sequence: 0,
            count: 10,
            offset: Some(0),
        })
    };
    let entries = [
        in_partition(PARTITION),
        in_partition(PARTITION + 1),
        LedgerEntry::TransactionEnd(TransactionFate::Unknown),
    ];
    let verdict_of = |partition, readable: u64, is_complete| {
        let mut bytes = Vec::new();
        let mut writer = LedgerWriter::new(&mut bytes, producer_number(1, 0));
        entries.iter().for_each(|entry| writer.push(*entry));
        writer.close().unwrap();
        let mut outcomes = PartitionOutcomes::new(partition);
        let mut reader = LedgerReader::new(bytes.as_slice()).unwrap();
        outcomes
            .add(&mut reader, LedgerKind::Transactional)
            .unwrap();
        let mut check = PartitionCheck::new(key(), outcomes, Vec::new());
        (0..readable).for_each(|at| check.note(at, Some(&value_in(partition, at)), |_| true));
        check.finish(ReadExtent {
            is_complete,
            ..extent(if is_complete { 11 } else { 0 })
        })
    };
    let halves = |of_next: PartitionVerdict| {
        let mut sums = verdict_of(PARTITION, 10, true);
        sums.merge_counts(&of_next);
        sums.half_committed().count()
    };
    assert_eq!(halves(verdict_of(PARTITION + 1, 10, true)), 0);
    assert_eq!(halves(verdict_of(PARTITION + 1, 0, true)), 1);
    let unread = verdict_of(PARTITION + 1, 0, false);
    assert_eq!(halves(unread), 0, "it may be readable");
}

#[test]
fn foreign_and_corrupt_records_are_distinguished() {
    let mut check = PartitionCheck::new(key(), outcomes(&[], LedgerKind::Plain), Vec::new());
    check.note(0, Some(b"another application's"), |_| true);
    check.note(1, None, |_| true);
    check.note(2, Some(&value_in(PARTITION + 1, 0)), |_| true);
    let mut broken = value(0);
    broken[20] ^= 1;
    check.note(3, Some(&broken), |_| true);
    check.note(4, Some(&value(0)), |_| false);
    let verdict = check.finish(extent(5));
    assert_eq!(verdict.count_of(Anomaly::ForeignRecord), 3);
    assert_eq!(verdict.count_of(Anomaly::CorruptRecord), 2);
    assert_eq!(verdict.unlisted, 1);
}

#[test]
fn what_was_deleted_or_not_read_is_not_lost() {
    let outcomes = outcomes(&three_acked(), LedgerKind::Plain);
    let mut check = PartitionCheck::new(key(), outcomes, Vec::new());
    (10..20).for_each(|at| check.note(at, Some(&value(at)), |_| true));
    let verdict = check.finish(ReadExtent {
        log_start: 10,
        read_end: 20,
        is_complete: false,
    });
    assert_eq!(classes(&verdict), []);
    assert_eq!(verdict.unchecked[&UncheckedCause::Deleted], 10);
    assert_eq!(verdict.unchecked[&UncheckedCause::Unreadable], 10);
}

#[test]
fn readable_records_that_a_consumer_passed_over_are_counted_once() {
    let passed_over = [(8, 12), (10, 15), (40, 50)];
    let polls = passed_over.map(|(expected, offset)| LedgerEntry::Poll {
        partition: PARTITION,
        expected,
        offset,
    });
    let back = LedgerEntry::Poll {
        partition: PARTITION,
        expected: 7,
        offset: 6,
    };
    let polls = vec![consumer(&polls), consumer(&[back])];
    let outcomes = outcomes(&three_acked(), LedgerKind::Plain);
    let mut check = PartitionCheck::new(key(), outcomes, polls);
    for at in (0..30).filter(|at| *at != 9) {
        check.note(at, Some(&value(at)), |_| true);
    }
    let verdict = check.finish(extent(30));
    assert_eq!(verdict.count_of(Anomaly::PollSkip), 6);
    assert_eq!(verdict.count_of(Anomaly::NonmonotonicPoll), 1);
}

#[test]
fn what_was_read_before_the_checked_part_of_a_log_is_not_compared() {
    let read = |from, end| {
        LedgerEntry::Read(ReadSpan {
            partition: PARTITION,
            from,
            end,
            hidden: 0,
        })
    };
    let mut bytes = Vec::new();
    let mut writer = LedgerWriter::new(&mut bytes, 0);
    writer.push(read(0, 10));
    writer.push(read(10, 30));
    writer.close().unwrap();
    let verdict_of = |compared_from| {
        let mut reader = LedgerReader::new(bytes.as_slice()).unwrap();
        let polls = ConsumerPolls::read(&mut reader, PARTITION, compared_from).unwrap();
        let outcomes = outcomes(&three_acked(), LedgerKind::Plain);
        let mut check = PartitionCheck::new(key(), outcomes, vec![polls]);
        (10..30).for_each(|at| check.note(at, Some(&value(at)), |_| true));
        let verdict = check.finish(extent(30));
        verdict.count_of(Anomaly::ReadBeforeCommit)
    };
    assert_eq!(verdict_of(Some(0)), 10);
    assert_eq!(verdict_of(Some(10)), 0);
    assert_eq!(verdict_of(None), 0);
}

#[test]
fn a_record_that_a_consumer_got_and_nobody_gets_afterwards_was_not_committed() {
    let read = LedgerEntry::Read(ReadSpan {
        partition: PARTITION,
        from: 0,
        end: 30,
        hidden: 1,
    });
    let aborted = [
        batch(BatchFate::Acked, 0),
        LedgerEntry::TransactionEnd(TransactionFate::Committed),
        batch(BatchFate::Acked, 2),
        LedgerEntry::TransactionEnd(TransactionFate::Aborted),
    ];
    // A marker at 10; the second batch is hidden now.
    let outcomes = outcomes(&aborted, LedgerKind::Transactional);
    let mut check = PartitionCheck::new(key(), outcomes, vec![consumer(&[read])]);
    (0..10).for_each(|at| check.note(at, Some(&value(at)), |_| true));
    let verdict = check.finish(extent(31));
    assert_eq!(classes(&verdict), [(Anomaly::ReadBeforeCommit, 19)]);
}

/// Records of a client that chooses partitions: in this one 0 to 4 and 20 to 24, at offsets 0 to 9; 5 to 9 in another
/// one; 10 to 19 of unknown outcome, wherever they are.
fn of_other_client() -> [LedgerEntry; 4] {
    let entry = |fate, partition, sequence, count, offset| {
        LedgerEntry::Batch(BatchEntry {
            fate,
            partition,
            sequence,
            count,
            offset,
        })
    };
    [
        entry(BatchFate::Acked, PARTITION, 0, 5, Some(0)),
        entry(BatchFate::Acked, PARTITION + 1, 5, 5, Some(100)),
        entry(BatchFate::Unknown, PARTITION_UNKNOWN, 10, 10, None),
        entry(BatchFate::Acked, PARTITION, 20, 5, Some(5)),
    ]
}

/// Checks a log of sequences, from offset 0 on, against the other client's ledger.
fn checked_of_other_client(log: impl IntoIterator<Item = u64>) -> PartitionVerdict {
    let outcomes = outcomes(&of_other_client(), LedgerKind::Driven);
    assert_eq!(outcomes.unknown_anywhere(), 10);
    let mut check = PartitionCheck::new(key(), outcomes, Vec::new());
    let mut end = 0;
    for sequence in log {
        let value = value_in(Stamp::ANY_PARTITION, sequence);
        check.note(end, Some(&value), |_| true);
        end += 1;
    }
    check.finish(extent(end))
}

#[test]
fn sequences_of_other_partitions_are_not_missing() {
    let verdict = checked_of_other_client((0..5).chain(20..25));
    assert_eq!(classes(&verdict), []);
    assert_eq!((verdict.acked, verdict.confirmed), (10, 10));
    let short = checked_of_other_client((0..5).chain(20..23));
    assert_eq!(classes(&short), [(Anomaly::LostWrite, 2)]);
    let gap = checked_of_other_client((0..3).chain(20..25));
    assert_eq!(gap.count_of(Anomaly::LostWrite), 2);
}

#[test]
fn a_record_of_another_clients_other_partition_is_foreign() {
    let verdict = checked_of_other_client((0..5).chain([7]).chain(20..25));
    assert_eq!(verdict.count_of(Anomaly::ForeignRecord), 1);
    let tally = &verdict.anomalies[&(Anomaly::ForeignRecord, Some(1))];
    assert_eq!(tally.examples[0].sequence, Some(7));
}

#[test]
fn another_clients_records_of_unknown_outcome_may_be_anywhere_but_once() {
    let verdict = checked_of_other_client((0..5).chain([12, 10]).chain([12]));
    assert_eq!(verdict.unknown_anywhere, 2);
    assert_eq!(verdict.count_of(Anomaly::Duplicate), 1);
    assert_eq!(verdict.count_of(Anomaly::NonmonotonicSend), 0);
}

#[test]
fn another_clients_records_in_another_order_are_found() {
    let verdict = checked_of_other_client((0..3).chain(20..25).chain([3, 4]));
    assert_eq!(verdict.count_of(Anomaly::NonmonotonicSend), 2);
    assert_eq!(verdict.count_of(Anomaly::LostWrite), 0);
    assert_eq!(verdict.confirmed, 10);
}

#[test]
fn the_record_that_a_group_got_the_longest_time_after_its_ack_is_named() {
    let acked = [
        LedgerEntry::Clock(10_000),
        batch(BatchFate::Acked, 0),
        LedgerEntry::Clock(11_000),
        batch(BatchFate::Acked, 1),
        batch(BatchFate::Acked, 2),
    ];
    let read = |unix_ms, from, end| {
        let span = ReadSpan {
            partition: PARTITION,
            from,
            end,
            hidden: 0,
        };
        [LedgerEntry::Clock(unix_ms), LedgerEntry::Read(span)]
    };
    // The second member reads again what the first one has read; the third consumer is alone.
    let first = consumer(&[read(10_200, 0, 10), read(11_500, 10, 20)].concat());
    let second = consumer(&[read(15_000, 10, 20), read(13_000, 20, 30)].concat());
    let alone = consumer(&read(10_300, 0, 10));
    let polls = vec![first.of_group(0), second.of_group(0), alone.of_group(1)];
    let outcomes = outcomes(&acked, LedgerKind::Plain);
    let mut check = PartitionCheck::new(key(), outcomes, polls);
    (0..30).for_each(|at| check.note(at, Some(&value(at)), |_| true));
    let verdict = check.finish(extent(30));
    assert_eq!(classes(&verdict), []);
    let (late_ms, record) = verdict.latest_read.unwrap();
    // Acks are known within 100 ms.
    assert_eq!(late_ms, 13_000 - 11_000 - 100);
    assert_eq!((record.offset, record.unix_ms), (Some(20), Some(11_000)));
}

/// The ledger of a producer that was killed, with what is left behind its last entry.
fn unclosed(entries: &[LedgerEntry], rest: &[u8]) -> Vec<u8> {
    let mut writer = LedgerWriter::new(Vec::new(), producer_number(1, 0));
    entries.iter().for_each(|entry| writer.push(*entry));
    let mut bytes = writer.into_inner();
    bytes.extend_from_slice(rest);
    bytes
}

#[test]
fn a_killed_producers_ledger_is_checked_up_to_its_torn_end() {
    // Half an entry, and zeros as after a power failure.
    for rest in [&[0xff_u8; 9][..], &[0_u8; 40][..]] {
        let bytes = unclosed(&three_acked(), rest);
        let ledger = || LedgerReader::new(bytes.as_slice()).unwrap().until_damage();
        let acked = acked_records(&mut ledger(), LedgerKind::Plain);
        assert_eq!(acked.unwrap(), 30);
        let mut outcomes = PartitionOutcomes::new(PARTITION);
        outcomes.add(&mut ledger(), LedgerKind::Plain).unwrap();
        assert_eq!(outcomes.ledgers_unclosed(), 1);
        // Record 12 is lost. Five more are in the log, and the ledger does not have their acks.
        let mut check = PartitionCheck::new(key(), outcomes, Vec::new());
        for at in (0..35).filter(|at| *at != 12) {
            check.note(at, Some(&value(at)), |_| true);
        }
        let verdict = check.finish(extent(35));
        assert_eq!((verdict.acked, verdict.confirmed), (30, 29));
        assert_eq!(verdict.unlisted, 5);
        assert_eq!(classes(&verdict), [(Anomaly::LostWrite, 1)]);
    }
}

#[test]
fn acks_within_a_transaction_count_once_it_is_committed() {
    let entries = [
        batch(BatchFate::Acked, 0),
        LedgerEntry::TransactionEnd(TransactionFate::Committed),
        batch(BatchFate::Acked, 1),
        LedgerEntry::TransactionEnd(TransactionFate::Aborted),
        batch(BatchFate::Acked, 2),
    ];
    let bytes = unclosed(&entries, &[]);
    let mut ledger = LedgerReader::new(bytes.as_slice()).unwrap();
    let acked = acked_records(&mut ledger, LedgerKind::Transactional);
    assert_eq!(acked.unwrap(), 10);
}
