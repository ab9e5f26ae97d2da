//! Kafka settings from a file and from `key=value` words: those of the connection and those of the load.

use std::collections::BTreeMap;
use std::path::Path;

use kgauge_client::config::{KeyRole, key_role};
use kgauge_client::{ClientConfig, Settings};

use crate::context::ToolContext;
use crate::failure::ToolFailure;
use crate::options::ParsedOptions;
use crate::release::ToolRelease;

/// The client whose settings are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientRole {
    Producer,
    Consumer,
    /// Neither, such as Kafka's admin client.
    Admin,
}

/// The sources of settings. Later ones win: the release's defaults, the file, the words, the flags.
#[derive(Debug, Clone, Default)]
pub(crate) struct PropertySources<'a> {
    pub(crate) defaults: Vec<(&'static str, String)>,
    pub(crate) file: Option<&'a str>,
    pub(crate) words: &'a [String],
    pub(crate) flags: Vec<(&'static str, String)>,
}

/// The settings of a tool.
#[derive(Debug, Clone)]
pub(crate) struct ToolProperties {
    pub(crate) client: ClientConfig,
    /// Settings of the flow, by Kafka's names.
    pub(crate) flow: BTreeMap<String, String>,
    /// Whether patterns skip internal topics.
    pub(crate) excludes_internal: bool,
    /// `group.id`, if there is one.
    pub(crate) group: Option<String>,
}

/// Settings of the connection that flows have as well.
const SHARED: &str = "client.id metadata.max.age.ms receive.buffer.bytes request.timeout.ms retries \
                      retry.backoff.max.ms retry.backoff.ms send.buffer.bytes";

/// Settings without effect here.
const WITHOUT_EFFECT: &str = "allow.auto.create.topics key.deserializer key.serializer \
                              max.poll.records metadata.max.idle.ms \
                              partitioner.adaptive.partitioning.enable \
                              partitioner.availability.timeout.ms partitioner.ignore.keys \
                              value.deserializer value.serializer";

/// The same for consumers, which share them with producers.
const WITHOUT_EFFECT_ON_CONSUMERS: &str =
    "metadata.max.age.ms retries retry.backoff.max.ms retry.backoff.ms";

impl PropertySources<'_> {
    /// Reads all sources.
    pub(crate) fn read(
        &self,
        role: ClientRole,
        context: &ToolContext<'_>,
    ) -> Result<ToolProperties, ToolFailure> {
        let mut settings = Settings::default();
        for (key, value) in &self.defaults {
            settings.add_pair(key, value);
        }
        if let Some(file) = self.file {
            let added = settings.add_file(Path::new(file));
            added.map_err(ToolFailure::of)?;
        }
        for word in self.words {
            // Kafka's own tools refuse a second equals sign, which JAAS entries have.
            let Some((key, value)) = word.split_once('=') else {
                return Err(ToolFailure::Failed(format!("Invalid property: {word}")));
            };
            settings.add_pair(key.trim(), value.trim());
        }
        for (key, value) in &self.flags {
            settings.add_pair(key, value);
        }
        divide(settings, role, context)
    }
}

/// Separates the settings of the connection from those of the flow.
fn divide(
    mut settings: Settings,
    role: ClientRole,
    context: &ToolContext<'_>,
) -> Result<ToolProperties, ToolFailure> {
    for unknown in settings.take_unknown() {
        context.note(&format!(
            "{} has no effect: Kafka's clients have no such setting",
            unknown.key
        ));
    }
    let mut flow = BTreeMap::new();
    for (kind, is_own) in [
        (KeyRole::Producer, role == ClientRole::Producer),
        (KeyRole::Consumer, role == ClientRole::Consumer),
    ] {
        // Kafka's clients ignore each other's settings.
        let entries = settings.take(kind).into_iter().filter(|_| is_own);
        flow.extend(entries.map(|entry| (entry.key, entry.value.expose().to_owned())));
    }
    for entry in settings.take(KeyRole::Client) {
        let value = entry.value.expose();
        if SHARED.split(' ').any(|key| key == entry.key) && role != ClientRole::Admin {
            flow.insert(entry.key.clone(), value.to_owned());
        }
        settings.add_pair(&entry.key, value);
    }
    for key in WITHOUT_EFFECT.split(' ') {
        flow.remove(key);
    }
    if role == ClientRole::Consumer {
        for key in WITHOUT_EFFECT_ON_CONSUMERS.split(' ') {
            flow.remove(key);
        }
    }
    partitioner(&mut flow)?;
    let excludes_internal = excludes_internal(flow.remove("exclude.internal.topics"))?;
    let group = flow.remove("group.id");
    let client = settings.client_config().map_err(ToolFailure::of)?;
    for note in &client.notes {
        context.note(&note.what);
    }
    debug_assert!(
        flow.keys()
            .all(|key| key_role(key).is_some() || key == "partitioner")
    );
    Ok(ToolProperties {
        client,
        flow,
        excludes_internal,
        group,
    })
}

fn excludes_internal(text: Option<String>) -> Result<bool, ToolFailure> {
    let text = text.unwrap_or_else(|| "true".to_owned());
    match text.trim().to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(ToolFailure::Failed(format!(
            "exclude.internal.topics={text}: write true or false"
        ))),
    }
}

