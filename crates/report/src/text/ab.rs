//! The answer of an A/B test, and its progress.

use kgauge_analyze::Summary;
use kgauge_analyze::statistics::Interval;
use kgauge_analyze::summary::{AbFalseAlarms, AbSideSummary, AbSummary, AbVerdict, MetricUnit};
use kgauge_results::run::AbEnd;
use kgauge_scenario::{AbKind, AbSide};

use super::answer::{change, change_between, change_interval};
use super::capacity::{void_cause, void_causes};
use crate::format;

/// `B is better. B against A: throughput +4.8 % (95 % interval +2.1 to +7.6 %), higher in 14 of 15 pairs.`
pub fn answer(test: &AbSummary) -> String {
    if let Some(alarms) = &test.false_alarms {
        return false_alarms(test, alarms);
    }
    let Some(ratio) = test.ratio else {
        return "Inconclusive: no pair of repeats was measured.".to_owned();
    };
    let name = metric_name(test);
    let known = known(ratio, test.interval);
    let pairs = format::counted(test.pairs.into(), "pair");
    match (test.verdict, test.better()) {
        (AbVerdict::Different, Some(better)) => {
            let (count, how) = match ratio > 1.0 {
                true => (test.above, "higher"),
                false => (test.below, "lower"),
            };
            format!("{better} is better. B against A: {name} {known}, {how} in {count} of {pairs}.")
        }
        (AbVerdict::NoDifference, _) => format!(
            "No difference above {} after {pairs}. B against A: {name} {known}.",
            width(test.width)
        ),
        (AbVerdict::Different | AbVerdict::Inconclusive, _) => {
            format!("Inconclusive after {pairs}. B against A: {name} {known}.")
        }
    }
}

/// The answer to the question of the only scenario. Two scenarios have their own questions.
pub(crate) fn answer_of_scenario(summary: &Summary) -> Option<String> {
    let test = summary.ab.as_ref();
    test.filter(|test| test.kind != AbKind::Scenarios)
        .map(answer)
}

/// `+4.8 % (95 % interval +2.1 to +7.6 %)`.
pub(super) fn known(ratio: f64, interval: Option<Interval>) -> String {
    let value = change(ratio);
    match change_interval(ratio, interval) {
        Some(ends) => format!("{value} (95 % interval {ends})"),
        None if interval.is_some() => format!("{value} (the 95 % interval is too wide to show)"),
        None => format!("{value} (too few pairs for an interval)"),
    }
}

/// What tests of this machine's noise found.
fn false_alarms(test: &AbSummary, alarms: &AbFalseAlarms) -> String {
    format!(
        "False alarms on this machine: {} of tests call equal sides different ({} of {}; the method \
         allows 5 %).",
        share_of_tests(alarms, alarms.different),
        format::count(alarms.different.into()),
        format::count(alarms.tests.into()),
    ) + match test.verdict {
        AbVerdict::Different => " This test itself is one of them.",
        AbVerdict::NoDifference | AbVerdict::Inconclusive => "",
    }
}

/// The share of the tests drawn from pairs of equal sides.
pub(super) fn share_of_tests(alarms: &AbFalseAlarms, count: u32) -> String {
    format::percent(f64::from(count) / f64::from(alarms.tests.max(1)))
}

/// What the answer leaves open: the evidence, the noise, and what a longer test would find; a sentence each.
pub(crate) fn details(test: &AbSummary) -> Vec<String> {
    let parts = [
        test.false_alarms
            .as_ref()
            .map(|alarms| found_and_needed(test, alarms)),
        (test.false_alarms.is_none() && test.pairs > 0).then(|| evidence(test)),
        noise(test),
        order(test),
        test.duet.then(|| {
            "Both sides ran at the same time, so a difference between their hosts counts as one \
             between the sides."
                .to_owned()
        }),
    ];
    parts.into_iter().flatten().collect()
}

