//! The findings of a checkup: what matters, the evidence, and what to try.

use kgauge_analyze::checkup::{BrokerSpeed, CheckupFact, SettingDeviation};
use kgauge_analyze::summary::Bottleneck;
use kgauge_results::run::HealthStop;

use super::{practice, quota_level, quota_value, stop_clause};
use crate::format;
use crate::text::bottleneck;

/// A finding in sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FindingText {
    /// What was found: `Broker 3 is slow.`
    pub(crate) what: String,
    /// What it rests on.
    pub(crate) evidence: String,
    /// What to try, without `Try:`.
    pub(crate) attempt: String,
}

impl FindingText {
    fn new(
        what: impl Into<String>,
        evidence: impl Into<String>,
        attempt: impl Into<String>,
    ) -> Self {
        Self {
            what: what.into(),
            evidence: evidence.into(),
            attempt: attempt.into(),
        }
    }

    /// All of it in one line.
    pub(crate) fn line(&self) -> String {
        format!("{} {} Try: {}", self.what, self.evidence, self.attempt)
    }
}

/// A finding in sentences.
pub(crate) fn finding(fact: &CheckupFact) -> FindingText {
    of_health(fact)
        .or_else(|| of_layout(fact))
        .or_else(|| of_load(fact))
        .or_else(|| of_cost(fact))
        .unwrap_or_else(|| of_latency(fact))
}

/// What keeps records from being written or read now.
fn of_health(fact: &CheckupFact) -> Option<FindingText> {
    Some(match fact {
        CheckupFact::OfflinePartitions { partitions, of } => FindingText::new(
            "Partitions have no leader: nobody can write to or read from them.",
            format!(
                "{} of {of}.",
                format::counted((*partitions).into(), "partition")
            ),
            "start the brokers that have their replicas, and check the disks of those that run.",
        ),
        CheckupFact::UnderReplicated {
            partitions,
            of,
            brokers,
        } => FindingText::new(
            "Replicas are not in sync: the loss of another broker can stop writes.",
            format!(
                "{} of {of}; the replicas are on {}.",
                format::counted((*partitions).into(), "partition"),
                brokers_text(brokers, "brokers that are down")
            ),
            "check that these brokers run, their disks and their network; if they only lag, raise \
             num.replica.fetchers.",
        ),
        CheckupFact::FencedBrokers { brokers } => FindingText::new(
            "Brokers are registered, but do not serve.",
            format!("Fenced: {}.", brokers_text(brokers, "none")),
            "start them, or unregister those that are gone (kafka-cluster unregister).",
        ),
        CheckupFact::HealthFell { stop } => FindingText::new(
            "The cluster's health fell during the load, so the checkup ended early.",
            format!("{}.", format::capital(&stop_clause(stop))),
            match stop {
                HealthStop::DiskFull { .. } => "free some space, or shorten retention.",
                HealthStop::HandlersBusy { .. } => "add brokers, or raise num.io.threads.",
                HealthStop::Offline { .. } | HealthStop::UnderReplicated { .. } => {
                    "check the logs of the brokers that lost replicas; followers need as much disk \
                     and network as leaders."
                }
            },
        ),
        CheckupFact::LogDirOffline {
            broker,
            path,
            error,
        } => FindingText::new(
            format!("A log directory of broker {broker} is offline."),
            format!("{path}: {error}."),
            "replace the disk and restart the broker.",
        ),
        CheckupFact::DiskFilled {
            broker,
            path,
            used_part,
        } => FindingText::new(
            format!("A disk of broker {broker} is filling up."),
            format!("{path} is {} full.", format::percent(*used_part)),
            "shorten retention, add disks, or move partitions to other brokers.",
        ),
        _ => return None,
    })
}

