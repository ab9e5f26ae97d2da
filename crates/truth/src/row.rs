//! A row of the suite's table: what arithmetic expects, what was measured, and whether that fits.

use std::ops::RangeInclusive;

use serde::Serialize;

/// One figure that has a known answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct TruthRow {
    /// The check that it belongs to.
    pub(crate) check: &'static str,
    /// Which figure, such as `even, p99`.
    pub(crate) figure: String,
    /// What the figures are in.
    pub(crate) unit: TruthUnit,
    /// What the formula gives; none in rows that only inform.
    pub(crate) expected: Option<f64>,
    /// The value in the run folder, if it has one.
    pub(crate) measured: Option<f64>,
    /// The least that passes.
    pub(crate) low: Option<f64>,
    /// The most that passes.
    pub(crate) high: Option<f64>,
    /// The least that a busy machine can explain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) possible_low: Option<f64>,
    /// The most that a busy machine can explain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) possible_high: Option<f64>,
    /// How far measured and expected may be apart, in words.
    pub(crate) tolerance: String,
    /// What it comes to.
    pub(crate) verdict: RowVerdict,
    /// How often it was measured.
    pub(crate) tries: u32,
    /// What else a reader must know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// What a figure is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TruthUnit {
    Nanoseconds,
    RecordsPerSecond,
    BytesPerSecond,
    Records,
    /// Of things that the figure names.
    Count,
    /// A part or a multiple of something.
    Ratio,
}

/// What a row comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RowVerdict {
    /// Measured is what was expected.
    Pass,
    /// It is not.
    Fail,
    /// It is not, by no more than what other programs took from kgauge meanwhile.
    Inconclusive,
    /// A wrong recorder got a wrong figure, and the check reported it.
    Caught,
    /// A wrong recorder went through.
    NotCaught,
    /// Nothing was demanded.
    Information,
    /// It could not be done here.
    Missing,
}

impl RowVerdict {
    /// Whether the suite fails with it.
    pub(crate) fn is_bad(self) -> bool {
        matches!(self, Self::Fail | Self::NotCaught)
    }

    /// As the table has it.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "FAIL",
            Self::Inconclusive => "inconclusive",
            Self::Caught => "caught",
            Self::NotCaught => "NOT CAUGHT",
            Self::Information => "info",
            Self::Missing => "not done",
        }
    }
}

/// What a figure has to be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExpectedValue {
    pub(crate) unit: TruthUnit,
    pub(crate) expected: f64,
    /// What passes.
    pub(crate) band: RangeInclusive<f64>,
    /// The band in words.
    pub(crate) tolerance: String,
    /// What a busy machine can explain beyond the band.
    pub(crate) lost: LostBy,
}

/// How far a figure may be out of its band because of what other programs took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct LostBy {
    pub(crate) below: f64,
    pub(crate) above: f64,
}

impl ExpectedValue {
    /// Anything in this band, which `tolerance` describes.
    pub(crate) fn in_band(
        unit: TruthUnit,
        expected: f64,
        band: RangeInclusive<f64>,
        tolerance: String,
    ) -> Self {
        Self {
            unit,
            expected,
            band,
            tolerance,
            lost: LostBy::default(),
        }
    }

    /// Exactly this.
    pub(crate) fn exact(unit: TruthUnit, expected: f64) -> Self {
        Self::in_band(unit, expected, expected..=expected, "exact".to_owned())
    }

    /// This, give or take a part of it.
    pub(crate) fn within(unit: TruthUnit, expected: f64, part: f64) -> Self {
        let band = expected * (1.0 - part)..=expected * (1.0 + part);
        Self::in_band(unit, expected, band, format!("± {} %", part * 100.0))
    }

    /// The same on a machine on which other programs ran.
    pub(crate) fn with_lost(self, lost: LostBy) -> Self {
        Self { lost, ..self }
    }

    /// The row of a measured figure.
    pub(crate) fn row(
        &self,
        check: &'static str,
        figure: impl Into<String>,
        measured: Option<f64>,
    ) -> TruthRow {
        // No figure of the suite can be negative.
        let least = (self.band.start() - self.lost.below).max(0.0);
        let possible = least..=self.band.end() + self.lost.above;
        let verdict = match measured {
            Some(measured) if self.band.contains(&measured) => RowVerdict::Pass,
            Some(measured) if possible.contains(&measured) => RowVerdict::Inconclusive,
            Some(_) | None => RowVerdict::Fail,
        };
        let is_inconclusive = verdict == RowVerdict::Inconclusive;
        TruthRow {
            unit: self.unit,
            expected: Some(self.expected),
            measured,
            low: Some(*self.band.start()),
            high: Some(*self.band.end()),
            possible_low: is_inconclusive.then_some(*possible.start()),
            possible_high: is_inconclusive.then_some(*possible.end()),
            tolerance: self.tolerance.clone(),
            ..TruthRow::empty(check, figure, verdict)
        }
    }
}

impl TruthRow {
    /// A row that only informs about a time; `tolerance` is shown beside it.
    pub(crate) fn information(
        check: &'static str,
        figure: String,
        expected_ns: f64,
        measured_ns: f64,
        tolerance: String,
    ) -> Self {
        Self {
            expected: Some(expected_ns),
            measured: Some(measured_ns),
            tolerance,
            ..Self::empty(check, figure, RowVerdict::Information)
        }
    }

