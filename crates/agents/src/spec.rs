//! `--agents`: which processes generate the load.

use std::fmt;
use std::str::FromStr;

use kgauge_client::config::{Address, AddressMistake};

/// More agents than this are refused: the lead has a thread and a connection for each.
pub const AGENTS_MAX: usize = 1_000;

/// Where a lead waits for agents if the user names no address.
const JOIN_LISTEN: &str = "0.0.0.0:7700";

/// The agents of a run, as the user names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentsSpec {
    /// `local:N`: processes that kgauge starts on this machine.
    Local {
        /// At least 1.
        count: u32,
    },
    /// `ssh:a,b,c`: one process on each host, started through `ssh`.
    Ssh {
        /// As the `ssh` command takes them: `host`, `user@host`, or a name of its configuration.
        hosts: Vec<String>,
    },
    /// `host:port,...`: agents that listen already.
    Listening {
        /// Their addresses.
        addresses: Vec<Address>,
    },
    /// `join:N[,listen=ADDR]`: the lead waits until this many agents have joined.
    Joining {
        /// At least 1.
        count: u32,
        /// Where the lead listens.
        listen: String,
    },
    /// `k8s:KEY=VALUE,...`: pods of a Kubernetes cluster, with the options as written.
    Kubernetes {
        /// Keys and values, in the order of the text.
        options: Vec<(String, String)>,
    },
}

/// What a run does when it loses an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AgentsLost {
    /// It fails at once and keeps what was measured.
    #[default]
    Fail,
    /// It goes on with the others, and marks its figures.
    Tolerate,
}

/// Why a text names no agents.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentsSpecError {
    /// The text is empty.
    #[error("--agents is empty: write local:4, ssh:a,b, join:4 or host:port,host:port")]
    Empty,
    /// The number of agents is wrong.
    #[error("--agents {kind}:{text}: give the number of agents, from 1 to {AGENTS_MAX}")]
    Count {
        /// `local` or `join`.
        kind: &'static str,
        /// What was given.
        text: String,
    },
    /// A host name is empty, or would be an option of `ssh`.
    #[error("--agents ssh: {host:?} is not a host; write host or user@host, separated by commas")]
    Host {
        /// What was given.
        host: String,
    },
    /// An address cannot be used.
    #[error("--agents: {text:?} {mistake}")]
    Address {
        /// What was given.
        text: String,
        /// What is wrong with it.
        mistake: AddressMistake,
    },
    /// Something is named twice: it would be two agents in one process.
    #[error("--agents names {name} twice; give each agent once")]
    Twice {
        /// What.
        name: String,
    },
    /// There are too many.
    #[error("--agents names {count} agents; at most {AGENTS_MAX} are supported")]
    TooMany {
        /// How many.
        count: usize,
    },
    /// An option is not `KEY=VALUE`, or unknown.
    #[error("--agents {kind}: {text:?} is not an option; {fix}")]
    Option {
        /// `join` or `k8s`.
        kind: &'static str,
        /// What was given.
        text: String,
        /// What is allowed.
        fix: &'static str,
    },
}

impl FromStr for AgentsSpec {
    type Err = AgentsSpecError;

    fn from_str(text: &str) -> Result<Self, AgentsSpecError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(AgentsSpecError::Empty);
        }
        match text.split_once(':') {
            Some(("local", rest)) => Ok(Self::Local {
                count: count("local", rest)?,
            }),
            Some(("ssh", rest)) => ssh(rest),
            Some(("join", rest)) => joining(rest),
            Some(("k8s", rest)) => Ok(Self::Kubernetes {
                options: options(rest)?,
            }),
            _ => listening(text),
        }
    }
}

impl fmt::Display for AgentsSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |parts: Vec<String>| parts.join(",");
        match self {
            Self::Local { count } => write!(formatter, "local:{count}"),
            Self::Ssh { hosts } => write!(formatter, "ssh:{}", joined(hosts.clone())),
            Self::Joining { count, listen } => write!(formatter, "join:{count},listen={listen}"),
            Self::Listening { addresses } => {
                let addresses = addresses.iter().map(ToString::to_string);
                formatter.write_str(&joined(addresses.collect()))
            }
            Self::Kubernetes { options } => {
                let pairs = options.iter().map(|(key, value)| format!("{key}={value}"));
                write!(formatter, "k8s:{}", joined(pairs.collect()))
            }
        }
    }
}

impl AgentsSpec {
    /// The number of agents, if the text alone gives it.
    pub fn count(&self) -> Option<u32> {
        let of = |agents: usize| u32::try_from(agents).ok();
        match self {
            Self::Local { count } | Self::Joining { count, .. } => Some(*count),
            Self::Ssh { hosts } => of(hosts.len()),
            Self::Listening { addresses } => of(addresses.len()),
            Self::Kubernetes { .. } => None,
        }
    }

