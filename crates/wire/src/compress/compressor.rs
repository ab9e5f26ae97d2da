//! Compresses records sections.

use super::{Codec, CompressError};

/// Compresses with one codec and level, over contexts and an output buffer that it keeps.
#[derive(Debug, Default)]
pub struct Compressor {
    codec: Codec,
    output: Vec<u8>,
}

impl Compressor {
    /// A compressor for `codec`; `None` takes Kafka's default level.
    pub fn new(codec: Codec, level: Option<i32>) -> Result<Self, CompressError> {
        match (codec, level) {
            (Codec::None, None) => Ok(Self {
                codec,
                output: Vec::new(),
            }),
            (Codec::None, Some(level)) => Err(CompressError::Level { codec, level }),
            (other, _) => Err(CompressError::Unsupported(other)),
        }
    }

    /// The codec that this compresses with.
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// Compresses `input` as a whole. The result stands until the next call.
    pub fn compress(&mut self, input: &[u8]) -> Result<&[u8], CompressError> {
        self.output.clear();
        self.output.extend_from_slice(input);
        Ok(&self.output)
    }
}
