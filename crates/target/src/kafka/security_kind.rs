//! How clients reach a cluster that kgauge starts.

use std::fmt;

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
        /// How they are shown.
        mechanism: KafkaSaslMechanism,
        /// Whether inside of TLS.
        over_tls: bool,
    },
}

/// How a password is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KafkaSaslMechanism {
    /// As it is.
    Plain,
    /// By a proof that it is known.
    ScramSha256,
    /// The same with a longer hash.
    ScramSha512,
}

impl KafkaSaslMechanism {
    /// Its name in the protocol and in settings.
    pub fn name(self) -> &'static str {
        match self {
            KafkaSaslMechanism::Plain => "PLAIN",
            KafkaSaslMechanism::ScramSha256 => "SCRAM-SHA-256",
            KafkaSaslMechanism::ScramSha512 => "SCRAM-SHA-512",
        }
    }
}

impl SecurityKind {
    /// All kinds, as they are written in a target.
    pub const WRITTEN: &[(&str, SecurityKind)] = &[
        ("plaintext", SecurityKind::Plaintext),
        ("tls", SecurityKind::Tls),
        ("mtls", SecurityKind::Mtls),
        ("sasl-plain", sasl(KafkaSaslMechanism::Plain, false)),
        (
            "scram-sha-256",
            sasl(KafkaSaslMechanism::ScramSha256, false),
        ),
        (
            "scram-sha-512",
            sasl(KafkaSaslMechanism::ScramSha512, false),
        ),
        ("sasl-plain+tls", sasl(KafkaSaslMechanism::Plain, true)),
        (
            "scram-sha-256+tls",
            sasl(KafkaSaslMechanism::ScramSha256, true),
        ),
        (
            "scram-sha-512+tls",
            sasl(KafkaSaslMechanism::ScramSha512, true),
        ),
    ];

    /// The kind of this name.
    pub fn parse(text: &str) -> Option<SecurityKind> {
        let found = SecurityKind::WRITTEN.iter().find(|(name, _)| *name == text);
        found.map(|(_, kind)| *kind)
    }

    /// The kind that stands behind `security=`. The error is the words for the user.
    pub(crate) fn of_value(value: &str) -> Result<SecurityKind, String> {
        SecurityKind::parse(value).ok_or_else(|| {
            let known = SecurityKind::WRITTEN.iter().map(|(name, _)| *name);
            let known: Vec<&str> = known.collect();
            format!("unknown security={value}; use one of {}", known.join(", "))
        })
    }

    /// Kafka's name of the protocol.
    pub fn protocol(self) -> &'static str {
        match self {
            SecurityKind::Plaintext => "PLAINTEXT",
            SecurityKind::Tls | SecurityKind::Mtls => "SSL",
            SecurityKind::Sasl { over_tls: true, .. } => "SASL_SSL",
            SecurityKind::Sasl {
                over_tls: false, ..
            } => "SASL_PLAINTEXT",
        }
    }

    /// Whether there is TLS in it.
    pub fn has_tls(self) -> bool {
        matches!(
            self,
            SecurityKind::Tls | SecurityKind::Mtls | SecurityKind::Sasl { over_tls: true, .. }
        )
    }

    /// The SASL mechanism, if there is one.
    pub fn mechanism(self) -> Option<KafkaSaslMechanism> {
        match self {
            SecurityKind::Sasl { mechanism, .. } => Some(mechanism),
            _ => None,
        }
    }
}

const fn sasl(mechanism: KafkaSaslMechanism, over_tls: bool) -> SecurityKind {
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
            _ => Ok(()),
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
