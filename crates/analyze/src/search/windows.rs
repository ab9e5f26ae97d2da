//! Judges the windows of a load: whether each keeps the goals of its search.

use kgauge_results::histogram::{Histogram, Quantile};
use kgauge_results::run::{GoalReading, JudgedWindow, StageSpan};
use kgauge_results::slice::{Counts, Slice, SliceKey, TimeKind};
use kgauge_results::stage::{SECOND_NS, Stage};
use kgauge_scenario::{
    FlowPlan, Goal, Metric, PartitionShare, SearchGoal, SearchPlan, Statistic, Trial,
};

/// A load is reached, and consumers keep up, if at most this share of a window's records is missing at its end: what is
/// in flight differs a little. What is missing adds up over the hold, so that a backlog that grows slowly is found.
const MISSING_PART_MAX: f64 = 0.02;
/// The same in records, for slow flows.
const MISSING_RECORDS_MAX: f64 = 10.0;

/// The slices of a load's hold, summed for each window and flow.
pub struct WindowSums<'a> {
    trial: &'a Trial,
    search: &'a SearchPlan,
    hold_start_ns: u64,
    /// For each window the flows of the trial.
    windows: Vec<Vec<Slice>>,
}

impl<'a> WindowSums<'a> {
    /// No slices yet. `hold` is the hold as it was: only whole windows count.
    pub fn new(trial: &'a Trial, search: &'a SearchPlan, hold: StageSpan) -> WindowSums<'a> {
        // A hold ends some microseconds early or late.
        let whole = (hold.length_ns() + search.window_ns / 100) / search.window_ns.max(1);
        let flow = |index: usize| {
            Slice::new(SliceKey {
                flow: u16::try_from(index).unwrap_or(u16::MAX),
                stage: Stage::Hold,
                second: 0,
            })
        };
        let window = |_| (0..trial.flows.len()).map(flow).collect();
        WindowSums {
            trial,
            search,
            hold_start_ns: hold.start_ns,
            windows: (0..whole).map(window).collect(),
        }
    }

    /// Adds a settled slice. A second belongs to the window in which it begins.
    pub fn add(&mut self, slice: &Slice) {
        if slice.key.stage != Stage::Hold {
            return;
        }
        let at_ns = u64::from(slice.key.second) * SECOND_NS;
        let since_ns = at_ns.saturating_sub(self.hold_start_ns);
        let index = since_ns / self.search.window_ns.max(1);
        let window = self.windows.get_mut(index as usize);
        if let Some(sum) = window.and_then(|flows| flows.get_mut(usize::from(slice.key.flow))) {
            sum.add(slice);
        }
    }

    /// The judgement of each window. `followers_behind` says whether followers fell behind in the hold; that is not
    /// known window by window.
    pub fn judge(&self, followers_behind: bool) -> Vec<JudgedWindow> {
        let mut backlogs = vec![Backlog::default(); self.trial.flows.len()];
        let mut windows = Vec::with_capacity(self.windows.len());
        for flows in &self.windows {
            let (rate, consumers) = (
                self.rate(flows, &mut backlogs),
                self.consumers(flows, &mut backlogs),
            );
            let goals = self.search.goals.iter();
            let goals: Vec<GoalReading> = goals
                .map(|goal| match goal {
                    SearchGoal::Figure(goal) => self.figure(goal, flows),
                    SearchGoal::ConsumersKeepUp => consumers,
                    SearchGoal::FollowersKeepUp => GoalReading {
                        kept: !followers_behind,
                        value: None,
                    },
                    SearchGoal::RateKept => rate,
                })
                .collect();
            windows.push(JudgedWindow {
                length_ns: self.search.window_ns,
                kept: goals.iter().all(|goal| goal.kept),
                goals,
            });
        }
        windows
    }

    fn figure(&self, goal: &Goal, flows: &[Slice]) -> GoalReading {
        let mut of_plan = self.trial.flows.iter().zip(flows);
        let slice = of_plan.find(|(flow, _)| flow.name() == goal.figure.flow);
        let value = slice.and_then(|(_, slice)| value(goal.figure.metric, slice));
        GoalReading {
            // A time that no record has is kept by no goal.
            kept: value.is_some_and(|value| goal.comparison.holds(value, goal.value)),
            value,
        }
    }

    /// The smallest share of the due records that a searched flow got acked, and read back where it does that.
    fn rate(&self, flows: &[Slice], backlogs: &mut [Backlog]) -> GoalReading {
        let of_trial = self.trial.flows.iter().zip(flows).zip(backlogs);
        let searched = of_trial.filter(|((flow, _), _)| {
            let mut searched = self.search.flows.iter();
            searched.any(|one| one.name == flow.name())
        });
        let shares = searched.map(|((flow, slice), backlog)| {
            let done = match flow {
                FlowPlan::Echo(_) => slice.counts.records_acked.min(slice.counts.records_echoed),
                FlowPlan::Produce(_) | FlowPlan::Consume(_) => slice.counts.records_acked,
            };
            backlog.share(done as f64, slice.counts.records_scheduled as f64)
        });
        reading(shares)
    }

    /// The smallest share of the acked records that a consume flow read, each as often as it has readers.
    fn consumers(&self, flows: &[Slice], backlogs: &mut [Backlog]) -> GoalReading {
        let written = |counts: &Counts| counts.records_acked.saturating_sub(counts.records_aborted);
        let acked: u64 = flows.iter().map(|slice| written(&slice.counts)).sum();
        let of_trial = self.trial.flows.iter().zip(flows).zip(backlogs);
        let readers = of_trial.filter_map(|((flow, slice), backlog)| match flow {
            FlowPlan::Consume(flow) => {
                let times = match flow.partitions {
                    PartitionShare::All => flow.consumers,
                    PartitionShare::Split => flow.groups.max(1),
                };
                let due = acked as f64 * f64::from(times);
                Some(backlog.share(slice.counts.records_consumed as f64, due))
            }
            FlowPlan::Produce(_) | FlowPlan::Echo(_) => None,
        });
        reading(readers)
    }
}

