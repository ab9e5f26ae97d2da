//! Which client library is at the other end, as far as an answer depends on it.
//!
//! Transactions are refused, and no single error code ends every library's attempt at once: librdkafka
//! repeats `FindCoordinator` until its timeout on all codes but those about rights, sarama on all
//! codes, and Kafka's own client shows the sentence of UNSUPPORTED_VERSION only. Clients name themselves
//! in `ApiVersions` (KIP-511).

/// A client library.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ClientSoftware {
    /// Any that is not named below, or did not name itself.
    #[default]
    Other,
    /// librdkafka and what is built on it.
    Librdkafka,
    /// The Go library of that name.
    Sarama,
}

impl ClientSoftware {
    /// Reads the name that a client gives itself.
    pub(crate) fn of_name(name: &str) -> Self {
        const BUILT_ON_LIBRDKAFKA: [&str; 4] =
            ["librdkafka", "confluent-kafka-", "rdkafka", "rust-rdkafka"];
        let begins = |prefix: &&str| name.starts_with(*prefix);
        if BUILT_ON_LIBRDKAFKA.iter().any(begins) {
            Self::Librdkafka
        } else if name == "sarama" {
            Self::Sarama
        } else {
            Self::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ClientSoftware;

    #[test]
    fn bindings_of_librdkafka_are_known_by_their_names() {
        for name in ["librdkafka", "confluent-kafka-python", "rust-rdkafka"] {
            assert_eq!(ClientSoftware::of_name(name), ClientSoftware::Librdkafka);
        }
        assert_eq!(ClientSoftware::of_name("sarama"), ClientSoftware::Sarama);
        for name in ["apache-kafka-java", "kgo", ""] {
            assert_eq!(ClientSoftware::of_name(name), ClientSoftware::Other);
        }
    }
}
