//! Settings as the tools take them, from a file and from `key=value` words: what belongs to the
//! connection, and what belongs to the load.

use std::collections::BTreeMap;
use std::path::Path;

use kgauge_client::config::{KeyRole, key_role};
use kgauge_client::{ClientConfig, Settings};

use super::release::ToolRelease;
use super::say::note;

/// Whose settings are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientRole {
    Producer,
    Consumer,
    /// Neither: tools that only ask, and Kafka's admin client.
    Admin,
}

/// Where settings come from. Later ones win: the release's own, the file, the words, the flags.
#[derive(Debug, Clone, Default)]
pub(crate) struct PropertySources<'a> {
    pub(crate) defaults: Vec<(&'static str, String)>,
    pub(crate) file: Option<&'a str>,
    pub(crate) words: &'a [String],
    pub(crate) flags: Vec<(&'static str, String)>,
}

/// What they come to.
#[derive(Debug, Clone)]
pub(crate) struct ToolProperties {
    pub(crate) client: ClientConfig,
    /// Settings of the flow, by Kafka's names.
    pub(crate) flow: BTreeMap<String, String>,
    /// Whether patterns leave internal topics alone.
    pub(crate) excludes_internal: bool,
    /// `group.id`, where the settings have one.
    pub(crate) group: Option<String>,
}

/// Client settings that flows have as well.
const SHARED: &[&str] = &[
    "client.id",
    "metadata.max.age.ms",
    "receive.buffer.bytes",
    "request.timeout.ms",
    "retries",
    "retry.backoff.max.ms",
    "retry.backoff.ms",
    "send.buffer.bytes",
];

/// Settings that say what holds here anyway, or nothing.
const WITHOUT_EFFECT: &[&str] = &[
    "allow.auto.create.topics",
    "key.deserializer",
    "key.serializer",
    "max.poll.records",
    "metadata.max.idle.ms",
    "partitioner.adaptive.partitioning.enable",
    "partitioner.availability.timeout.ms",
    "partitioner.ignore.keys",
    "value.deserializer",
    "value.serializer",
];

impl PropertySources<'_> {
    /// Reads everything.
    ///
    /// # Errors
    /// In words: what is wrong, and what to do about it.
    pub(crate) fn read(&self, role: ClientRole) -> Result<ToolProperties, String> {
        let mut settings = Settings::default();
        for (key, value) in &self.defaults {
            settings.add_pair(key, value);
        }
        if let Some(file) = self.file {
            let added = settings.add_file(Path::new(file));
            added.map_err(|error| error.to_string())?;
        }
        for word in self.words {
            // Kafka's own tools refuse a second equals sign, which JAAS entries have.
            let pair = word.split_once('=');
            let (key, value) = pair.ok_or_else(|| format!("Invalid property: {word}"))?;
            settings.add_pair(key.trim(), value.trim());
        }
        for (key, value) in &self.flags {
            settings.add_pair(key, value);
        }
        sort_out(settings, role)
    }
}

fn sort_out(mut settings: Settings, role: ClientRole) -> Result<ToolProperties, String> {
    for unknown in settings.take_unknown() {
        note(&format!(
            "{} has no effect: Kafka's clients know no such setting",
            unknown.key
        ));
    }
    let (own, other) = match role {
        ClientRole::Producer => (Some(KeyRole::Producer), KeyRole::Consumer),
        ClientRole::Consumer => (Some(KeyRole::Consumer), KeyRole::Producer),
        ClientRole::Admin => (None, KeyRole::Producer),
    };
    let mut flow = BTreeMap::new();
    // Kafka's clients ignore each other's settings.
    settings.take(other);
    if role == ClientRole::Admin {
        settings.take(KeyRole::Consumer);
    }
    for entry in own.map(|own| settings.take(own)).unwrap_or_default() {
        flow.insert(entry.key, entry.value.expose().to_owned());
    }
    for entry in settings.take(KeyRole::Client) {
        let value = entry.value.expose();
        let of_flow = SHARED.contains(&entry.key.as_str());
        if of_flow && role != ClientRole::Admin {
            flow.insert(entry.key.clone(), value.to_owned());
        }
        settings.add_pair(&entry.key, value);
    }
    for key in WITHOUT_EFFECT {
        flow.remove(*key);
    }
    if role == ClientRole::Consumer {
        for key in [
            "metadata.max.age.ms",
            "retry.backoff.ms",
            "retry.backoff.max.ms",
            "retries",
        ] {
            flow.remove(key);
        }
    }
    partitioner(&mut flow)?;
    let internal = flow.remove("exclude.internal.topics");
    let excludes_internal = flag("exclude.internal.topics", internal, true)?;
    let group = flow.remove("group.id");
    let client = settings
        .client_config()
        .map_err(|error| error.to_string())?;
    for said in &client.notes {
        note(&said.what);
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

/// A setting that is true or false, as Kafka reads it.
fn flag(key: &str, text: Option<String>, default: bool) -> Result<bool, String> {
    let Some(text) = text else { return Ok(default) };
    match text.trim().to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("{key}={text}: write true or false")),
    }
}