/// What a difference of the width needs on this machine.
fn found_and_needed(test: &AbSummary, alarms: &AbFalseAlarms) -> String {
    let width = width(test.width);
    let pairs = |pairs: Option<u32>| match pairs {
        Some(pairs) => format!("half of them need {pairs} pairs"),
        None => format!(
            "more than half have no answer after {} pairs",
            alarms.pairs_max
        ),
    };
    format!(
        "A difference of {width} is found in {} of tests ({}). Equal sides are recognised in {} ({}).",
        share_of_tests(alarms, alarms.width_found),
        pairs(alarms.pairs_of_width),
        share_of_tests(alarms, alarms.no_difference),
        pairs(alarms.pairs_of_equal),
    )
}

/// `Evidence against equal sides: 39.0 (a difference needs 20); B was higher in 14 pairs and lower in 1.`
fn evidence(test: &AbSummary) -> String {
    format!(
        "Evidence against equal sides: {} (a difference needs {}); B was higher in {} and lower in {}.",
        format::short(test.evidence),
        format::compact(test.evidence_needed),
        format::counted(test.above.into(), "pair"),
        test.below
    )
}

/// `Ratios of single pairs differ by 2.8 % (standard deviation).`
fn noise(test: &AbSummary) -> Option<String> {
    let noise = format::percent(test.noise?);
    Some(format!(
        "Noise: ratios of single pairs have a standard deviation of {noise}."
    ))
}

/// The effect of the order, if it is clear.
fn order(test: &AbSummary) -> Option<String> {
    let effect = test
        .order_effect
        .filter(|effect| !effect.interval.contains(1.0))?;
    Some(format!(
        "The second repeat of a pair is {} compared with the first. The random order keeps this out \
         of the answer.",
        known(effect.ratio, Some(effect.interval))
    ))
}

/// What is compared: `writers.throughput, 3 % counts as no difference.`
pub(crate) fn setup(test: &AbSummary) -> String {
    let width = width(test.width);
    let turns = match test.duet {
        true => "both sides at the same time",
        false => "one repeat of each side per pair, in random order",
    };
    format!(
        "{}; {turns}; less than {width} counts as no difference.",
        test.metric
    )
}

/// `15 pairs (1 void: leaders of 2 partitions moved), 6 min 10 s.` and why the test ended without an answer, if so.
pub(crate) fn cost(test: &AbSummary) -> String {
    let void = match test.void() {
        0 => String::new(),
        count => {
            let causes = test
                .blocks
                .iter()
                .filter_map(|step| step.block.void.as_ref());
            format!(" ({count} more void: {})", void_causes(causes))
        }
    };
    let pairs = format::counted(test.pairs.into(), "pair");
    let took = format::span((test.took_s * 1e9) as u64);
    format!("{pairs}{void}, {took}.{}", end(test))
}

fn end(test: &AbSummary) -> String {
    let go_on = "--resume continues it.";
    match &test.end {
        Some(AbEnd::Decided) => String::new(),
        _ if test.kind == AbKind::Same && test.end.is_some() => String::new(),
        Some(AbEnd::Budget) => format!(
            " The budget ended the test. {go_on} Longer repeats or a wider --width need fewer pairs."
        ),
        Some(AbEnd::Blocks) => format!(" The test had all of its pairs. {go_on}"),
        Some(AbEnd::Void { cause }) => format!(
            " The test ended early: pairs were void several times in a row ({}). {go_on}",
            void_cause(cause)
        ),
        Some(AbEnd::SideLost { side }) => {
            format!(" The run of side {side} ended, so there were no more pairs. {go_on}")
        }
        None => format!(" The test did not end; {go_on}"),
    }
}

/// A side with its name: `A: linger.ms=0`.
pub(crate) fn side(test: &AbSummary, side: AbSide) -> String {
    match test.kind {
        AbKind::Same => side.to_string(),
        AbKind::Settings | AbKind::Scenarios | AbKind::Targets => {
            format!("{side}: {}", test.side(side).name)
        }
    }
}

/// `3 %`: a smaller difference counts as none.
pub(crate) fn width(width: f64) -> String {
    format::without_zeros(&format::percent(width))
}

