//! Bytes from outside: whatever is cut, flipped or made up gives an error or the same content,
//! never a panic and never more memory than allowed.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use kgauge_wire::compress::{Codec, Compressor, Decompressor};
use kgauge_wire::record_batch::{
    BatchEncoder, BatchError, BatchHeader, HEADER_BYTES, ProducerState, TallyDepth, batches,
    crc32c, tally, validate_for_append, validate_records_for_append,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

const BASE_MS: i64 = 1_700_000_000_000;
const LIMIT: usize = 1 << 16;

type Header = (String, Option<Vec<u8>>);
type Content = (i64, Option<Vec<u8>>, Option<Vec<u8>>, Vec<Header>);

fn encode(records: &[Content], codec: Codec) -> Vec<u8> {
    let mut encoder = BatchEncoder::default();
    encoder.start(BASE_MS);
    for (timestamp_ms, key, value, headers) in records {
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_deref()))
            .collect();
        let bytes = encoder.next_record_bytes(
            *timestamp_ms,
            key.as_ref().map(Vec::len),
            value.as_ref().map(Vec::len),
            &headers,
        );
        let before = encoder.batch_bytes();
        encoder.append(*timestamp_ms, key.as_deref(), value.as_deref(), &headers);
        assert_eq!(encoder.batch_bytes(), before + bytes);
    }
    let mut compressor = Compressor::new(codec, None).unwrap();
    encoder
        .finish_compressed(&ProducerState::NONE, &mut compressor)
        .unwrap()
        .to_vec()
}

/// Everything that a consumer would do with the bytes of a fetch; the records of all its batches.
fn read(bytes: &[u8]) -> Result<Vec<Content>, BatchError> {
    let mut decompressor = Decompressor::new();
    let mut scratch = Vec::new();
    let mut contents = Vec::new();
    for batch in batches(bytes) {
        let batch = batch?;
        batch.validate_crc()?;
        for record in batch.records(&mut decompressor, &mut scratch, LIMIT)? {
            let record = record?;
            let headers = record.headers().map(|header| {
                let name = String::from_utf8_lossy(header.key).into_owned();
                (name, header.value.map(<[u8]>::to_vec))
            });
            contents.push((
                record.timestamp_ms,
                record.key.map(<[u8]>::to_vec),
                record.value.map(<[u8]>::to_vec),
                headers.collect(),
            ));
        }
    }
    for depth in [TallyDepth::Headers, TallyDepth::Crc, TallyDepth::Records] {
        let buffers = (&mut decompressor, &mut scratch);
        let sum = tally(bytes, 0, depth, buffers, LIMIT, |_, _| ())?;
        assert!(sum.batch_bytes + sum.incomplete_bytes == bytes.len() as u64);
    }
    Ok(contents)
}

/// As [`read`], past the CRC: for a CRC that was computed over nonsense.
fn read_with_mended_crc(mut bytes: Vec<u8>) -> Result<Vec<Content>, BatchError> {
    if bytes.len() > HEADER_BYTES {
        let crc = crc32c(&bytes[21..]);
        bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    }
    if validate_for_append(&bytes).is_ok() {
        let (decompressor, scratch) = (&mut Decompressor::new(), &mut Vec::new());
        let deep = validate_records_for_append(&bytes, decompressor, scratch, LIMIT);
        assert_eq!(
            deep.is_ok(),
            read(&bytes).is_ok(),
            "both ways to read agree"
        );
    }
    read(&bytes)
}

fn small() -> Vec<Content> {
    vec![
        (BASE_MS, None, Some(b"value".to_vec()), vec![]),
        (
            BASE_MS + 500,
            Some(b"key".to_vec()),
            None,
            vec![("h".to_owned(), Some(vec![7; 40]))],
        ),
        (
            BASE_MS - 3,
            Some(vec![]),
            Some(vec![1; 70]),
            vec![("n".to_owned(), None)],
        ),
    ]
}

#[test]
fn a_batch_cut_anywhere_yields_nothing() {
    for codec in Codec::ALL {
        let batch = encode(&small(), codec);
        for cut in 0..batch.len() {
            assert_eq!(read(&batch[..cut]), Ok(vec![]), "{codec} cut at {cut}");
            assert!(validate_for_append(&batch[..cut]).is_err());
        }
    }
}

#[test]
fn a_flipped_bit_is_found_or_changes_nothing() {
    for codec in Codec::ALL {
        let batch = encode(&small(), codec);
        for index in 0..batch.len() {
            for bit in 0..8 {
                let mut flipped = batch.clone();
                flipped[index] ^= 1 << bit;
                // Outside the CRC lie only the offset, the epoch, and a length that then shows as
                // incomplete.
                match read(&flipped) {
                    Ok(contents) if contents.is_empty() => assert!((8..12).contains(&index)),
                    Ok(contents) => {
                        assert_eq!(contents, small());
                        assert!(
                            index < 8 || (12..16).contains(&index),
                            "{codec} byte {index}"
                        );
                    }
                    Err(_) => assert!((8..12).contains(&index) || index >= 16),
                }
                let appended = validate_for_append(&flipped);
                assert_eq!(
                    appended.is_ok(),
                    (12..16).contains(&index),
                    "{codec} byte {index}"
                );
            }
        }
    }
}

