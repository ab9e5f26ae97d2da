//! What something does: a ratio with its interval, against the trial that it is compared with.

use kgauge_analyze::answer::{FigureEffect, FigureFinding, TrialEffect};
use kgauge_analyze::compare::{FigureKind, UndecidedCause};
use kgauge_analyze::statistics::Interval;
use kgauge_analyze::summary::{Factor, FlowSummary, TrialSummary};

use super::words::{
    AnswerNames, WORTH_FROM, change, change_between, change_span, detectable, detectable_short,
    join_short, opening, pair, undecided,
};
use crate::format;
use crate::text::trial::has_a_name;

/// Comparisons that are named; of more, only the number is given.
const NAMED_MAX: usize = 5;

/// The sentence; `None` if no figure could be compared.
pub(super) fn sentence(names: &AnswerNames, comparisons: &[TrialEffect]) -> Option<String> {
    let compared = comparisons.iter().filter(|one| one.main().is_some());
    let compared: Vec<&TrialEffect> = compared.collect();
    match compared.as_slice() {
        [] => None,
        [only] => Some(single(names, only)),
        several => Some(list(names, several)),
    }
}

/// What was to be compared with, where that is not part of the run or has no figures that can be used. Trials of the
/// scenario that have none are left out in another sentence.
pub(super) fn missing(names: &AnswerNames, comparisons: &[TrialEffect]) -> Option<String> {
    let is_usable = |trial: &TrialSummary| {
        trial.repeats_measured > 0 && trial.flows.iter().all(FlowSummary::is_usable)
    };
    comparisons
        .iter()
        .filter(|one| one.main().is_none())
        .find_map(|without| {
            let trial = names.trial(without.trial)?;
            let Some(base) = without.base else {
                return nothing_to_compare_with(names, trial);
            };
            let base = names.trial(base)?;
            let what = match base.repeats_measured {
                0 => "was not measured",
                _ if !is_usable(base) => "was not steady",
                _ => return None,
            };
            let is_named = trial.scenario != base.scenario && is_usable(trial);
            is_named.then(|| format!("Not compared: {} {what}.", names.label(base.index)))
        })
}

fn nothing_to_compare_with(names: &AnswerNames, trial: &TrialSummary) -> Option<String> {
    let against = trial.against.as_ref()?;
    let scenario = against.scenario.iter().cloned();
    let factor = against.factor.iter();
    let factor = factor.map(|(path, value)| format!("{} {value}", names.setting(path)));
    let what: Vec<String> = scenario.chain(factor).collect();
    Some(format!(
        "Nothing to compare with: {} is not part of this run.",
        what.join(", ")
    ))
}

/// The figure that the sentence opens with, and that its picture shows: the main one, or a time that differs where the
/// main one does not.
fn lead(effect: &TrialEffect) -> Option<&FigureEffect> {
    let main = effect.main()?;
    let mut others = effect.figures.iter().filter(|figure| *figure != main);
    let other = others.find(|figure| is_worth(effect, figure));
    match (main.finding, other) {
        (FigureFinding::NoDifference { .. }, Some(other)) if other.figure.is_latency() => {
            Some(other)
        }
        _ => Some(main),
    }
}

/// The figure that the sentence about some comparisons opens with.
pub(crate) fn lead_of(comparisons: &[TrialEffect]) -> Option<&FigureEffect> {
    let mut compared = comparisons.iter().filter(|one| one.main().is_some());
    match (compared.next()?, compared.next()) {
        (only, None) => lead(only),
        (first, Some(_)) => first.main(),
    }
}

