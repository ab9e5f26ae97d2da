//! Features of a trial that a cluster does not support, by the API versions of its brokers. This runs before anything
//! is created on the cluster.

use kgauge_client::connection::ApiVersions;
use kgauge_scenario::{
    CompressionCodec, ConsumeFlow, FlowPlan, GroupProtocol, ProduceFlow, StartOffset, TargetKind,
    Trial,
};
use kgauge_wire::api::ApiKey;

use crate::settings::codec;

/// A feature that the cluster does not support.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{scenario}: flow {flow}: {what}")]
pub struct MissingFeature {
    /// The scenario.
    pub scenario: String,
    /// Its flow, if any.
    pub flow: String,
    /// The feature, the release that introduced it, and the fix.
    pub what: String,
}

/// Overhead of a message of format 0: offset and size (`LOG_OVERHEAD`), CRC, magic, attributes, and the lengths of key
/// and value.
const MESSAGE_HEAD_BYTES: u64 = 12 + 14;

/// `fetch.max.bytes`, if it is not set.
const FETCH_BYTES_DEFAULT: u32 = 50 << 20;

/// All features of a trial that brokers with these versions do not support.
pub fn refusals(trial: &Trial, kind: TargetKind, versions: &ApiVersions) -> Vec<MissingFeature> {
    let mut found = Vec::new();
    for flow in &trial.flows {
        let words = match flow {
            FlowPlan::Produce(flow) => of_producers(flow, versions),
            FlowPlan::Consume(flow) => of_consumers(flow, trial, kind, versions),
            FlowPlan::Echo(flow) => {
                let mut words = of_producers(&flow.produce, versions);
                words.extend(of_consumers(&flow.consume(), trial, kind, versions));
                words
            }
        };
        found.extend(words.into_iter().map(|what| MissingFeature {
            scenario: trial.scenario.clone(),
            flow: flow.name().to_owned(),
            what,
        }));
    }
    found
}

/// The first version of Produce that carries record batches.
const BATCHES_FROM: i16 = 3;

fn of_producers(flow: &ProduceFlow, versions: &ApiVersions) -> Vec<String> {
    let (name, settings) = (&flow.name, &flow.settings);
    let mut words = Vec::new();
    if settings.idempotence && versions.range(ApiKey::InitProducerId).is_none() {
        words.push(format!(
            "enable.idempotence needs Kafka 0.11 or newer: --set \
             {name}.settings.enable.idempotence=false"
        ));
    }
    if flow.record.headers.is_some() && !knows(versions, ApiKey::Produce, BATCHES_FROM) {
        words.push(format!(
            "headers need Kafka 0.11 or newer (KIP-82): remove {name}.record.headers"
        ));
    }
    if flow.transaction.is_some() && versions.range(ApiKey::EndTxn).is_none() {
        words.push(format!(
            "transactions need Kafka 0.11 or newer (KIP-98), and the embedded cluster does not \
             support them: remove {name}.transaction"
        ));
    }
    let codec = codec(settings.compression.codec);
    if let Some(release) = codec.release()
        && !knows(versions, ApiKey::Produce, release.produce_version)
    {
        words.push(format!(
            "compression.type {codec} needs Kafka {} or newer ({}): --set \
             {name}.settings.compression.type=lz4",
            release.version, release.kip
        ));
    }
    words
}

fn of_consumers(
    flow: &ConsumeFlow,
    trial: &Trial,
    kind: TargetKind,
    versions: &ApiVersions,
) -> Vec<String> {
    let (name, settings) = (&flow.name, &flow.settings);
    let mut words: Vec<String> = of_group(flow, kind, versions).into_iter().collect();
    let is_timed = matches!(
        flow.from,
        StartOffset::TimestampMs(_) | StartOffset::AgoNs(_)
    );
    if is_timed && !knows(versions, ApiKey::ListOffsets, 1) {
        words.push(format!(
            "starting at a time needs Kafka 0.10.1 or newer (KIP-79): --set {name}.from=earliest"
        ));
    }
    if settings.read_committed && !knows(versions, ApiKey::Fetch, 4) {
        words.push(format!(
            "read_committed needs Kafka 0.11 or newer (KIP-98): --set \
             {name}.settings.isolation.level=read_uncommitted"
        ));
    }
    // Since Fetch 3 a response has its own limit, and the first record is sent whatever its size.
    if !knows(versions, ApiKey::Fetch, 3) {
        if settings.fetch_bytes_max != FETCH_BYTES_DEFAULT {
            words.push(
                "fetch.max.bytes needs Kafka 0.10.1 or newer (KIP-74): remove it; here only \
                 max.partition.fetch.bytes limits a response"
                    .to_owned(),
            );
        }
        let record_bytes = MESSAGE_HEAD_BYTES + value_bytes_max(trial);
        if u64::from(settings.partition_fetch_bytes_max) < record_bytes {
            words.push(format!(
                "before Kafka 0.10.1 (KIP-74) a record larger than max.partition.fetch.bytes never \
                 arrives: --set {name}.settings.max.partition.fetch.bytes={record_bytes} or more"
            ));
        }
    }
    words
}

/// Consumer group features that a release does not support.
fn of_group(flow: &ConsumeFlow, kind: TargetKind, versions: &ApiVersions) -> Option<String> {
    /// The first version of JoinGroup with static members (KIP-345).
    const STATIC_FROM: i16 = 5;
    let (group, name) = (flow.group.as_ref()?, &flow.name);
    if versions.range(ApiKey::JoinGroup).is_none() {
        return Some(format!(
            "consumer groups need Kafka 0.9 or newer: --set {name}.group=false"
        ));
    }
    // The embedded cluster announces the API in order to refuse it with a message.
    let has_protocol =
        kind.is_apache_kafka() && versions.range(ApiKey::ConsumerGroupHeartbeat).is_some();
    if group.protocol == GroupProtocol::Consumer && !has_protocol {
        return Some(format!(
            "group.protocol consumer needs Kafka 4.0 or newer (KIP-848), and the embedded cluster \
             does not support it: --set {name}.settings.group.protocol=classic"
        ));
    }
    let is_static = group.instance_id.is_some();
    (is_static && !knows(versions, ApiKey::JoinGroup, STATIC_FROM)).then(|| {
        "group.instance.id needs Kafka 2.3 or newer (KIP-345): remove it from the scenario"
            .to_owned()
    })
}

