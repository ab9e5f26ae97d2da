//! The answer to a scenario's question: one short sentence by the kind of the question, and at most one on what limited
//! the figures or cannot be used.

mod course;
mod effect;
mod figures;
mod words;

use kgauge_analyze::answer::{
    AnswerDoubt, AnswerDoubtCause, AnswerFacts, CountCheck, OutageAnswer, ScenarioAnswer,
    TrialAnomalies,
};
use kgauge_analyze::summary::{SteadyFigure, Summary, TrialSummary, WarningKind};

use super::{bottleneck, count_check, hot_broker, trial, verification};
use crate::format;
use crate::view::BriefAnswer;
use words::{AnswerNames, BRIEF_LETTERS_MAX, join_short};

pub(crate) use course::trend_lead;
pub(crate) use effect::lead_of;
pub(crate) use words::{change, change_between, change_interval};

/// Trials that are named in a sentence about what cannot be used.
const NAMED_MAX: usize = 3;

/// The doubt about figures during which a broker did not answer.
const OUTAGE: &str = "a broker stopped responding (check it, then rerun)";

/// The answer in one or two sentences.
pub fn sentence(answer: &ScenarioAnswer, summary: &Summary) -> String {
    let names = AnswerNames::of(summary, &answer.trials);
    let measured = names.trials.iter().any(|one| one.repeats_measured > 0);
    if !measured {
        let first = names.trials.first();
        let missing = first.map(|one| trial::missing(one, summary));
        return missing.unwrap_or_else(|| "Nothing was measured.".to_owned());
    }
    let compared = compared(&names, answer);
    let second = second(&names, answer, compared.is_some());
    let first = compared.unwrap_or_else(|| figures::sentence(&names, answer));
    let mut sentences: Vec<String> = std::iter::once(first).chain(second).collect();
    sentences.retain(|sentence| !sentence.is_empty());
    match sentences.is_empty() {
        true => "Nothing was measured.".to_owned(),
        false => sentences.join(" "),
    }
}

/// The answer without what the table shows.
pub(crate) fn brief(answer: &ScenarioAnswer, summary: &Summary) -> BriefAnswer {
    let mut names = AnswerNames::of(summary, &answer.trials);
    names.is_brief = true;
    let measured = names.trials.iter().any(|one| one.repeats_measured > 0);
    let hot = hot_difference(&names, answer);
    let is_hot = hot.is_some();
    let second = unusable(&names, answer, compared(&names, answer).is_some()).or(hot);
    let second_letters = second.as_ref().map_or(0, |text| text.chars().count() + 1);
    names.letters_max = BRIEF_LETTERS_MAX.saturating_sub(second_letters);
    let compared = compared(&names, answer);
    // Whether all records are in a copy, and which broker was hot, is known all the same.
    let has_copies = || figures::copies(&names.trials).is_some();
    if measured && compared.is_none() && !is_hot && !has_copies() {
        let causes = [
            AnswerDoubtCause::BrokerOutage,
            AnswerDoubtCause::NotSteady,
            AnswerDoubtCause::OtherPrograms,
            AnswerDoubtCause::OneRepeat,
        ];
        // Of several trials, each of the others has figures of its own.
        let count = if names.trials.len() == 1 { 4 } else { 2 };
        let mut known = causes.into_iter().take(count);
        let has = |cause: &AnswerDoubtCause| answer.doubts.iter().any(|one| one.cause == *cause);
        if let Some(cause) = known.find(has) {
            return BriefAnswer::Doubt(reason(cause));
        }
    }
    if !measured {
        return BriefAnswer::Sentences(sentence(answer, summary));
    }
    let first = compared.unwrap_or_else(|| figures::sentence(&names, answer));
    let sentences: Vec<String> = std::iter::once(first).chain(second).collect();
    BriefAnswer::Sentences(sentences.join(" "))
}

/// The head of a list of questions that the figures do not answer for one reason.
pub(crate) fn inconclusive(reason: &str) -> String {
    format!("Inconclusive because {reason}:")
}

/// The scenarios of such questions, next to a table.
pub(crate) fn inconclusive_scenarios(reason: &str, scenarios: &[&str]) -> String {
    format!(
        "Inconclusive because {reason} (the table has the figures): {}",
        scenarios.join(", ")
    )
}

