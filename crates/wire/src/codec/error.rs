//! What can be wrong with bytes that were received, and with a message that is to be sent.

use thiserror::Error;

/// Why bytes are not the message that they should be. `what` names the field that was being read,
/// as `Struct.Field` in the words of Kafka's message definitions.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The bytes end before the field does.
    #[error("{what}: {required} bytes required, {remaining} remain")]
    Truncated {
        /// The field that was being read.
        what: &'static str,
        /// Bytes that the field needs.
        required: usize,
        /// Bytes that are left.
        remaining: usize,
    },
    /// A length or a count is negative, or cannot fit in the bytes that remain.
    #[error("{what}: a length of {length} cannot be true with {remaining} bytes remaining")]
    Length {
        /// The field that was being read.
        what: &'static str,
        /// The length or count as it was received.
        length: i64,
        /// Bytes that are left.
        remaining: usize,
    },
    /// A field that may not be null is null.
    #[error("{what} is null, which this version does not allow")]
    Null {
        /// The field that was being read.
        what: &'static str,
    },
    /// A string is not UTF-8.
    #[error("{what} is not valid UTF-8")]
    Utf8 {
        /// The field that was being read.
        what: &'static str,
    },
    /// A variable-length integer is longer than its type allows.
    #[error("{what}: a variable-length integer does not end in time")]
    Varint {
        /// The field that was being read.
        what: &'static str,
    },
    /// The message has no such version.
    #[error("{message} has no version {version}")]
    Version {
        /// The message's name.
        message: &'static str,
        /// The version that was asked for.
        version: i16,
    },
    /// The message or a tagged field ended, yet bytes are left.
    #[error("{remaining} bytes are left after {what}")]
    Trailing {
        /// What had been read.
        what: &'static str,
        /// Bytes that are left.
        remaining: usize,
    },
}

/// Why a message cannot be written in the version that was asked for. `what` names the field.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// The message has no such version.
    #[error("{message} has no version {version}")]
    Version {
        /// The message's name.
        message: &'static str,
        /// The version that was asked for.
        version: i16,
    },
    /// The field is set, the version does not carry it, and leaving it out would change the meaning.
    #[error("{what} is set, but version {version} does not carry it")]
    NotCarried {
        /// The field.
        what: &'static str,
        /// The version that was asked for.
        version: i16,
    },
    /// A field that may not be null in this version is `None`.
    #[error("{what} must not be null in version {version}")]
    Null {
        /// The field.
        what: &'static str,
        /// The version that was asked for.
        version: i16,
    },
    /// A string, a byte sequence or an array is longer than its length field can say.
    #[error("{what}: a length of {length} is above the limit of {length_max}")]
    TooLong {
        /// The field.
        what: &'static str,
        /// Its length.
        length: usize,
        /// The longest that the protocol carries.
        length_max: usize,
    },
}
