//! Our own figures before the check that convicts others: given some percentiles and the
//! largest time, a mean has hard bounds.

use kgauge_analyze::Summary;
use kgauge_analyze::summary::LatencySummary;
use kgauge_results::TimeKind;
use proptest::prelude::*;

use crate::made::{Made, PACED, SECOND_NS, whole_closed_run, whole_paced_run};

/// Percentiles are the top of their bucket: at most this much above the sample.
const BUCKET: f64 = 1.0 / 1_024.0;

/// Whether the mean lies between its bounds: each share of samples between two percentiles lies
/// between the two values.
fn check(latency: &LatencySummary) -> Result<(), String> {
    let mut points = vec![(0.0, latency.min_ns as f64)];
    for percentile in &latency.percentiles {
        let part = f64::from(percentile.millionths) / 1e6;
        points.push((part, percentile.value_ns as f64));
    }
    points.push((1.0, latency.max_ns as f64));
    let parts = points.windows(2);
    let (mut low, mut high) = (0.0, 0.0);
    for pair in parts {
        let part = pair[1].0 - pair[0].0;
        // A rank is rounded to a whole sample: one sample may sit on the other side.
        let slack = 1.0 / latency.count as f64;
        low += (part - slack).max(0.0) * pair[0].1 / (1.0 + BUCKET);
        high += (part + slack) * pair[1].1;
    }
    if (low..=high).contains(&latency.mean_ns) {
        Ok(())
    } else {
        Err(format!("{} not in {low}..{high}", latency.mean_ns))
    }
}

fn check_all(summary: &Summary) -> Result<usize, String> {
    let mut checked = 0;
    for flow in summary.trials.iter().flat_map(|trial| &trial.flows) {
        for (_, latency) in flow.latencies.iter() {
            check(latency)?;
            checked += 1;
        }
    }
    Ok(checked)
}

#[test]
fn our_means_do_not_contradict_our_percentiles() {
    for (_made, run) in [whole_paced_run(), whole_closed_run()] {
        assert!(check_all(&Summary::of(&run)).unwrap() >= 3);
    }
}

#[test]
fn the_check_convicts_the_line_that_it_was_made_for() {
    // Published in 2018: mean 598.85 ms with p50 3, p95 585, p99 689, p99.9 710, max 2896 ms.
    let (_made, run) = whole_closed_run();
    let summary = Summary::of(&run);
    let mut line = summary.trials[0].flows[0]
        .latencies
        .get(TimeKind::Response)
        .unwrap()
        .clone();
    let ms = |ms: f64| (ms * 1e6) as u64;
    (line.count, line.min_ns, line.max_ns) = (10_000_000, 0, ms(2896.0));
    line.mean_ns = 598.85e6;
    line.percentiles
        .retain(|p| !["p90", "p99.99"].contains(&p.name.as_str()));
    for (percentile, value) in line.percentiles.iter_mut().zip([3.0, 585.0, 689.0, 710.0]) {
        percentile.value_ns = ms(value);
    }
    assert!(check(&line).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn no_samples_at_all_can_make_us_contradict_ourselves(
        samples in prop::collection::vec(
            (2..60_u64, 0..20_000_000_000_u64, 0..9_000_000_u64),
            1..400,
        ),
    ) {
        let mut made = Made::begin(PACED);
        made.repeat(0, |_, recorder| {
            for (second, service_ns, lag_ns) in &samples {
                let intended_ns = second * SECOND_NS;
                let sent_ns = intended_ns + lag_ns;
                recorder.acked(intended_ns, sent_ns, sent_ns + service_ns, 1, 1);
            }
        });
        let checked = check_all(&Summary::of(&made.end()));
        prop_assert!(checked.is_ok(), "{:?}", checked);
    }
}
