//! Sentences made of figures: the answers, what is missing, what an ack meant.

use kgauge_analyze::summary::{
    FlowKind, FlowSummary, GeneratorState, PublishedStatus, Summary, TrialSummary,
};
use kgauge_results::Quantile;
use kgauge_results::run::{RepeatOutcome, TargetKind};

use super::{has_others, hot_broker, trial_answers, trial_name};
use crate::format;
use crate::text;
use crate::view::{Flow, TrialView, published};

/// The answer to a scenario's question, in a sentence or two.
pub(super) fn answer(
    summary: &Summary,
    summaries: &[&TrialSummary],
    trials: &[TrialView],
) -> String {
    let mut sentences = Vec::new();
    match (summaries, trials) {
        ([one], [trial]) => sentences.push(of_trial(summary.target.kind, one, trial)),
        _ => sentences.extend(trial_answers::sentences(summary, summaries, trials)),
    }
    sentences.retain(|sentence| !sentence.is_empty());
    if sentences.is_empty() {
        let missing = trials.iter().find_map(|trial| trial.missing.clone());
        sentences.push(missing.unwrap_or_else(|| "Nothing was measured.".to_owned()));
    }
    let limited = summaries
        .iter()
        .any(|trial| trial.generator.word == GeneratorState::Limited);
    if limited {
        sentences.push("The generator was the bottleneck: the target can do more.".to_owned());
    }
    sentences.extend(hot_broker::sentence(summaries));
    sentences.join(" ")
}

/// The answers of a scenario's searches, if it has any.
pub(super) fn capacity(summary: &Summary, scenario: &str) -> Option<String> {
    let capacities = summary.capacities.iter();
    let capacities = capacities.filter(|capacity| capacity.scenario == scenario);
    let answers = capacities.flat_map(|capacity| {
        let searches = capacity.searches.iter();
        searches.map(move |search| {
            let answer = text::capacity::answer(capacity, search);
            match capacity.name.as_str() {
                "" => answer,
                name => format!("{name}: {answer}"),
            }
        })
    });
    let answers: Vec<String> = answers.collect();
    (!answers.is_empty()).then(|| answers.join(" "))
}

/// The sentence of the trial that used most of what the machine can generate.
pub(super) fn headroom(summary: &Summary) -> String {
    let known = summary.trials.iter().filter_map(|trial| {
        let headroom = trial.headroom.as_ref()?;
        Some((headroom.used_part, headroom, trial))
    });
    let most = known.max_by(|one, other| one.0.total_cmp(&other.0));
    most.map_or_else(String::new, |(_, headroom, trial)| {
        match summary.trials.len() {
            1 => text::generator::headroom(headroom),
            _ => {
                let sentence = text::generator::headroom(headroom);
                format!("Highest in {}: {sentence}", trial_name(trial))
            }
        }
    })
}

/// One trial: a clause for each flow.
fn of_trial(target: Option<TargetKind>, summary: &TrialSummary, trial: &TrialView) -> String {
    // What others published is about Apache Kafka: only the table shows how the embedded cluster compares with it.
    let beside = |flow: &Flow| match target {
        Some(TargetKind::Embedded) | None => String::new(),
        Some(TargetKind::Kafka | TargetKind::Existing) => beside_published(flow),
    };
    let clauses: Vec<String> = summary
        .flows
        .iter()
        .zip(&trial.flows)
        .filter_map(|(summary, flow)| {
            let verb = match summary.kind {
                FlowKind::Produce => "wrote",
                FlowKind::Consume => "read",
                FlowKind::Echo => "echoed",
                FlowKind::Unknown => "moved",
            };
            Some(format!(
                "{} {verb} {}{}{}",
                flow.members(),
                rate(flow)?,
                beside(flow),
                response(flow)
            ))
        })
        .collect();
    let clauses = clauses.join("; ");
    match (clauses.is_empty(), doubt(summary, trial)) {
        (true, _) => String::new(),
        (false, None) => format::capital(&clauses) + ".",
        (false, Some(doubt)) => format!("Inconclusive, {doubt}: {clauses}."),
    }
}

