//! Parses the text of `--target`.

use std::path::{Path, PathBuf};

use kgauge_client::{ClientConfig, ClientConfigError};
use kgauge_faults::{Fault, KafkaMeans};
use kgauge_scenario::{TRANSACTION_APIS, nearest};

use crate::embedded_spec::{EmbeddedSpec, NODES_MAX};
use crate::kafka::{BROKERS_MAX, KafkaSpec};

/// A target, as written by the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetSpec {
    /// kgauge's own cluster, started for the run.
    Embedded(EmbeddedSpec),
    /// Apache Kafka, started for the run.
    Kafka(Box<KafkaSpec>),
    /// An existing cluster.
    Existing(Box<ClientConfig>),
}

/// Why a text is not a target.
#[derive(Debug, thiserror::Error)]
pub enum TargetSpecError {
    /// The text is empty.
    #[error(
        "the target is empty: write embedded, embedded:NODES, kafka:VERSION, host:port or a \
         properties file"
    )]
    Empty,
    /// `embedded:` with something other than a number of nodes.
    #[error("target {text}: {nodes} is not a number of nodes from 1 to {NODES_MAX}")]
    Nodes {
        /// The whole text.
        text: String,
        /// The text in place of the number.
        nodes: String,
    },
    /// A setting without `=`, or one that the embedded cluster refuses.
    #[error("target {text}: {words}")]
    Setting {
        /// The whole text.
        text: String,
        /// What is wrong.
        words: String,
    },
    /// `kafka:` with an invalid text.
    #[error("target {text}: {words}")]
    Kafka {
        /// The whole text.
        text: String,
        /// What is wrong.
        words: String,
    },
    /// A misspelt word such as `embeded`.
    #[error("target {text}: did you mean {meant}?")]
    Misspelt {
        /// The whole text.
        text: String,
        /// The most similar word.
        meant: String,
    },
    /// The file does not exist.
    #[error("target {}: no such file", path.display())]
    NoFile {
        /// The file.
        path: PathBuf,
    },
    /// Wrong addresses, or wrong settings in the file.
    #[error("target {text} is not usable:\n{error}")]
    Config {
        /// The whole text.
        text: String,
        /// All problems.
        #[source]
        error: ClientConfigError,
    },
}

impl TargetSpec {
    /// Parses `embedded[:NODES][,key=value...]`, `kafka:VERSION[,key=value...]`, `host:port[,host:port...]`, or the
    /// path of a file with client properties.
    pub fn parse(text: &str) -> Result<TargetSpec, TargetSpecError> {
        let text = text.trim();
        let (first, settings) = text.split_once(',').unwrap_or((text, ""));
        let (kind, rest) = match first.split_once(':') {
            Some((kind, rest)) => (kind, Some(rest)),
            None => (first, None),
        };
        match (kind, rest) {
            ("", None) => Err(TargetSpecError::Empty),
            ("embedded", nodes) => embedded(text, nodes, settings),
            ("kafka", None) => kafka(text, settings),
            // kafka may also be a host name: kafka:9092 is an address.
            ("kafka", Some(rest)) if rest.contains('.') || rest.is_empty() => {
                kafka(text, text.split_once(':').map_or("", |(_, rest)| rest))
            }
            _ => existing(text),
        }
    }

    /// Sets the number of brokers of a cluster that is started for the run to what the scenarios need, unless the user
    /// has set it.
    pub fn fit_to(&mut self, brokers: u32) {
        let count = u16::try_from(brokers).unwrap_or(u16::MAX);
        match self {
            TargetSpec::Embedded(spec) if !spec.is_count_written => {
                spec.nodes = spec.nodes.max(count.min(NODES_MAX));
            }
            TargetSpec::Kafka(spec) if !spec.is_count_written => {
                spec.brokers = spec.brokers.max(count.min(BROKERS_MAX));
            }
            _ => {}
        }
    }

    /// Sets the exact number of brokers of a cluster that is started for the run, even if the user has set it: the
    /// scenario varies it. False if the cluster exists, or cannot have that many.
    pub fn set_brokers(&mut self, brokers: u32) -> bool {
        let count = u16::try_from(brokers).unwrap_or(u16::MAX);
        match self {
            TargetSpec::Embedded(spec) if count <= NODES_MAX => spec.nodes = count,
            TargetSpec::Kafka(spec) if count <= BROKERS_MAX => spec.brokers = count,
            _ => return false,
        }
        true
    }

