//! The table of settings that tuning knows: values to try, where each one acts, since which release, what it costs and
//! what it risks.
//!
//! Values follow the ranges of Kafka's own tuning guides (docs/decisions/tune.md has the sources). None of them counts
//! as advice before it is measured.

use kgauge_scenario::{SettingScope, TuneGoal, TunePreset};
use schemars::JsonSchema;
use serde::Serialize;

use crate::summary::Bottleneck;

/// A setting that tuning knows.
#[derive(Clone, Copy, Debug)]
pub struct KnownSetting {
    /// Kafka's name, or the scenario's path where Kafka has none.
    pub name: &'static str,
    /// Its path in a scenario.
    pub path: &'static str,
    /// Where it belongs.
    pub scope: SettingScope,
    /// Which flows have it.
    pub user: SettingUser,
    /// The values to try for each goal, the first one first.
    pub moves: &'static [(TuneGoal, Values)],
    /// The bottlenecks that it acts on. If the bottleneck is another one, it is not tried.
    pub acts_on: &'static [Bottleneck],
    /// What it costs.
    pub cost: SettingCost,
    /// What it risks.
    pub risk: SettingRisk,
}

/// Which flows a setting needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingUser {
    /// Those that send.
    Producers,
    /// Those that read.
    Consumers,
    /// Those whose consumers are members of a group.
    Members,
    /// Any.
    All,
    /// Any, if the topic has several replicas.
    Replicas,
}

/// Values to try.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// Numbers; only those above the value in force.
    Above(&'static [u64]),
    /// Numbers; only those below the value in force.
    Below(&'static [u64]),
    /// Multiples of the value in force.
    Times(&'static [u64]),
    /// Words other than the one in force.
    Words(&'static [&'static str]),
}

/// What a setting costs where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SettingCost {
    /// Nothing worth naming.
    None,
    /// Records wait longer.
    Latency,
    /// CPU time of the clients.
    ClientCpu,
    /// Memory of the clients.
    ClientMemory,
    /// Memory of the brokers.
    BrokerMemory,
    /// More requests, so CPU time of the brokers.
    BrokerCpu,
    /// More files and replication work on the brokers.
    BrokerFiles,
}

/// What a setting risks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SettingRisk {
    /// It can be taken back at any time.
    None,
    /// It cannot be taken back, and records with keys move to other partitions.
    CannotBeUndone,
    /// It takes a restart of the brokers.
    Restart,
    /// Acked records may be lost.
    Loss,
}

const THROUGHPUT: TuneGoal = TuneGoal::Throughput;
const LATENCY: TuneGoal = TuneGoal::Latency;
const COST: TuneGoal = TuneGoal::Cost;

/// Fewer and larger requests help against these.
const REQUESTS: &[Bottleneck] = &[
    Bottleneck::Batching,
    Bottleneck::Buffer,
    Bottleneck::RequestHandlers,
    Bottleneck::NetworkThreads,
    Bottleneck::Processors,
    Bottleneck::CpuLimit,
    Bottleneck::Replication,
    Bottleneck::Disk,
    Bottleneck::HotBroker,
    Bottleneck::Load,
];
/// Fewer bytes help against these.
const BYTES: &[Bottleneck] = &[
    Bottleneck::Disk,
    Bottleneck::NetworkCard,
    Bottleneck::Quota,
    Bottleneck::Replication,
    Bottleneck::Buffer,
    Bottleneck::NetworkThreads,
    Bottleneck::Batching,
    Bottleneck::Processors,
    Bottleneck::CpuLimit,
    Bottleneck::HotBroker,
    Bottleneck::Load,
];