/// Why the figures of a trial answer nothing, with what to do.
fn doubt(summary: &TrialSummary, trial: &TrialView) -> Option<String> {
    let mut flows = trial.flows.iter();
    if let Some(what) = flows.find_map(Flow::not_steady) {
        return Some(format!(
            "the target {what} (use a longer warm-up limit and hold)"
        ));
    }
    if has_others(summary) {
        return Some("other programs used CPU on this machine (stop them)".to_owned());
    }
    (summary.repeats_measured == 1).then(|| "one repeat (use --repeat 5)".to_owned())
}

/// `1,284,000 records/s (±2.4 %, 128 MB/s)`.
fn rate(flow: &Flow) -> Option<String> {
    let rate = flow.rate()?;
    let mut asides = Vec::new();
    asides.extend(rate.ci95.map(|ends| format::plus_minus(rate.mean, ends)));
    let megabytes = flow.megabytes();
    asides.extend(megabytes.map(|found| format!("{} MB/s", format::short(found.mean))));
    let asides = match asides.is_empty() {
        true => String::new(),
        false => format!(" ({})", asides.join(", ")),
    };
    Some(format!("{} records/s{asides}", format::figure(rate.mean)))
}

/// `, 1.56 times the published 821,557 records/s`.
fn beside_published(flow: &Flow) -> String {
    let mut all = flow.published();
    let found = all.find(|found| published::metric(found) == "throughput");
    let Some((found, ratio)) = found.and_then(|found| Some((found, found.ratio?))) else {
        return String::new();
    };
    let value = published::value(found);
    match found.word {
        PublishedStatus::Agrees => format!(", in agreement with the published {value}"),
        PublishedStatus::Undecided => format!("; inconclusive against the published {value}"),
        PublishedStatus::Higher
        | PublishedStatus::Lower
        | PublishedStatus::NotComparable
        | PublishedStatus::NotMeasured => {
            format!(", {} times the published {value}", format::short(ratio))
        }
    }
}

/// `, p99 response 4.20 ms`, for open loops only: a closed loop's is not the broker's.
fn response(flow: &Flow) -> String {
    let headline = flow.latency().filter(|latency| latency.kind.is_headline());
    let Some(latency) = headline.filter(|_| !flow.summary.closed_loop) else {
        return String::new();
    };
    let found = latency.times.percentile(Quantile::P99);
    let late = flow.late().map_or("", |late| late.aside);
    found.map_or_else(String::new, |found| {
        let interval = match found.interval() {
            Some(ends) => format!(" ({})", format::nanoseconds_between(ends)),
            None => String::new(),
        };
        format!(
            ", p99 {} {}{interval}{late}",
            latency.kind.title(),
            format::nanoseconds(found.value_ns as f64)
        )
    })
}

/// Why a trial has no figures.
pub(super) fn missing(trial: &TrialSummary, summary: &Summary) -> String {
    if let Some(why) = &trial.not_measured {
        return format!("Not measured: {why}");
    }
    let failed = trial
        .repeats
        .iter()
        .find_map(|repeat| match &repeat.outcome {
            Some(RepeatOutcome::Failed { why }) => Some(format!("Not measured: {why}")),
            Some(RepeatOutcome::Interrupted) => Some("Not measured: interrupted.".to_owned()),
            _ => None,
        });
    failed.unwrap_or_else(|| match trial.repeats.is_empty() {
        true => format!(
            "Not started: the run was {} first.",
            summary.run.status.as_str()
        ),
        false => "Not measured: ended before the hold stage.".to_owned(),
    })
}

