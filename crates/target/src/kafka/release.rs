//! Differences between releases: artifacts, coordination, Java.
//!
//! Sources: the releases' poms, scripts and upgrade notes, and starting each checked one.

use super::version::Version;

/// The releases that kgauge is tested with, oldest first.
pub(crate) const CHECKED: &[&str] = &[
    "0.8.2.2", "0.10.1.0", "1.0.2", "2.8.2", "3.9.1", "4.1.1", "4.3.1",
];

/// The coordination of a cluster's brokers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coordination {
    /// ZooKeeper, a separate process.
    ZooKeeper,
    /// KRaft controllers (KIP-500).
    KRaft,
}

/// The logger in the jars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Logger {
    /// log4j 1 or reload4j, configured by a properties file.
    Log4j,
    /// slf4j-simple, configured by system properties.
    Simple,
}

/// A Maven artifact: group, name, version.
pub(crate) type Artifact = (&'static str, String, String);

/// A release, and its requirements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KafkaDistribution {
    /// Its number.
    pub version: Version,
    /// Whether kgauge is tested with it.
    pub checked: bool,
    /// Its coordination.
    pub(crate) coordination: Coordination,
    /// Its logger.
    pub(crate) logger: Logger,
    /// The oldest Java that runs it.
    pub(crate) java_min: u32,
    /// The newest Java that is known to work; `None`: no known limit.
    pub(crate) java_max: Option<u32>,
}

impl KafkaDistribution {
    /// The entry of a release; an unlisted one gets that of its generation.
    pub fn of(version: &Version) -> KafkaDistribution {
        // KRaft is production-ready since 3.3 (KIP-833), and the only mode since 4.0.
        let kraft = version.is_at_least(&[3, 3]);
        KafkaDistribution {
            version: version.clone(),
            checked: CHECKED.contains(&version.to_string().as_str()),
            coordination: if kraft {
                Coordination::KRaft
            } else {
                Coordination::ZooKeeper
            },
            logger: if version.is_at_least(&[4]) {
                Logger::Simple
            } else {
                Logger::Log4j
            },
            // KIP-1013.
            java_min: if version.is_at_least(&[4]) { 17 } else { 8 },
            // Java 24 removed the security manager (JEP 486), which older releases require.
            java_max: (!version.is_at_least(&[4])).then_some(23),
        }
    }

    /// Its Scala version, as in artifact names.
    pub(crate) fn scala(&self) -> &'static str {
        let version = &self.version;
        if version.is_at_least(&[2, 4]) {
            "2.13"
        } else if version.is_at_least(&[1]) {
            "2.12"
        } else if version.is_at_least(&[0, 8, 2]) {
            "2.11"
        } else {
            "2.10"
        }
    }

    /// The artifacts to download: the server, and what its pom leaves to the distribution.
    pub(crate) fn artifacts(&self) -> Vec<Artifact> {
        let version = &self.version;
        let text = version.to_string();
        let core = format!("kafka_{}", self.scala());
        let mut artifacts = vec![("org.apache.kafka", core, text)];
        let mut add = |group, name: &str, version: &str| {
            artifacts.push((group, name.to_owned(), version.to_owned()));
        };
        if version.is_at_least(&[4]) {
            add("org.slf4j", "slf4j-simple", "1.7.36");
        } else if version.is_at_least(&[3]) {
            add("ch.qos.reload4j", "reload4j", "1.2.25");
            add("org.slf4j", "slf4j-reload4j", "1.7.36");
        } else if version.is_at_least(&[2]) {
            add("log4j", "log4j", "1.2.17");
            add("org.slf4j", "slf4j-log4j12", "1.7.30");
        }
        if version.is_at_least(&[0, 10]) && !version.is_at_least(&[1]) {
            // Java 11 removed it.
            add("javax.xml.bind", "jaxb-api", "2.3.1");
        }
        artifacts
    }

    /// Whether listeners have protocols in their names (KIP-2, 0.9); before there was one host and port.
    pub(crate) fn has_listeners(&self) -> bool {
        self.version.is_at_least(&[0, 9])
    }

    /// Whether topics can be created over the wire (KIP-4, 0.10.1).
    pub(crate) fn has_create_topics(&self) -> bool {
        self.version.is_at_least(&[0, 10, 1])
    }

    /// The required Java, as text.
    pub(crate) fn java_range(&self) -> String {
        match self.java_max {
            Some(max) => format!("{} to {max}", self.java_min),
            None => format!("{} or newer", self.java_min),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(text: &str) -> KafkaDistribution {
        KafkaDistribution::of(&text.parse().unwrap())
    }

    #[test]
    fn every_checked_release_is_one_and_in_order() {
        let versions: Vec<Version> = CHECKED.iter().map(|text| text.parse().unwrap()).collect();
        assert!(versions.is_sorted());
        assert!(CHECKED.iter().all(|text| release(text).checked));
        assert!(!release("4.3.0").checked);
    }

    #[test]
    fn each_generation_has_its_artifacts() {
        let names = |text: &str| -> Vec<String> {
            let artifacts = release(text).artifacts();
            artifacts.into_iter().map(|(_, name, _)| name).collect()
        };
        assert_eq!(names("0.8.2.2"), ["kafka_2.11"]);
        assert_eq!(names("0.10.1.0"), ["kafka_2.11", "jaxb-api"]);
        assert_eq!(names("1.0.2"), ["kafka_2.12"]);
        assert_eq!(names("2.8.2"), ["kafka_2.13", "log4j", "slf4j-log4j12"]);
        assert_eq!(names("4.3.1"), ["kafka_2.13", "slf4j-simple"]);
    }

    #[test]
    fn zookeeper_until_3_2_and_kraft_since_3_3() {
        assert_eq!(release("3.2.3").coordination, Coordination::ZooKeeper);
        assert_eq!(release("3.3.0").coordination, Coordination::KRaft);
        assert_eq!(release("4.1.1").java_range(), "17 or newer");
        assert_eq!(release("2.8.2").java_range(), "8 to 23");
    }
}
