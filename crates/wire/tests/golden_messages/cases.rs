//! The messages of `xtask/java/GoldenMessages.java`.

use kgauge_wire::compress::{Codec, Compressor};
use kgauge_wire::message_set::{Format, MessageSetEncoder};

pub(crate) const COUNT: u32 = 100;
pub(crate) const BASE_MS: i64 = 1_700_000_000_000;
pub(crate) const FORMATS: [Format; 2] = [Format::V0, Format::V1];
pub(crate) const CODECS: [Codec; 4] = [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4];

pub(crate) fn key(i: u32) -> Option<Vec<u8>> {
    (!i.is_multiple_of(3)).then(|| format!("key-{i}").into_bytes())
}

pub(crate) fn value(i: u32) -> Option<Vec<u8>> {
    (i % 10 != 9).then(|| format!("value-{i}-{}", "x".repeat(20)).into_bytes())
}

/// All messages as one set.
pub(crate) fn encode(format: Format, codec: Codec) -> Vec<u8> {
    let mut encoder = MessageSetEncoder::new(format, 1 << 14);
    encoder.start(BASE_MS);
    for i in 0..COUNT {
        let (key, value) = (key(i), value(i));
        encoder.append(BASE_MS + i64::from(i), key.as_deref(), value.as_deref());
    }
    let mut compressor = Compressor::new(codec, None).unwrap();
    encoder.finish_compressed(&mut compressor).unwrap().to_vec()
}
