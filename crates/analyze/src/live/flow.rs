//! One flow of a repeat that goes on.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::FlowSecond;
use super::span::{merge_late, merge_spans};
use super::totals::FlowTotals;
use kgauge_results::folder::{FlowRead, SecondRead, TimesRead};
use kgauge_results::histogram::Histogram;
use kgauge_results::slice::{Counts, Slice, SliceKey, TimeKind};
use kgauge_results::stage::Stage;

/// A second is kept whole until this many seconds after its last slice.
const OPEN_SECONDS: u32 = 4;
/// How many seconds back a second is searched for whose records are answered.
const BACK_SECONDS: u32 = 8;
/// A second counts as answered if this share of its records has responses.
const ANSWERED_PART: f64 = 0.99;
/// Answers may come for so long: Kafka's `delivery.timeout.ms` is two minutes, and then a record has failed.
const ANSWER_SECONDS: u32 = 150;
/// Seconds of late that are kept one by one; of those before them several are put together in a long run.
const RECENT_SECONDS: u32 = 300;
/// So many spans are kept of what is long ago.
const SPANS_MAX: u32 = 1_200;
/// How long such a span may be: each is a multiple of the one before it. Beyond the last they double.
const SPAN_SECONDS: [u32; 7] = [1, 2, 10, 20, 60, 120, 600];
/// Empty slices that are kept for use.
const SPARE_MAX: usize = 16;

/// All that is known of it. What a reader may hold is shared with it: it is copied when something is added meanwhile.
#[derive(Debug, Default)]
pub(super) struct LiveFlow {
    /// All of the seconds that were folded.
    stages: BTreeMap<Stage, Arc<Slice>>,
    /// The same as totals.
    folded_totals: FlowTotals,
    /// Seconds of late.
    open: BTreeMap<(u32, Stage), OpenSecond>,
    /// The seconds before them, by the first of each span.
    folded: BTreeMap<(u32, Stage), Arc<SecondRead>>,
    newest: u32,
    /// Up to it seconds were put together by `span_seconds`.
    spans_end: u32,
    span_seconds: u32,
    spare: Vec<Slice>,
}

/// A second to which more may come.
#[derive(Debug)]
struct OpenSecond {
    slice: Arc<Slice>,
    /// The newest second when something came.
    heard: u32,
}

/// A flow at one moment.
#[derive(Debug)]
pub(super) struct FlowSnapshot {
    stages: BTreeMap<Stage, Arc<Slice>>,
    open: Vec<Arc<Slice>>,
    folded: Vec<Arc<SecondRead>>,
    newest: u32,
}

impl LiveFlow {
    pub(super) fn add(&mut self, slice: &Slice) {
        let key = slice.key;
        self.newest = self.newest.max(key.second);
        let spare = &mut self.spare;
        let open = self
            .open
            .entry((key.second, key.stage))
            .or_insert_with(|| OpenSecond {
                slice: Arc::new(spare.pop().unwrap_or_else(|| Slice::new(key))),
                heard: 0,
            });
        let sum = Arc::make_mut(&mut open.slice);
        sum.key = key;
        sum.add(slice);
        sum.settle();
        open.heard = self.newest;
        self.fold();
    }

    /// Folds what nothing more is likely to come to.
    fn fold(&mut self) {
        let newest = self.newest;
        let is_over = |open: &OpenSecond| open.heard + OPEN_SECONDS < newest;
        while let Some((key, open)) = {
            let found = self.open.iter().find(|(_, open)| is_over(open));
            let key = found.map(|(key, _)| *key);
            key.and_then(|key| self.open.remove_entry(&key))
        } {
            let stage = self.stages.entry(key.1);
            let sum = stage.or_insert_with(|| Arc::new(Slice::new(open.slice.key)));
            Arc::make_mut(sum).add(&open.slice);
            self.folded_totals.add(&open.slice);
            self.keep(SecondRead::of(&open.slice));
            // A reader who holds it has it for himself.
            if let (Ok(mut slice), true) =
                (Arc::try_unwrap(open.slice), self.spare.len() < SPARE_MAX)
            {
                slice.reset(slice.key);
                self.spare.push(slice);
            }
        }
        self.thin();
    }

