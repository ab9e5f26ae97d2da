//! The judgement on lateness: whose doing it is that records were sent late.
//!
//! A record is late when it is handed over more than a millisecond after its time. Either the client had no room for
//! it: then it waited for the target. Or it had room: then the generator did not send, for reasons of its own or
//! because it got no processor. docs/guide/report.md has the rules, with their numbers.

use crate::summary::generator::{
    BLOCKED_FACTOR, LATE_PART_MAX, Lateness, OTHERS_PART, SKIPPED_PART_MAX, THREAD_USE_LIMIT,
};
use crate::summary::{ClientWait, CpuSummary, LatenessCause};

/// Waits for a processor explain late records from this share of the time in which records were late.
const QUEUED_PER_LATE: f64 = 0.5;
/// A machine with less idle than this may have kept a thread waiting; where the kernel counts such waits, they decide.
const IDLE_PART: f64 = 0.10;
/// A machine with less idle than this had nothing to spare.
const FULL_PART: f64 = 0.05;
/// A broker thread that waited for a processor for this share of the time was slowed down.
const QUEUED_PART: f64 = 0.10;
/// A control group that throttled kgauge in this share of its periods explains late records.
const HELD_PART: f64 = 0.10;
/// A hypervisor that takes this share of the machine's CPU explains late records.
const STOLEN_PART: f64 = 0.05;
/// On a machine with little to do, so does one that takes this share of the CPU time that was wanted.
const STOLEN_OF_DEMAND: f64 = 0.20;

/// What the judgement on one flow rests on beside its lateness.
#[derive(Clone, Copy, Debug)]
pub(super) struct LatenessEvidence<'a> {
    /// CPU of the trial.
    pub(super) cpu: &'a CpuSummary,
    /// Whether the target shares them.
    pub(super) is_shared: bool,
    /// Whether the scenario broke the target meanwhile.
    pub(super) has_faults: bool,
    /// Whether a broker did not answer for a while.
    pub(super) has_outage: bool,
    /// What the flow's clients waited for; `None` without samples.
    pub(super) waited_for: Option<ClientWait>,
}

/// Whose doing a flow's lateness is.
pub(super) fn cause(lateness: &Lateness, grounds: &LatenessEvidence<'_>) -> LatenessCause {
    let (own, waited) = parts(lateness);
    let (own_skipped, waited_skipped) = skipped_parts(lateness);
    let is_own = own > LATE_PART_MAX || own_skipped > SKIPPED_PART_MAX;
    let is_waited = waited > LATE_PART_MAX || waited_skipped > SKIPPED_PART_MAX;
    match (is_own, is_waited) {
        (false, false) => LatenessCause::None,
        (true, true) if own + own_skipped <= waited + waited_skipped => grounds.of_wait(),
        (true, _) => grounds.of_own(own + own_skipped),
        (false, true) => grounds.of_wait(),
    }
}

/// Late records as parts of those sent: those for which there was room, and those that waited for it.
fn parts(lateness: &Lateness) -> (f64, f64) {
    let late = lateness.late_part;
    match lateness.late_waiting_part {
        Some(waited) => (late - waited, waited),
        None => excused(late, lateness.waiting_time_part),
    }
}

fn skipped_parts(lateness: &Lateness) -> (f64, f64) {
    let skipped = lateness.skipped_part;
    match lateness.skipped_waiting_part {
        Some(waited) => (skipped - waited, waited),
        None => excused(skipped, lateness.waiting_time_part),
    }
}

/// Splits a share where the waiting records were not counted separately: (own, explained by a full buffer).
fn excused(part: f64, waiting_time_part: f64) -> (f64, f64) {
    let waited = part.min(BLOCKED_FACTOR * waiting_time_part);
    (part - waited, waited)
}

