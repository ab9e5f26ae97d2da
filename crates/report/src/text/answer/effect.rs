//! What something does: a ratio with its interval, against the trial that it is compared with.

use kgauge_analyze::answer::{FigureEffect, FigureFinding, TrialEffect};
use kgauge_analyze::compare::{FigureKind, UndecidedCause};
use kgauge_analyze::summary::{FlowSummary, TrialSummary};

use super::words::{
    AnswerNames, WORTH_FROM, change, change_between, detectable, join_short, opening, pair,
    undecided,
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
    let trial = names.trial(effect.trial);
    let base = effect.base.and_then(|base| names.trial(base));
    let differing = trial
        .zip(base)
        .and_then(|(trial, base)| only_difference(trial, base));
    match differing {
        Some((path, value, other)) if !has_a_name(path) => {
            format!("{} {value} against {other}", names.setting(path))
        }
        Some((_, value, other)) => format!("{value} against {other}"),
        None => {
            let base = effect
                .base
                .map_or_else(String::new, |base| names.label(base));
            format!("{} against {base}", names.label(effect.trial))
        }
    }
}

/// The path of the one factor in which two trials of a scenario differ, and both values.
fn only_difference<'a>(
    trial: &'a TrialSummary,
    base: &'a TrialSummary,
) -> Option<(&'a str, &'a str, &'a str)> {
    if trial.scenario != base.scenario {
        return None;
    }
    let both = trial.factors.iter().zip(&base.factors);
    let mut differing = both.filter(|(one, other)| one.value != other.value);
    match (differing.next(), differing.next()) {
        (Some((one, other)), None) => {
            Some((one.path.as_str(), one.value.as_str(), other.value.as_str()))
        }
        _ => None,
    }
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

/// The detail of each comparison in a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// The change with its interval, and what else differs most.
    All,
    /// The change with its interval.
    Interval,
    /// The change.
    Change,
}

/// `Records/s against none: gzip −85 %, −87 to −83 %; lz4 no difference`.
fn list(names: &AnswerNames, effects: &[&TrialEffect]) -> String {
    let shown = effects.get(..NAMED_MAX).unwrap_or(effects);
    let mains: Vec<&FigureEffect> = effects.iter().filter_map(|one| one.main()).collect();
    let Some(first) = mains.first() else {
        return String::new();
    };
    let head = format!(
        "{} against {}",
        names.figure(first.flow.as_ref(), first.figure),
        common_base(names, effects)
    );
    let causes = mains.iter().map(|one| match one.finding {
        FigureFinding::Undecided { cause } => Some(cause),
        _ => None,
    });
    let causes: Option<Vec<UndecidedCause>> = causes.collect();
    let start = match causes.as_ref().and_then(|causes| causes.first()) {
        Some(cause) => format!("{}: {head}", undecided(*cause)),
        None => opening(&head),
    };
    let ending = nothing_found(&mains);
    let text = |detail: Detail| {
        let items = shown
            .iter()
            .filter_map(|one| item(names, one, first, detail));
        let mut items: Vec<String> = items.collect();
        let more = effects.len() - shown.len();
        items.extend((more > 0).then(|| format!("and {more} more")));
        format!("{start}: {}{ending}.", items.join("; "))
    };
    let details = [Detail::All, Detail::Interval, Detail::Change];
    let texts = details.map(text);
    let short = texts
        .iter()
        .find(|text| text.chars().count() <= names.letters_max);
    let [.., shortest] = &texts;
    short.unwrap_or(shortest).clone()
}

/// ` (12 % or more would have been detected)`, where something shows no difference: the largest of them.
fn nothing_found(mains: &[&FigureEffect]) -> String {
    let least = mains.iter().filter_map(|one| match one.finding {
        FigureFinding::NoDifference { detectable, .. } => Some(detectable),
        _ => None,
    });
    least.reduce(f64::max).map_or_else(String::new, |least| {
        format!(" ({})", detectable(least, None))
    })
}

fn item(
    names: &AnswerNames,
    effect: &TrialEffect,
    first: &FigureEffect,
    detail: Detail,
) -> Option<String> {
    let main = effect.main()?;
    // Each figure is named where they are not the same.
    let name = match (main.figure, &main.flow) == (first.figure, &first.flow) {
        true => String::new(),
        false => format!("{} ", names.figure(main.flow.as_ref(), main.figure)),
    };
    let result = match (main.finding, main.ratio) {
        (FigureFinding::NoDifference { .. }, _) => "no difference".to_owned(),
        (FigureFinding::Differs, Some(ratio)) => {
            let interval = main.ratio_interval.filter(|_| detail != Detail::Change);
            change_between(ratio, interval)
        }
        (FigureFinding::SetByLoad, _) => "kept up".to_owned(),
        _ => pair(main.figure, main.base, main.value, "→"),
    };
    let other = effect.figures.iter().find(|figure| {
        *figure != main && figure.figure != FigureKind::Lost && is_worth(effect, figure)
    });
    let other = other.filter(|_| detail == Detail::All);
    let other = other.and_then(|other| {
        let name = names.figure(other.flow.as_ref(), other.figure);
        Some(format!(", {name} {}", change(other.ratio?)))
    });
    let label = names.label(effect.trial);
    let other = other.unwrap_or_default();
    Some(format!("{label} {name}{result}{other}"))
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