    fn keep(&mut self, read: SecondRead) {
        let (second, stage) = (read.second, read.stage);
        let mut before = self.folded.range_mut(..=(second, Stage::Drain)).rev();
        let known = before.find(|(key, _)| key.1 == stage);
        match known {
            Some((_, known)) if known.second + known.seconds > second => {
                merge_late(Arc::make_mut(known), &read);
            }
            _ => drop(self.folded.insert((second, stage), Arc::new(read))),
        }
    }

    /// Puts seconds together that are long ago, so that no run is too long to be kept.
    fn thin(&mut self) {
        let span = span_seconds(self.newest);
        let is_longer = std::mem::replace(&mut self.span_seconds, span) != span;
        let end = self.newest.saturating_sub(RECENT_SECONDS) / span * span;
        if span == 1 || end <= self.spans_end && !is_longer {
            return;
        }
        // All of it where spans are longer than before; else what has become old.
        let begin = match is_longer {
            true => 0,
            false => self.spans_end / span * span,
        };
        let old = self
            .folded
            .range((begin, Stage::WarmUp)..(end, Stage::WarmUp));
        let old: Vec<(u32, Stage)> = old.map(|(key, _)| *key).collect();
        let mut spans = BTreeMap::<(u32, Stage), Arc<SecondRead>>::new();
        for key in old {
            let Some(read) = self.folded.remove(&key) else {
                continue;
            };
            match spans.get_mut(&(key.0 / span, key.1)) {
                Some(known) => merge_spans(Arc::make_mut(known), &read),
                None => drop(spans.insert((key.0 / span, key.1), read)),
            }
        }
        let spans = spans.into_values();
        self.folded
            .extend(spans.map(|read| ((read.second, read.stage), read)));
        self.spans_end = end;
    }

    pub(super) fn snapshot(&self) -> FlowSnapshot {
        FlowSnapshot {
            stages: self.stages.clone(),
            open: self
                .open
                .values()
                .map(|open| Arc::clone(&open.slice))
                .collect(),
            folded: self.folded.values().map(Arc::clone).collect(),
            newest: self.newest,
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
        })
    }

    /// What is still whole of a second.
    fn parts(&self, second: u32) -> Option<(Counts, Vec<&Slice>)> {
        let span = (second, Stage::WarmUp)..=(second, Stage::Drain);
        let parts: Vec<&Slice> = self
            .open
            .range(span)
            .map(|(_, open)| &*open.slice)
            .collect();
        let mut counts = Counts::default();
        parts.iter().for_each(|part| counts.add(&part.counts));
        (!parts.is_empty()).then_some((counts, parts))
    }

    /// Seconds of late as if they were all of a hold; drained records are none of it.
    pub(super) fn last_seconds(&self, seconds: Range<u32>) -> FlowRead {
        let span = (seconds.start, Stage::WarmUp)..(seconds.end, Stage::WarmUp);
        let open = self.open.range(span);
        let open = open.filter(|((_, stage), _)| *stage != Stage::Drain);
        let mut read = FlowRead::default();
        for ((second, _), open) in open {
            let key = SliceKey {
                stage: Stage::Hold,
                ..open.slice.key
            };
            let hold = read.stages.entry(Stage::Hold);
            hold.or_insert_with(|| Slice::new(key)).add(&open.slice);
            match read.seconds.last_mut() {
                // A border cut it.
                Some(last) if last.second == *second => last.counts.add(&open.slice.counts),
                _ => read.seconds.push(SecondRead {
                    stage: Stage::Hold,
                    ..SecondRead::of(&open.slice)
                }),
            }
        }
        read
    }

    pub(super) fn totals(&self) -> FlowTotals {
        let mut totals = self.folded_totals.clone();
        let open = self.open.values().map(|open| &open.slice);
        open.for_each(|slice| totals.add(slice));
        totals
    }

    /// Seconds and spans of them that are kept.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.folded.len() + self.open.len()
    }
}

