//! Clients beside kgauge's engine: what each took, and the factor between them.

use kgauge_scenario::{Driver, FlowPlan, Plan, ProduceFlow, Shape, Trial};

use super::hold::{FlowHold, MeasuredRepeats};
use crate::statistics::Spread;
use crate::summary::{
    DriverComparison, DriverRow, DriverSummary, Factor, FlowKind, FlowSummary, TrialSummary,
};
use kgauge_results::folder::RepeatRead;
use kgauge_results::histogram::Quantile;
use kgauge_results::run::DriverRecord;
use kgauge_results::slice::TimeKind;
use kgauge_results::stage::Stage;

/// The other client that sent a flow, over all its repeats.
pub(super) fn driver(index: u16, measured: &MeasuredRepeats<'_>) -> Option<DriverSummary> {
    let record = |repeat: &'_ RepeatRead| -> Option<(DriverRecord, f64)> {
        let record = repeat.record.as_ref()?;
        let flow = record.flows.get(usize::from(index))?;
        // In the drain nobody is fed.
        let fed = flow.stages.iter().filter(|span| span.stage != Stage::Drain);
        let length_ns = fed.map(|span| span.length_ns()).sum::<u64>();
        Some((flow.driver.clone()?, length_ns as f64))
    };
    let all: Vec<(DriverRecord, f64)> = measured
        .repeats
        .iter()
        .filter_map(|repeat| record(repeat))
        .collect();
    let client = all.first()?.0.client.clone();
    let costs = measured.repeats.iter().filter_map(|repeat| {
        let cpu_ns = record(repeat)?.0.cpu_ns?;
        let records = FlowHold::of(repeat, index)?.records(FlowKind::Produce);
        (records > 0).then(|| cpu_ns as f64 / records as f64)
    });
    let whole_ns: f64 = all
        .iter()
        .map(|(driver, length_ns)| length_ns * f64::from(driver.processes))
        .sum();
    let starved_ns: f64 = all.iter().map(|(driver, _)| driver.starved_ns as f64).sum();
    Some(DriverSummary {
        client,
        ns_per_record: Spread::of(&costs.collect::<Vec<_>>()),
        starved_part: if whole_ns > 0.0 {
            starved_ns / whole_ns
        } else {
            0.0
        },
    })
}

/// A flow of a trial, as planned and as measured.
struct DrivenFlow<'a> {
    trial: &'a Trial,
    flow: &'a ProduceFlow,
    measured: &'a TrialSummary,
    summary: &'a FlowSummary,
}

/// Flows that several clients sent under the same conditions.
pub(super) fn comparisons(plan: Option<&Plan>, measured: &[TrialSummary]) -> Vec<DriverComparison> {
    let mut groups: Vec<Vec<DrivenFlow<'_>>> = Vec::new();
    for trial in plan.iter().flat_map(|plan| &plan.trials) {
        let found = measured.iter().find(|one| one.index == trial.index);
        let Some(measured) = found.filter(|one| one.repeats_measured > 0) else {
            continue;
        };
        for (plan, summary) in trial.flows.iter().zip(&measured.flows) {
            let FlowPlan::Produce(flow) = plan else {
                continue;
            };
            let sent = DrivenFlow {
                trial,
                flow,
                measured,
                summary,
            };
            match groups.iter_mut().find(|group| is_same(&group[0], &sent)) {
                Some(group) => group.push(sent),
                None => groups.push(vec![sent]),
            }
        }
    }
    groups.retain(|group| {
        let first = &group[0].flow.driver;
        group.iter().any(|sent| sent.flow.driver != *first)
    });
    groups.iter().map(|group| comparison(group)).collect()
}

/// The factors of a trial but for the flow's driver.
fn other_factors<'a>(sent: &DrivenFlow<'a>) -> Vec<&'a (String, String)> {
    let path = format!("{}.driver", sent.flow.name);
    let of_driver = |known: &str| known == path || known.starts_with(&format!("{path}."));
    let factors = sent.trial.factors.iter();
    factors.filter(|(known, _)| !of_driver(known)).collect()
}

fn is_same(one: &DrivenFlow<'_>, other: &DrivenFlow<'_>) -> bool {
    one.trial.scenario == other.trial.scenario
        && one.flow.name == other.flow.name
        && other_factors(one) == other_factors(other)
}

fn comparison(group: &[DrivenFlow<'_>]) -> DriverComparison {
    let mut rows: Vec<DriverRow> = group.iter().map(row).collect();
    let kgauge = rows
        .iter()
        .find(|row| row.driver == Driver::Kgauge.to_string())
        .cloned();
    let first = &group[0];
    let closed_loop = first.flow.shape == Shape::Max;
    if let Some(kgauge) = &kgauge {
        let ratio = |own: Option<f64>, theirs: Option<f64>| {
            let (own, theirs) = (own?, theirs?);
            (theirs > 0.0).then(|| own / theirs)
        };
        let ns = |value: Option<u64>| value.map(|ns| ns as f64);
        for row in rows.iter_mut().filter(|row| row.driver != kgauge.driver) {
            row.rate_factor = ratio(row.records_per_s, kgauge.records_per_s);
            row.p99_factor = ratio(ns(row.p99_ns), ns(kgauge.p99_ns));
            row.cpu_factor = ratio(row.cpu_ns_per_record, kgauge.cpu_ns_per_record);
        }
    }
    DriverComparison {
        scenario: first.trial.scenario.clone(),
        flow: first.flow.name.clone(),
        factors: other_factors(first)
            .into_iter()
            .map(|(path, value)| Factor {
                path: path.clone(),
                value: value.clone(),
            })
            .collect(),
        closed_loop,
        rows,
    }
}

fn row(sent: &DrivenFlow<'_>) -> DriverRow {
    let mean = |spread: Option<&Spread>| spread.map(|spread| spread.mean);
    let response = sent.summary.latencies.get(TimeKind::Response);
    let p99 = response.and_then(|response| response.percentile(Quantile::P99));
    let driver = sent.summary.driver.as_ref();
    let is_alone = sent.trial.flows.len() == 1;
    let cpu = &sent.measured.cpu;
    let own = mean(cpu.generator_process_ns_per_record.as_ref()).filter(|_| is_alone);
    let throughput = sent.summary.throughput.as_ref();
    DriverRow {
        driver: sent.flow.driver.to_string(),
        client: driver.map(|driver| driver.client.clone()),
        trial: sent.trial.index,
        records_per_s: throughput.map(|throughput| throughput.records_per_s.mean),
        p99_ns: p99.map(|percentile| percentile.value_ns),
        cpu_ns_per_record: match sent.flow.driver.is_kgauge() {
            true => own,
            false => driver.and_then(|driver| mean(driver.ns_per_record.as_ref())),
        },
        rate_factor: None,
        p99_factor: None,
        cpu_factor: None,
    }
}
