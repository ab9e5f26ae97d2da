//! The text of server.properties, and of its relatives.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::release::{Coordination, KafkaDistribution};
use super::spec::KafkaSpec;

/// Sixteen bytes in base64, as in every cluster id: "kgauge-on-kafka!".
pub(crate) const CLUSTER_ID: &str = "a2dhdWdlLW9uLWthZmthIQ";

/// Controllers are numbered from here; brokers from 1.
const CONTROLLER_ID_FIRST: u16 = 501;

/// More voters make a quorum slower, and no safer on one machine.
const VOTERS_MAX: u16 = 3;

/// A process of the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KafkaNode {
    pub(crate) id: u16,
    pub(crate) is_broker: bool,
    pub(crate) is_controller: bool,
    /// Address of the listener for clients.
    pub(crate) client_port: u16,
    /// Address of the listener for brokers; that of the clients without security.
    pub(crate) inner_port: u16,
    /// Address of the controllers' listener.
    pub(crate) controller_port: u16,
    /// Address of its metrics agent.
    pub(crate) metrics_port: u16,
    pub(crate) log_dirs: Vec<PathBuf>,
    /// The ports that others use, if a proxy is in front of its own.
    pub(crate) proxied: Option<ProxiedPorts>,
}

/// The ports of a proxy in front of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProxiedPorts {
    pub(crate) client: u16,
    pub(crate) inner: u16,
    pub(crate) controller: u16,
    /// In front of ZooKeeper, for this node.
    pub(crate) zookeeper: Option<u16>,
}

impl KafkaNode {
    /// The port that clients use.
    pub(crate) fn advertised_client_port(&self) -> u16 {
        self.proxied.map_or(self.client_port, |ports| ports.client)
    }

    /// The port that other brokers use.
    fn advertised_inner_port(&self) -> u16 {
        self.proxied.map_or(self.inner_port, |ports| ports.inner)
    }

    /// The port of its controller that others use.
    fn advertised_controller_port(&self) -> u16 {
        let own = self.controller_port;
        self.proxied.map_or(own, |ports| ports.controller)
    }

    /// Its name in messages.
    pub(crate) fn role(&self) -> String {
        if self.is_broker {
            format!("broker {}", self.id)
        } else {
            format!("controller {}", self.id)
        }
    }

    /// The name of its files.
    pub(crate) fn file_name(&self) -> String {
        self.role().replace(' ', "-")
    }
}

/// All nodes of a cluster, without ports and folders.
pub(crate) fn nodes(spec: &KafkaSpec, release: &KafkaDistribution) -> Vec<KafkaNode> {
    let kraft = release.coordination == Coordination::KRaft;
    // An even number of voters survives no more failures than the odd number below it.
    let combined = match (kraft, spec.controllers, spec.brokers) {
        (false, ..) | (_, 1.., _) => 0,
        (true, 0, brokers) if brokers < VOTERS_MAX => 1,
        (true, 0, _) => VOTERS_MAX,
    };
    let node = |id: u16, is_broker: bool, is_controller: bool| KafkaNode {
        id,
        is_broker,
        is_controller,
        client_port: 0,
        inner_port: 0,
        controller_port: 0,
        metrics_port: 0,
        log_dirs: Vec::new(),
        proxied: None,
    };
    let brokers = (1..=spec.brokers).map(|id| node(id, true, id <= combined));
    let dedicated = if kraft { spec.controllers } else { 0 };
    let controllers = (0..dedicated).map(|index| node(CONTROLLER_ID_FIRST + index, false, true));
    brokers.chain(controllers).collect()
}

/// Settings shared by all nodes.
#[derive(Debug)]
pub(crate) struct SharedProperties<'a> {
    pub(crate) spec: &'a KafkaSpec,
    pub(crate) release: &'a KafkaDistribution,
    /// ZooKeeper's port, where there is one.
    pub(crate) zookeeper_port: Option<u16>,
    /// Settings of the client listener, including secrets.
    pub(crate) security: &'a BTreeMap<String, String>,
}