impl LatenessEvidence<'_> {
    /// The client had no room.
    fn of_wait(&self) -> LatenessCause {
        if self.has_faults {
            return LatenessCause::Fault;
        }
        let waited_for = self.waited_for.unwrap_or(ClientWait::Buffer);
        let is_reachable = match waited_for {
            ClientWait::Buffer | ClientWait::Response => true,
            ClientWait::Connection | ClientWait::Leader | ClientWait::Throttle => false,
        };
        // The target shares the machine: it may be slow because others had the processors.
        let is_starved = is_reachable && !self.has_outage && self.is_target_starved();
        match crowd(self.cpu).filter(|_| is_starved) {
            Some(Crowd::Programs { cores }) => LatenessCause::OtherPrograms { cores },
            Some(Crowd::Hypervisor { cores }) => LatenessCause::Hypervisor { cores },
            None => LatenessCause::Target { waited_for },
        }
    }

    /// This share of the records was late although the buffer had space.
    fn of_own(&self, late_part: f64) -> LatenessCause {
        let used = self.cpu.generator_thread_use_max;
        let is_busy = used.is_some_and(|used| used >= THREAD_USE_LIMIT);
        let has_waited = match self.cpu.generator_queued_part {
            Some(queued) => queued >= QUEUED_PER_LATE * late_part,
            None => self.idle_below(IDLE_PART),
        };
        match (crowd(self.cpu), self.stolen(has_waited)) {
            // Time that a control group takes away looks like a wait for a processor.
            _ if is_busy || self.is_held() => LatenessCause::Generator { is_busy },
            (Some(Crowd::Programs { cores }), _) if has_waited => {
                LatenessCause::OtherPrograms { cores }
            }
            (_, Some(cores)) => LatenessCause::Hypervisor { cores },
            _ if has_waited && self.is_shared => LatenessCause::SharedProcessors,
            _ if used.is_none() => LatenessCause::Unknown,
            _ => LatenessCause::Generator { is_busy },
        }
    }

    /// How many cores the hypervisor took, where that explains late records.
    fn stolen(&self, has_waited: bool) -> Option<f64> {
        let processors = f64::from(self.cpu.processors.unwrap_or(1));
        let cores = self.cpu.stolen_cores?;
        // What was not idle either ran or was kept from running.
        let demand = self.cpu.idle_cores.map(|idle| processors - idle);
        let is_much = cores >= STOLEN_PART * processors;
        let is_much_of_demand =
            has_waited && demand.is_some_and(|demand| cores >= STOLEN_OF_DEMAND * demand);
        (is_much || is_much_of_demand).then_some(cores)
    }

    /// Whether a control group took time from the generator.
    fn is_held(&self) -> bool {
        self.cpu
            .generator_held_part
            .is_some_and(|part| part >= HELD_PART)
    }

    /// Whether the target shares the machine, and was kept from its processors.
    fn is_target_starved(&self) -> bool {
        self.is_shared && is_full(self.cpu) && is_kept_waiting(self.cpu)
    }

    fn idle_below(&self, part: f64) -> bool {
        idle_below(self.cpu, part)
    }
}

/// Whether the machine had nothing to spare.
pub(super) fn is_full(cpu: &CpuSummary) -> bool {
    idle_below(cpu, FULL_PART)
}

fn idle_below(cpu: &CpuSummary, part: f64) -> bool {
    let idle = cpu.idle_cores.zip(cpu.processors);
    idle.is_some_and(|(idle, processors)| idle <= part * f64::from(processors))
}

/// Whether a thread of generator or target was ready to run and had no processor for long; assumed where nobody
/// counted.
pub(super) fn is_kept_waiting(cpu: &CpuSummary) -> bool {
    let waits = [cpu.target_queued_part, cpu.generator_queued_part];
    let longest = waits.into_iter().flatten().max_by(f64::total_cmp);
    cpu.target_queued_part.is_none() || longest.is_some_and(|part| part >= QUEUED_PART)
}

/// Who besides generator and target had a fifth of the machine or more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Crowd {
    Programs { cores: f64 },
    Hypervisor { cores: f64 },
}

