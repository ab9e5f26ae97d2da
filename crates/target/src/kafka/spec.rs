//! The text after `kafka:`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use kgauge_faults::KafkaMeans;
use kgauge_scenario::nearest;

use super::security_kind::SecurityKind;
use super::version::Version;

/// Maximum number of brokers on one machine.
pub(crate) const BROKERS_MAX: u16 = 64;

/// Maximum number of dedicated controllers on one machine.
const CONTROLLERS_MAX: u16 = 9;

/// The heap of a broker in Kafka's own scripts, bytes.
const HEAP_BYTES: u64 = 1 << 30;

/// Memory of a broker's process besides its heap, MiB: code, threads, buffers.
pub(crate) const BESIDE_HEAP_MIB: u64 = 300;

/// kgauge's own keys.
const OWN_KEYS: &[&str] = &[
    "brokers",
    "controllers",
    "cpu",
    "heap",
    "jvm",
    "kafka-home",
    "log.dirs",
    "memory",
    "metrics",
    "security",
    "warming",
];

/// Apache Kafka that kgauge starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KafkaSpec {
    /// The release; `None`: that of `home`.
    pub version: Option<Version>,
    /// An unpacked release instead of a download by Maven.
    pub home: Option<PathBuf>,
    /// Number of brokers, at least 1.
    pub brokers: u16,
    /// The user has set the number; otherwise the scenarios determine it.
    pub is_count_written: bool,
    /// Dedicated controllers; 0: with KRaft, brokers are also controllers.
    pub controllers: u16,
    /// Each broker's heap, bytes.
    pub heap_bytes: u64,
    /// Memory limit of each broker's process, including its page cache, bytes; `None`: no limit.
    pub memory_bytes: Option<u64>,
    /// CPU limit of each broker's process in thousandths of a core; `None`: no limit.
    pub milli_cores: Option<u64>,
    /// Additional Java flags of each broker.
    pub jvm: Vec<String>,
    /// Whether each broker gets a metrics agent.
    pub metrics: bool,
    /// Whether a run warms the brokers before its first trial.
    pub warming: bool,
    /// Folders under which each broker gets its own; empty: the run's own folder.
    pub log_dirs: Vec<PathBuf>,
    /// Security of client connections.
    pub security: SecurityKind,
    /// Broker settings, by Kafka's names.
    pub settings: BTreeMap<String, String>,
    /// Settings of single brokers, by broker number from 1.
    pub broker_settings: BTreeMap<u16, BTreeMap<String, String>>,
    /// What the brokers are started with, for the faults of the run.
    pub means: KafkaMeans,
}

impl Default for KafkaSpec {
    fn default() -> KafkaSpec {
        KafkaSpec {
            version: None,
            home: None,
            brokers: 1,
            is_count_written: false,
            controllers: 0,
            heap_bytes: HEAP_BYTES,
            memory_bytes: None,
            milli_cores: None,
            jvm: Vec::new(),
            metrics: true,
            warming: true,
            log_dirs: Vec::new(),
            security: SecurityKind::default(),
            settings: BTreeMap::new(),
            broker_settings: BTreeMap::new(),
            means: KafkaMeans::default(),
        }
    }
}

impl KafkaSpec {
    /// Parses `VERSION[,KEY=VALUE...]`. The error is a message for the user.
    pub fn parse(text: &str) -> Result<KafkaSpec, String> {
        let (version, rest) = text.split_once(',').unwrap_or((text, ""));
        let mut spec = KafkaSpec::default();
        if !version.trim().is_empty() {
            let version = version.trim().parse::<Version>();
            spec.version = Some(version.map_err(|error| error.to_string())?);
        }
        for (key, value) in pairs(rest)? {
            spec.set(&key, &value)?;
        }
        spec.check_memory()?;
        for id in spec.broker_settings.keys() {
            if *id > spec.brokers {
                return Err(format!(
                    "there is no broker {id}: brokers are 1 to {}; write brokers={id}",
                    spec.brokers
                ));
            }
        }
        Ok(spec)
    }

