//! The answer of several trials: what differs between them and not by chance, which of them is best, what could have
//! been found where nothing was, and up to which value the goals were held.

use kgauge_analyze::compare::{
    FigureKind, MoreNeeded, TrialFigure, TrialFinding, TrialPoint, UndecidedCause, trial_figures,
};
use kgauge_analyze::summary::{GoalStatus, Summary, TrialSummary};

use super::factor::{Values, setting_name};
use crate::format;
use crate::view::TrialView;

/// Rates that differ by less are one rate.
const SAME_RATE_WITHIN: f64 = 0.02;
/// Smaller differences are not mentioned, however exactly they are known.
const WORTH_FROM: f64 = 1.02;
/// From here on a difference is given as a factor, below it in percent.
const FACTOR_FROM: f64 = 2.0;
/// A curve leaves its floor where a time reaches this many times the best.
const KNEE: f64 = 2.0;

/// The trials of a scenario, and what they are called in its answer.
struct Trials<'a> {
    summaries: &'a [&'a TrialSummary],
    /// What a trial is called: the value of the one setting, or all settings.
    labels: Vec<String>,
    /// The one setting that varies.
    setting: Option<String>,
    /// Its values where they are numbers.
    values: Option<Values>,
    several_flows: bool,
}

/// The sentences that answer the question of several trials.
pub(super) fn sentences(
    summary: &Summary,
    summaries: &[&TrialSummary],
    trials: &[TrialView],
) -> Vec<String> {
    let figures = trial_figures(summary, summaries);
    let flows = summaries.iter().flat_map(|trial| &trial.flows);
    let mut flows: Vec<&str> = flows.map(|flow| flow.name.as_str()).collect();
    flows.sort_unstable();
    flows.dedup();
    let named = Trials {
        summaries,
        labels: trials.iter().map(|trial| trial.short.clone()).collect(),
        setting: super::factor::only(summaries).map(|path| setting_name(&path, &flows)),
        values: Values::of(summaries),
        several_flows: flows.len() > 1,
    };
    let mut sentences = Vec::new();
    let (head, says_rate) = named.head(&figures);
    sentences.extend(named.differences(&figures, &head, says_rate));
    sentences.extend(named.no_differences(&figures));
    sentences.extend(named.undecided(&figures));
    sentences.extend(named.in_doubt());
    sentences.extend(named.goals());
    if sentences.is_empty() {
        sentences.extend(named.measured_alone(&figures));
    }
    sentences
}

