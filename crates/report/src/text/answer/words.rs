//! Figures, changes and trials as the answers name them.

use kgauge_analyze::compare::{FigureKind, MoreNeeded, UndecidedCause};
use kgauge_analyze::statistics::Interval;
use kgauge_analyze::summary::{Factor, Summary, TrialSummary};

use crate::format;
use crate::text::trial;

/// From here on a difference is given as a factor, below it in percent.
const FACTOR_FROM: f64 = 2.0;
/// If only a larger change would have been detected, the repeats tell nothing: 1,000 %.
const DETECTABLE_MAX: f64 = 10.0;
/// Down to here a fall is given in percent, below it as a factor.
const PERCENT_FROM: f64 = 0.01;
/// An interval whose ends are further apart excludes nothing, so they are not printed.
const INTERVAL_MAX: f64 = 100.0;
/// Smaller differences are not mentioned beside the main figure, however exactly they are known.
pub(super) const WORTH_FROM: f64 = 1.02;
/// A sentence of more letters gets no further clauses: two lines of a terminal.
pub(super) const LETTERS_MAX: usize = 160;
/// The same of an answer with all its sentences, in two indented lines.
pub(super) const BRIEF_LETTERS_MAX: usize = 150;

/// What the texts of one scenario's answer need besides the answer.
pub(super) struct AnswerNames<'a> {
    pub(super) summary: &'a Summary,
    pub(super) trials: Vec<&'a TrialSummary>,
    flows: Vec<&'a str>,
    /// A first sentence of more letters gets no further clauses.
    pub(super) letters_max: usize,
    /// The answer is next to a table with all figures and their marks.
    pub(super) is_brief: bool,
}

impl<'a> AnswerNames<'a> {
    pub(super) fn of(summary: &'a Summary, trials: &[u32]) -> AnswerNames<'a> {
        let all = summary.trials.iter();
        let trials = all.filter(|trial| trials.contains(&trial.index));
        let trials: Vec<&TrialSummary> = trials.collect();
        let flows = trial::flows(&trials);
        AnswerNames {
            summary,
            trials,
            flows,
            letters_max: LETTERS_MAX,
            is_brief: false,
        }
    }

    /// The trial of that index, also of another scenario.
    pub(super) fn trial(&self, index: u32) -> Option<&'a TrialSummary> {
        self.summary.trials.iter().find(|one| one.index == index)
    }

    /// What a trial is called in a sentence about its scenario: `10 B`, and with numbers `acks 1`, `acks all`.
    pub(super) fn label(&self, index: u32) -> String {
        match self.trial(index) {
            Some(trial) if self.has_bare_values(trial) => {
                trial::settings(&trial.factors, &trial::flows(&[trial]))
            }
            trial => trial.map_or_else(String::new, trial::label),
        }
    }

    /// The same next to the name of the setting that varies: `1`.
    pub(super) fn value(&self, index: u32) -> String {
        self.trial(index).map_or_else(String::new, trial::label)
    }

    /// Whether some values of the one varied setting mean nothing without its name.
    fn has_bare_values(&self, trial: &TrialSummary) -> bool {
        let all = self.summary.trials.iter();
        let same = all.filter(|one| one.scenario == trial.scenario);
        let mut factors = same.flat_map(|one| &one.factors);
        trial.factors.len() == 1 && factors.any(|factor| is_bare(&factor.value))
    }

    /// Settings with their values.
    pub(super) fn settings(&self, factors: &[Factor]) -> String {
        trial::settings(factors, &self.flows)
    }

    pub(super) fn labels(&self, trials: &[u32]) -> Vec<String> {
        trials.iter().map(|index| self.label(*index)).collect()
    }

    /// What helps against a target that was not steady.
    pub(super) fn steadier(&self) -> &'static str {
        match self.summary.run.size.as_deref() {
            Some("quick") => "drop --quick",
            _ => "warm up and hold longer",
        }
    }

    /// A setting as its user calls it.
    pub(super) fn setting(&self, path: &str) -> String {
        trial::setting(path, &self.flows)
    }

    /// A figure with its flow, where there are several.
    pub(super) fn figure(&self, flow: Option<&String>, figure: FigureKind) -> String {
        let name = match figure {
            FigureKind::Capacity => "capacity",
            FigureKind::CapacityTypical => "typical capacity",
            FigureKind::Throughput => "records/s",
            FigureKind::ThroughputBytes => "MB/s",
            FigureKind::PerPrice => "records for the price",
            FigureKind::LatencyP50 => "p50",
            FigureKind::LatencyP99 => "p99",
            FigureKind::LatencyP999 => "p99.9",
            FigureKind::GeneratorCpu => "generator CPU per record",
            FigureKind::TargetCpu => "target CPU per record",
            FigureKind::WireBytes => "bytes on the wire per record",
            FigureKind::Lost => "records lost",
        };
        match flow {
            Some(flow) if self.flows.len() > 1 => format!("{flow} {name}"),
            _ => name.to_owned(),
        }
    }
}

