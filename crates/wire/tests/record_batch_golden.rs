//! Batches that Kafka 4.3.1's own classes wrote (`cargo xtask golden-batches` remakes them): our
//! bytes are equal where nothing is compressed, and everything of theirs is read.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::path::Path;

use kgauge_wire::compress::{Codec, Decompressor};
use kgauge_wire::record_batch::{
    Batch, BatchHeader, TimestampType, batches, validate_for_append, validate_records_for_append,
};

#[path = "golden_batches/cases.rs"]
mod cases;

use cases::{BASE_MS, Content, cases};

const LIMIT: usize = 1 << 20;

fn golden(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden_batches");
    std::fs::read(folder.join(format!("{name}.bin"))).unwrap()
}

/// The records of a batch, copied.
fn contents(batch: &Batch<'_>) -> Vec<Content> {
    let mut scratch = Vec::new();
    let records = batch
        .records(&mut Decompressor::new(), &mut scratch, LIMIT)
        .unwrap();
    records
        .map(|record| {
            let record = record.unwrap();
            Content {
                timestamp_ms: record.timestamp_ms,
                key: record.key.map(<[u8]>::to_vec),
                value: record.value.map(<[u8]>::to_vec),
                headers: record
                    .headers()
                    .map(|header| {
                        let name = String::from_utf8(header.key.to_vec()).unwrap();
                        (name, header.value.map(<[u8]>::to_vec))
                    })
                    .collect(),
            }
        })
        .collect()
}

#[test]
fn uncompressed_batches_are_equal_to_kafkas() {
    for case in cases() {
        let ours = case.encode(Codec::None);
        assert!(
            ours == golden(&format!("{}.none", case.name)),
            "{}",
            case.name
        );
    }
}

#[test]
fn batches_of_every_codec_are_read_as_kafka_wrote_them() {
    for case in cases() {
        for codec in Codec::ALL {
            let bytes = golden(&format!("{}.{codec}", case.name));
            let info = validate_for_append(&bytes).unwrap();
            assert_eq!(
                (info.codec, info.records as usize),
                (codec, case.records.len())
            );
            let scratch = &mut Vec::new();
            validate_records_for_append(&bytes, &mut Decompressor::new(), scratch, LIMIT).unwrap();
            let batch = Batch::parse(&bytes).unwrap();
            assert!(contents(&batch) == case.records, "{} {codec}", case.name);
        }
    }
}

#[test]
fn headers_differ_from_kafkas_only_where_compressed_bytes_do() {
    for case in cases() {
        for codec in Codec::ALL {
            let theirs = Batch::parse(&golden(&format!("{}.{codec}", case.name)))
                .unwrap()
                .header;
            let ours = Batch::parse(&case.encode(codec)).unwrap().header;
            let BatchHeader {
                batch_length, crc, ..
            } = theirs;
            assert_eq!(
                BatchHeader {
                    batch_length,
                    crc,
                    ..ours
                },
                theirs,
                "{} {codec}",
                case.name
            );
        }
    }
}

#[test]
fn compressed_sizes_are_near_kafkas() {
    // Levels mean the same effort: no codec is more than a tenth larger than the Java side's.
    for name in ["many", "large"] {
        for codec in Codec::ALL {
            let theirs = golden(&format!("{name}.{codec}")).len();
            let case = cases().into_iter().find(|case| case.name == name).unwrap();
            let ours = case.encode(codec).len();
            assert!(
                ours * 10 <= theirs * 11,
                "{name} {codec}: {ours} and {theirs} bytes"
            );
        }
    }
}

#[test]
fn what_only_brokers_write_is_read() {
    let bytes = golden("broker_log_append_time.none");
    let batch = Batch::parse(&bytes).unwrap();
    batch.validate_crc().unwrap();
    assert_eq!(
        batch.header.attributes.timestamp_type(),
        TimestampType::LogAppendTime
    );
    assert!(
        contents(&batch)
            .iter()
            .all(|record| record.timestamp_ms == BASE_MS + 12_345)
    );

    let bytes = golden("broker_commit_marker.none");
    let batch = batches(&bytes).next().unwrap().unwrap();
    batch.validate_crc().unwrap();
    let header = batch.header;
    assert!(header.attributes.is_control() && header.attributes.is_transactional());
    assert_eq!(
        (header.base_offset, header.leader_epoch, header.producer_id),
        (77, 5, 4_000)
    );
    // Version 0 and type 1, commit; version 0 and the coordinator's epoch 8.
    let record = &contents(&batch)[0];
    assert_eq!(record.key.as_deref(), Some(&[0, 0, 0, 1][..]));
    assert_eq!(record.value.as_deref(), Some(&[0, 0, 0, 0, 0, 8][..]));
    assert!(validate_for_append(&bytes).is_err());
}