impl Trials<'_> {
    /// `At 5,000 records/s, linger.ms 0 ms → 20 ms`, and whether it names the rate.
    fn head(&self, figures: &[TrialFigure]) -> (String, bool) {
        let what = match (&self.setting, self.labels.as_slice()) {
            (Some(setting), [one, other]) => format!("{setting} {one} → {other}"),
            (None, [one, other]) => format!("{one} → {other}"),
            (Some(setting), labels) => format!("over {} values of {setting}", labels.len()),
            (None, labels) => format!("over {} trials", labels.len()),
        };
        let mut rates = figures
            .iter()
            .filter(|figure| figure.figure == FigureKind::Throughput);
        let is_set = |figure: &TrialFigure| figure.finding == TrialFinding::SetByLoad;
        let rate = match (rates.next(), rates.next()) {
            (Some(rate), None) if is_set(rate) => rate,
            _ => return (what, false),
        };
        let (low, high) = (extreme(rate, f64::min), extreme(rate, f64::max));
        let is_one = (high - low).abs() <= SAME_RATE_WITHIN * high;
        match is_one {
            true => (
                format!("at {} records/s, {what}", format::figure(high)),
                true,
            ),
            false => (format!("at rates set by the load, {what}"), true),
        }
    }

    /// What differs and not by chance.
    fn differences(&self, figures: &[TrialFigure], head: &str, says_rate: bool) -> Option<String> {
        let clauses: Vec<String> = figures
            .iter()
            .filter(|figure| is_worth_saying(figure, figures) && !self.follows_setting(figure))
            .filter_map(|figure| self.difference(figure))
            .collect();
        match (clauses.is_empty(), says_rate) {
            (false, _) => Some(format!(
                "{}: {}.",
                format::capital(head),
                clauses.join("; ")
            )),
            (true, true) => {
                let kept = "the target kept up with the load in every trial";
                Some(format!("{}: {kept}.", format::capital(head)))
            }
            (true, false) => None,
        }
    }

    /// Larger records are more bytes.
    fn follows_setting(&self, figure: &TrialFigure) -> bool {
        let is_size = self.setting.as_deref() == Some("record.size");
        figure.figure == FigureKind::WireBytes && is_size
    }

    fn difference(&self, figure: &TrialFigure) -> Option<String> {
        let name = self.name(figure);
        match &figure.finding {
            TrialFinding::Counted => {
                let counts = figure.points.iter().filter(|point| point.value > 0.0);
                let counts = counts.map(|point| {
                    format!(
                        "{} ({})",
                        format::count(point.value as u64),
                        self.label(point)
                    )
                });
                Some(format!("{name}: {}", counts.collect::<Vec<_>>().join(", ")))
            }
            TrialFinding::Differs {
                lowest,
                highest,
                times,
                beside_best,
            } => {
                let (low, high) = (figure.points.get(*lowest)?, figure.points.get(*highest)?);
                if let ([one, other], 2) = (figure.points.as_slice(), self.labels.len()) {
                    let ratio = if highest > lowest {
                        *times
                    } else {
                        1.0 / times
                    };
                    let values = pair(figure.figure, one.value, other.value, "→");
                    return Some(format!("{name} {values} ({})", change(ratio)));
                }
                let (best, worst) = match figure.figure.more_is_better() {
                    true => (high, low),
                    false => (low, high),
                };
                let beside = beside_best
                    .iter()
                    .filter_map(|index| figure.points.get(*index));
                let beside: Vec<&str> = beside.map(|point| self.label(point)).collect();
                let beside = match beside.is_empty() {
                    true => String::new(),
                    false => format!("; indistinguishable from {}", beside.join(", ")),
                };
                Some(format!(
                    "{name} best {} ({}{beside}), worst {} ({}), {} apart{}",
                    value(figure.figure, best.value),
                    self.label(best),
                    value(figure.figure, worst.value),
                    self.label(worst),
                    apart(*times),
                    self.knee(figure, best.value)
                ))
            }
            TrialFinding::NoDifference { .. }
            | TrialFinding::SetByLoad
            | TrialFinding::Undecided(_) => None,
        }
    }

    /// `, within twice the best up to 20k/s`: where a curve of times leaves its floor.
    fn knee(&self, figure: &TrialFigure, best: f64) -> String {
        let Some(values) = self.values.as_ref().filter(|_| figure.figure.is_latency()) else {
            return String::new();
        };
        let mut points: Vec<(f64, &TrialPoint)> = figure
            .points
            .iter()
            .filter_map(|point| Some((values.of_trial(point.trial)?, point)))
            .collect();
        points.sort_by(|one, next| one.0.total_cmp(&next.0));
        let is_low = |point: &&(f64, &TrialPoint)| point.1.value <= KNEE * best;
        let low = points.iter().take_while(is_low).count();
        match points.get(low.wrapping_sub(1)) {
            Some((_, last)) if low < points.len() => {
                format!(", within twice the best up to {}", self.label(last))
            }
            _ => String::new(),
        }
    }

    /// What chance explains, and what it would not have.
    fn no_differences(&self, figures: &[TrialFigure]) -> Option<String> {
        let clauses: Vec<String> = figures
            .iter()
            .filter(|figure| is_main(figure.figure))
            .filter_map(|figure| match &figure.finding {
                TrialFinding::NoDifference {
                    detectable,
                    more_needed,
                } => Some(format!(
                    "{} ({} or more would have been detected{})",
                    self.with_values(figure),
                    format::percent(*detectable),
                    for_smaller(more_needed.as_ref())
                )),
                _ => None,
            })
            .collect();
        (!clauses.is_empty()).then(|| format!("No difference found: {}.", clauses.join("; ")))
    }

    /// Undecided figures, by cause.
    fn undecided(&self, figures: &[TrialFigure]) -> Vec<String> {
        let of_cause = |cause: UndecidedCause| {
            let undecided = TrialFinding::Undecided(cause);
            let figures = figures.iter().filter(|figure| figure.finding == undecided);
            let figures = figures.filter(|figure| is_main(figure.figure));
            let names: Vec<String> = figures.map(|figure| self.with_values(figure)).collect();
            (!names.is_empty()).then(|| names.join("; "))
        };
        let causes = [
            (
                UndecidedCause::OneRepeat,
                "Inconclusive, one repeat each (use --repeat 5)",
            ),
            (
                UndecidedCause::FewSamples,
                "Inconclusive, fewer than 100 samples beyond the percentile (use a longer hold)",
            ),
            (
                UndecidedCause::Generator,
                "Not compared because the generator was the bottleneck or late",
            ),
            (
                UndecidedCause::Zero,
                "Not compared because a repeat did nothing",
            ),
        ];
        causes
            .into_iter()
            .filter_map(|(cause, words)| Some(format!("{words}: {}.", of_cause(cause)?)))
            .collect()
    }

    /// The trials whose figures answer nothing, or less.
    fn in_doubt(&self) -> impl Iterator<Item = String> {
        let named = |words: &str, is_in_doubt: fn(&TrialSummary) -> bool| {
            let trials = self.summaries.iter().zip(&self.labels);
            let found = trials.filter(|(trial, _)| is_in_doubt(trial));
            let labels: Vec<&str> = found.map(|(_, label)| label.as_str()).collect();
            (!labels.is_empty()).then(|| format!("{words}: {}.", labels.join(", ")))
        };
        let not_steady = named("Left out because the target was not steady", |trial| {
            trial.flows.iter().any(|flow| !flow.is_usable())
        });
        let others = named(
            "Inconclusive because other programs used CPU on this machine (stop them)",
            super::has_others,
        );
        not_steady.into_iter().chain(others)
    }

    /// The highest value that keeps the goals; of trials without an order which of them do.
    fn goals(&self) -> Option<String> {
        let words = self.summaries.iter().map(|trial| goal_word(trial));
        let mut words: Vec<(Option<f64>, &str, GoalStatus)> = words
            .zip(&self.labels)
            .enumerate()
            .filter_map(|(index, (word, label))| {
                let value = self
                    .values
                    .as_ref()
                    .and_then(|values| values.of_trial(index));
                Some((value, label.as_str(), word?))
            })
            .collect();
        if words.len() < 2 {
            return None;
        }
        let labels = |status: GoalStatus| -> Vec<&str> {
            let found = words.iter().filter(|(.., word)| *word == status);
            found.map(|(_, label, _)| *label).collect()
        };
        let Some(setting) = self.setting.as_ref().filter(|_| self.values.is_some()) else {
            let groups = [
                ("held", GoalStatus::Held),
                ("inconclusive", GoalStatus::Undecided),
                ("missed", GoalStatus::NotHeld),
                ("not measured", GoalStatus::NotMeasured),
            ];
            let groups = groups.map(|(name, word)| (name, labels(word)));
            let groups = groups.into_iter().filter(|(_, labels)| !labels.is_empty());
            let groups = groups.map(|(name, labels)| format!("{name} with {}", labels.join(", ")));
            return Some(format!("Goals: {}.", groups.collect::<Vec<_>>().join("; ")));
        };
        words.sort_by(|one, next| one.0.unwrap_or(0.0).total_cmp(&next.0.unwrap_or(0.0)));
        let held = words
            .iter()
            .take_while(|(.., word)| *word == GoalStatus::Held)
            .count();
        let next = words.get(held).map(|(_, label, word)| {
            let word = match word {
                GoalStatus::Held => "held",
                GoalStatus::NotHeld => "missed",
                GoalStatus::Undecided => "inconclusive",
                GoalStatus::NotMeasured => "not measured",
            };
            format!("{word} at {label}")
        });
        let is_held_later = words
            .iter()
            .skip(held)
            .any(|(.., word)| *word == GoalStatus::Held);
        Some(
            match (held.checked_sub(1).and_then(|last| words.get(last)), next) {
                (Some((_, label, _)), None) => {
                    format!("The goals hold up to {label}, the highest {setting} tried.")
                }
                (Some((_, label, _)), Some(next)) => {
                    format!("The goals hold up to {setting} {label} and are {next}.")
                }
                (None, Some(next)) if is_held_later => {
                    format!(
                        "The goals are {next}, the lowest {setting}, but held at {}.",
                        labels_of_held(&words)
                    )
                }
                (None, Some(next)) => {
                    format!("No {setting} tried meets the goals: they are {next}, the lowest.")
                }
                (None, None) => return None,
            },
        )
    }

    /// Where only one trial was measured: its rate.
    fn measured_alone(&self, figures: &[TrialFigure]) -> Option<String> {
        if !figures.is_empty() {
            return None;
        }
        let mut measured = self
            .summaries
            .iter()
            .zip(&self.labels)
            .filter_map(|(trial, label)| {
                let flow = trial.flows.iter().find(|flow| flow.throughput.is_some())?;
                let rate = &flow.throughput.as_ref()?.records_per_s;
                Some(format!(
                    "{}: {} records/s ({label}).",
                    flow.name,
                    format::figure(rate.mean)
                ))
            });
        measured.next()
    }

    /// `p99 111 to 122 ms`
    fn with_values(&self, figure: &TrialFigure) -> String {
        let name = self.name(figure);
        match figure.points.as_slice() {
            [one, other] => {
                format!(
                    "{name} {}",
                    pair(figure.figure, one.value, other.value, "→")
                )
            }
            _ => {
                let (low, high) = (extreme(figure, f64::min), extreme(figure, f64::max));
                format!("{name} {}", pair(figure.figure, low, high, "to"))
            }
        }
    }

    fn name(&self, figure: &TrialFigure) -> String {
        let name = match figure.figure {
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
        match &figure.flow {
            Some(flow) if self.several_flows => format!("{flow} {name}"),
            _ => name.to_owned(),
        }
    }

    fn label(&self, point: &TrialPoint) -> &str {
        self.labels.get(point.trial).map_or("", String::as_str)
    }
}

