//! CPU per record, and the verdict on the generator.

use super::hold::{FlowHold, MeasuredRepeats};
use crate::statistics::Spread;
use crate::summary::generator::{
    LATE_PART_MAX, STARVED_PART_MAX, THREAD_USE_LIMIT, THREAD_USE_NEAR,
};
use crate::summary::words;
use crate::summary::{
    CpuSummary, FlowSummary, GeneratorState, GeneratorVerdict, Lateness, LatenessCause,
};
use kgauge_results::folder::RepeatRead;
use kgauge_results::run::CpuRecord;

/// Other programs that a sentence names.
const NAMED_MAX: usize = 3;

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
pub(super) fn verdict(
    flows: &[FlowSummary],
    cpu: &CpuSummary,
    processors: Option<u32>,
) -> GeneratorVerdict {
    let mut evidence = Vec::new();
    let busy = cpu_evidence(cpu, processors, &mut evidence);
    let starved = starved(flows, &mut evidence);
    let mut blame = LatenessCause::None;
    let mut worst = 0.0;
    for flow in flows {
        let Some(lateness) = &flow.lateness else {
            continue;
        };
        evidence.push(lateness_words(&flow.name, lateness));
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
        (_, LatenessCause::OtherPrograms { .. } | LatenessCause::SharedProcessors) => {
            match flows.iter().any(had_room) {
                true => GeneratorState::Crowded,
                false => GeneratorState::Fine,
            }
        }
        (None, _) | (_, LatenessCause::Unknown) => GeneratorState::Unknown,
        (Some(_), LatenessCause::None | LatenessCause::Target { .. } | LatenessCause::Fault) => {
            GeneratorState::Fine
        }
    };
    GeneratorVerdict {
        word,
        blame,
        evidence,
    }
}

/// Whether so many records of a flow were late for which there was room that its latencies contain it.
fn had_room(flow: &FlowSummary) -> bool {
    let Some(lateness) = &flow.lateness else {
        return false;
    };
    let waited = lateness.late_waiting_part.unwrap_or(0.0);
    lateness.blame.is_in_latencies() && lateness.late_part - waited > LATE_PART_MAX
}

fn lateness_words(name: &str, lateness: &Lateness) -> String {
    let mut words = format!(
        "{name}: {late} of the records were sent more than {limit} late (p99 {p99}), {skipped} \
         were skipped",
        late = words::percent(lateness.late_part),
        limit = words::time(lateness.late_after_ns as f64),
        p99 = words::time(lateness.lag_ns_p99 as f64),
        skipped = words::percent(lateness.skipped_part),
    );
    if lateness.late_part > 0.0
        && let Some(waited) = lateness.late_waiting_part
    {
        let had_room = words::percent((lateness.late_part - waited).max(0.0));
        let waited = words::percent(waited);
        words.push_str(&format!(
            "; {waited} were late because the client buffer was full, {had_room} although it had \
             room"
        ));
    }
    let waiting = words::percent(lateness.waiting_time_part);
    words.push_str(&format!(
        "; client buffers were full for {waiting} of the time."
    ));
    words
}

/// Whether another client could have sent more than it was fed.
fn starved(flows: &[FlowSummary], evidence: &mut Vec<String>) -> bool {
    let mut starved = false;
    for flow in flows.iter().filter(|flow| flow.closed_loop) {
        let Some(driver) = &flow.driver else { continue };
        evidence.push(format!(
            "{}: {} waited for input for {} of the time (limit {}).",
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
    processors: Option<u32>,
    evidence: &mut Vec<String>,
) -> Option<bool> {
    let Some(used) = cpu.generator_thread_use_max else {
        evidence.push("Generator CPU was not measured.".to_owned());
        return None;
    };
    let nearness = if used >= THREAD_USE_LIMIT {
        ": no headroom"
    } else if used >= THREAD_USE_NEAR {
        ": little headroom"
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
            "Load threads also busy-waited for {} of a core to hit send times precisely.",
            words::percent(spun),
        ));
    }
    if let Some(queued) = cpu.generator_queued_part.filter(|part| *part >= 0.001) {
        evidence.push(format!(
            "A load thread was runnable but waited for a CPU for {} of the time.",
            words::percent(queued),
        ));
    }
    if let Some(queued) = cpu.target_queued_part.filter(|part| *part >= 0.01) {
        evidence.push(format!(
            "A broker thread was runnable but waited for a CPU for {} of the time.",
            words::percent(queued),
        ));
    }
    if let Some(held) = cpu.generator_held_part.filter(|part| *part >= 0.01) {
        evidence.push(format!(
            "A cgroup CPU limit throttled kgauge in {} of its periods.",
            words::percent(held),
        ));
    }
    evidence.extend(processors.and_then(|processors| processors_words(cpu, processors)));
    Some(used >= THREAD_USE_LIMIT)
}

/// Who used the machine's processors. Nothing of them is left unexplained: what is not known is said.
pub(super) fn processors_words(cpu: &CpuSummary, processors: u32) -> Option<String> {
    let generator = cpu.generator_cores?;
    let mut parts = vec![format!("the generator used {}", words::number(generator))];
    let target = cpu.target_cores.map(words::number);
    parts.push(match &target {
        Some(cores) => format!("the target {cores}"),
        None => "the target's share is unknown".to_owned(),
    });
    if let Some(others) = cpu.others_cores {
        let named: Vec<&str> = cpu
            .other_programs
            .iter()
            .take(NAMED_MAX)
            .map(|program| program.name.as_str())
            .collect();
        let named = match named.as_slice() {
            [] => String::new(),
            names => format!(" (mostly {})", names.join(", ")),
        };
        parts.push(format!("other programs {}{named}", words::number(others)));
    }
    if let Some(stolen) = cpu.stolen_cores {
        parts.push(format!("the hypervisor took {}", words::number(stolen)));
    }
    if let Some(idle) = cpu.idle_cores {
        parts.push(format!("{} were idle", words::number(idle)));
    }
    Some(format!(
        "Of this machine's {}: {}.",
        words::counted(u64::from(processors), "processor"),
        parts.join(", "),
    ))
}
