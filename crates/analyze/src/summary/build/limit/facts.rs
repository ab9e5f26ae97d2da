//! What is known of a trial's holds, gathered once: machine, brokers, clients.

use std::collections::BTreeMap;

use kgauge_scenario::{FlowPlan, ProduceFlow, Trial};

use super::super::hold::MeasuredRepeats;
use crate::series::{
    BrokerPoint, BrokerSeries, ClientHold, CpuLimitSeries, HostSeries, WireHold, brokers_of,
    client_hold, cpu_limits_of, host_of, wire_hold,
};
use crate::summary::TrialSummary;
use kgauge_results::folder::{RepeatRead, RunRead};
use kgauge_results::metrics::MetricId;
use kgauge_results::run::{MetricsSource, RepeatKey, TargetKind};
use kgauge_results::stage::Stage;

/// The input of all suspects.
pub(super) struct Facts<'a> {
    pub(super) run: &'a RunRead,
    pub(super) plan: Option<&'a Trial>,
    pub(super) trial: &'a TrialSummary,
    pub(super) measured: &'a MeasuredRepeats<'a>,
    pub(super) holds: Vec<HoldEvidence>,
    /// Each broker's own metrics, averaged over all holds.
    pub(super) brokers: BTreeMap<i32, BrokerPoint>,
    /// They are nodes of the embedded cluster: each is one thread, which handles requests and has the network too.
    pub(super) are_embedded: bool,
}

/// What was seen in the hold of one repeat.
pub(super) struct HoldEvidence {
    pub(super) key: RepeatKey,
    pub(super) host: HostSeries,
    pub(super) cpu_limits: Vec<CpuLimitSeries>,
    pub(super) wire: Option<WireHold>,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    brokers: BTreeMap<i32, BrokerPoint>,
    are_embedded: bool,
}

impl<'a> Facts<'a> {
    pub(super) fn of(
        run: &'a RunRead,
        plan: Option<&'a Trial>,
        trial: &'a TrialSummary,
        measured: &'a MeasuredRepeats<'a>,
    ) -> Facts<'a> {
        let holds = measured.repeats.iter();
        let holds: Vec<HoldEvidence> = holds.filter_map(|one| HoldEvidence::of(run, one)).collect();
        let mut brokers = BTreeMap::<i32, Vec<&BrokerPoint>>::new();
        for (id, point) in holds.iter().flat_map(|hold| &hold.brokers) {
            brokers.entry(*id).or_default().push(point);
        }
        let brokers = brokers.into_iter();
        let brokers = brokers.filter_map(|(id, points)| Some((id, BrokerPoint::mean(&points)?)));
        Facts {
            are_embedded: holds.iter().any(|hold| hold.are_embedded),
            run,
            plan,
            trial,
            measured,
            brokers: brokers.collect(),
            holds,
        }
    }

    /// A producing flow as it was planned.
    pub(super) fn produces(&self, flow: u16) -> Option<&'a ProduceFlow> {
        let flow = self.plan?.flows.get(usize::from(flow))?;
        FlowPlan::produces(flow)
    }

    /// What kgauge's clients knew of themselves, a hold each.
    pub(super) fn clients(&self, flow: u16) -> Vec<ClientHold> {
        let repeats = self.measured.repeats.iter();
        repeats
            .filter_map(|repeat| client_hold(self.run, repeat.key, flow))
            .collect()
    }

    /// How many brokers the target has, at least one.
    pub(super) fn broker_count(&self) -> f64 {
        let environment = self.run.environment.as_ref();
        let count = environment.map_or(0, |one| one.target.brokers.len());
        count.max(1) as f64
    }

    /// The idle share of the machine, 0 to 1; `None` if target and load do not share one, there are no samples, or
    /// kgauge may only use a part of the machine.
    pub(super) fn idle_part(&self) -> Option<f64> {
        let environment = self.run.environment.as_ref()?;
        if environment.target.same_machine != Some(true) {
            return None;
        }
        let part = self.trial.cpu.idle_cores? / f64::from(self.trial.cpu.processors?);
        // More processors have nothing to do than there are: those that kgauge may not use are among them.
        (part <= 1.05).then_some(part)
    }

    /// Whether nothing was short of time: the machine, and the threads of each broker. Not where that is not known.
    pub(super) fn is_at_ease(&self) -> bool {
        const MACHINE_PART: f64 = 0.10;
        const THREADS_PART: f64 = 0.20;
        let is_shared = self.run.environment.as_ref();
        let is_shared = is_shared.is_some_and(|one| one.target.same_machine == Some(true));
        let machine = self.idle_part();
        let eased = |part: Option<f64>| part.is_some_and(|part| part >= THREADS_PART);
        let mut brokers = self.brokers.values();
        let known = self.brokers.len() as f64 >= self.broker_count();
        let threads = match known {
            true if self.are_embedded => brokers.all(|one| eased(one.get(MetricId::HandlerIdle))),
            true => brokers.all(|one| {
                eased(one.get(MetricId::HandlerIdle)) && eased(one.get(MetricId::NetworkIdle))
            }),
            false => self.embedded_is_at_ease(1.0 - THREADS_PART),
        };
        threads && (!is_shared || machine.is_some_and(|part| part >= MACHINE_PART))
    }

    /// If the nodes of an embedded cluster do not report how busy they are, the CPU time of their process shows it.
    fn embedded_is_at_ease(&self, most: f64) -> bool {
        let environment = self.run.environment.as_ref();
        let is_embedded = environment.is_some_and(|one| one.target.kind == TargetKind::Embedded);
        let cores = self.trial.cpu.target_cores;
        // With one node the process's use is the thread's; of several the busiest is not known.
        is_embedded && self.broker_count() < 2.0 && cores.is_some_and(|cores| cores <= most)
    }
}

impl HoldEvidence {
    fn of(run: &RunRead, repeat: &RepeatRead) -> Option<HoldEvidence> {
        let flows = &repeat.record.as_ref()?.flows;
        let spans: Vec<_> = flows
            .iter()
            .filter_map(|flow| flow.stage(Stage::Hold))
            .collect();
        let start_ns = spans.iter().map(|span| span.start_ns).min()?;
        let end_ns = spans.iter().map(|span| span.end_ns).max()?;
        let brokers = brokers_of(run, repeat.key);
        let is_embedded = |one: &BrokerSeries| one.source == MetricsSource::Embedded;
        let are_embedded = brokers.iter().any(is_embedded);
        let brokers = brokers.into_iter();
        let brokers = brokers.filter_map(|series| {
            let mean = series.mean_over(start_ns, end_ns)?;
            Some((series.broker?, mean))
        });
        Some(HoldEvidence {
            key: repeat.key,
            host: host_of(run, repeat.key),
            cpu_limits: cpu_limits_of(run, repeat.key),
            wire: wire_hold(run, repeat.key),
            start_ns,
            end_ns,
            brokers: brokers.collect(),
            are_embedded,
        })
    }

    pub(super) fn length_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// What is known between samples, (from, to, value), weighed by how much of it lies in the hold.
    pub(super) fn weighed(
        &self,
        points: impl Iterator<Item = (u64, u64, f64)>,
    ) -> impl Iterator<Item = (f64, f64)> {
        points.map(|(start_ns, end_ns, value)| {
            let (from, to) = (start_ns.max(self.start_ns), end_ns.min(self.end_ns));
            (to.saturating_sub(from) as f64, value)
        })
    }
}
