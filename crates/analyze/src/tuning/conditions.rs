//! The conditions of a search for better settings: which arms keep them.

use kgauge_results::run::{TunePhase, TunePhaseKind, TuneRecord};
use kgauge_scenario::{Goal, TunePlan, ValueUnit};

use crate::sequential::ALPHA;
use crate::statistics::anytime_interval;
use crate::summary::GoalStatus;

/// Repeats at the second load before a condition can be missed there: one may be an outlier.
pub(super) const CONDITION_BLOCKS: u32 = 2;

/// Whether repeats of one arm keep a condition, judged by its figure in each of them.
///
/// A rate or a time is kept if a typical repeat keeps it: the bound lies outside of the confidence sequence of the
/// geometric mean, which may be checked after each repeat. A number of records is kept if every repeat keeps it.
pub(crate) fn condition_status(goal: &Goal, values: &[f64]) -> GoalStatus {
    let holds = |value: f64| goal.comparison.holds(value, goal.value);
    let kept = values.iter().filter(|value| holds(**value)).count();
    let has_interval =
        goal.figure.metric.unit() != ValueUnit::Records && values.iter().all(|value| *value > 0.0);
    match (values.is_empty(), has_interval) {
        (true, _) => GoalStatus::NotMeasured,
        (false, true) => {
            let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
            let ends = anytime_interval(&logs, ALPHA);
            match ends.map(|ends| (holds(ends.low.exp()), holds(ends.high.exp()))) {
                Some((true, true)) => GoalStatus::Held,
                Some((false, false)) => GoalStatus::NotHeld,
                Some(_) | None => GoalStatus::Undecided,
            }
        }
        (false, false) if kept == values.len() => GoalStatus::Held,
        (false, false) => GoalStatus::NotHeld,
    }
}

/// The figure of a condition in the repeats of an arm.
pub(crate) fn condition_values(phase: &TunePhase, arm: usize, condition: usize) -> Vec<f64> {
    let values = phase.of_arm(arm);
    values
        .filter_map(|one| one.keep.get(condition).copied().flatten())
        .collect()
}

/// Whether a condition is judged at the second load only: the settings in force did not show it at the scenario's.
fn is_apart(record: &TuneRecord, condition: usize) -> bool {
    let today = record.phase(TunePhaseKind::Today);
    today.is_none_or(|phase| condition_values(phase, 0, condition).is_empty())
}

/// The phase and the arm that judge a condition for the winner; its repeats are no older than the proof. `None` if
/// they were not measured.
pub fn of_winner(record: &TuneRecord, condition: usize) -> Option<(&TunePhase, usize)> {
    let (kind, arm) = match is_apart(record, condition) {
        false => (TunePhaseKind::Proof, 2),
        true => (TunePhaseKind::OtherLoad, 1),
    };
    Some((record.phase(kind)?, arm))
}

/// Whether a phase has not shown so far whether the winner keeps one of the conditions that it judges.
pub(super) fn is_open_in(plan: &TunePlan, record: &TuneRecord, kind: TunePhaseKind) -> bool {
    (0..).zip(&plan.keep).any(|(condition, goal)| {
        let judge = of_winner(record, condition).filter(|(phase, _)| phase.kind == kind);
        judge.is_some_and(|(phase, arm)| {
            let values = condition_values(phase, arm, condition);
            let status = condition_status(goal, &values);
            matches!(status, GoalStatus::Undecided | GoalStatus::NotMeasured)
        })
    })
}

/// The first condition that an arm breaks in every repeat; of those that the phase's load shows.
pub(super) fn broken(
    plan: &TunePlan,
    record: &TuneRecord,
    phase: &TunePhase,
    arm: usize,
) -> Option<usize> {
    let is_judged =
        |condition: usize| phase.kind != TunePhaseKind::Conditions || is_apart(record, condition);
    let mut conditions = (0..).zip(&plan.keep);
    let found = conditions.find(|(condition, goal)| {
        let values = condition_values(phase, arm, *condition);
        let is_kept = |value: &f64| goal.comparison.holds(*value, goal.value);
        is_judged(*condition) && !values.is_empty() && !values.iter().any(is_kept)
    });
    found.map(|(condition, _)| condition)
}