fn reason(cause: AnswerDoubtCause) -> &'static str {
    match cause {
        AnswerDoubtCause::NotMeasured => "nothing was measured",
        AnswerDoubtCause::BrokerOutage => "a broker stopped responding",
        AnswerDoubtCause::NotSteady => "the target was not steady",
        AnswerDoubtCause::OneRepeat => "there was one repeat",
        AnswerDoubtCause::OtherPrograms => "other load on this host took CPU",
        AnswerDoubtCause::GeneratorLimited => "the generator was the bottleneck",
    }
}

/// What the question asks for; `None` where only the figures themselves can be given.
fn compared(names: &AnswerNames, answer: &ScenarioAnswer) -> Option<String> {
    match &answer.facts {
        AnswerFacts::HowMuch { .. } => None,
        AnswerFacts::Effect { comparisons } => effect::sentence(names, comparisons),
        AnswerFacts::Trend {
            setting: Some(setting),
            figures,
            kept_rates,
            ..
        } => course::trend(names, answer, setting, figures, kept_rates.as_ref()),
        AnswerFacts::Trend { over_time, .. } => course::over_time(over_time),
        AnswerFacts::Loss {
            counts,
            failed,
            unknown,
            findings,
        } => {
            let loss = |counts| loss(names, counts, *failed, *unknown);
            let loss = counts.as_ref().map(loss);
            let found = found(names, findings);
            match (loss, found) {
                (Some(loss), Some(found)) => Some(format!("{loss} {found}")),
                (loss, found) => loss.or(found),
            }
        }
        AnswerFacts::Outage { outage, counts } => outage
            .as_ref()
            .map(|outages| outage_sentence(names, outages, counts.as_ref())),
        AnswerFacts::Best { figures } => course::best(names, answer, figures),
    }
}

/// `Nothing lost: all 45,104 acked records are on the brokers; 3 sends failed.`
fn loss(names: &AnswerNames, counts: &CountCheck, failed: u64, unknown: u64) -> String {
    let count = count_check::clause(counts, names.summary);
    let count = match counts.is_proof() && counts.uncounted.is_empty() {
        true => format!("Nothing lost: {count}"),
        false => format::capital(&count),
    };
    let failed = (failed > 0).then(|| format!("{} failed", format::counted(failed, "send")));
    let unknown =
        (unknown > 0).then(|| format!("{} with unknown outcome", format::counted(unknown, "send")));
    let others = [failed, unknown].into_iter().flatten();
    format!("{}.", join_short(names.letters_max, [count], others))
}

/// `Verification, trial by trial: broken: lost-write 8,412 (expected); control: nothing.` Without anomalies and known
/// bugs, the count has said all.
fn found(names: &AnswerNames, findings: &[TrialAnomalies]) -> Option<String> {
    let is_notable = |one: &TrialAnomalies| !one.found.is_empty() || !one.expected.is_empty();
    if !findings.iter().any(is_notable) {
        return None;
    }
    let clauses = findings.iter().map(|finding| {
        let label = names.labels(&[finding.trial]).concat();
        let found = verification::finding(finding);
        match label.is_empty() {
            true => found,
            false => format!("{label}: {found}"),
        }
    });
    let clauses: Vec<String> = clauses.collect();
    Some(format!("Verification found: {}.", clauses.join("; ")))
}

/// `No acks for 7.81 s after the fault, new leaders after 8.00 s; all 130,000 acked records are on the brokers.`
/// Of several trials: `After the fault, no acks for 7.81 s with acks 1, for 10.2 s with acks all; ...`.
fn outage_sentence(
    names: &AnswerNames,
    outages: &[OutageAnswer],
    counts: Option<&CountCheck>,
) -> String {
    let silence = match outages {
        [only] if names.trials.len() == 1 => {
            let leaders = only.new_leaders_ns.as_ref();
            let leaders = leaders.map_or_else(String::new, |leaders| {
                format!(", new leaders after {}", format::nanoseconds(leaders.mean))
            });
            let silence = match silence(only) {
                Some(time) => format!("No acks {time} after the fault"),
                None => "After the fault, acks never stopped for a whole second".to_owned(),
            };
            format!("{silence}{}{leaders}", lasting(only))
        }
        several => silences(names, several),
    };
    let count = counts.map(|counts| count_check::clause(counts, names.summary));
    let slowest = outages.iter().filter_map(|one| one.longest_response_ns);
    let slowest = slowest.max();
    let slowest = slowest.map(|ns| format!("slowest ack after {}", format::nanoseconds(ns as f64)));
    let clauses = std::iter::once(silence).chain(count);
    format!("{}.", join_short(names.letters_max, clauses, slowest))
}

