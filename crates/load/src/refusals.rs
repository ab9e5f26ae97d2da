//! What a trial asks for and a cluster cannot do, by the requests that its brokers know: said before
//! anything is made on it.

use kgauge_client::connection::ApiVersions;
use kgauge_scenario::{CompressionCodec, FlowPlan, Trial};
use kgauge_wire::api::ApiKey;

/// Something that the cluster cannot do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{scenario}: flow {flow}: {what}")]
pub struct Refusal {
    /// The scenario.
    pub scenario: String,
    /// Its flow.
    pub flow: String,
    /// What cannot be done, since when Kafka can, and what to change.
    pub what: String,
}

/// Everything of a trial that brokers with these versions cannot do.
pub fn refusals(trial: &Trial, versions: &ApiVersions) -> Vec<Refusal> {
    let mut found = Vec::new();
    for flow in &trial.flows {
        if let FlowPlan::Produce(flow) = flow {
            let mut add = |what: String| {
                found.push(Refusal {
                    scenario: trial.scenario.clone(),
                    flow: flow.name.clone(),
                    what,
                });
            };
            let name = &flow.name;
            if flow.settings.idempotence && versions.range(ApiKey::InitProducerId).is_none() {
                add(format!(
                    "enable.idempotence needs Kafka 0.11 or newer: --set \
                     {name}.settings.enable.idempotence=false"
                ));
            }
            let codec = flow.settings.compression.codec;
            if codec == CompressionCodec::Zstd && !knows(versions, ApiKey::Produce, 7) {
                add(format!(
                    "compression.type zstd needs Kafka 2.1 or newer (KIP-110): --set \
                     {name}.settings.compression.type=lz4"
                ));
            }
        }
    }
    found
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

    /// What Kafka 0.10.1 and 2.1 know of what matters here.
    fn versions(produce: i16, idempotent: bool) -> ApiVersions {
        let mut ranges = vec![(0, 0, produce), (1, 0, 3), (18, 0, 0)];
        if idempotent {
            ranges.push((22, 0, 1));
        }
        ApiVersions::from_ranges(ranges)
    }

    fn said(settings: &str, versions: &ApiVersions) -> Vec<String> {
        let text = format!(
            "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: 1}}\nflows:\n  \
             - {{name: w, kind: produce, shape: max, record: {{size: 100 B}}, settings: {{{settings}}}}}\n"
        );
        let scenario = Scenario::parse("a.yaml", &text).unwrap();
        let trial = scenario.trials(Size::Default).remove(0);
        let found = refusals(&trial, versions);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_an_old_release_cannot_do_is_said_with_the_cure() {
        let old = versions(2, false);
        assert_eq!(said("acks: 1", &old), [""; 0]);
        assert_eq!(
            said("acks: all", &old),
            [
                "a: flow w: enable.idempotence needs Kafka 0.11 or newer: --set \
                 w.settings.enable.idempotence=false"
            ]
        );
        let zstd = said("acks: 1, compression.type: zstd", &versions(5, true));
        assert!(zstd[0].contains("zstd needs Kafka 2.1"), "{zstd:?}");
        assert_eq!(said("compression.type: zstd", &versions(7, true)), [""; 0]);
    }
}
