//! One flow of a repeat that goes on.

use std::collections::BTreeMap;

use super::FlowSecond;
use super::totals::FlowTotals;
use crate::folder::{FlowRead, SecondRead, TimesRead};
use crate::histogram::Histogram;
use crate::slice::{Counts, Kind, Slice};
use crate::stage::Stage;

/// A second is kept whole until so many seconds after the last that was heard of it.
const OPEN_SECONDS: u32 = 4;
/// So many seconds are looked back for one that is answered.
const BACK_SECONDS: u32 = 8;
/// Answered is a second with times for so much of it.
const ANSWERED_PART: f64 = 0.99;
/// Empty slices that are kept for use.
const SPARE_MAX: usize = 16;

/// All that is known of it.
#[derive(Debug, Default)]
pub(super) struct LiveFlow {
    /// All of the seconds that were folded.
    stages: BTreeMap<Stage, Slice>,
    /// Seconds of late.
    open: BTreeMap<(u32, Stage), Open>,
    /// The seconds before them.
    folded: BTreeMap<(u32, Stage), SecondRead>,
    newest: u32,
    spare: Vec<Slice>,
}

/// A second to which more may come.
#[derive(Debug)]
struct Open {
    slice: Slice,
    /// The newest second when something came.
    heard: u32,
}

impl LiveFlow {
    pub(super) fn add(&mut self, slice: &Slice) {
        let key = slice.key;
        self.newest = self.newest.max(key.second);
        let spare = &mut self.spare;
        let open = self
            .open
            .entry((key.second, key.stage))
            .or_insert_with(|| Open {
                slice: spare.pop().unwrap_or_else(|| Slice::new(key)),
                heard: 0,
            });
        open.slice.key = key;
        open.slice.add(slice);
        open.slice.settle();
        open.heard = self.newest;
        self.fold();
    }

    /// Folds what nothing more is likely to come to.
    fn fold(&mut self) {
        let newest = self.newest;
        let is_over = |open: &Open| open.heard + OPEN_SECONDS < newest;
        while let Some((key, mut open)) = {
            let found = self.open.iter().find(|(_, open)| is_over(open));
            let key = found.map(|(key, _)| *key);
            key.and_then(|key| self.open.remove_entry(&key))
        } {
            let stage = self.stages.entry(key.1);
            let sum = stage.or_insert_with(|| Slice::new(open.slice.key));
            sum.add(&open.slice);
            let read = SecondRead::of(&open.slice);
            match self.folded.get_mut(&key) {
                Some(known) => merge(known, &read),
                None => {
                    self.folded.insert(key, read);
                }
            }
            if self.spare.len() < SPARE_MAX {
                open.slice.reset(open.slice.key);
                self.spare.push(open.slice);
            }
        }
    }

    pub(super) fn read(&self, last_second: u32) -> FlowRead {
        let shown = |key: &(u32, Stage)| key.0 <= last_second;
        let mut seconds: BTreeMap<(u32, Stage), SecondRead> = self
            .folded
            .iter()
            .filter(|(key, _)| shown(key))
            .map(|(key, read)| (*key, read.clone()))
            .collect();
        let mut stages = self.stages.clone();
        for (key, open) in self.open.iter().filter(|(key, _)| shown(key)) {
            let stage = stages.entry(key.1);
            let sum = stage.or_insert_with(|| Slice::new(open.slice.key));
            sum.add(&open.slice);
            let read = SecondRead::of(&open.slice);
            match seconds.get_mut(key) {
                Some(known) => merge(known, &read),
                None => {
                    seconds.insert(*key, read);
                }
            }
        }
        FlowRead {
            stages,
            seconds: seconds.into_values().collect(),
        }
    }

