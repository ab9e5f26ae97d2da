//! The agent in each broker that tells its metrics: Jolokia, which reads Kafka's MBeans for whoever asks over HTTP.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use kgauge_client::Interrupt;

use super::error::KafkaError;
use super::fetch::{self, Order};
use super::release::Release;
use super::setup::KafkaSetup;

/// The last one that runs on Java 8, as old releases may; Java 25 runs it too.
const VERSION: &str = "1.7.2";

/// The agent may read and do nothing else, whoever asks; and no page in a browser may ask.
pub(crate) const POLICY: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>
<restrict>
  <http>
    <method>post</method>
  </http>
  <commands>
    <command>read</command>
  </commands>
  <cors>
    <allow-origin>http://kgauge.invalid</allow-origin>
  </cors>
</restrict>
";

/// The name of the file with the policy.
pub(crate) const POLICY_FILE: &str = "jolokia-access.xml";

/// Why a cluster's brokers tell no metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Agent {
    /// They do: the agent's jar.
    Jar(PathBuf),
    /// They do not.
    None {
        /// Why, in words.
        why: String,
    },
}

impl Agent {
    /// Fetches the agent, unless it is in the cache or not wanted. Without it a run goes on.
    ///
    /// # Errors
    /// Only that the user stopped it.
    pub(crate) fn get(
        is_wanted: bool,
        release: &Release,
        setup: &KafkaSetup,
        interrupt: &Interrupt,
    ) -> Result<Agent, KafkaError> {
        if !is_wanted {
            let why = "the target says metrics=off".to_owned();
            return Ok(Agent::None { why });
        }
        let proof = format!("jolokia-jvm-{VERSION}.jar");
        let order = Order {
            version: &release.version,
            dir: setup.cache_dir.join("jolokia").join(VERSION),
            artifacts: vec![("org.jolokia", "jolokia-jvm".to_owned(), VERSION.to_owned())],
            proof: proof.clone(),
            remark: format!(
                "the agent for brokers' metrics (Jolokia {VERSION}) by Maven, once (1 MB)"
            ),
        };
        match fetch::fetch(&order, setup, interrupt) {
            Ok(libs) => Ok(Agent::Jar(libs.join(proof))),
            Err(KafkaError::Interrupted) => Err(KafkaError::Interrupted),
            Err(error) => Ok(Agent::None {
                why: format!(
                    "the agent that tells them (Jolokia {VERSION}) cannot be had: {}",
                    words(&error)
                ),
            }),
        }
    }

    /// The flag of Java that loads it, on this port of the loopback.
    pub(crate) fn flag(&self, port: u16, conf_dir: &Path) -> Option<OsString> {
        let Agent::Jar(jar) = self else { return None };
        let mut flag = OsString::from("-javaagent:");
        flag.push(jar);
        // It looks for others of its kind by multicast unless told otherwise.
        flag.push(format!(
            "=host=127.0.0.1,port={port},discoveryEnabled=false,threadNr=1,policyLocation=file://"
        ));
        flag.push(conf_dir.join(POLICY_FILE));
        Some(flag)
    }

    /// The same for the record, which has no paths.
    pub(crate) fn flag_told(&self) -> Option<String> {
        match self {
            Agent::Jar(_) => Some(format!("-javaagent:jolokia-jvm-{VERSION}.jar")),
            Agent::None { .. } => None,
        }
    }
}

/// Of errors that speak of a release of Kafka, what is true of the agent too.
fn words(error: &KafkaError) -> String {
    match error {
        KafkaError::NoMaven { .. } => "there is no Maven (mvn) to fetch it".to_owned(),
        KafkaError::Offline { .. } => "Maven reaches no repository".to_owned(),
        KafkaError::NoSuchRelease { .. } => "Maven's repository does not have it".to_owned(),
        KafkaError::Maven { .. } => "Maven failed".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_names_loopback_port_and_policy_and_the_record_has_no_path() {
        let agent = Agent::Jar("/cache/jolokia-jvm-1.7.2.jar".into());
        let flag = agent.flag(4_711, Path::new("/conf")).unwrap();
        let flag = flag.to_string_lossy().into_owned();
        assert!(
            flag.starts_with("-javaagent:/cache/jolokia-jvm-1.7.2.jar=host=127.0.0.1,port=4711,")
        );
        assert!(
            flag.ends_with(",policyLocation=file:///conf/jolokia-access.xml"),
            "{flag}"
        );
        assert_eq!(
            agent.flag_told().unwrap(),
            "-javaagent:jolokia-jvm-1.7.2.jar"
        );
        let none = Agent::None {
            why: "no".to_owned(),
        };
        assert_eq!(
            (none.flag(1, Path::new("/")), none.flag_told()),
            (None, None)
        );
    }
}
