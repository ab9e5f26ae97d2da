//! Security of client connections to a cluster that kgauge starts.

use std::fmt;

use kgauge_client::security::{SaslMechanism, SecurityProtocol};

/// How connections of clients are protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SecurityKind {
    /// Not at all.
    #[default]
    Plaintext,
    /// TLS; the broker shows a certificate.
    Tls,
    /// TLS; both sides show a certificate.
    Mtls,
    /// A user name and a password.
    Sasl {
        /// How the password is proved.
        mechanism: SaslMechanism,
        /// Whether inside of TLS.
        over_tls: bool,
    },
}

impl SecurityKind {
    /// All kinds, as they are written in a target.
    pub(crate) const WRITTEN: &[(&str, SecurityKind)] = &[
        ("plaintext", SecurityKind::Plaintext),
        ("tls", SecurityKind::Tls),
        ("mtls", SecurityKind::Mtls),
        ("sasl-plain", sasl(SaslMechanism::Plain, false)),
        ("scram-sha-256", sasl(SaslMechanism::SCRAM_SHA_256, false)),
        ("scram-sha-512", sasl(SaslMechanism::SCRAM_SHA_512, false)),
        ("sasl-plain+tls", sasl(SaslMechanism::Plain, true)),
        (
            "scram-sha-256+tls",
            sasl(SaslMechanism::SCRAM_SHA_256, true),
        ),
        (
            "scram-sha-512+tls",
            sasl(SaslMechanism::SCRAM_SHA_512, true),
        ),
    ];

    /// The kind of this name.
    pub fn parse(text: &str) -> Option<SecurityKind> {
        let found = SecurityKind::WRITTEN.iter().find(|(name, _)| *name == text);
        found.map(|(_, kind)| *kind)
    }

    /// Parses the value of `security=`. The error is a message for the user.
    pub(crate) fn of_value(value: &str) -> Result<SecurityKind, String> {
        SecurityKind::parse(value).ok_or_else(|| {
            let known = SecurityKind::WRITTEN.iter().map(|(name, _)| *name);
            let known: Vec<&str> = known.collect();
            format!("unknown security={value}; use one of {}", known.join(", "))
        })
    }

    /// Kafka's name of the protocol.
    pub fn protocol(self) -> &'static str {
        let protocol = match self {
            SecurityKind::Plaintext => SecurityProtocol::Plaintext,
            SecurityKind::Tls | SecurityKind::Mtls => SecurityProtocol::Ssl,
            SecurityKind::Sasl { over_tls: true, .. } => SecurityProtocol::SaslSsl,
            SecurityKind::Sasl {
                over_tls: false, ..
            } => SecurityProtocol::SaslPlaintext,
        };
        protocol.name()
    }

    /// Whether there is TLS in it.
    pub fn has_tls(self) -> bool {
        matches!(
            self,
            SecurityKind::Tls | SecurityKind::Mtls | SecurityKind::Sasl { over_tls: true, .. }
        )
    }

    /// The SASL mechanism, if there is one.
    pub fn mechanism(self) -> Option<SaslMechanism> {
        match self {
            SecurityKind::Sasl { mechanism, .. } => Some(mechanism),
            SecurityKind::Plaintext | SecurityKind::Tls | SecurityKind::Mtls => None,
        }
    }
}

const fn sasl(mechanism: SaslMechanism, over_tls: bool) -> SecurityKind {
    SecurityKind::Sasl {
        mechanism,
        over_tls,
    }
}

impl fmt::Display for SecurityKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.protocol())?;
        match self {
            SecurityKind::Mtls => f.write_str(", clients show certificates"),
            SecurityKind::Sasl { mechanism, .. } => write!(f, ", {}", mechanism.name()),
            SecurityKind::Plaintext | SecurityKind::Tls => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_know_the_same_kinds() {
        let written = SecurityKind::WRITTEN.iter().map(|(name, _)| *name);
        assert!(written.eq(kgauge_scenario::SECURITY_KINDS.iter().copied()));
    }
}