/// Records of a flow that were due in the hold so far and are not done: not acked, or for a consume flow not read. What
/// was left over from before the hold does not count.
#[derive(Clone, Copy, Debug, Default)]
struct Backlog {
    records: f64,
}

/// A share, and whether it is all but what may be in flight.
type ReachedShare = (f64, bool);

impl Backlog {
    /// The share of a window's due records that was done in it. Reached is it if no more than what may be in flight is
    /// left over since the hold began: a window that only catches up has done more than was due.
    fn share(&mut self, done: f64, due: f64) -> ReachedShare {
        self.records = (self.records + due - done).max(0.0);
        let is_reached = self.records <= (due * MISSING_PART_MAX).max(MISSING_RECORDS_MAX);
        let share = if due > 0.0 { done / due } else { 1.0 };
        (share, is_reached)
    }
}

fn reading(shares: impl Iterator<Item = ReachedShare>) -> GoalReading {
    let mut reading = GoalReading {
        kept: true,
        value: None,
    };
    for (share, is_reached) in shares {
        reading.kept &= is_reached;
        reading.value = Some(reading.value.map_or(share, |least: f64| least.min(share)));
    }
    reading
}

/// A figure of one flow in one window, in the unit of its metric.
fn value(metric: Metric, slice: &Slice) -> Option<f64> {
    let times = |kind| slice.times(kind);
    match metric {
        Metric::Latency(statistic) => time(times(TimeKind::Response), statistic),
        Metric::EndToEnd(statistic) => time(times(TimeKind::EndToEnd), statistic),
        Metric::Service(statistic) => time(times(TimeKind::Service), statistic),
        Metric::Lag(statistic) => time(times(TimeKind::Lag), statistic),
        Metric::Failed => {
            let counts = &slice.counts;
            Some((counts.records_failed + counts.records_indeterminate) as f64)
        }
        Metric::Skipped => Some(slice.counts.records_skipped as f64),
        Metric::Throughput | Metric::ThroughputBytes => None,
    }
}

