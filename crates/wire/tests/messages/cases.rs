//! Every message as a row of functions, so that a test is a loop.

use std::ops::RangeInclusive;

use kgauge_wire::codec::DecodeError;

use crate::sampler::Variant;

/// What the tests can do to one message type.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) versions: RangeInclusive<i16>,
    /// Fills the message, writes it, reads it back, demands the same value, returns the bytes.
    pub(crate) round_trip: fn(Variant, i16) -> Vec<u8>,
    /// The same for a message of defaults.
    pub(crate) round_trip_default: fn(i16) -> Vec<u8>,
    /// Reads bytes; what was read must be writable, and is returned as bytes.
    pub(crate) decode: fn(&[u8], i16) -> Result<Vec<u8>, DecodeError>,
    /// Reads bytes and drops what was read.
    pub(crate) decode_only: fn(&[u8], i16) -> bool,
}

/// The row of one message: its module, its type and the function that makes samples.
macro_rules! case {
    ($file:ident, $message:ident, $function:ident) => {{
        use kgauge_wire::messages::Message;
        use kgauge_wire::messages::$file::$message;
        $crate::cases::Case {
            name: $message::NAME,
            versions: $message::VERSIONS,
            round_trip: |variant, version| {
                let mut sampler = $crate::sampler::Sampler::new(variant, $message::NAME);
                let value = $file::$function(&mut sampler, version);
                let mut bytes = Vec::new();
                value.encode(&mut bytes, version).unwrap();
                assert_eq!($message::decode_exact(&bytes, version).as_ref(), Ok(&value));
                bytes
            },
            round_trip_default: |version| {
                let mut bytes = Vec::new();
                $message::default().encode(&mut bytes, version).unwrap();
                let read = $message::decode_exact(&bytes, version);
                assert_eq!(read, Ok($message::default()));
                bytes
            },
            decode: |bytes, version| {
                let value = $message::decode_exact(bytes, version)?;
                let mut again = Vec::new();
                value.encode(&mut again, version).unwrap();
                Ok(again)
            },
            decode_only: |bytes, version| $message::decode_exact(bytes, version).is_ok(),
        }
    }};
}
pub(crate) use case;
