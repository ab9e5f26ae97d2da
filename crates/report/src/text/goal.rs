//! Goals and published figures beside what was measured.

use kgauge_analyze::statistics::Interval;
use kgauge_analyze::summary::{
    GoalStatus, GoalVerdict, MetricUnit, PublishedComparison, PublishedReason,
};
use kgauge_scenario::GoalComparison;

use super::generator;
use crate::format;

/// `measured 18.4 ms (95 % interval 16.0 to 21.2 ms), goal at most 20 ms`.
pub fn goal(verdict: &GoalVerdict) -> String {
    let (unit, Some(measured)) = (verdict.unit, verdict.measured) else {
        return "this figure was not measured".to_owned();
    };
    let interval = match (verdict.interval, verdict.repeats) {
        (Some(interval), _) => format!(" (95 % interval {})", between(interval, unit)),
        (None, Some(_)) => " (one repeat)".to_owned(),
        (None, None) => String::new(),
    };
    let advice = match (verdict.word, verdict.repeats_needed) {
        _ if let Some(cause) = verdict.delayed_by => format!(
            "; inconclusive because records were sent late (cause: {})",
            generator::subject(cause)
        ),
        _ if verdict.not_steady => ", but the target was not steady during measurement".to_owned(),
        (GoalStatus::Undecided, Some(repeats)) => format!("; use --repeat {repeats} to decide"),
        (GoalStatus::Undecided, None) => "; use a longer hold to decide".to_owned(),
        (GoalStatus::Held | GoalStatus::NotHeld | GoalStatus::NotMeasured, _) => String::new(),
    };
    let comparison = match verdict.comparison {
        GoalComparison::Less => "less than",
        GoalComparison::LessOrEqual => "at most",
        GoalComparison::GreaterOrEqual => "at least",
        GoalComparison::Greater => "more than",
    };
    format!(
        "measured {}{interval}, goal {comparison} {}{advice}",
        value(measured, unit),
        value(verdict.threshold, unit),
    )
}

/// The reason for the verdict on a published figure. `target` is the text that names the target.
pub fn published(found: &PublishedComparison, target: &str) -> String {
    let ratio = found.ratio.unwrap_or_default();
    let why = match &found.reason {
        PublishedReason::NotMeasured => "This figure was not measured".to_owned(),
        PublishedReason::Different { because } => {
            format!("Not comparable because {}", because.trim_end_matches('.'))
        }
        PublishedReason::NotSteady => {
            "Not comparable: the target was not steady during measurement".to_owned()
        }
        PublishedReason::SteadinessUnknown => {
            "Inconclusive: too short or too noisy to tell whether the target was steady; use a longer hold".to_owned()
        }
        PublishedReason::ClosedLoop => {
            "Not comparable: in a closed loop, latency is time in the producer buffer".to_owned()
        }
        PublishedReason::GeneratorLimited => {
            "Not comparable: the generator was the bottleneck".to_owned()
        }
        PublishedReason::OneRepeat => {
            "Inconclusive: one repeat has no confidence interval; use --repeat 5".to_owned()
        }
        PublishedReason::WideInterval { reach } => format!(
            "Inconclusive: the 95 % interval of ±{} is too wide; use more repeats (--repeat) or a \
             longer hold",
            format::percent(*reach)
        ),
        PublishedReason::Agrees { is_inside, reach } => {
            let how = match is_inside {
                true => "the published value lies within the 95 % interval",
                false => "within 10 % of the published value",
            };
            format!("Agrees: {how} (±{})", format::percent(*reach))
        }
        PublishedReason::Higher => format!(
            "The result is {} times the published value",
            format::short(ratio)
        ),
        PublishedReason::Lower => format!(
            "The result is {} of the published value",
            format::percent(ratio)
        ),
    };
    let differs = found.differs.as_ref();
    let differs = differs.map_or_else(String::new, |differs| {
        let differs = differs.trim_end_matches('.');
        format!(" The published test differs: {differs}.")
    });
    format!("{why}. The target was {target}.{differs}")
}

fn value(value: f64, unit: MetricUnit) -> String {
    match unit {
        MetricUnit::RecordsPerSecond => format!("{} records/s", format::figure(value)),
        MetricUnit::BytesPerSecond => format!("{} MB/s", format::short(value / 1e6)),
        MetricUnit::Nanoseconds => format::nanoseconds(value),
        MetricUnit::Records => format::counted(value as u64, "record"),
    }
}

/// `16.0 to 21.2 ms`.
fn between(interval: Interval, unit: MetricUnit) -> String {
    format::pair(
        &value(interval.low, unit),
        "to",
        &value(interval.high, unit),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undecided_goal_shows_its_interval_and_how_many_repeats_decide() {
        let verdict = GoalVerdict {
            goal: String::new(),
            figure: "writers.latency.p99".to_owned(),
            threshold: 20e6,
            measured: Some(18e6),
            interval: Some(Interval {
                low: 11.3e6,
                high: 28.7e6,
            }),
            unit: MetricUnit::Nanoseconds,
            comparison: GoalComparison::LessOrEqual,
            repeats: Some(3),
            repeats_needed: Some(13),
            not_steady: false,
            delayed_by: None,
            word: GoalStatus::Undecided,
        };
        assert_eq!(
            goal(&verdict),
            "measured 18.0 ms (95 % interval 11.3 to 28.7 ms), goal at most 20.0 ms; use \
             --repeat 13 to decide"
        );
        let shaky = GoalVerdict {
            not_steady: true,
            ..verdict
        };
        assert!(
            goal(&shaky).ends_with("20.0 ms, but the target was not steady during measurement")
        );
    }
}
