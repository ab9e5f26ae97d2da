//! What is known of a trial's holds, gathered once: machine, brokers, clients.

use std::collections::BTreeMap;

use kgauge_scenario::{FlowPlan, ProduceFlow, Trial};

use super::super::hold::Measured;
use crate::folder::{RepeatRead, RunRead};
use crate::run::RequestKind;
use crate::series::{
    BrokerPoint, ClientHold, CpuLimitSeries, HostSeries, RequestPoint, WireHold, brokers_of,
    client_hold, cpu_limits_of, host_of, wire_hold,
};
use crate::stage::Stage;
use crate::summary::TrialSummary;

/// Everything that the suspects are looked for in.
pub(super) struct Facts<'a> {
    pub(super) run: &'a RunRead,
    pub(super) plan: Option<&'a Trial>,
    pub(super) trial: &'a TrialSummary,
    pub(super) measured: &'a Measured<'a>,
    pub(super) holds: Vec<Hold>,
    /// What each broker told, the mean over all holds.
    pub(super) brokers: BTreeMap<i32, BrokerPoint>,
}

/// What was seen in the hold of one repeat.
pub(super) struct Hold {
    pub(super) host: HostSeries,
    pub(super) cpu_limits: Vec<CpuLimitSeries>,
    pub(super) wire: Option<WireHold>,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    brokers: BTreeMap<i32, BrokerPoint>,
}

impl<'a> Facts<'a> {
    pub(super) fn of(
        run: &'a RunRead,
        plan: Option<&'a Trial>,
        trial: &'a TrialSummary,
        measured: &'a Measured<'a>,
    ) -> Facts<'a> {
        let holds = measured.repeats.iter();
        let holds: Vec<Hold> = holds.filter_map(|one| Hold::of(run, one)).collect();
        let mut brokers = BTreeMap::<i32, Vec<&BrokerPoint>>::new();
        for (id, point) in holds.iter().flat_map(|hold| &hold.brokers) {
            brokers.entry(*id).or_default().push(point);
        }
        let brokers = brokers.into_iter();
        let brokers = brokers.map(|(id, points)| (id, mean_point(&points)));
        Facts {
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

    /// The part of the machine that had nothing to do, 0 to 1; `None` where target and load do not share one, or nobody
    /// looked.
    pub(super) fn idle_part(&self) -> Option<f64> {
        let environment = self.run.environment.as_ref()?;
        let count = environment.machine.cpu_count?;
        if environment.target.same_machine != Some(true) {
            return None;
        }
        let idle = self.holds.iter().map(|hold| {
            let points = hold.host.idle.iter();
            hold.mean(points.map(|point| (point.start_ns, point.end_ns, point.idle_cores)))
        });
        Some(mean_of(idle)? / f64::from(count))
    }

    /// Whether nothing that was looked at was short of time: the machine, and each broker's threads.
    pub(super) fn is_at_ease(&self) -> bool {
        const MACHINE_PART: f64 = 0.10;
        const THREADS_PART: f64 = 0.20;
        let eased = |part: Option<f64>| part.is_none_or(|part| part >= THREADS_PART);
        let known = self.idle_part().is_some() || !self.brokers.is_empty();
        let mut brokers = self.brokers.values();
        known
            && self.idle_part().is_none_or(|part| part >= MACHINE_PART)
            && brokers.all(|one| eased(one.handler_idle) && eased(one.network_idle))
    }
}

impl Hold {
    fn of(run: &RunRead, repeat: &RepeatRead) -> Option<Hold> {
        let flows = &repeat.record.as_ref()?.flows;
        let spans: Vec<_> = flows
            .iter()
            .filter_map(|flow| flow.stage(Stage::Hold))
            .collect();
        let start_ns = spans.iter().map(|span| span.start_ns).min()?;
        let end_ns = spans.iter().map(|span| span.end_ns).max()?;
        let brokers = brokers_of(run, repeat.key).into_iter();
        let brokers = brokers.filter_map(|series| {
            let mean = series.mean_over(start_ns, end_ns)?;
            Some((series.broker?, mean))
        });
        Some(Hold {
            host: host_of(run, repeat.key),
            cpu_limits: cpu_limits_of(run, repeat.key),
            wire: wire_hold(run, repeat.key),
            start_ns,
            end_ns,
            brokers: brokers.collect(),
        })
    }

    /// The mean over the hold of something that is known between looks: (from, to, value). Gives sum and length.
    pub(super) fn mean(&self, points: impl Iterator<Item = (u64, u64, f64)>) -> Option<(f64, f64)> {
        let (mut sum, mut length) = (0.0, 0.0);
        for (start_ns, end_ns, value) in points {
            let from = start_ns.max(self.start_ns);
            let to = end_ns.min(self.end_ns);
            let within = to.saturating_sub(from) as f64;
            sum += value * within;
            length += within;
        }
        (length > 0.0).then_some((sum, length))
    }
}

/// The mean over all repeats.
pub(super) fn mean_of(parts: impl Iterator<Item = Option<(f64, f64)>>) -> Option<f64> {
    let parts = parts.flatten();
    let (sum, length) = parts.fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
    (length > 0.0).then(|| sum / length)
}

/// The mean of what is known; `None` of nothing.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    mean_of(values.map(|value| Some((value, 1.0))))
}

/// The mean over holds of one broker: of what the verdict looks at.
fn mean_point(points: &[&BrokerPoint]) -> BrokerPoint {
    let of =
        |value: fn(&BrokerPoint) -> Option<f64>| mean(points.iter().filter_map(|one| value(one)));
    let kinds = [
        RequestKind::Produce,
        RequestKind::FetchConsumer,
        RequestKind::FetchFollower,
    ];
    let requests = kinds.into_iter().filter_map(|kind| {
        let of_kind: Vec<&RequestPoint> = points
            .iter()
            .filter_map(|point| point.requests_of(kind))
            .collect();
        let of = |value: fn(&RequestPoint) -> Option<f64>| {
            mean(of_kind.iter().filter_map(|one| value(one)))
        };
        Some(RequestPoint {
            kind,
            per_s: of(|one| Some(one.per_s))?,
            total_ms: of(|one| one.total_ms),
            request_queue_ms: of(|one| one.request_queue_ms),
            local_ms: of(|one| one.local_ms),
            remote_ms: of(|one| one.remote_ms),
            throttle_ms: of(|one| one.throttle_ms),
            response_queue_ms: of(|one| one.response_queue_ms),
            response_send_ms: of(|one| one.response_send_ms),
            temporary_memory_bytes_per_s: of(|one| one.temporary_memory_bytes_per_s),
        })
    });
    BrokerPoint {
        requests: requests.collect(),
        handler_idle: of(|one| one.handler_idle),
        network_idle: of(|one| one.network_idle),
        bytes_in_per_s: of(|one| one.bytes_in_per_s),
        conversions_per_s: of(|one| one.conversions_per_s),
        flushes_per_s: of(|one| one.flushes_per_s),
        flush_mean_ms: of(|one| one.flush_mean_ms),
        ..BrokerPoint::default()
    }
}