/// Kafka's own partitioner classes have their like here.
fn partitioner(flow: &mut BTreeMap<String, String>) -> Result<(), String> {
    let Some(class) = flow.remove("partitioner.class") else {
        return Ok(());
    };
    let name = class.rsplit('.').next().unwrap_or(&class);
    let like = match name {
        "" => return Ok(()),
        "RoundRobinPartitioner" => "round-robin",
        "DefaultPartitioner" | "UniformStickyPartitioner" => "sticky",
        _ => {
            return Err(format!(
                "partitioner.class={class}: no Java class can be loaded; Kafka's own \
                 RoundRobinPartitioner, DefaultPartitioner and UniformStickyPartitioner are known"
            ));
        }
    };
    flow.insert("partitioner".to_owned(), like.to_owned());
    Ok(())
}

/// What a release's producer does when nobody says otherwise, where it differs from the newest.
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

/// The servers that `--zookeeper` stands for: nobody asks ZooKeeper here.
///
/// # Errors
/// In words, when the environment names none.
pub(crate) fn servers_for_zookeeper() -> Result<String, String> {
    const VARIABLE: &str = "KGAUGE_BOOTSTRAP_SERVERS";
    std::env::var(VARIABLE)
        .ok()
        .filter(|servers| !servers.trim().is_empty())
        .ok_or_else(|| {
            format!(
                "--zookeeper: kgauge talks to brokers only; name them in the environment, as in \
                 {VARIABLE}=host:9092"
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(role: ClientRole, words: &[&str]) -> Result<ToolProperties, String> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        PropertySources {
            words: &words,
            flags: vec![("bootstrap.servers", "a:1,b:2".to_owned())],
            ..PropertySources::default()
        }
        .read(role)
    }

    #[test]
    fn the_flow_gets_its_settings_and_the_connection_its_own() {
        let read = read(
            ClientRole::Producer,
            &["acks=1", "client.id=me", "bootstrap.servers=c:3"],
        )
        .unwrap();
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
        assert_eq!(
            read(ClientRole::Producer, &["acks"]).unwrap_err(),
            "Invalid property: acks"
        );
    }

    #[test]
    fn what_kafkas_clients_ignore_is_ignored() {
        let words = [
            "fetch.min.bytes=7",
            "no.such.key=1",
            "key.serializer=org.apache.kafka.common.serialization.ByteArraySerializer",
        ];
        assert!(read(ClientRole::Producer, &words).unwrap().flow.is_empty());
        let read = read(
            ClientRole::Consumer,
            &["group.id=g", "acks=0", "max.poll.records=1"],
        )
        .unwrap();
        assert_eq!(read.group.as_deref(), Some("g"));
        assert!(read.flow.is_empty());
    }

    #[test]
    fn kafkas_own_partitioners_are_known_and_no_others() {
        let class = "partitioner.class=org.apache.kafka.clients.producer.RoundRobinPartitioner";
        let found = read(ClientRole::Producer, &[class]).unwrap();
        assert_eq!(found.flow["partitioner"], "round-robin");
        let error = read(
            ClientRole::Producer,
            &["partitioner.class=com.example.Mine"],
        )
        .unwrap_err();
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
