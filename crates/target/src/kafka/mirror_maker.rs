//! MirrorMaker 2, Apache Kafka's replicator, as a process next to two clusters (KIP-382).

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kgauge_client::{ClientConfig, Interrupt};

use super::error::KafkaError;
use super::fetch::{self, Jars, MavenRequest};
use super::java;
use super::process::{KafkaProcess, ProcessStart};
use super::process_id::ProcessId;
use super::registry::{self, ClusterRecord};
use super::release::KafkaDistribution;
use super::setup::KafkaSetup;
use super::version::Version;
use crate::security::private;

/// The release of MirrorMaker: the newest that kgauge is tested with.
const RELEASE: &str = "4.3.1";

/// The flags of `kafka-run-class.sh` for Connect, adapted to a machine that also runs brokers.
const HEAP: [&str; 2] = ["-Xms256M", "-Xmx512M"];

/// Time limit for its end.
const END_MAX: Duration = Duration::from_secs(10);

/// The alias of the destination; it does not appear in names of copies.
const DESTINATION: &str = "kgauge-destination";

/// The alias of the source, if copies keep the topics' names.
const SOURCE: &str = "source";

/// One of the two clusters.
#[derive(Debug, Clone, Copy)]
pub struct MirrorEnd<'a> {
    /// Its bootstrap servers.
    pub config: &'a ClientConfig,
    /// The client settings of a secured cluster, in a file with Java's names.
    pub client_properties: Option<&'a Path>,
}

/// The parameters of MirrorMaker.
#[derive(Debug)]
pub struct MirrorSetup<'a> {
    /// The source.
    pub source: MirrorEnd<'a>,
    /// The destination.
    pub destination: MirrorEnd<'a>,
    /// The source's alias in the names of copies; `None` if copies keep the topics' names.
    pub prefix: Option<&'a str>,
    /// The topics to copy: a regular expression.
    pub topics: &'a str,
    /// Replicas of its internal topic at the source.
    pub source_replication: u16,
    /// Replicas of copies, and of its internal topics at the destination.
    pub replication: u16,
    /// Additional properties, which take precedence.
    pub settings: &'a BTreeMap<String, String>,
    /// Folders and names; the name is unique to this process.
    pub setup: &'a KafkaSetup,
}

/// A running MirrorMaker. Dropping it ends it.
#[derive(Debug)]
pub struct MirrorMaker {
    process: KafkaProcess,
    conf_dir: PathBuf,
    state_dir: PathBuf,
    name: String,
}

impl MirrorMaker {
    /// Downloads it if necessary, and starts it. Only the copy shows whether it works.
    pub fn start(setup: &MirrorSetup<'_>, interrupt: &Interrupt) -> Result<Self, KafkaError> {
        let KafkaSetup {
            name,
            state_dir,
            log_dir,
            ..
        } = setup.setup;
        let java = java::find(setup.setup)?;
        let jars = jars(setup.setup, &java, interrupt)?;
        let conf_dir = state_dir.join(name);
        fs::create_dir_all(log_dir).map_err(KafkaError::file(log_dir))?;
        fs::create_dir_all(state_dir).map_err(KafkaError::file(state_dir))?;
        private::make(&conf_dir).map_err(KafkaError::file(&conf_dir))?;
        // From here on, this record finds the process if kgauge is killed.
        let record = record(setup);
        let kept = registry::keep(state_dir, &record).map_err(KafkaError::file(state_dir));
        let started = kept.and_then(|()| run(setup, &jars, &java.path, &conf_dir));
        let process = match started {
            Ok(process) => process,
            Err(error) => {
                let _ = fs::remove_dir_all(&conf_dir);
                let _ = registry::forget(state_dir, name);
                return Err(error);
            }
        };
        let record = ClusterRecord {
            processes: vec![("MirrorMaker".to_owned(), process.id)],
            ..record
        };
        let maker = MirrorMaker {
            process,
            conf_dir,
            state_dir: state_dir.clone(),
            name: name.clone(),
        };
        registry::keep(state_dir, &record).map_err(KafkaError::file(state_dir))?;
        Ok(maker)
    }

    /// An error with the last lines of its log if it has ended.
    pub fn check(&mut self) -> Result<(), KafkaError> {
        self.process.check()
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.id.pid
    }

    /// The last meaningful lines of its log.
    pub fn last_words(&self) -> String {
        crate::log_tail::log_lines(&self.process.start.log_file)
    }