/// The times of several trials.
fn silences(names: &AnswerNames, outages: &[OutageAnswer]) -> String {
    let (stopped, others): (Vec<&OutageAnswer>, Vec<&OutageAnswer>) =
        outages.iter().partition(|one| silence(one).is_some());
    let stopped = stopped.iter().filter_map(|one| {
        let label = names.label(one.trial);
        Some(format!("{}{} with {label}", silence(one)?, lasting(one)))
    });
    let stopped: Vec<String> = stopped.collect();
    let never = "acks never stopped for a whole second";
    let others: Vec<u32> = others.iter().map(|one| one.trial).collect();
    let others_labels = format::few(&names.labels(&others), NAMED_MAX);
    match (stopped.is_empty(), others.is_empty()) {
        (true, _) => format!("After the fault, {never}"),
        (false, true) => format!("After the fault, no acks {}", stopped.join(", ")),
        (false, false) => format!(
            "After the fault, no acks {}; {never} with {others_labels}",
            stopped.join(", ")
        ),
    }
}

/// `for about 7.81 s (7.50 to 8.13 s)`; `None` if acks never stopped for a whole second.
fn silence(outage: &OutageAnswer) -> Option<String> {
    let time = &outage.without_acks_ns;
    if time.max <= 0.0 {
        return None;
    }
    let interval = time.ci95.map_or_else(String::new, |ends| {
        format!(" ({})", format::nanoseconds_between(ends))
    });
    let about = if outage.is_exact { "" } else { "about " };
    let mean = format::nanoseconds(time.mean);
    Some(format!("for {about}{mean}{interval}"))
}

/// Whether acks did not come back.
fn lasting(outage: &OutageAnswer) -> String {
    match (outage.not_recovered, outage.without_acks_ns.n) {
        (0, _) => String::new(),
        (1, 1) => ", until the end".to_owned(),
        (some, repeats) => format!(", until the end in {some} of {repeats} repeats"),
    }
}

/// What cannot be used, or what limited the figures. Figures that were not compared open with their doubts.
fn second(names: &AnswerNames, answer: &ScenarioAnswer, is_compared: bool) -> Option<String> {
    let is_single = names.trials.len() == 1;
    let hot = || hot_broker::sentence(&names.trials);
    let limit = || {
        let is_asked = matches!(answer.facts, AnswerFacts::HowMuch { .. });
        let [only] = names.trials.as_slice() else {
            return None;
        };
        // The figures open with it.
        let mut doubts = answer.doubts.iter();
        let is_known = doubts.any(|doubt| doubt.cause == AnswerDoubtCause::OtherPrograms);
        let limit = only.limit.as_ref().filter(|_| is_asked && !is_known)?;
        Some(bottleneck::sentence(limit, only))
    };
    let doubt = |cause: AnswerDoubtCause| {
        let found = answer.doubts.iter().find(|doubt| doubt.cause == cause)?;
        Some(doubt_sentence(names, found))
    };
    let limited =
        || doubt(AnswerDoubtCause::GeneratorLimited).filter(|_| !is_single || limit().is_none());
    // The figures of a single trial open with it.
    let is_said = is_single && matches!(answer.facts, AnswerFacts::HowMuch { .. });
    let others = || doubt(AnswerDoubtCause::OtherPrograms).filter(|_| !is_said);
    unusable(names, answer, is_compared)
        .or_else(hot)
        .or_else(limit)
        .or_else(limited)
        .or_else(others)
}

/// In which trials one broker did most of the work, where that tells the trials apart that are compared.
fn hot_difference(names: &AnswerNames, answer: &ScenarioAnswer) -> Option<String> {
    let is_hot = |trial: &TrialSummary| {
        let mut warnings = trial.warnings.iter();
        warnings.any(|warning| warning.kind() == WarningKind::BrokerSkew)
    };
    let is_different = match &answer.facts {
        AnswerFacts::Effect { comparisons } => comparisons.iter().all(|one| {
            let base = one.base.and_then(|base| names.trial(base));
            let both = names.trial(one.trial).zip(base);
            both.is_some_and(|(trial, base)| is_hot(trial) != is_hot(base))
        }),
        AnswerFacts::Trend { .. } | AnswerFacts::Best { .. } => {
            !names.trials.iter().all(|trial| is_hot(trial))
        }
        _ => false,
    };
    hot_broker::sentence(&names.trials).filter(|_| is_different)
}

