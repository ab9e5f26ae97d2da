//! Sentences made of figures: the answers, what is missing, what an ack meant, what happened.

use kgauge_results::run::{self, EventKind, Outcome, RepeatKey};
use kgauge_results::summary::{FlowKind, FlowSummary, GeneratorWord, Summary, TrialSummary};

use super::{hot, many, trial_name};
use crate::format;
use crate::view::{FactorUnit, Figure, Flow, PublishedWord, Sweep, SweepPoint, Trial};

/// The answer to a scenario's question, in a sentence or two.
pub(super) fn answer(
    summaries: &[&TrialSummary],
    trials: &[Trial],
    sweep: Option<&Sweep>,
) -> String {
    let mut sentences = Vec::new();
    match (sweep, summaries, trials) {
        (_, [summary], [trial]) => sentences.push(of_trial(summary, trial)),
        (Some(sweep), ..) => sentences.extend(
            sweep
                .flows
                .iter()
                .filter_map(|flow| of_sweep(sweep, &flow.name, &flow.points, sweep.flows.len())),
        ),
        _ => sentences.extend(many::sentences(summaries, trials)),
    }
    sentences.retain(|sentence| !sentence.is_empty());
    if sentences.is_empty() {
        let missing = trials.iter().find_map(|trial| trial.missing.clone());
        sentences.push(missing.unwrap_or_else(|| "Nothing was measured.".to_owned()));
    }
    let limited = summaries
        .iter()
        .any(|trial| trial.generator.word == GeneratorWord::Limited);
    if limited {
        sentences.push("The generator was the limit: the target can do more.".to_owned());
    }
    sentences.extend(hot::sentence(summaries));
    sentences.join(" ")
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
            1 => headroom.sentence.clone(),
            _ => format!("Most in {}: {}", trial_name(trial), headroom.sentence),
        }
    })
}

/// One trial: a clause for each flow.
fn of_trial(summary: &TrialSummary, trial: &Trial) -> String {
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
                flow.who,
                rate(flow)?,
                beside_published(flow),
                response(flow)
            ))
        })
        .collect();
    match clauses.is_empty() {
        true => String::new(),
        false => format::capital(&clauses.join("; ")) + ".",
    }
}

/// `1,284,000 records/s (± 2.4 %, 128 MB/s)`.
fn rate(flow: &Flow) -> Option<String> {
    let rate = flow.rate.as_ref()?;
    let mut asides = Vec::new();
    asides.extend(rate.half().map(|half| format::plus_minus(half, rate.mean)));
    asides.extend(flow.megabytes.as_ref().map(megabytes));
    let asides = match asides.is_empty() {
        true => String::new(),
        false => format!(" ({})", asides.join(", ")),
    };
    Some(format!("{} records/s{asides}", format::figure(rate.mean)))
}

fn megabytes(figure: &Figure) -> String {
    format!("{} MB/s", format::short(figure.mean))
}

/// `, 1.56 times the published 821,557 records/s`.
fn beside_published(flow: &Flow) -> String {
    let found = flow
        .published
        .iter()
        .find(|found| found.metric == "throughput");
    let Some((found, ratio)) = found.and_then(|found| Some((found, found.ratio?))) else {
        return String::new();
    };
    let times = format!(
        "{} times the published {}",
        format::short(ratio),
        found.text
    );
    match found.word {
        PublishedWord::Agrees => format!(", which agrees with the published {}", found.text),
        PublishedWord::Undecided => {
            format!(", {times}, but the repeats differ too much to tell them apart")
        }
        _ => format!(", {times}"),
    }
}

/// `, p99 response 4.20 ms`, for open loops only: a closed loop's is not the broker's.
fn response(flow: &Flow) -> String {
    let headline = flow.latency().filter(|latency| latency.kind.is_headline());
    let Some(latency) = headline.filter(|_| flow.closed.is_none()) else {
        return String::new();
    };
    let found = latency.distribution.at(990_000);
    let late = if flow.late.is_some() {
        ", the generator's own delay included"
    } else {
        ""
    };
    found.map_or_else(String::new, |found| {
        format!(
            ", p99 {} {}{late}",
            latency.kind.name(),
            format::nanoseconds(found.ns as f64)
        )
    })
}

