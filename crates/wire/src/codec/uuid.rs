//! Kafka's 16-byte identifiers of topics, directories and members, with their text form.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A 16-byte identifier. All zero means "none". As text: 22 characters of base64url, no padding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Uuid(pub [u8; 16]);

/// The text is no identifier: not 22 characters of base64url.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("not a Kafka identifier (22 characters of base64url): {0:?}")]
pub struct UuidError(pub String);

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// 128 bits are 21 digits of 6 bits and a last one that carries 2 bits in its upper end.
const DIGITS: usize = 22;

impl Uuid {
    /// The identifier that means "none".
    pub const ZERO: Self = Self([0; 16]);

    /// Whether this is the identifier that means "none".
    pub fn is_zero(self) -> bool {
        self == Self::ZERO
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = u128::from_be_bytes(self.0);
        let mut text = String::with_capacity(DIGITS);
        for index in 0..DIGITS - 1 {
            let digit = (bits >> (122 - 6 * index)) & 63;
            text.push(char::from(ALPHABET[digit as usize]));
        }
        text.push(char::from(ALPHABET[((bits & 3) << 4) as usize]));
        f.pad(&text)
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uuid({self})")
    }
}

impl FromStr for Uuid {
    type Err = UuidError;

    fn from_str(text: &str) -> Result<Self, UuidError> {
        let error = || UuidError(text.chars().take(64).collect());
        if text.len() != DIGITS {
            return Err(error());
        }
        let mut bits = 0u128;
        for (index, byte) in text.bytes().enumerate() {
            let digit = ALPHABET
                .iter()
                .position(|&known| known == byte)
                .ok_or_else(error)? as u128;
            if index + 1 < DIGITS {
                bits = (bits << 6) | digit;
            } else if digit & 15 == 0 {
                bits = (bits << 2) | (digit >> 4);
            } else {
                return Err(error());
            }
        }
        Ok(Self(bits.to_be_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_form_is_that_of_kafka() {
        // What `new Uuid(0x0123456789ABCDEFL, 0xFEDCBA9876543210L).toString()` gives in Java.
        let uuid = Uuid(0x0123_4567_89AB_CDEF_FEDC_BA98_7654_3210_u128.to_be_bytes());
        assert_eq!(uuid.to_string(), "ASNFZ4mrze_-3LqYdlQyEA");
        assert_eq!("ASNFZ4mrze_-3LqYdlQyEA".parse(), Ok(uuid));
        assert_eq!(Uuid::ZERO.to_string(), "AAAAAAAAAAAAAAAAAAAAAA");
    }

    #[test]
    fn text_that_is_no_identifier_is_refused() {
        for text in [
            "",
            "ASNFZ4mrze_-3LqYdlQyE",
            "ASNFZ4mrze_-3LqYdlQyEB",
            "ASNFZ4mrze/-3LqYdlQyEA",
        ] {
            assert_eq!(text.parse::<Uuid>(), Err(UuidError(text.to_owned())));
        }
    }
}
