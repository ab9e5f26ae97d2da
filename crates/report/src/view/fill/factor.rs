//! The one number that a scenario varies, where it is one.

use kgauge_analyze::summary::TrialSummary;

use crate::chart::AxisUnit;
use crate::view::{Sweep, SweepFlow, TrialView};

/// Fewer values make no curve.
const VALUES_MIN: usize = 3;

/// The one setting that all trials of a scenario vary.
pub(super) fn only(summaries: &[&TrialSummary]) -> Option<String> {
    let mut path: Option<&str> = None;
    for summary in summaries {
        let [factor] = summary.factors.as_slice() else {
            return None;
        };
        if *path.get_or_insert(&factor.path) != factor.path {
            return None;
        }
    }
    path.map(str::to_owned)
}

/// The numbers that the one varied setting has in each trial.
#[derive(Debug, Clone)]
pub(super) struct Values {
    values: Vec<f64>,
    unit: AxisUnit,
}

impl Values {
    /// `None` where several settings vary, or where their values are no numbers of one unit.
    pub(super) fn of(summaries: &[&TrialSummary]) -> Option<Values> {
        only(summaries)?;
        let factors = summaries.iter().flat_map(|summary| &summary.factors);
        let values: Vec<(f64, AxisUnit)> = factors
            .map(|factor| number(&factor.value))
            .collect::<Option<_>>()?;
        let (_, unit) = *values.first()?;
        let is_one_unit = values.iter().all(|(_, other)| *other == unit);
        is_one_unit.then(|| Values {
            values: values.iter().map(|(value, _)| *value).collect(),
            unit,
        })
    }

    /// The value of a trial, by its position.
    pub(super) fn of_trial(&self, trial: usize) -> Option<f64> {
        self.values.get(trial).copied()
    }
}

/// `batch.size` for `writers.settings.batch.size`, `rate` for `writers.shape.constant`: the setting, as Kafka's
/// documentation or the user calls it.
pub(super) fn setting_name(path: &str, flows: &[&str]) -> String {
    let of_flow = |name: &&str| path.strip_prefix(*name)?.strip_prefix('.');
    let path = flows.iter().find_map(of_flow).unwrap_or(path);
    let path = path.strip_prefix("settings.").unwrap_or(path);
    match path {
        "shape.constant" | "shape.poisson" => "rate".to_owned(),
        path => path.to_owned(),
    }
}

/// The sweep of a scenario: all trials vary the same single setting, and its values are numbers.
pub(super) fn sweep<'a>(
    summaries: &[&TrialSummary],
    trials: &[TrialView<'a>],
) -> Option<Sweep<'a>> {
    let values = Values::of(summaries)?;
    let mut distinct = values.values.clone();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    if distinct.len() < VALUES_MIN {
        return None;
    }
    let mut flows: Vec<SweepFlow<'a>> = Vec::new();
    for (value, trial) in values.values.iter().zip(trials) {
        for flow in &trial.flows {
            let point = (*value, *flow);
            match flows.iter_mut().find(|known| known.name == flow.name()) {
                Some(known) => known.points.push(point),
                None => flows.push(SweepFlow {
                    name: flow.name(),
                    points: vec![point],
                }),
            }
        }
    }
    for flow in &mut flows {
        flow.points.sort_by(|one, next| one.0.total_cmp(&next.0));
    }
    Some(Sweep {
        factor: only(summaries)?,
        unit: values.unit,
        flows,
    })
}

/// A number with its unit, as scenarios write them.
fn number(text: &str) -> Option<(f64, AxisUnit)> {
    const UNITS: [(&str, f64, AxisUnit); 15] = [
        ("", 1.0, AxisUnit::Plain),
        ("k", 1e3, AxisUnit::Plain),
        ("M", 1e6, AxisUnit::Plain),
        ("B", 1.0, AxisUnit::Bytes),
        ("kB", 1e3, AxisUnit::Bytes),
        ("MB", 1e6, AxisUnit::Bytes),
        ("GB", 1e9, AxisUnit::Bytes),
        ("KiB", 1024.0, AxisUnit::Bytes),
        ("MiB", 1_048_576.0, AxisUnit::Bytes),
        ("GiB", 1_073_741_824.0, AxisUnit::Bytes),
        ("ns", 1.0, AxisUnit::Nanoseconds),
        ("us", 1e3, AxisUnit::Nanoseconds),
        ("ms", 1e6, AxisUnit::Nanoseconds),
        ("s", 1e9, AxisUnit::Nanoseconds),
        ("min", 60e9, AxisUnit::Nanoseconds),
    ];
    let text = text.trim();
    let text = text.strip_suffix("/s").unwrap_or(text);
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || "._,".contains(c)))
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let value: f64 = digits.replace(['_', ','], "").parse().ok()?;
    let unit = unit.trim();
    let (_, factor, kind) = UNITS.iter().find(|(name, ..)| *name == unit)?;
    Some((value * factor, *kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_called_what_its_user_calls_it() {
        let name = |path| setting_name(path, &["readers", "writers"]);
        assert_eq!(name("writers.settings.linger.ms"), "linger.ms");
        assert_eq!(name("writers.shape.constant"), "rate");
        assert_eq!(name("topic.partitions"), "topic.partitions");
    }

    #[test]
    fn values_are_read_as_scenarios_write_them() {
        assert_eq!(number("10 B"), Some((10.0, AxisUnit::Bytes)));
        assert_eq!(number("100kB"), Some((1e5, AxisUnit::Bytes)));
        assert_eq!(number("64 KiB"), Some((65_536.0, AxisUnit::Bytes)));
        assert_eq!(number("50k/s"), Some((50_000.0, AxisUnit::Plain)));
        assert_eq!(number("5 ms"), Some((5e6, AxisUnit::Nanoseconds)));
        assert_eq!(number("1_000"), Some((1_000.0, AxisUnit::Plain)));
        assert_eq!(number("lz4"), None);
        assert_eq!(number("all"), None);
        assert_eq!(number(""), None);
    }
}
