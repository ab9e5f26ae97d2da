//! The metrics agent in each broker: Jolokia, which serves Kafka's MBeans over HTTP.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kgauge_client::Interrupt;

use super::error::KafkaError;
use super::fetch::{self, MavenRequest};
use super::release::KafkaDistribution;
use super::setup::KafkaSetup;

/// The last version for Java 8, which old releases need; it also runs on Java 25.
const VERSION: &str = "1.7.2";

/// Time limit for its download: it is small, and a run continues without it.
const FETCH_MAX: Duration = Duration::from_secs(60);

/// Why it is unavailable, by its folder in the cache. The next cluster of the run would otherwise wait again.
static FAILED: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());

/// The agent only permits reading, and no requests from browser pages.
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

/// The name of the policy file.
pub(crate) const POLICY_FILE: &str = "jolokia-access.xml";

/// Whether a cluster's brokers have the metrics agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Agent {
    /// They have it: its jar.
    Jar(PathBuf),
    /// They do not.
    None {
        /// Why not.
        why: String,
    },
}

impl Agent {
    /// Downloads the agent if it is requested and not cached. A run continues without it; the download is tried once.
    ///
    /// # Errors
    /// Only if the user stopped it.
    pub(crate) fn get(
        is_wanted: bool,
        release: &KafkaDistribution,
        setup: &KafkaSetup,
        interrupt: &Interrupt,
    ) -> Result<Agent, KafkaError> {
        Agent::get_within(is_wanted, release, setup, interrupt, FETCH_MAX)
    }

    fn get_within(
        is_wanted: bool,
        release: &KafkaDistribution,
        setup: &KafkaSetup,
        interrupt: &Interrupt,
        limit: Duration,
    ) -> Result<Agent, KafkaError> {
        if !is_wanted {
            let why = "the target sets metrics=off".to_owned();
            return Ok(Agent::None { why });
        }
        let proof = format!("jolokia-jvm-{VERSION}.jar");
        let order = MavenRequest {
            version: &release.version,
            dir: setup.cache_dir.join("jolokia").join(VERSION),
            artifacts: vec![("org.jolokia", "jolokia-jvm".to_owned(), VERSION.to_owned())],
            proof: proof.clone(),
            remark: format!(
                "downloading the broker metrics agent (Jolokia {VERSION}) with Maven, once (1 MB)"
            ),
        };
        let is_there = order.dir.join("libs").join(&proof).is_file();
        if let Some(why) = failed().get(&order.dir).filter(|_| !is_there) {
            let why = why.clone();
            return Ok(Agent::None { why });
        }
        match fetch::fetch_within(&order, setup, interrupt, Some(limit)) {
            Ok(libs) => Ok(Agent::Jar(libs.join(proof))),
            Err(KafkaError::Interrupted) => Err(KafkaError::Interrupted),
            Err(error) => {
                let why = format!(
                    "the broker metrics agent (Jolokia {VERSION}) is unavailable: {}",
                    words(&error)
                );
                failed().insert(order.dir, why.clone());
                Ok(Agent::None { why })
            }
        }
    }

    /// The Java flag that loads it, on this loopback port.
    pub(crate) fn flag(&self, port: u16, conf_dir: &Path) -> Option<OsString> {
        let Agent::Jar(jar) = self else { return None };
        let mut flag = OsString::from("-javaagent:");
        flag.push(jar);
        // Otherwise it looks for other agents by multicast.
        flag.push(format!(
            "=host=127.0.0.1,port={port},discoveryEnabled=false,threadNr=1,policyLocation=file://"
        ));
        flag.push(conf_dir.join(POLICY_FILE));
        Some(flag)
    }

    /// The same for the record, without paths.
    pub(crate) fn flag_told(&self) -> Option<String> {
        match self {
            Agent::Jar(_) => Some(format!("-javaagent:jolokia-jvm-{VERSION}.jar")),
            Agent::None { .. } => None,
        }
    }
}

fn failed() -> MutexGuard<'static, BTreeMap<PathBuf, String>> {
    FAILED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Converts errors about a release of Kafka to errors about the agent.
fn words(error: &KafkaError) -> String {
    match error {
        KafkaError::NoMaven { .. } => "there is no Maven (mvn) to fetch it".to_owned(),
        KafkaError::Offline { .. } => "Maven cannot reach a repository".to_owned(),
        KafkaError::NoSuchRelease { .. } => "Maven's repository does not have it".to_owned(),
        KafkaError::Maven { .. } => "Maven failed".to_owned(),
        KafkaError::Late { limit, .. } => {
            format!("Maven did not download it within {} s", limit.as_secs_f64())
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Instant;

    use super::super::process_id::ProcessId;
    use super::*;
    use crate::fake_program::write_script;

    /// A folder with a fake Maven, which records its calls in `calls`.
    fn with_maven(dir: &Path, script: &str) -> KafkaSetup {
        let maven = dir.join("bin/mvn");
        fs::create_dir(dir.join("bin")).unwrap();
        let calls = dir.join("calls").display().to_string();
        write_script(&maven, &format!("echo called >> {calls}\n{script}"));
        let path = std::env::join_paths([dir.join("bin"), "/usr/bin".into(), "/bin".into()]);
        KafkaSetup::below(dir, Some(path.unwrap()))
    }

    fn why(setup: &KafkaSetup, limit: Duration) -> String {
        let release = KafkaDistribution::of(&"4.3.1".parse().unwrap());
        match Agent::get_within(true, &release, setup, &Interrupt::new(), limit).unwrap() {
            Agent::None { why } => why,
            Agent::Jar(jar) => panic!("{}", jar.display()),
        }
    }

    #[test]
    fn a_maven_that_hangs_is_ended_and_not_asked_again() {
        let dir = tempfile::tempdir().unwrap();
        // Like the real one, which starts Java.
        let java = dir.path().join("java");
        let script = format!("sleep 600 & echo $! > {}; wait", java.display());
        let setup = with_maven(dir.path(), &script);
        let start = Instant::now();
        let reason = why(&setup, Duration::from_secs(1));
        assert!(start.elapsed() < Duration::from_secs(300));
        assert!(
            reason.ends_with("is unavailable: Maven did not download it within 1 s"),
            "{reason}"
        );
        assert_eq!(why(&setup, Duration::from_secs(600)), reason);
        // On a busy machine it was ended before it started.
        let lines = |file: &str| fs::read_to_string(dir.path().join(file)).unwrap_or_default();
        assert!(lines("calls").lines().count() <= 1);
        // Its child process ends too.
        if let Ok(java) = lines("java").trim().parse() {
            while ProcessId::of(java).is_some() {
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn a_failure_is_remembered_until_the_agent_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let setup = with_maven(dir.path(), "echo '[ERROR] no'; exit 1");
        let reason = why(&setup, Duration::from_secs(600));
        assert!(reason.ends_with("Maven failed"), "{reason}");
        assert_eq!(why(&setup, Duration::from_secs(600)), reason);
        let calls = fs::read_to_string(dir.path().join("calls")).unwrap();
        assert_eq!(calls.lines().count(), 1);
        let libs = dir.path().join("cache/jolokia/1.7.2/libs");
        fs::create_dir_all(&libs).unwrap();
        fs::write(libs.join("jolokia-jvm-1.7.2.jar"), "").unwrap();
        let release = KafkaDistribution::of(&"4.3.1".parse().unwrap());
        let agent = Agent::get(true, &release, &setup, &Interrupt::new()).unwrap();
        assert_eq!(agent, Agent::Jar(libs.join("jolokia-jvm-1.7.2.jar")));
    }

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