/// What a value of the figure is called: `throughput`, `p99`, `broker CPU per record`.
pub(crate) fn metric_name(test: &AbSummary) -> String {
    name_of_metric(&test.metric)
}

/// The same of the figure's name in a plan: `writers.throughput`.
pub(super) fn name_of_metric(metric: &str) -> String {
    match metric {
        "target-cpu" => "broker CPU per record".to_owned(),
        "generator-cpu" => "generator CPU per record".to_owned(),
        metric => {
            let (_, metric) = metric.split_once('.').unwrap_or(("", metric));
            match metric.split_once('.') {
                Some(("latency", statistic)) => statistic.to_owned(),
                Some(("end-to-end", statistic)) => format!("end-to-end {statistic}"),
                Some(("service", statistic)) => format!("service {statistic}"),
                Some(("lag", statistic)) => format!("lateness {statistic}"),
                _ => "throughput".to_owned(),
            }
        }
    }
}

/// A value of the figure with its unit: `412,000 records/s`, `3.10 ms`.
pub(crate) fn value(test: &AbSummary, value: f64) -> String {
    in_unit(value, test.unit)
}

pub(super) fn in_unit(value: f64, unit: MetricUnit) -> String {
    match unit {
        MetricUnit::RecordsPerSecond => format!("{} records/s", format::figure(value)),
        MetricUnit::BytesPerSecond => format!("{}/s", format::decimal_bytes(value)),
        MetricUnit::Nanoseconds => format::nanoseconds(value),
        MetricUnit::Records => format::figure(value),
    }
}

/// The mean of a side's values, and the lowest and the highest of them: `412,000 records/s`, `401,000 to 425,000
/// records/s`.
pub(crate) fn values(test: &AbSummary, side: &AbSideSummary) -> Option<(String, String)> {
    let spread = side.values.as_ref()?;
    let ends = [spread.min, spread.max].map(|end| value(test, end));
    Some((
        value(test, spread.mean),
        format::pair(&ends[0], "to", &ends[1]),
    ))
}

