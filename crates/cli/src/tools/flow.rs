//! From a tool's settings to what the load engine obeys: a scenario of one flow, so that Kafka's rules
//! about settings stand in one place.

use std::collections::BTreeMap;

use kgauge_scenario::{Scenario, Share, Size, Trial};
use serde_json::{Map, Value, json};

/// The only flow's name.
pub(crate) const FLOW: &str = "tool";

/// The trial of a flow with these keys and settings.
///
/// # Errors
/// What is wrong with the settings, in words.
pub(crate) fn trial(
    partitions: u32,
    mut flow: Map<String, Value>,
    settings: &BTreeMap<String, String>,
) -> Result<Trial, String> {
    let settings: Map<String, Value> = settings
        .iter()
        .map(|(key, value)| (key.clone(), Value::String(value.clone())))
        .collect();
    flow.insert("name".into(), FLOW.into());
    flow.insert("settings".into(), settings.into());
    let text = json!({
        "kgauge": 1,
        "name": "tool",
        "question": "What would Kafka's own tool say?",
        // Who only reads needs something to read; what is there already is not the scenario's.
        "topic": {
            "partitions": partitions,
            "preload": {"records": 1, "record": {"size": "1 B"}},
        },
        "flows": [flow],
        "stages": {"warm-up": "0 s", "hold": "1 s"},
        "repeats": 1,
    });
    // JSON is YAML.
    let scenario = Scenario::parse("the command line", &text.to_string());
    let scenario = scenario.map_err(|problems| {
        let words = problems
            .iter()
            .map(|problem| format!("{}; {}", problem.what, problem.cure));
        let words = words.collect::<Vec<_>>().join("\n  ");
        words.replace("`tool.settings.", "`")
    })?;
    let mut trials = scenario.trials(Size::Default);
    let trial = trials.pop().map(|mut trial| {
        trial.topic.preload = None;
        trial
    });
    trial.ok_or_else(|| "the flow came to nothing".to_owned())
}

/// The share of the only agent.
pub(crate) fn share(trial: Trial) -> Share {
    Share {
        run_id: "tool".to_owned(),
        agent_index: 0,
        agent_count: 1,
        trial,
        repeat: 0,
        seed: crate::run_ids::fresh_number(),
    }
}

#[cfg(test)]
mod tests {
    use kgauge_scenario::{Acks, FlowPlan};

    use super::*;

    fn produce(settings: &[(&str, &str)]) -> Result<Trial, String> {
        let flow = json!({"kind": "produce", "shape": "max", "record": {"size": "100 B"}});
        let Value::Object(flow) = flow else {
            panic!("it is a map")
        };
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        trial(6, flow, &settings.iter().map(own).collect())
    }

    #[test]
    fn settings_are_obeyed_under_kafkas_names() {
        let trial = produce(&[
            ("acks", "1"),
            ("buffer.memory", "67108864"),
            ("batch.size", "8196"),
            ("compression.type", "lz4"),
            ("linger.ms", "10"),
            ("retries", "0"),
        ]);
        let trial = trial.unwrap();
        assert_eq!(trial.topic.partitions, 6);
        let FlowPlan::Produce(flow) = &trial.flows[0] else {
            panic!("it produces")
        };
        assert_eq!(flow.settings.acks, Acks::Leader);
        assert_eq!(flow.settings.buffer_bytes, 67_108_864);
        assert_eq!(flow.settings.batch_bytes, 8_196);
        assert_eq!(flow.settings.linger_ns, 10_000_000);
        assert!(!flow.settings.idempotence);
    }

    #[test]
    fn what_cannot_be_honoured_is_named_with_its_cure() {
        let error = produce(&[("acks", "2")]).unwrap_err();
        assert!(error.contains("acks") || error.contains('2'), "{error}");
        let error = produce(&[("transactional.id", "x")]).unwrap_err();
        assert!(error.contains("without transactions"), "{error}");
    }
}
