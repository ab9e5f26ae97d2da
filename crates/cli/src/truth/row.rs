//! A row of the suite's table: what arithmetic expects, what was measured, and whether that fits.

use std::ops::RangeInclusive;

use serde::Serialize;

/// One figure that has a known answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Row {
    /// The check that it belongs to.
    pub(super) check: &'static str,
    /// Which figure, such as `even, p99`.
    pub(super) figure: String,
    /// What the figures are in.
    pub(super) unit: Unit,
    /// What the formula gives; none in rows that only inform.
    pub(super) expected: Option<f64>,
    /// What the run folder says; none when it says nothing.
    pub(super) measured: Option<f64>,
    /// The least that passes.
    pub(super) low: Option<f64>,
    /// The most that passes.
    pub(super) high: Option<f64>,
    /// How far measured and expected may be apart, in words.
    pub(super) tolerance: String,
    /// What it comes to.
    pub(super) verdict: Verdict,
    /// What else a reader must know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
}

/// What a figure is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Unit {
    Nanoseconds,
    RecordsPerSecond,
    BytesPerSecond,
    Records,
    /// Of things that the figure names.
    Count,
}

/// What a row comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    /// Measured is what was expected.
    Pass,
    /// It is not.
    Fail,
    /// A wrong recorder got a wrong figure, and the check said so.
    Caught,
    /// A wrong recorder went through.
    NotCaught,
    /// Nothing was demanded.
    Information,
    /// It could not be done here.
    Missing,
}

impl Verdict {
    /// Whether the suite fails with it.
    pub(super) fn is_bad(self) -> bool {
        matches!(self, Self::Fail | Self::NotCaught)
    }

    /// As the table has it.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "FAIL",
            Self::Caught => "caught",
            Self::NotCaught => "NOT CAUGHT",
            Self::Information => "info",
            Self::Missing => "not done",
        }
    }
}

/// What a figure has to be.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Truth {
    pub(super) unit: Unit,
    pub(super) expected: f64,
    /// What passes.
    pub(super) band: RangeInclusive<f64>,
    /// The band in words.
    pub(super) tolerance: String,
}

impl Truth {
    /// Exactly this.
    pub(super) fn exact(unit: Unit, expected: f64) -> Self {
        Self {
            unit,
            expected,
            band: expected..=expected,
            tolerance: "exact".to_owned(),
        }
    }

    /// This, give or take a part of it.
    pub(super) fn within(unit: Unit, expected: f64, part: f64) -> Self {
        Self {
            unit,
            expected,
            band: expected * (1.0 - part)..=expected * (1.0 + part),
            tolerance: format!("± {} %", part * 100.0),
        }
    }

    /// The row of a measured figure.
    pub(super) fn row(
        &self,
        check: &'static str,
        figure: impl Into<String>,
        measured: Option<f64>,
    ) -> Row {
        let fits = measured.is_some_and(|measured| self.band.contains(&measured));
        Row {
            check,
            figure: figure.into(),
            unit: self.unit,
            expected: Some(self.expected),
            measured,
            low: Some(*self.band.start()),
            high: Some(*self.band.end()),
            tolerance: self.tolerance.clone(),
            verdict: if fits { Verdict::Pass } else { Verdict::Fail },
            note: None,
        }
    }
}

impl Row {
    /// A row that only informs.
    pub(super) fn information(
        check: &'static str,
        figure: impl Into<String>,
        (unit, expected, measured): (Unit, Option<f64>, f64),
    ) -> Self {
        Self {
            check,
            figure: figure.into(),
            unit,
            expected,
            measured: Some(measured),
            low: None,
            high: None,
            tolerance: String::new(),
            verdict: Verdict::Information,
            note: None,
        }
    }

    /// A row that says what is missing.
    pub(super) fn missing(check: &'static str, figure: impl Into<String>, note: String) -> Self {
        Self {
            check,
            figure: figure.into(),
            unit: Unit::Nanoseconds,
            expected: None,
            measured: None,
            low: None,
            high: None,
            tolerance: String::new(),
            verdict: Verdict::Missing,
            note: Some(note),
        }
    }

    /// The same row of a recorder that is wrong on purpose: it has to fail.
    pub(super) fn of_a_wrong_recorder(self) -> Self {
        let verdict = match self.verdict {
            Verdict::Fail => Verdict::Caught,
            _ => Verdict::NotCaught,
        };
        Self { verdict, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_passes_within_its_band_and_fails_without_a_figure() {
        let truth = Truth::within(Unit::Nanoseconds, 400e6, 0.01);
        let verdict = |measured| truth.row("stall", "p99", measured).verdict;
        assert_eq!(verdict(Some(404e6)), Verdict::Pass);
        assert_eq!(verdict(Some(396e6)), Verdict::Pass);
        assert_eq!(verdict(Some(404.1e6)), Verdict::Fail);
        assert_eq!(verdict(Some(2e6)), Verdict::Fail);
        assert_eq!(verdict(None), Verdict::Fail);
    }

    #[test]
    fn a_wrong_recorder_that_passes_is_bad() {
        let truth = Truth::exact(Unit::Records, 7.0);
        let of = |measured| truth.row("recorder", "p99", Some(measured));
        assert_eq!(of(6.0).of_a_wrong_recorder().verdict, Verdict::Caught);
        assert!(of(7.0).of_a_wrong_recorder().verdict.is_bad());
        assert!(!of(6.0).of_a_wrong_recorder().verdict.is_bad());
    }
}
