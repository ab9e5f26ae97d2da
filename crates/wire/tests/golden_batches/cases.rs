//! The batches that both Kafka's classes and ours write; `xtask/java/GoldenBatches.java` has the
//! same rules.

use kgauge_wire::compress::{Codec, Compressor};
use kgauge_wire::record_batch::{BatchEncoder, ProducerState};

/// Milliseconds since 1970 that the records' times are near.
pub(crate) const BASE_MS: i64 = 1_700_000_000_000;

/// What a record of a case holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) timestamp_ms: i64,
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) value: Option<Vec<u8>>,
    pub(crate) headers: Vec<(String, Option<Vec<u8>>)>,
}

/// A batch with a name.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) producer: ProducerState,
    pub(crate) records: Vec<Content>,
}

impl Case {
    fn plain(name: &'static str, records: Vec<Content>) -> Self {
        Self {
            name,
            producer: ProducerState::NONE,
            records,
        }
    }

    /// The case's batch by our encoder.
    pub(crate) fn encode(&self, codec: Codec) -> Vec<u8> {
        let mut encoder = BatchEncoder::default();
        encoder.start(self.records[0].timestamp_ms);
        for record in &self.records {
            let headers: Vec<_> = record
                .headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_deref()))
                .collect();
            let (key, value) = (record.key.as_deref(), record.value.as_deref());
            encoder.append(record.timestamp_ms, key, value, &headers);
        }
        let mut compressor = Compressor::new(codec, None).expect("the default level is there");
        encoder
            .finish_compressed(&self.producer, &mut compressor)
            .expect("the cases are small")
            .to_vec()
    }
}

/// All cases.
pub(crate) fn cases() -> Vec<Case> {
    let one = content(0, None, Some(b"hello".to_vec()));
    let large = content(0, Some(filler(1, 10)), Some(filler(2, 70_000)));
    let three = || many().into_iter().take(3).collect();
    let idempotent = ProducerState {
        id: 4_000,
        epoch: 3,
        base_sequence: i32::MAX - 1,
        transactional: false,
    };
    let transactional = ProducerState {
        id: i64::MAX,
        epoch: i16::MAX,
        base_sequence: 0,
        transactional: true,
    };
    vec![
        Case::plain("one", vec![one]),
        Case::plain("nulls", nulls()),
        Case::plain("many", many()),
        Case::plain("large", vec![large]),
        Case::plain("far_times", far_times()),
        Case {
            name: "idempotent",
            producer: idempotent,
            records: three(),
        },
        Case {
            name: "transactional",
            producer: transactional,
            records: three(),
        },
    ]
}

fn content(time_ms: i64, key: Option<Vec<u8>>, value: Option<Vec<u8>>) -> Content {
    Content {
        timestamp_ms: BASE_MS + time_ms,
        key,
        value,
        headers: Vec::new(),
    }
}

fn nulls() -> Vec<Content> {
    let headers = vec![
        (String::new(), Some(Vec::new())),
        ("name".to_owned(), None),
        ("grüße".to_owned(), Some("grüße".as_bytes().to_vec())),
        ("name".to_owned(), Some(filler(9, 100))),
    ];
    vec![
        content(0, None, None),
        content(0, Some(Vec::new()), Some(Vec::new())),
        content(1, Some(b"key".to_vec()), None),
        Content {
            headers,
            ..content(1, None, Some(b"value".to_vec()))
        },
    ]
}

fn many() -> Vec<Content> {
    (0..300_u32)
        .map(|n| {
            let key = (n % 3 != 0).then(|| filler(n, n % 9));
            let header_count = if n % 10 == 7 { n % 4 } else { 0 };
            let headers = (0..header_count)
                .map(|h| (format!("header-{h}"), Some(filler(n + h, h * 5))))
                .collect();
            let time_ms = i64::from(n * n % 500) - if n % 7 == 3 { 100 } else { 0 };
            Content {
                headers,
                ..content(time_ms, key, Some(filler(n, n % 100)))
            }
        })
        .collect()
}

fn far_times() -> Vec<Content> {
    (0..62)
        .step_by(3)
        .flat_map(|bits| {
            [
                content(1 << bits, None, Some(b"later".to_vec())),
                content(-(1 << (bits % 40)), None, Some(b"earlier".to_vec())),
            ]
        })
        .collect()
}

/// Bytes that compress to something like a half: every fourth is noise.
fn filler(seed: u32, length: u32) -> Vec<u8> {
    let mut noise = seed;
    (0..length)
        .map(|index| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if index % 4 == 3 {
                (noise >> 24) as u8
            } else {
                b'a' + (index % 16) as u8
            }
        })
        .collect()
}
