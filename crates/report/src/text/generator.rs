//! The generator: what the verdict on it rests on, its headroom, and whose doing late records are.

use kgauge_analyze::summary::generator::{STARVED_PART_MAX, THREAD_USE_LIMIT, THREAD_USE_NEAR};
use kgauge_analyze::summary::{
    ClientWait, CpuSummary, Headroom, Lateness, LatenessCause, TrialSummary,
};

use crate::format;

/// Other programs that are named.
const NAMED_MAX: usize = 3;

/// The numbers that the verdict on the generator rests on, a sentence each.
pub fn evidence(trial: &TrialSummary) -> Vec<String> {
    let mut sentences = cpu(&trial.cpu);
    let closed = trial.flows.iter().filter(|flow| flow.closed_loop);
    sentences.extend(closed.filter_map(|flow| {
        let driver = flow.driver.as_ref()?;
        Some(format!(
            "{}: {} waited for input for {} of the time (limit {}).",
            flow.name,
            driver.client,
            format::percent(driver.starved_part),
            format::percent(STARVED_PART_MAX),
        ))
    }));
    let late = trial.flows.iter();
    sentences.extend(late.filter_map(|flow| Some(lateness(&flow.name, flow.lateness.as_ref()?))));
    sentences.extend(trial.headroom.as_ref().map(headroom));
    sentences
}

fn cpu(cpu: &CpuSummary) -> Vec<String> {
    let Some(used) = cpu.generator_thread_use_max else {
        return vec!["Generator CPU was not measured.".to_owned()];
    };
    let nearness = if used >= THREAD_USE_LIMIT {
        ": no headroom"
    } else if used >= THREAD_USE_NEAR {
        ": little headroom"
    } else {
        ""
    };
    let mut sentences = vec![format!(
        "The busiest load thread used {} of a core (limit {}){nearness}.",
        format::percent(used),
        format::percent(THREAD_USE_LIMIT),
    )];
    // Smaller parts are not worth a sentence.
    let at_least = |part: Option<f64>, least: f64| {
        let part = part.filter(|part| *part >= least);
        part.map(format::percent)
    };
    if let Some(spun) = at_least(cpu.generator_spun_cores, 0.01) {
        sentences.push(format!(
            "Load threads also busy-waited for {spun} of a core to hit send times precisely."
        ));
    }
    if let Some(queued) = at_least(cpu.generator_queued_part, 0.001) {
        sentences.push(format!(
            "A load thread was runnable but waited for a CPU for {queued} of the time."
        ));
    }
    if let Some(queued) = at_least(cpu.target_queued_part, 0.01) {
        sentences.push(format!(
            "A broker thread was runnable but waited for a CPU for {queued} of the time."
        ));
    }
    if let Some(held) = at_least(cpu.generator_held_part, 0.01) {
        sentences.push(format!(
            "A cgroup CPU limit throttled kgauge in {held} of its periods."
        ));
    }
    sentences.extend(processors(cpu));
    sentences
}

/// Who used the machine's processors. The parts add up: unknown shares are listed as such.
pub(crate) fn processors(cpu: &CpuSummary) -> Option<String> {
    let processors = format::counted(cpu.processors?.into(), "processor");
    let mut parts = vec![format!(
        "the generator used {}",
        format::cores(cpu.generator_cores?)
    )];
    parts.push(match cpu.target_cores {
        Some(cores) => format!("the target {}", format::cores(cores)),
        None => "the target's share is unknown".to_owned(),
    });
    if let Some(others) = cpu.others_cores {
        let named = cpu.other_programs.iter().take(NAMED_MAX);
        let named: Vec<&str> = named.map(|program| program.name.as_str()).collect();
        let share = format::cores(others);
        let named = match named.as_slice() {
            // A share that shows as nothing needs no explanation.
            names if names.is_empty() || share == format::cores(0.0) => String::new(),
            names => format!(" (mostly {})", names.join(", ")),
        };
        parts.push(format!("other programs {share}{named}"));
    }
    if let Some(stolen) = cpu.stolen_cores {
        parts.push(format!("the hypervisor took {}", format::cores(stolen)));
    }
    if let Some(idle) = cpu.idle_cores {
        parts.push(format!("{} were idle", format::cores(idle)));
    }
    let parts = parts.join(", ");
    Some(format!("Of this machine's {processors}: {parts}."))
}

