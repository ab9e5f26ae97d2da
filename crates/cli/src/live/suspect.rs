//! What seems to limit a load right now: cheap rules on what was seen in the last second.
//!
//! The verdict of the report weighs whole hold stages (`results::summary`); this is a word for whoever watches.

use std::collections::{BTreeMap, BTreeSet};

use kgauge_results::live::FlowSecond;
use kgauge_results::run::{Evidence, EvidenceKind, IdleTime, NetworkLook, Subject};

/// As in the report's verdict: less of the machine idle is nothing to spare.
const IDLE_PART: f64 = 0.05;
/// A disk in use for so much of the time, with so much waiting.
const BUSY_PART: f64 = 0.90;
const QUEUE_MEAN: f64 = 4.0;
/// A network interface that carries so much of its speed, and no more than it can.
const FULL_PART: std::ops::RangeInclusive<f64> = 0.90..=1.05;
/// Pauses that take more of the clients' time are what is felt.
const PAUSED_PART: f64 = 0.10;
/// A load thread that has no more to give.
const THREAD_BUSY: f64 = 0.95;
/// Records that are sent later than this are late by the generator, unless its buffers were full.
const LATE_NS: u64 = 1_000_000;
/// An open loop that had so much of what it asked for two seconds later was not held back.
const DONE_PART: f64 = 0.99;

/// A flow as far as suspicions go.
pub(super) struct Suspected<'a> {
    /// Whether it has a rate of its own.
    pub(super) is_open: bool,
    /// Whether it only reads.
    pub(super) reads: bool,
    /// How many clients it is.
    pub(super) members: u32,
    /// The last second, if anything was heard of it.
    pub(super) second: Option<&'a FlowSecond>,
}

/// What was seen of the machine at the last two looks.
#[derive(Debug, Default)]
pub(super) struct Machine {
    /// Processors that load and target share; `None` where the target is elsewhere.
    pub(super) shared_cpus: Option<u32>,
    data_disks: BTreeSet<String>,
    idle: Option<(u64, IdleTime)>,
    idle_cores: Option<f64>,
    /// Since when busy and queued for how long; and the shares of the last look.
    disks: BTreeMap<String, (u64, u64, u64)>,
    disk: Option<(u64, f64, f64)>,
    /// Bytes a second that an interface carries each way, and whether one way waits for the other.
    speeds: BTreeMap<String, (f64, bool)>,
    networks: BTreeMap<String, (u64, u64, u64)>,
    /// Of its speed, that of the interface that was fullest.
    network: Option<(u64, f64)>,
    threads: BTreeMap<u32, (u64, u64)>,
    /// What each load thread has spun away until the moments of sends.
    spun_ns: Vec<u64>,
    thread: Option<(u64, f64)>,
    looked_ns: u64,
}

impl Machine {
    /// A repeat that begins has a clock of its own.
    pub(super) fn new(shared_cpus: Option<u32>) -> Self {
        Self {
            shared_cpus,
            ..Self::default()
        }
    }

    /// What each load thread has spun away so far, which is no work.
    pub(super) fn see_spun(&mut self, spun_ns: &[u64]) {
        self.spun_ns.clear();
        self.spun_ns.extend_from_slice(spun_ns);
    }