/// A block that was measured, while the test goes on: `pair 7: +4.6 %; all pairs +4.8 %, +2.1 to +7.6 %; evidence 26.8
/// of 20`.
pub fn measured(test: &AbSummary) -> String {
    let Some(step) = test.blocks.last() else {
        return "no pair so far".to_owned();
    };
    let block = &step.block;
    let number = test.blocks.len();
    if let Some(cause) = &block.void {
        return format!("pair {number} is void ({})", void_cause(cause));
    }
    let ratio = block.a.zip(block.b).map(|(a, b)| b / a);
    let ratio = ratio.map_or_else(|| format::NOTHING.to_owned(), change);
    let Some(all) = step.ratio else {
        return format!("pair {number}: B {ratio}");
    };
    format!(
        "pair {number}: B {ratio}; all pairs {}, evidence {} of {}",
        change_between(all, step.interval),
        format::short(step.evidence),
        format::compact(test.evidence_needed)
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
pub(crate) mod tests {
    use kgauge_analyze::summary::ab_of_record;
    use kgauge_results::run::{AbBlock, AbRecord, VoidCause};
    use kgauge_scenario::{AbMetric, AbPlan, AbSidePlan, FigureName};

    use super::*;

    fn plan(kind: AbKind, metric: &str) -> AbPlan {
        let side = |name: &str, trial| AbSidePlan {
            name: name.to_owned(),
            trial: Some(trial),
            folder: None,
        };
        AbPlan {
            kind,
            sides: [side("linger.ms=0", 0), side("linger.ms=5", 1)],
            metric: AbMetric::OfFlow(FigureName::parse(metric).unwrap()),
            width: 0.03,
            budget_ns: None,
            blocks_max: 200,
            is_duet: false,
        }
    }

    /// A test whose pairs have these ratios; side A measured 100,000 records per second, or 100 µs.
    pub(crate) fn test_of(kind: AbKind, metric: &str, ratios: &[f64]) -> AbSummary {
        let blocks = (0..).zip(ratios).map(|(repeat, ratio)| AbBlock {
            repeat,
            first: if repeat % 2 == 0 {
                AbSide::A
            } else {
                AbSide::B
            },
            a: Some(100_000.0),
            b: Some(100_000.0 * ratio),
            void: None,
        });
        let record = AbRecord {
            blocks: blocks.collect(),
            end: Some(AbEnd::Decided),
            took_ns: 370_000_000_000,
        };
        ab_of_record(&plan(kind, metric), &record, 1)
    }

    /// A test that found a difference.
    pub(crate) fn different() -> AbSummary {
        let ratios = [1.05, 1.04, 1.06, 1.05, 1.05, 1.045, 1.055];
        test_of(AbKind::Settings, "writers.throughput", &ratios)
    }

    #[test]
    fn a_difference_names_the_better_side_its_size_and_its_pairs() {
        let test = different();
        assert_eq!(
            answer(&test),
            "B is better. B against A: throughput +5.0 % (95 % interval +3.9 to +6.1 %), higher in \
             7 of 7 pairs."
        );
        assert_eq!(
            evidence(&test),
            "Evidence against equal sides: 26.8 (a difference needs 20); B was higher in 7 pairs and \
             lower in 0."
        );
        assert_eq!(cost(&test), "7 pairs, 6 min 10 s.");
        assert_eq!(side(&test, AbSide::B), "B: linger.ms=5");
    }

    #[test]
    fn less_time_is_better() {
        let ratios = [0.95, 0.96, 0.94, 0.95, 0.95, 0.955, 0.945];
        let test = test_of(AbKind::Settings, "writers.latency.p99", &ratios);
        let text = answer(&test);
        assert!(
            text.starts_with("B is better. B against A: p99 −5.0 % (95 % interval −"),
            "{text}"
        );
        assert!(text.ends_with("lower in 7 of 7 pairs."), "{text}");
        assert_eq!(values(&test, &test.a).unwrap().0, "100 µs");
    }

    #[test]
    fn no_difference_is_an_answer_and_none_is_told_apart_from_it() {
        let ratios = [1.001, 0.999, 1.002, 0.998, 1.0];
        let test = test_of(AbKind::Settings, "writers.throughput", &ratios);
        let text = answer(&test);
        assert!(
            text.starts_with("No difference above 3 % after 5 pairs. B against A: throughput"),
            "{text}"
        );
        let mut test = test_of(AbKind::Settings, "writers.throughput", &[1.1, 0.95]);
        test.end = Some(AbEnd::Budget);
        let text = answer(&test);
        assert!(text.starts_with("Inconclusive after 2 pairs. "), "{text}");
        assert!(text.contains("too few pairs for an interval"), "{text}");
        assert!(
            cost(&test).contains("The budget ended the test. --resume"),
            "{}",
            cost(&test)
        );
        let test = test_of(AbKind::Settings, "writers.throughput", &[]);
        assert_eq!(
            answer(&test),
            "Inconclusive: no pair of repeats was measured."
        );
    }

    #[test]
    fn equal_sides_show_the_rate_of_false_alarms() {
        let ratios = [1.01, 0.99, 1.0, 1.01, 0.985, 1.02].repeat(3);
        let test = test_of(AbKind::Same, "writers.throughput", &ratios);
        let text = answer(&test);
        assert!(text.starts_with("False alarms on this machine: "), "{text}");
        assert!(details(&test)[0].starts_with("A difference of 3 % is found in "));
        assert_eq!(side(&test, AbSide::A), "A");
    }

    #[test]
    fn progress_shows_the_pair_and_all_pairs() {
        let mut test = different();
        assert_eq!(
            measured(&test),
            "pair 7: B +5.5 %; all pairs +5.0 %, +3.9 to +6.1 %, evidence 26.8 of 20"
        );
        test.blocks[6].block.void = Some(VoidCause::LeadersMoved { partitions: 2 });
        assert_eq!(
            measured(&test),
            "pair 7 is void (leaders of 2 partitions moved)"
        );
    }
}
