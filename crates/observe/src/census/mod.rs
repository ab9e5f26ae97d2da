//! The facts about a cluster that its brokers report over the wire: layout, health, settings, disks, quotas.
//!
//! Nothing is changed. A fact that a release does not support is listed as unread.

mod quotas;

use std::collections::BTreeMap;

use kgauge_client::admin::{AdminConfigResource, ConfigEntry, LogDir};
use kgauge_client::cluster::{Broker, Partition, Topic};
use kgauge_client::release::ReleaseGuess;
use kgauge_client::{CallError, Cluster, ClusterError, shown};
use kgauge_results::run::{
    BrokerCensus, ClusterCensus, LogDirCensus, PRACTICE_SETTINGS, UnreadFact,
};

use crate::observation::unix_ms;

/// Reads all facts.
///
/// # Errors
/// The cluster does not list its topics. Whatever else cannot be read is in [`ClusterCensus::unread`].
pub fn census(cluster: &mut Cluster) -> Result<ClusterCensus, ClusterError> {
    cluster.refresh(&[])?;
    let all = cluster.all_topics()?;
    let mut census = of_metadata(&all.brokers, &all.topics, all.controller_id);
    census.at_unix_ms = unix_ms();
    let mut unread = Vec::new();
    for broker in &mut census.brokers {
        read_broker(cluster, broker, &mut unread)?;
    }
    match cluster.fenced_brokers() {
        Ok(fenced) => census.fenced = fenced,
        // Before 4.0 a broker is in the list or not.
        Err(ClusterError::Call(CallError::Unsupported { .. })) => {}
        Err(error) => note(&mut unread, "fenced brokers", &error)?,
    }
    match cluster.client_quotas() {
        Ok(found) => {
            let (applied, missing) = quotas::applied(&found, cluster.config());
            census.quotas = applied;
            unread.extend(missing);
        }
        Err(error) => note(&mut unread, UnreadFact::QUOTAS, &error)?,
    }
    census.unread = unread;
    Ok(census)
}

/// Writes down what could not be read.
///
/// # Errors
/// The user stopped it: nothing else can be read either.
fn note(
    unread: &mut Vec<UnreadFact>,
    what: &str,
    error: &ClusterError,
) -> Result<(), ClusterError> {
    if error.is_interruption() {
        return Err(ClusterError::Interrupted);
    }
    add_unread(unread, what, &error.to_string());
    Ok(())
}

/// The same fact of several brokers is listed once, with the first reason.
fn add_unread(unread: &mut Vec<UnreadFact>, what: &str, why: &str) {
    if !unread.iter().any(|known| known.what == what) {
        unread.push(UnreadFact {
            what: what.to_owned(),
            why: why.lines().next().unwrap_or_default().to_owned(),
        });
    }
}

fn read_broker(
    cluster: &mut Cluster,
    broker: &mut BrokerCensus,
    unread: &mut Vec<UnreadFact>,
) -> Result<(), ClusterError> {
    match cluster.api_versions(broker.id) {
        Ok(versions) => {
            broker.release = Some(ReleaseGuess::from_api_versions(&versions).to_string());
        }
        // The other questions would fail alike.
        Err(error) => return note(unread, &format!("broker {}", broker.id), &error),
    }
    match cluster.describe_configs(AdminConfigResource::Broker(broker.id)) {
        Ok(entries) => broker.settings = settings(entries),
        Err(error) => add_unread(unread, "broker settings", &error.to_string()),
    }
    match cluster.describe_log_dirs(broker.id, None) {
        Ok(dirs) => broker.log_dirs = dirs.iter().map(log_dir).collect(),
        Err(failed) => note(unread, "log directories", &failed.error)?,
    }
    let is_known = |dir: &LogDirCensus| dir.total_bytes.is_some();
    if !broker.log_dirs.is_empty() && !broker.log_dirs.iter().any(is_known) {
        add_unread(unread, "free disk space", "the release does not report it");
    }
    Ok(())
}

fn settings(entries: Vec<ConfigEntry>) -> BTreeMap<String, String> {
    let known = |entry: &ConfigEntry| PRACTICE_SETTINGS.contains(&entry.name.as_str());
    let entries = entries.into_iter();
    entries
        .filter(|entry| known(entry) && !entry.is_sensitive)
        .filter_map(|entry| Some((entry.name, shown(&entry.value?))))
        .collect()
}

fn log_dir(dir: &LogDir) -> LogDirCensus {
    let logs = dir.partitions.iter();
    LogDirCensus {
        path: shown(&dir.path),
        error: (!dir.error.is_none()).then(|| dir.error.to_string()),
        log_bytes: logs.fold(0, |sum, log| sum.saturating_add(log.size_bytes)),
        total_bytes: dir.total_bytes,
        usable_bytes: dir.usable_bytes,
    }
}

/// The disks of a broker, without its other facts.
pub(crate) fn broker_of(id: i32, dirs: &[LogDir]) -> BrokerCensus {
    BrokerCensus {
        id,
        log_dirs: dirs.iter().map(log_dir).collect(),
        ..BrokerCensus::default()
    }
}

/// The health of a cluster's partitions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PartitionHealth {
    pub(crate) offline: u32,
    pub(crate) under_replicated: u32,
}