/// Replaces Kafka's own partitioner classes by their equivalents.
fn partitioner(flow: &mut BTreeMap<String, String>) -> Result<(), ToolFailure> {
    let Some(class) = flow.remove("partitioner.class") else {
        return Ok(());
    };
    let equivalent = match class.rsplit('.').next().unwrap_or(&class) {
        "" => return Ok(()),
        "RoundRobinPartitioner" => "round-robin",
        "DefaultPartitioner" | "UniformStickyPartitioner" => "sticky",
        _ => {
            return Err(ToolFailure::Failed(format!(
                "partitioner.class={class}: kgauge cannot load Java classes; it knows Kafka's own \
                 RoundRobinPartitioner, DefaultPartitioner and UniformStickyPartitioner"
            )));
        }
    };
    flow.insert("partitioner".to_owned(), equivalent.to_owned());
    Ok(())
}

/// The default settings of a release's producer that differ from those of the newest.
pub(crate) fn producer_defaults(as_of: ToolRelease) -> Vec<(&'static str, String)> {
    let mut defaults = vec![("client.id", "perf-producer-client".to_owned())];
    let mut set = |key, value: &str| defaults.push((key, value.to_owned()));
    if as_of < ToolRelease::of(4, 0, 0) {
        set("linger.ms", "0");
    }
    if as_of < ToolRelease::of(3, 0, 0) {
        // Idempotent by default, and acks=all with it, since 3.0 (KIP-679).
        set("acks", "1");
        set("enable.idempotence", "false");
    }
    if as_of < ToolRelease::of(2, 4, 0) {
        set(
            "partitioner.class",
            "org.apache.kafka.clients.producer.RoundRobinPartitioner",
        );
    }
    if as_of < ToolRelease::of(2, 1, 0) {
        set("retries", "0");
    }
    defaults
}

/// The brokers: the first of these options, or those that `--zookeeper` stands for, since kgauge does not talk to
/// ZooKeeper.
pub(crate) fn servers(
    given: &ParsedOptions,
    options: &[&str],
    context: &ToolContext<'_>,
) -> Result<String, ToolFailure> {
    if let Some(servers) = given.first_of(options) {
        return Ok(servers.trim_start_matches("kafka://").to_owned());
    }
    let servers = context.servers.clone();
    let servers = servers.filter(|servers| !servers.trim().is_empty());
    servers.ok_or_else(|| {
        ToolFailure::Failed(
            "--zookeeper: kgauge talks only to brokers; name them in the environment, as in \
             KGAUGE_BOOTSTRAP_SERVERS=host:9092"
                .to_owned(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::{RecordedOutput, context};

    fn read(role: ClientRole, words: &[&str]) -> Result<ToolProperties, ToolFailure> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let sources = PropertySources {
            words: &words,
            flags: vec![("bootstrap.servers", "a:1,b:2".to_owned())],
            ..PropertySources::default()
        };
        sources.read(role, &context(&RecordedOutput::default()))
    }

    #[test]
    fn the_flow_gets_its_settings_and_the_connection_its_own() {
        let words = ["acks=1", "client.id=me", "bootstrap.servers=c:3"];
        let read = read(ClientRole::Producer, &words).unwrap();
        assert_eq!(read.flow["acks"], "1");
        assert_eq!(read.flow["client.id"], "me");
        assert_eq!(read.client.client_id, "me");
        assert_eq!(read.client.bootstrap_servers.len(), 2, "the flag wins");
    }

    #[test]
    fn a_value_may_have_equals_signs() {
        let jaas = "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule \
                    required username=\"u\" password=\"p\";";
        let words = [
            "security.protocol=SASL_PLAINTEXT",
            "sasl.mechanism=PLAIN",
            jaas,
        ];
        assert!(read(ClientRole::Producer, &words).is_ok());
        let error = read(ClientRole::Producer, &["acks"]).unwrap_err();
        assert_eq!(error.to_string(), "Invalid property: acks");
    }

    #[test]
    fn what_kafkas_clients_ignore_is_ignored() {
        let words = [
            "fetch.min.bytes=7",
            "no.such.key=1",
            "key.serializer=org.apache.kafka.common.serialization.ByteArraySerializer",
        ];
        assert!(read(ClientRole::Producer, &words).unwrap().flow.is_empty());
        let words = ["group.id=g", "acks=0", "max.poll.records=1"];
        let read = read(ClientRole::Consumer, &words).unwrap();
        assert_eq!(read.group.as_deref(), Some("g"));
        assert!(read.flow.is_empty());
    }

    #[test]
    fn only_kafkas_own_partitioners_are_known() {
        let class = "partitioner.class=org.apache.kafka.clients.producer.RoundRobinPartitioner";
        let found = read(ClientRole::Producer, &[class]).unwrap();
        assert_eq!(found.flow["partitioner"], "round-robin");
        let other = "partitioner.class=com.example.Mine";
        let error = read(ClientRole::Producer, &[other])
            .unwrap_err()
            .to_string();
        assert!(error.contains("com.example.Mine"), "{error}");
    }

    #[test]
    fn a_release_has_its_own_defaults() {
        let of = |text| producer_defaults(ToolRelease::parse(text).unwrap());
        let has = |list: &[(&str, String)], key| list.iter().any(|(one, _)| *one == key);
        assert!(!has(&of("4.3.1"), "linger.ms") && !has(&of("4.3.1"), "acks"));
        assert!(has(&of("3.9.1"), "linger.ms") && !has(&of("3.9.1"), "acks"));
        assert!(has(&of("1.0.2"), "acks") && has(&of("1.0.2"), "retries"));
    }
}
