//! Goals and published figures: names of figures with values in the right unit.

use super::{ForTrial, Listed};
use crate::audit_facts::audit_facts;
use crate::figure::{Comparison, Figure, Goal, Metric, Published, Unit};
use crate::keys::PUBLISHED;
use crate::reader::{Reader, shorten};
use crate::tree::{Node, Value};
use crate::units;
use crate::vary::{Factor, describe};

pub(super) fn goals(reader: &mut Reader<'_>, node: &Node) -> Option<Vec<Listed<Goal>>> {
    listed(reader, node, goal)
}

/// Reads a list whose items are checked again when everything has been read.
pub(super) fn listed<T>(
    reader: &mut Reader<'_>,
    node: &Node,
    mut read: impl FnMut(&mut Reader<'_>, &Node) -> Option<T>,
) -> Option<Vec<Listed<T>>> {
    let mut count = 0;
    reader.list(node, |reader, item| {
        let index = count;
        count += 1;
        read(reader, item).map(|value| Listed {
            item: value,
            place: item.place,
            index,
        })
    })
}

fn goal(reader: &mut Reader<'_>, node: &Node) -> Option<Goal> {
    let text = reader.text(node)?;
    let signs = [
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
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

fn figure(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Figure> {
    match Figure::parse(name) {
        Ok(figure) => Some(figure),
        Err(error) => {
            let what = format!("`{}` is not a figure", shorten(name));
            reader.problem(node.place, what, error.why);
            None
        }
    }
}

/// The value in the unit of the figure's metric.
fn value(reader: &mut Reader<'_>, node: &Node, figure: &Figure, text: &str) -> Option<f64> {
    let parsed = match figure.metric.unit() {
        Unit::RecordsPerSecond => units::rate(text),
        Unit::BytesPerSecond => units::byte_rate(text),
        Unit::Nanoseconds => units::time_ns(text).map(|ns| ns as f64),
        Unit::Records => units::count(text).map(|count| count as f64),
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
    reader: &mut Reader<'_>,
    node: &Node,
    factors: &[Factor],
) -> Option<Vec<Listed<ForTrial>>> {
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
        let source = reader.field(&fields, "source", Reader::text);
        let differs = reader.field(&fields, "differs", Reader::text);
        let not_comparable = match fields.has("not-comparable") {
            true => reader.field(&fields, "not-comparable", Reader::text),
            false => None,
        };
        let line = match fields.has("line") {
            true => reader.field(&fields, "line", Reader::output),
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
        let published = Published {
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
    reader: &mut Reader<'_>,
    node: &Node,
    factors: &[Factor],
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
