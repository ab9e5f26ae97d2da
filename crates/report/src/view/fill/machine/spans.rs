//! From what is known of spans of time, or of moments, to the points of a line.
//!
//! Points lie on a grid that all repeats share: looks of two repeats differ by microseconds, and each time of its own
//! would be a row of the table.

use std::collections::BTreeMap;

use kgauge_analyze::statistics::weighted_mean;
use kgauge_results::SECOND_NS;

use super::POINTS_MAX;

const SECOND: f64 = SECOND_NS as f64;
/// A span that is longer is drawn as long as it is: nothing happened in it.
const SPAN_S_MAX: f64 = 1.6;
/// Places in a second.
const GRID: f64 = 10.0;
/// Buckets of a thinned line at most: what lies far behind the end of a repeat has no place in its charts.
const BUCKETS_MAX: u64 = 2 * POINTS_MAX;

/// (seconds since the start of the repeat, value); without a value there is a gap.
pub(in crate::view::fill) type Points = Vec<(f64, Option<f64>)>;

/// Values with their weights, by bucket.
type Buckets = BTreeMap<u64, Vec<(f64, f64)>>;

/// The values between two samples.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpanRate {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) value: Option<WeightedValue>,
}

/// A value, and how much of it there is in each second when means are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WeightedValue {
    pub(super) value: f64,
    pub(super) per_s: f64,
}

impl WeightedValue {
    /// A value that is the same all the time.
    pub(super) fn even(value: f64) -> Self {
        WeightedValue { value, per_s: 1.0 }
    }
}

/// The nearest place of the grid.
pub(in crate::view::fill) fn place_s(at_s: f64) -> f64 {
    (at_s * GRID).round() / GRID
}

/// The points of a line, or means over several seconds.
pub(super) fn of_spans(spans: &[SpanRate], seconds_per_point: u64) -> Points {
    match seconds_per_point {
        0 | 1 => on_grid(each(spans)),
        seconds => on_grid(means(spans, seconds.saturating_mul(SECOND_NS))),
    }
}

/// The same for values of moments: means are over the samples.
pub(super) fn of_moments(moments: &[(u64, Option<f64>)], seconds_per_point: u64) -> Points {
    let at_s = |at_ns: u64| at_ns as f64 / SECOND;
    if seconds_per_point <= 1 {
        let points = moments.iter().map(|(at_ns, value)| (at_s(*at_ns), *value));
        return on_grid(points.collect());
    }
    let bucket_ns = seconds_per_point.saturating_mul(SECOND_NS);
    let mut buckets = Buckets::new();
    for (at_ns, value) in moments {
        let bucket = at_ns / bucket_ns;
        if bucket <= BUCKETS_MAX {
            let known = buckets.entry(bucket).or_default();
            known.extend(value.map(|value| (1.0, value)));
        }
    }
    let end_ns = moments.iter().map(|(at_ns, _)| *at_ns).max().unwrap_or(0);
    on_grid(points_of(buckets, bucket_ns, end_ns))
}

/// What is known between looks stands in their middle; or at both ends of a long time without any change, which must
/// not look like a slope.
fn each(spans: &[SpanRate]) -> Points {
    let mut points = Vec::with_capacity(spans.len());
    for span in spans {
        let (start_s, end_s) = (span.start_ns as f64 / SECOND, span.end_ns as f64 / SECOND);
        let value = span.value.map(|known| known.value);
        if end_s - start_s > SPAN_S_MAX {
            points.push((start_s + 0.5, value));
            points.push((end_s - 0.5, value));
        } else {
            points.push(((start_s + end_s) / 2.0, value));
        }
    }
    points
}

/// Each span counts by how much of it lies in a bucket.
fn means(spans: &[SpanRate], bucket_ns: u64) -> Points {
    let mut buckets = Buckets::new();
    for span in spans {
        let first = span.start_ns / bucket_ns;
        let last = span.end_ns.saturating_sub(1) / bucket_ns;
        for bucket in first..=last.min(BUCKETS_MAX) {
            let (from_ns, to_ns) = border_ns(bucket, bucket_ns);
            let length_ns = span.end_ns.min(to_ns) - span.start_ns.max(from_ns);
            let seconds = length_ns as f64 / SECOND;
            let known = buckets.entry(bucket).or_default();
            known.extend(span.value.map(|one| (one.per_s * seconds, one.value)));
        }
    }
    let end_ns = spans.iter().map(|span| span.end_ns).max().unwrap_or(0);
    points_of(buckets, bucket_ns, end_ns)
}

fn border_ns(bucket: u64, bucket_ns: u64) -> (u64, u64) {
    let from_ns = bucket.saturating_mul(bucket_ns);
    (from_ns, from_ns.saturating_add(bucket_ns))
}