    /// A broker with less could not start.
    pub(crate) fn check_memory(&self) -> Result<(), String> {
        let least = self.heap_bytes + (BESIDE_HEAP_MIB << 20);
        match self.memory_bytes {
            Some(bytes) if bytes < least => Err(format!(
                "memory={}M is less than a broker needs: its heap plus {BESIDE_HEAP_MIB} MiB is \
                 {} MiB; set a smaller heap=...",
                bytes >> 20,
                least >> 20
            )),
            _ => Ok(()),
        }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "brokers" => {
                self.brokers = number(key, value, 1, BROKERS_MAX)?;
                self.is_count_written = true;
            }
            "controllers" => self.controllers = number(key, value, 0, CONTROLLERS_MAX)?,
            "heap" => self.heap_bytes = java_bytes(key, value)?,
            "memory" => self.memory_bytes = Some(java_bytes(key, value)?),
            "cpu" => self.milli_cores = Some(milli_cores(value)?),
            "jvm" => self.jvm.push(jvm_flag(value)?),
            "metrics" => self.metrics = on_or_off(key, value)?,
            "kafka-home" => self.home = Some(PathBuf::from(value)),
            "log.dirs" => {
                let dirs = value
                    .split(';')
                    .map(str::trim)
                    .filter(|dir| !dir.is_empty());
                self.log_dirs = dirs.map(PathBuf::from).collect();
            }
            "security" => self.security = SecurityKind::of_value(value)?,
            "warming" => self.warming = on_or_off(key, value)?,
            _ => self.set_broker(key, value)?,
        }
        Ok(())
    }

    fn set_broker(&mut self, key: &str, value: &str) -> Result<(), String> {
        let (id, key) = of_one(key)?;
        check_setting(key, value)?;
        let settings = match id {
            Some(id) => self.broker_settings.entry(id).or_default(),
            None => &mut self.settings,
        };
        settings.insert(key.to_owned(), value.to_owned());
        Ok(())
    }
}

/// `2.num.io.threads` applies only to broker 2.
pub(crate) fn of_one(key: &str) -> Result<(Option<u16>, &str), String> {
    let of_one = key.split_once('.').and_then(|(first, rest)| {
        let is_number = first.bytes().all(|byte| byte.is_ascii_digit());
        let id = is_number.then_some(first)?;
        Some((id.parse::<u16>().ok()?, rest))
    });
    match of_one {
        Some((0, _)) => Err("brokers are numbered from 1".to_owned()),
        Some((id, rest)) => Ok((Some(id), rest)),
        None => Ok((None, key)),
    }
}

/// `key=value` after `key=value`. A piece without `=` belongs to the value before it, as in
/// `log.cleanup.policy=compact,delete`.
pub(crate) fn pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for piece in text
        .split(',')
        .map(str::trim)
        .filter(|piece| !piece.is_empty())
    {
        match (piece.split_once('='), pairs.last_mut()) {
            (Some((key, value)), _) => pairs.push((key.trim().to_owned(), value.trim().to_owned())),
            (None, Some((key, value))) if !OWN_KEYS.contains(&key.as_str()) => {
                value.push(',');
                value.push_str(piece);
            }
            (None, _) => return Err(format!("\"{piece}\" is not a setting; write key=value")),
        }
    }
    Ok(pairs)
}

pub(crate) fn number(key: &str, value: &str, min: u16, max: u16) -> Result<u16, String> {
    let number = value
        .parse()
        .ok()
        .filter(|number| (min..=max).contains(number));
    number.ok_or_else(|| format!("{key}={value}: write a number from {min} to {max}"))
}

/// A CPU limit in cores: `0.5`. A broker with less than a twentieth would not start.
fn milli_cores(value: &str) -> Result<u64, String> {
    let cores = value.parse::<f64>().ok();
    let cores = cores.filter(|cores| (0.05..=1_024.0).contains(cores));
    cores
        .map(|cores| (cores * 1e3).round() as u64)
        .ok_or_else(|| format!("cpu={value}: write cores from 0.05 to 1024, such as cpu=0.5"))
}

