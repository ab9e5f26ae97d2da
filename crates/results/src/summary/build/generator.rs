//! CPU per record, and the verdict on the generator.

use super::hold::{Hold, Measured};
use crate::folder::RepeatRead;
use crate::run::{Cpu, Environment};
use crate::slice::Kind;
use crate::stage::SECOND_NS;
use crate::statistics::Spread;
use crate::summary::generator::{
    BLOCKED_FACTOR, LATE_PART_MAX, SKIPPED_PART_MAX, STARVED_PART_MAX, THREAD_USE_LIMIT,
    THREAD_USE_NEAR,
};
use crate::summary::words;
use crate::summary::{CpuSummary, FlowSummary, GeneratorVerdict, GeneratorWord};

/// CPU over the hold stages, per record of all flows together.
pub(super) fn cpu(flows: &[FlowSummary], measured: &Measured<'_>) -> CpuSummary {
    let looks = measured.repeats.iter().filter_map(|repeat| {
        let cpu = repeat.record.as_ref()?.cpu?;
        let records = records_in_hold(flows, repeat);
        (cpu.span_ns > 0 && records > 0.0).then_some((cpu, records, hold_ns(flows, repeat)))
    });
    let looks = looks.collect::<Vec<_>>();
    let per_record = |used_ns: fn(&Cpu) -> Option<u64>| {
        let values = looks.iter().filter_map(|(cpu, records, hold_ns)| {
            // The look and the hold differ by moments; the load is even over both.
            let used_ns = used_ns(cpu)? as f64 * hold_ns / cpu.span_ns as f64;
            Some(used_ns / records)
        });
        Spread::of(&values.collect::<Vec<_>>())
    };
    let cores = |used_ns: fn(&Cpu) -> Option<u64>| {
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
    }
}

fn holds_of<'a>(
    flows: &'a [FlowSummary],
    repeat: &'a RepeatRead,
) -> impl Iterator<Item = (&'a FlowSummary, Hold<'a>)> {
    let holds = flows
        .iter()
        .map(|flow| (flow, Hold::of(repeat, flow.index)));
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
pub(super) fn verdict(
    flows: &[FlowSummary],
    cpu: &CpuSummary,
    measured: &Measured<'_>,
    environment: Option<&Environment>,
) -> GeneratorVerdict {
    let mut evidence = Vec::new();
    let busy = cpu_evidence(cpu, environment, &mut evidence);
    let starved = starved(flows, &mut evidence);
    let mut late = false;
    let mut skipped = false;
    for flow in flows {
        let Some(lateness) = &flow.lateness else {
            continue;
        };
        let blocked_part = blocked_part(flow, measured);
        evidence.push(format!(
            "{name}: {late} of the records were handed over more than {limit} late (p99 {p99}), \
             {skipped} were skipped; its buffers were full for {blocked} of the time.",
            name = flow.name,
            late = words::percent(lateness.late_part),
            limit = words::time(lateness.late_after_ns as f64),
            p99 = words::time(lateness.lag_ns_p99 as f64),
            skipped = words::percent(lateness.skipped_part),
            blocked = words::percent(blocked_part),
        ));
        // A full buffer is the target's doing (or the settings'), not the generator's.
        let excused = BLOCKED_FACTOR * blocked_part;
        late |= lateness.late_part > LATE_PART_MAX + excused;
        skipped |= lateness.skipped_part > SKIPPED_PART_MAX + excused;
    }
    let closed = flows.iter().any(|flow| flow.lateness.is_none());
    let word = match busy {
        _ if starved => GeneratorWord::Limited,
        Some(true) if closed || late || skipped => GeneratorWord::Limited,
        _ if late || skipped => GeneratorWord::Late,
        None => GeneratorWord::Unknown,
        Some(_) => GeneratorWord::Fine,
    };
    GeneratorVerdict { word, evidence }
}

/// Whether another client could have sent more than it was fed.
fn starved(flows: &[FlowSummary], evidence: &mut Vec<String>) -> bool {
    let mut starved = false;
    for flow in flows.iter().filter(|flow| flow.closed_loop) {
        let Some(driver) = &flow.driver else { continue };
        evidence.push(format!(
            "{}: {} waited for its records for {} of the time (limit {}).",
            flow.name,
            driver.client,
            words::percent(driver.starved_part),
            words::percent(STARVED_PART_MAX),
        ));
        starved |= driver.starved_part > STARVED_PART_MAX;
    }
    starved
}

/// Whether a load thread was at its limit; `None` when nobody looked.
fn cpu_evidence(
    cpu: &CpuSummary,
    environment: Option<&Environment>,
    evidence: &mut Vec<String>,
) -> Option<bool> {
    let Some(used) = cpu.generator_thread_use_max else {
        evidence.push("The generator's CPU was not measured.".to_owned());
        return None;
    };
    let nearness = if used >= THREAD_USE_LIMIT {
        ": it had nothing to spare"
    } else if used >= THREAD_USE_NEAR {
        ": little to spare"
    } else {
        ""
    };
    evidence.push(format!(
        "The busiest load thread used {} of a core (limit {}){nearness}.",
        words::percent(used),
        words::percent(THREAD_USE_LIMIT),
    ));
    if let Some(spun) = cpu.generator_spun_cores.filter(|cores| *cores >= 0.01) {
        evidence.push(format!(
            "Beside that, load threads spun for {} of a core until the exact moment of the next send.",
            words::percent(spun),
        ));
    }
    let machine = environment.and_then(|environment| environment.machine.cpu_count);
    if let (Some(generator), Some(target), Some(cpus)) =
        (cpu.generator_cores, cpu.target_cores, machine)
    {
        let full = if generator + target >= THREAD_USE_LIMIT * f64::from(cpus) {
            ": it was full, and each would do more on a machine of its own"
        } else {
            ""
        };
        evidence.push(format!(
            "On this machine of {} the generator used {} cores and the target {}{full}.",
            words::counted(u64::from(cpus), "core"),
            words::number(generator),
            words::number(target),
        ));
    }
    Some(used >= THREAD_USE_LIMIT)
}

/// For which part of the hold the flow's buffers were full, an average over its members.
fn blocked_part(flow: &FlowSummary, measured: &Measured<'_>) -> f64 {
    let holds = measured.holds(flow.index);
    let blocked = holds
        .iter()
        .map(|hold| hold.slice.times(Kind::BufferWait).sum_ns());
    let blocked_s = blocked.sum::<u128>() as f64 / SECOND_NS as f64;
    let seconds = holds.iter().map(Hold::seconds).sum::<f64>();
    let members = f64::from(flow.members.unwrap_or(1).max(1));
    if seconds > 0.0 {
        blocked_s / seconds / members
    } else {
        0.0
    }
}
