//! Goals and published figures: names of figures with values in the right unit.

use super::audit::AuditFacts;
use crate::figure::{FigureName, Goal, GoalComparison, Metric, PublishedValue, ValueUnit};
use crate::key_definition::ValueForm;
use crate::key_map::key_map;
use crate::problem::SourceLocation;
use crate::reader::{Fields, ValueReader};
use crate::suggest::shorten;
use crate::tree::{Value, YamlNode};
use crate::units;
use crate::value_kind::{ValueKind, map, output, text};

key_map! {
    map PublishedKeys, "Published" -> PublishedForTrial, made by published {
        /// The figure, such as `writers.throughput`.
        let figure: FigureName = "figure" [required],
            text().then(|reader, place, name| figure(reader, place, &name));
        /// The value with its unit, such as `821557 records/s`.
        let value: String = "value" [required], text();
        /// Where the figure was published.
        let source: Option<String> = "source" [optional "the study's source"], text();
        /// The factor values of the published figure. Required when the scenario varies.
        let trial: Option<Vec<(String, String)>> = "trial" [optional "every trial"],
            ValueKind::new(ValueForm::Paths, trial);
        /// Differences from this scenario, other than the machines.
        let differs: Option<String> = "differs" [optional "only the machines differ"], text();
        /// Why the two figures cannot be compared; the text follows "not comparable because".
        let not_comparable: Option<String> = "not-comparable" [optional "comparable"], text();
        /// The output line of Kafka's own tool, verbatim; one line per producer. The report checks it by arithmetic, as
        /// `kgauge audit` does.
        let line: Option<String> = "line" [optional "unknown"], output();
        /// Facts for the check of `line`, where they differ from those of the study.
        let audit_facts: AuditFacts = "audit" [all_defaults], map::<AuditFacts>();
    }
}

/// A published figure and the factors' values that it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct PublishedForTrial {
    pub(crate) published: PublishedValue,
    factors: Vec<(String, String)>,
}

impl PublishedForTrial {
    /// Whether it was published for a trial with these factors.
    pub(crate) fn belongs_to(&self, factors: &[(String, String)]) -> bool {
        self.factors.iter().all(|factor| factors.contains(factor))
    }
}

fn published(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    read: PublishedKeys,
) -> Option<PublishedForTrial> {
    if !fields.has("trial")
        && let Some((path, _)) = reader.scope.factors.first()
    {
        let cure = format!("add `trial: {{{path}: ...}}`");
        reader.problem(
            fields.map_place,
            "the trial of this figure is missing",
            cure,
        );
    }
    let (figure, text) = (read.figure?, read.value?);
    let place = fields.place("value");
    let value = reader.inside(".value", |reader| value(reader, place, &figure, &text));
    Some(PublishedForTrial {
        published: PublishedValue {
            figure,
            value: value?,
            text,
            source: read.source?,
            differs: read.differs?,
            not_comparable: read.not_comparable?,
            audit_facts: read.audit_facts?,
            line: read.line?,
            audit: Vec::new(),
        },
        factors: read.trial?.unwrap_or_default(),
    })
}

/// A figure, a comparison and a value.
pub(super) fn goal_text() -> ValueKind<Goal> {
    text().then(goal)
}

fn goal(reader: &mut ValueReader<'_>, place: SourceLocation, text: String) -> Option<Goal> {
    let Some((name, comparison, bound)) = split_goal(&text) else {
        let what = format!("`{}` is not a goal", shorten(&text));
        let cure = "write a figure, one of < <= >= >, and a value: \
                    `writers.latency.p99 <= 20 ms`";
        return reader.refuse(place, what, cure);
    };
    let figure = figure(reader, place, name)?;
    let value = value(reader, place, &figure, bound)?;
    Some(Goal {
        figure,
        comparison,
        value,
        text,
    })
}

/// The figure, the comparison and the value of a goal, as text.
pub(crate) fn split_goal(text: &str) -> Option<(&str, GoalComparison, &str)> {
    let signs = [
        ("<=", GoalComparison::LessOrEqual),
        (">=", GoalComparison::GreaterOrEqual),
        ("<", GoalComparison::Less),
        (">", GoalComparison::Greater),
    ];
    signs.into_iter().find_map(|(sign, comparison)| {
        let (name, bound) = text.split_once(sign)?;
        Some((name.trim(), comparison, bound.trim()))
    })
}

pub(super) fn figure(
    reader: &mut ValueReader<'_>,
    place: SourceLocation,
    name: &str,
) -> Option<FigureName> {
    match FigureName::parse(name) {
        Ok(figure) => Some(figure),
        Err(error) => {
            let what = format!("`{}` is not a figure", shorten(name));
            reader.refuse(place, what, error.why)
        }
    }
}

/// The value in the unit of the figure's metric.
pub(super) fn value(
    reader: &mut ValueReader<'_>,
    place: SourceLocation,
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
            reader.refuse(place, error.what, cure)
        }
        Err(error) => reader.refuse(place, error.what, error.cure),
    }
}

/// The factors' values for which a figure was published; each must be one that is run.
fn trial(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<Vec<(String, String)>> {
    let Value::Map(entries) = &node.value else {
        reader.wrong_type(node, "factors and values, as in `vary`");
        return None;
    };
    let mut trial = Vec::new();
    for entry in entries {
        let factors = &reader.scope.factors;
        let Some((path, values)) = factors.iter().find(|(path, _)| *path == entry.key) else {
            let what = format!("`{}` is not varied", shorten(&entry.key));
            reader.problem(entry.place, what, "use a path listed in `vary`");
            continue;
        };
        let factor_value = entry.node.describe();
        if !values.contains(&factor_value) {
            let what = format!("`{path}` is never {}", shorten(&factor_value));
            let cure = format!("write one of: {}", shorten(&values.join(", ")));
            reader.problem(entry.node.place, what, cure);
        }
        trial.push((entry.key.clone(), factor_value));
    }
    Some(trial)
}