pub(crate) fn on_or_off(key: &str, value: &str) -> Result<bool, String> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("{key}={value}: write on or off")),
    }
}

/// `512M`, `1G`: in Java's notation.
fn java_bytes(key: &str, value: &str) -> Result<u64, String> {
    let error = || format!("{key}={value}: write it in Java's format, such as 512M or 1G");
    let (digits, unit) = match value.chars().last() {
        Some('m' | 'M') => (&value[..value.len() - 1], 1u64 << 20),
        Some('g' | 'G') => (&value[..value.len() - 1], 1 << 30),
        _ => return Err(error()),
    };
    let number: u64 = digits.parse().map_err(|_| error())?;
    let bytes = number.checked_mul(unit).ok_or_else(error)?;
    if (64 << 20..=1 << 40).contains(&bytes) {
        Ok(bytes)
    } else {
        Err(format!("{key}={value}: from 64M to 1024G"))
    }
}

fn jvm_flag(value: &str) -> Result<String, String> {
    if !value.starts_with('-') || value.chars().any(char::is_control) {
        return Err(format!("jvm={value}: Java flags start with -"));
    }
    if value.starts_with("-Xmx") || value.starts_with("-Xms") {
        return Err(format!("jvm={value}: set the heap with heap=..."));
    }
    Ok(value.to_owned())
}