fn single(names: &AnswerNames, effect: &TrialEffect) -> String {
    let (Some(main), Some(lead)) = (effect.main(), lead(effect)) else {
        return String::new();
    };
    let head = against(names, effect);
    let start = match main.finding {
        FigureFinding::Undecided { cause } => format!("{}: {head}", undecided(cause)),
        _ => opening(&head),
    };
    let mut clauses = vec![format!("{start}: {}", clause(names, lead))];
    if let FigureFinding::NoDifference { detectable, .. } = main.finding
        && lead != main
    {
        let name = names.figure(main.flow.as_ref(), main.figure);
        clauses.push(no_difference(&name, detectable));
    }
    let others = effect.figures.iter();
    let others = others.filter(|figure| *figure != main && *figure != lead);
    let others = others.filter(|figure| is_worth(effect, figure));
    let mut others: Vec<&FigureEffect> = others.collect();
    let is_of_bytes = is_of_bytes(names, effect);
    others.sort_by_key(|figure| !(is_of_bytes && figure.figure == FigureKind::WireBytes));
    let others = others.into_iter();
    let others = others.map(|figure| clause(names, figure));
    format!("{}.", join_short(names.letters_max, clauses, others))
}

/// `no difference found in p99 (219 % or more would have been detected)`.
fn no_difference(name: &str, least: f64) -> String {
    format!(
        "no difference found in {name} ({})",
        detectable(least, None)
    )
}

/// `acks all against 1`, `sync-replication against async-replication`.
fn against(names: &AnswerNames, effect: &TrialEffect) -> String {
    match difference(names, effect) {
        Some(difference) => values_against(names, difference),
        None => {
            let base = effect
                .base
                .map_or_else(String::new, |base| names.label(base));
            format!("{} against {base}", names.label(effect.trial))
        }
    }
}

fn values_against(names: &AnswerNames, difference: Difference) -> String {
    let Difference { path, value, other } = difference;
    match has_a_name(path) {
        true => format!("{value} against {other}"),
        false => format!("{} {value} against {other}", names.setting(path)),
    }
}

/// The one factor in which a trial differs from the one that it is compared with.
#[derive(Clone, Copy, PartialEq)]
struct Difference<'a> {
    path: &'a str,
    value: &'a str,
    other: &'a str,
}

/// `None` if trials are of two scenarios, or differ in several factors.
fn difference<'a>(names: &AnswerNames<'a>, effect: &TrialEffect) -> Option<Difference<'a>> {
    let trial = names.trial(effect.trial)?;
    let base = names.trial(effect.base?)?;
    if trial.scenario != base.scenario {
        return None;
    }
    let both = trial.factors.iter().zip(&base.factors);
    let mut differing = both.filter(|(one, other)| one.value != other.value);
    match (differing.next(), differing.next()) {
        (Some((one, other)), None) => Some(Difference {
            path: &one.path,
            value: &one.value,
            other: &other.value,
        }),
        _ => None,
    }
}

/// Whether a comparison is about the bytes that are sent for a record: those of a codec.
fn is_of_bytes(names: &AnswerNames, effect: &TrialEffect) -> bool {
    let difference = difference(names, effect);
    difference.is_some_and(|difference| difference.path.contains(".settings.compression."))
}

fn clause(names: &AnswerNames, effect: &FigureEffect) -> String {
    let name = names.figure(effect.flow.as_ref(), effect.figure);
    let values = pair(effect.figure, effect.base, effect.value, "→");
    let ratio = effect.ratio;
    let change = ratio.map(|ratio| change_between(ratio, effect.ratio_interval));
    match (effect.finding, change) {
        (FigureFinding::SetByLoad, _) => "the target kept up with the load in both".to_owned(),
        (
            FigureFinding::NoDifference {
                detectable: least,
                more_needed,
            },
            Some(change),
        ) => {
            // The table has the values.
            let values = match names.is_brief {
                true => String::new(),
                false => format!(", {values}"),
            };
            format!(
                "no difference found in {name}{values} ({change}; {})",
                detectable(least, more_needed)
            )
        }
        (FigureFinding::Differs, Some(change)) => format!("{name} {values} ({change})"),
        _ => format!("{name} {values}"),
    }
}