/// `From linger.ms 0 ms to 100 ms, p99 response goes from 1.20 ms to 101 ms, at 10,000 records/s.` A flow with a rate does what it was asked
/// for: what the sweep is about are its times.
fn times_of_sweep(first: &SweepPoint, last: &SweepPoint) -> Option<String> {
    let ((kind, first_ns), (_, last_ns)) = (first.p99?, last.p99?);
    let (one, other) = (first.rate.as_ref()?.mean, last.rate.as_ref()?.mean);
    let rates = match many::is_one_rate(one, other) {
        true => format!("at {} records/s", format::figure(one)),
        false => format!(
            "while records/s go from {} to {}",
            format::figure(one),
            format::figure(other)
        ),
    };
    Some(format!(
        "p99 {kind} goes from {} to {}, {rates}",
        format::nanoseconds(first_ns),
        format::nanoseconds(last_ns)
    ))
}

/// `From record.size 10 B to 100 kB, records/s go from 2,200,000 to 3,400 and MB/s from 22.0 to 340.`
fn of_sweep(sweep: &Sweep, name: &str, points: &[SweepPoint], flows: usize) -> Option<String> {
    let measured: Vec<&SweepPoint> = points.iter().filter(|point| point.rate.is_some()).collect();
    let (first, last) = (measured.first()?, measured.last()?);
    let who = if flows > 1 {
        format!("{name}: ")
    } else {
        String::new()
    };
    let megabytes = match (&first.megabytes, &last.megabytes) {
        (Some(first), Some(last)) => format!(
            " and MB/s from {} to {}",
            format::short(first.mean),
            format::short(last.mean)
        ),
        _ => String::new(),
    };
    let went = match times_of_sweep(first, last) {
        Some(times) => times,
        None => format!(
            "records/s go from {} to {}{megabytes}",
            format::figure(first.rate.as_ref()?.mean),
            format::figure(last.rate.as_ref()?.mean)
        ),
    };
    Some(format!(
        "{who}From {} {} to {}, {went}.",
        factor_name(sweep),
        factor(sweep.unit, first.factor),
        factor(sweep.unit, last.factor),
    ))
}

/// `batch.size` for `writers.settings.batch.size`: the setting, as Kafka's documentation names it.
fn factor_name(sweep: &Sweep) -> &str {
    let of_flow = |name: &str| sweep.factor.strip_prefix(name)?.strip_prefix('.');
    let flows = sweep.flows.iter();
    let path = flows.filter_map(|flow| of_flow(&flow.name)).next();
    let path = path.unwrap_or(&sweep.factor);
    path.strip_prefix("settings.").unwrap_or(path)
}

fn factor(unit: FactorUnit, value: f64) -> String {
    let text = match unit {
        FactorUnit::Plain => format::all_digits(value),
        FactorUnit::Bytes => format::size(value),
        FactorUnit::Nanoseconds => format::nanoseconds(value),
    };
    format::without_zeros(&text)
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
            Some(Outcome::Failed { why }) => Some(format!("Not measured: {why}")),
            Some(Outcome::Interrupted) => Some("Not measured: it was interrupted.".to_owned()),
            _ => None,
        });
    failed.unwrap_or_else(|| match trial.repeats.is_empty() {
        true => format!(
            "Not begun: the run was {} before.",
            summary.run.status.as_str()
        ),
        false => "Not measured: it ended before its hold stage.".to_owned(),
    })
}