    /// One second, its stages together.
    pub(super) fn second(&self, second: u32) -> Option<FlowSecond> {
        let (counts, parts) = self.parts(second)?;
        let times = shown_times(&parts);
        let before = || {
            let earlier = (second.saturating_sub(BACK_SECONDS)..second).rev();
            let mut answered = earlier.filter_map(|second| {
                let (counts, parts) = self.parts(second)?;
                shown_times(&parts).filter(|shown| is_answered(&counts, shown))
            });
            answered.next()
        };
        Some(FlowSecond {
            counts,
            times,
            answered: times
                .filter(|shown| is_answered(&counts, shown))
                .or_else(before),
            lag: times_of(&parts, Kind::Lag),
            buffer_wait: times_of(&parts, Kind::BufferWait),
        })
    }

    /// What is still whole of a second.
    fn parts(&self, second: u32) -> Option<(Counts, Vec<&Slice>)> {
        let span = (second, Stage::WarmUp)..=(second, Stage::Drain);
        let parts: Vec<&Slice> = self.open.range(span).map(|(_, open)| &open.slice).collect();
        let mut counts = Counts::default();
        parts.iter().for_each(|part| counts.add(&part.counts));
        (!parts.is_empty()).then_some((counts, parts))
    }

    pub(super) fn totals(&self) -> FlowTotals {
        let mut totals = FlowTotals::default();
        let open = self.open.values().map(|open| &open.slice);
        let all = self.stages.values().chain(open);
        all.for_each(|slice| totals.add(slice));
        totals
    }
}

/// The time that is shown first of such a flow.
fn shown_times(parts: &[&Slice]) -> Option<(Kind, TimesRead)> {
    let shown = [Kind::EndToEnd, Kind::Response, Kind::FetchRoundTrip];
    let found = |kind| Some((kind, times_of(parts, kind)?));
    shown.into_iter().find_map(found)
}

fn times_of(parts: &[&Slice], kind: Kind) -> Option<TimesRead> {
    let parts = parts.iter().map(|part| part.times(kind));
    let filled: Vec<&Histogram> = parts.filter(|times| !times.is_empty()).collect();
    match filled.as_slice() {
        [one] => TimesRead::of(one),
        several => {
            let mut sum = Histogram::new();
            several.iter().for_each(|times| sum.add(times));
            TimesRead::of(&sum)
        }
    }
}

/// Whether nearly all records of a second have their time. Times of requests are there when they are.
fn is_answered(counts: &Counts, (kind, times): &(Kind, TimesRead)) -> bool {
    let never = counts.records_skipped + counts.records_failed + counts.records_indeterminate;
    let wanted = counts.records_scheduled.saturating_sub(never);
    *kind == Kind::FetchRoundTrip || times.count as f64 >= ANSWERED_PART * wanted as f64
}

/// Adds what came after a second had been folded. Counts, extremes and bands are exact; of percentiles the worse stays, of
/// medians that of the larger part.
fn merge(known: &mut SecondRead, late: &SecondRead) {
    known.counts.add(&late.counts);
    for (kind, late) in &late.times {
        known
            .times
            .entry(*kind)
            .and_modify(|known| merge_times(known, late))
            .or_insert(*late);
    }
    for (kind, late) in &late.bands {
        let known = known.bands.entry(*kind).or_default();
        let both = known.iter().chain(late.iter());
        let mut sums = BTreeMap::<u8, u64>::new();
        both.for_each(|(band, count)| *sums.entry(*band).or_default() += count);
        *known = sums.into_iter().collect();
    }
}

fn merge_times(known: &mut TimesRead, late: &TimesRead) {
    let count = known.count + late.count;
    let (of_known, of_late) = (known.count as f64, late.count as f64);
    *known = TimesRead {
        count,
        min_ns: known.min_ns.min(late.min_ns),
        mean_ns: (known.mean_ns * of_known + late.mean_ns * of_late) / count.max(1) as f64,
        p50_ns: match late.count > known.count {
            true => late.p50_ns,
            false => known.p50_ns,
        },
        p90_ns: known.p90_ns.max(late.p90_ns),
        p99_ns: known.p99_ns.max(late.p99_ns),
        p99_9_ns: known.p99_9_ns.max(late.p99_9_ns),
        max_ns: known.max_ns.max(late.max_ns),
    };
}
