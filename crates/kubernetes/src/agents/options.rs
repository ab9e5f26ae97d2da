//! The options of `k8s:replicas=25,namespace=perf[,image=,cpu=2,memory=1Gi,node-selector=KEY=VALUE]`.

use std::collections::BTreeMap;

/// More agents than this are refused: the lead has a thread and a connection for each.
const REPLICAS_MAX: u32 = 1_000;

/// A local image: whoever has a registry names its image with `image=`.
const IMAGE_DEFAULT: &str = concat!("kgauge:", env!("CARGO_PKG_VERSION"));

/// All keys, for messages.
const KEYS: &str =
    "replicas, namespace, image, pull-secret, cpu, memory, node-selector and deadline";

/// What the pods of a run should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodOptions {
    /// The number of agents.
    pub replicas: u32,
    /// Where all objects are created.
    pub namespace: String,
    /// The image of lead and agents.
    pub image: String,
    /// A Secret with the login of a private registry.
    pub pull_secret: Option<String>,
    /// CPUs of each pod, as Kubernetes writes quantities.
    pub cpu: String,
    /// Memory of each pod, as Kubernetes writes quantities.
    pub memory: String,
    /// Labels of the nodes that may run the pods.
    pub node_selector: BTreeMap<String, String>,
    /// After this many seconds Kubernetes ends the pods, whatever happens.
    pub deadline_seconds: u64,
}

/// Why options cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PodOptionsError {
    /// A required option is missing.
    #[error("--agents k8s: {0}= is missing; write k8s:replicas=25,namespace=perf")]
    Missing(&'static str),
    /// An unknown option.
    #[error("--agents k8s: there is no option {0}; the options are {KEYS}")]
    Unknown(String),
    /// An option is given twice.
    #[error("--agents k8s: {0} is given twice; remove one")]
    Twice(String),
    /// A wrong value.
    #[error("--agents k8s: {key}={value} cannot be used; write {form}")]
    Value {
        /// The option.
        key: &'static str,
        /// The value.
        value: String,
        /// A correct one.
        form: &'static str,
    },
}

impl PodOptions {
    /// Reads keys and values. All names are checked: they become parts of commands.
    ///
    /// # Errors
    /// The first mistake.
    pub fn read(pairs: &[(String, String)]) -> Result<PodOptions, PodOptionsError> {
        let mut options = PodOptions {
            replicas: 0,
            namespace: String::new(),
            image: IMAGE_DEFAULT.to_owned(),
            pull_secret: None,
            cpu: "2".to_owned(),
            memory: "1Gi".to_owned(),
            node_selector: BTreeMap::new(),
            deadline_seconds: 4 * 3_600,
        };
        for (index, (key, value)) in pairs.iter().enumerate() {
            let is_repeated = pairs[..index].iter().any(|(other, _)| other == key);
            if is_repeated && key != "node-selector" {
                return Err(PodOptionsError::Twice(key.clone()));
            }
            options.set(key, value)?;
        }
        match (options.replicas, options.namespace.as_str()) {
            (0, _) => Err(PodOptionsError::Missing("replicas")),
            (_, "") => Err(PodOptionsError::Missing("namespace")),
            _ => Ok(options),
        }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), PodOptionsError> {
        let check = |key: &'static str, fits: bool, form: &'static str| match fits {
            true => Ok(value.to_owned()),
            false => Err(PodOptionsError::Value {
                key,
                value: value.to_owned(),
                form,
            }),
        };
        match key {
            "replicas" => {
                let count = value
                    .parse()
                    .ok()
                    .filter(|n| (1..=REPLICAS_MAX).contains(n));
                check("replicas", count.is_some(), "a number from 1 to 1000")?;
                self.replicas = count.unwrap_or_default();
            }
            "namespace" => {
                self.namespace = check("namespace", is_label(value), "the name of a namespace")?;
            }
            "image" => self.image = check("image", is_image(value), "REGISTRY/NAME:TAG")?,
            "pull-secret" => {
                let name = check("pull-secret", is_label(value), "the name of a Secret")?;
                self.pull_secret = Some(name);
            }
            "cpu" => self.cpu = check("cpu", is_quantity(value, &["", "m"]), "2 or 500m")?,
            "memory" => {
                let units = ["", "k", "M", "G", "Ki", "Mi", "Gi"];
                self.memory = check("memory", is_quantity(value, &units), "1Gi or 512Mi")?;
            }
            "node-selector" => {
                let pair = value.split_once('=');
                let pair = pair.filter(|(key, value)| is_label_key(key) && is_label_value(value));
                check("node-selector", pair.is_some(), "node-selector=KEY=VALUE")?;
                let (key, value) = pair.unwrap_or_default();
                self.node_selector.insert(key.to_owned(), value.to_owned());
            }
            "deadline" => {
                let seconds = seconds(value);
                check("deadline", seconds.is_some(), "a time such as 90min or 4h")?;
                self.deadline_seconds = seconds.unwrap_or_default();
            }
            other => return Err(PodOptionsError::Unknown(other.to_owned())),
        }
        Ok(())
    }
}