/// What an ack meant: each sentence once, with the scenarios or trials that it is true of.
pub(super) fn acked(summary: &Summary) -> Vec<String> {
    let acks = || {
        summary.trials.iter().flat_map(|trial| {
            let flows = trial.flows.iter();
            flows.filter_map(move |flow| Some((trial, flow, flow.ack.as_ref()?.sentence.as_str())))
        })
    };
    let mut sentences: Vec<&str> = Vec::new();
    for (.., sentence) in acks() {
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    if let [sentence] = sentences.as_slice() {
        return vec![(*sentence).to_owned()];
    }
    let with_places = |sentence: &str| {
        let mut places: Vec<String> = Vec::new();
        for (trial, flow, _) in acks().filter(|(.., found)| *found == sentence) {
            let whole = acks()
                .filter(|(other, ..)| other.scenario == trial.scenario)
                .all(|(.., found)| found == sentence);
            let place = match (whole, trial.flows.len()) {
                (true, _) => trial.scenario.clone(),
                (false, 1) => trial_name(trial),
                (false, _) => format!("{} {}", trial_name(trial), flow.name),
            };
            if !places.contains(&place) {
                places.push(place);
            }
        }
        format!("{}: {sentence}", places.join(", "))
    };
    sentences.into_iter().map(with_places).collect()
}

/// What limited the trials: each sentence once, with the scenarios or trials that it is true of. Of a single trial
/// the evidence too.
pub(super) fn limits(summary: &Summary) -> Vec<String> {
    let known = || {
        let trials = summary.trials.iter();
        trials.filter_map(|trial| Some((trial, trial.limit.as_ref()?)))
    };
    let mut sentences: Vec<&str> = Vec::new();
    for (_, limit) in known() {
        if !sentences.contains(&limit.sentence.as_str()) {
            sentences.push(&limit.sentence);
        }
    }
    if let (1, Some((_, limit))) = (summary.trials.len(), known().next()) {
        let evidence = limit.evidence.iter().cloned();
        return std::iter::once(limit.sentence.clone())
            .chain(evidence)
            .collect();
    }
    if let ([sentence], true) = (
        sentences.as_slice(),
        known().count() == summary.trials.len(),
    ) {
        return vec![(*sentence).to_owned()];
    }
    let with_places = |sentence: &str| {
        let mut places: Vec<String> = Vec::new();
        for (trial, _) in known().filter(|(_, limit)| limit.sentence == sentence) {
            let mut same = known().filter(|(other, _)| other.scenario == trial.scenario);
            let place = match same.all(|(_, limit)| limit.sentence == sentence) {
                true => trial.scenario.clone(),
                false => trial_name(trial),
            };
            if !places.contains(&place) {
                places.push(place);
            }
        }
        format!("{}: {sentence}", places.join(", "))
    };
    sentences.into_iter().map(with_places).collect()
}

/// What consumer groups did, a sentence for each flow that is one.
pub(super) fn groups(summary: &Summary) -> Vec<String> {
    of_flows(summary, |flow| Some(&flow.group.as_ref()?.sentence))
}

/// What became of transactions and what was spoken, a sentence for each flow that writes in some.
pub(super) fn transactions(summary: &Summary) -> Vec<String> {
    of_flows(summary, |flow| Some(&flow.transactions.as_ref()?.sentence))
}

/// What became of copies on another cluster, a sentence for each flow that read one.
pub(super) fn mirrors(summary: &Summary) -> Vec<String> {
    of_flows(summary, |flow| Some(&flow.mirror.as_ref()?.sentence))
}

/// A sentence for each flow that has one.
fn of_flows(
    summary: &Summary,
    sentence_of: impl Fn(&FlowSummary) -> Option<&String>,
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

/// An event in words.
pub(super) fn event(event: &run::Event) -> String {
    let place = event
        .repeat
        .map_or_else(String::new, |key| format!("{}: ", repeat_name(key)));
    let words = match &event.kind {
        EventKind::TopicCreated { topic } => format!("topic {topic} created"),
        EventKind::TopicDeleted { topic } => format!("topic {topic} deleted"),
        EventKind::RepeatStarted => "started".to_owned(),
        EventKind::RepeatEnded { outcome } => match outcome {
            Outcome::Complete => "complete".to_owned(),
            Outcome::Failed { why } => format!("failed: {why}"),
            Outcome::Interrupted => "interrupted".to_owned(),
        },
        EventKind::StageStarted { flow, stage } => {
            format!("flow {} enters {}", flow + 1, stage.as_str())
        }
        EventKind::TrialLeftOut { trial, why } => format!("trial {} left out: {why}", trial + 1),
        EventKind::TrialFailed { trial, why } => format!("trial {} given up: {why}", trial + 1),
        EventKind::ClusterStarted { brokers, settings } => {
            let brokers = format::plural(u64::from(*brokers), "broker", "brokers");
            let settings = settings
                .iter()
                .map(|(key, value)| format!(", {key}={value}"));
            format!(
                "another cluster started: {brokers}{}",
                settings.collect::<String>()
            )
        }
        EventKind::Warning { text } => format!("warning: {text}"),
        EventKind::Error {
            text,
            code: Some(code),
        } => format!("error {code}: {text}"),
        EventKind::Error { text, code: None } => format!("error: {text}"),
        EventKind::Fault {
            text, active: true, ..
        } => format!("fault: {text}"),
        EventKind::Fault {
            text,
            active: false,
            ..
        } => format!("fault ended: {text}"),
        EventKind::ReplicasChanged { text, .. } => text.clone(),
        EventKind::Interrupted => "the user asked to stop".to_owned(),
        EventKind::Unknown => "an event that this version does not know".to_owned(),
    };
    place + &words
}

/// Counted from 1, as people do.
pub(super) fn repeat_name(key: RepeatKey) -> String {
    format!(
        "trial {}, repeat {}",
        u64::from(key.trial) + 1,
        u64::from(key.repeat) + 1
    )
}

/// A word of a command line as a shell takes it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@+%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_argument_stays_one_argument() {
        assert_eq!(quoted("linkedin-2014"), "linkedin-2014");
        assert_eq!(quoted("a b; rm -rf '~'"), "'a b; rm -rf '\\''~'\\'''");
        assert_eq!(quoted(""), "''");
    }
}