    /// Its log file.
    pub fn log_file(&self) -> &Path {
        &self.process.start.log_file
    }
}

/// Its record, which outlives kgauge; without the process so far.
fn record(setup: &MirrorSetup<'_>) -> ClusterRecord {
    let KafkaSetup {
        name,
        state_dir,
        log_dir,
        ..
    } = setup.setup;
    ClusterRecord {
        name: name.clone(),
        kind: kgauge_scenario::TargetKind::Kafka,
        version: format!("MirrorMaker {RELEASE}"),
        kgauge: ProcessId::own(),
        is_detached: false,
        bootstrap_servers: setup.destination.config.servers(),
        processes: Vec::new(),
        conf_dir: state_dir.join(name),
        data_dirs: Vec::new(),
        control_groups: Vec::new(),
        log_dir: std::path::absolute(log_dir).unwrap_or_else(|_| log_dir.clone()),
    }
}

impl Drop for MirrorMaker {
    fn drop(&mut self) {
        self.process.end(END_MAX);
        let _ = fs::remove_dir_all(&self.conf_dir);
        let _ = registry::forget(&self.state_dir, &self.name);
    }
}

fn jars(setup: &KafkaSetup, java: &java::Java, interrupt: &Interrupt) -> Result<Jars, KafkaError> {
    let version: Version = RELEASE.parse().map_err(|_| KafkaError::NoVersion)?;
    let release = KafkaDistribution::of(&version);
    java::check(java, &release)?;
    let artifacts = [
        ("org.apache.kafka", "connect-mirror", RELEASE),
        ("org.slf4j", "slf4j-simple", "1.7.36"),
    ];
    let order = MavenRequest {
        version: &version,
        dir: fetch::cached(setup, &version).join("mirror-maker"),
        artifacts: artifacts
            .map(|(group, name, version)| (group, name.to_owned(), version.to_owned()))
            .into(),
        proof: format!("connect-mirror-{RELEASE}.jar"),
        remark: format!(
            "downloading MirrorMaker 2 of Apache Kafka {RELEASE} with Maven, once (about 35 MB)"
        ),
    };
    let dir = fetch::fetch(&order, setup, interrupt)?;
    Ok(Jars { release, dir })
}

fn run(
    setup: &MirrorSetup<'_>,
    jars: &Jars,
    java: &Path,
    conf_dir: &Path,
) -> Result<KafkaProcess, KafkaError> {
    let name = "mirror-maker.properties";
    let text = properties(setup)?;
    let config = private::write(conf_dir, name, text.as_bytes())
        .map_err(KafkaError::file(&conf_dir.join(name)))?;
    let mut arguments: Vec<_> = HEAP.iter().map(Into::into).collect();
    arguments.extend(super::launch::JVM.iter().map(Into::into));
    arguments.extend([
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=info".into(),
        "-Dorg.slf4j.simpleLogger.showDateTime=true".into(),
        "-cp".into(),
        jars.class_path(),
        "org.apache.kafka.connect.mirror.MirrorMaker".into(),
        config.into_os_string(),
    ]);
    KafkaProcess::start(ProcessStart {
        role: "MirrorMaker".to_owned(),
        program: java.to_owned(),
        arguments,
        dir: conf_dir.to_owned(),
        log_file: setup.setup.log_dir.join("mirror-maker.log"),
        group: None,
        environment: Vec::new(),
    })
}