/// The settings of a node. The user's come last and override kgauge's own.
pub(crate) fn settings(
    shared: &SharedProperties<'_>,
    node: &KafkaNode,
    all: &[KafkaNode],
) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    let mut set = |key: &str, value: String| {
        settings.insert(key.to_owned(), value);
    };
    let dirs: Vec<String> = node
        .log_dirs
        .iter()
        .map(|dir| dir.display().to_string())
        .collect();
    set("log.dirs", dirs.join(","));
    match shared.zookeeper_port {
        Some(port) => {
            set("broker.id", node.id.to_string());
            let proxied = node.proxied.and_then(|ports| ports.zookeeper);
            let port = proxied.unwrap_or(port);
            set("zookeeper.connect", format!("127.0.0.1:{port}"));
        }
        None => quorum(&mut set, node, all),
    }
    listeners(&mut set, shared, node);
    internal_topics(&mut set, shared);
    if !shared.release.version.is_at_least(&[1]) {
        // The default since 1.0 (KAFKA-5384); topics of a run are deleted.
        set("delete.topic.enable", "true".to_owned());
    }
    // Deleted topics free their disk space after a second, not a minute.
    set("log.segment.delete.delay.ms", "1000".to_owned());
    if shared.release.version.is_at_least(&[0, 11]) {
        set("group.initial.rebalance.delay.ms", "0".to_owned());
    }
    if node.is_broker {
        settings.extend(shared.security.clone());
    }
    settings.extend(shared.spec.settings.clone());
    let own = shared.spec.broker_settings.get(&node.id);
    settings.extend(own.cloned().unwrap_or_default());
    settings
}

fn quorum(set: &mut impl FnMut(&str, String), node: &KafkaNode, all: &[KafkaNode]) {
    let roles = match (node.is_broker, node.is_controller) {
        (true, true) => "broker,controller",
        (true, false) => "broker",
        (false, _) => "controller",
    };
    let voters: Vec<String> = all
        .iter()
        .filter(|node| node.is_controller)
        .map(|node| {
            format!(
                "{}@127.0.0.1:{}",
                node.id,
                node.advertised_controller_port()
            )
        })
        .collect();
    set("process.roles", roles.to_owned());
    set("node.id", node.id.to_string());
    set("controller.quorum.voters", voters.join(","));
    set("controller.listener.names", "CONTROLLER".to_owned());
}

fn listeners(set: &mut impl FnMut(&str, String), shared: &SharedProperties<'_>, node: &KafkaNode) {
    let client = shared.spec.security.protocol();
    if !shared.release.has_listeners() {
        set("host.name", "127.0.0.1".to_owned());
        set("advertised.host.name", "127.0.0.1".to_owned());
        set("port", node.client_port.to_string());
        set("advertised.port", node.client_port.to_string());
        return;
    }
    let at = |name: &str, port: u16| format!("{name}://127.0.0.1:{port}");
    let inner = inner_listener(node, client);
    let (mut serving, mut advertised) = (Vec::new(), Vec::new());
    if node.is_broker {
        serving.push(at(client, node.client_port));
        advertised.push(at(client, node.advertised_client_port()));
        if node.inner_port != node.client_port {
            serving.push(at(inner, node.inner_port));
            advertised.push(at(inner, node.advertised_inner_port()));
        }
    }
    if node.is_controller {
        serving.push(at("CONTROLLER", node.controller_port));
        // Since 3.9, the leader of the controllers tells others where it listens (KIP-853).
        if node.proxied.is_some() && shared.release.version.is_at_least(&[3, 9]) {
            advertised.push(at("CONTROLLER", node.advertised_controller_port()));
        }
    }
    set("listeners", serving.join(","));
    if !advertised.is_empty() {
        set("advertised.listeners", advertised.join(","));
    }
    let kraft = shared.release.coordination == Coordination::KRaft;
    if kraft || inner == PROXIED_INNER {
        let mut map: Vec<String> = ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
            .map(|name| format!("{name}:{name}"))
            .to_vec();
        map.extend(kraft.then(|| "CONTROLLER:PLAINTEXT".to_owned()));
        map.extend((inner == PROXIED_INNER).then(|| format!("{PROXIED_INNER}:PLAINTEXT")));
        set("listener.security.protocol.map", map.join(","));
    }
    match node.is_broker {
        true if inner == PROXIED_INNER => set("inter.broker.listener.name", inner.to_owned()),
        true => set("security.inter.broker.protocol", "PLAINTEXT".to_owned()),
        false => {}
    }
}

/// The listener for brokers where clients use `PLAINTEXT`, too.
const PROXIED_INNER: &str = "INNER";

/// The name of the listener for brokers.
fn inner_listener(node: &KafkaNode, client: &str) -> &'static str {
    match node.proxied.is_some() && client == "PLAINTEXT" {
        true => PROXIED_INNER,
        false => "PLAINTEXT",
    }
}

/// Kafka's internal topics must fit a small cluster.
fn internal_topics(set: &mut impl FnMut(&str, String), shared: &SharedProperties<'_>) {
    let version = &shared.release.version;
    let replicas = shared.spec.brokers.min(3);
    let in_sync = replicas.saturating_sub(1).max(1);
    set("offsets.topic.replication.factor", replicas.to_string());
    if version.is_at_least(&[0, 11]) {
        set(
            "transaction.state.log.replication.factor",
            replicas.to_string(),
        );
        set("transaction.state.log.min.isr", in_sync.to_string());
    }
    if version.is_at_least(&[4]) {
        set(
            "share.coordinator.state.topic.replication.factor",
            replicas.to_string(),
        );
        set("share.coordinator.state.topic.min.isr", in_sync.to_string());
    }
}

