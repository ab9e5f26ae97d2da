//! What the fuzz targets of the message decoders and the maker of their first inputs share.
//!
//! Goals: every decoder of every room that reads bytes from outside has a target; a target checks
//! more than "no panic" where more is true. Non-goals: run in `cargo test` (the same promises are
//! tested there on fixed inputs). Where to start: `README.md`.

pub mod run_folder;
pub mod steps;

use std::ops::RangeInclusive;

use kgauge_wire::codec::DecodeError;
use kgauge_wire::for_each_api;
use kgauge_wire::messages::{
    self, ConsumerProtocolAssignment, ConsumerProtocolSubscription, Message,
};

/// How to decode one message.
#[derive(Clone, Copy)]
pub struct Decoder {
    /// Kafka's name of the message.
    pub name: &'static str,
    /// Its first version.
    pub version_min: i16,
    /// Its last version.
    pub version_max: i16,
    /// Reads bytes and writes again what was read, which must succeed.
    pub read_and_write: fn(&[u8], i16) -> Result<Vec<u8>, DecodeError>,
}

impl Decoder {
    const fn new(
        name: &'static str,
        versions: RangeInclusive<i16>,
        read_and_write: fn(&[u8], i16) -> Result<Vec<u8>, DecodeError>,
    ) -> Self {
        let (version_min, version_max) = (*versions.start(), *versions.end());
        Self {
            name,
            version_min,
            version_max,
            read_and_write,
        }
    }

    fn versions(&self) -> u8 {
        (self.version_max - self.version_min + 1) as u8
    }
}

macro_rules! decoder {
    ($message:ident) => {
        Decoder::new($message::NAME, $message::VERSIONS, |bytes, version| {
            let message = $message::decode_exact(bytes, version)?;
            let mut out = Vec::new();
            message
                .encode(&mut out, version)
                .expect("what was read can be written");
            Ok(out)
        })
    };
}

macro_rules! decoders {
    ($($api:ident, $request:ident, $response:ident;)*) => {{
        use messages::{$($request, $response,)*};
        vec![
            $(decoder!($request), decoder!($response),)*
            decoder!(ConsumerProtocolSubscription),
            decoder!(ConsumerProtocolAssignment),
        ]
    }};
}

/// Every message decoder.
pub fn decoders() -> Vec<Decoder> {
    for_each_api!(decoders)
}

/// The decoder, version and bytes that an input stands for: its first byte chooses the decoder, its
/// second the version.
pub fn choose<'d, 'a>(
    decoders: &'d [Decoder],
    input: &'a [u8],
) -> Option<(&'d Decoder, i16, &'a [u8])> {
    let ([index, version], bytes) = input.split_first_chunk()?;
    let decoder = &decoders[usize::from(*index) % decoders.len()];
    let version = decoder.version_min + i16::from(version % decoder.versions());
    Some((decoder, version, bytes))
}

/// The input that stands for these bytes: the opposite of [`choose`].
pub fn input(decoders: &[Decoder], name: &str, version: i16, bytes: &[u8]) -> Option<Vec<u8>> {
    let index = decoders.iter().position(|decoder| decoder.name == name)?;
    let version = version.checked_sub(decoders[index].version_min)?;
    let head = [u8::try_from(index).ok()?, u8::try_from(version).ok()?];
    Some([&head, bytes].concat())
}
