//! Current figures of flows: rates over the last second, latencies of the last complete one.

use std::collections::VecDeque;

use kgauge_analyze::live::{FlowSecond, LiveRepeat};
use kgauge_load::LoadProgress;
use kgauge_report::text::live::limit_in_short;
use kgauge_report::{LiveFlowView, LiveStage};
use kgauge_results::{RunRead, TimeKind};
use kgauge_scenario::{FlowPlan, Shape, Trial};

/// Rates are means over this time.
const WINDOW_NS: u64 = 1_000_000_000;

/// What a progress line shows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ProgressSnapshot {
    /// 99th percentile of the last whole second of the slowest flow that sends, and whether that is a closed loop.
    pub(crate) p99: Option<(u64, bool)>,
    /// The current bottleneck, if it is clear.
    pub(crate) suspicion: Option<&'static str>,
}

/// The progress of the current repeat.
#[derive(Default)]
pub(crate) struct RepeatProgress {
    /// The last second that all threads have reported.
    pub(crate) whole: Option<u32>,
    /// The time up to which all threads had reported at the previous snapshot; those slices have arrived since.
    shipped_ns: u64,
    pub(crate) stage: Option<LiveStage>,
    pub(crate) flows: Vec<LiveFlowView>,
    pub(crate) snapshot: ProgressSnapshot,
    /// Of each flow; `None` before the first whole second.
    seconds: Option<(u32, Vec<Option<FlowSecond>>)>,
    /// When, and what each flow had done by then.
    window: VecDeque<(u64, Vec<u64>)>,
}

impl RepeatProgress {
    /// Takes the progress so far.
    pub(crate) fn update(
        &mut self,
        progress: &LoadProgress,
        trial: &Trial,
        live: &LiveRepeat,
        frame: Option<&RunRead>,
    ) {
        self.stage = Some(stage(progress.elapsed_ns, trial));
        self.note_rates(progress, trial);
        let shipped_ns = std::mem::replace(&mut self.shipped_ns, progress.shipped_ns);
        let whole = LiveRepeat::whole_second(shipped_ns, progress.elapsed_ns);
        self.whole = whole;
        if self.seconds.as_ref().map(|(second, _)| *second) != whole {
            let of_flow = |second| {
                let flows = 0..trial.flows.len();
                flows
                    .map(|flow| live.second(flow as u16, second))
                    .collect::<Vec<_>>()
            };
            self.seconds = whole.map(|second| (second, of_flow(second)));
            let verdict = whole.and_then(|second| live.judge(frame?, second));
            self.snapshot.suspicion = verdict.as_ref().and_then(limit_in_short);
        }
        self.note_times(trial);
    }

    fn note_rates(&mut self, progress: &LoadProgress, trial: &Trial) {
        let flows = trial.flows.iter().zip(&progress.flows);
        let done: Vec<u64> = flows
            .map(|(plan, totals)| match plan.produces() {
                Some(_) => totals.acked,
                None => totals.consumed,
            })
            .collect();
        let now_ns = progress.elapsed_ns;
        while self
            .window
            .get(1)
            .is_some_and(|(at_ns, _)| at_ns + WINDOW_NS <= now_ns)
        {
            self.window.pop_front();
        }
        let before = self.window.front();
        let rate = |index: usize| {
            let (then_ns, then) = before?;
            let span_ns = now_ns
                .checked_sub(*then_ns)
                .filter(|span_ns| *span_ns > 0)?;
            let more = done.get(index)?.checked_sub(*then.get(index)?)?;
            Some(more as f64 * 1e9 / span_ns as f64)
        };
        let totals = progress.flows.iter().enumerate();
        self.flows = trial
            .flows
            .iter()
            .zip(totals)
            .map(|(plan, (index, totals))| LiveFlowView {
                name: plan.name().to_owned(),
                rate: rate(index).unwrap_or(0.0),
                done: done.get(index).copied().unwrap_or(0),
                failed: totals.failed,
                skipped: totals.skipped,
                closed: is_closed(plan),
                ..LiveFlowView::default()
            })
            .collect();
        self.window.push_back((now_ns, done));
    }

    fn note_times(&mut self, trial: &Trial) {
        let Some((_, seconds)) = &self.seconds else {
            return;
        };
        let mut worst: Option<(u64, bool)> = None;
        for ((flow, plan), second) in self.flows.iter_mut().zip(&trial.flows).zip(seconds) {
            let Some((kind, times)) = second.as_ref().and_then(|second| second.answered) else {
                continue;
            };
            flow.time = match kind {
                TimeKind::EndToEnd => "end to end",
                TimeKind::FetchRoundTrip => "fetch round trip",
                _ => "response",
            };
            flow.p50_ns = Some(times.p50_ns);
            flow.p99_ns = Some(times.p99_ns);
            if plan.produces().is_some() && worst.is_none_or(|(ns, _)| ns < times.p99_ns) {
                worst = Some((times.p99_ns, flow.closed));
            }
        }
        self.snapshot.p99 = worst;
    }

    /// The records in flight of a flow, mean of the last whole second.
    pub(crate) fn in_flight(&self, flow: usize) -> Option<f64> {
        let (_, seconds) = self.seconds.as_ref()?;
        let second = seconds.get(flow)?.as_ref()?;
        Some(second.counts.in_flight_record_ns as f64 / 1e9)
    }
}

fn is_closed(plan: &FlowPlan) -> bool {
    plan.produces().is_some_and(|flow| flow.shape == Shape::Max)
}

fn stage(elapsed_ns: u64, trial: &Trial) -> LiveStage {
    let s = |ns: u64| ns as f64 / 1e9;
    let (warm_up_ns, hold_ns) = (trial.stages.warm_up_ns, trial.stages.hold_ns);
    if elapsed_ns < warm_up_ns {
        return LiveStage {
            name: "warm-up",
            done_s: s(elapsed_ns),
            of_s: Some(s(warm_up_ns)),
        };
    }
    let since_ns = elapsed_ns - warm_up_ns;
    match hold_ns {
        Some(hold_ns) if since_ns > hold_ns => LiveStage {
            name: "drain",
            done_s: s(since_ns - hold_ns),
            of_s: None,
        },
        hold_ns => LiveStage {
            name: "hold",
            done_s: s(since_ns),
            of_s: hold_ns.map(s),
        },
    }
}