fn labels_of_held(words: &[(Option<f64>, &str, GoalStatus)]) -> String {
    let held = words.iter().filter(|(.., word)| *word == GoalStatus::Held);
    held.map(|(_, label, _)| *label)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The worst status of a trial's goals; `None` without goals.
fn goal_word(trial: &TrialSummary) -> Option<GoalStatus> {
    let grave = |word: &GoalStatus| match word {
        GoalStatus::Held => 0,
        GoalStatus::Undecided => 1,
        GoalStatus::NotMeasured => 2,
        GoalStatus::NotHeld => 3,
    };
    trial.goals.iter().map(|goal| goal.word).max_by_key(grave)
}

/// What an answer names even where nothing differs.
fn is_main(figure: FigureKind) -> bool {
    matches!(
        figure,
        FigureKind::Throughput
            | FigureKind::LatencyP50
            | FigureKind::LatencyP99
            | FigureKind::TargetCpu
    )
}

/// Whether a difference is large enough and not already shown by another figure.
fn is_worth_saying(figure: &TrialFigure, all: &[TrialFigure]) -> bool {
    if let TrialFinding::Differs { times, .. } = figure.finding
        && times < WORTH_FROM
    {
        return false;
    }
    let beside = |kind: FigureKind| {
        let mut others = all.iter().filter(|other| other.flow == figure.flow);
        others.find(|other| other.figure == kind)
    };
    match figure.figure {
        // Unless records have several sizes they say the same.
        FigureKind::ThroughputBytes => {
            beside(FigureKind::Throughput).is_none_or(|records| records.best() != figure.best())
        }
        FigureKind::LatencyP999 => beside(FigureKind::LatencyP99)
            .is_none_or(|p99| !matches!(p99.finding, TrialFinding::Differs { .. })),
        _ => true,
    }
}

fn extreme(figure: &TrialFigure, of: fn(f64, f64) -> f64) -> f64 {
    let values = figure.points.iter().map(|point| point.value);
    values.reduce(of).unwrap_or(0.0)
}

/// `; for 10 %: --repeat 12`
fn for_smaller(more: Option<&MoreNeeded>) -> String {
    let more = more.and_then(|more| Some((more.change, more.repeats?)));
    more.map_or_else(String::new, |(change, repeats)| {
        format!("; for {}: --repeat {repeats}", format::percent(change))
    })
}

fn value(figure: FigureKind, value: f64) -> String {
    match figure {
        FigureKind::Throughput | FigureKind::PerPrice => format::figure(value),
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
fn pair(figure: FigureKind, one: f64, other: f64, between: &str) -> String {
    format::pair(&value(figure, one), between, &value(figure, other))
}

/// `7.2×`, `+35 %`, `−74 %`.
fn change(ratio: f64) -> String {
    match ratio {
        many if many >= FACTOR_FROM => format!("{}×", format::short(many)),
        more if more >= 1.0 => format!("+{}", format::percent(more - 1.0)),
        less => format!("−{}", format::percent(1.0 - less)),
    }
}

/// `3.5×`, `35 %`.
fn apart(times: f64) -> String {
    match times >= FACTOR_FROM {
        true => format!("{}×", format::short(times)),
        false => format::percent(times - 1.0),
    }
}
