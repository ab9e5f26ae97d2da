//! Appending and reading: dense offsets, Kafka's refusals, what a reader gets.

use kgauge_broker::log::{AppendError, FirstBatch, LogConfig, ReadError, ReadRequest};
use kgauge_wire::record_batch::{BatchHeader, TimestampType};

use crate::support::{
    Lab, NOW_MS, append, batch, batch_at, batch_of_bytes, headers, produced_by, read_from,
    read_once, spans,
};

#[test]
fn offsets_are_dense_and_the_leader_epoch_is_written() {
    for lab in Lab::both() {
        let mut log = lab.open();
        let mut first = batch(3);
        let info = log.append_as_leader(&mut first, 5, NOW_MS).unwrap();
        assert_eq!((info.base_offset, info.last_offset), (0, 2));
        assert_eq!(info.log_append_time_ms, -1);
        assert!(!info.duplicate);
        let mut second = batch(2);
        let info = log.append_as_leader(&mut second, 6, NOW_MS).unwrap();
        assert_eq!((info.base_offset, info.last_offset), (3, 4));
        assert_eq!(log.log_end_offset(), 5);
        assert_eq!(log.size_bytes(), (first.len() + second.len()) as u64);
        let read = read_from(&mut log, 0);
        assert_eq!(read, [first, second].concat());
        let epochs: Vec<i32> = headers(&read)
            .iter()
            .map(|header| header.leader_epoch)
            .collect();
        assert_eq!(epochs, [5, 6]);
    }
}

#[test]
fn several_batches_go_in_together_or_not_at_all() {
    let mut log = Lab::in_memory().open();
    let mut two = [batch(2), batch(3)].concat();
    let info = log.append_as_leader(&mut two, 0, NOW_MS).unwrap();
    assert_eq!((info.base_offset, info.last_offset), (0, 4));
    assert_eq!(spans(&read_from(&mut log, 0)), [(0, 1), (2, 4)]);
    let mut broken = [batch(1), batch(1)].concat();
    *broken.last_mut().unwrap() ^= 1;
    let error = log.append_as_leader(&mut broken, 0, NOW_MS).unwrap_err();
    assert_eq!(error.code(), 2, "CORRUPT_MESSAGE");
    assert_eq!(log.log_end_offset(), 5);
}

#[test]
fn refusals_have_kafkas_codes_and_leave_the_log_as_it_was() {
    let config = LogConfig {
        max_message_bytes: 500,
        segment_bytes: 800,
        timestamp_before_max_ms: Some(10_000),
        ..LogConfig::default()
    };
    let mut log = Lab::in_memory().open_with(config);
    let hour_ms = 3_600_000;
    let mut with_base_offset = batch(1);
    with_base_offset[7] = 1;
    let cases = [
        (Vec::new(), 87, "nothing at all"),
        (vec![0; 20], 2, "no header"),
        (batch(1)[..60].to_vec(), 2, "a cut header"),
        (batch(1)[..65].to_vec(), 2, "a cut batch"),
        (batch_of_bytes(501, NOW_MS), 10, "MESSAGE_TOO_LARGE"),
        (
            [batch_of_bytes(401, NOW_MS), batch_of_bytes(400, NOW_MS)].concat(),
            18,
            "RECORD_LIST_TOO_LARGE",
        ),
        (with_base_offset, 87, "a base offset that is not 0"),
        (
            batch_at(&[NOW_MS + hour_ms + 1]),
            32,
            "too far in the future",
        ),
        (batch_at(&[NOW_MS - 10_001]), 32, "too old"),
        (
            [produced_by(1, 0, 0, 1), batch(1)].concat(),
            87,
            "an idempotent batch with another",
        ),
    ];
    for (mut bytes, code, what) in cases {
        let error = log.append_as_leader(&mut bytes, 0, NOW_MS).unwrap_err();
        assert_eq!(error.code(), code, "{what}: {error}");
    }
    assert_eq!((log.log_end_offset(), log.size_bytes()), (0, 0));
    append(&mut log, batch_at(&[NOW_MS + hour_ms]));
    append(&mut log, batch_at(&[NOW_MS - 10_000]));
    append(&mut log, batch_at(&[-1]));
    append(&mut log, batch_of_bytes(500, NOW_MS));
    assert_eq!(log.log_end_offset(), 4);
}

#[test]
fn an_older_leader_epoch_is_fenced() {
    let mut log = Lab::in_memory().open();
    log.append_as_leader(&mut batch(1), 4, NOW_MS).unwrap();
    let error = log.append_as_leader(&mut batch(1), 3, NOW_MS).unwrap_err();
    assert!(
        matches!(
            error,
            AppendError::StaleLeaderEpoch {
                epoch: 3,
                current: 4
            }
        ),
        "{error}"
    );
    assert_eq!(error.code(), 74);
}

#[test]
fn log_append_time_dates_the_batch_and_keeps_its_crc_right() {
    let config = LogConfig {
        timestamp_type: TimestampType::LogAppendTime,
        ..LogConfig::default()
    };
    let mut log = Lab::in_memory().open_with(config);
    let info = log
        .append_as_leader(&mut batch_at(&[1, 2, 3]), 0, NOW_MS)
        .unwrap();
    assert_eq!(info.log_append_time_ms, NOW_MS);
    let header = headers(&read_from(&mut log, 0))[0];
    assert_eq!(header.max_timestamp_ms, NOW_MS);
    assert_eq!(
        header.attributes.timestamp_type(),
        TimestampType::LogAppendTime
    );
    assert_eq!(
        log.offset_for_timestamp(NOW_MS)
            .unwrap()
            .map(|found| found.offset),
        Some(0)
    );
}

