//! Kafka's error codes: what brokers say when something did not work.

mod table;

use std::fmt;

pub use table::ErrorCode;

/// What a client should do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Trying again does not help.
    Final,
    /// The same request may work later.
    Retry,
    /// The same request may work later, after new metadata.
    Refresh,
}

/// Makes the enum and its lookups out of the table.
macro_rules! error_codes {
    ($($variant:ident, $code:literal, $name:literal, $kind:ident, $explanation:literal;)*) => {
        /// An error code of Kafka's protocol. Codes that this table does not have are kept.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $(
                #[doc = concat!("`", $name, "`: ", $explanation, ".")]
                $variant,
            )*
            /// A code that is newer than this table.
            Unrecognized(i16),
        }

        impl ErrorCode {
            /// Every code of the table.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The error of a code.
            pub const fn from_i16(code: i16) -> Self {
                match code {
                    $($code => Self::$variant,)*
                    _ => Self::Unrecognized(code),
                }
            }

            /// The number in Kafka's messages.
            pub const fn as_i16(self) -> i16 {
                match self {
                    $(Self::$variant => $code,)*
                    Self::Unrecognized(code) => code,
                }
            }

            /// Kafka's name for it, such as `NOT_LEADER_OR_FOLLOWER`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Unrecognized(_) => "UNRECOGNIZED",
                }
            }

            /// What it means, in a few words.
            pub const fn explanation(self) -> &'static str {
                match self {
                    $(Self::$variant => $explanation,)*
                    Self::Unrecognized(_) => "an error that this version of kgauge does not know",
                }
            }

            pub(super) const fn kind(self) -> Kind {
                match self {
                    $(Self::$variant => Kind::$kind,)*
                    Self::Unrecognized(_) => Kind::Final,
                }
            }
        }
    };
}
use error_codes;

impl ErrorCode {
    /// Whether this is no error at all.
    pub const fn is_none(self) -> bool {
        matches!(self, Self::None)
    }

    /// `Ok` for code 0, else the error.
    pub const fn ok(self) -> Result<(), Self> {
        if self.is_none() { Ok(()) } else { Err(self) }
    }

    /// Whether the same request may work when it is sent again.
    pub const fn is_retriable(self) -> bool {
        matches!(self.kind(), Kind::Retry | Kind::Refresh)
    }

    /// Whether the client's picture of the cluster is outdated, so that it should ask for metadata
    /// before it tries again.
    pub const fn refreshes_metadata(self) -> bool {
        matches!(self.kind(), Kind::Refresh)
    }

    /// Whether the client should find the coordinator again before the next try.
    pub const fn refreshes_coordinator(self) -> bool {
        matches!(self, Self::CoordinatorNotAvailable | Self::NotCoordinator)
    }
}

impl From<i16> for ErrorCode {
    fn from(code: i16) -> Self {
        Self::from_i16(code)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({}): {}",
            self.name(),
            self.as_i16(),
            self.explanation()
        )
    }
}

impl std::error::Error for ErrorCode {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_finds_itself() {
        for &error in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_i16(error.as_i16()), error);
        }
        assert_eq!(ErrorCode::ALL.len(), 135);
    }

    #[test]
    fn known_codes_say_what_kafka_says() {
        let error = ErrorCode::from_i16(6);
        assert_eq!(error, ErrorCode::NotLeaderOrFollower);
        assert_eq!(error.name(), "NOT_LEADER_OR_FOLLOWER");
        assert!(error.is_retriable() && error.refreshes_metadata());
        assert!(ErrorCode::NotEnoughReplicas.is_retriable());
        assert!(!ErrorCode::NotEnoughReplicas.refreshes_metadata());
        assert!(!ErrorCode::MessageTooLarge.is_retriable());
        assert_eq!(ErrorCode::None.ok(), Ok(()));
        assert_eq!(
            ErrorCode::TopicAlreadyExists.to_string(),
            "TOPIC_ALREADY_EXISTS (36): a topic of this name exists already"
        );
    }

    #[test]
    fn a_code_from_the_future_is_kept() {
        let error = ErrorCode::from_i16(999);
        assert_eq!(error.as_i16(), 999);
        assert!(!error.is_retriable() && !error.is_none());
        assert!(error.to_string().starts_with("UNRECOGNIZED (999)"));
    }
}
