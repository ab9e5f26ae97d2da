//! The A/B test of a run: its recorded blocks, read as the test itself reads them.

use kgauge_results::folder::{RepeatRead, RunRead};
use kgauge_results::run::{AbBlock, AbRecord, RepeatKey, VoidCause};
use kgauge_scenario::{AbKind, AbMetric, AbPlan, AbSide, AbSidePlan, Trial};

use super::flow::flows;
use super::generator::{cpu, verdict};
use super::hold::MeasuredRepeats;
use super::verdict::{FigureSource, unit_of_value};
use crate::sequential::{
    EVIDENCE_MIN, PairDecision, PairOfEquals, SignCount, decide, ratio_interval, resample,
};
use crate::series::wire_hold;
use crate::statistics::{FigureRatio, Spread, mean};
use crate::summary::ab::{AbFalseAlarms, AbSideSummary, AbStep, AbSummary, AbVerdict};

/// Tests that are drawn from pairs of equal sides end after this number of pairs.
const DRAWN_PAIRS_MAX: u32 = 100;

/// More blocks are not read: no test has as many, and each is judged with all before it.
const BLOCKS_MAX: usize = 10_000;

/// The test, if the run is one and has blocks or an end.
pub(super) fn test(run: &RunRead) -> Option<AbSummary> {
    let plan = run.plan.as_ref()?;
    let mut record = run.ab.clone()?;
    record.blocks.truncate(BLOCKS_MAX);
    Some(of_record(plan.ab.as_ref()?, &record, plan.seed))
}

/// What the blocks so far say. `seed` decides which tests are drawn from pairs of equal sides.
pub fn of_record(plan: &AbPlan, record: &AbRecord, seed: u64) -> AbSummary {
    let log_ratios = record.log_ratios();
    let count = SignCount::of(&log_ratios);
    let [a, b] = &plan.sides;
    AbSummary {
        kind: plan.kind,
        a: side(a, record, |block| block.a),
        b: side(b, record, |block| block.b),
        metric: plan.metric.to_string(),
        unit: unit_of_value(plan.metric.unit()),
        more_is_better: plan.metric.more_is_better(),
        width: plan.width,
        duet: plan.is_duet,
        verdict: match decide(&log_ratios, plan.width) {
            PairDecision::Open => AbVerdict::Inconclusive,
            PairDecision::Different => AbVerdict::Different,
            PairDecision::Equal => AbVerdict::NoDifference,
        },
        ratio: mean(log_ratios.iter().copied()).map(f64::exp),
        interval: ratio_interval(&log_ratios),
        pairs: u32::try_from(log_ratios.len()).unwrap_or(u32::MAX),
        above: count.above,
        below: count.below,
        evidence: count.evidence(),
        evidence_needed: EVIDENCE_MIN,
        noise: Spread::of(&log_ratios).and_then(|spread| spread.stdev),
        order_effect: order_effect(plan, record),
        blocks: steps(record),
        false_alarms: false_alarms(plan, record, seed),
        end: record.end.clone(),
        took_s: record.took_ns as f64 / 1e9,
    }
}

fn side(plan: &AbSidePlan, record: &AbRecord, value: fn(&AbBlock) -> Option<f64>) -> AbSideSummary {
    let counted = record.blocks.iter();
    let counted = counted.filter(|block| block.log_ratio().is_some());
    let values: Vec<f64> = counted.filter_map(value).collect();
    AbSideSummary {
        name: plan.name.clone(),
        trial: plan.trial,
        folder: plan.folder.clone(),
        values: Spread::of(&values),
    }
}

/// The blocks, each with what was known after it.
fn steps(record: &AbRecord) -> Vec<AbStep> {
    let mut log_ratios = Vec::new();
    let steps = record.blocks.iter().map(|block| {
        log_ratios.extend(block.log_ratio());
        AbStep {
            block: block.clone(),
            ratio: mean(log_ratios.iter().copied()).map(f64::exp),
            interval: ratio_interval(&log_ratios),
            evidence: SignCount::of(&log_ratios).evidence(),
        }
    });
    steps.collect()
}

