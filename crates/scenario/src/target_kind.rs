//! The kinds of clusters under test, with what the rest of kgauge needs to know about each.

use serde::{Deserialize, Serialize};

/// The kind of cluster under test. Embedded figures are never presented as Apache Kafka's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// kgauge's own broker, started for this run.
    Embedded,
    /// Apache Kafka, started by kgauge for this run.
    Kafka,
    /// An existing cluster, given by its addresses.
    Existing,
    /// An existing cluster, given by its addresses, that is kgauge's own: `kgauge cluster up` started it. Only reports
    /// know this kind; a run treats it as any existing cluster.
    ExistingEmbedded,
}

impl TargetKind {
    /// Whether its figures are those of Apache Kafka as far as is known, and compare with what others measured.
    pub fn is_apache_kafka(self) -> bool {
        match self {
            Self::Embedded | Self::ExistingEmbedded => false,
            Self::Kafka | Self::Existing => true,
        }
    }

    /// Whether kgauge starts a release of it for the run.
    pub fn is_started_release(self) -> bool {
        match self {
            Self::Kafka => true,
            Self::Embedded | Self::Existing | Self::ExistingEmbedded => false,
        }
    }

    /// Whether somebody else started it, and the user gave its addresses.
    pub fn is_existing(self) -> bool {
        matches!(self, Self::Existing | Self::ExistingEmbedded)
    }

    /// What a report calls it: `Apache Kafka 4.3.1`. The embedded cluster's version is kgauge's own, and would look
    /// like one of Kafka's.
    pub fn name(self, version: Option<&str>) -> String {
        self.name_at(None, version)
    }

    /// The same of a cluster with a known address. An existing one is called by it, as its user calls it:
    /// `b1:9092 (API of Kafka 4.3 or newer)`; whose software it is, it does not report.
    pub fn name_at(self, address: Option<&str>, version: Option<&str>) -> String {
        match self {
            Self::Embedded => "kgauge's embedded cluster".to_owned(),
            Self::Kafka => with_version("Apache Kafka", version),
            Self::Existing => {
                let name = address.unwrap_or("an existing cluster");
                match known(version) {
                    Some(version) => format!("{name} (API of Kafka {})", release_words(version)),
                    None => name.to_owned(),
                }
            }
            Self::ExistingEmbedded => {
                let name = address.unwrap_or("an existing cluster");
                format!("{name} (kgauge's embedded cluster)")
            }
        }
    }

    /// What the head of a column calls it: `Kafka 4.3.1`.
    pub fn short_name(self, version: Option<&str>) -> String {
        match self {
            Self::Embedded | Self::ExistingEmbedded => "embedded".to_owned(),
            Self::Kafka => with_version("Kafka", version),
            // A cluster that does not report its release has APIs that show the oldest one it can be.
            Self::Existing => with_version("cluster", version).replace("at least ", "≥"),
        }
    }
}

fn known(version: Option<&str>) -> Option<&str> {
    version.filter(|version| !version.is_empty())
}

fn with_version(name: &str, version: Option<&str>) -> String {
    match known(version) {
        Some(version) => format!("{name} {version}"),
        None => name.to_owned(),
    }
}

/// A recorded release in a sentence: `4.3 or newer` for `at least 4.3`.
pub fn release_words(version: &str) -> String {
    match version.strip_prefix("at least ") {
        Some(oldest) => format!("{oldest} or newer"),
        None => version.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_version_unless_it_is_that_of_kgauge() {
        let names = |kind: TargetKind, version| (kind.name(version), kind.short_name(version));
        let both = |name: &str, short: &str| (name.to_owned(), short.to_owned());
        assert_eq!(
            names(TargetKind::Embedded, Some("kgauge 0.1.0")),
            both("kgauge's embedded cluster", "embedded")
        );
        assert_eq!(
            names(TargetKind::Kafka, Some("4.3.1")),
            both("Apache Kafka 4.3.1", "Kafka 4.3.1")
        );
        assert_eq!(
            names(TargetKind::Existing, Some("at least 2.8")),
            both(
                "an existing cluster (API of Kafka 2.8 or newer)",
                "cluster ≥2.8"
            )
        );
        let at = TargetKind::Existing.name_at(Some("b1:9092"), Some("3.3 or 3.4"));
        assert_eq!(at, "b1:9092 (API of Kafka 3.3 or 3.4)");
        let at = TargetKind::Existing.name_at(Some("b1:9092"), None);
        assert_eq!(at, "b1:9092");
        let own = TargetKind::ExistingEmbedded;
        let at = own.name_at(Some("b1:9092"), Some("at least 4.3"));
        assert_eq!(at, "b1:9092 (kgauge's embedded cluster)");
        assert!(own.is_existing() && !own.is_apache_kafka());
        assert_eq!(
            names(TargetKind::Existing, None),
            both("an existing cluster", "cluster")
        );
    }
}