/// The figures besides the main one: those that differ and are not already shown.
fn is_worth(effect: &TrialEffect, figure: &FigureEffect) -> bool {
    let has = |kind: FigureKind| {
        let mut others = effect.figures.iter();
        others.any(|other| {
            let is_same = other.flow == figure.flow && other.figure == kind;
            is_same && other.finding == FigureFinding::Differs
        })
    };
    match figure.figure {
        FigureKind::Lost => true,
        // Unless records have several sizes they say the same.
        FigureKind::ThroughputBytes if has(FigureKind::Throughput) => {
            let records = effect
                .figures
                .iter()
                .find(|other| other.flow == figure.flow && other.figure == FigureKind::Throughput);
            let records = records.and_then(|records| records.ratio);
            let both = records.zip(figure.ratio);
            is_large(figure)
                && both.is_some_and(|(records, bytes)| (records > 1.0) != (bytes > 1.0))
        }
        FigureKind::ThroughputBytes => false,
        FigureKind::LatencyP999 => is_large(figure) && !has(FigureKind::LatencyP99),
        FigureKind::Capacity
        | FigureKind::CapacityTypical
        | FigureKind::Throughput
        | FigureKind::PerPrice
        | FigureKind::LatencyP50
        | FigureKind::LatencyP99
        | FigureKind::GeneratorCpu
        | FigureKind::TargetCpu
        | FigureKind::WireBytes => is_large(figure),
    }
}

fn is_large(figure: &FigureEffect) -> bool {
    let times = figure.ratio.map(|ratio| ratio.max(1.0 / ratio));
    figure.finding == FigureFinding::Differs && times.is_some_and(|times| times >= WORTH_FROM)
}

/// `Records/s against none: gzip −85 %, −87 to −83 %; lz4 no difference`. If that is too long, each change is its
/// interval alone, and then fewer comparisons are named: no change is without its interval.
fn list(names: &AnswerNames, effects: &[&TrialEffect]) -> String {
    let mains: Vec<&FigureEffect> = effects.iter().filter_map(|one| one.main()).collect();
    let Some(first) = mains.first().copied() else {
        return String::new();
    };
    let list = EffectList {
        names,
        effects,
        first,
        common: common_difference(names, effects),
    };
    let start = list.start(&mains);
    let bytes = list
        .bytes()
        .map_or_else(String::new, |bytes| format!("; {bytes}"));
    let count_max = effects.len().min(NAMED_MAX);
    let text = |mut items: Vec<String>, count: usize, ending: &str| {
        let more = effects.len() - count;
        items.extend((more > 0).then(|| format!("and {more} more")));
        format!("{start}: {}{ending}{bytes}.", items.join("; "))
    };
    let long = [Detail::All, Detail::Interval].into_iter().map(|detail| {
        let shown = effects.iter().take(count_max);
        let items = shown.filter_map(|effect| list.item(effect, detail));
        text(items.collect(), count_max, &nothing_found(&mains))
    });
    // A list of one shows nothing.
    let counts = (count_max.min(2)..=count_max).rev();
    let short = counts.map(|count| text(list.short_items(count), count, ""));
    let mut shortest = String::new();
    for text in long.chain(short) {
        shortest = text;
        if shortest.chars().count() <= names.letters_max {
            break;
        }
    }
    shortest
}

/// The difference that all comparisons share.
fn common_difference<'a>(
    names: &AnswerNames<'a>,
    effects: &[&TrialEffect],
) -> Option<Difference<'a>> {
    let mut differences = effects.iter().map(|effect| difference(names, effect));
    let first = differences.next()??;
    let is_common = differences.all(|other| other == Some(first));
    is_common.then_some(first)
}

/// The detail of each comparison in a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// The change with its interval, and what else differs most.
    All,
    /// The change with its interval.
    Interval,
}

/// Several comparisons of one scenario.
struct EffectList<'n> {
    names: &'n AnswerNames<'n>,
    effects: &'n [&'n TrialEffect],
    /// The main figure of the first one.
    first: &'n FigureEffect,
    /// What all of them compare, if they do it with different other settings.
    common: Option<Difference<'n>>,
}