    pub(super) fn see(&mut self, seen: &Evidence) {
        let Some(at_ns) = seen.at_ns else { return };
        // Brokers are asked at other moments than the machine is looked at.
        if let EvidenceKind::Idle(_)
        | EvidenceKind::Disk(_)
        | EvidenceKind::Network(_)
        | EvidenceKind::Cpu { .. } = &seen.kind
        {
            self.looked_ns = self.looked_ns.max(at_ns);
        }
        match (&seen.kind, &seen.subject) {
            (EvidenceKind::DataDir(dir), _) => self.data_disks.extend(dir.disks.iter().cloned()),
            (EvidenceKind::Idle(now), Subject::Host) => {
                if let Some((before_ns, before)) = self.idle.replace((at_ns, *now)) {
                    let free = |idle: &IdleTime| idle.idle_ns.saturating_add(idle.iowait_ns);
                    self.idle_cores = share(free(&before), free(now), before_ns, at_ns);
                }
            }
            (EvidenceKind::Disk(look), _) if self.data_disks.contains(&look.disk) => {
                let now = (at_ns, look.busy_ns, look.queued_ns);
                let Some((before_ns, busy, queued)) = self.disks.insert(look.disk.clone(), now)
                else {
                    return;
                };
                let busy = share(busy, look.busy_ns, before_ns, at_ns);
                let queued = share(queued, look.queued_ns, before_ns, at_ns);
                let (Some(busy), Some(queued)) = (busy, queued) else {
                    return;
                };
                // Of several disks the busiest of this look.
                if self
                    .disk
                    .is_none_or(|(of_ns, known, _)| of_ns < at_ns || known < busy)
                {
                    self.disk = Some((at_ns, busy, queued));
                }
            }
            (EvidenceKind::NetworkSpeed(speed), _) => {
                let told = (speed.bits_per_s as f64 / 8.0, speed.is_half_duplex);
                self.speeds.insert(speed.interface.clone(), told);
            }
            (EvidenceKind::Network(look), _) => self.see_network(at_ns, look),
            (EvidenceKind::Cpu { user_ns, system_ns }, Subject::GeneratorThread { thread }) => {
                let spun_ns = self.spun_ns.get(*thread as usize).copied();
                let used_ns = (user_ns + system_ns).saturating_sub(spun_ns.unwrap_or(0));
                let Some((before_ns, before)) = self.threads.insert(*thread, (at_ns, used_ns))
                else {
                    return;
                };
                let Some(used) = share(before, used_ns, before_ns, at_ns) else {
                    return;
                };
                if self
                    .thread
                    .is_none_or(|(of_ns, known)| of_ns < at_ns || known < used)
                {
                    self.thread = Some((at_ns, used));
                }
            }
            _ => {}
        }
    }

    fn see_network(&mut self, at_ns: u64, look: &NetworkLook) {
        let now = (at_ns, look.received_bytes, look.sent_bytes);
        let before = self.networks.insert(look.interface.clone(), now);
        let Some((bytes_per_s, is_half_duplex)) = self.speeds.get(&look.interface) else {
            return;
        };
        let Some((before_ns, received, sent)) = before else {
            return;
        };
        // Bytes in a nanosecond.
        let received = share(received, look.received_bytes, before_ns, at_ns);
        let sent = share(sent, look.sent_bytes, before_ns, at_ns);
        let (Some(received), Some(sent)) = (received, sent) else {
            return;
        };
        let moved = match is_half_duplex {
            true => received + sent,
            false => received.max(sent),
        };
        let used = moved * 1e9 / bytes_per_s.max(1.0);
        if self
            .network
            .is_none_or(|(of_ns, known)| of_ns < at_ns || known < used)
        {
            self.network = Some((at_ns, used));
        }
    }