#[test]
fn a_flipped_bit_under_a_mended_crc_never_panics() {
    for codec in Codec::ALL {
        let batch = encode(&small(), codec);
        for index in 0..batch.len() {
            for bit in 0..8 {
                let mut flipped = batch.clone();
                flipped[index] ^= 1 << bit;
                let _ = read_with_mended_crc(flipped);
            }
        }
    }
}

#[test]
fn a_section_that_decompresses_beyond_the_limit_is_an_error() {
    let records = [(BASE_MS, None, Some(vec![0; LIMIT]), vec![])];
    for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        let error = read(&encode(&records, codec)).unwrap_err();
        assert!(
            error.to_string().contains("larger than 65536 bytes"),
            "{error}"
        );
    }
}

#[test]
fn a_record_that_lies_names_its_place() {
    let good = encode(&small(), Codec::None);
    let at = |index: usize| HEADER_BYTES + index;
    // The first record is 16 00 00 00 01 0a "value" 00.
    for (position, byte, index, words) in [
        (at(0), 0x7f, 0, "has the length -64"),
        (at(0), 0x14, 0, "ends in the middle"),
        (at(0), 0x18, 0, "is 1 bytes longer"),
        (at(3), 0x02, 1, "offset delta 1, allowed are 2 to 2"),
        (at(3), 0x01, 0, "offset delta -1, allowed are 0 to 2"),
        (at(4), 0x03, 0, "has the length -2"),
        (at(5), 0x7e, 0, "says 63 bytes follow"),
        (at(5), 0x06, 0, "has the length -59"),
        (at(11), 0x02, 0, "ends in the middle"),
    ] {
        let mut lying = good.clone();
        lying[position] = byte;
        let error = read_with_mended_crc(lying).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("record {index} of the batch")),
            "{error}"
        );
        assert!(error.contains(words), "{error}");
    }
}

fn any_header() -> impl Strategy<Value = Header> {
    (".{0,5}", option::of(vec(any::<u8>(), 0..70)))
}

fn any_record() -> impl Strategy<Value = Content> {
    let time = prop_oneof![BASE_MS - 10..BASE_MS + 100_000, any::<i64>()];
    let bytes = || {
        option::of(prop_oneof![
            vec(any::<u8>(), 0..5),
            vec(any::<u8>(), 50..200)
        ])
    };
    (time, bytes(), bytes(), vec(any_header(), 0..4))
}

proptest! {
    #[test]
    fn what_was_written_is_read(records in vec(any_record(), 1..30), codec in 0..5_u8) {
        let batch = encode(&records, Codec::from_id(codec).unwrap());
        prop_assert_eq!(read(&batch).unwrap(), records);
        validate_for_append(&batch).unwrap();
    }

    #[test]
    fn values_written_in_place_are_the_same_bytes(
        records in vec((-2_000..3_000_000_i64, vec(any::<u8>(), 0..300)), 1..100),
    ) {
        let (mut plain, mut fast) = (BatchEncoder::default(), BatchEncoder::default());
        plain.start(BASE_MS);
        fast.start(BASE_MS);
        for (delta, value) in &records {
            plain.append(BASE_MS + delta, None, Some(value), &[]);
            fast.append_value_only(*delta, value.len(), |to| to.copy_from_slice(value));
        }
        prop_assert_eq!(plain.finish(&ProducerState::NONE), fast.finish(&ProducerState::NONE));
    }

    #[test]
    fn a_header_comes_back(bytes in vec(any::<u8>(), HEADER_BYTES..=HEADER_BYTES)) {
        let mut bytes = bytes;
        bytes[16] = 2;
        if let Ok(header) = BatchHeader::parse(&bytes) {
            let mut written = [0; HEADER_BYTES];
            header.write(&mut written);
            prop_assert_eq!(&written[..], bytes);
        }
    }

    #[test]
    fn made_up_records_never_panic(
        section in vec(prop_oneof![0..16_u8, any::<u8>()], 0..200),
        count in 0..10_i32,
        codec in 0..8_i16,
    ) {
        let mut bytes = encode(&small(), Codec::None)[..HEADER_BYTES].to_vec();
        bytes.extend_from_slice(&section);
        bytes[8..12].copy_from_slice(&(49 + section.len() as i32).to_be_bytes());
        bytes[21..23].copy_from_slice(&codec.to_be_bytes());
        bytes[23..27].copy_from_slice(&(count - 1).to_be_bytes());
        bytes[57..61].copy_from_slice(&count.to_be_bytes());
        if let Ok(contents) = read_with_mended_crc(bytes) {
            prop_assert_eq!(contents.len(), count as usize);
        }
    }

    #[test]
    fn made_up_bytes_never_panic(bytes in vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes);
        let _ = validate_for_append(&bytes);
    }
}