impl EffectList<'_> {
    /// `Records/s against none`, `records/s, acks all against 1`.
    fn start(&self, mains: &[&FigureEffect]) -> String {
        let figure = self
            .names
            .figure(self.first.flow.as_ref(), self.first.figure);
        let head = match self.common {
            Some(common) => format!("{figure}, {}", values_against(self.names, common)),
            None => format!("{figure} against {}", common_base(self.names, self.effects)),
        };
        let causes = mains.iter().map(|one| match one.finding {
            FigureFinding::Undecided { cause } => Some(cause),
            _ => None,
        });
        let causes: Option<Vec<UndecidedCause>> = causes.collect();
        match causes.as_ref().and_then(|causes| causes.first()) {
            Some(cause) => format!("{}: {head}", undecided(*cause)),
            None => opening(&head),
        }
    }

    /// The settings that tell comparisons apart.
    fn factors(&self, effect: &TrialEffect) -> Vec<Factor> {
        let trial = self.names.trial(effect.trial);
        let factors = trial.into_iter().flat_map(|trial| &trial.factors);
        let is_common = |factor: &Factor| self.common.is_some_and(|one| one.path == factor.path);
        factors
            .filter(|factor| !is_common(factor))
            .cloned()
            .collect()
    }

    fn label(&self, effect: &TrialEffect) -> String {
        match self.common {
            Some(_) => self.names.settings(&self.factors(effect)),
            None => self.names.label(effect.trial),
        }
    }

    fn item(&self, effect: &TrialEffect, detail: Detail) -> Option<String> {
        let main = effect.main()?;
        let result = self.result(main, "no difference", change_between);
        let is_of_bytes = is_of_bytes(self.names, effect);
        let other = effect.figures.iter().find(|figure| {
            let is_shown = figure.figure == FigureKind::WireBytes && is_of_bytes;
            let is_shown = is_shown || figure.figure == FigureKind::Lost || *figure == main;
            !is_shown && is_worth(effect, figure)
        });
        let other = other.filter(|_| detail == Detail::All);
        let other = other.and_then(|other| {
            let name = self.names.figure(other.flow.as_ref(), other.figure);
            Some(format!(", {name} {}", change(other.ratio?)))
        });
        let other = other.unwrap_or_default();
        Some(format!("{} {result}{other}", self.label(effect)))
    }

    /// The items of the first comparisons, with the interval alone. What several share is given once:
    /// `brokers 3: acks 0 and acks 1 no difference (12 % detectable), acks all −44 to −31 %; 6: ...`.
    fn short_items(&self, count: usize) -> Vec<String> {
        let shown = self.effects.iter().take(count);
        let mains: Vec<&FigureEffect> = shown.clone().filter_map(|one| one.main()).collect();
        let least = detectable_max(&mains);
        let no_difference = least.map_or_else(String::new, |least| {
            format!("no difference ({})", detectable_short(least))
        });
        let mut groups: Vec<(Option<Factor>, SharedResults)> = Vec::new();
        for (effect, main) in shown.zip(&mains) {
            let factors = self.factors(effect);
            let (heading, label) = match factors.as_slice() {
                [heading, others @ ..] if !others.is_empty() => {
                    (Some(heading.clone()), self.names.settings(others))
                }
                _ => (None, self.label(effect)),
            };
            if groups.last().is_none_or(|(last, _)| *last != heading) {
                groups.push((heading, SharedResults::default()));
            }
            if let Some((_, results)) = groups.last_mut() {
                results.add(label, self.result(main, &no_difference, change_span));
            }
        }
        let mut path = None;
        let items = groups.iter().flat_map(|(heading, results)| {
            let Some(heading) = heading else {
                return results.texts();
            };
            // The setting is named once.
            let head = match path.replace(heading.path.as_str()) == Some(heading.path.as_str()) {
                true => heading.value.clone(),
                false => self.names.settings(std::slice::from_ref(heading)),
            };
            vec![format!("{head}: {}", results.texts().join(", "))]
        });
        items.collect()
    }

    /// `−26 %, −44 to −3.1 %`, with the figure where it is not that of the first comparison.
    fn result(
        &self,
        main: &FigureEffect,
        no_difference: &str,
        change: fn(f64, Option<Interval>) -> String,
    ) -> String {
        let result = match (main.finding, main.ratio) {
            (FigureFinding::NoDifference { .. }, _) => no_difference.to_owned(),
            (FigureFinding::Differs, Some(ratio)) => change(ratio, main.ratio_interval),
            (FigureFinding::SetByLoad, _) => "kept up".to_owned(),
            _ => pair(main.figure, main.base, main.value, "→"),
        };
        match (main.figure, &main.flow) == (self.first.figure, &self.first.flow) {
            true => result,
            false => {
                let name = self.names.figure(main.flow.as_ref(), main.figure);
                format!("{name} {result}")
            }
        }
    }

    /// `wire bytes: gzip −38 %, zstd −37 %`, where codecs are compared; `None` where that is unknown.
    fn bytes(&self) -> Option<String> {
        let mut effects = self.effects.iter();
        if !effects.all(|effect| is_of_bytes(self.names, effect)) {
            return None;
        }
        let bytes = self.effects.iter().map(|effect| {
            let mut figures = effect.figures.iter();
            let bytes = figures.find(|figure| figure.figure == FigureKind::WireBytes)?;
            Some((effect, bytes, bytes.ratio?))
        });
        let bytes: Vec<(&&TrialEffect, &FigureEffect, f64)> = bytes.collect::<Option<_>>()?;
        let large = bytes.iter().filter(|(_, bytes, _)| is_large(bytes));
        let large = large.map(|(effect, bytes, ratio)| {
            let change = change_span(*ratio, bytes.ratio_interval);
            format!("{} {change}", self.label(effect))
        });
        let large: Vec<String> = large.collect();
        Some(match large.is_empty() {
            true => "no difference in wire bytes".to_owned(),
            false => format!("wire bytes: {}", format::few(&large, NAMED_MAX)),
        })
    }
}