/// The largest value that the trial writes, before compression: the compressed size is known only afterwards.
fn value_bytes_max(trial: &Trial) -> u64 {
    let written = trial.flows.iter().filter_map(|flow| match flow {
        FlowPlan::Produce(flow) if flow.settings.compression.codec == CompressionCodec::None => {
            Some(flow.record.value_bytes_max())
        }
        _ => None,
    });
    let preloaded = trial.topic.preload.iter();
    let preloaded = preloaded.map(|preload| preload.record.value_bytes_max());
    written.chain(preloaded).max().unwrap_or(0).into()
}

fn knows(versions: &ApiVersions, api: ApiKey, version: i16) -> bool {
    versions
        .range(api)
        .is_some_and(|(_, highest)| highest >= version)
}

#[cfg(test)]
mod tests {
    use kgauge_scenario::{Scenario, Size};

    use super::*;

    /// The relevant versions of Kafka 0.10.1 and 2.1.
    fn versions(produce: i16, idempotent: bool) -> ApiVersions {
        let mut ranges = vec![(0, 0, produce), (1, 0, 3), (18, 0, 0)];
        if idempotent {
            ranges.push((22, 0, 1));
        }
        ApiVersions::from_ranges(ranges)
    }

    fn text(settings: &str, versions: &ApiVersions) -> Vec<String> {
        let text = format!(
            "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: 1}}\nflows:\n  \
             - {{name: w, kind: produce, shape: max, record: {{size: 100 B}}, settings: {{{settings}}}}}\n"
        );
        text_of(&text, versions)
    }

    fn text_of(text: &str, versions: &ApiVersions) -> Vec<String> {
        let scenario = Scenario::parse("a.yaml", text).unwrap();
        let trial = scenario.trials(Size::Default).remove(0);
        let found = refusals(&trial, TargetKind::Kafka, versions);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn groups_and_static_members_need_their_releases() {
        let refusals_for = |settings: &str, versions: &ApiVersions| {
            let text = format!(
                "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: 1, preload: {{records: 1, \
                 record: {{size: 1 B}}}}}}\nflows:\n  - {{name: r, kind: consume, records: all, \
                 group: true, settings: {{{settings}}}}}\n"
            );
            text_of(&text, versions)
        };
        let (none, old) = (
            ApiVersions::from_ranges([(1, 0, 4)]),
            ApiVersions::from_ranges([(1, 0, 4), (11, 0, 4)]),
        );
        assert_eq!(
            refusals_for("", &none),
            ["a: flow r: consumer groups need Kafka 0.9 or newer: --set r.group=false"]
        );
        assert_eq!(refusals_for("", &old), [""; 0]);
        let fixed = refusals_for("group.instance.id: fixed", &old);
        assert!(fixed[0].contains("needs Kafka 2.3"), "{fixed:?}");
        let consumer_protocol = refusals_for("group.protocol: consumer", &old);
        assert!(
            consumer_protocol[0].contains("needs Kafka 4.0"),
            "{consumer_protocol:?}"
        );
        let new = ApiVersions::from_ranges([(1, 0, 4), (11, 0, 9), (68, 0, 1)]);
        assert_eq!(refusals_for("group.protocol: consumer", &new), [""; 0]);
    }

    #[test]
    fn settings_that_an_old_release_lacks_are_refused_with_a_fix() {
        let old = versions(2, false);
        assert_eq!(text("acks: 1", &old), [""; 0]);
        assert_eq!(
            text("acks: all", &old),
            [
                "a: flow w: enable.idempotence needs Kafka 0.11 or newer: --set \
                 w.settings.enable.idempotence=false"
            ]
        );
        let zstd = text("acks: 1, compression.type: zstd", &versions(5, true));
        assert!(zstd[0].contains("zstd needs Kafka 2.1"), "{zstd:?}");
        assert_eq!(text("compression.type: zstd", &versions(7, true)), [""; 0]);
    }

    #[test]
    fn consumers_are_told_what_only_newer_releases_fetch() {
        let text = |settings: &str| {
            format!(
                "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: 1, preload: {{records: 10, \
                 record: {{size: 2000 B}}}}}}\nflows:\n  \
                 - {{name: r, kind: consume, from: earliest, records: all, settings: {{{settings}}}}}\n"
            )
        };
        let versions = |fetch| ApiVersions::from_ranges([(0, 0, 2), (1, 0, fetch)]);
        let small = text("max.partition.fetch.bytes: 2025");
        let words = text_of(&small, &versions(2));
        assert!(
            words[0].ends_with("--set r.settings.max.partition.fetch.bytes=2026 or more"),
            "{words:?}"
        );
        assert_eq!(text_of(&small, &versions(3)), [""; 0]);
        let fits = text("max.partition.fetch.bytes: 2026");
        assert_eq!(text_of(&fits, &versions(2)), [""; 0]);
        let limited = text("fetch.max.bytes: 1000000");
        let words = text_of(&limited, &versions(1));
        assert!(
            words[0].contains("fetch.max.bytes needs Kafka 0.10.1"),
            "{words:?}"
        );
        assert_eq!(text_of(&limited, &versions(4)), [""; 0]);
    }
}
