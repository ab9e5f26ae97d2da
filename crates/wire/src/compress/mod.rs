//! The codecs of Kafka's record batches, with Kafka's numbers, names, levels and framing.
//!
//! | codec | written as | read |
//! |---|---|---|
//! | gzip | one member (RFC 1952) | any number of members |
//! | snappy | snappy-java's framing ("Xerial") of blocks of 32 KiB input | that, or one raw block |
//! | lz4 | one frame of independent 64 KiB blocks | one frame without dictionary |
//! | zstd | one frame (RFC 8878) with its content size | any number of frames |
//!
//! Levels are those of `compression.gzip.level`, `compression.lz4.level` and
//! `compression.zstd.level`; what each range means stands at [`Codec::levels`]. Kafka writes lz4 by
//! the fast compressor at its default level 9 and by the slow "high compression" one at all others.
//! There is no slow compressor in pure Rust, so that the other levels are refused by name instead
//! of being measured as something else.
//!
//! The compressed bytes are not those that Java's libraries write (other match finders), only of
//! the same format. zstd knows the size of its input here and fits its tables to it, while Kafka's
//! producer streams: it takes less time for small batches than Java's, at about the same ratio.
//!
//! Where to start: [`Compressor`] and [`Decompressor`]. Both keep their contexts; make one per
//! thread.

mod codec;
mod compressor;
mod decompressor;
mod error;
mod gzip;
mod level;
mod lz4;
mod snappy;
mod zstandard;

pub use codec::Codec;
pub use compressor::Compressor;
pub use decompressor::Decompressor;
pub use error::{CompressError, DecompressError};
pub(crate) use lz4::legacy_checksum as lz4_legacy_checksum;