/// How the cluster is set up.
fn of_layout(fact: &CheckupFact) -> Option<FindingText> {
    Some(match fact {
        CheckupFact::Setting(deviation) => of_setting(deviation),
        CheckupFact::SingleReplica { partitions, of } => FindingText::new(
            "Topics have one replica: the loss of a broker loses their records.",
            format!(
                "{} of {of}.",
                format::counted((*partitions).into(), "partition")
            ),
            "raise their replicas with kafka-reassign-partitions.",
        ),
        CheckupFact::LeaderSkew {
            broker,
            leaders,
            mean,
        } => FindingText::new(
            format!("Broker {broker} leads many more partitions than the others."),
            format!(
                "It leads {leaders}; the mean is {}.",
                format::compact(*mean)
            ),
            "elect preferred leaders (kafka-leader-election); if they are uneven too, reassign \
             partitions.",
        ),
        CheckupFact::NotPreferred { partitions, of } => FindingText::new(
            "Many partitions are not led by their preferred broker.",
            format!(
                "{} of {of}.",
                format::counted((*partitions).into(), "partition")
            ),
            "run kafka-leader-election --election-type preferred, and leave \
             auto.leader.rebalance.enable on.",
        ),
        CheckupFact::RacksMissing { brokers } => FindingText::new(
            "Some brokers have no rack, so replicas are not spread over racks.",
            format!("Without a rack: {}.", brokers_text(brokers, "none")),
            "set broker.rack on all brokers.",
        ),
        CheckupFact::OneRack { brokers } => FindingText::new(
            "Replicas are not spread over racks or zones.",
            format!(
                "{} without different racks.",
                format::counted((*brokers).into(), "broker")
            ),
            "set broker.rack to each broker's zone, if they are in several.",
        ),
        CheckupFact::MixedReleases { releases } => FindingText::new(
            "Brokers run different releases.",
            format!("{}.", releases.join(" and ")),
            "complete the upgrade.",
        ),
        _ => return None,
    })
}

fn of_setting(deviation: &SettingDeviation) -> FindingText {
    FindingText::new(
        format!("{}.", practice::consequence(deviation)),
        format!(
            "{}={} on {}.",
            deviation.setting,
            deviation.value,
            brokers_text(&deviation.brokers, "no broker")
        ),
        format!("{}.", practice::advice(deviation)),
    )
}

/// What limits throughput.
fn of_load(fact: &CheckupFact) -> Option<FindingText> {
    Some(match fact {
        CheckupFact::SlowBroker { speed } => of_slow_broker(speed),
        CheckupFact::Quota {
            key,
            value,
            level,
            limits,
        } => FindingText::new(
            match limits {
                true => "A quota limits these clients.",
                false => "A quota applies to these clients.",
            },
            format!(
                "{key}: {} for {}.",
                quota_value(key, *value),
                quota_level(*level)
            ),
            "raise it with kafka-configs if this application needs more, or test with the \
             application's user and client.id.",
        ),
        CheckupFact::NoRateHolds {
            lowest_broken_per_s,
        } => FindingText::new(
            "No rate keeps the goal.",
            format!(
                "The lowest rate that broke it is {} records/s.",
                format::figure(*lowest_broken_per_s)
            ),
            "see the bottleneck and the latency without load, or ask for a weaker --goal.",
        ),
        CheckupFact::LimitedBy {
            bottleneck: word,
            records_per_s,
        } => FindingText::new(
            format!(
                "{} limits throughput.",
                format::capital(bottleneck::name(*word))
            ),
            format!(
                "It was the bottleneck just above {} records/s.",
                format::figure(*records_per_s)
            ),
            bottleneck_advice(*word),
        ),
        CheckupFact::ConsumersBehind { reads } => FindingText::new(
            "Consumers do not keep up at half of the capacity.",
            format!(
                "They read {} records/s of {}.",
                format::figure(reads.read_per_s),
                reads.written_per_s.map_or_else(String::new, format::figure)
            ),
            "add partitions and consumers, or raise fetch.min.bytes.",
        ),
        _ => return None,
    })
}

fn of_slow_broker(speed: &BrokerSpeed) -> FindingText {
    let others = speed.others_p99_ns.unwrap_or(speed.p99_ns);
    FindingText::new(
        format!("Broker {} is much slower than the others.", speed.broker),
        format!(
            "It takes {} (p99) for the smallest request, the others {}, in {} of {} loads.",
            format::nanoseconds(speed.p99_ns),
            format::nanoseconds(others),
            speed.slow_loads,
            speed.loads
        ),
        "compare its CPU limit, disk, network and neighbours with those of the other brokers.",
    )
}