/// A number without a unit, or a yes or no.
fn is_bare(value: &str) -> bool {
    let is_of_number = |letter: char| letter.is_ascii_digit() || "-._".contains(letter);
    ["true", "false"].contains(&value) || value.chars().all(is_of_number)
}

/// Whether a verb after the figure's name takes no s.
pub(super) fn is_plural(figure: FigureKind) -> bool {
    matches!(
        figure,
        FigureKind::Throughput
            | FigureKind::ThroughputBytes
            | FigureKind::PerPrice
            | FigureKind::WireBytes
            | FigureKind::Lost
    )
}

pub(super) fn value(figure: FigureKind, value: f64) -> String {
    match figure {
        FigureKind::Capacity
        | FigureKind::CapacityTypical
        | FigureKind::Throughput
        | FigureKind::PerPrice => format::figure(value),
        FigureKind::ThroughputBytes => format::short(value / 1e6),
        FigureKind::LatencyP50
        | FigureKind::LatencyP99
        | FigureKind::LatencyP999
        | FigureKind::GeneratorCpu
        | FigureKind::TargetCpu => format::nanoseconds(value),
        FigureKind::WireBytes => format::short(value),
        FigureKind::Lost => format::count(value as u64),
    }
}

/// `0.37 → 2.65 ms`.
pub(super) fn pair(figure: FigureKind, one: f64, other: f64, between: &str) -> String {
    format::pair(&value(figure, one), between, &value(figure, other))
}

/// The lowest and the highest of some values: `111 to 122 ms`.
pub(super) fn range(figure: FigureKind, values: impl Iterator<Item = f64> + Clone) -> String {
    let low = values.clone().reduce(f64::min).unwrap_or(0.0);
    let high = values.reduce(f64::max).unwrap_or(0.0);
    pair(figure, low, high, "to")
}

/// `7.2×`, `+35 %`, `−74 %`, `0.003×`.
pub(crate) fn change(ratio: f64) -> String {
    match is_factor(ratio) {
        true => format!("{}×", format::short(ratio)),
        false => format::signed_percent(ratio - 1.0),
    }
}

fn is_factor(ratio: f64) -> bool {
    !(PERCENT_FROM..FACTOR_FROM).contains(&ratio)
}

/// A change with its interval: `−26 %, −44 to −3.1 %`, `3.5×, 2.1 to 5.7×`.
pub(crate) fn change_between(ratio: f64, interval: Option<Interval>) -> String {
    let ends = change_interval(ratio, interval);
    let ends = ends.map_or_else(String::new, |ends| format!(", {ends}"));
    change(ratio) + &ends
}

/// The ends of the interval, in the form of the change: `−44 to −3.1 %`; `None` if they exclude nothing.
pub(crate) fn change_interval(ratio: f64, interval: Option<Interval>) -> Option<String> {
    let known = interval.filter(|ends| ends.low > 0.0 && ends.high < INTERVAL_MAX * ends.low);
    let Interval { low, high } = known?;
    Some(match is_factor(ratio) {
        true => format!("{} to {}×", format::short(low), format::short(high)),
        false => {
            let [low, high] = [low, high].map(|end| format::signed_percent(end - 1.0));
            format::pair(&low, "to", &high)
        }
    })
}

/// The interval alone: `−44 to −3.1 %`; the change where the interval rounds to it, or excludes nothing.
pub(super) fn change_span(ratio: f64, interval: Option<Interval>) -> String {
    let rounded = change(ratio);
    let is_wide = |ends: &Interval| change(ends.low) != rounded || change(ends.high) != rounded;
    change_interval(ratio, interval.filter(is_wide)).unwrap_or(rounded)
}

/// `3.5×`, `35 %`: how far two values are apart.
pub(super) fn apart(times: f64) -> String {
    match times >= FACTOR_FROM {
        true => format!("{}×", format::short(times)),
        false => format::percent(times - 1.0),
    }
}

/// `12 % or more would have been detected; for 5 %: --repeat 9`.
pub(super) fn detectable(detectable: f64, more: Option<MoreNeeded>) -> String {
    let more = more.and_then(|more| Some((more.change, more.repeats?)));
    let more = more.map_or_else(String::new, |(change, repeats)| {
        format!("; for {}: --repeat {repeats}", format::percent(change))
    });
    match detectable > DETECTABLE_MAX {
        true => format!("repeats differ too much{more}"),
        false => format!(
            "{} or more would have been detected{more}",
            format::percent(detectable)
        ),
    }
}

