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
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Snappy => "snappy",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }

    /// Whether message sets, formats 0 and 1, have it: zstd came with format 2 (KIP-110).
    pub fn is_in_message_sets(self) -> bool {
        match self {
            Self::None | Self::Gzip | Self::Snappy | Self::Lz4 => true,
            Self::Zstd => false,
        }
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
