//! Which client sends a flow's records: kgauge's own engine, or one that applications use.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The client that sends.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Driver {
    /// kgauge's own engine.
    #[default]
    Kgauge,
    /// Kafka's Java client, in a child process.
    Java {
        /// The release of kafka-clients.
        version: String,
    },
    /// The machine's librdkafka, in a child process.
    Librdkafka,
}

impl Driver {
    /// The release of kafka-clients for `java` without a version.
    const JAVA_VERSION: &'static str = "4.3.1";

    /// Each producer of a driver is a process; a Java machine takes some hundred MiB.
    pub(crate) const PRODUCERS_MAX: u32 = 16;

    /// Kafka's Java client of the usual release.
    pub fn java() -> Driver {
        Driver::Java {
            version: Driver::JAVA_VERSION.to_owned(),
        }
    }

    /// Whether kgauge's own engine sends.
    pub fn is_kgauge(&self) -> bool {
        *self == Driver::Kgauge
    }
}

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Driver::Kgauge => f.write_str("kgauge"),
            Driver::Java { version } => write!(f, "java {version}"),
            Driver::Librdkafka => f.write_str("librdkafka"),
        }
    }
}