/// What to try against a bottleneck.
fn bottleneck_advice(word: Bottleneck) -> &'static str {
    match word {
        Bottleneck::Disk => "use faster disks, or several log.dirs.",
        Bottleneck::CpuLimit => "raise the CPU limit of the brokers.",
        Bottleneck::Processors => "run brokers and clients on separate machines.",
        Bottleneck::NetworkCard => "use a faster network, or compress in the producers.",
        Bottleneck::HotBroker => "spread the partitions' leaders evenly.",
        Bottleneck::Replication => {
            "raise num.replica.fetchers, and check disk and network of the followers."
        }
        Bottleneck::Batching | Bottleneck::Buffer => {
            "raise linger.ms and batch.size of the producers."
        }
        Bottleneck::RequestHandlers => "raise num.io.threads, or add brokers.",
        Bottleneck::NetworkThreads => "raise num.network.threads.",
        Bottleneck::Generator | Bottleneck::OtherPrograms => {
            "run kgauge on a separate machine with more cores."
        }
        Bottleneck::Hypervisor => "use a machine with dedicated CPUs.",
        Bottleneck::Broker | Bottleneck::Target => "check the brokers' logs and garbage collector.",
        Bottleneck::Quota => "raise the quota.",
        Bottleneck::Consumer => "add consumers.",
        Bottleneck::Load | Bottleneck::Undecided => "run kgauge capacity with --metrics.",
    }
}

/// What durability costs in latency.
fn of_cost(fact: &CheckupFact) -> Option<FindingText> {
    let ms = |ns: &f64| format::nanoseconds(*ns);
    Some(match fact {
        CheckupFact::AcksCost {
            one_p99_ns,
            all_p99_ns,
            records_per_s,
        } => FindingText::new(
            "acks=all adds a lot of latency.",
            format!(
                "p99 is {} with acks=1 and {} with acks=all at {} records/s.",
                ms(one_p99_ns),
                ms(all_p99_ns),
                format::figure(*records_per_s)
            ),
            "check the followers: disks, network and num.replica.fetchers.",
        ),
        CheckupFact::ReplicationCost {
            replicas,
            one_p99_ns,
            replicated_p99_ns,
            records_per_s,
        } => FindingText::new(
            "Replicas add a lot of latency.",
            format!(
                "p99 is {} with 1 replica and {} with {replicas} at {} records/s.",
                ms(one_p99_ns),
                ms(replicated_p99_ns),
                format::figure(*records_per_s)
            ),
            "check the network between brokers and num.replica.fetchers.",
        ),
        _ => return None,
    })
}

/// Latency without load and near the capacity; only these facts are left.
fn of_latency(fact: &CheckupFact) -> FindingText {
    let ms = |ns: &f64| format::nanoseconds(*ns);
    match fact {
        CheckupFact::SteepLatency {
            half_p99_ns,
            near_p99_ns,
            near_per_s,
        } => FindingText::new(
            "Latency rises steeply towards the capacity.",
            format!(
                "End to end p99 is {} at half of it and {} at {} records/s.",
                ms(half_p99_ns),
                ms(near_p99_ns),
                format::figure(*near_per_s)
            ),
            "plan for less than three quarters of the capacity.",
        ),
        CheckupFact::SlowWithoutLoad { p50_ns, p99_ns } => FindingText::new(
            "Records take a long time even without load.",
            format!("End to end p50 is {}, p99 {}.", ms(p50_ns), ms(p99_ns)),
            "check the network between this machine and the brokers, and the brokers' flush \
             settings.",
        ),
        CheckupFact::OfflinePartitions { .. }
        | CheckupFact::UnderReplicated { .. }
        | CheckupFact::FencedBrokers { .. }
        | CheckupFact::HealthFell { .. }
        | CheckupFact::LogDirOffline { .. }
        | CheckupFact::DiskFilled { .. }
        | CheckupFact::Setting(_)
        | CheckupFact::SingleReplica { .. }
        | CheckupFact::SlowBroker { .. }
        | CheckupFact::LeaderSkew { .. }
        | CheckupFact::NotPreferred { .. }
        | CheckupFact::Quota { .. }
        | CheckupFact::NoRateHolds { .. }
        | CheckupFact::LimitedBy { .. }
        | CheckupFact::AcksCost { .. }
        | CheckupFact::ReplicationCost { .. }
        | CheckupFact::ConsumersBehind { .. }
        | CheckupFact::RacksMissing { .. }
        | CheckupFact::OneRack { .. }
        | CheckupFact::MixedReleases { .. } => FindingText::new("", "", ""),
    }
}

/// `broker 1`, `brokers 1, 2 and 3`.
fn brokers_text(ids: &[i32], none: &str) -> String {
    match ids {
        [] => none.to_owned(),
        [one] => format!("broker {one}"),
        [others @ .., last] => {
            let others: Vec<String> = others.iter().map(ToString::to_string).collect();
            format!("brokers {} and {last}", others.join(", "))
        }
    }
}
