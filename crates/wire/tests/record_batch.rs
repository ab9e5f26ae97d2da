//! Record batches by known answers: what is written, what is read, what a broker changes and
//! refuses.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use kgauge_wire::compress::{Codec, Compressor, Decompressor};
use kgauge_wire::record_batch::{
    Batch, BatchEncoder, BatchError, BatchRejection, HEADER_BYTES, ProducerState, TallyDepth,
    TimestampType, batches, crc32c, record_bytes, record_bytes_upper_bound, rewrite_for_log,
    rewrite_for_log_append_time, rewrite_producer, tally, validate_for_append,
    validate_records_for_append,
};

const BASE_MS: i64 = 1_700_000_000_000;
const LIMIT: usize = 1 << 20;

fn idempotent(base_sequence: i32) -> ProducerState {
    ProducerState {
        id: 4_000,
        epoch: 3,
        base_sequence,
        transactional: false,
    }
}

/// Three records: plain, with key and headers, and a tombstone.
fn three_records(producer: &ProducerState) -> Vec<u8> {
    let mut encoder = BatchEncoder::default();
    encoder.start(BASE_MS);
    encoder.append(BASE_MS, None, Some(b"one"), &[]);
    encoder.append(
        BASE_MS + 70,
        Some(b"k"),
        Some(b""),
        &[("h", Some(b"v")), ("null", None)],
    );
    encoder.append(BASE_MS - 1, Some(b"gone"), None, &[]);
    encoder.finish(producer).to_vec()
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// Sets bytes and mends the CRC, so that only the checks behind it can find the lie.
fn patched(mut batch: Vec<u8>, at: usize, bytes: &[u8]) -> Vec<u8> {
    batch[at..at + bytes.len()].copy_from_slice(bytes);
    let crc = crc32c(&batch[21..]);
    batch[17..21].copy_from_slice(&crc.to_be_bytes());
    batch
}

#[test]
fn the_crc_is_castagnoli() {
    assert_eq!(crc32c(b"123456789"), 0xe306_9283);
}

#[test]
fn a_batch_has_known_bytes() {
    let expected = hex("0000000000000000 00000059 ffffffff 02 0000 00000002
         0000018bcfe56800 0000018bcfe56846 0000000000000fa0 0003 00000007 00000003
         12 00 00 00 01 06 6f6e65 00
         24 00 8c01 02 02 6b 00 04 02 68 02 76 08 6e756c6c 01
         14 00 01 04 08 676f6e65 01 00");
    let written = three_records(&idempotent(7));
    assert_eq!(written[..17], expected[..17]);
    assert_eq!(written[21..], expected[17..]);
    assert_eq!(written[17..21], crc32c(&written[21..]).to_be_bytes());
}

#[test]
fn what_was_written_is_read() {
    let written = three_records(&ProducerState::NONE);
    let batch = Batch::parse(&written).unwrap();
    batch.validate_crc().unwrap();
    assert_eq!(batch.header.records(), 3);
    assert_eq!(batch.header.max_timestamp_ms, BASE_MS + 70);
    let mut scratch = Vec::new();
    let records: Vec<_> = batch
        .records(&mut Decompressor::new(), &mut scratch, LIMIT)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(
        records
            .iter()
            .map(|record| record.offset)
            .collect::<Vec<_>>(),
        [0, 1, 2]
    );
    assert_eq!(
        records
            .iter()
            .map(|record| record.timestamp_ms - BASE_MS)
            .collect::<Vec<_>>(),
        [0, 70, -1]
    );
    assert_eq!(
        (records[0].key, records[0].value),
        (None, Some(&b"one"[..]))
    );
    assert_eq!(
        (records[1].key, records[1].value),
        (Some(&b"k"[..]), Some(&b""[..]))
    );
    assert_eq!(
        (records[2].key, records[2].value),
        (Some(&b"gone"[..]), None)
    );
    let headers: Vec<_> = records[1]
        .headers()
        .map(|header| (header.key, header.value))
        .collect();
    assert_eq!(
        headers,
        [(&b"h"[..], Some(&b"v"[..])), (&b"null"[..], None)]
    );
}

#[test]
fn both_ways_to_append_write_the_same_bytes() {
    let (mut plain, mut fast) = (BatchEncoder::default(), BatchEncoder::with_capacity(100));
    // The second start shows that nothing of the first batch remains.
    for base in [0, BASE_MS] {
        plain.start(base);
        fast.start(base);
        for index in 0..20_000_i64 {
            let delta = (index * index * 7) >> (index % 30);
            let value = vec![index as u8; (index % 150) as usize];
            plain.append(base + delta, None, Some(&value), &[]);
            fast.append_value_only(delta, value.len(), |to| to.copy_from_slice(&value));
        }
        assert_eq!(
            plain.finish(&ProducerState::NONE),
            fast.finish(&ProducerState::NONE)
        );
    }
}

#[test]
fn keyed_records_are_appended_together_as_one_by_one() {
    let (mut plain, mut fast) = (BatchEncoder::default(), BatchEncoder::default());
    // Timestamp deltas of one to five bytes: from three on the head takes more than a word.
    for delta in [0, 63, 64, 8_191, 8_192, 1 << 20, 1 << 33] {
        for (key_bytes, value_bytes) in [(0, 0), (1, 61), (8, 100), (16, 8_200), (16, 1)] {
            let key = |at: u32| [at as u8; 16];
            let value = |at: u32| vec![!at as u8; value_bytes];
            plain.start(BASE_MS);
            fast.start(BASE_MS);
            // Offset deltas of one, two and three bytes, runs that end at any of them.
            let mut from = 0;
            for end in [1, 63, 64, 65, 200, 8_191, 8_192, 8_200] {
                for at in from..end {
                    let key = key(at);
                    plain.append(
                        BASE_MS + delta,
                        Some(&key[..key_bytes]),
                        Some(&value(at)),
                        &[],
                    );
                }
                let sizes = (key_bytes, value_bytes);
                fast.append_keyed(BASE_MS + delta, sizes, from..end, key, |at, to| {
                    to.copy_from_slice(&value(at));
                });
                from = end;
            }
            assert_eq!(
                plain.finish(&ProducerState::NONE),
                fast.finish(&ProducerState::NONE),
                "{delta} ms, {key_bytes} and {value_bytes} bytes"
            );
        }
    }
}

#[test]
fn the_size_of_the_next_record_is_exact() {
    let mut encoder = BatchEncoder::default();
    encoder.start(BASE_MS);
    let headers: [(&str, Option<&[u8]>); 2] = [("name", Some(b"value")), ("none", None)];
    for (index, length) in [0, 1, 62, 63, 64, 8_191, 8_192, 100_000]
        .into_iter()
        .enumerate()
    {
        let value = vec![1; length];
        let timestamp_ms = BASE_MS + (1 << (5 * index));
        let predicted =
            encoder.next_record_bytes(timestamp_ms, Some(length), Some(length), &headers);
        let before = encoder.batch_bytes();
        assert!(encoder.has_room_for(predicted, before + predicted));
        assert_eq!(
            encoder.has_room_for(predicted, before + predicted - 1),
            index == 0
        );
        encoder.append(timestamp_ms, Some(&value), Some(&value), &headers);
        assert_eq!(encoder.batch_bytes() - before, predicted);
    }
    assert_eq!(record_bytes(0, 0, None, None, &[]), 7);
    // 21 for what depends on the place in the batch, 1 for no key, 2 and 100 for the value, 1 for
    // no headers.
    assert_eq!(record_bytes_upper_bound(None, Some(100), &[]), 125);
}

#[test]
fn consecutive_batches_are_walked_up_to_the_incomplete_one() {
    let one = three_records(&ProducerState::NONE);
    let mut log = Vec::new();
    for base_offset in [10, 13, 16] {
        log.extend_from_slice(&one);
        let start = log.len() - one.len();
        rewrite_for_log(&mut log[start..], base_offset, 5).unwrap();
    }
    for cut in 0..=log.len() {
        let mut walk = batches(&log[..cut]);
        let offsets: Vec<i64> = walk
            .by_ref()
            .map(|batch| batch.unwrap().header.base_offset)
            .collect();
        assert_eq!(offsets, [10, 13, 16][..cut / one.len()]);
        assert_eq!(walk.bytes_read(), cut / one.len() * one.len());
        assert_eq!(walk.rest().len(), cut % one.len());
    }
}

#[test]
fn old_message_formats_are_named() {
    for magic in [0_i8, 1, 3, -1] {
        let mut batch = three_records(&ProducerState::NONE);
        batch[16] = magic as u8;
        let mut walk = batches(&batch);
        assert_eq!(
            walk.next().unwrap().unwrap_err(),
            BatchError::UnsupportedMagic { magic }
        );
        assert!(walk.next().is_none(), "the walk ends after an error");
    }
}

#[test]
fn lying_lengths_and_counts_are_errors() {
    let good = three_records(&ProducerState::NONE);
    let with = |at, bytes: &[u8]| patched(good.clone(), at, bytes);
    let error = |batch: &[u8]| batches(batch).next().unwrap().unwrap_err();
    assert_eq!(
        error(&with(8, &[0, 0, 0, 48])),
        BatchError::LengthTooSmall { batch_length: 48 }
    );
    assert_eq!(
        error(&with(8, &[0xff; 4])),
        BatchError::LengthTooSmall { batch_length: -1 }
    );
    assert_eq!(
        error(&with(57, &[0xff; 4])),
        BatchError::CountNegative { record_count: -1 }
    );
    assert!(
        batches(&with(8, &[0x7f, 0xff, 0xff, 0xff]))
            .next()
            .is_none()
    );

    let records = |batch: &[u8]| {
        let batch = Batch::parse(batch).unwrap();
        let mut scratch = Vec::new();
        batch
            .records(&mut Decompressor::new(), &mut scratch, LIMIT)
            .and_then(|mut records| records.try_for_each(|record| record.map(drop)))
    };
    assert_eq!(records(&good), Ok(()));
    let count = |count: i32| with(57, &count.to_be_bytes());
    assert_eq!(
        records(&count(2)),
        Err(BatchError::TrailingBytes { bytes: 11 })
    );
    assert!(matches!(
        records(&count(4)),
        Err(BatchError::Record { index: 3, .. })
    ));
    let bytes = good.len() - HEADER_BYTES;
    let impossible = BatchError::CountImpossible {
        record_count: i32::MAX,
        bytes,
    };
    assert_eq!(records(&count(i32::MAX)), Err(impossible));
}

#[test]
fn an_untouched_batch_may_be_appended() {
    let batch = three_records(&idempotent(0));
    let info = validate_for_append(&batch).unwrap();
    assert_eq!(
        (info.records, info.batch_bytes, info.codec),
        (3, batch.len(), Codec::None)
    );
    validate_records_for_append(&batch, &mut Decompressor::new(), &mut Vec::new(), LIMIT).unwrap();
}

#[test]
fn what_a_broker_must_not_append_has_kafkas_error() {
    let plain = three_records(&ProducerState::NONE);
    let idempotent = three_records(&idempotent(0));
    let refused = |batch: &[u8]| {
        let error = validate_for_append(batch).unwrap_err();
        (error.name(), error.code())
    };
    let with = |at, bytes: &[u8]| patched(plain.clone(), at, bytes);

    let mut flipped = plain.clone();
    flipped[HEADER_BYTES + 5] ^= 1;
    assert_eq!(refused(&flipped), ("CORRUPT_MESSAGE", 2));
    assert_eq!(refused(&plain[..plain.len() - 1]), ("CORRUPT_MESSAGE", 2));
    assert_eq!(refused(&[]), ("CORRUPT_MESSAGE", 2));
    assert_eq!(
        refused(&with(16, &[1])),
        ("UNSUPPORTED_FOR_MESSAGE_FORMAT", 43)
    );
    assert_eq!(
        refused(&[&plain[..], &plain[..]].concat()),
        ("INVALID_RECORD", 87)
    );
    assert_eq!(
        refused(&with(21, &[0, 5])),
        ("UNSUPPORTED_COMPRESSION_TYPE", 76)
    );
    assert_eq!(refused(&with(21, &[0, 1 << 5])), ("INVALID_RECORD", 87));
    assert_eq!(refused(&with(21, &[0, 1 << 3])), ("INVALID_TIMESTAMP", 32));
    assert_eq!(refused(&with(21, &[0, 1 << 4])), ("INVALID_RECORD", 87));
    assert_eq!(
        refused(&with(0, &7_i64.to_be_bytes())),
        ("INVALID_RECORD", 87)
    );
    assert_eq!(
        refused(&with(23, &3_i32.to_be_bytes())),
        ("INVALID_RECORD", 87)
    );
    assert_eq!(
        refused(&with(57, &0_i32.to_be_bytes())),
        ("INVALID_RECORD", 87)
    );
    assert_eq!(
        refused(&with(57, &(-1_i32).to_be_bytes())),
        ("INVALID_RECORD", 87)
    );
    let no_sequence = patched(idempotent, 53, &(-1_i32).to_be_bytes());
    assert!(matches!(
        validate_for_append(&no_sequence),
        Err(BatchRejection::ProducerState {
            producer_id: 4_000,
            base_sequence: -1,
            ..
        })
    ));
}

#[test]
fn a_log_sets_offset_and_epoch_without_touching_the_crc() {
    let original = three_records(&idempotent(0));
    let mut batch = original.clone();
    rewrite_for_log(&mut batch, 1 << 40, 12).unwrap();
    let read = Batch::parse(&batch).unwrap();
    read.validate_crc().unwrap();
    assert_eq!(
        (read.header.base_offset, read.header.leader_epoch),
        (1 << 40, 12)
    );
    assert_eq!(
        (read.header.last_offset(), read.header.next_offset()),
        ((1 << 40) + 2, (1 << 40) + 3)
    );
    assert_eq!(batch[16..], original[16..]);
}

#[test]
fn log_append_time_stands_for_the_time_of_every_record() {
    let mut batch = three_records(&ProducerState::NONE);
    rewrite_for_log_append_time(&mut batch, 100, 1, BASE_MS + 9_999).unwrap();
    let read = Batch::parse(&batch).unwrap();
    read.validate_crc().unwrap();
    assert_eq!(
        read.header.attributes.timestamp_type(),
        TimestampType::LogAppendTime
    );
    let mut scratch = Vec::new();
    for record in read
        .records(&mut Decompressor::new(), &mut scratch, LIMIT)
        .unwrap()
    {
        assert_eq!(record.unwrap().timestamp_ms, BASE_MS + 9_999);
    }
}

#[test]
fn a_batch_sent_again_under_a_new_epoch_is_as_if_written_so() {
    let mut batch = three_records(&idempotent(0));
    let transactional = ProducerState {
        id: 9,
        epoch: 4,
        base_sequence: i32::MAX - 1,
        transactional: true,
    };
    rewrite_producer(&mut batch, &transactional).unwrap();
    assert_eq!(batch, three_records(&transactional));
    // Sequence numbers go on at 0 after the largest.
    assert_eq!(Batch::parse(&batch).unwrap().header.last_sequence(), 0);
}

#[test]
fn a_tally_counts_from_the_offset_that_was_asked_for() {
    let mut log = three_records(&ProducerState::NONE);
    rewrite_for_log(&mut log, 10, 0).unwrap();
    let mut second = three_records(&ProducerState::NONE);
    rewrite_for_log(&mut second, 13, 0).unwrap();
    log.extend_from_slice(&second);
    let complete = log.len() as u64;
    log.extend_from_slice(&second[..50]);
    let all = [
        TallyDepth::Headers,
        TallyDepth::Crc,
        TallyDepth::Records,
        TallyDepth::RecordsUnchecked,
    ];
    for depth in all {
        let buffers = (&mut Decompressor::new(), &mut Vec::new());
        let sum = tally(&log, 11, depth, buffers, LIMIT, |_, _| ()).unwrap();
        assert_eq!((sum.batches, sum.records), (2, 5));
        assert_eq!((sum.batch_bytes, sum.incomplete_bytes), (complete, 50));
        assert_eq!(sum.next_offset, Some(16));
        let payload = match depth {
            TallyDepth::Records | TallyDepth::RecordsUnchecked => (10, 3),
            TallyDepth::Headers | TallyDepth::Crc => (0, 0),
        };
        assert_eq!((sum.key_bytes, sum.value_bytes), payload);
    }
    log[HEADER_BYTES + 3] ^= 1;
    let buffers = (&mut Decompressor::new(), &mut Vec::new());
    let checked = tally(&log, 11, TallyDepth::Crc, buffers, LIMIT, |_, _| ());
    assert!(matches!(checked, Err(BatchError::Crc { .. })));
}

#[test]
fn without_a_codec_finishing_compressed_changes_nothing() {
    let mut encoder = BatchEncoder::default();
    encoder.start(BASE_MS);
    encoder.append(BASE_MS, None, Some(b"value"), &[]);
    let plain = encoder.finish(&ProducerState::NONE).to_vec();
    let mut compressor = Compressor::new(Codec::None, None).unwrap();
    assert_eq!(
        encoder
            .finish_compressed(&ProducerState::NONE, &mut compressor)
            .unwrap(),
        plain
    );
}

/// One batch of each codec, written and read over what was used before.
fn write_and_read(
    encoder: &mut BatchEncoder,
    compressor: &mut Compressor,
    decompressor: &mut Decompressor,
    scratch: &mut Vec<u8>,
) {
    encoder.start(BASE_MS);
    for index in 0..500 {
        let headers: [(&str, Option<&[u8]>); 1] = [("header", Some(b"value"))];
        encoder.append_value_only(index / 7, 100, |to| to.fill(index as u8));
        encoder.append(BASE_MS + index, Some(&[1; 40]), Some(&[2; 90]), &headers);
    }
    let bytes = encoder
        .finish_compressed(&ProducerState::NONE, compressor)
        .unwrap();
    validate_for_append(bytes).unwrap();
    let (depth, buffers) = (TallyDepth::Records, (decompressor, scratch));
    let sum = tally(bytes, 0, depth, buffers, LIMIT, |_, _| ()).unwrap();
    assert_eq!(sum.records, 1_000);
}

#[test]
fn nothing_is_allocated_once_the_buffers_have_their_size() {
    for codec in Codec::ALL {
        let mut encoder = BatchEncoder::default();
        let mut compressor = Compressor::new(codec, None).unwrap();
        let (mut decompressor, mut scratch) = (Decompressor::new(), Vec::new());
        let mut once = || {
            write_and_read(
                &mut encoder,
                &mut compressor,
                &mut decompressor,
                &mut scratch,
            )
        };
        once();
        let allocations = allocation_counter::measure(once).count_total;
        assert_eq!(allocations, 0, "{codec}");
    }
}