/// A mean is drawn in the middle of its bucket, the last in the middle of what there is of it.
fn points_of(buckets: Buckets, bucket_ns: u64, end_ns: u64) -> Points {
    let point = |(bucket, known): (u64, Vec<(f64, f64)>)| {
        let (from_ns, to_ns) = border_ns(bucket, bucket_ns);
        let middle_ns = (from_ns as f64 + to_ns.min(end_ns) as f64) / 2.0;
        (middle_ns / SECOND, weighted_mean(known))
    };
    buckets.into_iter().map(point).collect()
}

/// Of two points at one place the later stays, if it has a value.
fn on_grid(points: Points) -> Points {
    let mut kept: Points = Vec::with_capacity(points.len());
    for (at_s, value) in points {
        let at_s = place_s(at_s);
        match kept.last_mut() {
            Some(last) if last.0 >= at_s => last.1 = value.or(last.1),
            _ => kept.push((at_s, value)),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From second to second.
    fn known(start_s: f64, end_s: f64, value: Option<f64>) -> SpanRate {
        SpanRate {
            start_ns: (start_s * SECOND) as u64,
            end_ns: (end_s * SECOND) as u64,
            value: value.map(WeightedValue::even),
        }
    }

    #[test]
    fn a_time_without_change_is_a_line_and_not_a_slope() {
        let spans = [
            known(0.0, 1.0, Some(9.0)),
            known(1.0, 20.0, Some(0.0)),
            known(20.0, 21.0, Some(9.0)),
        ];
        let expected = [
            (0.5, Some(9.0)),
            (1.5, Some(0.0)),
            (19.5, Some(0.0)),
            (20.5, Some(9.0)),
        ];
        assert_eq!(of_spans(&spans, 1), expected);
    }

    #[test]
    fn a_disk_that_writes_one_second_in_ten_is_drawn_by_its_mean() {
        // 100 MB/s for a second, then one span without anything for nine.
        let spans: Vec<SpanRate> = (0..12)
            .map(|round| f64::from(round) * 10.0)
            .flat_map(|at_s| {
                let burst = known(at_s, at_s + 1.0, Some(100.0));
                [burst, known(at_s + 1.0, at_s + 10.0, Some(0.0))]
            })
            .collect();
        let points = of_spans(&spans, 10);
        assert_eq!(points.len(), 12);
        for (index, (at_s, value)) in points.iter().enumerate() {
            assert_eq!(*at_s, index as f64 * 10.0 + 5.0);
            assert!((value.unwrap() - 10.0).abs() < 1e-9, "{points:?}");
        }
        // A bucket may cut the rest: then it counts in both.
        let points = of_spans(&spans, 4);
        let values: Vec<f64> = points.iter().filter_map(|(_, value)| *value).collect();
        assert_eq!(values[..5], [25.0, 0.0, 25.0, 0.0, 0.0]);
        assert_eq!(points[0].0, 2.0);
    }

    #[test]
    fn a_mean_time_counts_by_how_many_took_it() {
        let timed = |start_s: u64, value: f64, per_s: f64| SpanRate {
            start_ns: start_s * SECOND_NS,
            end_ns: (start_s + 1) * SECOND_NS,
            value: Some(WeightedValue { value, per_s }),
        };
        let spans = [timed(0, 1.0, 99.0), timed(1, 101.0, 1.0)];
        assert_eq!(of_spans(&spans, 2), [(1.0, Some(2.0))]);
    }

    #[test]
    fn what_nothing_is_known_of_is_a_gap() {
        let spans = [
            known(0.0, 1.0, Some(3.0)),
            known(1.0, 2.0, None),
            known(2.0, 4.0, None),
            known(6.0, 7.0, Some(4.0)),
        ];
        assert_eq!(
            of_spans(&spans, 2),
            [(1.0, Some(3.0)), (3.0, None), (6.5, Some(4.0))]
        );
    }

    #[test]
    fn looks_of_two_repeats_have_the_same_places() {
        let first = [known(0.000_013, 1.000_027, Some(1.0))];
        let second = [known(0.000_021, 1.000_019, Some(2.0))];
        assert_eq!(of_spans(&first, 1)[0].0, of_spans(&second, 1)[0].0);
        let moments = [(SECOND_NS + 17, Some(1.0)), (SECOND_NS + 90_000, None)];
        assert_eq!(of_moments(&moments, 1), [(1.0, Some(1.0))]);
    }

    #[test]
    fn times_at_the_edge_of_their_type_make_no_endless_line() {
        let spans = [SpanRate {
            start_ns: 0,
            end_ns: u64::MAX,
            value: Some(WeightedValue::even(1.0)),
        }];
        assert!(of_spans(&spans, 2).len() as u64 <= BUCKETS_MAX + 1);
        assert_eq!(of_spans(&spans, u64::MAX).len(), 1);
        assert_eq!(of_moments(&[(u64::MAX, Some(1.0))], 2), []);
    }
}