    /// Whether all agents run on the lead's machine.
    pub fn is_local(&self) -> bool {
        matches!(self, Self::Local { .. })
    }
}

fn count(kind: &'static str, text: &str) -> Result<u32, AgentsSpecError> {
    let count = text.trim().parse::<u32>().ok();
    let allowed = count.filter(|count| (1..=AGENTS_MAX as u32).contains(count));
    allowed.ok_or_else(|| AgentsSpecError::Count {
        kind,
        text: text.to_owned(),
    })
}

fn ssh(text: &str) -> Result<AgentsSpec, AgentsSpecError> {
    let hosts: Vec<String> = text.split(',').map(|host| host.trim().to_owned()).collect();
    let is_host = |host: &String| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@:[]%".contains(&byte);
        !host.is_empty() && !host.starts_with('-') && host.len() <= 255 && host.bytes().all(allowed)
    };
    if let Some(host) = hosts.iter().find(|host| !is_host(host)) {
        return Err(AgentsSpecError::Host { host: host.clone() });
    }
    check_distinct(&hosts)?;
    Ok(AgentsSpec::Ssh { hosts })
}

fn joining(text: &str) -> Result<AgentsSpec, AgentsSpecError> {
    let mut parts = text.split(',');
    let count = count("join", parts.next().unwrap_or_default())?;
    let mut listen = JOIN_LISTEN.to_owned();
    for part in parts {
        match part.trim().split_once('=') {
            Some(("listen", address)) => {
                let mistake = |mistake| AgentsSpecError::Address {
                    text: address.to_owned(),
                    mistake,
                };
                listen = Address::parse(address).map_err(mistake)?.to_string();
            }
            _ => {
                return Err(AgentsSpecError::Option {
                    kind: "join",
                    text: part.to_owned(),
                    fix: "write join:N or join:N,listen=ADDRESS:PORT",
                });
            }
        }
    }
    Ok(AgentsSpec::Joining { count, listen })
}

fn options(text: &str) -> Result<Vec<(String, String)>, AgentsSpecError> {
    let mut options = Vec::new();
    for part in text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let pair = part.split_once('=');
        let (key, value) = pair.ok_or_else(|| AgentsSpecError::Option {
            kind: "k8s",
            text: part.to_owned(),
            fix: "write KEY=VALUE, such as replicas=25",
        })?;
        options.push((key.trim().to_owned(), value.trim().to_owned()));
    }
    Ok(options)
}

fn listening(text: &str) -> Result<AgentsSpec, AgentsSpecError> {
    let parse = |text: &str| {
        Address::parse(text).map_err(|mistake| AgentsSpecError::Address {
            text: text.trim().to_owned(),
            mistake,
        })
    };
    let addresses = text.split(',').map(parse).collect::<Result<Vec<_>, _>>()?;
    let names: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    check_distinct(&names)?;
    Ok(AgentsSpec::Listening { addresses })
}

fn check_distinct(names: &[String]) -> Result<(), AgentsSpecError> {
    if names.len() > AGENTS_MAX {
        return Err(AgentsSpecError::TooMany { count: names.len() });
    }
    for (index, name) in names.iter().enumerate() {
        if names[..index].contains(name) {
            return Err(AgentsSpecError::Twice { name: name.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_written_back() {
        for (text, count) in [
            ("local:4", Some(4)),
            ("ssh:a,user@b.example", Some(2)),
            ("10.0.0.1:7700,[::1]:7701", Some(2)),
            ("join:25,listen=0.0.0.0:7700", Some(25)),
            ("k8s:replicas=25,namespace=perf", None),
        ] {
            let spec: AgentsSpec = text.parse().unwrap();
            assert_eq!(spec.to_string(), text);
            assert_eq!(spec.count(), count, "{text}");
            assert_eq!(spec.is_local(), text == "local:4");
        }
        let short: AgentsSpec = "join:2".parse().unwrap();
        assert_eq!(short.to_string(), "join:2,listen=0.0.0.0:7700");
    }

    #[test]
    fn mistakes_name_what_is_wrong_and_what_to_write() {
        for (text, words) in [
            ("", "--agents is empty"),
            ("local:0", "from 1 to 1000"),
            ("local:1001", "from 1 to 1000"),
            ("local:many", "from 1 to 1000"),
            ("ssh:", "is not a host"),
            ("ssh:-oProxyCommand=x", "is not a host"),
            ("ssh:a,a", "names a twice"),
            ("host", "has no port"),
            ("a:1,a:1", "names a:1 twice"),
            ("join:2,port=1", "write join:N"),
            ("k8s:replicas", "KEY=VALUE"),
        ] {
            let error = text.parse::<AgentsSpec>().unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