/// The settings, the most promising first.
pub const SETTINGS: &[KnownSetting] = &[
    KnownSetting {
        name: "batch.size",
        path: "batch.size",
        scope: SettingScope::Client,
        user: SettingUser::Producers,
        moves: &[
            (THROUGHPUT, Values::Above(&[131_072, 65_536, 524_288])),
            (COST, Values::Above(&[131_072, 65_536, 524_288])),
            (LATENCY, Values::Above(&[65_536])),
        ],
        acts_on: REQUESTS,
        cost: SettingCost::ClientMemory,
        risk: SettingRisk::None,
    },
    KnownSetting {
        name: "linger.ms",
        path: "linger.ms",
        scope: SettingScope::Client,
        user: SettingUser::Producers,
        moves: &[
            (THROUGHPUT, Values::Above(&[20, 100])),
            (COST, Values::Above(&[20, 100])),
            (LATENCY, Values::Below(&[0, 1])),
        ],
        acts_on: REQUESTS,
        cost: SettingCost::Latency,
        risk: SettingRisk::None,
    },
    KnownSetting {
        name: "compression.type",
        path: "compression.type",
        scope: SettingScope::Client,
        user: SettingUser::Producers,
        moves: &[
            (THROUGHPUT, Values::Words(&["lz4", "zstd", "none"])),
            (COST, Values::Words(&["lz4", "zstd", "none"])),
            (LATENCY, Values::Words(&["none", "lz4"])),
        ],
        acts_on: BYTES,
        cost: SettingCost::ClientCpu,
        risk: SettingRisk::None,
    },
    KnownSetting {
        name: "topic.partitions",
        path: "topic.partitions",
        scope: SettingScope::Topic,
        user: SettingUser::All,
        moves: &[
            (THROUGHPUT, Values::Times(&[2, 4])),
            (LATENCY, Values::Times(&[2])),
        ],
        acts_on: &[
            Bottleneck::HotBroker,
            Bottleneck::Buffer,
            Bottleneck::Consumer,
            Bottleneck::RequestHandlers,
            Bottleneck::Replication,
        ],
        cost: SettingCost::BrokerFiles,
        risk: SettingRisk::CannotBeUndone,
    },
    KnownSetting {
        name: "fetch.min.bytes",
        path: "fetch.min.bytes",
        scope: SettingScope::Client,
        user: SettingUser::Consumers,
        moves: &[
            (THROUGHPUT, Values::Above(&[65_536, 1_048_576])),
            (COST, Values::Above(&[65_536, 1_048_576])),
            (LATENCY, Values::Below(&[1])),
        ],
        acts_on: &[
            Bottleneck::Consumer,
            Bottleneck::RequestHandlers,
            Bottleneck::NetworkThreads,
            Bottleneck::Processors,
            Bottleneck::CpuLimit,
            Bottleneck::Load,
        ],
        cost: SettingCost::Latency,
        risk: SettingRisk::None,
    },
    KnownSetting {
        name: "buffer.memory",
        path: "buffer.memory",
        scope: SettingScope::Client,
        user: SettingUser::Producers,
        moves: &[(THROUGHPUT, Values::Above(&[134_217_728]))],
        acts_on: &[Bottleneck::Buffer],
        cost: SettingCost::ClientMemory,
        risk: SettingRisk::None,
    },
    KnownSetting {
        name: "max.request.size",
        path: "max.request.size",
        scope: SettingScope::Client,
        user: SettingUser::Producers,
        moves: &[
            (THROUGHPUT, Values::Above(&[4_194_304])),
            (COST, Values::Above(&[4_194_304])),
        ],
        acts_on: &[Bottleneck::Batching, Bottleneck::Buffer],
        cost: SettingCost::ClientMemory,
        risk: SettingRisk::None,
    },
    KnownSetting {
        name: "max.in.flight.requests.per.connection",
        path: "max.in.flight.requests.per.connection",
        scope: SettingScope::Client,
        user: SettingUser::Producers,
        moves: &[
            (THROUGHPUT, Values::Above(&[5])),
            (LATENCY, Values::Above(&[5])),
        ],
        acts_on: &[
            Bottleneck::Buffer,
            Bottleneck::Replication,
            Bottleneck::NetworkCard,
            Bottleneck::Load,
        ],
        cost: SettingCost::None,
        risk: SettingRisk::None,
    },
    KnownSetting {
        name: "partitioner",
        path: "partitioner",
        scope: SettingScope::Client,
        user: SettingUser::Producers,
        moves: &[
            (THROUGHPUT, Values::Words(&["sticky"])),
            (COST, Values::Words(&["sticky"])),
            (LATENCY, Values::Words(&["sticky"])),
        ],
        acts_on: REQUESTS,
        cost: SettingCost::None,
        risk: SettingRisk::None,
    },
    KnownSetting {
        name: "send.buffer.bytes",
        path: "send.buffer.bytes",
        scope: SettingScope::Client,
        user: SettingUser::Producers,
        moves: &[(THROUGHPUT, Values::Above(&[1_048_576]))],
        acts_on: &[Bottleneck::NetworkCard, Bottleneck::Buffer],
        cost: SettingCost::ClientMemory,
        risk: SettingRisk::None,
    },
    KnownSetting {
        name: "max.partition.fetch.bytes",
        path: "max.partition.fetch.bytes",
        scope: SettingScope::Client,
        user: SettingUser::Consumers,
        moves: &[
            (THROUGHPUT, Values::Above(&[4_194_304])),
            (COST, Values::Above(&[4_194_304])),
        ],
        acts_on: &[Bottleneck::Consumer, Bottleneck::RequestHandlers],
        cost: SettingCost::ClientMemory,
        risk: SettingRisk::None,
    },
    KnownSetting {
        name: "num.replica.fetchers",
        path: "broker.num.replica.fetchers",
        scope: SettingScope::Broker,
        user: SettingUser::Replicas,
        moves: &[
            (THROUGHPUT, Values::Above(&[4])),
            (LATENCY, Values::Above(&[4])),
        ],
        acts_on: &[Bottleneck::Replication, Bottleneck::Load],
        cost: SettingCost::BrokerCpu,
        risk: SettingRisk::Restart,
    },
    KnownSetting {
        name: "num.network.threads",
        path: "broker.num.network.threads",
        scope: SettingScope::Broker,
        user: SettingUser::All,
        moves: &[
            (THROUGHPUT, Values::Times(&[2])),
            (LATENCY, Values::Times(&[2])),
        ],
        acts_on: &[Bottleneck::NetworkThreads],
        cost: SettingCost::BrokerCpu,
        risk: SettingRisk::Restart,
    },
    KnownSetting {
        name: "num.io.threads",
        path: "broker.num.io.threads",
        scope: SettingScope::Broker,
        user: SettingUser::All,
        moves: &[
            (THROUGHPUT, Values::Times(&[2])),
            (LATENCY, Values::Times(&[2])),
        ],
        acts_on: &[Bottleneck::RequestHandlers, Bottleneck::Disk],
        cost: SettingCost::BrokerCpu,
        risk: SettingRisk::Restart,
    },
    KnownSetting {
        name: "socket.receive.buffer.bytes",
        path: "broker.socket.receive.buffer.bytes",
        scope: SettingScope::Broker,
        user: SettingUser::All,
        moves: &[(THROUGHPUT, Values::Above(&[1_048_576]))],
        acts_on: &[
            Bottleneck::NetworkCard,
            Bottleneck::NetworkThreads,
            Bottleneck::Buffer,
        ],
        cost: SettingCost::BrokerMemory,
        risk: SettingRisk::Restart,
    },
    KnownSetting {
        name: "acks",
        path: "acks",
        scope: SettingScope::Client,
        user: SettingUser::Producers,
        moves: &[
            (THROUGHPUT, Values::Words(&["1"])),
            (LATENCY, Values::Words(&["1"])),
            (COST, Values::Words(&["1"])),
        ],
        acts_on: &[
            Bottleneck::Replication,
            Bottleneck::Buffer,
            Bottleneck::Load,
        ],
        cost: SettingCost::None,
        risk: SettingRisk::Loss,
    },
];

