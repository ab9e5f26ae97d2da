//! Sentences about the trials of a run: headroom, bottlenecks, what an ack meant.

use kgauge_analyze::summary::{FlowSummary, Summary, TrialSummary};

use crate::format;
use crate::text;
use crate::text::trial::name as trial_name;

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
        let verdict = text::bottleneck::below_heading(limit, trial);
        let mut sentences = vec![format::capital(&verdict)];
        sentences.extend(text::bottleneck::evidence(limit, trial));
        return sentences;
    }
    let limits = known.map(|(trial, limit)| PlacedText {
        trial,
        name: trial_name(trial),
        text: text::bottleneck::below_heading(limit, trial),
    });
    let limits: Vec<PlacedText<'_>> = limits.collect();
    match limits.split_first() {
        Some((first, others))
            if limits.len() == summary.trials.len()
                && others.iter().all(|one| one.text == first.text) =>
        {
            vec![format::capital(&first.text)]
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

/// The agents of each trial: how they began together, and each of them.
pub(super) fn agents(summary: &Summary) -> Vec<String> {
    let mut sentences = Vec::new();
    for trial in &summary.trials {
        let Some(agents) = &trial.agents else {
            continue;
        };
        for sentence in text::agents::sentences(agents) {
            sentences.push(match summary.trials.len() {
                1 => sentence,
                _ => format!("{}: {sentence}", trial_name(trial)),
            });
        }
    }
    sentences
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