/// Whether a broker setting may be given at all; which settings a release has is checked at the start.
pub(crate) fn check_setting(key: &str, value: &str) -> Result<(), String> {
    if value.chars().any(char::is_control) {
        return Err(format!("{key}: a setting must be on one line"));
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if !key.contains('.') || !key.chars().all(fits) {
        let near = nearest(key, OWN_KEYS.iter().copied());
        let near = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
        return Err(format!(
            "{key} is neither kgauge's nor a broker setting{near}"
        ));
    }
    match refusal(key) {
        Some(why) => Err(format!("{key} cannot be set: {why}")),
        None => Ok(()),
    }
}

/// Settings that kgauge manages, or that no run may have.
fn refusal(key: &str) -> Option<&'static str> {
    const SECRETS: &[&str] = &[
        "password",
        "secret",
        "master.key",
        "jaas.config",
        "credential",
    ];
    let lower = key.to_ascii_lowercase();
    if SECRETS.iter().any(|word| lower.contains(word)) {
        return Some("it is a secret, and reports show settings");
    }
    let starts = |starts: &[&str]| starts.iter().any(|start| key.starts_with(start));
    match key {
        "brokers" | "controllers" | "cpu" | "heap" | "jvm" | "kafka-home" | "memory"
        | "metrics" | "security" | "warming" => Some("set it in the target itself"),
        "log.dirs" | "log.dir" | "metadata.log.dir" => {
            Some("write log.dirs=/one;/two in the target: each broker gets a folder there")
        }
        "host.name"
        | "advertised.host.name"
        | "advertised.port"
        | "listeners"
        | "advertised.listeners"
        | "control.plane.listener.name" => Some("kgauge uses free loopback ports"),
        "broker.id" | "node.id" => Some("brokers are numbered from 1"),
        "process.roles" | "zookeeper.connect" => {
            Some("kgauge chooses the coordination; use controllers=N for dedicated controllers")
        }
        "listener.security.protocol.map"
        | "inter.broker.listener.name"
        | "security.inter.broker.protocol" => Some("use security=... in the target"),
        _ if starts(&["ssl.", "sasl.", "listener.name."]) => {
            Some("kgauge creates certificates and passwords; use security=... in the target")
        }
        _ if starts(&[
            "controller.quorum.voters",
            "controller.quorum.bootstrap",
            "controller.listener",
        ]) =>
        {
            Some("kgauge chooses the coordination; use controllers=N for dedicated controllers")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn wrong(text: &str) -> String {
        KafkaSpec::parse(text).unwrap_err()
    }

    #[test]
    fn a_spec_names_release_size_and_settings() {
        let spec = KafkaSpec::parse(
            "4.3.1,brokers=3,heap=512M,jvm=-XX:+UseZGC,log.dirs=/a;/b,num.io.threads=4,\
             log.cleanup.policy=compact,delete,2.num.io.threads=8,security=scram-sha-512+tls",
        )
        .unwrap();
        assert_eq!(spec.version.unwrap().to_string(), "4.3.1");
        assert_eq!((spec.brokers, spec.controllers), (3, 0));
        assert_eq!(spec.heap_bytes, 512 << 20);
        assert_eq!(spec.jvm, ["-XX:+UseZGC"]);
        assert_eq!(spec.log_dirs, [PathBuf::from("/a"), PathBuf::from("/b")]);
        assert_eq!(spec.settings["num.io.threads"], "4");
        assert_eq!(spec.settings["log.cleanup.policy"], "compact,delete");
        assert_eq!(spec.broker_settings[&2]["num.io.threads"], "8");
        assert_eq!(spec.security.protocol(), "SASL_SSL");
        assert_eq!(spec.security.to_string(), "SASL_SSL, SCRAM-SHA-512");
    }

    #[test]
    fn every_mistake_has_a_fix() {
        assert!(wrong("4.3").contains("write it like 4.3.1"));
        assert!(wrong("4.3.1,3").contains("write key=value"));
        assert!(wrong("4.3.1,brokers=0").contains("from 1 to 64"));
        assert!(wrong("4.3.1,broker=3").contains("did you mean brokers?"));
        assert!(wrong("4.3.1,heap=1").contains("such as 512M"));
        assert!(wrong("4.3.1,heap=1M").contains("from 64M"));
        assert!(wrong("4.3.1,jvm=UseZGC").contains("start with -"));
        assert!(wrong("4.3.1,jvm=-Xmx3G").contains("heap="));
        assert!(wrong("4.3.1,memory=600M").contains("is 1324 MiB; set a smaller heap"));
        assert!(wrong("4.3.1,metrics=no").contains("metrics=no: write on or off"));
        assert!(!KafkaSpec::parse("4.3.1,metrics=off").unwrap().metrics);
        assert!(wrong("4.3.1,warming=0").contains("warming=0: write on or off"));
        assert!(!KafkaSpec::parse("4.3.1,warming=off").unwrap().warming);
        assert!(wrong("4.3.1,memory=1").contains("memory=1: write it in Java"));
        let bounded = KafkaSpec::parse("4.3.1,memory=900M,heap=512M").unwrap();
        assert_eq!(bounded.memory_bytes, Some(900 << 20));
        let bounded = KafkaSpec::parse("4.3.1,cpu=0.25").unwrap();
        assert_eq!(bounded.milli_cores, Some(250));
        for text in ["cpu=0", "cpu=0.01", "cpu=x", "cpu=-1", "cpu=nan", "cpu=1e9"] {
            assert!(wrong(&format!("4.3.1,{text}")).contains("cores"), "{text}");
        }
        assert!(wrong("4.3.1,security=ssl").contains("use one of plaintext, tls"));
        assert!(wrong("4.3.1,2.num.io.threads=8").contains("write brokers=2"));
        assert!(wrong("4.3.1,0.num.io.threads=8").contains("from 1"));
        for owned in [
            "listeners=a",
            "node.id=4",
            "broker.id=4",
            "ssl.keystore.password=x",
            "listener.name.a.b=x",
            "advertised.listeners=x",
        ] {
            // The first part of "listeners" has no dot.
            let words = wrong(&format!("4.3.1,{owned}"));
            assert!(
                words.contains("cannot be set") || words.contains("neither"),
                "{words}"
            );
        }
    }
}