/// The logarithm of the second measurement divided by the first.
fn order_log_ratio(block: &AbBlock) -> Option<f64> {
    let log_ratio = block.log_ratio()?;
    Some(match block.first {
        AbSide::A => log_ratio,
        AbSide::B => -log_ratio,
    })
}

fn order_effect(plan: &AbPlan, record: &AbRecord) -> Option<FigureRatio> {
    if plan.is_duet {
        return None;
    }
    // Half the difference of the two orders: what distinguishes the sides cancels out, however often each was first.
    let of_order = |first: AbSide| {
        let blocks = record
            .blocks
            .iter()
            .filter(move |block| block.first == first);
        blocks.filter_map(AbBlock::log_ratio)
    };
    let (a_first, b_first) = (mean(of_order(AbSide::A))?, mean(of_order(AbSide::B))?);
    let between = (a_first + b_first) / 2.0;
    let log_ratios = of_order(AbSide::A).map(|ratio| ratio - between);
    let log_ratios = log_ratios.chain(of_order(AbSide::B).map(|ratio| between - ratio));
    let log_ratios: Vec<f64> = log_ratios.collect();
    Some(FigureRatio {
        ratio: ((a_first - b_first) / 2.0).exp(),
        interval: ratio_interval(&log_ratios)?,
    })
}

fn false_alarms(plan: &AbPlan, record: &AbRecord, seed: u64) -> Option<AbFalseAlarms> {
    if plan.kind != AbKind::Same {
        return None;
    }
    let pair = |block: &AbBlock| {
        let second = order_log_ratio(block)?;
        Some(PairOfEquals { first: 0.0, second })
    };
    let pairs: Vec<PairOfEquals> = record.blocks.iter().filter_map(pair).collect();
    let drawn = |planted: f64| resample(&pairs, planted, plan.width, DRAWN_PAIRS_MAX, seed);
    let (equal, apart) = (drawn(0.0)?, drawn(plan.width.ln_1p())?);
    Some(AbFalseAlarms {
        tests: equal.tests,
        pairs_max: DRAWN_PAIRS_MAX,
        different: equal.different,
        no_difference: equal.equal,
        pairs_of_equal: equal.pairs_median,
        width_found: apart.different,
        pairs_of_width: apart.pairs_median,
    })
}

/// A figure of one repeat of a trial; `None` if it was not measured.
pub fn repeat_figure(trial: &Trial, repeat: &RepeatRead, metric: &AbMetric) -> Option<f64> {
    let measured = MeasuredRepeats::of(vec![repeat]);
    let flows = flows(Some(trial), &measured);
    let cpu = cpu(&flows, &measured);
    match metric {
        AbMetric::TargetCpu => cpu.target_ns_per_record.map(|spread| spread.mean),
        AbMetric::GeneratorCpu => cpu
            .generator_threads_ns_per_record
            .map(|spread| spread.mean),
        AbMetric::OfFlow(figure) => {
            let generator = verdict(&flows, &cpu);
            let source = FigureSource {
                flows: &flows,
                measured: &measured,
                generator: &generator,
            };
            source.measured_value(figure)
        }
    }
}