fn lateness(name: &str, lateness: &Lateness) -> String {
    let mut text = format!(
        "{name}: {late} of the records were sent more than {limit} late (p99 {p99}), {skipped} \
         were skipped",
        late = format::percent(lateness.late_part),
        limit = format::nanoseconds(lateness.late_after_ns as f64),
        p99 = format::nanoseconds(lateness.lag_ns_p99 as f64),
        skipped = format::percent(lateness.skipped_part),
    );
    if lateness.late_part > 0.0
        && let Some(waited) = lateness.late_waiting_part
    {
        let had_space = format::percent((lateness.late_part - waited).max(0.0));
        let waited = format::percent(waited);
        text.push_str(&format!(
            "; {waited} were late because the client buffer was full, {had_space} although it had \
             space"
        ));
    }
    let waiting = format::percent(lateness.waiting_time_part);
    text + &format!("; client buffers were full for {waiting} of the time.")
}

/// How much of what the machine can generate was used.
pub(crate) fn headroom(headroom: &Headroom) -> String {
    let flows = headroom.flows.iter().map(|flow| {
        format!(
            "{} {} of {} records/s",
            flow.flow,
            format::figure(flow.records_per_s),
            format::figure(flow.ceiling_records_per_s)
        )
    });
    let spare = match headroom.is_little() {
        true => ", little headroom",
        false => "",
    };
    let used = format::percent(headroom.used_part);
    // Other load can slow the short measurement down.
    let exceeded = match headroom.used_part > 1.0 {
        true => "; the short measurement of the capacity found less than the run needed",
        false => "",
    };
    format!(
        "The generator used {used} of its capacity on this machine{spare}: {} ({}, writing to a null \
         sink{exceeded}).",
        flows.collect::<Vec<_>>().join(", "),
        format::counted(headroom.threads.into(), "load thread"),
    )
}

/// A delay in a flow's times that is not the target's: in two words, and as a clause. `None` if it is the target's.
pub(crate) fn late(cause: LatenessCause) -> Option<(&'static str, &'static str)> {
    match cause {
        LatenessCause::OtherPrograms { .. } => Some((
            "busy machine",
            ", including delay from other load on this host",
        )),
        LatenessCause::Hypervisor { .. } => Some((
            "hypervisor",
            ", including the load generator's wait for the hypervisor",
        )),
        LatenessCause::SharedProcessors => Some((
            "shared CPUs",
            ", including the load generator's wait for CPU",
        )),
        LatenessCause::Generator { .. } => {
            Some(("late generator", ", including generator lateness"))
        }
        LatenessCause::Unknown => Some(("sent late", ", including lateness before the send")),
        LatenessCause::None | LatenessCause::Target { .. } | LatenessCause::Fault => None,
    }
}

/// Who or what made records late, as the subject of a sentence.
pub(crate) fn subject(cause: LatenessCause) -> &'static str {
    match cause {
        LatenessCause::None => "nothing",
        LatenessCause::Generator { is_busy: true } => "the generator, which had no CPU headroom",
        LatenessCause::Generator { is_busy: false } => "the generator",
        LatenessCause::Target { waited_for } => match waited_for {
            ClientWait::Buffer => "the target: the client's buffer was full",
            ClientWait::Connection => "the target: no broker connection",
            ClientWait::Leader => "the target: a partition had no leader",
            ClientWait::Response => "the target: the client waited for responses",
            ClientWait::Throttle => "a quota: brokers throttled the client",
        },
        LatenessCause::OtherPrograms { .. } => "other load on this host, which took CPU",
        LatenessCause::Hypervisor { .. } => "the hypervisor, which kept CPU from this machine",
        LatenessCause::SharedProcessors => "the CPUs that load generator and target share",
        LatenessCause::Fault => "the injected faults",
        LatenessCause::Unknown => "unknown",
    }
}
