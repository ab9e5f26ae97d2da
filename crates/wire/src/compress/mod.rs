//! The codecs of Kafka's record batches, with Kafka's names, numbers and framing.

mod codec;
mod compressor;
mod decompressor;
mod error;

pub use codec::Codec;
pub use compressor::Compressor;
pub use decompressor::Decompressor;
pub use error::CompressError;
