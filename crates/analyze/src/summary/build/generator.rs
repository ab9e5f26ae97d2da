//! CPU per record, and the verdict on the generator.

use super::hold::{FlowHold, MeasuredRepeats};
use crate::statistics::Spread;
use crate::summary::generator::{LATE_PART_MAX, STARVED_PART_MAX, THREAD_USE_LIMIT};
use crate::summary::{CpuSummary, FlowSummary, GeneratorState, GeneratorVerdict, LatenessCause};
use kgauge_results::folder::RepeatRead;
use kgauge_results::run::CpuRecord;

/// CPU over the hold stages, per record of all flows together.
pub(super) fn cpu(flows: &[FlowSummary], measured: &MeasuredRepeats<'_>) -> CpuSummary {
    let looks = measured.repeats.iter().filter_map(|repeat| {
        let cpu = repeat.record.as_ref()?.cpu?;
        let records = records_in_hold(flows, repeat);
        (cpu.span_ns > 0 && records > 0.0).then_some((cpu, records, hold_ns(flows, repeat)))
    });
    let looks = looks.collect::<Vec<_>>();
    let per_record = |used_ns: fn(&CpuRecord) -> Option<u64>| {
        let values = looks.iter().filter_map(|(cpu, records, hold_ns)| {
            // The look and the hold differ by moments; the load is even over both.
            let used_ns = used_ns(cpu)? as f64 * hold_ns / cpu.span_ns as f64;
            Some(used_ns / records)
        });
        Spread::of(&values.collect::<Vec<_>>())
    };
    let cores = |used_ns: fn(&CpuRecord) -> Option<u64>| {
        let used = looks.iter().map(|(cpu, ..)| used_ns(cpu));
        let used = used.sum::<Option<u64>>()? as f64;
        let span = looks
            .iter()
            .map(|(cpu, ..)| cpu.span_ns as f64)
            .sum::<f64>();
        (span > 0.0).then(|| used / span)
    };
    let uses = looks
        .iter()
        .filter(|(cpu, ..)| cpu.generator_threads > 0)
        .map(|(cpu, ..)| cpu.generator_thread_ns_max as f64 / cpu.span_ns as f64);
    CpuSummary {
        generator_threads_ns_per_record: per_record(|cpu| {
            (cpu.generator_threads > 0).then_some(cpu.generator_threads_ns)
        }),
        generator_process_ns_per_record: per_record(|cpu| {
            let spun_ns = cpu.generator_spun_ns.unwrap_or(0);
            Some(cpu.generator_process_ns?.saturating_sub(spun_ns))
        }),
        feeding_ns_per_record: per_record(|cpu| cpu.feeding_ns),
        target_ns_per_record: per_record(|cpu| cpu.target_process_ns),
        generator_thread_use_max: uses.fold(None, |max: Option<f64>, used| {
            Some(max.map_or(used, |max| max.max(used)))
        }),
        generator_cores: cores(|cpu| cpu.generator_process_ns),
        generator_spun_cores: cores(|cpu| cpu.generator_spun_ns),
        target_cores: cores(|cpu| cpu.target_process_ns),
        feeding_cores: cores(|cpu| cpu.feeding_ns),
        ..CpuSummary::default()
    }
}

fn holds_of<'a>(
    flows: &'a [FlowSummary],
    repeat: &'a RepeatRead,
) -> impl Iterator<Item = (&'a FlowSummary, FlowHold<'a>)> {
    let holds = flows
        .iter()
        .map(|flow| (flow, FlowHold::of(repeat, flow.index)));
    holds.filter_map(|(flow, hold)| Some((flow, hold?)))
}

fn records_in_hold(flows: &[FlowSummary], repeat: &RepeatRead) -> f64 {
    let records = holds_of(flows, repeat).map(|(flow, hold)| hold.records(flow.kind));
    records.map(|records| records as f64).sum()
}

fn hold_ns(flows: &[FlowSummary], repeat: &RepeatRead) -> f64 {
    let lengths = holds_of(flows, repeat).map(|(_, hold)| hold.length_ns);
    lengths.max().unwrap_or_default() as f64
}

/// Limited beats late: a generator at its limit is late for that reason.
pub(super) fn verdict(flows: &[FlowSummary], cpu: &CpuSummary) -> GeneratorVerdict {
    let busy = cpu
        .generator_thread_use_max
        .map(|used| used >= THREAD_USE_LIMIT);
    let starved = flows.iter().filter(|flow| flow.closed_loop).any(|flow| {
        let driver = flow.driver.as_ref();
        driver.is_some_and(|driver| driver.starved_part > STARVED_PART_MAX)
    });
    let mut blame = LatenessCause::None;
    let mut worst = 0.0;
    for flow in flows {
        let Some(lateness) = &flow.lateness else {
            continue;
        };
        // Of several flows the one that bears most on the generator, then the one that is latest.
        let weight = match lateness.blame {
            LatenessCause::None => 0.0,
            cause if cause.is_in_latencies() => 2.0 + lateness.late_part,
            _ => 1.0 + lateness.late_part,
        };
        if weight > worst {
            (worst, blame) = (weight, lateness.blame);
        }
    }
    let closed = flows.iter().any(|flow| flow.lateness.is_none());
    let word = match (busy, blame) {
        _ if starved => GeneratorState::Limited,
        (Some(true), LatenessCause::Generator { .. }) => GeneratorState::Limited,
        (Some(true), _) if closed => GeneratorState::Limited,
        (_, LatenessCause::Generator { .. }) => GeneratorState::Late,
        (
            _,
            LatenessCause::OtherPrograms { .. }
            | LatenessCause::Hypervisor { .. }
            | LatenessCause::SharedProcessors,
        ) => match flows.iter().any(had_room) {
            true => GeneratorState::Crowded,
            false => GeneratorState::Fine,
        },
        (None, _) | (_, LatenessCause::Unknown) => GeneratorState::Unknown,
        (Some(_), LatenessCause::None | LatenessCause::Target { .. } | LatenessCause::Fault) => {
            GeneratorState::Fine
        }
    };
    GeneratorVerdict { word, blame }
}

/// Whether so many records were late although the buffer had space that the latencies include it.
fn had_room(flow: &FlowSummary) -> bool {
    let Some(lateness) = &flow.lateness else {
        return false;
    };
    let waited = lateness.late_waiting_part.unwrap_or(0.0);
    lateness.blame.is_in_latencies() && lateness.late_part - waited > LATE_PART_MAX
}
