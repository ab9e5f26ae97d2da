//! The files of a log, byte for byte as Kafka has them, and what happens when one is missing or
//! wrong.

use kgauge_broker::log::LogConfig;

use crate::support::{
    Lab, NOW_MS, append, batch_at, batch_of_bytes, headers, produced_by, read_from, read_once,
};

/// Batches of 100 bytes and one record, a millisecond apart, indexed every 250 bytes.
fn indexed_log(lab: &Lab, batches: i64) -> kgauge_broker::log::PartitionLog {
    let mut log = lab.open_with(config());
    for age_ms in 0..batches {
        append(&mut log, batch_of_bytes(100, NOW_MS + age_ms));
    }
    log
}

fn config() -> LogConfig {
    LogConfig {
        index_interval_bytes: 250,
        segment_bytes: 1000,
        ..LogConfig::default()
    }
}

fn offset_entries(bytes: &[u8]) -> Vec<(u32, u32)> {
    let (chunks, rest) = bytes.as_chunks::<8>();
    assert!(rest.is_empty());
    chunks
        .iter()
        .map(|entry| (number(&entry[..4]), number(&entry[4..])))
        .collect()
}

fn time_entries(bytes: &[u8]) -> Vec<(i64, u32)> {
    let (chunks, rest) = bytes.as_chunks::<12>();
    assert!(rest.is_empty());
    let entry = |entry: &[u8; 12]| {
        let timestamp = i64::from_be_bytes(*entry.first_chunk::<8>().unwrap());
        (timestamp - NOW_MS, number(&entry[8..]))
    };
    chunks.iter().map(entry).collect()
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes.try_into().unwrap())
}

#[test]
fn a_closed_log_has_kafkas_files_with_kafkas_entries() {
    for lab in Lab::both() {
        indexed_log(&lab, 15).close().unwrap();
        assert_eq!(
            lab.names(),
            [
                "00000000000000000000.index",
                "00000000000000000000.log",
                "00000000000000000000.timeindex",
                "00000000000000000010.index",
                "00000000000000000010.log",
                "00000000000000000010.snapshot",
                "00000000000000000010.timeindex",
                "leader-epoch-checkpoint",
                "log-state",
            ]
        );
        // An entry once more than 250 bytes lie before the batch since the last one: before the
        // 4th, 7th and 10th.
        let offsets = lab.file("00000000000000000000.index").unwrap();
        assert_eq!(offset_entries(&offsets), [(3, 300), (6, 600), (9, 900)]);
        let times = lab.file("00000000000000000000.timeindex").unwrap();
        assert_eq!(time_entries(&times), [(3, 3), (6, 6), (9, 9)]);
        let offsets = lab.file("00000000000000000010.index").unwrap();
        assert_eq!(offset_entries(&offsets), [(3, 300)]);
        // The largest timestamp of a closed segment has its entry.
        let times = lab.file("00000000000000000010.timeindex").unwrap();
        assert_eq!(time_entries(&times), [(13, 3), (14, 4)]);
        let epochs = lab.file("leader-epoch-checkpoint").unwrap();
        assert_eq!(epochs, b"0\n1\n0 0\n");
        // Version 1, CRC-32C of a count of no producers, the count.
        let snapshot = lab.file("00000000000000000010.snapshot").unwrap();
        assert_eq!(snapshot, [0, 1, 0x48, 0x67, 0x4b, 0xc7, 0, 0, 0, 0]);
    }
}

#[test]
fn a_log_reopened_after_a_close_goes_on_where_it_was() {
    for lab in Lab::both() {
        let mut log = indexed_log(&lab, 15);
        let before = read_from(&mut log, 0);
        log.close().unwrap();
        let mut log = lab.open_with(config());
        assert_eq!((log.log_start_offset(), log.log_end_offset()), (0, 15));
        assert_eq!(log.flushed_offset(), 15);
        assert_eq!(read_from(&mut log, 0), before);
        for age_ms in 15..20 {
            append(&mut log, batch_of_bytes(100, NOW_MS + age_ms));
        }
        log.close().unwrap();
        let offsets = lab.file("00000000000000000010.index").unwrap();
        assert_eq!(
            offset_entries(&offsets),
            [(3, 300), (6, 600), (9, 900)],
            "as if never closed"
        );
        let times = lab.file("00000000000000000010.timeindex").unwrap();
        assert_eq!(time_entries(&times), [(13, 3), (14, 4), (16, 6), (19, 9)]);
    }
}

