//! Facts about a target that affect figures, as it reports them.

use std::collections::BTreeMap;

use kgauge_broker::controller::CLUSTER_ID_PREFIX;
use kgauge_client::admin::{AdminConfigResource, ConfigsError};
use kgauge_client::cluster::Broker;
use kgauge_client::release::ReleaseGuess;
use kgauge_client::{CallError, Cluster, ClusterError};
use kgauge_scenario::{ClusterFacts, TargetKind};

use crate::existing::is_same_machine;

/// Broker settings that affect throughput, latency or safety.
const SETTINGS: &[&str] = &[
    "auto.create.topics.enable",
    "background.threads",
    "compression.type",
    "default.replication.factor",
    "flush.messages",
    "flush.ms",
    "group.initial.rebalance.delay.ms",
    "inter.broker.protocol.version",
    "log.cleaner.threads",
    "log.dir",
    "log.dirs",
    "log.flush.interval.messages",
    "log.flush.interval.ms",
    "log.flush.scheduler.interval.ms",
    "log.index.interval.bytes",
    "log.message.timestamp.type",
    "log.retention.bytes",
    "log.retention.hours",
    "log.retention.ms",
    "log.segment.bytes",
    "log.segment.preallocate",
    "message.max.bytes",
    "min.insync.replicas",
    "num.io.threads",
    "num.network.threads",
    "num.partitions",
    "num.replica.fetchers",
    "queued.max.requests",
    "replica.fetch.max.bytes",
    "replica.fetch.min.bytes",
    "replica.fetch.wait.max.ms",
    "replica.lag.time.max.ms",
    "socket.receive.buffer.bytes",
    "socket.request.max.bytes",
    "socket.send.buffer.bytes",
    "unclean.leader.election.enable",
];

/// Whether a broker setting affects figures.
pub(crate) fn is_listed(key: &str) -> bool {
    SETTINGS.contains(&key)
}

/// What a target reports about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetFacts {
    /// What kind of target it is.
    pub kind: TargetKind,
    /// Kafka's cluster id; clusters before 0.10.1 have none.
    pub cluster_id: Option<String>,
    /// The bootstrap addresses.
    pub bootstrap_servers: Vec<String>,
    /// Whether all brokers run on this machine.
    pub same_machine: Option<bool>,
    /// The release, as far as the brokers' API versions show it.
    pub version: Option<String>,
    /// Its brokers, sorted by id.
    pub brokers: Vec<BrokerFacts>,
    /// Facts that could not be read, and why.
    pub missing: Vec<String>,
    /// The names of all broker settings that the first broker reports.
    pub settings_known: Vec<String>,
}

/// What a broker reports about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerFacts {
    /// Its id.
    pub id: i32,
    /// Its advertised address.
    pub address: String,
    /// Its rack.
    pub rack: Option<String>,
    /// The settings in force that affect figures, as far as it reports them.
    pub settings: BTreeMap<String, String>,
}

impl TargetFacts {
    /// Queries every broker of a cluster. `also` names additional settings to keep.
    pub(crate) fn gather(
        kind: TargetKind,
        cluster: &mut Cluster,
        also: &[String],
    ) -> Result<TargetFacts, ClusterError> {
        cluster.refresh(&[])?;
        let metadata = cluster.metadata().clone();
        let mut missing = Vec::new();
        let mut versions = Vec::new();
        let mut brokers = Vec::new();
        let mut known = Vec::new();
        for broker in &metadata.brokers {
            let answers = cluster.api_versions(broker.id)?;
            let guess = ReleaseGuess::from_api_versions(&answers).to_string();
            if !versions.contains(&guess) {
                versions.push(guess);
            }
            brokers.push(broker_facts(
                cluster,
                broker,
                also,
                &mut known,
                &mut missing,
            )?);
        }
        let addresses: Vec<_> = metadata
            .brokers
            .into_iter()
            .map(|broker| broker.address)
            .collect();
        let servers = &cluster.config().bootstrap_servers;
        Ok(TargetFacts {
            kind,
            cluster_id: metadata.cluster_id,
            bootstrap_servers: servers.iter().map(ToString::to_string).collect(),
            same_machine: is_same_machine(&addresses),
            version: match kind {
                TargetKind::Embedded => Some(format!("kgauge {}", env!("CARGO_PKG_VERSION"))),
                // Brokers of different releases are all listed.
                _ => Some(versions.join(" and ")).filter(|words| !words.is_empty()),
            },
            brokers,
            missing,
            settings_known: known,
        })
    }

    /// The kind that reports name: an existing cluster with the cluster id of an embedded one is no Apache Kafka.
    pub fn reported_kind(&self) -> TargetKind {
        let id = self.cluster_id.as_deref().unwrap_or_default();
        match self.kind == TargetKind::Existing && id.starts_with(CLUSTER_ID_PREFIX) {
            true => TargetKind::ExistingEmbedded,
            false => self.kind,
        }
    }

    /// The facts that a plan needs.
    pub fn for_plan(&self) -> ClusterFacts {
        ClusterFacts {
            cluster_id: self.cluster_id.clone().unwrap_or_default(),
            brokers: u32::try_from(self.brokers.len()).unwrap_or(u32::MAX),
            kind: self.kind,
            version: self.version.clone(),
        }
    }
}

fn broker_facts(
    cluster: &mut Cluster,
    broker: &Broker,
    also: &[String],
    known: &mut Vec<String>,
    missing: &mut Vec<String>,
) -> Result<BrokerFacts, ClusterError> {
    let mut settings = BTreeMap::new();
    match cluster.describe_configs(AdminConfigResource::Broker(broker.id)) {
        Ok(entries) => {
            if known.is_empty() {
                *known = entries.iter().map(|entry| entry.name.clone()).collect();
            }
            for entry in entries {
                let is_requested = is_listed(&entry.name) || also.contains(&entry.name);
                if is_requested
                    && !entry.is_sensitive
                    && let Some(value) = entry.value
                {
                    settings.insert(entry.name, value);
                }
            }
            // log.dir counts only if log.dirs is not set.
            if settings.contains_key("log.dirs") {
                settings.remove("log.dir");
            }
        }
        Err(ConfigsError::Cluster(ClusterError::Call(error @ CallError::Unsupported { .. }))) => {
            missing.push(format!("settings of broker {}: {error}", broker.id));
        }
        // A cluster that does not show its settings can still be measured.
        Err(ConfigsError::Cluster(error)) => return Err(error),
        Err(error) => missing.push(error.to_string()),
    }
    Ok(BrokerFacts {
        id: broker.id,
        address: broker.address.to_string(),
        rack: broker.rack.clone(),
        settings,
    })
}
