//! Seconds that are put together, and what comes to them late.

use std::collections::BTreeMap;

use kgauge_results::folder::{SecondRead, TimesRead};
use kgauge_results::slice::TimeKind;

/// Adds what came after a second had been folded. Counts, extremes and bands are exact; of percentiles the worse stays,
/// of medians that of the larger part.
pub(super) fn merge_late(known: &mut SecondRead, late: &SecondRead) {
    let worse = known.seconds > 1;
    merge(known, late, worse);
}

/// Adds a later span to one that ends before it: of every percentile the worse stays, as charts have it.
pub(super) fn merge_spans(known: &mut SecondRead, next: &SecondRead) {
    let end = known.second + known.seconds;
    known.seconds = end.max(next.second + next.seconds) - known.second;
    merge(known, next, true);
}

fn merge(known: &mut SecondRead, more: &SecondRead, worse_median: bool) {
    known.counts.add(&more.counts);
    for (kind, more) in &more.times {
        known
            .times
            .entry(*kind)
            .and_modify(|known| merge_times(known, more, worse_median))
            .or_insert(*more);
    }
    for (kind, more) in &more.bands {
        merge_bands(&mut known.bands, *kind, more);
    }
}

fn merge_bands(
    bands: &mut BTreeMap<TimeKind, Box<[(u8, u64)]>>,
    kind: TimeKind,
    more: &[(u8, u64)],
) {
    let known = bands.entry(kind).or_default();
    let mut sums = BTreeMap::<u8, u64>::new();
    let both = known.iter().chain(more);
    both.for_each(|(band, count)| *sums.entry(*band).or_default() += count);
    *known = sums.into_iter().collect();
}

fn merge_times(known: &mut TimesRead, more: &TimesRead, worse_median: bool) {
    let count = known.count + more.count;
    let (of_known, of_more) = (known.count as f64, more.count as f64);
    *known = TimesRead {
        count,
        min_ns: known.min_ns.min(more.min_ns),
        mean_ns: (known.mean_ns * of_known + more.mean_ns * of_more) / count.max(1) as f64,
        p50_ns: match (worse_median, more.count > known.count) {
            (true, _) => known.p50_ns.max(more.p50_ns),
            (false, true) => more.p50_ns,
            (false, false) => known.p50_ns,
        },
        p90_ns: known.p90_ns.max(more.p90_ns),
        p99_ns: known.p99_ns.max(more.p99_ns),
        p99_9_ns: known.p99_9_ns.max(more.p99_9_ns),
        max_ns: known.max_ns.max(more.max_ns),
    };
}