/// Results, each with the names of all comparisons that have it.
#[derive(Default)]
struct SharedResults(Vec<(Vec<String>, String)>);

impl SharedResults {
    fn add(&mut self, label: String, result: String) {
        match self.0.iter_mut().find(|(_, known)| *known == result) {
            Some((labels, _)) => labels.push(label),
            None => self.0.push((vec![label], result)),
        }
    }

    /// `snappy and lz4 no difference`.
    fn texts(&self) -> Vec<String> {
        let text = |(labels, result): &(Vec<String>, String)| match labels.as_slice() {
            [others @ .., last] if !others.is_empty() => {
                format!("{} and {last} {result}", others.join(", "))
            }
            labels => format!("{} {result}", labels.concat()),
        };
        self.0.iter().map(text).collect()
    }
}

/// The largest change that would have been detected where something shows no difference.
fn detectable_max(mains: &[&FigureEffect]) -> Option<f64> {
    let least = mains.iter().filter_map(|one| match one.finding {
        FigureFinding::NoDifference { detectable, .. } => Some(detectable),
        _ => None,
    });
    least.reduce(f64::max)
}

/// ` (12 % or more would have been detected)`.
fn nothing_found(mains: &[&FigureEffect]) -> String {
    detectable_max(mains).map_or_else(String::new, |least| {
        format!(" ({})", detectable(least, None))
    })
}

/// The base where it is one, and otherwise the value that all bases share.
fn common_base(names: &AnswerNames, effects: &[&TrialEffect]) -> String {
    let mut bases: Vec<u32> = effects.iter().filter_map(|one| one.base).collect();
    bases.sort_unstable();
    bases.dedup();
    let against = names.trials.iter().find_map(|trial| trial.against.as_ref());
    match (
        bases.as_slice(),
        against.and_then(|one| one.factor.as_ref()),
    ) {
        ([base], _) => names.label(*base),
        (_, Some((path, value))) if has_a_name(path) => value.clone(),
        (_, Some((path, value))) => format!("{} {value}", names.setting(path)),
        (bases, None) => format::few(&names.labels(bases), NAMED_MAX),
    }
}
