//! Goals and published figures: names of figures with values in the right unit.

use super::{ForTrial, ListItem};
use crate::audit_facts::audit_facts;
use crate::figure::{FigureName, Goal, GoalComparison, Metric, PublishedValue, ValueUnit};
use crate::keys::PUBLISHED;
use crate::reader::{ValueReader, shorten};
use crate::tree::{Value, YamlNode};
use crate::units;
use crate::vary::{FactorGroup, describe};

pub(super) fn goals(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<Vec<ListItem<Goal>>> {
    listed(reader, node, goal)
}

/// Reads a list whose items are checked again when everything has been read.
pub(super) fn listed<T>(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
    mut read: impl FnMut(&mut ValueReader<'_>, &YamlNode) -> Option<T>,
) -> Option<Vec<ListItem<T>>> {
    let mut count = 0;
    reader.list(node, |reader, item| {
        let index = count;
        count += 1;
        read(reader, item).map(|value| ListItem {
            item: value,
            place: item.place,
            index,
        })
    })
}

fn goal(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<Goal> {
    let text = reader.text(node)?;
    let signs = [
        ("<=", GoalComparison::LessOrEqual),
        (">=", GoalComparison::GreaterOrEqual),
        ("<", GoalComparison::Less),
        (">", GoalComparison::Greater),
    ];
    let found = signs
        .into_iter()
        .find_map(|(sign, comparison)| Some((text.split_once(sign)?, comparison)));
    let Some(((name, wanted), comparison)) = found else {
        let what = format!("`{}` is not a goal", shorten(&text));
        let cure = "write a figure, one of < <= >= >, and a value: \
                    `writers.latency.p99 <= 20 ms`";
        reader.problem(node.place, what, cure);
        return None;
    };
    let figure = figure(reader, node, name.trim())?;
    let value = value(reader, node, &figure, wanted.trim())?;
    Some(Goal {
        text: text.clone(),
        figure,
        comparison,
        value,
    })
}

fn figure(reader: &mut ValueReader<'_>, node: &YamlNode, name: &str) -> Option<FigureName> {
    match FigureName::parse(name) {
        Ok(figure) => Some(figure),
        Err(error) => {
            let what = format!("`{}` is not a figure", shorten(name));
            reader.problem(node.place, what, error.why);
            None
        }
    }
}

/// The value in the unit of the figure's metric.
fn value(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
    figure: &FigureName,
    text: &str,
) -> Option<f64> {
    let parsed = match figure.metric.unit() {
        ValueUnit::RecordsPerSecond => units::rate(text),
        ValueUnit::BytesPerSecond => units::byte_rate(text),
        ValueUnit::Nanoseconds => units::time_ns(text).map(|ns| ns as f64),
        ValueUnit::Records => units::count(text).map(|count| count as f64),
    };
    match parsed {
        Ok(value) => Some(value),
        Err(error) if figure.metric == Metric::Throughput && units::byte_rate(text).is_ok() => {
            let cure = format!(
                "write `{}.throughput.bytes` for bytes per second",
                figure.flow
            );
            reader.problem(node.place, error.what, cure);
            None
        }
        Err(error) => {
            reader.problem(node.place, error.what, error.cure);
            None
        }
    }
}

pub(super) fn published(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
    factors: &[FactorGroup],
) -> Option<Vec<ListItem<ForTrial>>> {
    listed(reader, node, |reader, item| {
        let fields = reader.map(item, &PUBLISHED)?;
        let figure = reader.field(&fields, "figure", |reader, node| {
            let name = reader.text(node)?;
            figure(reader, node, &name)
        });
        let value = reader.field(&fields, "value", |reader, node| {
            let text = reader.text(node)?;
            Some((value(reader, node, figure.as_ref()?, &text)?, text))
        });
        let source = reader.field(&fields, "source", ValueReader::text);
        let differs = reader.field(&fields, "differs", ValueReader::text);
        let not_comparable = match fields.has("not-comparable") {
            true => reader.field(&fields, "not-comparable", ValueReader::text),
            false => None,
        };
        let line = match fields.has("line") {
            true => reader.field(&fields, "line", ValueReader::output),
            false => None,
        };
        let facts = reader.field(&fields, "audit", audit_facts);
        let trial = match fields.has("trial") {
            true => reader.field(&fields, "trial", |reader, node| {
                trial(reader, node, factors)
            }),
            false => Some(Vec::new()),
        };
        if !fields.has("trial") && !factors.is_empty() {
            let what = "the trial of this figure is missing";
            let path = &factors[0].path;
            reader.problem(item.place, what, format!("add `trial: {{{path}: ...}}`"));
        }
        let (value, text) = value?;
        let published = PublishedValue {
            figure: figure?,
            value,
            text,
            source,
            differs,
            not_comparable,
            audit_facts: facts?,
            line,
            audit: Vec::new(),
        };
        Some(ForTrial {
            published,
            factors: trial?,
        })
    })
}

/// The factors' values for which a figure was published; each must be one that is run.
fn trial(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
    factors: &[FactorGroup],
) -> Option<Vec<(String, String)>> {
    let Value::Map(entries) = &node.value else {
        reader.wrong_type(node, "factors and values, as in `vary`");
        return None;
    };
    let mut trial = Vec::new();
    for entry in entries {
        let Some(factor) = factors.iter().find(|factor| factor.path == entry.key) else {
            let what = format!("`{}` is not varied", shorten(&entry.key));
            reader.problem(entry.place, what, "use a path listed in `vary`");
            continue;
        };
        let wanted = describe(&entry.node);
        let values = factor.names();
        if !values.contains(&wanted) {
            let what = format!("`{}` is never {}", factor.path, shorten(&wanted));
            let cure = format!("write one of: {}", shorten(&values.join(", ")));
            reader.problem(entry.node.place, what, cure);
        }
        trial.push((entry.key.clone(), wanted));
    }
    Some(trial)
}