/// Its configuration file. Names are those of Kafka's documentation (georeplication).
fn properties(setup: &MirrorSetup<'_>) -> Result<String, KafkaError> {
    let source = setup.prefix.unwrap_or(SOURCE);
    let flow = format!("{source}->{DESTINATION}");
    let mut entries: BTreeMap<String, String> = BTreeMap::new();
    let mut set = |key: String, value: &str| {
        entries.insert(key, value.to_owned());
    };
    set("clusters".to_owned(), &format!("{source}, {DESTINATION}"));
    set(
        format!("{source}.bootstrap.servers"),
        &setup.source.config.servers(),
    );
    set(
        format!("{DESTINATION}.bootstrap.servers"),
        &setup.destination.config.servers(),
    );
    set(format!("{flow}.enabled"), "true");
    set(format!("{flow}.topics"), setup.topics);
    set(format!("{DESTINATION}->{source}.enabled"), "false");
    if setup.prefix.is_none() {
        let identity = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy";
        set("replication.policy.class".to_owned(), identity);
    }
    // Each repeat has a new topic, which must be found at once; the default is ten minutes.
    set("refresh.topics.interval.seconds".to_owned(), "1");
    for key in [
        "emit.heartbeats.enabled",
        "refresh.groups.enabled",
        "sync.group.offsets.enabled",
        "sync.topic.acls.enabled",
    ] {
        set(key.to_owned(), "false");
    }
    for of in [
        "",
        "checkpoints.topic.",
        "heartbeats.topic.",
        "config.storage.",
        "offset.storage.",
        "status.storage.",
    ] {
        set(
            format!("{of}replication.factor"),
            &setup.replication.to_string(),
        );
    }
    set(
        "offset-syncs.topic.replication.factor".to_owned(),
        &setup.source_replication.to_string(),
    );
    for (name, end) in [(source, &setup.source), (DESTINATION, &setup.destination)] {
        let Some(file) = end.client_properties else {
            continue;
        };
        let text = fs::read_to_string(file).map_err(KafkaError::file(file))?;
        let lines = text.lines().filter_map(|line| line.split_once('='));
        for (key, value) in lines.filter(|(key, _)| *key != "bootstrap.servers") {
            entries.insert(format!("{name}.{}", key.trim()), value.trim().to_owned());
        }
    }
    // In such a file a backslash escapes the next character.
    let settings = setup.settings.iter();
    entries.extend(settings.map(|(key, value)| (key.clone(), value.replace('\\', "\\\\"))));
    let mut text = String::new();
    for (key, value) in entries {
        // Writing to a text does not fail.
        let _ = writeln!(text, "{key}={value}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(prefix: Option<&str>, settings: &[(&str, &str)], secured: Option<&Path>) -> String {
        let config = |servers: &str| ClientConfig::from_servers(servers).unwrap();
        let (source, destination) = (config("a:1,b:2"), config("c:3"));
        let settings = settings.iter();
        properties(&MirrorSetup {
            source: MirrorEnd {
                config: &source,
                client_properties: secured,
            },
            destination: MirrorEnd {
                config: &destination,
                client_properties: None,
            },
            prefix,
            topics: "kgauge-.*",
            source_replication: 1,
            replication: 3,
            settings: &settings
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
            setup: &KafkaSetup::below(Path::new("nowhere"), None),
        })
        .unwrap()
    }

    fn has(text: &str, line: &str) -> bool {
        text.lines().any(|one| one == line)
    }

    #[test]
    fn one_way_is_copied_and_copies_are_named_after_the_source() {
        let text = written(Some("east"), &[("tasks.max", "4")], None);
        assert!(has(&text, "clusters=east, kgauge-destination"), "{text}");
        assert!(has(&text, "east.bootstrap.servers=a:1,b:2"), "{text}");
        assert!(
            has(&text, "kgauge-destination.bootstrap.servers=c:3"),
            "{text}"
        );
        assert!(
            has(&text, "east->kgauge-destination.enabled=true"),
            "{text}"
        );
        assert!(
            has(&text, "kgauge-destination->east.enabled=false"),
            "{text}"
        );
        assert!(
            has(&text, "east->kgauge-destination.topics=kgauge-.*"),
            "{text}"
        );
        assert!(has(&text, "replication.factor=3"), "{text}");
        assert!(
            has(&text, "offset-syncs.topic.replication.factor=1"),
            "{text}"
        );
        assert!(has(&text, "tasks.max=4"), "{text}");
        assert!(!text.contains("replication.policy.class"), "{text}");
    }

    #[test]
    fn copies_without_a_prefix_need_another_policy_and_settings_win() {
        let text = written(None, &[("refresh.topics.interval.seconds", "30")], None);
        let policy =
            "replication.policy.class=org.apache.kafka.connect.mirror.IdentityReplicationPolicy";
        assert!(has(&text, policy), "{text}");
        assert!(has(&text, "refresh.topics.interval.seconds=30"), "{text}");
        let text = written(None, &[("topics.exclude", r"a\.b")], None);
        assert!(has(&text, r"topics.exclude=a\\.b"), "{text}");
    }

    #[test]
    fn a_secured_end_is_reached_with_what_its_file_says() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("client.properties");
        fs::write(
            &file,
            "bootstrap.servers=x:9\nsecurity.protocol=SASL_PLAINTEXT\n",
        )
        .unwrap();
        let text = written(Some("east"), &[], Some(&file));
        assert!(
            has(&text, "east.security.protocol=SASL_PLAINTEXT"),
            "{text}"
        );
        assert!(!text.contains("x:9"), "{text}");
    }
}