    /// Starts the brokers of Apache Kafka with what these faults need.
    pub fn equip<'a>(&mut self, faults: impl IntoIterator<Item = &'a Fault>) {
        if let TargetSpec::Kafka(spec) = self {
            spec.means = KafkaMeans::for_faults(faults);
        }
    }

    /// Its number of brokers, unless more are requested; unknown for an existing cluster.
    pub fn brokers(&self) -> Option<u32> {
        match self {
            TargetSpec::Embedded(spec) => Some(u32::from(spec.nodes)),
            TargetSpec::Kafka(spec) => Some(u32::from(spec.brokers)),
            TargetSpec::Existing(_) => None,
        }
    }

    /// Turns off its brokers' metrics: nothing will poll them.
    pub fn without_metrics(&mut self) {
        match self {
            TargetSpec::Embedded(spec) => spec.metrics = false,
            TargetSpec::Kafka(spec) => spec.metrics = false,
            TargetSpec::Existing(_) => {}
        }
    }

    /// Whether a run warms its brokers before the first trial. Only Apache Kafka that kgauge starts is cold: native
    /// code is as fast at its start as later.
    pub fn warms_brokers(&self) -> bool {
        match self {
            TargetSpec::Kafka(spec) => spec.warming,
            TargetSpec::Embedded(_) | TargetSpec::Existing(_) => false,
        }
    }

    /// Whether a run can use it. The error is a message for the user.
    pub fn check_for_run(&self) -> Result<(), String> {
        match self {
            TargetSpec::Embedded(spec) => spec.check_for_run(),
            TargetSpec::Kafka(_) | TargetSpec::Existing(_) => Ok(()),
        }
    }

    /// Whether it supports a fault. The error is a message for the user.
    pub(crate) fn check_fault(&self, fault: &Fault) -> Result<(), String> {
        match self {
            TargetSpec::Embedded(_) => check_embedded(fault),
            TargetSpec::Kafka(_) => {
                let means = fault.kafka_means().map(drop);
                means.map_err(|why| format!("not on Apache Kafka: {why}"))
            }
            TargetSpec::Existing(_) => {
                Err("kgauge injects faults only into clusters that it started".to_owned())
            }
        }
    }

    /// Whether its own text sets a broker setting.
    pub fn sets(&self, key: &str) -> bool {
        match self {
            TargetSpec::Embedded(spec) => spec.settings.contains_key(key),
            TargetSpec::Kafka(spec) => spec.settings.contains_key(key),
            TargetSpec::Existing(_) => false,
        }
    }
}

/// The embedded cluster serves no transactions, and has fewer faults of a machine.
fn check_embedded(fault: &Fault) -> Result<(), String> {
    fault.check_embedded()?;
    match fault {
        Fault::Requests { api: Some(api), .. } if TRANSACTION_APIS.contains(&api.as_str()) => {
            Err(format!("the embedded cluster does not serve {api}"))
        }
        _ => Ok(()),
    }
}

/// `spec` is the text after `kafka:`; without a version it starts with a comma or is empty.
fn kafka(text: &str, spec: &str) -> Result<TargetSpec, TargetSpecError> {
    let spec = if spec.contains('=') && !spec.starts_with(',') && text.starts_with("kafka,") {
        format!(",{spec}")
    } else {
        spec.to_owned()
    };
    match KafkaSpec::parse(&spec) {
        Ok(spec) => Ok(TargetSpec::Kafka(Box::new(spec))),
        Err(words) => Err(TargetSpecError::Kafka {
            text: text.to_owned(),
            words,
        }),
    }
}

fn embedded(
    text: &str,
    nodes: Option<&str>,
    settings: &str,
) -> Result<TargetSpec, TargetSpecError> {
    let mut spec = EmbeddedSpec::default();
    if let Some(nodes) = nodes {
        let number = nodes
            .parse()
            .ok()
            .filter(|number| (1..=NODES_MAX).contains(number));
        spec.nodes = number.ok_or_else(|| TargetSpecError::Nodes {
            text: text.to_owned(),
            nodes: format!("\"{nodes}\""),
        })?;
        spec.is_count_written = true;
    }
    match spec.read(settings) {
        Ok(()) => Ok(TargetSpec::Embedded(spec)),
        Err(words) => Err(TargetSpecError::Setting {
            text: text.to_owned(),
            words,
        }),
    }
}