/// What could not be compared, trials that are left out, and what is missing in a copy.
fn unusable(names: &AnswerNames, answer: &ScenarioAnswer, is_compared: bool) -> Option<String> {
    let missing = match &answer.facts {
        AnswerFacts::Effect { comparisons } => effect::missing(names, comparisons),
        _ => None,
    };
    let left_out = || {
        // Figures that were not compared say so themselves.
        let causes = [
            AnswerDoubtCause::NotMeasured,
            AnswerDoubtCause::BrokerOutage,
            AnswerDoubtCause::NotSteady,
        ];
        let count = if is_compared { causes.len() } else { 1 };
        let causes = causes.get(..count)?;
        let mut doubts = answer.doubts.iter();
        let mut found = doubts.find(|doubt| causes.contains(&doubt.cause))?.clone();
        found.trials.retain(|trial| !is_used(answer, *trial));
        let is_single = names.trials.len() == 1;
        (!is_single && !found.trials.is_empty()).then(|| doubt_sentence(names, &found))
    };
    let copies = || figures::copies(&names.trials);
    missing.or_else(left_out).or_else(copies)
}

/// Whether a comparison uses a trial: of several flows, one may be steady.
fn is_used(answer: &ScenarioAnswer, trial: u32) -> bool {
    let AnswerFacts::Effect { comparisons } = &answer.facts else {
        return false;
    };
    let mut used = comparisons.iter().filter(|one| one.main().is_some());
    used.any(|one| one.trial == trial || one.base == Some(trial))
}

fn doubt_sentence(names: &AnswerNames, doubt: &AnswerDoubt) -> String {
    let which = match doubt.trials.len() == names.trials.len() {
        true => "every trial".to_owned(),
        false => format::few(&names.labels(&doubt.trials), NAMED_MAX),
    };
    match doubt.cause {
        AnswerDoubtCause::NotMeasured => {
            let first = doubt.trials.first().and_then(|index| names.trial(*index));
            let why = first.map(|one| trial::missing(one, names.summary));
            let why = why.unwrap_or_default();
            match doubt.trials.len() {
                1 => format!("{which}: {why}"),
                _ => format!("{which}: {why} The others likewise."),
            }
        }
        AnswerDoubtCause::BrokerOutage | AnswerDoubtCause::NotSteady if names.is_brief => {
            let short = match doubt.cause {
                AnswerDoubtCause::NotSteady => "not steady",
                cause => reason(cause),
            };
            let trials = format::counted(names.trials.len() as u64, "trial");
            format!("Left out: {} of {trials}, {short}.", doubt.trials.len())
        }
        AnswerDoubtCause::BrokerOutage | AnswerDoubtCause::NotSteady => {
            format!("Left out because {}: {which}.", reason(doubt.cause))
        }
        AnswerDoubtCause::OneRepeat => format!("One repeat (use --repeat 5): {which}."),
        AnswerDoubtCause::OtherPrograms => match names.trials.len() {
            1 => "Other load on this host took CPU (stop it).".to_owned(),
            _ => format!("Other load on this host took CPU (stop it) in {which}."),
        },
        AnswerDoubtCause::GeneratorLimited => match names.trials.len() {
            1 => "The generator was the bottleneck: the target can do more.".to_owned(),
            _ => format!("The generator was the bottleneck in {which}: the target can do more."),
        },
    }
}

/// Why the figures of a single trial answer nothing, with what to do.
fn doubt(names: &AnswerNames, answer: &ScenarioAnswer, trial: &TrialSummary) -> Option<String> {
    let has = |cause: AnswerDoubtCause| {
        let mut doubts = answer.doubts.iter();
        doubts.any(|doubt| doubt.cause == cause && doubt.trials.contains(&trial.index))
    };
    if has(AnswerDoubtCause::BrokerOutage) {
        return Some(OUTAGE.to_owned());
    }
    if has(AnswerDoubtCause::NotSteady) {
        let mut flows = trial.flows.iter();
        let what = flows.find_map(|flow| super::warning::steadiness(flow, SteadyFigure::Latency));
        let what = what.unwrap_or("was not steady");
        return Some(format!("the target {what} ({})", names.steadier()));
    }
    if has(AnswerDoubtCause::OtherPrograms) {
        return Some("other load on this host took CPU (stop it)".to_owned());
    }
    has(AnswerDoubtCause::OneRepeat).then(|| "one repeat (use --repeat 5)".to_owned())
}
