//! The warm-up of a repeat: it ends when the load is steady, and at its limit at the latest.

use kgauge_analyze::summary::{COMPILING_MAX, WARM_FROM_NS, is_warm};
use kgauge_load::{HOLD_NOTICE_NS, HoldControl};
use kgauge_results::PaceSeries;
use kgauge_scenario::{FlowPlan, Shape, Stages, Trial};

use crate::process_cpu::TargetsCpu;

/// How often it is checked whether the load is steady.
const CHECK_NS: u64 = 250_000_000;

/// The CPU time of the brokers' compilers is taken over this time.
const COMPILING_NS: u64 = 2_000_000_000;

/// Length of the warm-up of a load that is steady from the start, as most are.
pub(crate) fn usual_ns(stages: &Stages) -> u64 {
    let earliest_ns = stages.warm_up_ns.max(WARM_FROM_NS + HOLD_NOTICE_NS);
    earliest_ns.min(stages.warm_up_limit_ns())
}

/// Ends the warm-up of a running load.
pub(crate) struct WarmUp {
    stages: Stages,
    /// For each flow whether it is a closed loop.
    closed: Vec<bool>,
    next_check_ns: u64,
    is_over: bool,
}

impl WarmUp {
    pub(crate) fn new(trial: &Trial) -> Self {
        let is_closed = |flow: &FlowPlan| {
            let written = flow.produces();
            written.is_none_or(|flow| flow.shape == Shape::Max)
        };
        Self {
            stages: trial.stages,
            closed: trial.flows.iter().map(is_closed).collect(),
            // Early enough for a hold that begins with the end of the shortest warm-up.
            next_check_ns: trial.stages.warm_up_ns.saturating_sub(HOLD_NOTICE_NS),
            is_over: !trial.stages.is_adaptive(),
        }
    }

    /// Whether its end is still undecided.
    pub(crate) fn goes_on(&self) -> bool {
        !self.is_over
    }

    /// Checks at each interval, and starts the hold once the load is steady.
    pub(crate) fn check(
        &mut self,
        elapsed_ns: u64,
        targets: &TargetsCpu,
        control: &dyn HoldControl,
    ) {
        if self.is_over || elapsed_ns < self.next_check_ns {
            return;
        }
        self.next_check_ns = elapsed_ns + CHECK_NS;
        let compiling = targets.compiling_part(elapsed_ns.saturating_sub(COMPILING_NS), elapsed_ns);
        if compiling.is_some_and(|part| part > COMPILING_MAX) {
            return;
        }
        let paces = control.paces();
        let mut flows = paces.iter().zip(&self.closed);
        let is_warm =
            |(pace, is_closed): (&PaceSeries, &bool)| is_warm(pace, *is_closed, elapsed_ns);
        if flows.all(is_warm) {
            let earliest_ns = elapsed_ns + HOLD_NOTICE_NS;
            control.begin_hold(earliest_ns.max(self.stages.warm_up_ns));
            self.is_over = true;
        }
    }
}
