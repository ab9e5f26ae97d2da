//! The codecs by Kafka's numbers and names.

use std::fmt;

/// A compression codec; the discriminant is its number in a batch's attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Codec {
    /// Records as they are.
    #[default]
    None = 0,
    /// One gzip member (RFC 1952).
    Gzip = 1,
    /// Snappy blocks in the framing of snappy-java ("Xerial").
    Snappy = 2,
    /// One LZ4 frame of independent 64 KiB blocks.
    Lz4 = 3,
    /// One Zstandard frame (RFC 8878).
    Zstd = 4,
}

/// The release of Kafka that added a codec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodecRelease {
    /// Its version.
    pub version: &'static str,
    /// The proposal that describes the codec.
    pub kip: &'static str,
    /// The version of Produce that accepts it.
    pub produce_version: i16,
}

impl Codec {
    /// All codecs in the order of their numbers.
    pub const ALL: [Self; 5] = [Self::None, Self::Gzip, Self::Snappy, Self::Lz4, Self::Zstd];

    /// The number in a batch's attributes.
    pub fn id(self) -> u8 {
        self as u8
    }

    /// The codec of a number, `None` for those that Kafka has not given out.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.get(usize::from(id)).copied()
    }

    /// The name in `compression.type`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Snappy => "snappy",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }

    /// The release that added it, if that was after record batches (format 2, 0.11).
    pub fn release(self) -> Option<CodecRelease> {
        match self {
            Self::None | Self::Gzip | Self::Snappy | Self::Lz4 => None,
            Self::Zstd => Some(CodecRelease {
                version: "2.1",
                kip: "KIP-110",
                produce_version: 7,
            }),
        }
    }

    /// Whether message sets, formats 0 and 1, have it.
    pub fn is_in_message_sets(self) -> bool {
        self.release().is_none()
    }

    /// The codec of a name in `compression.type`, which is lower case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|codec| codec.name() == name)
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