fn time(times: &Histogram, statistic: Statistic) -> Option<f64> {
    match statistic {
        Statistic::Min => times.min_ns().map(|ns| ns as f64),
        Statistic::Mean => times.mean_ns(),
        Statistic::Max => times.max_ns().map(|ns| ns as f64),
        Statistic::Quantile(millionths) => {
            let ns = times.value_ns_at(Quantile::new(millionths))?;
            Some(ns as f64)
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use kgauge_scenario::{Scenario, Size};

    use super::*;

    const MS_NS: u64 = 1_000_000;

    fn base() -> Trial {
        let text = "\
kgauge: 1
name: s
question: Q?
topic: {partitions: 1}
flows:
  - {name: writers, kind: produce, shape: max, record: {size: 100 B}}
  - {name: readers, kind: consume, consumers: 2, partitions: all}
stages: {warm-up: 2 s}
search: {goals: [p99 <= 20 ms], window: 2 s, duration: 4 s}
";
        Scenario::parse("s", text)
            .unwrap()
            .trials(Size::Default)
            .remove(0)
    }

    fn hold(seconds: u64) -> StageSpan {
        StageSpan {
            stage: Stage::Hold,
            start_ns: 2 * SECOND_NS,
            end_ns: (2 + seconds) * SECOND_NS - 1_000,
        }
    }

    fn second(second: u32, response_ns: u64, acked: u64) -> Slice {
        let mut slice = Slice::new(SliceKey {
            flow: 0,
            stage: Stage::Hold,
            second,
        });
        slice.counts.records_scheduled = 1_000;
        slice.counts.records_acked = acked;
        let times = slice.times_mut(TimeKind::Response);
        times.record(response_ns, acked, 0);
        slice
    }

    fn read(second: u32, records: u64) -> Slice {
        let mut slice = Slice::new(SliceKey {
            flow: 1,
            stage: Stage::Hold,
            second,
        });
        slice.counts.records_consumed = records;
        slice
    }

    #[test]
    fn each_window_is_judged_by_its_own_seconds() {
        let base = base();
        let search = base.search.as_ref().unwrap();
        let load = base.at_load(1, 1_000.0, 2).unwrap();
        let mut sums = WindowSums::new(&load, search, hold(4));
        for (at, response_ms) in [(2, 5), (3, 10), (4, 5), (5, 25)] {
            sums.add(&second(at, response_ms * MS_NS, 1_000));
            sums.add(&read(at, 2_000));
        }
        // The warm-up is no part of it.
        let mut warm_up = second(1, 900 * MS_NS, 1);
        warm_up.key.stage = Stage::WarmUp;
        sums.add(&warm_up);
        let windows = sums.judge(false);
        let kept: Vec<bool> = windows.iter().map(|window| window.kept).collect();
        assert_eq!(kept, [true, false]);
        let p99 = |window: &JudgedWindow| (window.goals[0].value.unwrap() / 1e6).round();
        assert_eq!([p99(&windows[0]), p99(&windows[1])], [10.0, 25.0]);
        let broken: Vec<usize> = windows[1]
            .goals
            .iter()
            .enumerate()
            .filter_map(|(index, goal)| (!goal.kept).then_some(index))
            .collect();
        assert_eq!(broken, [0]);
    }

    #[test]
    fn a_window_breaks_if_the_rate_is_not_reached_or_readers_fall_behind() {
        let base = base();
        let search = base.search.as_ref().unwrap();
        let load = base.at_load(1, 1_000.0, 1).unwrap();
        let judged = |acked: u64, consumed: u64| {
            let mut sums = WindowSums::new(&load, search, hold(2));
            for at in [2, 3] {
                sums.add(&second(at, MS_NS, acked));
                sums.add(&read(at, consumed));
            }
            let window = sums.judge(false).remove(0);
            let broken = search.goals.iter().zip(&window.goals);
            let broken = broken.filter(|(_, goal)| !goal.kept);
            broken.map(|(goal, _)| goal.clone()).collect::<Vec<_>>()
        };
        assert!(judged(1_000, 2_000).is_empty());
        assert!(judged(990, 1_970).is_empty());
        assert_eq!(judged(950, 1_900), [SearchGoal::RateKept]);
        // Two consumers read each record.
        assert_eq!(judged(1_000, 1_800), [SearchGoal::ConsumersKeepUp]);
    }

    #[test]
    fn a_backlog_that_grows_slowly_breaks_the_later_windows() {
        let base = base();
        let search = base.search.as_ref().unwrap();
        let load = base.at_load(1, 1_000.0, 3).unwrap();
        let kept = |consumed: [u64; 3]| {
            let mut sums = WindowSums::new(&load, search, hold(6));
            for (window, consumed) in (0..).zip(consumed) {
                for at in [2 + 2 * window, 3 + 2 * window] {
                    sums.add(&second(at, MS_NS, 1_000));
                    sums.add(&read(at, consumed));
                }
            }
            let windows = sums.judge(false).into_iter();
            windows.map(|window| window.kept).collect::<Vec<_>>()
        };
        // Of 4,000 due in a window, 80 may be missing: 60 are after the first, 120 after the second.
        assert_eq!(kept([1_970, 1_970, 1_970]), [true, false, false]);
        // 120 behind, then 80 of them caught up.
        assert_eq!(kept([1_940, 2_040, 2_000]), [false, true, true]);
        // What was left over from the warm-up makes no room for a later backlog.
        assert_eq!(kept([2_500, 2_000, 1_940]), [true, true, false]);
    }

    #[test]
    fn a_hold_that_was_cut_short_has_only_its_whole_windows() {
        let base = base();
        let search = base.search.as_ref().unwrap();
        let load = base.at_load(1, 1_000.0, 2).unwrap();
        assert_eq!(
            WindowSums::new(&load, search, hold(3)).judge(false).len(),
            1
        );
        assert_eq!(
            WindowSums::new(&load, search, hold(1)).judge(false).len(),
            0
        );
    }
}