/// An RFC 1123 label: at most 63 lower-case letters, digits and dashes.
pub(crate) fn is_label(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&text.len())
        && text.bytes().all(is_allowed)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

fn is_label_key(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
    (1..=253).contains(&text.len()) && text.bytes().all(is_allowed)
}

fn is_label_value(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_end = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    text.len() <= 63
        && text.bytes().all(is_allowed)
        && is_end(bytes.first())
        && is_end(bytes.last())
}

fn is_image(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@".contains(&byte);
    (1..=512).contains(&text.len()) && text.bytes().all(is_allowed) && !text.starts_with('-')
}

fn is_quantity(text: &str, units: &[&str]) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    (1..=15).contains(&digits) && !number.starts_with('0') && units.contains(&unit)
}

/// `30s`, `90min`, `4h`.
fn seconds(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = match unit {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3_600,
        _ => return None,
    };
    let seconds = number.parse::<u64>().ok()?.checked_mul(factor)?;
    // A year is no deadline.
    (60..=31_536_000).contains(&seconds).then_some(seconds)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<PodOptions, PodOptionsError> {
        let pairs = text.split(',').map(|pair| {
            let (key, value) = pair.split_once('=').unwrap();
            (key.to_owned(), value.to_owned())
        });
        PodOptions::read(&pairs.collect::<Vec<_>>())
    }

    #[test]
    fn options_have_defaults_and_are_all_read() {
        let options = read("replicas=25,namespace=perf").unwrap();
        assert_eq!(
            (options.cpu.as_str(), options.memory.as_str()),
            ("2", "1Gi")
        );
        assert!(options.image.starts_with("kgauge:"));
        let options = read(
            "replicas=3,namespace=perf,image=r.example:5000/kgauge@sha256:ab,cpu=500m,memory=2Gi,node-selector=pool=load,\
             node-selector=kubernetes.io/arch=amd64,pull-secret=login,deadline=90min",
        )
        .unwrap();
        assert_eq!(options.node_selector.len(), 2);
        assert_eq!(options.node_selector["pool"], "load");
        assert_eq!(options.deadline_seconds, 5_400);
    }

    #[test]
    fn mistakes_name_the_option_and_a_correct_value() {
        for (text, words) in [
            ("namespace=perf", "replicas= is missing"),
            ("replicas=2", "namespace= is missing"),
            ("replicas=0,namespace=perf", "a number from 1 to 1000"),
            ("replicas=2,namespace=Perf", "the name of a namespace"),
            ("replicas=2,namespace=--all", "the name of a namespace"),
            ("replicas=2,namespace=perf,cpu=two", "2 or 500m"),
            ("replicas=2,namespace=perf,memory=1GB", "1Gi or 512Mi"),
            ("replicas=2,namespace=perf,deadline=1", "90min"),
            (
                "replicas=2,namespace=perf,node-selector=x",
                "node-selector=KEY=VALUE",
            ),
            (
                "replicas=2,namespace=perf,node-selector=x=a/b",
                "node-selector=KEY=VALUE",
            ),
            ("replicas=2,namespace=perf,replica=3", "no option replica"),
            ("replicas=2,replicas=3", "replicas is given twice"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