fn existing(text: &str) -> Result<TargetSpec, TargetSpecError> {
    let path = Path::new(text);
    let config = if path.is_file() {
        ClientConfig::from_properties_file(path)
    } else if text.contains('/') && !text.contains("://") || text.ends_with(".properties") {
        return Err(TargetSpecError::NoFile {
            path: path.to_owned(),
        });
    } else if !text.contains(':') {
        return Err(TargetSpecError::Misspelt {
            text: text.to_owned(),
            meant: meant(text),
        });
    } else {
        ClientConfig::from_servers(text)
    };
    match config {
        Ok(config) => Ok(TargetSpec::Existing(Box::new(config))),
        Err(error) => Err(TargetSpecError::Config {
            text: text.to_owned(),
            error,
        }),
    }
}

/// A single word is a host without its port, or a misspelt `embedded`.
fn meant(text: &str) -> String {
    match nearest(text, ["embedded"]) {
        Some(word) => word.to_owned(),
        None => format!("{text}:9092"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn wrong(text: &str) -> String {
        TargetSpec::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn the_embedded_cluster_is_named_with_its_nodes_and_settings() {
        let plain = TargetSpec::parse("embedded").unwrap();
        assert_eq!(plain, TargetSpec::Embedded(EmbeddedSpec::default()));
        let TargetSpec::Embedded(spec) =
            TargetSpec::parse("embedded:3,num.partitions=4,min.insync.replicas=2").unwrap()
        else {
            panic!("not embedded");
        };
        assert_eq!(spec.nodes, 3);
        assert_eq!(spec.settings["num.partitions"], "4");
        assert_eq!(spec.settings["min.insync.replicas"], "2");
    }

    #[test]
    fn apache_kafka_is_named_by_its_release_or_by_its_folder() {
        let kafka = |text: &str| match TargetSpec::parse(text).unwrap() {
            TargetSpec::Kafka(spec) => *spec,
            other => panic!("{other:?}"),
        };
        let spec = kafka("kafka:4.3.1,brokers=3,num.io.threads=4");
        assert_eq!(spec.version.unwrap().to_string(), "4.3.1");
        assert_eq!((spec.brokers, spec.settings.len()), (3, 1));
        assert_eq!(kafka("kafka").version, None);
        let warms = |text: &str| TargetSpec::parse(text).unwrap().warms_brokers();
        assert!(warms("kafka:4.3.1") && !warms("kafka:4.3.1,warming=off") && !warms("embedded"));
        let spec = kafka("kafka,kafka-home=/opt/kafka,brokers=2");
        assert_eq!(spec.home, Some(PathBuf::from("/opt/kafka")));
        assert_eq!((spec.version, spec.brokers), (None, 2));
    }

    #[test]
    fn addresses_and_files_name_an_existing_cluster() {
        let TargetSpec::Existing(config) = TargetSpec::parse("a:1,b:2,[::1]:3").unwrap() else {
            panic!("not existing");
        };
        assert_eq!(config.bootstrap_servers.len(), 3);
        assert!(matches!(
            TargetSpec::parse("kafka:9092"),
            Ok(TargetSpec::Existing(_))
        ));
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("client.properties");
        std::fs::write(&path, "bootstrap.servers=a:1\nclient.id=me\n").unwrap();
        let TargetSpec::Existing(config) = TargetSpec::parse(path.to_str().unwrap()).unwrap()
        else {
            panic!("not existing");
        };
        assert_eq!(config.client_id, "me");
    }

    #[test]
    fn every_mistake_has_a_fix() {
        assert!(wrong("").contains("write embedded"));
        assert_eq!(
            wrong("embedded:0"),
            "target embedded:0: \"0\" is not a number of nodes from 1 to 64"
        );
        assert!(wrong("embedded:three").contains("\"three\" is not a number"));
        assert!(wrong("embedded:1,4").contains("\"4\" is not a setting; write key=value"));
        assert!(wrong("embedded,no.such.key=1").contains("no.such.key"));
        assert_eq!(wrong("embeded"), "target embeded: did you mean embedded?");
        assert_eq!(
            wrong("localhost"),
            "target localhost: did you mean localhost:9092?"
        );
        assert!(wrong("kafka:4.3").contains("write it like 4.3.1"));
        assert!(wrong("kafka:4.3.1,broker=3").contains("did you mean brokers?"));
        assert_eq!(
            wrong("./no/such.file"),
            "target ./no/such.file: no such file"
        );
        assert_eq!(wrong("my.properties"), "target my.properties: no such file");
        assert!(wrong("a:1,b").contains("\"b\" has no port"));
        assert!(wrong("http://a:1").contains("looks like a URL"));
    }
}
