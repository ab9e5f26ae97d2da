//! What every message can do, and what a request adds: its key and the type of its answer.

use std::ops::RangeInclusive;

use crate::api::ApiKey;
use crate::codec::{DecodeError, EncodeError, Reader};

/// A request, a response or a structure carried in bytes, in all of its versions.
pub trait Message<'a>: Sized {
    /// Kafka's name of the message, such as `ProduceRequest`.
    const NAME: &'static str;
    /// The versions that can be written and read.
    const VERSIONS: RangeInclusive<i16>;
    /// The first version with compact lengths and tagged fields; `i16::MAX` if there is none.
    const FLEXIBLE_FROM: i16;

    /// Appends the message in the given version. After an error `out` may hold a part of it.
    fn encode(&self, out: &mut Vec<u8>, version: i16) -> Result<(), EncodeError>;

    /// Reads the message in the given version; bytes after it are left in the reader.
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError>;

    /// Reads the message from exactly these bytes: bytes after it are an error.
    fn decode_exact(bytes: &'a [u8], version: i16) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let message = Self::decode(&mut reader, version)?;
        reader.at(Self::NAME);
        reader.finish()?;
        Ok(message)
    }
}

/// A message that asks, with its key and the message that answers.
pub trait Request<'a>: Message<'a> {
    /// The key under which brokers know the request.
    const KEY: ApiKey;
    /// The message that answers it, in the same version.
    type Response<'r>: Message<'r>;
}