    /// In two or three words; `None` when nothing is known.
    pub(super) fn suspicion(&self, flows: &[Suspected<'_>]) -> Option<&'static str> {
        let seconds = || {
            flows
                .iter()
                .filter_map(|flow| flow.second.map(|second| (flow, second)))
        };
        seconds().next()?;
        let is_now = |at_ns: u64| at_ns == self.looked_ns;
        let thread_busy = self
            .thread
            .is_some_and(|(at_ns, used)| is_now(at_ns) && used >= THREAD_BUSY);
        let late = seconds().any(|(flow, second)| flow.is_open && is_late(second));
        let closed = flows.iter().any(|flow| !flow.is_open);
        if late || thread_busy && closed {
            return Some(if late {
                "generator late"
            } else {
                "generator busy"
            });
        }
        if has_all(flows) {
            return Some("load is the limit");
        }
        if seconds().any(|(flow, second)| {
            let paused = second.counts.throttle_ns as f64 / 1e9;
            paused >= PAUSED_PART * f64::from(flow.members.max(1))
        }) {
            return Some("quota");
        }
        let spare = self.idle_cores.zip(self.shared_cpus);
        if spare.is_some_and(|(idle, cpus)| idle <= IDLE_PART * f64::from(cpus)) {
            return Some("processors busy");
        }
        let disk = self.disk.filter(|(at_ns, ..)| is_now(*at_ns));
        let is_busy =
            disk.is_some_and(|(_, busy, queued)| busy >= BUSY_PART && queued >= QUEUE_MEAN);
        if is_busy {
            return Some("disk busy");
        }
        let network = self.network.filter(|(at_ns, _)| is_now(*at_ns));
        let is_full = network.is_some_and(|(_, used)| FULL_PART.contains(&used));
        is_full.then_some("network full")
    }
}

/// Late, and not because buffers were full: that would be the target's doing.
fn is_late(second: &FlowSecond) -> bool {
    let lag = second.lag.is_some_and(|lag| lag.p99_ns >= LATE_NS);
    lag && second.buffer_wait.is_none()
}

/// Whether every flow that sends has a rate, and had all of it. Whoever reads what they write does what they do.
fn has_all(flows: &[Suspected<'_>]) -> bool {
    let mut sends = flows.iter().filter(|flow| !flow.reads).peekable();
    let has = |flow: &Suspected<'_>| {
        flow.is_open
            && flow.second.is_some_and(|second| {
                let counts = &second.counts;
                let done = second.times.map_or(0, |(_, times)| times.count);
                let wanted = counts.records_scheduled;
                let bad = counts.records_skipped + counts.records_failed;
                wanted > 0 && bad == 0 && done as f64 >= DONE_PART * wanted as f64
            })
    };
    sends.peek().is_some() && sends.all(has)
}

/// How much of the time between two looks a cumulative time grew.
fn share(before: u64, now: u64, before_ns: u64, now_ns: u64) -> Option<f64> {
    let span_ns = now_ns
        .checked_sub(before_ns)
        .filter(|span_ns| *span_ns > 0)?;
    Some(now.checked_sub(before)? as f64 / span_ns as f64)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use kgauge_results::folder::TimesRead;
    use kgauge_results::run::{DataDir, DiskLook, NetworkSpeed, SpeedSource};
    use kgauge_results::{Counts, Kind};

    use super::*;

    const S: u64 = 1_000_000_000;

    fn seen(at_s: u64, subject: Subject, kind: EvidenceKind) -> Evidence {
        Evidence {
            at_unix_ms: 0,
            repeat: None,
            at_ns: Some(at_s * S),
            subject,
            kind,
        }
    }

    fn times(count: u64, p99_ns: u64) -> TimesRead {
        TimesRead {
            count,
            min_ns: 1,
            mean_ns: 1.0,
            p50_ns: 1,
            p90_ns: 1,
            p99_ns,
            p99_9_ns: p99_ns,
            max_ns: p99_ns,
        }
    }

    /// A second of 1,000 records of which so many were acked.
    fn second(acked: u64) -> FlowSecond {
        FlowSecond {
            counts: Counts {
                records_scheduled: 1_000,
                ..Counts::default()
            },
            times: Some((Kind::Response, times(acked, 3))),
            answered: None,
            lag: Some(times(1_000, 5)),
            buffer_wait: None,
        }
    }

    fn flow(is_open: bool, second: &FlowSecond) -> Suspected<'_> {
        Suspected {
            is_open,
            reads: false,
            members: 2,
            second: Some(second),
        }
    }

    /// Two looks at a machine with two processors and a disk with data.
    fn machine(idle_ns: u64, busy_ns: u64, queued_ns: u64, thread_ns: u64) -> Machine {
        let mut machine = Machine::new(Some(2));
        let dir = DataDir {
            disks: vec!["sda".to_owned()],
            ..DataDir::default()
        };
        machine.see(&seen(1, Subject::Host, EvidenceKind::DataDir(dir)));
        for at_s in [1, 2] {
            let idle = IdleTime {
                idle_ns: at_s * idle_ns,
                ..IdleTime::default()
            };
            machine.see(&seen(at_s, Subject::Host, EvidenceKind::Idle(idle)));
            let disk = DiskLook {
                disk: "sda".to_owned(),
                busy_ns: at_s * busy_ns,
                queued_ns: at_s * queued_ns,
                ..DiskLook::default()
            };
            machine.see(&seen(at_s, Subject::Host, EvidenceKind::Disk(disk)));
            let cpu = EvidenceKind::Cpu {
                user_ns: at_s * thread_ns,
                system_ns: 0,
            };
            machine.see(&seen(at_s, Subject::GeneratorThread { thread: 0 }, cpu));
        }
        machine
    }

    #[test]
    fn each_suspicion_has_its_evidence() {
        let (all, half) = (second(995), second(500));
        let calm = machine(S, 0, 0, S / 2);
        assert_eq!(
            calm.suspicion(&[flow(true, &all)]),
            Some("load is the limit")
        );
        assert_eq!(calm.suspicion(&[flow(true, &half)]), None);
        assert_eq!(calm.suspicion(&[flow(false, &all)]), None);
        let full = machine(S / 20, 0, 0, S / 2);
        assert_eq!(
            full.suspicion(&[flow(false, &all)]),
            Some("processors busy")
        );
        let disk = machine(S, S * 95 / 100, 5 * S, S / 2);
        assert_eq!(disk.suspicion(&[flow(true, &half)]), Some("disk busy"));
        // In use, with nothing that waits: disks that serve many at once can do more.
        let quick = machine(S, S * 95 / 100, S, S / 2);
        assert_eq!(quick.suspicion(&[flow(true, &half)]), None);
        let busy = machine(S, 0, 0, S * 19 / 20);
        assert_eq!(busy.suspicion(&[flow(false, &all)]), Some("generator busy"));
        let mut paused = second(500);
        paused.counts.throttle_ns = S / 5;
        assert_eq!(calm.suspicion(&[flow(true, &paused)]), Some("quota"));
    }

    #[test]
    fn a_core_that_spins_is_not_busy() {
        let half = second(500);
        let told = |spun_ns: u64| {
            let mut machine = Machine::new(Some(2));
            for at_s in [1, 2] {
                machine.see_spun(&[at_s * spun_ns]);
                let cpu = EvidenceKind::Cpu {
                    user_ns: at_s * S,
                    system_ns: 0,
                };
                machine.see(&seen(at_s, Subject::GeneratorThread { thread: 0 }, cpu));
            }
            machine.suspicion(&[flow(true, &half), flow(false, &half)])
        };
        assert_eq!(told(0), Some("generator busy"));
        assert_eq!(told(S * 9 / 10), None);
    }

    #[test]
    fn an_interface_that_carries_its_speed_is_full() {
        let half = second(500);
        let told = |received: u64, sent: u64, is_half_duplex: bool| {
            let mut machine = machine(S, 0, 0, S / 2);
            let speed = NetworkSpeed {
                interface: "eth0".to_owned(),
                bits_per_s: 1_000_000_000,
                is_half_duplex,
                told_by: SpeedSource::Kernel,
            };
            let kind = EvidenceKind::NetworkSpeed(speed);
            machine.see(&seen(1, Subject::Host, kind));
            for at_s in [1, 2] {
                let look = NetworkLook {
                    interface: "eth0".to_owned(),
                    received_bytes: at_s * received,
                    sent_bytes: at_s * sent,
                    ..NetworkLook::default()
                };
                machine.see(&seen(at_s, Subject::Host, EvidenceKind::Network(look)));
            }
            machine.suspicion(&[flow(true, &half)])
        };
        // 1 Gbit/s are 125 MB/s.
        assert_eq!(told(5, 112_500_000, false), Some("network full"));
        assert_eq!(told(112_500_000, 5, false), Some("network full"));
        assert_eq!(told(112_000_000, 112_000_000, false), None);
        assert_eq!(told(60_000_000, 60_000_000, true), Some("network full"));
        // What carries more than its speed has another one.
        assert_eq!(told(5, 140_000_000, false), None);
    }

    #[test]
    fn late_is_the_generator_only_while_its_buffers_have_room() {
        let calm = machine(S, 0, 0, S / 2);
        let mut late = second(995);
        late.lag = Some(times(1_000, 50_000_000));
        assert_eq!(calm.suspicion(&[flow(true, &late)]), Some("generator late"));
        late.buffer_wait = Some(times(3, 50_000_000));
        late.times = Some((Kind::Response, times(400, 3)));
        assert_eq!(calm.suspicion(&[flow(true, &late)]), None);
    }

    #[test]
    fn nothing_is_said_of_what_was_not_seen() {
        let flow = Suspected {
            is_open: true,
            reads: false,
            members: 1,
            second: None,
        };
        assert_eq!(machine(0, S, 9 * S, S).suspicion(&[flow]), None);
        // The processors of a target elsewhere are not known.
        let mut elsewhere = machine(S / 20, 0, 0, S / 2);
        elsewhere.shared_cpus = None;
        let all = second(995);
        assert_eq!(
            elsewhere.suspicion(&[super::Suspected {
                is_open: false,
                reads: false,
                members: 1,
                second: Some(&all)
            }]),
            None
        );
    }
}