/// Whether a candidate of a race clearly breaks a condition.
pub(super) fn is_missed(plan: &TunePlan, phase: &TunePhase, arm: usize) -> bool {
    (0..).zip(&plan.keep).any(|(condition, goal)| {
        let values = condition_values(phase, arm, condition);
        condition_status(goal, &values) == GoalStatus::NotHeld
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use kgauge_results::run::{TuneArm, TuneMeasure};
    use kgauge_scenario::{FigureName, GoalComparison};

    use super::*;

    fn goal(figure: &str, comparison: GoalComparison, value: f64) -> Goal {
        Goal {
            figure: FigureName::parse(figure).unwrap(),
            comparison,
            value,
            text: String::new(),
        }
    }

    fn phase(kind: TunePhaseKind, arm: u32, values: &[Option<f64>]) -> TunePhase {
        let measures = (0..).zip(values).map(|(block, value)| TuneMeasure {
            arm,
            block,
            repeat: block,
            value: Some(1.0),
            keep: vec![*value],
            void: None,
            took_ns: 1,
        });
        TunePhase {
            kind,
            arms: vec![TuneArm::default(); 3],
            blocks: None,
            measures: measures.collect(),
        }
    }

    #[test]
    fn a_time_is_kept_or_missed_if_its_interval_is() {
        let below = goal("w.latency.p99", GoalComparison::LessOrEqual, 20.0);
        // Logarithms 0.95, 1, 1.05 around 1: the half width with three values is 9.35 standard deviations (divided by
        // n) of 0.0408, so 0.38: from 1.85 to 3.98.
        let values = [0.95_f64.exp(), 1.0_f64.exp(), 1.05_f64.exp()];
        assert_eq!(condition_status(&below, &values), GoalStatus::Held);
        for (bound, status) in [
            (4.1, GoalStatus::Held),
            (3.0, GoalStatus::Undecided),
            (1.8, GoalStatus::NotHeld),
        ] {
            let goal = goal("w.latency.p99", GoalComparison::LessOrEqual, bound);
            assert_eq!(condition_status(&goal, &values), status, "{bound}");
        }
        assert_eq!(condition_status(&below, &[3.0, 3.0]), GoalStatus::Undecided);
        assert_eq!(condition_status(&below, &[]), GoalStatus::NotMeasured);
        let above = goal("w.throughput", GoalComparison::GreaterOrEqual, 1.8);
        assert_eq!(condition_status(&above, &values), GoalStatus::Held);
    }

    #[test]
    fn one_repeat_that_breaks_a_number_of_records_breaks_the_condition() {
        let none = goal("w.failed", GoalComparison::LessOrEqual, 0.0);
        assert_eq!(condition_status(&none, &[0.0, 0.0]), GoalStatus::Held);
        assert_eq!(condition_status(&none, &[0.0, 1.0]), GoalStatus::NotHeld);
    }

    #[test]
    fn a_condition_that_full_speed_does_not_show_is_judged_at_the_second_load() {
        let shown = [phase(TunePhaseKind::Today, 0, &[Some(3.0)])];
        let proof = phase(TunePhaseKind::Proof, 2, &[Some(5.0), Some(5.0)]);
        let other = phase(TunePhaseKind::OtherLoad, 1, &[Some(7.0)]);
        let record = |today: TunePhase| TuneRecord {
            phases: vec![today, proof.clone(), other.clone()],
            ..TuneRecord::default()
        };
        let values = |record: &TuneRecord| {
            let (phase, arm) = of_winner(record, 0).unwrap();
            condition_values(phase, arm, 0)
        };
        assert_eq!(values(&record(shown[0].clone())), [5.0, 5.0]);
        let hidden = phase(TunePhaseKind::Today, 0, &[None]);
        assert_eq!(values(&record(hidden)), [7.0]);
    }
}
