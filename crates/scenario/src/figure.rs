//! Figures by name: what goals demand and what others published.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::keys::audit::AuditFacts;

/// One measured number: a flow's metric, written `writers.latency.p99`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FigureName {
    /// The flow's name.
    pub flow: String,
    /// What is measured of it.
    pub metric: Metric,
}

/// A metric of a flow in its hold stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// `throughput`: records acked (produce) or read (consume) a second.
    Throughput,
    /// `throughput.bytes`: the same in logical bytes a second.
    ThroughputBytes,
    /// `latency.*`: acked - intended, the headline.
    Latency(Statistic),
    /// `end-to-end.*`: consumed - intended, of echo flows.
    EndToEnd(Statistic),
    /// `service.*`: acked - sent.
    Service(Statistic),
    /// `lag.*`: sent - intended.
    Lag(Statistic),
    /// `failed`: records whose send failed.
    Failed,
    /// `skipped`: records that were too late to be sent.
    Skipped,
}

/// What is taken from a distribution of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Statistic {
    /// `min`
    Min,
    /// `mean`
    Mean,
    /// `p50`, `p99`, `p99.9`, ...: the quantile in millionths (p99.9 is 999,000).
    Quantile(u32),
    /// `max`
    Max,
}

/// The unit of a figure's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // The names say it.
pub enum ValueUnit {
    RecordsPerSecond,
    BytesPerSecond,
    Nanoseconds,
    Records,
}

/// Why a figure's name is not one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a figure: {why}")]
pub struct FigureError {
    /// What was written.
    pub text: String,
    /// What is wrong with it.
    pub why: String,
}

/// The names of metrics, in the order in which the guide lists them.
const METRIC_NAMES: &[&str] = &[
    "throughput",
    "throughput.bytes",
    "latency.p99",
    "end-to-end.p99",
    "service.p99",
    "lag.p99",
    "failed",
    "skipped",
];

impl FigureName {
    /// Reads `flow.metric`, such as `writers.latency.p99.9` or `readers.throughput`.
    pub fn parse(text: &str) -> Result<FigureName, FigureError> {
        let fail = |why: &str| FigureError {
            text: text.to_owned(),
            why: why.to_owned(),
        };
        let (flow, metric) = text
            .split_once('.')
            .filter(|(flow, _)| !flow.is_empty())
            .ok_or_else(|| {
                fail("write a flow's name, a dot and a metric, such as `writers.latency.p99`")
            })?;
        let metric = Metric::parse(metric).map_err(|why| fail(&why))?;
        Ok(FigureName {
            flow: flow.to_owned(),
            metric,
        })
    }
}

impl fmt::Display for FigureName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.flow, self.metric)
    }
}

impl Metric {
    pub(crate) fn parse(text: &str) -> Result<Metric, String> {
        let stat = |rest: &str| {
            Statistic::parse(rest).ok_or_else(|| {
                format!("`{rest}` is not a statistic: write min, mean, max, p50, p99 or p99.9")
            })
        };
        match text.split_once('.') {
            None if text == "throughput" => Ok(Metric::Throughput),
            None if text == "failed" => Ok(Metric::Failed),
            None if text == "skipped" => Ok(Metric::Skipped),
            Some(("throughput", "bytes")) => Ok(Metric::ThroughputBytes),
            Some(("latency", rest)) => stat(rest).map(Metric::Latency),
            Some(("end-to-end", rest)) => stat(rest).map(Metric::EndToEnd),
            Some(("service", rest)) => stat(rest).map(Metric::Service),
            Some(("lag", rest)) => stat(rest).map(Metric::Lag),
            None if ["latency", "end-to-end", "service", "lag"].contains(&text) => Err(format!(
                "add a statistic: `{text}.p99`, `{text}.mean`, `{text}.max`"
            )),
            _ => Err(format!(
                "`{text}` is not a metric; expected one of {}",
                METRIC_NAMES.join(", ")
            )),
        }
    }

    /// The unit of its values.
    pub fn unit(self) -> ValueUnit {
        match self {
            Metric::Throughput => ValueUnit::RecordsPerSecond,
            Metric::ThroughputBytes => ValueUnit::BytesPerSecond,
            Metric::Latency(_) | Metric::EndToEnd(_) | Metric::Service(_) | Metric::Lag(_) => {
                ValueUnit::Nanoseconds
            }
            Metric::Failed | Metric::Skipped => ValueUnit::Records,
        }
    }

    /// True for times of records.
    pub fn is_time(self) -> bool {
        self.unit() == ValueUnit::Nanoseconds
    }

    /// True for what only a flow that sends can have.
    pub(crate) fn needs_produce(self) -> bool {
        !matches!(self, Metric::Throughput | Metric::ThroughputBytes)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Metric::Throughput => f.write_str("throughput"),
            Metric::ThroughputBytes => f.write_str("throughput.bytes"),
            Metric::Latency(stat) => write!(f, "latency.{stat}"),
            Metric::EndToEnd(stat) => write!(f, "end-to-end.{stat}"),
            Metric::Service(stat) => write!(f, "service.{stat}"),
            Metric::Lag(stat) => write!(f, "lag.{stat}"),
            Metric::Failed => f.write_str("failed"),
            Metric::Skipped => f.write_str("skipped"),
        }
    }
}

impl Statistic {
    pub(crate) fn parse(text: &str) -> Option<Statistic> {
        match text {
            "min" => Some(Statistic::Min),
            "mean" => Some(Statistic::Mean),
            "max" => Some(Statistic::Max),
            _ => text
                .strip_prefix('p')
                .and_then(percent_millionths)
                .map(Statistic::Quantile),
        }
    }
}

