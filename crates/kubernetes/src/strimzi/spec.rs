//! `strimzi:NAMESPACE/CLUSTER[,listener=NAME][,user=NAME]`.

use std::fmt;

/// Names of objects in Kubernetes have at most this many characters (RFC 1123 subdomains).
const NAME_CHARS_MAX: usize = 253;

/// A Strimzi cluster, as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrimziSpec {
    /// The namespace of the `Kafka` object.
    pub namespace: String,
    /// The name of the `Kafka` object.
    pub cluster: String,
    /// The name of a listener; `None` for the first one that fits.
    pub listener: Option<String>,
    /// The name of a `KafkaUser` in the same namespace.
    pub user: Option<String>,
}

/// Why a text is not a Strimzi cluster.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StrimziSpecError {
    /// There is no namespace, or a name that Kubernetes does not allow.
    #[error(
        "target {text}: write strimzi:NAMESPACE/CLUSTER[,listener=NAME][,user=NAME], with names of Kubernetes objects"
    )]
    Name {
        /// The whole text.
        text: String,
    },
    /// An unknown option.
    #[error(
        "target {text}: {option:?} is not an option; the options are listener=NAME and user=NAME"
    )]
    Option {
        /// The whole text.
        text: String,
        /// The option.
        option: String,
    },
}

impl StrimziSpec {
    /// Reads a target; `None` if the text names another kind. `strimzi:9092` is an address.
    pub fn parse(text: &str) -> Option<Result<StrimziSpec, StrimziSpecError>> {
        let rest = text.trim().strip_prefix("strimzi:")?;
        let is_port =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        match is_port(rest.split(',').next().unwrap_or_default()) {
            true => None,
            false => Some(read(text.trim(), rest)),
        }
    }
}

impl fmt::Display for StrimziSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.namespace, self.cluster)
    }
}

fn read(text: &str, rest: &str) -> Result<StrimziSpec, StrimziSpecError> {
    let wrong_name = || StrimziSpecError::Name {
        text: text.to_owned(),
    };
    let mut parts = rest.split(',');
    let (namespace, cluster) = parts
        .next()
        .and_then(|name| name.split_once('/'))
        .filter(|(namespace, cluster)| is_name(namespace) && is_name(cluster))
        .ok_or_else(wrong_name)?;
    let mut spec = StrimziSpec {
        namespace: namespace.to_owned(),
        cluster: cluster.to_owned(),
        listener: None,
        user: None,
    };
    for option in parts {
        let slot = match option.split_once('=') {
            Some(("listener", name)) => (&mut spec.listener, name),
            Some(("user", name)) => (&mut spec.user, name),
            _ => {
                return Err(StrimziSpecError::Option {
                    text: text.to_owned(),
                    option: option.to_owned(),
                });
            }
        };
        if !is_name(slot.1) {
            return Err(wrong_name());
        }
        *slot.0 = Some(slot.1.to_owned());
    }
    Ok(spec)
}

/// Lower-case letters, digits, `-` and `.`: such a text is never an option of `kubectl`.
pub(super) fn is_name(text: &str) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    let is_allowed =
        |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(byte);
    text.len() <= NAME_CHARS_MAX
        && is_end(bytes.first())
        && is_end(bytes.last())
        && bytes.iter().all(is_allowed)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn namespace_cluster_and_options_are_read() {
        let spec = StrimziSpec::parse("strimzi:kafka/my-cluster,listener=tls,user=kgauge");
        let spec = spec.unwrap().unwrap();
        assert_eq!(spec.to_string(), "kafka/my-cluster");
        assert_eq!(spec.listener.as_deref(), Some("tls"));
        assert_eq!(spec.user.as_deref(), Some("kgauge"));
    }

    #[test]
    fn other_targets_are_left_to_others() {
        for text in [
            "embedded",
            "strimzi:9092",
            "strimzi:9092,other:9092",
            "kafka:4.3.1",
        ] {
            assert!(StrimziSpec::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn wrong_names_and_options_are_refused() {
        for text in [
            "strimzi:",
            "strimzi:my-cluster",
            "strimzi:a/b/c",
            "strimzi:kafka/--all",
            "strimzi:kafka/My",
            "strimzi:kafka/my,user=",
            "strimzi:kafka/my,listen=tls",
        ] {
            let error = StrimziSpec::parse(text).unwrap().unwrap_err().to_string();
            assert!(error.contains("listener=NAME"), "{error}");
        }
    }
}