    /// A row that only informs about a figure without a known answer.
    pub(crate) fn shown(
        check: &'static str,
        figure: String,
        unit: TruthUnit,
        measured: f64,
    ) -> Self {
        Self {
            unit,
            measured: Some(measured),
            ..Self::empty(check, figure, RowVerdict::Information)
        }
    }

    /// A row that reports what is missing.
    pub(crate) fn missing(
        check: &'static str,
        figure: impl Into<String>,
        note: impl Into<String>,
    ) -> Self {
        Self {
            note: Some(note.into()),
            ..Self::empty(check, figure, RowVerdict::Missing)
        }
    }

    /// A row without figures.
    fn empty(check: &'static str, figure: impl Into<String>, verdict: RowVerdict) -> Self {
        Self {
            check,
            figure: figure.into(),
            unit: TruthUnit::Nanoseconds,
            expected: None,
            measured: None,
            low: None,
            high: None,
            possible_low: None,
            possible_high: None,
            tolerance: String::new(),
            verdict,
            tries: 1,
            note: None,
        }
    }

    /// The same row, when what it is compared with was itself measured on a machine that others used: passing says
    /// nothing then.
    pub(crate) fn compared_with_nothing(self) -> Self {
        let verdict = match self.verdict {
            RowVerdict::Pass => RowVerdict::Inconclusive,
            verdict => verdict,
        };
        Self { verdict, ..self }
    }

    /// This row after another try. A failure stays one, and so does what has passed before.
    pub(crate) fn or_again(self, again: TruthRow, tries: u32) -> Self {
        let counts = self.verdict == RowVerdict::Inconclusive || again.verdict.is_bad();
        if self.verdict.is_bad() || !counts {
            return self;
        }
        Self { tries, ..again }
    }

    /// The same row of a recorder that is wrong on purpose: it has to fail.
    pub(crate) fn of_a_wrong_recorder(self) -> Self {
        let verdict = match self.verdict {
            RowVerdict::Fail => RowVerdict::Caught,
            RowVerdict::Inconclusive => RowVerdict::Inconclusive,
            RowVerdict::Pass
            | RowVerdict::Caught
            | RowVerdict::NotCaught
            | RowVerdict::Information
            | RowVerdict::Missing => RowVerdict::NotCaught,
        };
        Self { verdict, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_passes_within_its_band_and_fails_without_a_figure() {
        let truth = ExpectedValue::within(TruthUnit::Nanoseconds, 400e6, 0.01);
        let verdict = |measured| truth.row("stall", "p99", measured).verdict;
        assert_eq!(verdict(Some(404e6)), RowVerdict::Pass);
        assert_eq!(verdict(Some(396e6)), RowVerdict::Pass);
        assert_eq!(verdict(Some(404.1e6)), RowVerdict::Fail);
        assert_eq!(verdict(Some(2e6)), RowVerdict::Fail);
        assert_eq!(verdict(None), RowVerdict::Fail);
    }

    #[test]
    fn what_a_busy_machine_explains_is_inconclusive_and_nothing_more() {
        let lost = LostBy {
            below: 0.0,
            above: 3e6,
        };
        let truth = ExpectedValue::within(TruthUnit::Nanoseconds, 400e6, 0.01).with_lost(lost);
        let verdict = |measured| truth.row("stall", "p99", Some(measured)).verdict;
        assert_eq!(verdict(404e6), RowVerdict::Pass);
        assert_eq!(verdict(406e6), RowVerdict::Inconclusive);
        assert_eq!(verdict(407.1e6), RowVerdict::Fail);
        assert_eq!(
            verdict(395.9e6),
            RowVerdict::Fail,
            "nobody is early because others run"
        );
    }

    #[test]
    fn another_try_decides_what_was_inconclusive_and_hides_no_failure() {
        let truth = ExpectedValue::within(TruthUnit::Nanoseconds, 400e6, 0.01).with_lost(LostBy {
            below: 0.0,
            above: 3e6,
        });
        let row = |measured| truth.row("stall", "p99", Some(measured));
        let (pass, unsure, fail) = (row(400e6), row(406e6), row(500e6));
        let after = |first: &TruthRow, second: &TruthRow| {
            let merged = first.clone().or_again(second.clone(), 2);
            (merged.verdict, merged.tries)
        };
        assert_eq!(after(&unsure, &pass), (RowVerdict::Pass, 2));
        assert_eq!(after(&unsure, &unsure), (RowVerdict::Inconclusive, 2));
        assert_eq!(after(&unsure, &fail), (RowVerdict::Fail, 2));
        assert_eq!(after(&pass, &unsure), (RowVerdict::Pass, 1));
        assert_eq!(after(&pass, &fail), (RowVerdict::Fail, 2));
        assert_eq!(after(&fail, &pass), (RowVerdict::Fail, 1));
    }

    #[test]
    fn a_wrong_recorder_that_passes_is_bad() {
        let truth = ExpectedValue::exact(TruthUnit::Records, 7.0);
        let of = |measured| truth.row("recorder", "p99", Some(measured));
        assert_eq!(of(6.0).of_a_wrong_recorder().verdict, RowVerdict::Caught);
        assert!(of(7.0).of_a_wrong_recorder().verdict.is_bad());
        assert!(!of(6.0).of_a_wrong_recorder().verdict.is_bad());
    }
}
