//! Message sets against those of Kafka's own classes (0.8.2.2 and 0.10.1.0, `cargo xtask
//! golden-messages`): our bytes are equal where nothing is compressed, and everything of theirs is read.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::path::Path;

use kgauge_wire::compress::{Codec, Compressor, Decompressor};
use kgauge_wire::message_set::{Format, MessageError, MessageSetEncoder, messages, tally};
use kgauge_wire::record_batch::{BatchEncoder, BatchTally, ProducerState, TallyDepth};

#[path = "golden_messages/cases.rs"]
mod cases;

use cases::{BASE_MS, CODECS, COUNT, FORMATS, encode, key, value};

const LIMIT: usize = 1 << 20;

fn golden(format: Format, codec: Codec) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden_messages");
    let name = format!("m{}.{}.bin", format.magic(), codec.name());
    std::fs::read(folder.join(name)).unwrap()
}

fn counted(bytes: &[u8], from: i64, depth: TallyDepth) -> Result<BatchTally, MessageError> {
    let buffers = (&mut Decompressor::new(), &mut Vec::new());
    tally(bytes, from, depth, buffers, LIMIT, |_, _| ())
}

/// The sum over all cases, worked out from the cases themselves.
fn payload_bytes(from: u32) -> (u64, u64) {
    let of = |bytes: Option<Vec<u8>>| bytes.map_or(0, |bytes| bytes.len() as u64);
    (from..COUNT).fold((0, 0), |(keys, values), i| {
        (keys + of(key(i)), values + of(value(i)))
    })
}

#[test]
fn uncompressed_sets_are_equal_to_kafkas() {
    for format in FORMATS {
        assert!(
            encode(format, Codec::None) == golden(format, Codec::None),
            "{format:?}"
        );
    }
}

#[test]
fn everything_of_kafkas_is_read_with_its_offsets() {
    for format in FORMATS {
        for codec in CODECS {
            let bytes = golden(format, codec);
            for from in [0, 37, COUNT - 1] {
                let found = counted(&bytes, i64::from(from), TallyDepth::Records).unwrap();
                let (key_bytes, value_bytes) = payload_bytes(from);
                let name = format!("{format:?} {codec} from {from}");
                assert_eq!(found.records, u64::from(COUNT - from), "{name}");
                assert_eq!(found.key_bytes, key_bytes, "{name}");
                assert_eq!(found.value_bytes, value_bytes, "{name}");
                assert_eq!(found.next_offset, Some(i64::from(COUNT)), "{name}");
                let outline = counted(&bytes, i64::from(from), TallyDepth::Headers).unwrap();
                assert_eq!(outline.records, found.records, "{name}");
                assert_eq!(outline.next_offset, found.next_offset, "{name}");
            }
        }
    }
}

#[test]
fn timestamps_are_those_of_the_cases_where_there_are_any() {
    let bytes = golden(Format::V1, Codec::None);
    let times: Vec<i64> = messages(&bytes)
        .map(|entry| entry.unwrap().timestamp_ms)
        .collect();
    assert_eq!(times.first(), Some(&BASE_MS));
    assert_eq!(times.last(), Some(&(BASE_MS + i64::from(COUNT) - 1)));
    let bytes = golden(Format::V0, Codec::None);
    assert!(messages(&bytes).all(|entry| entry.unwrap().timestamp_ms == -1));
}

#[test]
fn what_we_compress_we_read_and_a_broken_crc_is_seen() {
    for format in FORMATS {
        for codec in CODECS {
            let mut bytes = encode(format, codec);
            let found = counted(&bytes, 0, TallyDepth::Records).unwrap();
            assert_eq!(found.records, u64::from(COUNT), "{format:?} {codec}");
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            let error = counted(&bytes, 0, TallyDepth::Crc).unwrap_err();
            assert!(
                matches!(error, MessageError::Crc { .. }),
                "{format:?} {codec}: {error}"
            );
        }
    }
}

#[test]
fn a_set_may_be_cut_anywhere_and_record_batches_may_follow() {
    let mut encoder = MessageSetEncoder::new(Format::V1, 100);
    encoder.start(BASE_MS);
    encoder.append(BASE_MS, None, Some(b"one"));
    encoder.append(BASE_MS, None, Some(b"two"));
    let set = encoder.finish().to_vec();
    let one = Format::V1.overhead_bytes() + 3;
    for end in 0..set.len() {
        let found = counted(&set[..end], 0, TallyDepth::Records).unwrap();
        assert_eq!(found.records, u64::from(end >= one), "cut at {end}");
        assert_eq!(found.next_offset, (end >= one).then_some(1), "cut at {end}");
    }
    let mut batch = BatchEncoder::default();
    batch.start(BASE_MS);
    batch.append(BASE_MS, None, Some(b"three"), &[]);
    let mut mixed = set;
    let mut bytes = batch.finish(&ProducerState::NONE).to_vec();
    bytes[..8].copy_from_slice(&2_i64.to_be_bytes());
    mixed.extend(bytes);
    let found = counted(&mixed, 1, TallyDepth::Records).unwrap();
    assert_eq!(
        (found.records, found.value_bytes, found.next_offset),
        (2, 8, Some(3))
    );
}

#[test]
fn hostile_bytes_give_errors_and_no_panics() {
    for format in FORMATS {
        for codec in CODECS {
            let good = golden(format, codec);
            let good = &good[..good.len().min(600)];
            for at in 0..good.len().min(200) {
                for mask in [0x01, 0x80, 0xff] {
                    let mut bytes = good.to_vec();
                    bytes[at] ^= mask;
                    for depth in [TallyDepth::Headers, TallyDepth::Crc, TallyDepth::Records] {
                        // Whatever comes out, it came without a panic and within the limit.
                        let _ = counted(&bytes, 0, depth);
                    }
                }
            }
        }
    }
    let mut huge = golden(Format::V0, Codec::None);
    huge[8..12].copy_from_slice(&i32::MAX.to_be_bytes());
    assert_eq!(
        counted(&huge, 0, TallyDepth::Records).unwrap().records,
        0,
        "it is cut off"
    );
    huge[8..12].copy_from_slice(&(-1_i32).to_be_bytes());
    assert!(matches!(
        counted(&huge, 0, TallyDepth::Records),
        Err(MessageError::TooSmall { size: -1 })
    ));
}

#[test]
fn the_lz4_header_of_format_0_has_the_checksum_that_old_brokers_want() {
    let (ours, theirs) = (
        encode(Format::V0, Codec::Lz4),
        golden(Format::V0, Codec::Lz4),
    );
    let frame = |bytes: &[u8]| {
        let entry = messages(bytes).next().unwrap().unwrap();
        entry.message().unwrap().value.unwrap()[..7].to_vec()
    };
    assert_eq!(
        frame(&ours),
        frame(&theirs),
        "magic number, flags, block size, checksum"
    );
    let mut compressor = Compressor::new(Codec::Lz4, None).unwrap();
    let right = compressor.compress(b"x").unwrap()[6];
    assert_ne!(frame(&ours)[6], right, "KAFKA-3160");
}
