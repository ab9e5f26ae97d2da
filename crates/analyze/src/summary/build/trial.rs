//! The summary of one trial.

use std::collections::BTreeSet;

use kgauge_scenario::{FlowPlan, Trial};

use super::agents;
use super::blame::{self, LatenessEvidence};
use super::flow::{counted, flows};
use super::generator::{cpu, verdict};
use super::headroom::headroom;
use super::health;
use super::hold::MeasuredRepeats;
use super::limit;
use super::outage;
use super::processors;
use super::shares;
use super::verdict::FigureSource;
use super::warnings::{self, Circumstances};
use crate::series::{WaitShares, client_hold};
use crate::summary::{
    CountedOnBroker, CpuSummary, Factor, FlowSummary, RepeatSummary, TopicSummary, TrialSummary,
    WarningKind,
};
use kgauge_results::folder::{RepeatRead, RunRead};
use kgauge_results::run::{Anomaly, CutShortRecord, EventKind};

/// All trials: those of the plan, and without one those that have repeats.
pub(super) fn trials(run: &RunRead) -> Vec<TrialSummary> {
    match &run.plan {
        Some(plan) => {
            let trials = plan.trials.iter();
            trials
                .map(|trial| summary(run, trial.index, Some(trial)))
                .collect()
        }
        None => {
            let seen = run.repeats.iter().map(|repeat| repeat.key.trial);
            let seen = seen.collect::<BTreeSet<_>>().into_iter();
            seen.map(|index| summary(run, index, None)).collect()
        }
    }
}

fn summary(run: &RunRead, index: u32, trial: Option<&Trial>) -> TrialSummary {
    let measured = MeasuredRepeats::of(run.repeats_of(index).collect());
    let not_measured = not_measured(run, index);
    let left_out = not_measured.as_ref().is_some_and(|one| one.is_left_out);
    let mut flows = match left_out {
        true => Vec::new(),
        false => flows(trial, &measured),
    };
    let mut cpu = cpu(&flows, &measured);
    processors::account(run, &measured, &mut cpu);
    judge_lateness(run, trial, &mut flows, &cpu, &measured);
    let headroom = headroom(&flows, &measured);
    let generator = verdict(&flows, &cpu);
    let judged = FigureSource {
        flows: &flows,
        measured: &measured,
        generator: &generator,
    };
    let (goals, published) = match trial {
        Some(trial) if !left_out => (judged.goals(trial), judged.published(trial)),
        _ => (Vec::new(), Vec::new()),
    };
    let mut summary = TrialSummary {
        index,
        scenario: trial.map_or_else(String::new, |trial| trial.scenario.clone()),
        question: trial.map_or_else(String::new, |trial| trial.question.clone()),
        asks: trial.and_then(|trial| trial.asks),
        against: trial.and_then(|trial| trial.against.clone()),
        name: trial.map(|trial| trial.name.clone()).unwrap_or_default(),
        factors: trial.map_or_else(Vec::new, |trial| factors(&trial.factors)),
        changes: trial.map_or_else(Vec::new, |trial| factors(&trial.changes)),
        topic: trial.map(|trial| TopicSummary {
            partitions: trial.topic.partitions,
            replication_factor: trial.topic.replication,
        }),
        repeats_planned: match trial {
            Some(_) if left_out => 0,
            Some(trial) => trial.repeats,
            None => count(&measured.attempts),
        },
        repeats_measured: count(&measured.repeats),
        repeats: repeats(&measured),
        cut_short: cut_short(run, index),
        not_measured: not_measured.map(|one| one.why),
        broker_shares: shares::shares(trial, &measured),
        counted: counted_on_brokers(trial, &measured),
        agents: agents::agents(&measured),
        has_faults: trial.is_some_and(|trial| !trial.faults.is_empty()),
        outages: outage::outages(run, trial, &measured),
        limit: None,
        warnings: Vec::new(),
        generator,
        headroom,
        flows,
        cpu,
        published,
        goals,
        expected_anomalies: expected_anomalies(trial),
    };
    summary.limit = limit::limit(run, trial, &summary, &measured);
    let health = health::warnings(run, trial, &measured);
    let is_outage = health
        .iter()
        .any(|one| one.kind() == WarningKind::BrokerOutage);
    let circumstances = Circumstances {
        is_partial: measured.partial,
        is_disturbed: is_outage || summary.has_faults,
    };
    summary.warnings = warnings::of_trial(trial, &summary, health, circumstances);
    summary
}

/// The anomalies of a known bug.
fn expected_anomalies(trial: Option<&Trial>) -> Vec<Anomaly> {
    let names = trial.iter().flat_map(|trial| &trial.finds);
    names.filter_map(|name| Anomaly::named(name)).collect()
}