/// What an ack meant: each sentence once, with the scenarios or trials that it is true of.
pub(super) fn acked(summary: &Summary) -> Vec<String> {
    let trials = summary.trials.iter();
    let acks = trials.flat_map(|trial| {
        trial.flows.iter().filter_map(move |flow| {
            let (promise, followers) = text::flow::ack(flow.ack.as_ref()?);
            let name = match trial.flows.len() {
                1 => trial_name(trial),
                _ => format!("{} {}", trial_name(trial), flow.name),
            };
            Some(PlacedText {
                trial,
                name,
                text: format!("{promise} {followers}"),
            })
        })
    });
    let acks: Vec<PlacedText<'_>> = acks.collect();
    match acks.split_first() {
        Some((first, others)) if others.iter().all(|one| one.text == first.text) => {
            vec![first.text.clone()]
        }
        _ => each_once(&acks),
    }
}

/// What limited the trials: each sentence once, with the scenarios or trials that it is true of. Of a single trial
/// the evidence too.
pub(super) fn limits(summary: &Summary) -> Vec<String> {
    let trials = summary.trials.iter();
    let known = trials.filter_map(|trial| Some((trial, trial.limit.as_ref()?)));
    if let ([_], Some((trial, limit))) = (summary.trials.as_slice(), known.clone().next()) {
        let mut sentences = vec![text::bottleneck::sentence(limit, trial)];
        sentences.extend(text::bottleneck::evidence(limit, trial));
        return sentences;
    }
    let limits = known.map(|(trial, limit)| PlacedText {
        trial,
        name: trial_name(trial),
        text: text::bottleneck::sentence(limit, trial),
    });
    let limits: Vec<PlacedText<'_>> = limits.collect();
    match limits.split_first() {
        Some((first, others))
            if limits.len() == summary.trials.len()
                && others.iter().all(|one| one.text == first.text) =>
        {
            vec![first.text.clone()]
        }
        _ => each_once(&limits),
    }
}

/// A sentence, and the trial or flow that it is true of.
struct PlacedText<'a> {
    trial: &'a TrialSummary,
    name: String,
    text: String,
}

/// Each sentence once, after the scenarios or trials that it is true of.
fn each_once(all: &[PlacedText<'_>]) -> Vec<String> {
    let mut sentences: Vec<(&str, Vec<&str>)> = Vec::new();
    for one in all {
        let mut same = all
            .iter()
            .filter(|other| other.trial.scenario == one.trial.scenario);
        let place = match same.all(|other| other.text == one.text) {
            true => one.trial.scenario.as_str(),
            false => one.name.as_str(),
        };
        match sentences.iter_mut().find(|(text, _)| *text == one.text) {
            Some((_, places)) if places.contains(&place) => {}
            Some((_, places)) => places.push(place),
            None => sentences.push((&one.text, vec![place])),
        }
    }
    let sentences = sentences.into_iter();
    sentences
        .map(|(text, places)| format!("{}: {text}", places.join(", ")))
        .collect()
}

/// What consumer groups did, a sentence for each flow that is one.
pub(super) fn groups(summary: &Summary) -> Vec<String> {
    of_flows(summary, text::flow::group)
}

/// What became of transactions and what was spoken, a sentence for each flow that writes in some.
pub(super) fn transactions(summary: &Summary) -> Vec<String> {
    of_flows(summary, text::flow::transactions)
}

/// What became of copies on another cluster, a sentence for each flow that read one.
pub(super) fn mirrors(summary: &Summary) -> Vec<String> {
    of_flows(summary, text::flow::mirror)
}

/// A sentence for each flow that has one.
fn of_flows(
    summary: &Summary,
    sentence_of: impl Fn(&FlowSummary) -> Option<String>,
) -> Vec<String> {
    let mut sentences = Vec::new();
    for trial in &summary.trials {
        for flow in &trial.flows {
            let Some(sentence) = sentence_of(flow) else {
                continue;
            };
            let place = match summary.trials.len() {
                1 => flow.name.clone(),
                _ => format!("{} {}", trial_name(trial), flow.name),
            };
            sentences.push(format!("{place}: {sentence}"));
        }
    }
    sentences
}
