//! What a leader stores of what a producer sent: codecs of topics, and keys on compacted ones.

use kgauge_wire::compress::{Codec, Compressor, Decompressor};
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::fetch::FetchRequest;
use kgauge_wire::record_batch::{BatchEncoder, BatchHeader, ProducerState, batches};

use super::Bench;
use super::fetching::fetch;

const PRODUCER: ProducerState = ProducerState {
    id: 7,
    epoch: 0,
    base_sequence: 0,
    transactional: false,
};

/// A batch of records with these keys, in a codec.
fn batch(keys: &[Option<&[u8]>], codec: Codec, producer: &ProducerState) -> Vec<u8> {
    const TIME_MS: i64 = 1_700_000_000_000;
    let mut encoder = BatchEncoder::default();
    encoder.start(TIME_MS);
    for (age, key) in (0..).zip(keys) {
        encoder.append(TIME_MS + age, *key, Some(&[b'v'; 200]), &[]);
    }
    let mut compressor = Compressor::new(codec, None).unwrap();
    encoder
        .finish_compressed(producer, &mut compressor)
        .unwrap()
        .to_vec()
}

/// Offset, timestamp and key of a record.
type Stored = (i64, i64, Option<Vec<u8>>);

/// The batches of the topic `t`, each with its records. Their CRCs are right.
fn stored(bench: &mut Bench) -> Vec<(BatchHeader, Vec<Stored>)> {
    let connection = bench.connect();
    bench.send_version(connection, 12, &fetch(0, 1, 0));
    let answer = bench
        .answer_version::<FetchRequest<'static>>(connection, 12)
        .unwrap();
    let bytes = answer.responses[0].partitions[0].records.clone().unwrap();
    let checked = |batch: Result<kgauge_wire::record_batch::Batch<'_>, _>| {
        let batch = batch.unwrap();
        batch.validate_crc().unwrap();
        let (mut decompressor, mut scratch) = (Decompressor::new(), Vec::new());
        let records = batch
            .records(&mut decompressor, &mut scratch, 1 << 20)
            .unwrap();
        let records = records.map(|record| {
            let record = record.unwrap();
            (
                record.offset,
                record.timestamp_ms,
                record.key.map(<[u8]>::to_vec),
            )
        });
        (batch.header, records.collect())
    };
    batches(&bytes).map(checked).collect()
}

#[test]
fn a_topic_stores_batches_in_its_own_codec() {
    let codecs = [
        ("uncompressed", Codec::None),
        ("gzip", Codec::Gzip),
        ("snappy", Codec::Snappy),
        ("lz4", Codec::Lz4),
        ("zstd", Codec::Zstd),
    ];
    let keys: [Option<&[u8]>; 3] = [Some(b"a"), None, Some(b"c")];
    for (name, codec) in codecs {
        let mut bench = Bench::new();
        bench.create("t", &[("compression.type", name)]);
        let connection = bench.connect();
        let mut sequence = 0;
        for sent in Codec::ALL {
            let producer = ProducerState {
                base_sequence: sequence,
                ..PRODUCER
            };
            let batch = batch(&keys, sent, &producer);
            for _ in 0..2 {
                // The second one is a repetition.
                let answer = bench.produce(connection, "t", 1, &batch).unwrap();
                let result = (answer.error_code, answer.base_offset);
                assert_eq!(result, (0, i64::from(sequence)), "{name} of {sent}");
            }
            sequence += 3;
        }
        let found = stored(&mut bench);
        assert_eq!(found.len(), Codec::ALL.len());
        for (base, (header, records)) in (0..).step_by(3).zip(found) {
            assert_eq!(header.attributes.codec(), Some(codec));
            assert_eq!((header.producer_id, header.base_sequence), (7, base));
            let expected: Vec<Stored> = (0..)
                .zip(keys)
                .map(|(index, key)| {
                    let offset = i64::from(base) + index;
                    (offset, 1_700_000_000_000 + index, key.map(<[u8]>::to_vec))
                })
                .collect();
            assert_eq!(records, expected, "{name}");
        }
    }
}

#[test]
fn a_topic_that_dates_records_compresses_them_too() {
    let mut bench = Bench::new();
    bench.create(
        "t",
        &[
            ("compression.type", "zstd"),
            ("message.timestamp.type", "LogAppendTime"),
        ],
    );
    let connection = bench.connect();
    let batch = batch(&[None], Codec::Gzip, &ProducerState::NONE);
    let answer = bench.produce(connection, "t", 1, &batch).unwrap();
    assert_eq!(answer.log_append_time_ms, bench.now.wall_ms);
    let found = stored(&mut bench);
    assert_eq!(found[0].0.attributes.codec(), Some(Codec::Zstd));
    assert_eq!(found[0].1, [(0, bench.now.wall_ms, None)]);
}

#[test]
fn what_grows_beyond_the_topics_limit_is_refused() {
    let mut bench = Bench::new();
    bench.create(
        "t",
        &[
            ("compression.type", "uncompressed"),
            ("max.message.bytes", "300"),
        ],
    );
    let connection = bench.connect();
    let keys = [None; 5];
    let small = batch(&keys, Codec::Zstd, &ProducerState::NONE);
    assert!(small.len() < 300);
    let answer = bench.produce(connection, "t", 1, &small).unwrap();
    assert_eq!(
        ErrorCode::from_i16(answer.error_code),
        ErrorCode::MessageTooLarge
    );
    assert_eq!(stored(&mut bench), []);
}

/// Words and places are those of Apache Kafka 4.3.1.
#[test]
fn a_compacted_topic_refuses_records_without_a_key() {
    for policy in ["compact", "compact,delete"] {
        let mut bench = Bench::new();
        bench.create("t", &[("cleanup.policy", policy)]);
        let connection = bench.connect();
        let mixed: [Option<&[u8]>; 4] = [Some(b"a"), None, Some(b""), None];
        for codec in Codec::ALL {
            for producer in [ProducerState::NONE, PRODUCER] {
                let mixed = batch(&mixed, codec, &producer);
                let answer = bench.produce(connection, "t", -1, &mixed).unwrap();
                assert_eq!(
                    ErrorCode::from_i16(answer.error_code),
                    ErrorCode::InvalidRecord
                );
                let places = answer.record_errors.iter().map(|error| error.batch_index);
                assert_eq!(places.collect::<Vec<_>>(), [1, 3]);
                assert_eq!(
                    answer.record_errors[0].batch_index_error_message.as_deref(),
                    Some(
                        "Compacted topic cannot accept message without key in topic partition t-0"
                    )
                );
                let words = answer.error_message.unwrap();
                assert!(
                    words.starts_with("One or more records have been rejected due to 2 record")
                );
            }
        }
        assert_eq!(stored(&mut bench), []);
        let keyed = batch(&[Some(b"a")], Codec::Lz4, &PRODUCER);
        let answer = bench.produce(connection, "t", -1, &keyed).unwrap();
        assert_eq!((answer.error_code, answer.base_offset), (0, 0));
    }
}

#[test]
fn an_answer_names_a_bounded_number_of_records() {
    let mut bench = Bench::new();
    bench.create("t", &[("cleanup.policy", "compact")]);
    let connection = bench.connect();
    let many = batch(&vec![None; 3000], Codec::Zstd, &ProducerState::NONE);
    let answer = bench.produce(connection, "t", 1, &many).unwrap();
    assert_eq!(answer.record_errors.len(), 1000);
    assert!(
        answer
            .error_message
            .unwrap()
            .contains("3000 record errors in total")
    );
}
