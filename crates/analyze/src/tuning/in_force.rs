//! The settings in force: what brokers, topic and clients use before anything is changed.

use std::collections::BTreeMap;

use kgauge_scenario::{
    ConsumeFlow, FlowPlan, Partitioner, ProducerSettings, SettingScope, Trial, TuneSetting,
};

use super::table::{KnownSetting, SettingUser};
use crate::summary::{Bottleneck, LimitVerdict};

/// What is known when candidates are chosen.
#[derive(Clone, Copy, Debug)]
pub struct InForce<'a> {
    /// The trial with today's settings.
    pub trial: &'a Trial,
    /// The settings that brokers report.
    pub brokers: &'a BTreeMap<String, String>,
    /// The number of brokers.
    pub broker_count: u32,
    /// Kafka's release, major and minor; `None` if it is unknown, or if the target is not Kafka.
    pub release: Option<(u32, u32)>,
    /// Whether kgauge starts the brokers, and so can change them.
    pub owns_brokers: bool,
    /// Whether the run creates its topics, and so can change them.
    pub owns_topic: bool,
    /// What limits the trial.
    pub limit: Option<&'a LimitVerdict>,
}

impl InForce<'_> {
    pub(super) fn has(&self, first: (u32, u32)) -> bool {
        self.release.is_none_or(|release| release >= first)
    }

    /// Whether a setting acts on the bottleneck, or on one of its candidates; any does if nothing is known of it.
    pub(super) fn may_act(&self, known: &KnownSetting) -> bool {
        let Some(limit) = self.limit else {
            return true;
        };
        let suspects = match limit.word {
            Bottleneck::Undecided
            | Bottleneck::Target
            | Bottleneck::OtherPrograms
            | Bottleneck::Hypervisor => limit.candidates.as_slice(),
            _ => std::slice::from_ref(&limit.word),
        };
        suspects.is_empty() || suspects.iter().any(|one| known.acts_on.contains(one))
    }

    /// The names of the flows that have a setting.
    pub(super) fn users(&self, user: SettingUser) -> Vec<&str> {
        let has_it = |flow: &&FlowPlan| match user {
            SettingUser::Producers => flow.produces().is_some(),
            SettingUser::Consumers => matches!(flow, FlowPlan::Consume(_)),
            SettingUser::Members => {
                matches!(flow, FlowPlan::Consume(flow) if flow.group.is_some())
            }
            SettingUser::All => true,
            SettingUser::Replicas => self.trial.topic.replication > 1,
        };
        let flows = self.trial.flows.iter().filter(has_it);
        flows.map(FlowPlan::name).collect()
    }

    pub(super) fn has_keys(&self) -> bool {
        let mut sends = self.trial.flows.iter().filter_map(FlowPlan::produces);
        sends.any(|flow| flow.record.key.is_some())
    }

    pub(super) fn is_idempotent(&self) -> bool {
        let mut sends = self.trial.flows.iter().filter_map(FlowPlan::produces);
        sends.all(|flow| flow.settings.idempotence)
    }

    /// The value in force of a path's setting, as properties have it; `None` if unknown.
    pub(super) fn value(&self, path: &str) -> Option<String> {
        let (scope, name) = TuneSetting::place_of(path);
        match (scope, path) {
            (SettingScope::Broker, _) => {
                let planned = self.trial.cluster.config.get(name);
                planned.or_else(|| self.brokers.get(name)).cloned()
            }
            (SettingScope::Topic, "topic.partitions") => {
                Some(self.trial.topic.partitions.to_string())
            }
            (SettingScope::Topic, "topic.replication") => {
                Some(self.trial.topic.replication.to_string())
            }
            // Topics take what they do not set from the brokers' setting of the same name, if there is one.
            (SettingScope::Topic, _) => {
                let planned = self.trial.topic.config.get(name);
                planned.or_else(|| self.brokers.get(name)).cloned()
            }
            (SettingScope::Client, _) => self.client_value(path, name),
        }
    }

    /// That of the first flow that has it; flows that send come first.
    fn client_value(&self, path: &str, name: &str) -> Option<String> {
        let flow = path.split_once(".settings.").map(|(flow, _)| flow);
        let is_meant = |one: &&FlowPlan| flow.is_none_or(|flow| one.name() == flow);
        let flows = || self.trial.flows.iter().filter(is_meant);
        let sent = flows()
            .filter_map(FlowPlan::produces)
            .find_map(|flow| producer_value(&flow.settings, name));
        sent.or_else(|| {
            flows().find_map(|flow| match flow {
                FlowPlan::Consume(flow) => consumer_value(flow, name),
                FlowPlan::Echo(_) | FlowPlan::Produce(_) => None,
            })
        })
    }
}

/// Kafka's `*.ms`, which are whole numbers.
fn milliseconds(ns: u64) -> String {
    (ns / 1_000_000).to_string()
}

/// Kafka's `*.buffer.bytes` of sockets: -1 leaves it to the operating system.
fn socket_bytes(bytes: Option<u32>) -> String {
    bytes.map_or_else(|| "-1".to_owned(), |bytes| bytes.to_string())
}

fn producer_value(settings: &ProducerSettings, name: &str) -> Option<String> {
    Some(match name {
        "batch.size" => settings.batch_bytes.to_string(),
        "linger.ms" => milliseconds(settings.linger_ns),
        "compression.type" => settings.compression.codec.name().to_owned(),
        "buffer.memory" => settings.buffer_bytes.to_string(),
        "max.request.size" => settings.request_bytes_max.to_string(),
        "max.in.flight.requests.per.connection" => settings.in_flight_max.to_string(),
        "send.buffer.bytes" => socket_bytes(settings.send_buffer_bytes),
        "receive.buffer.bytes" => socket_bytes(settings.receive_buffer_bytes),
        "enable.idempotence" => settings.idempotence.to_string(),
        "retries" => settings.retries.to_string(),
        "retry.backoff.ms" => milliseconds(settings.retry_backoff_ns),
        "delivery.timeout.ms" => milliseconds(settings.delivery_timeout_ns),
        "request.timeout.ms" => milliseconds(settings.request_timeout_ns),
        "metadata.max.age.ms" => milliseconds(settings.metadata_age_ns_max),
        "max.block.ms" => milliseconds(settings.block_ns_max),
        "acks" => match settings.acks.wire() {
            -1 => "all".to_owned(),
            acks => acks.to_string(),
        },
        "partitioner" => match settings.partitioner {
            Partitioner::Sticky => "sticky".to_owned(),
            Partitioner::RoundRobin => "round-robin".to_owned(),
            Partitioner::Partition(_) | Partitioner::Broker(_) => return None,
        },
        _ => return None,
    })
}

fn consumer_value(flow: &ConsumeFlow, name: &str) -> Option<String> {
    let settings = &flow.settings;
    Some(match name {
        "fetch.min.bytes" => settings.fetch_bytes_min.to_string(),
        "fetch.max.bytes" => settings.fetch_bytes_max.to_string(),
        "fetch.max.wait.ms" => milliseconds(settings.fetch_wait_ns_max),
        "max.partition.fetch.bytes" => settings.partition_fetch_bytes_max.to_string(),
        "send.buffer.bytes" => socket_bytes(settings.send_buffer_bytes),
        "receive.buffer.bytes" => socket_bytes(settings.receive_buffer_bytes),
        "session.timeout.ms" => milliseconds(flow.group.as_ref()?.session_timeout_ns),
        _ => return None,
    })
}