/// The start of the names of kgauge's topics.
const OWN_TOPICS: &str = "kgauge-";

/// Partitions of topics that are being created or deleted have an error, and do not count. kgauge's own topics have no
/// leaders while they are deleted.
pub(crate) fn health(topics: &[Topic]) -> PartitionHealth {
    let mut health = PartitionHealth::default();
    for (topic, partition) in partitions(topics) {
        let is_own = topic.name.starts_with(OWN_TOPICS);
        health.offline += u32::from(partition.leader_id.is_none() && !is_own);
        health.under_replicated += u32::from(is_under_replicated(partition));
    }
    health
}

fn partitions(topics: &[Topic]) -> impl Iterator<Item = (&Topic, &Partition)> {
    let sound = topics.iter().filter(|topic| topic.error.is_none());
    sound.flat_map(|topic| topic.partitions.iter().map(move |one| (topic, one)))
}

/// Old releases list dead replicas neither as replicas nor as in-sync ones; what they list is compared.
fn is_under_replicated(partition: &Partition) -> bool {
    partition.leader_id.is_some() && partition.isr.len() < partition.replicas.len()
}

fn of_metadata(brokers: &[Broker], topics: &[Topic], controller: Option<i32>) -> ClusterCensus {
    let health = health(topics);
    let brokers = brokers.iter().map(|broker| BrokerCensus {
        id: broker.id,
        rack: broker.rack.as_deref().map(shown),
        ..BrokerCensus::default()
    });
    let mut census = ClusterCensus {
        controller,
        brokers: brokers.collect(),
        topics: count(topics.iter().filter(|topic| !topic.is_internal)),
        offline: health.offline,
        under_replicated: health.under_replicated,
        ..ClusterCensus::default()
    };
    for (topic, partition) in partitions(topics) {
        census.partitions += 1;
        let is_single = partition.replicas.len() == 1 && !topic.is_internal;
        census.single_replica += u32::from(is_single);
        let preferred = partition.replicas.first();
        let is_moved = partition.leader_id.is_some() && partition.leader_id.as_ref() != preferred;
        census.not_preferred += u32::from(is_moved);
        for broker in &mut census.brokers {
            let has_replica = partition.replicas.contains(&broker.id);
            let is_behind = has_replica && !partition.isr.contains(&broker.id);
            broker.leaders += u32::from(partition.leader_id == Some(broker.id));
            broker.replicas += u32::from(has_replica);
            broker.out_of_sync += u32::from(is_behind && partition.leader_id.is_some());
        }
    }
    census
}

fn count<T>(items: impl Iterator<Item = T>) -> u32 {
    u32::try_from(items.count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use kgauge_client::Address;
    use kgauge_wire::error_code::ErrorCode;

    use super::*;

    fn partition(index: i32, leader_id: Option<i32>, replicas: &[i32], isr: &[i32]) -> Partition {
        Partition {
            index,
            error: ErrorCode::None,
            leader_id,
            leader_epoch: None,
            replicas: replicas.to_vec(),
            isr: isr.to_vec(),
            offline_replicas: Vec::new(),
        }
    }

    fn topic(name: &str, is_internal: bool, partitions: Vec<Partition>) -> Topic {
        Topic {
            name: name.to_owned(),
            id: None,
            is_internal,
            error: ErrorCode::None,
            partitions,
        }
    }

    fn brokers() -> Vec<Broker> {
        let broker = |id| Broker {
            id,
            address: Address {
                host: "localhost".to_owned(),
                port: 9092,
            },
            rack: None,
        };
        vec![broker(1), broker(2)]
    }

    #[test]
    fn partitions_are_counted_by_what_is_wrong_with_them() {
        let orders = vec![
            partition(0, Some(1), &[1, 2], &[1, 2]),
            // Led by the second replica, and the first is behind.
            partition(1, Some(2), &[1, 2], &[2]),
            partition(2, None, &[2], &[]),
        ];
        let offsets = vec![partition(0, Some(1), &[1], &[1])];
        let mut topics = vec![
            topic("orders", false, orders),
            topic("__consumer_offsets", true, offsets),
        ];
        let census = of_metadata(&brokers(), &topics, Some(1));
        assert_eq!((census.topics, census.partitions), (1, 4));
        assert_eq!((census.offline, census.under_replicated), (1, 1));
        assert_eq!((census.single_replica, census.not_preferred), (1, 1));
        let of = |index: usize| {
            let broker = &census.brokers[index];
            (broker.leaders, broker.replicas, broker.out_of_sync)
        };
        assert_eq!((of(0), of(1)), ((2, 3, 1), (1, 3, 0)));
        // A topic that is being deleted has an error.
        topics[0].error = ErrorCode::UnknownTopicOrPartition;
        assert_eq!(health(&topics), PartitionHealth::default());
    }

    #[test]
    fn a_fact_of_several_brokers_is_listed_once() {
        let mut unread = Vec::new();
        add_unread(&mut unread, "broker settings", "refused\n  allow it");
        add_unread(&mut unread, "broker settings", "another reason");
        assert_eq!(unread.len(), 1);
        assert_eq!(unread[0].why, "refused");
    }
}
