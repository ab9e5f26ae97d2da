//! How many partitions a rate needs, by two measured scenarios.

use serde::{Deserialize, Serialize};

use crate::keys::PARTITION_FORMULA;
use crate::reader::{ValueReader, shorten};
use crate::tree::YamlNode;
use crate::units;

/// A rate T needs at least max(T / P, T / C) partitions, where P is what one producer gets into one partition and C
/// what one consumer gets out of one: Jun Rao, "How to choose the number of topics/partitions in a Kafka cluster?",
/// 2015.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartitionFormula {
    /// The scenario and the flow that measure P.
    pub produce: (String, String),
    /// The scenario and the flow that measure C.
    pub consume: (String, String),
    /// Rates to be told the partitions of, in records a second.
    pub rates_per_s: Vec<u64>,
}

/// Reads it, as a study has it.
pub(crate) fn partition_formula(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
) -> Option<PartitionFormula> {
    let fields = reader.map(node, &PARTITION_FORMULA)?;
    let produce = reader.field(&fields, "produce", flow);
    let consume = reader.field(&fields, "consume", flow);
    let rates = reader.field(&fields, "rates", |reader, node| reader.list(node, rate));
    Some(PartitionFormula {
        produce: produce?,
        consume: consume?,
        rates_per_s: rates?,
    })
}

/// `scenario.flow`.
fn flow(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<(String, String)> {
    let text = reader.text(node)?;
    match text.split_once('.') {
        Some((scenario, flow)) if !scenario.is_empty() && !flow.is_empty() => {
            Some((scenario.to_owned(), flow.to_owned()))
        }
        _ => {
            let what = format!("`{}` is not a flow of a scenario", shorten(&text));
            let cure = "write a scenario, a dot and a flow: `one-partition.writers`";
            reader.problem(node.place, what, cure);
            None
        }
    }
}

fn rate(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<u64> {
    let text = reader.text(node)?;
    match units::rate(&text) {
        Ok(rate) if rate >= 1.0 => Some(rate.round() as u64),
        Ok(_) => {
            reader.problem(
                node.place,
                "the rate is below 1 record per second",
                "write a higher rate",
            );
            None
        }
        Err(error) => {
            reader.problem(node.place, error.what, error.cure);
            None
        }
    }
}