/// Whichever of other programs and the hypervisor had more of the machine, where that is a fifth or more.
pub(super) fn crowd(cpu: &CpuSummary) -> Option<Crowd> {
    let enough = OTHERS_PART * f64::from(cpu.processors?);
    let programs = cpu.others_cores.unwrap_or(0.0);
    let stolen = cpu.stolen_cores.unwrap_or(0.0);
    let (crowd, cores) = match programs >= stolen {
        true => (Crowd::Programs { cores: programs }, programs),
        false => (Crowd::Hypervisor { cores: stolen }, stolen),
    };
    (cores >= enough).then_some(crowd)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow with 10 % late records, of which this share waited for space.
    fn lateness(waited: f64) -> Lateness {
        Lateness {
            lag_ns_p50: 1_000,
            lag_ns_p99: 5_000_000,
            lag_ns_max: 9_000_000,
            late: 100,
            late_after_ns: 1_000_000,
            late_part: 0.10,
            skipped_part: 0.0,
            late_waiting_part: Some(waited),
            skipped_waiting_part: Some(0.0),
            waiting_time_part: 0.0,
            blame: LatenessCause::Unknown,
        }
    }

    /// Two processors with one idle.
    fn cpu() -> CpuSummary {
        CpuSummary {
            processors: Some(2),
            generator_thread_use_max: Some(0.2),
            generator_cores: Some(0.3),
            target_cores: Some(0.6),
            others_cores: Some(0.1),
            idle_cores: Some(1.0),
            generator_queued_part: Some(0.0),
            ..CpuSummary::default()
        }
    }

    fn judged(
        lateness: &Lateness,
        cpu: &CpuSummary,
        waited_for: Option<ClientWait>,
    ) -> LatenessCause {
        let grounds = LatenessEvidence {
            cpu,
            is_shared: true,
            has_faults: false,
            has_outage: false,
            waited_for,
        };
        cause(lateness, &grounds)
    }

    const OWN: LatenessCause = LatenessCause::Generator { is_busy: false };

    #[test]
    fn records_that_waited_for_room_are_the_targets_doing() {
        let waits = [
            ClientWait::Buffer,
            ClientWait::Connection,
            ClientWait::Leader,
            ClientWait::Response,
            ClientWait::Throttle,
        ];
        for waited_for in waits {
            let found = judged(&lateness(0.10), &cpu(), Some(waited_for));
            assert_eq!(found, LatenessCause::Target { waited_for });
        }
        let found = judged(&lateness(0.10), &cpu(), None);
        let waited_for = ClientWait::Buffer;
        assert_eq!(found, LatenessCause::Target { waited_for });
    }

    #[test]
    fn the_generator_is_late_only_where_there_was_room() {
        assert_eq!(judged(&lateness(0.0), &cpu(), None), OWN);
        // 0.9 % that had room do not reach the 99th percentile.
        let waited_for = ClientWait::Response;
        assert_eq!(
            judged(&lateness(0.091), &cpu(), Some(waited_for)),
            LatenessCause::Target { waited_for }
        );
        // Both: the larger part.
        assert_eq!(judged(&lateness(0.04), &cpu(), Some(waited_for)), OWN);
        let mut few = lateness(0.0);
        few.late_part = 0.01;
        assert_eq!(judged(&few, &cpu(), None), LatenessCause::None);
    }

    #[test]
    fn a_thread_that_waited_for_a_processor_was_kept_by_whoever_had_it() {
        let mut crowded = cpu();
        crowded.generator_queued_part = Some(0.05);
        (crowded.others_cores, crowded.idle_cores) = (Some(1.0), Some(0.1));
        let by_others = LatenessCause::OtherPrograms { cores: 1.0 };
        assert_eq!(judged(&lateness(0.0), &crowded, None), by_others);
        // Without others it was the target, on the processors that both share.
        crowded.others_cores = Some(0.1);
        let found = judged(&lateness(0.0), &crowded, None);
        assert_eq!(found, LatenessCause::SharedProcessors);
        // Others that were there and did not keep it from a processor explain nothing.
        crowded.others_cores = Some(1.0);
        crowded.generator_queued_part = Some(0.001);
        assert_eq!(judged(&lateness(0.0), &crowded, None), OWN);
        // Where waits are not counted, a full machine decides.
        crowded.generator_queued_part = None;
        assert_eq!(judged(&lateness(0.0), &crowded, None), by_others);
        crowded.idle_cores = Some(0.5);
        assert_eq!(judged(&lateness(0.0), &crowded, None), OWN);
    }

    #[test]
    fn a_thread_without_time_to_spare_is_the_generators_own_whatever_else_runs() {
        let mut busy = cpu();
        busy.generator_thread_use_max = Some(0.96);
        busy.generator_queued_part = Some(0.3);
        busy.others_cores = Some(1.0);
        let found = judged(&lateness(0.0), &busy, None);
        assert_eq!(found, LatenessCause::Generator { is_busy: true });
    }

    #[test]
    fn time_that_a_control_group_takes_is_not_the_neighbours() {
        let mut held = cpu();
        held.generator_queued_part = Some(0.5);
        held.others_cores = Some(1.0);
        held.generator_held_part = Some(0.8);
        assert_eq!(judged(&lateness(0.0), &held, None), OWN);
    }

    #[test]
    fn a_target_that_others_took_the_processors_from_is_not_blamed() {
        let mut full = cpu();
        (full.others_cores, full.idle_cores) = (Some(1.0), Some(0.05));
        let by_others = LatenessCause::OtherPrograms { cores: 1.0 };
        let waited_for = ClientWait::Response;
        let by_target = LatenessCause::Target { waited_for };
        let found = |cpu: &CpuSummary| judged(&lateness(0.10), cpu, Some(waited_for));
        // Nobody counted how long brokers waited for a processor: a full machine is all that is known.
        assert_eq!(found(&full), by_others);
        full.target_queued_part = Some(0.11);
        assert_eq!(found(&full), by_others);
        // It did not wait for a processor: it was slow by itself, whoever else ran.
        full.target_queued_part = Some(0.09);
        assert_eq!(found(&full), by_target);
        full.target_queued_part = Some(0.5);
        let grounds = LatenessEvidence {
            cpu: &full,
            is_shared: true,
            has_faults: false,
            has_outage: true,
            waited_for: Some(waited_for),
        };
        assert_eq!(cause(&lateness(0.10), &grounds), by_target);
        // A broker to which there is no connection is not slow for want of a processor.
        let waited_for = ClientWait::Connection;
        let found = judged(&lateness(0.10), &full, Some(waited_for));
        assert_eq!(found, LatenessCause::Target { waited_for });
    }

    #[test]
    fn a_hypervisor_that_takes_the_processors_is_named() {
        let mut stolen = cpu();
        stolen.stolen_cores = Some(0.2);
        let found = judged(&lateness(0.0), &stolen, None);
        assert_eq!(found, LatenessCause::Hypervisor { cores: 0.2 });
        // 1.85 of 2 processors were idle: of the 0.15 that were wanted, the hypervisor took 0.07, and a load thread
        // waited for 6 % of the time while 10 % of the records were late.
        (stolen.stolen_cores, stolen.idle_cores) = (Some(0.07), Some(1.85));
        stolen.generator_queued_part = Some(0.06);
        let found = judged(&lateness(0.0), &stolen, None);
        assert_eq!(found, LatenessCause::Hypervisor { cores: 0.07 });
        // Of the 1.5 that were wanted here, that is little: load and target were in each other's way.
        stolen.idle_cores = Some(0.5);
        let found = judged(&lateness(0.0), &stolen, None);
        assert_eq!(found, LatenessCause::SharedProcessors);
        // What it takes is never the other programs', however much it is and whoever waited.
        (stolen.stolen_cores, stolen.idle_cores) = (Some(0.5), Some(0.05));
        let by_hypervisor = LatenessCause::Hypervisor { cores: 0.5 };
        assert_eq!(judged(&lateness(0.0), &stolen, None), by_hypervisor);
        let waited_for = Some(ClientWait::Response);
        let found = judged(&lateness(0.10), &stolen, waited_for);
        assert_eq!(found, by_hypervisor);
        stolen.stolen_cores = Some(0.07);
        // And a thread that did not wait was not kept waiting.
        (stolen.idle_cores, stolen.generator_queued_part) = (Some(1.85), Some(0.0));
        assert_eq!(judged(&lateness(0.0), &stolen, None), OWN);
    }

    #[test]
    fn what_waited_while_the_scenario_broke_the_target_is_its_own_doing() {
        let cpu = cpu();
        let grounds = LatenessEvidence {
            cpu: &cpu,
            is_shared: true,
            has_faults: true,
            has_outage: false,
            waited_for: Some(ClientWait::Connection),
        };
        assert_eq!(cause(&lateness(0.10), &grounds), LatenessCause::Fault);
        assert_eq!(cause(&lateness(0.0), &grounds), OWN);
    }

    #[test]
    fn runs_that_did_not_tell_waits_apart_excuse_what_a_full_buffer_explains() {
        let mut old = lateness(0.0);
        old.late_waiting_part = None;
        old.waiting_time_part = 0.05;
        let found = judged(&old, &cpu(), None);
        assert!(matches!(found, LatenessCause::Target { .. }), "{found:?}");
        old.waiting_time_part = 0.01;
        assert_eq!(judged(&old, &cpu(), None), OWN);
    }
}
