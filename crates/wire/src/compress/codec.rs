//! The codecs by Kafka's numbers and names.

use std::fmt;

use super::CompressError;

/// The library's own choice.
const GZIP_LEVEL_DEFAULT: i32 = -1;

/// The one level at which Kafka uses LZ4's fast compressor, which has no levels itself.
const LZ4_LEVEL_FAST: i32 = 9;

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

    /// The codec of a name in `compression.type`, which is lower case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|codec| codec.name() == name)
    }

    /// The level that Kafka takes if none is configured; `None` for codecs without levels.
    pub fn level_default(self) -> Option<i32> {
        match self {
            Self::None | Self::Snappy => None,
            Self::Gzip => Some(GZIP_LEVEL_DEFAULT),
            Self::Lz4 => Some(LZ4_LEVEL_FAST),
            Self::Zstd => Some(3),
        }
    }

    /// The levels that Kafka knows, in words.
    ///
    /// gzip: 1 fast to 9 small, -1 the library's own choice, which is 6. lz4: 9 is the fast
    /// compressor and all others the slow one. zstd: negative ones are faster and compress less,
    /// those from 20 take much memory.
    pub fn levels(self) -> &'static str {
        match self {
            Self::None | Self::Snappy => "no level",
            Self::Gzip => "1 to 9, or -1",
            Self::Lz4 => "1 to 17, of which only 9 is available here",
            Self::Zstd => "-131072 to 22",
        }
    }

    /// The level to compress with: the given one, if it is one of Kafka's, or Kafka's default.
    pub fn check_level(self, level: Option<i32>) -> Result<Option<i32>, CompressError> {
        let Some(level) = level else {
            return Ok(self.level_default());
        };
        let known = match self {
            Self::None | Self::Snappy => false,
            Self::Gzip => level == GZIP_LEVEL_DEFAULT || (1..=9).contains(&level),
            Self::Lz4 => (1..=17).contains(&level),
            Self::Zstd => (-131_072..=22).contains(&level),
        };
        if !known {
            let allowed = self.levels();
            return Err(CompressError::LevelUnknown {
                codec: self,
                level,
                allowed,
            });
        }
        if self == Self::Lz4 && level != LZ4_LEVEL_FAST {
            return Err(CompressError::Lz4Level { level });
        }
        Ok(Some(level))
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