/// Whose doing the lateness of each flow is.
fn judge_lateness(
    run: &RunRead,
    trial: Option<&Trial>,
    flows: &mut [FlowSummary],
    cpu: &CpuSummary,
    measured: &MeasuredRepeats<'_>,
) {
    let environment = run.environment.as_ref();
    for flow in flows {
        let repeats = measured.repeats.iter();
        let waits = repeats.filter_map(|one| client_hold(run, one.key, flow.index)?.waits);
        let waits: Vec<WaitShares> = waits.collect();
        let Some(lateness) = &mut flow.lateness else {
            continue;
        };
        let waits = WaitShares::mean(&waits);
        // A wait that lasts until the end of the recording has no record; only samples show it.
        lateness.waiting_time_part = lateness.waiting_time_part.max(waits.any);
        let grounds = LatenessEvidence {
            cpu,
            is_shared: environment.is_some_and(|one| one.target.same_machine == Some(true)),
            has_faults: trial.is_some_and(|trial| !trial.faults.is_empty()),
            has_outage: health::has_outage(run, measured),
            waited_for: waits.longest(),
        };
        lateness.blame = blame::cause(lateness, &grounds);
    }
}

fn count(repeats: &[&RepeatRead]) -> u32 {
    u32::try_from(repeats.len()).unwrap_or(u32::MAX)
}

fn factors(of: &[(String, String)]) -> Vec<Factor> {
    let factors = of.iter().map(|(path, value)| Factor {
        path: path.clone(),
        value: value.clone(),
    });
    factors.collect()
}

/// Why a trial has no figures, or not all.
struct NotMeasured {
    why: String,
    /// It was never meant to run on this target.
    is_left_out: bool,
}

fn not_measured(run: &RunRead, trial: u32) -> Option<NotMeasured> {
    let mut reasons = run.events.iter().filter_map(|event| {
        let (of, why) = event.kind.not_measured()?;
        (of == trial).then(|| NotMeasured {
            why: why.to_owned(),
            is_left_out: matches!(event.kind, EventKind::TrialLeftOut { .. }),
        })
    });
    reasons.next_back()
}

fn repeats(measured: &MeasuredRepeats<'_>) -> Vec<RepeatSummary> {
    let used = measured
        .repeats
        .iter()
        .map(|repeat| repeat.key)
        .collect::<BTreeSet<_>>();
    let summaries = measured.attempts.iter().map(|repeat| {
        let record = repeat.record.as_ref();
        RepeatSummary {
            repeat: repeat.key.repeat,
            started_unix_ms: record.map(|record| record.started_unix_ms),
            outcome: record.map(|record| record.outcome.clone()),
            measured: used.contains(&repeat.key),
            verification: record.and_then(|record| record.verification.clone()),
        }
    });
    summaries.collect()
}

/// The checks of a trial's repeats that were cut short.
fn cut_short(run: &RunRead, trial: u32) -> Vec<CutShortRecord> {
    let checks = run.cut_short.repeats.iter();
    checks
        .filter(|one| one.key.trial == trial)
        .cloned()
        .collect()
}

fn counted_on_brokers(
    trial: Option<&Trial>,
    measured: &MeasuredRepeats<'_>,
) -> Vec<CountedOnBroker> {
    let Some(trial) = trial else {
        return Vec::new();
    };
    let producers = trial.flows.iter().filter_map(FlowPlan::produces);
    let producers = producers.collect::<Vec<_>>();
    if producers.is_empty() {
        return Vec::new();
    }
    // A retry without idempotence may be written twice.
    let exact = producers.iter().all(|flow| flow.settings.idempotence);
    // Other clients don't tell what they sent twice.
    let is_blind = !exact && producers.iter().any(|flow| !flow.driver.is_kgauge());
    let acked_blindly = producers.iter().any(|flow| flow.settings.acks.wire() == 0);
    let repeats = measured.attempts.iter().map(|repeat| {
        let slices = repeat.flows.values().flat_map(|flow| flow.stages.values());
        let records = counted(slices);
        let topics = repeat.record.as_ref().map(|record| &record.topics);
        let on_broker = topics
            .filter(|topics| !topics.is_empty())
            .and_then(|topics| {
                let counts = topics.iter().map(|topic| topic.records_counted());
                counts.sum::<Option<u64>>()
            })
            // The end of a transaction takes an offset, and is no record.
            .map(|offsets| offsets.saturating_sub(records.transaction_markers));
        let twice = if exact { 0 } else { records.retried };
        let may_be_there = records
            .indeterminate
            .saturating_add(records.unresolved.max(0).unsigned_abs())
            // Who takes over from a coordinator, or from a leader, writes again what may be missing.
            .saturating_add(records.markers_doubted)
            .saturating_add(twice);
        let agents = repeat.record.iter().flat_map(|record| &record.agents);
        // Nobody knows what a lost agent sent after its last report.
        let has_lost = agents.clone().any(|agent| agent.lost.is_some());
        let most = records.acked.saturating_add(may_be_there);
        let agrees = on_broker.filter(|_| !acked_blindly).and_then(|on_broker| {
            let is_more = on_broker > records.acked;
            match (records.acked..=most).contains(&on_broker) {
                true => (!has_lost).then_some(true),
                false => (!is_more || !is_blind && !has_lost).then_some(false),
            }
        });
        let unseen = on_broker.map_or(0, |on_broker| most.saturating_sub(on_broker));
        let possibly_missing = match agrees {
            Some(true) => unseen.min(records.acked),
            Some(false) | None => 0,
        };
        CountedOnBroker {
            repeat: repeat.key.repeat,
            acked: records.acked,
            indeterminate: records.indeterminate,
            on_broker,
            agrees,
            possibly_missing,
        }
    });
    repeats.collect()
}
