//! The levels of the codecs, as Kafka has them.

use super::{Codec, CompressError};

/// The library's own choice.
const GZIP_LEVEL_DEFAULT: i32 = -1;

/// The one level at which Kafka uses LZ4's fast compressor, which has no levels itself.
const LZ4_LEVEL_FAST: i32 = 9;

impl Codec {
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
