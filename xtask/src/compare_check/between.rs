//! What equal runs differ by that their repeats do not show, from pairs of equal runs: the mean square of the
//! logarithms of their ratios, less what the repeats of both explain, halved.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

/// One in twenty lies below it, of the normal distribution.
const Z_LOW: f64 = -1.645;

/// One figure of one pair.
#[derive(Clone, Copy, Debug)]
struct Pair {
    /// Logarithm of the ratio of geometric means.
    log_ratio: f64,
    /// The variance of it that the repeats explain.
    within: f64,
}

/// The pairs of one scenario, figure by figure in the order of the comparison.
#[derive(Debug, Default)]
pub(super) struct Spreads {
    names: Vec<String>,
    pairs: BTreeMap<String, Vec<Pair>>,
}

/// What came out for a figure, as parts: 0.01 is 1 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MeasuredRunSpread {
    pub(super) pairs: usize,
    /// Standard deviation of the ratio of two equal runs.
    pub(super) of_ratio: f64,
    /// What the repeats alone would make of that.
    pub(super) by_repeats: f64,
    /// Standard deviation between runs.
    pub(super) between: f64,
    /// With a chance of 95 in 100 it is not more.
    pub(super) at_most: f64,
}

impl Spreads {
    /// Takes the figures of a comparison of two equal runs, those that may be compared.
    pub(super) fn add(&mut self, comparison: &Value) {
        for row in comparison["rows"].as_array().into_iter().flatten() {
            let word = row["cells"][1]["against"]["word"].as_str();
            if matches!(
                word,
                Some("not-comparable" | "not-judged" | "not-measured") | None
            ) {
                continue;
            }
            let logs = |cell: &Value| {
                let values = cell["values"].as_array().into_iter().flatten();
                Logs::of(values.filter_map(Value::as_f64))
            };
            let (Some(base), Some(other)) = (logs(&row["cells"][0]), logs(&row["cells"][1])) else {
                continue;
            };
            let name = row["figure"].as_str().unwrap_or_default().to_owned();
            if !self.names.contains(&name) {
                self.names.push(name.clone());
            }
            self.pairs.entry(name).or_default().push(Pair {
                log_ratio: other.mean - base.mean,
                within: other.variance_of_mean + base.variance_of_mean,
            });
        }
    }

    /// Figure by figure.
    pub(super) fn found(&self) -> Vec<(&str, MeasuredRunSpread)> {
        let each = self.names.iter().filter_map(|name| {
            let pairs = self.pairs.get(name)?;
            Some((name.as_str(), between(pairs)))
        });
        each.collect()
    }

    /// The figures as a table without a title.
    pub(super) fn table(&self) -> String {
        let mut text = format!(
            "{:<16} {:>6} {:>13} {:>13} {:>9}\n",
            "between runs", "sd", "at most (95%)", "sd of a ratio", "by repeats"
        );
        for (name, found) in self.found() {
            let percent = |part: f64| format!("{:.2} %", part * 100.0);
            let _ = writeln!(
                text,
                "{name:<16} {:>6} {:>13} {:>13} {:>9}",
                percent(found.between),
                percent(found.at_most),
                percent(found.of_ratio),
                percent(found.by_repeats)
            );
        }
        text
    }
}

struct Logs {
    mean: f64,
    variance_of_mean: f64,
}

impl Logs {
    /// `None` with fewer than two values, or with one that is not above zero.
    fn of(values: impl Iterator<Item = f64>) -> Option<Logs> {
        let logs: Vec<f64> = values.map(f64::ln).collect();
        if logs.len() < 2 || !logs.iter().all(|log| log.is_finite()) {
            return None;
        }
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        Some(Logs {
            mean,
            variance_of_mean: squares / (n - 1.0) / n,
        })
    }
}

/// The true ratio is 1, so squares are taken around that.
fn between(pairs: &[Pair]) -> MeasuredRunSpread {
    let n = pairs.len() as f64;
    let of_ratio = pairs.iter().map(|pair| pair.log_ratio.powi(2)).sum::<f64>() / n;
    let by_repeats = pairs.iter().map(|pair| pair.within).sum::<f64>() / n;
    let runs = |of_ratio: f64| ((of_ratio - by_repeats).max(0.0) / 2.0).sqrt();
    MeasuredRunSpread {
        pairs: pairs.len(),
        of_ratio: of_ratio.sqrt(),
        by_repeats: by_repeats.sqrt(),
        between: runs(of_ratio),
        at_most: runs(of_ratio * n / chi_square_low(n)),
    }
}

/// What one in twenty sums of so many squared normal numbers lies below (E. B. Wilson, M. M. Hilferty, Proceedings of
/// the National Academy of Sciences 17, 1931).
fn chi_square_low(freedom: f64) -> f64 {
    let part = 2.0 / (9.0 * freedom);
    freedom * (1.0 - part + Z_LOW * part.sqrt()).max(0.01).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64, part: f64) -> bool {
        (one - other).abs() <= part * other.abs()
    }

    #[test]
    fn the_spread_between_runs_comes_out_as_on_paper() {
        // Logarithms -0.01 and 0.01 in each run, so 0.0002 / 2 for each mean; ratios e^0.05 and e^-0.05.
        let run = |mean: f64| [mean - 0.01, mean + 0.01].map(f64::exp);
        let comparison = |mean: f64| {
            serde_json::json!({"rows": [{"figure": "throughput", "cells": [
                {"values": run(0.0)}, {"values": run(mean), "against": {"word": "slower"}}]}]})
        };
        let mut spreads = Spreads::default();
        spreads.add(&comparison(0.05));
        spreads.add(&comparison(-0.05));
        let [(name, found)] = spreads.found()[..] else {
            panic!("one figure");
        };
        assert_eq!((name, found.pairs), ("throughput", 2));
        assert!(near(found.of_ratio, 0.05, 1e-9));
        assert!(near(found.by_repeats, 0.0002_f64.sqrt(), 1e-9));
        // (0.0025 - 0.0002) / 2.
        assert!(near(found.between, 0.00115_f64.sqrt(), 1e-9), "{found:?}");
        assert!(found.at_most > found.between);
        assert!(
            spreads.table().contains("throughput       3.39 %"),
            "{}",
            spreads.table()
        );
    }

    #[test]
    fn what_repeats_explain_is_no_spread_between_runs_and_what_is_not_comparable_is_left_out() {
        let row = |figure: &str, word: &str| {
            serde_json::json!({"figure": figure, "cells": [
                {"values": [100.0, 110.0]}, {"values": [101.0, 109.0], "against": {"word": word}}]})
        };
        let rows = [
            row("throughput", "no-difference"),
            row("latency-p50", "not-comparable"),
        ];
        let mut spreads = Spreads::default();
        spreads.add(&serde_json::json!({"rows": rows}));
        spreads.add(&serde_json::json!({}));
        let found = spreads.found();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].1.between, 0.0);
    }

    #[test]
    fn the_quantile_is_that_of_the_published_table() {
        // NIST/SEMATECH e-Handbook, 1.3.6.7.4: 10.851 with 20, 3.940 with 10.
        assert!(near(chi_square_low(20.0), 10.851, 0.005));
        assert!(near(chi_square_low(10.0), 3.940, 0.01));
    }
}