/// The same in a list: `12 % detectable`.
pub(super) fn detectable_short(least: f64) -> String {
    match least > DETECTABLE_MAX {
        true => detectable(least, None),
        false => format!("{} detectable", format::percent(least)),
    }
}

/// Why a comparison is inconclusive, with what to do.
pub(super) fn undecided(cause: UndecidedCause) -> &'static str {
    match cause {
        UndecidedCause::OneRepeat => "Inconclusive, one repeat each (use --repeat 5)",
        UndecidedCause::FewSamples => {
            "Inconclusive, fewer than 100 samples beyond the percentile (use a longer hold)"
        }
        UndecidedCause::Generator => "Inconclusive, the generator was the bottleneck or late",
        UndecidedCause::OtherPrograms => {
            "Inconclusive, other load on this host delayed records (use a machine of its own)"
        }
        UndecidedCause::Zero => "Inconclusive, a repeat did nothing",
    }
}

/// The text with a capital first letter, unless it opens with a name: `p99`, `linger.ms`, `single-producer`.
pub(super) fn opening(text: &str) -> String {
    let word = text.split(' ').next().unwrap_or_default();
    let is_name = word.contains(|letter: char| letter.is_ascii_digit() || ".-_".contains(letter));
    match is_name {
        true => text.to_owned(),
        false => format::capital(text),
    }
}

/// Some clauses, and further ones as long as the sentence stays short.
pub(super) fn join_short(
    letters_max: usize,
    clauses: impl IntoIterator<Item = String>,
    more: impl IntoIterator<Item = String>,
) -> String {
    let clauses: Vec<String> = clauses.into_iter().collect();
    let mut text = clauses.join("; ");
    for clause in more {
        let letters = text.chars().count() + clause.chars().count() + 2;
        if letters <= letters_max {
            text = format!("{text}; {clause}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(low: f64, high: f64) -> Option<Interval> {
        Some(Interval { low, high })
    }

    #[test]
    fn changes_are_percentages_below_two_and_factors_from_there_on() {
        assert_eq!(change(1.35), "+35 %");
        assert_eq!(change(0.26), "−74 %");
        assert_eq!(change(7.2), "7.20×");
        assert_eq!(change(0.003), "0.00300×");
        assert_eq!(change(1.0), "0 %");
        assert_eq!(change(1.004), "+0.4 %");
        assert_eq!(change(0.9999), "< 0.1 %");
        assert_eq!(
            change_between(0.74, ends(0.56, 0.969)),
            "−26 %, −44 to −3.1 %"
        );
        assert_eq!(change_between(0.9, ends(0.6, 1.35)), "−10 %, −40 to +35 %");
        assert_eq!(change_between(3.5, ends(2.1, 5.7)), "3.50×, 2.10 to 5.70×");
        // Two repeats that differ by half tell nothing.
        assert_eq!(change_between(3.5, ends(1e-3, 1e4)), "3.50×");
        assert_eq!(change_between(3.5, None), "3.50×");
        assert_eq!(change_span(0.74, ends(0.56, 0.969)), "−44 to −3.1 %");
        assert_eq!(change_span(0.62, ends(0.619, 0.621)), "−38 %");
        assert_eq!(change_span(3.5, None), "3.50×");
    }

    #[test]
    fn names_keep_their_letters_at_the_start_of_a_sentence() {
        assert_eq!(opening("records/s rise"), "Records/s rise");
        for text in [
            "p99 rises",
            "linger.ms 5 against 0",
            "two-flows against one",
        ] {
            assert_eq!(opening(text), text);
        }
    }

    #[test]
    fn sentences_stay_short_and_keep_their_first_clause() {
        let long = "word ".repeat(40);
        assert_eq!(
            join_short(LETTERS_MAX, [long.clone()], ["more".to_owned()]),
            long
        );
        let [one, two, three] = ["one", "two", "three"].map(str::to_owned);
        assert_eq!(
            join_short(LETTERS_MAX, [one, two], [three]),
            "one; two; three"
        );
    }

    #[test]
    fn what_would_have_shown_names_the_repeats_for_less() {
        let more = MoreNeeded {
            change: 0.05,
            repeats: Some(9),
            runs: None,
        };
        assert_eq!(
            detectable(0.12, Some(more)),
            "12 % or more would have been detected; for 5.0 %: --repeat 9"
        );
        assert_eq!(detectable(1e9, None), "repeats differ too much");
        assert_eq!(
            detectable(0.6, None),
            "60 % or more would have been detected"
        );
    }
}