impl FlowSnapshot {
    /// As a folder would be read back, up to and with a second.
    pub(super) fn read(self, last_second: u32) -> FlowRead {
        let shown = |read: &SecondRead| read.second <= last_second;
        let folded = self.folded.iter().filter(|read| shown(read));
        let mut seconds: BTreeMap<(u32, Stage), SecondRead> = folded
            .map(|read| ((read.second, read.stage), SecondRead::clone(read)))
            .collect();
        let mut stages = self.stages;
        for slice in self.open {
            let read = SecondRead::of(&slice);
            if !shown(&read) {
                continue;
            }
            let stage = stages.entry(slice.key.stage);
            let sum = stage.or_insert_with(|| Arc::new(Slice::new(slice.key)));
            Arc::make_mut(sum).add(&slice);
            let mut before = seconds.range_mut(..=(read.second, Stage::Drain)).rev();
            let known = before.find(|(key, _)| key.1 == read.stage);
            match known {
                Some((_, known)) if known.second + known.seconds > read.second => {
                    merge_late(known, &read);
                }
                _ => drop(seconds.insert((read.second, read.stage), read)),
            }
        }
        let mut seconds: Vec<SecondRead> = seconds.into_values().collect();
        let recent = self.newest.saturating_sub(ANSWER_SECONDS);
        let awaited = seconds.iter_mut().filter(|read| read.second >= recent);
        awaited.for_each(hide_unanswered);
        let own = |(stage, slice)| (stage, Arc::unwrap_or_clone(slice));
        FlowRead {
            stages: stages.into_iter().map(own).collect(),
            seconds,
        }
    }
}

/// How long spans are in a repeat that has come so far.
fn span_seconds(newest: u32) -> u32 {
    let fits = |span: &u32| newest / span < SPANS_MAX;
    let last = SPAN_SECONDS[SPAN_SECONDS.len() - 1];
    let longer = || std::iter::successors(Some(last), |span| span.checked_mul(2)).find(fits);
    let found = SPAN_SECONDS.into_iter().find(fits).or_else(longer);
    found.unwrap_or(u32::MAX)
}

/// Kinds that belong to the second in which their records were due.
const INTENDED: [TimeKind; 6] = [
    TimeKind::Response,
    TimeKind::Service,
    TimeKind::Lag,
    TimeKind::EndToEnd,
    TimeKind::BatchWait,
    TimeKind::AckWait,
];

/// Percentiles of only the fast records of a second mislead, so they are hidden until the others are answered.
fn hide_unanswered(read: &mut SecondRead) {
    let shown = [TimeKind::EndToEnd, TimeKind::Response].into_iter();
    let mut shown = shown.filter_map(|kind| Some((kind, *read.times.get(&kind)?)));
    let Some(shown) = shown.next() else { return };
    if !is_answered(&read.counts, &shown) {
        read.times.retain(|kind, _| !INTENDED.contains(kind));
    }
}

/// The time that is shown first of such a flow.
fn shown_times(parts: &[&Slice]) -> Option<(TimeKind, TimesRead)> {
    let shown = [
        TimeKind::EndToEnd,
        TimeKind::Response,
        TimeKind::FetchRoundTrip,
    ];
    let found = |kind| Some((kind, times_of(parts, kind)?));
    shown.into_iter().find_map(found)
}

fn times_of(parts: &[&Slice], kind: TimeKind) -> Option<TimesRead> {
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
fn is_answered(counts: &Counts, (kind, times): &(TimeKind, TimesRead)) -> bool {
    let never = counts.records_skipped + counts.records_failed + counts.records_indeterminate;
    let expected = counts.records_scheduled.saturating_sub(never);
    *kind == TimeKind::FetchRoundTrip || times.count as f64 >= ANSWERED_PART * expected as f64
}