/// Ten batches of three records: offsets 0-2, 3-5, ... 27-29.
fn ten_batches(lab: &Lab) -> kgauge_broker::log::PartitionLog {
    let mut log = lab.open();
    for _ in 0..10 {
        append(&mut log, batch(3));
    }
    log
}

#[test]
fn a_read_begins_with_the_batch_that_holds_the_offset() {
    for lab in Lab::both() {
        let mut log = ten_batches(&lab);
        for offset in 0..30 {
            let read = read_once(&mut log, offset, usize::MAX);
            assert_eq!(spans(&read)[0], (offset / 3 * 3, offset / 3 * 3 + 2));
            assert_eq!(headers(&read).len() as i64, 10 - offset / 3);
        }
        assert_eq!(
            read_once(&mut log, 30, usize::MAX),
            [0; 0],
            "the end has nothing yet"
        );
        for offset in [-1, 31] {
            let request = ReadRequest {
                offset,
                bytes_max: 1,
                upper_bound_offset: 30,
                first_batch: FirstBatch::Whole,
            };
            let error = log.read(&request).unwrap_err();
            assert!(matches!(
                error,
                ReadError::OffsetOutOfRange {
                    start: 0,
                    end: 30,
                    ..
                }
            ));
            assert_eq!(error.code(), 1);
        }
    }
}

#[test]
fn a_read_keeps_to_its_bytes_but_for_a_first_batch_that_must_be_whole() {
    let mut log = ten_batches(&Lab::in_memory());
    let one = batch(3).len();
    let mut read = |bytes_max, first_batch| {
        let request = ReadRequest {
            offset: 4,
            bytes_max,
            upper_bound_offset: 30,
            first_batch,
        };
        log.read(&request)
            .unwrap()
            .slice
            .map_or(0, |slice| slice.len)
    };
    assert_eq!(read(0, FirstBatch::Whole), one);
    assert_eq!(read(one - 1, FirstBatch::Whole), one);
    assert_eq!(read(one + 5, FirstBatch::Whole), one + 5);
    assert_eq!(read(usize::MAX, FirstBatch::Whole), 9 * one);
    assert_eq!(read(0, FirstBatch::MayBeCut), 0);
    assert_eq!(read(10, FirstBatch::MayBeCut), 10);
}

#[test]
fn a_read_ends_at_the_upper_bound() {
    for lab in Lab::both() {
        let mut log = ten_batches(&lab);
        for reopened in [false, true] {
            if reopened {
                log.close().unwrap();
                log = lab.open();
            }
            let mut last = |offset, upper_bound_offset| {
                let first_batch = FirstBatch::Whole;
                let bytes_max = usize::MAX;
                let request = ReadRequest {
                    offset,
                    bytes_max,
                    upper_bound_offset,
                    first_batch,
                };
                let slice = log.read(&request).unwrap().slice;
                slice.map(|slice| spans(&slice.bytes().unwrap()).last().unwrap().1)
            };
            assert_eq!(last(0, 3), Some(2));
            assert_eq!(
                last(0, 29),
                Some(29),
                "a bound inside a batch leaves the batch in"
            );
            assert_eq!(last(0, 27), Some(26));
            assert_eq!(last(5, 6), Some(5));
            assert_eq!(last(6, 6), None);
            assert_eq!(last(29, 27), None);
            assert_eq!(last(0, 1000), Some(29));
        }
    }
}

#[test]
fn a_slice_stays_readable_when_its_segment_is_gone() {
    for lab in Lab::both() {
        let mut log = ten_batches(&lab);
        let request = ReadRequest {
            offset: 0,
            bytes_max: usize::MAX,
            upper_bound_offset: 30,
            first_batch: FirstBatch::Whole,
        };
        let slice = log.read(&request).unwrap().slice.unwrap();
        assert_eq!(slice.os_file().is_some(), lab.memory.is_none());
        log.truncate_fully_and_start_at(100, NOW_MS).unwrap();
        assert_eq!(headers(&slice.bytes().unwrap()).len(), 10);
    }
}

#[test]
fn a_follower_keeps_the_leaders_bytes() {
    let mut leader = ten_batches(&Lab::in_memory());
    let bytes = read_from(&mut leader, 0);
    let mut follower = Lab::in_memory().open();
    let one = batch(3).len();
    let info = follower
        .append_as_follower(&bytes[..2 * one], NOW_MS)
        .unwrap();
    assert_eq!((info.base_offset, info.last_offset), (0, 5));
    let error = follower
        .append_as_follower(&bytes[one..2 * one], NOW_MS)
        .unwrap_err();
    assert!(matches!(
        error,
        AppendError::NotTheNextOffset {
            base_offset: 3,
            last_offset: 5,
            end_offset: 6
        }
    ));
    let error = follower
        .append_as_follower(&bytes[3 * one..], NOW_MS)
        .unwrap_err();
    assert!(matches!(
        error,
        AppendError::NotTheNextOffset { base_offset: 9, .. }
    ));
    let mut damaged = bytes[2 * one..].to_vec();
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(
        follower
            .append_as_follower(&damaged, NOW_MS)
            .unwrap_err()
            .code(),
        2
    );
    follower
        .append_as_follower(&bytes[2 * one..], NOW_MS)
        .unwrap();
    assert_eq!(read_from(&mut follower, 0), bytes);
    assert_eq!(follower.leader_epochs(), leader.leader_epochs());
}

#[test]
fn the_header_of_what_is_read_names_the_records() {
    let mut log = Lab::in_memory().open();
    append(&mut log, batch(3));
    let bytes = read_once(&mut log, 1, usize::MAX);
    let header = BatchHeader::parse(&bytes).unwrap();
    assert_eq!(
        (header.base_offset, header.records(), header.last_offset()),
        (0, 3, 2)
    );
}