/// The first release that has a value.
pub(crate) const SINCE: &[(&str, &str, (u32, u32))] = &[
    ("compression.type", "zstd", (2, 1)),
    ("compression.type", "lz4", (0, 10)),
    ("enable.idempotence", "true", (0, 11)),
];

/// The settings of a preset: paths and values, as in the four design goals of Confluent's guide ("Optimizing your
/// Apache Kafka deployment"), with the middle of each of its ranges.
///
/// Where the guide is older than Kafka 3.0, the preset has what replaced its advice: idempotence and five requests in
/// flight for one request and one retry. Settings without an effect on a trial's topic (defaults for new topics) and
/// flush intervals, which the guide recommends for topics with little traffic only, are left out.
pub fn preset(preset: TunePreset) -> &'static [(&'static str, &'static str)] {
    match preset {
        TunePreset::Throughput => &[
            ("batch.size", "131072"),
            ("linger.ms", "20"),
            ("compression.type", "lz4"),
            ("buffer.memory", "67108864"),
            ("acks", "1"),
            ("fetch.min.bytes", "1048576"),
        ],
        TunePreset::Latency => &[
            ("linger.ms", "0"),
            ("compression.type", "none"),
            ("acks", "1"),
            ("fetch.min.bytes", "1"),
            ("broker.num.replica.fetchers", "4"),
        ],
        TunePreset::Durability => &[
            ("acks", "all"),
            ("enable.idempotence", "true"),
            ("max.in.flight.requests.per.connection", "5"),
            ("topic.replication", "3"),
            ("topic.config.min.insync.replicas", "2"),
            ("topic.config.unclean.leader.election.enable", "false"),
        ],
        TunePreset::Availability => &[
            ("topic.config.min.insync.replicas", "1"),
            ("topic.config.unclean.leader.election.enable", "true"),
            // The lowest that brokers accept by default (`group.min.session.timeout.ms`).
            ("session.timeout.ms", "6000"),
        ],
    }
}

/// What is known of a setting by its name.
pub fn known(name: &str) -> Option<&'static KnownSetting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

/// Which flows a setting needs; also of those that only presets have.
pub fn user_of(name: &str) -> SettingUser {
    match (known(name), name) {
        (Some(known), _) => known.user,
        (None, "enable.idempotence") => SettingUser::Producers,
        (None, "session.timeout.ms") => SettingUser::Members,
        (None, _) => SettingUser::All,
    }
}

#[cfg(test)]
mod tests {
    use kgauge_scenario::TuneSetting;

    use super::*;

    #[test]
    fn names_and_places_are_those_of_the_paths() {
        for setting in SETTINGS {
            let place = TuneSetting::place_of(setting.path);
            assert_eq!(place, (setting.scope, setting.name));
            assert!(!setting.moves.is_empty() && !setting.acts_on.is_empty());
        }
        let mut names: Vec<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), SETTINGS.len());
    }

    #[test]
    fn only_settings_that_risk_loss_decide_what_an_ack_means() {
        for setting in SETTINGS {
            let is_protected = TuneSetting::is_of_durability(setting.path);
            assert_eq!(
                is_protected,
                setting.risk == SettingRisk::Loss,
                "{}",
                setting.name
            );
        }
    }
}
