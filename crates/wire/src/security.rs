//! The protocols of a listener and its SASL mechanisms, under Kafka's names.

use std::fmt;

use crate::scram::ScramMechanism;

/// `security.protocol`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SecurityProtocol {
    /// Neither encrypted nor authenticated.
    #[default]
    Plaintext,
    /// TLS, with a client certificate where the broker wants one.
    Ssl,
    /// SASL over an unencrypted connection.
    SaslPlaintext,
    /// SASL over TLS.
    SaslSsl,
}

impl SecurityProtocol {
    const ALL: [Self; 4] = [
        Self::Plaintext,
        Self::Ssl,
        Self::SaslPlaintext,
        Self::SaslSsl,
    ];

    /// The protocol of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|protocol| protocol.name() == name)
    }

    /// Kafka's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plaintext => "PLAINTEXT",
            Self::Ssl => "SSL",
            Self::SaslPlaintext => "SASL_PLAINTEXT",
            Self::SaslSsl => "SASL_SSL",
        }
    }

    /// Whether connections are encrypted.
    #[must_use]
    pub fn has_tls(self) -> bool {
        matches!(self, Self::Ssl | Self::SaslSsl)
    }

    /// Whether clients authenticate by SASL.
    #[must_use]
    pub fn has_sasl(self) -> bool {
        matches!(self, Self::SaslPlaintext | Self::SaslSsl)
    }
}

impl fmt::Display for SecurityProtocol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A SASL mechanism that proves a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaslMechanism {
    /// The password itself (RFC 4616).
    Plain,
    /// A proof that the password is known.
    Scram(ScramMechanism),
}

impl SaslMechanism {
    /// SCRAM with SHA-256.
    pub const SCRAM_SHA_256: Self = Self::Scram(ScramMechanism::Sha256);
    /// SCRAM with SHA-512.
    pub const SCRAM_SHA_512: Self = Self::Scram(ScramMechanism::Sha512);

    const ALL: [Self; 3] = [Self::Plain, Self::SCRAM_SHA_256, Self::SCRAM_SHA_512];

    /// The mechanism of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|mechanism| mechanism.name() == name)
    }

    /// Its name in the protocol and in settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::Scram(mechanism) => mechanism.name(),
        }
    }

    /// The hash, if it is SCRAM.
    #[must_use]
    pub fn scram(self) -> Option<ScramMechanism> {
        match self {
            Self::Plain => None,
            Self::Scram(mechanism) => Some(mechanism),
        }
    }
}