/// Settings as a properties file. Java requires double backslashes.
pub(crate) fn text(settings: &BTreeMap<String, String>) -> String {
    let mut text = String::new();
    for (key, value) in settings {
        let _ = writeln!(text, "{key}={}", value.replace('\\', "\\\\"));
    }
    text
}

/// The configuration of a single ZooKeeper node.
pub(crate) fn zookeeper(data: &Path, port: u16) -> String {
    format!(
        "dataDir={}\nclientPort={port}\nclientPortAddress=127.0.0.1\nmaxClientCnxns=0\n\
         tickTime=2000\nadmin.enableServer=false\n",
        data.display()
    )
}

/// log4j 1: everything of INFO and above goes to stdout.
pub(crate) const LOG4J: &str = "\
log4j.rootLogger=INFO, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=[%d] %p %m (%c)%n
";

#[cfg(test)]
mod tests {
    use super::*;

    fn settings_of(version: &str, text: &str) -> (Vec<KafkaNode>, Vec<BTreeMap<String, String>>) {
        let spec = KafkaSpec::parse(&format!("{version}{text}")).unwrap();
        let release = KafkaDistribution::of(&version.parse().unwrap());
        let mut nodes = nodes(&spec, &release);
        for node in &mut nodes {
            node.client_port = 9000 + node.id;
            node.inner_port = node.client_port;
            node.controller_port = 8000 + node.id;
        }
        let zookeeper = release.coordination == Coordination::ZooKeeper;
        let shared = SharedProperties {
            spec: &spec,
            release: &release,
            zookeeper_port: zookeeper.then_some(2181),
            security: &BTreeMap::new(),
        };
        let all = nodes.iter().map(|node| settings(&shared, node, &nodes));
        let all = all.collect();
        (nodes, all)
    }

    #[test]
    fn three_brokers_vote_together_and_a_fourth_only_serves() {
        let (_, settings) = settings_of("4.3.1", ",brokers=4");
        assert_eq!(settings[0]["process.roles"], "broker,controller");
        assert_eq!(settings[3]["process.roles"], "broker");
        let voters = "1@127.0.0.1:8001,2@127.0.0.1:8002,3@127.0.0.1:8003";
        assert_eq!(settings[3]["controller.quorum.voters"], voters);
        let listeners = "PLAINTEXT://127.0.0.1:9001,CONTROLLER://127.0.0.1:8001";
        assert_eq!(settings[0]["listeners"], listeners);
        assert_eq!(settings[3]["listeners"], "PLAINTEXT://127.0.0.1:9004");
        assert_eq!(settings[0]["offsets.topic.replication.factor"], "3");
        assert_eq!(
            settings_of("4.3.1", ",brokers=2").1[1]["process.roles"],
            "broker"
        );
    }

    #[test]
    fn dedicated_controllers_serve_no_clients() {
        let (nodes, settings) = settings_of("4.3.1", ",brokers=1,controllers=1");
        assert_eq!(nodes[1].role(), "controller 501");
        assert_eq!(settings[0]["process.roles"], "broker");
        assert_eq!(settings[1]["listeners"], "CONTROLLER://127.0.0.1:8501");
        assert!(!settings[1].contains_key("advertised.listeners"));
    }

    #[test]
    fn old_releases_have_a_host_and_a_port() {
        let (_, settings) = settings_of("0.8.2.2", "");
        assert_eq!(settings[0]["host.name"], "127.0.0.1");
        assert_eq!(settings[0]["port"], "9001");
        assert_eq!(settings[0]["zookeeper.connect"], "127.0.0.1:2181");
        assert!(!settings[0].contains_key("listeners"));
        assert!(!settings[0].contains_key("process.roles"));
        assert_eq!(settings[0]["delete.topic.enable"], "true");
    }

    #[test]
    fn what_the_user_gave_wins_and_a_broker_s_own_wins_over_that() {
        let text =
            ",brokers=2,num.io.threads=4,offsets.topic.replication.factor=1,2.num.io.threads=8";
        let (_, settings) = settings_of("3.9.1", text);
        assert_eq!(settings[0]["num.io.threads"], "4");
        assert_eq!(settings[1]["num.io.threads"], "8");
        assert_eq!(settings[0]["offsets.topic.replication.factor"], "1");
    }

    #[test]
    fn a_backslash_survives_java() {
        let settings = BTreeMap::from([("a.b".to_owned(), "c\\d".to_owned())]);
        assert_eq!(text(&settings), "a.b=c\\\\d\n");
    }
}