/// Why a repeat does not count for its side: leaders of its topic moved in the hold. `run` has the repeat's evidence.
pub fn moved_leaders(run: &RunRead, key: RepeatKey) -> Option<VoidCause> {
    let changes = wire_hold(run, key)?.changes;
    let partitions = changes.leaders_moved + changes.leaders_lost;
    (partitions > 0).then_some(VoidCause::LeadersMoved { partitions })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use kgauge_results::run::AbEnd;

    use super::*;

    fn plan(kind: AbKind) -> AbPlan {
        let side = |name: &str, trial: u32| AbSidePlan {
            name: name.to_owned(),
            trial: Some(trial),
            folder: None,
        };
        AbPlan {
            kind,
            sides: [side("linger.ms=0", 0), side("linger.ms=5", 1)],
            metric: AbMetric::TargetCpu,
            width: 0.03,
            budget_ns: None,
            blocks_max: 200,
            is_duet: false,
        }
    }

    fn record(pairs: &[(f64, f64)]) -> AbRecord {
        let blocks = (0..).zip(pairs).map(|(repeat, (a, b))| AbBlock {
            repeat,
            first: if repeat % 2 == 0 {
                AbSide::A
            } else {
                AbSide::B
            },
            a: Some(*a),
            b: Some(*b),
            void: None,
        });
        AbRecord {
            blocks: blocks.collect(),
            end: Some(AbEnd::Decided),
            took_ns: 90_000_000_000,
        }
    }

    #[test]
    fn seven_pairs_of_ten_percent_are_a_difference() {
        let pairs = [100.0, 101.0, 99.0, 100.0, 102.0, 98.0, 100.0].map(|a| (a, 1.1 * a));
        let mut record = record(&pairs);
        // A void block changes nothing but the list.
        record.blocks.push(AbBlock {
            void: Some(VoidCause::LeadersMoved { partitions: 2 }),
            ..record.blocks[0].clone()
        });
        record.blocks[0].b = Some(110.5);
        let summary = of_record(&plan(AbKind::Settings), &record, 1);
        assert_eq!(summary.verdict, AbVerdict::Different);
        assert_eq!((summary.pairs, summary.above, summary.void()), (7, 7, 1));
        assert!(
            (summary.evidence - 26.81).abs() < 0.01,
            "{}",
            summary.evidence
        );
        assert!((summary.ratio.unwrap() - 1.1007).abs() < 1e-3);
        // CPU time: less is better.
        assert_eq!(summary.better(), Some(AbSide::A));
        assert_eq!(summary.blocks.len(), 8);
        assert_eq!(summary.blocks[6].evidence, summary.blocks[7].evidence);
        assert!(summary.blocks[0].interval.is_none());
        assert_eq!(summary.false_alarms, None);
    }

    #[test]
    fn the_effect_of_the_order_is_apart_from_that_of_the_side() {
        // The second measurement of each block is 5 % higher.
        let pairs = [(100.0, 105.0), (105.0, 100.0)].repeat(5);
        let summary = of_record(&plan(AbKind::Settings), &record(&pairs), 1);
        assert!((summary.ratio.unwrap() - 1.0).abs() < 1e-9);
        assert!((summary.order_effect.unwrap().ratio - 1.05).abs() < 1e-9);
        assert_eq!(summary.verdict, AbVerdict::Inconclusive);

        // A side that is 10 % better has no order effect, even if it is the second one in three blocks of four.
        let mut better = record(&[(100.0, 110.0), (200.0, 220.0), (100.0, 110.0), (50.0, 55.0)]);
        for block in &mut better.blocks {
            block.first = AbSide::A;
        }
        better.blocks[3].first = AbSide::B;
        let summary = of_record(&plan(AbKind::Settings), &better, 1);
        assert!((summary.order_effect.unwrap().ratio - 1.0).abs() < 1e-9);
    }

    #[test]
    fn equal_sides_are_drawn_again() {
        let pairs = [(100.0, 101.0), (100.0, 99.0), (101.0, 100.0), (99.0, 100.0)].repeat(3);
        let summary = of_record(&plan(AbKind::Same), &record(&pairs), 1);
        let alarms = summary.false_alarms.unwrap();
        assert_eq!((alarms.tests, alarms.pairs_max), (1_000, 100));
        assert!(alarms.different <= 50, "{alarms:?}");
        assert!(
            alarms.no_difference > 900 && alarms.width_found > 900,
            "{alarms:?}"
        );
    }
}
