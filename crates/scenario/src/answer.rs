//! What kind of answer a scenario's question asks for, and what it is compared with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerKind {
    /// Figures with their intervals, and the bottleneck.
    HowMuch,
    /// A ratio to another trial, with its interval.
    Effect,
    /// The course of a figure over the values of one setting; of a single trial over time.
    Trend,
    /// Acked records beside those on the brokers.
    Loss,
    /// The time without acks after a fault.
    Outage,
    /// The best trial and its lead.
    Best,
}

impl AnswerKind {
    /// All kinds with their names in scenarios.
    pub(crate) const NAMES: [(&'static str, AnswerKind); 6] = [
        ("how-much", AnswerKind::HowMuch),
        ("effect", AnswerKind::Effect),
        ("trend", AnswerKind::Trend),
        ("loss", AnswerKind::Loss),
        ("outage", AnswerKind::Outage),
        ("best", AnswerKind::Best),
    ];
}

/// What the trials of a scenario are compared with: a scenario, a factor's value, or both. At least one is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Comparand {
    /// Another scenario of the study; none for the scenario itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// A factor of that scenario and its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<(String, String)>,
}

impl Comparand {
    /// Reads `SCENARIO`, `PATH=VALUE` or `SCENARIO/PATH=VALUE`; none if a part is empty.
    pub(crate) fn parse(text: &str) -> Option<Comparand> {
        let Some((head, value)) = text.split_once('=') else {
            let scenario = text.trim();
            return (!scenario.is_empty()).then(|| Comparand {
                scenario: Some(scenario.to_owned()),
                factor: None,
            });
        };
        let (scenario, path) = match head.split_once('/') {
            Some((scenario, path)) => (Some(scenario.trim().to_owned()), path.trim()),
            None => (None, head.trim()),
        };
        let value = value.trim();
        let is_whole = !path.is_empty()
            && !value.is_empty()
            && scenario.as_ref().is_none_or(|name| !name.is_empty());
        is_whole.then(|| Comparand {
            scenario,
            factor: Some((path.to_owned(), value.to_owned())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(path: &str, value: &str) -> Option<(String, String)> {
        Some((path.to_owned(), value.to_owned()))
    }

    #[test]
    fn a_scenario_a_value_or_both_are_read() {
        let scenario = |name: &str| Some(name.to_owned());
        for (text, scenario, factor) in [
            ("single-producer", scenario("single-producer"), None),
            (
                "writers.settings.acks=1",
                None,
                factor("writers.settings.acks", "1"),
            ),
            (
                "record-size/writers.record.size = 1000000 B",
                scenario("record-size"),
                factor("writers.record.size", "1000000 B"),
            ),
            // A value may contain both signs.
            (
                "writers.shape.constant=5k/s",
                None,
                factor("writers.shape.constant", "5k/s"),
            ),
            (
                "one-at-a-time=topic.partitions=3",
                None,
                factor("one-at-a-time", "topic.partitions=3"),
            ),
        ] {
            let expected = Comparand { scenario, factor };
            assert_eq!(Comparand::parse(text), Some(expected), "{text}");
        }
        for text in ["", "  ", "=1", "path=", "/path=1"] {
            assert_eq!(Comparand::parse(text), None, "{text}");
        }
    }

    #[test]
    fn names_are_those_of_json() {
        for (name, kind) in AnswerKind::NAMES {
            let json = serde_json::to_value(kind).unwrap();
            assert_eq!(json, name);
        }
    }
}
