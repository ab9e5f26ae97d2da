//! The middle of a progress line: what a load does now; and what it did when its repeat has ended.

use std::time::Duration;

use kgauge_load::LoadProgress;
use kgauge_runner::RepeatView;
use kgauge_scenario::format::{compact, figure, nanoseconds};

use crate::snapshot::ProgressSnapshot;

/// What the flows of a repeat did during its hold, as the load reported it.
#[derive(Default)]
pub(crate) struct HoldRates {
    flows: Vec<String>,
    /// When the hold was first seen, and what each flow had done by then.
    first: Option<(u64, Vec<u64>)>,
    /// The same when anything was last done.
    last: Option<(u64, Vec<u64>)>,
    /// The lowest and the highest p99 of a second, of flows that send at a rate.
    p99_ns: Option<(u64, u64)>,
}

impl HoldRates {
    pub(crate) fn note(&mut self, view: &RepeatView<'_>, seen: ProgressSnapshot) {
        let (at_ns, start_ns) = (view.load.elapsed_ns, view.hold_start_ns);
        let end_ns = view.trial.stages.hold_ns.map(|hold_ns| start_ns + hold_ns);
        if at_ns < start_ns || end_ns.is_some_and(|end_ns| at_ns > end_ns) {
            return;
        }
        let flows = view.trial.flows.iter().zip(&view.load.flows);
        let done = flows.map(|(plan, totals)| match plan.produces() {
            Some(_) => totals.acked,
            None => totals.consumed,
        });
        let done: Vec<u64> = done.collect();
        if self.first.is_none() {
            let flows = view.trial.flows.iter();
            self.flows = flows.map(|flow| flow.name().to_owned()).collect();
            self.first = Some((at_ns, done.clone()));
        }
        if self.last.as_ref().is_none_or(|(_, last)| *last != done) {
            self.last = Some((at_ns, done));
        }
        if let Some((ns, false)) = seen.p99 {
            let (low, high) = self.p99_ns.unwrap_or((ns, ns));
            self.p99_ns = Some((low.min(ns), high.max(ns)));
        }
    }

    /// `~20,010 records/s, p99 of each second 2.10 ms to 12.4 ms`; `None` before the hold. It is near the report's
    /// figure, not equal to it: the load reports ten times per second, wherever the hold begins and ends.
    pub(crate) fn words(&self) -> Option<String> {
        let (from_ns, from) = self.first.as_ref()?;
        let (to_ns, to) = self.last.as_ref()?;
        let ns = to_ns.checked_sub(*from_ns).filter(|ns| *ns > 0)?;
        let rates = from.iter().zip(to).map(|(from, to)| {
            let records = to.saturating_sub(*from) as f64;
            figure(records * 1e9 / ns as f64)
        });
        let rates: Vec<String> = match self.flows.as_slice() {
            [_] => rates.map(|rate| format!("~{rate} records/s")).collect(),
            flows => {
                let named = flows.iter().zip(rates);
                named
                    .map(|(flow, rate)| format!("{flow} ~{rate}/s"))
                    .collect()
            }
        };
        let p99 = self.p99_ns.map_or_else(String::new, |(low, high)| {
            let (low, high) = (nanoseconds(low as f64), nanoseconds(high as f64));
            format!(", p99 of each second {low} to {high}")
        });
        Some(rates.join(", ") + &p99)
    }
}

/// The rate of all flows of a load together, smoothed.
#[derive(Default)]
pub(crate) struct RecordRate {
    /// When, and how many records were done by then.
    last: Option<(u64, u64)>,
    per_s: f64,
    done: u64,
}

impl RecordRate {
    pub(crate) fn note(&mut self, progress: &LoadProgress) -> (f64, u64) {
        let flows = progress.flows.iter();
        self.done = flows.map(|flow| flow.acked + flow.consumed).sum();
        if let Some((last_ns, last)) = self.last {
            let ns = progress.elapsed_ns.saturating_sub(last_ns).max(1);
            let now = self.done.saturating_sub(last) as f64 * 1e9 / ns as f64;
            self.per_s = match self.per_s == 0.0 {
                true => now,
                false => 0.7 * self.per_s + 0.3 * now,
            };
        }
        self.last = Some((progress.elapsed_ns, self.done));
        (self.per_s, self.done)
    }
}

/// Stage, rate, latency and what seems to be the limit: what matters most comes first, since narrow terminals cut off
/// the end.
pub(crate) fn load_words(
    view: &RepeatView<'_>,
    (per_s, done): (f64, u64),
    seen: ProgressSnapshot,
) -> String {
    let s = |ns: u64| Duration::from_nanos(ns).as_secs_f64();
    let (at, warm_up) = (s(view.load.elapsed_ns), s(view.hold_start_ns));
    let stage = match view.trial.stages.hold_ns.map(s) {
        _ if at < warm_up && view.is_warm_up_open => {
            format!("warm-up {at:.0} s, until steady or {warm_up:.0} s")
        }
        _ if at < warm_up => format!("warm-up {at:.0}/{warm_up:.0} s"),
        Some(hold) if at - warm_up <= hold => format!("hold {:.0}/{hold:.0} s", at - warm_up),
        Some(_) => "drain".to_owned(),
        None => format!(
            "hold {:.0} s, {} records",
            at - warm_up,
            compact(done as f64)
        ),
    };
    let p99 = seen.p99.map(|(ns, is_closed)| {
        // Of a closed loop it is the time in the producer's own buffer.
        let mark = if is_closed { "*" } else { "" };
        format!("p99{mark} {}", nanoseconds(ns as f64))
    });
    let outage = match view.load.outages.as_slice() {
        [] => seen.suspicion.map(str::to_owned),
        [one] => Some(format!("broker {} does not answer", one.broker)),
        several => Some(format!("{} brokers do not answer", several.len())),
    };
    let failed: u64 = view.load.flows.iter().map(|flow| flow.failed).sum();
    let failed = (failed > 0).then(|| format!("{failed} failed"));
    let rate = format!("{}/s", compact(per_s));
    let parts = [Some(stage), Some(rate), p99, outage, failed];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeat_is_summed_up_in_a_line() {
        let mut hold = HoldRates {
            flows: vec!["writers".to_owned()],
            first: Some((1_000_000_000, vec![1_000])),
            last: Some((3_000_000_000, vec![41_020])),
            p99_ns: None,
        };
        assert_eq!(hold.words().as_deref(), Some("~20,010 records/s"));
        hold.flows.push("readers".to_owned());
        hold.first = Some((1_000_000_000, vec![1_000, 0]));
        hold.last = Some((3_000_000_000, vec![41_020, 20]));
        hold.p99_ns = Some((2_100_000, 12_400_000));
        let words = "writers ~20,010/s, readers ~10.00/s, p99 of each second 2.10 ms to 12.4 ms";
        assert_eq!(hold.words().as_deref(), Some(words));
        assert_eq!(HoldRates::default().words(), None);
    }
}
