//! The one setting that a scenario varies, and its values where they are numbers.

use kgauge_scenario::{byte_rate_value, number_value, rate_value, size_value, time_value};

use crate::summary::TrialSummary;

/// Fewer values make no curve.
const SERIES_MIN: usize = 3;
/// Shapes that are one rate.
const RATES: [&str; 2] = ["constant", "poisson"];

/// What the values of a setting are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorUnit {
    /// Numbers without a unit, and rates per second.
    Plain,
    /// Sizes in bytes.
    Bytes,
    /// Times in nanoseconds.
    Nanoseconds,
}

/// The numbers that the one varied setting has in each trial.
#[derive(Clone, Debug, PartialEq)]
pub struct FactorValues {
    /// The path of the setting.
    pub path: String,
    /// Its value in each trial, in the order of the trials.
    pub values: Vec<f64>,
    /// What they are.
    pub unit: FactorUnit,
}

impl FactorValues {
    /// The path of the one setting that all trials of a scenario vary; `None` if there is none or several.
    pub fn path_of<'a>(trials: &[&'a TrialSummary]) -> Option<&'a str> {
        let mut path: Option<&str> = None;
        for trial in trials {
            let [factor] = trial.factors.as_slice() else {
                return None;
            };
            if *path.get_or_insert(&factor.path) != factor.path {
                return None;
            }
        }
        path
    }

    /// `None` where several settings vary, or where their values are no numbers of one unit.
    pub fn of(trials: &[&TrialSummary]) -> Option<FactorValues> {
        let path = FactorValues::path_of(trials)?.to_owned();
        let factors = trials.iter().flat_map(|trial| &trial.factors);
        let texts: Vec<&str> = factors.map(|factor| factor.value.as_str()).collect();
        let (path, texts) = match path.ends_with(".shape") {
            true => of_shapes(&path, &texts)?,
            false => (path, texts),
        };
        let values = texts.into_iter().map(number);
        let values: Vec<(f64, FactorUnit)> = values.collect::<Option<_>>()?;
        let (_, unit) = *values.first()?;
        let is_one_unit = values.iter().all(|(_, other)| *other == unit);
        is_one_unit.then(|| FactorValues {
            path,
            values: values.iter().map(|(value, _)| *value).collect(),
            unit,
        })
    }

    /// Whether there are enough values for a curve.
    pub fn is_a_series(&self) -> bool {
        let mut distinct = self.values.clone();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        distinct.len() >= SERIES_MIN
    }

    /// Whether the setting is the rate of a flow.
    pub fn is_rate(&self) -> bool {
        let mut rates = RATES.iter();
        rates.any(|shape| self.path.ends_with(&format!(".shape.{shape}")))
    }

    /// The positions of the trials by rising values.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        let value = |position: &usize| self.values.get(*position).copied().unwrap_or(0.0);
        order.sort_by(|one, next| value(one).total_cmp(&value(next)));
        order
    }
}

/// The rates of shapes, and their path: `{constant: 5k/s}` of `writers.shape` is 5k/s of `writers.shape.constant`.
fn of_shapes<'a>(path: &str, texts: &[&'a str]) -> Option<(String, Vec<&'a str>)> {
    RATES.into_iter().find_map(|shape| {
        let start = format!("{{{shape}: ");
        let rate = |text: &&'a str| text.strip_prefix(&start)?.strip_suffix('}');
        let rates: Vec<&str> = texts.iter().map(rate).collect::<Option<_>>()?;
        Some((format!("{path}.{shape}"), rates))
    })
}

/// A number with its unit, as scenarios write them.
fn number(text: &str) -> Option<(f64, FactorUnit)> {
    let text = text.trim();
    let plain = || number_value(text).or_else(|_| rate_value(text));
    let bytes = || {
        let size = size_value(text).map(|bytes| bytes as f64);
        size.or_else(|_| byte_rate_value(text))
    };
    let time = || time_value(text).map(|ns| ns as f64);
    let found = plain().map(|value| (value, FactorUnit::Plain));
    let found = found.or_else(|_| bytes().map(|value| (value, FactorUnit::Bytes)));
    let found = found.or_else(|_| time().map(|value| (value, FactorUnit::Nanoseconds)));
    found.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_scenarios_write_them() {
        assert_eq!(number("10 B"), Some((10.0, FactorUnit::Bytes)));
        assert_eq!(number("100kB"), Some((1e5, FactorUnit::Bytes)));
        assert_eq!(number("64 KiB"), Some((65_536.0, FactorUnit::Bytes)));
        assert_eq!(number("50k/s"), Some((50_000.0, FactorUnit::Plain)));
        assert_eq!(number("5 ms"), Some((5e6, FactorUnit::Nanoseconds)));
        assert_eq!(number("2 h"), Some((7.2e12, FactorUnit::Nanoseconds)));
        assert_eq!(number("50 MB/s"), Some((50e6, FactorUnit::Bytes)));
        assert_eq!(number("1_000"), Some((1_000.0, FactorUnit::Plain)));
        assert_eq!(number("0.5"), Some((0.5, FactorUnit::Plain)));
        assert_eq!(number("lz4"), None);
        assert_eq!(number("all"), None);
        assert_eq!(number(""), None);
    }

    #[test]
    fn shapes_of_one_kind_are_rates() {
        let path = "writers.shape";
        let (of, rates) = of_shapes(path, &["{poisson: 5k/s}", "{poisson: 10k/s}"]).unwrap();
        assert_eq!(
            (of.as_str(), rates),
            ("writers.shape.poisson", vec!["5k/s", "10k/s"])
        );
        for texts in [
            ["{poisson: 5k/s}", "{constant: 5k/s}"],
            ["{constant: 5k/s}", "max"],
        ] {
            assert_eq!(of_shapes(path, &texts), None);
        }
    }

    #[test]
    fn three_distinct_values_are_a_series_in_their_order() {
        let values = |values: &[f64]| FactorValues {
            path: "writers.shape.constant".to_owned(),
            values: values.to_vec(),
            unit: FactorUnit::Plain,
        };
        assert!(!values(&[1.0, 2.0, 1.0]).is_a_series());
        let three = values(&[3.0, 1.0, 2.0]);
        assert!(three.is_a_series() && three.is_rate());
        assert_eq!(three.order(), [1, 2, 0]);
    }
}