#[test]
fn any_index_file_may_be_missing_or_damaged_anywhere() {
    let lab = Lab::in_memory();
    let mut log = indexed_log(&lab, 15);
    let whole = read_from(&mut log, 0);
    log.close().unwrap();
    let closed = lab.memory().clone();
    for name in [
        "00000000000000000000.index",
        "00000000000000000000.timeindex",
        "00000000000000000010.index",
        "00000000000000000010.timeindex",
    ] {
        let good = lab.file(name).unwrap();
        let mut damages: Vec<Option<Vec<u8>>> = vec![None];
        damages.extend((0..good.len()).map(|len| Some(good[..len].to_vec())));
        for position in 0..good.len() {
            for mask in [0x01, 0x80, 0xff] {
                let mut flipped = good.clone();
                flipped[position] ^= mask;
                damages.push(Some(flipped));
            }
        }
        damages.push(Some(vec![0; good.len()]));
        damages.push(Some([good.clone(), good.clone()].concat()));
        for damage in damages {
            let lab = Lab::on(closed.fork());
            match &damage {
                Some(bytes) => lab.put(name, bytes),
                None => lab.storage.remove_file(&lab.path(name)).unwrap(),
            }
            let mut log = lab.open_with(config());
            assert_eq!(log.log_end_offset(), 15, "{name} {damage:?}");
            for offset in 0..15 {
                let read = read_once(&mut log, offset, 1);
                assert_eq!(headers(&read)[0].base_offset, offset, "{name} {damage:?}");
                let found = log.offset_for_timestamp(NOW_MS + offset).unwrap();
                assert_eq!(found.map(|f| f.offset), Some(offset), "{name} {damage:?}");
            }
            assert_eq!(log.offset_for_timestamp(NOW_MS + 15).unwrap(), None);
            assert_eq!(read_from(&mut log, 0), whole);
        }
    }
}

#[test]
fn corruption_in_the_middle_is_an_error_that_names_file_and_position() {
    let lab = Lab::in_memory();
    indexed_log(&lab, 15).close().unwrap();
    let name = "00000000000000000000.log";
    let mut bytes = lab.file(name).unwrap();
    bytes[400 + 16] = 9;
    lab.put(name, &bytes);
    let mut log = lab.open_with(config());
    assert_eq!(
        headers(&read_once(&mut log, 7, 1))[0].base_offset,
        7,
        "others are served"
    );
    let request = kgauge_broker::log::ReadRequest {
        offset: 5,
        bytes_max: 1,
        upper_bound_offset: 15,
        first_batch: kgauge_broker::log::FirstBatch::Whole,
    };
    let error = log.read(&request).unwrap_err();
    assert_eq!(error.code(), 2);
    assert_eq!(
        error.to_string(),
        "data/topic-0/00000000000000000000.log is corrupt at position 400: \
         message format 9 is not supported, only 2 is"
    );
}

#[test]
fn a_snapshot_has_kafkas_bytes() {
    let lab = Lab::in_memory();
    let mut log = lab.open();
    append(&mut log, batch_at(&[NOW_MS]));
    append(&mut log, produced_by(77, 3, 10, 4));
    append(&mut log, produced_by(77, 3, 14, 2));
    log.close().unwrap();
    let snapshot = lab.file("00000000000000000007.snapshot").unwrap();
    let row = |last_sequence: i32, last_offset: i64, delta: i32| {
        let mut row = Vec::new();
        row.extend(77_i64.to_be_bytes());
        row.extend(3_i16.to_be_bytes());
        row.extend(last_sequence.to_be_bytes());
        row.extend(last_offset.to_be_bytes());
        row.extend(delta.to_be_bytes());
        row.extend(NOW_MS.to_be_bytes());
        row.extend((-1_i32).to_be_bytes());
        row.extend((-1_i64).to_be_bytes());
        row
    };
    assert_eq!(snapshot[..2], [0, 1]);
    assert_eq!(snapshot[6..10], [0, 0, 0, 2]);
    assert_eq!(snapshot[10..], [row(13, 4, 3), row(15, 6, 1)].concat());
    assert_eq!(snapshot.len(), 10 + 2 * 46);
}

#[test]
fn leftovers_of_a_crash_are_cleared_away() {
    let lab = Lab::in_memory();
    let mut log = lab.open();
    append(&mut log, batch_at(&[NOW_MS]));
    drop(log);
    lab.put("leader-epoch-checkpoint.tmp", b"half");
    lab.put("00000000000000000005.log.deleted", b"old");
    lab.put(
        "00000000000000000099.snapshot",
        b"of a future that did not happen",
    );
    lab.put("somebody-elses-file", b"stays");
    let log = lab.open();
    assert_eq!(log.log_end_offset(), 1);
    let expected = [
        "00000000000000000000.log",
        "leader-epoch-checkpoint",
        "somebody-elses-file",
    ];
    assert_eq!(lab.names(), expected);
}

#[test]
fn a_log_that_was_never_used_leaves_one_empty_file() {
    let lab = Lab::in_memory();
    lab.open().close().unwrap();
    assert_eq!(lab.names(), ["00000000000000000000.log"]);
    let log = lab.open();
    assert_eq!((log.log_start_offset(), log.log_end_offset()), (0, 0));
    log.delete().unwrap();
    assert!(lab.storage.list(&lab.dir).unwrap_err().is_not_found());
}