/// `99.9` -> 999,000: percent with up to four decimals, above 0 and below 100.
fn percent_millionths(text: &str) -> Option<u32> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let dot_without_decimals = text.contains('.') && decimals.is_empty();
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 2 || decimals.len() > 4 || dot_without_decimals {
        return None;
    }
    if !digits(whole) || !digits(decimals) {
        return None;
    }
    let whole: u32 = whole.parse().ok()?;
    let decimals: u32 = format!("{decimals:0<4}").parse().ok()?;
    let millionths = whole * 10_000 + decimals;
    (millionths > 0).then_some(millionths)
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statistic::Min => f.write_str("min"),
            Statistic::Mean => f.write_str("mean"),
            Statistic::Max => f.write_str("max"),
            Statistic::Quantile(millionths) => {
                let (whole, decimals) = (millionths / 10_000, millionths % 10_000);
                let decimals = format!("{decimals:04}");
                match decimals.trim_end_matches('0') {
                    "" => write!(f, "p{whole}"),
                    decimals => write!(f, "p{whole}.{decimals}"),
                }
            }
        }
    }
}

impl Serialize for FigureName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FigureName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<FigureName, D::Error> {
        let text = String::deserialize(deserializer)?;
        FigureName::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// The required relation between a figure and a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)] // The signs say it.
pub enum GoalComparison {
    #[serde(rename = "<")]
    Less,
    #[serde(rename = "<=")]
    LessOrEqual,
    #[serde(rename = ">=")]
    GreaterOrEqual,
    #[serde(rename = ">")]
    Greater,
}

impl GoalComparison {
    /// Whether `measured` has this relation to `required`.
    pub fn holds(self, measured: f64, required: f64) -> bool {
        match self {
            GoalComparison::Less => measured < required,
            GoalComparison::LessOrEqual => measured <= required,
            GoalComparison::GreaterOrEqual => measured >= required,
            GoalComparison::Greater => measured > required,
        }
    }
}

impl fmt::Display for GoalComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GoalComparison::Less => "<",
            GoalComparison::LessOrEqual => "<=",
            GoalComparison::GreaterOrEqual => ">=",
            GoalComparison::Greater => ">",
        })
    }
}

/// A condition on a figure: `writers.latency.p99 <= 20 ms`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// As written.
    pub text: String,
    /// The figure that it limits.
    pub figure: FigureName,
    /// The required relation to the value.
    pub comparison: GoalComparison,
    /// In the unit of the figure's metric ([`Metric::unit`]): records/s, bytes/s, ns or records.
    pub value: f64,
}

/// A figure that others published for the same question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedValue {
    /// What it is a figure of.
    pub figure: FigureName,
    /// In the unit of the figure's metric ([`Metric::unit`]).
    pub value: f64,
    /// As written, with its unit.
    pub text: String,
    /// Where it was published.
    pub source: Option<String>,
    /// What was different there, other than the machines.
    pub differs: Option<String>,
    /// Why it cannot be compared with what is measured here, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_comparable: Option<String>,
    /// What has to be known to judge what the tool printed there.
    #[serde(default, skip_serializing_if = "AuditFacts::is_empty")]
    pub audit_facts: AuditFacts,
    /// What the tool printed there, verbatim: a line, or one of each of several producers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// The findings of the arithmetic check.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "read_findings"
    )]
    pub audit: Vec<PublishedFinding>,
}

/// A finding of the arithmetic check of a published line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedFinding {
    /// Its severity.
    pub level: FindingSeverity,
    /// The finding with its arithmetic, in sentences.
    pub text: String,
}

/// The severity of a finding, in ascending order.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum FindingSeverity {
    /// A figure that means less than it seems to.
    Caution,
    /// A figure that measures something else than its name says.
    Artefact,
    /// Figures that cannot all be true.
    Contradiction,
}

impl fmt::Display for FindingSeverity {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Caution => "caution",
            Self::Artefact => "artefact",
            Self::Contradiction => "contradiction",
        })
    }
}

/// Reads findings. In plans of earlier versions they are sentences after their level, as in `artefact: ...`.
fn read_findings<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PublishedFinding>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum WrittenFinding {
        Typed(PublishedFinding),
        Sentence(String),
    }
    let findings = Vec::<WrittenFinding>::deserialize(from)?.into_iter();
    let findings = findings.map(|written| match written {
        WrittenFinding::Typed(finding) => finding,
        WrittenFinding::Sentence(sentence) => {
            let (level, text) = match sentence.split_once(": ") {
                Some(("contradiction", text)) => (FindingSeverity::Contradiction, text),
                Some(("artefact", text)) => (FindingSeverity::Artefact, text),
                Some(("caution", text)) => (FindingSeverity::Caution, text),
                _ => (FindingSeverity::Caution, sentence.as_str()),
            };
            PublishedFinding {
                level,
                text: text.to_owned(),
            }
        }
    });
    Ok(findings.collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn findings_of_older_plans_are_read_with_their_level() {
        let text = r#"["artefact: whole ms: cut", {"level": "contradiction", "text": "a"}, "b"]"#;
        let findings = read_findings(&mut serde_json::Deserializer::from_str(text)).unwrap();
        let findings: Vec<(FindingSeverity, &str)> = findings
            .iter()
            .map(|finding| (finding.level, finding.text.as_str()))
            .collect();
        let expected = [
            (FindingSeverity::Artefact, "whole ms: cut"),
            (FindingSeverity::Contradiction, "a"),
            (FindingSeverity::Caution, "b"),
        ];
        assert_eq!(findings, expected);
    }
}
