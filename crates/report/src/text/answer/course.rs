//! How figures change with a setting or over time, and which trial is best.

use kgauge_analyze::answer::{
    CourseDirection, CoursePoint, FigureCourse, FigureFinding, KeptRates, ScenarioAnswer, TimeTrend,
};
use kgauge_analyze::compare::FigureKind;
use kgauge_analyze::statistics::Steadiness;
use kgauge_analyze::summary::{FlowKind, GoalStatus};

use super::words::{
    AnswerNames, LETTERS_MAX, WORTH_FROM, apart, change, detectable, is_plural, join_short,
    opening, range, undecided, value,
};
use crate::format;

/// Trials that are named beside the best.
const NAMED_MAX: usize = 2;
/// A change of throughput over time that no reader would care about.
const CHANGE_MIN: f64 = 0.08;

/// The trend over a setting; `None` if no figure could be compared.
pub(super) fn trend(
    names: &AnswerNames,
    answer: &ScenarioAnswer,
    setting: &str,
    figures: &[FigureCourse],
    kept: Option<&KeptRates>,
) -> Option<String> {
    let main = FigureCourse::main_of(figures)?;
    let setting = names.setting(setting);
    let lead = trend_lead(figures, &setting)?;
    let clause = |figure: &FigureCourse| trend_clause(names, figure, &setting);
    let mut clauses = vec![clause(lead)];
    if let FigureFinding::NoDifference { detectable, .. } = main.finding
        && lead != main
    {
        clauses.push(no_change(names, main, detectable));
    }
    clauses.extend(kept.and_then(|kept| kept_clause(names, kept)));
    clauses.extend(goals(names, answer, main));
    let others = figures.iter().filter(|figure| *figure != lead);
    let others = others.filter(|figure| is_another(main, figure, &setting));
    let text = join_short(names.letters_max, clauses, others.map(clause));
    Some(format!("{}.", opening(&text)))
}

/// The figure that a trend opens with, and that its picture shows: the main one, or a time that changes where the main
/// one does not. `setting` is called as in sentences.
pub(crate) fn trend_lead<'f>(
    figures: &'f [FigureCourse],
    setting: &str,
) -> Option<&'f FigureCourse> {
    let main = FigureCourse::main_of(figures)?;
    let mut others = figures.iter();
    let other = others.find(|figure| is_another(main, figure, setting));
    match (main.finding, other) {
        (FigureFinding::NoDifference { .. }, Some(other)) if other.figure.is_latency() => {
            Some(other)
        }
        _ => Some(main),
    }
}

/// The facts besides the main figure: figures that are best in another trial, and lost records.
fn is_another(main: &FigureCourse, figure: &FigureCourse, setting: &str) -> bool {
    let is_large = figure.times.is_some_and(|times| times >= WORTH_FROM);
    let is_worth = match figure.figure {
        FigureKind::Lost => true,
        // Larger records are more bytes.
        FigureKind::WireBytes => is_large && setting != "record.size",
        FigureKind::LatencyP999 | FigureKind::GeneratorCpu => false,
        FigureKind::Capacity
        | FigureKind::CapacityTypical
        | FigureKind::Throughput
        | FigureKind::PerPrice
        | FigureKind::ThroughputBytes
        | FigureKind::LatencyP50
        | FigureKind::LatencyP99
        | FigureKind::TargetCpu => is_large,
    };
    is_worth && figure != main && (figure.figure == FigureKind::Lost || figure.best != main.best)
}

/// `no change found in p99 (219 % or more would have been detected)`.
fn no_change(names: &AnswerNames, course: &FigureCourse, least: f64) -> String {
    let name = names.figure(course.flow.as_ref(), course.figure);
    format!("no change found in {name} ({})", detectable(least, None))
}

fn trend_clause(names: &AnswerNames, course: &FigureCourse, setting: &str) -> String {
    let figure = course.figure;
    let name = names.figure(course.flow.as_ref(), figure);
    let values = || range(figure, course.points.iter().map(|point| point.value));
    let over = || format!("over {} values of {setting}", course.points.len());
    let ends = course.points.first().zip(course.points.last());
    match (course.finding, course.direction, ends) {
        (FigureFinding::Differs, Some(direction), Some((first, last))) => {
            let moves = direction_text(names, course, direction, (first, last));
            format!("{name} {moves}{}", knee(names, course))
        }
        (
            FigureFinding::NoDifference {
                detectable: least,
                more_needed,
            },
            ..,
        ) => {
            let found = match names.is_brief {
                true => format!("No change found in {name} {}", over()),
                false => format!("No change found {}: {name} {}", over(), values()),
            };
            format!("{found} ({})", detectable(least, more_needed))
        }
        (FigureFinding::Undecided { cause }, ..) => {
            format!("{}: {name} {} {}", undecided(cause), values(), over())
        }
        (FigureFinding::Counted, ..) => format!("{name}: {}", counts(names, course)),
        _ => format!("{name} {} {}", values(), over()),
    }
}

/// `rise from 1,200 at 10 B to 30,100 at 100 B (25×)`, `rise from 1,200 at producers 1 to 9,600 at 25 (8.00×)`.
fn direction_text(
    names: &AnswerNames,
    course: &FigureCourse,
    direction: CourseDirection,
    (first, last): (&CoursePoint, &CoursePoint),
) -> String {
    let at = |point: &CoursePoint, label: String| {
        format!("{} at {label}", value(course.figure, point.value))
    };
    // The setting is named once.
    let at_first = |point: &CoursePoint| at(point, names.label(point.trial));
    let at = |point: &CoursePoint| at(point, names.value(point.trial));
    let verb = |one: &'static str, many: &'static str| match is_plural(course.figure) {
        true => many,
        false => one,
    };
    let moves = |verb: &str| {
        let by = change(last.value / first.value);
        format!("{verb} from {} to {} ({by})", at_first(first), at(last))
    };
    let extreme = |verb: &str, is_highest: bool| {
        let points = course.points.iter();
        let found = match is_highest {
            true => points.max_by(|one, next| one.value.total_cmp(&next.value)),
            false => points.min_by(|one, next| one.value.total_cmp(&next.value)),
        };
        let found = found.map_or_else(String::new, at_first);
        format!("{verb} with {found}; {}, {}", at(first), at(last))
    };
    match direction {
        CourseDirection::Rises => moves(verb("rises", "rise")),
        CourseDirection::Falls => moves(verb("falls", "fall")),
        CourseDirection::Peaks => extreme(verb("peaks", "peak"), true),
        CourseDirection::Dips => extreme(verb("is lowest", "are lowest"), false),
    }
}

/// `, within twice the best up to 20k/s`; `, no gain found beyond 64 KiB`.
fn knee(names: &AnswerNames, course: &FigureCourse) -> String {
    // Where the first value is the best, nothing stays close to it.
    let first = course.points.first().map(|point| point.trial);
    let knee = course.knee.filter(|knee| Some(*knee) != first);
    let Some(knee) = knee.map(|knee| names.value(knee)) else {
        return String::new();
    };
    match course.figure.is_latency() {
        true => format!(", within twice the best up to {knee}"),
        false => format!(", no gain found beyond {knee}"),
    }
}

/// `12 (4 KiB), 3 (16 KiB)`: only what is not zero.
fn counts(names: &AnswerNames, course: &FigureCourse) -> String {
    let points = course.points.iter().filter(|point| point.value > 0.0);
    let counts = points.map(|point| {
        let count = value(course.figure, point.value);
        format!("{count} ({})", names.label(point.trial))
    });
    format::few(&counts.collect::<Vec<_>>(), NAMED_MAX)
}

fn kept_clause(names: &AnswerNames, kept: &KeptRates) -> Option<String> {
    let missed = names.value(kept.missed_at?);
    Some(match kept.up_to {
        Some(up_to) => format!(
            "the target kept up to {}, not with {missed}",
            names.value(up_to)
        ),
        None => format!("the target did not keep up with {missed}"),
    })
}

/// Up to which value of the setting the goals hold, by the order of the points.
fn goals(names: &AnswerNames, answer: &ScenarioAnswer, course: &FigureCourse) -> Option<String> {
    let of_trial = |point: &CoursePoint| {
        let mut goals = answer.goals.iter();
        let goals = goals.find(|goals| goals.trial == point.trial)?;
        Some((point.trial, goals.status))
    };
    let goals: Vec<(u32, GoalStatus)> = course.points.iter().filter_map(of_trial).collect();
    let is_held = |goals: &&(u32, GoalStatus)| goals.1 == GoalStatus::Held;
    let held = goals.iter().take_while(is_held).count();
    let up_to = held.checked_sub(1).and_then(|last| goals.get(last));
    let next = goals
        .get(held)
        .map(|(trial, status)| format!("{} at {}", goal_status(*status), names.value(*trial)));
    Some(match (up_to, next) {
        (Some(_), None) => "goals held at each".to_owned(),
        (Some((last, _)), Some(next)) => {
            format!("goals held up to {}, {next}", names.value(*last))
        }
        (None, Some(next)) => {
            let later = goals.iter().find(is_held);
            let later = later.map(|(trial, _)| format!(", held at {}", names.value(*trial)));
            format!("goals {next}{}", later.unwrap_or_default())
        }
        (None, None) => return None,
    })
}

pub(super) fn goal_status(status: GoalStatus) -> &'static str {
    match status {
        GoalStatus::Held => "held",
        GoalStatus::NotHeld => "missed",
        GoalStatus::Undecided => "inconclusive",
        GoalStatus::NotMeasured => "not measured",
    }
}

/// The throughput of a trial over time; `None` if it was not judged.
pub(super) fn over_time(trends: &[TimeTrend]) -> Option<String> {
    let has_several = trends.len() > 1;
    let clauses = trends.iter().map(|trend| {
        let name = match has_several {
            true => format!("{} records/s", trend.flow),
            false => "records/s".to_owned(),
        };
        let moved = match trend.flow_kind {
            FlowKind::Produce => "written",
            FlowKind::Consume => "read",
            FlowKind::Echo => "echoed",
            FlowKind::Unknown => "moved",
        };
        // The change is that of the repeat with the largest one.
        let (each, most) = match trend.repeats > 1 {
            true => (" per repeat", "up to "),
            false => ("", ""),
        };
        let bytes = format::decimal_bytes(trend.bytes);
        let span = format!("{}{each}", format::span((trend.seconds * 1e9) as u64));
        let meanwhile = format!("while {bytes} were {moved} in {span}");
        let change = format!("{most}{}", format::percent(trend.check.change.abs()));
        match trend.check.steadiness {
            Steadiness::Steady => format!(
                "no change found in {name} {meanwhile}; {} or more would have been detected",
                format::percent(trend.check.detectable.max(CHANGE_MIN))
            ),
            Steadiness::Undecided => format!(
                "inconclusive: {name} over {span} ({bytes} {moved}) varied too much to tell (use a \
                 longer hold)"
            ),
            Steadiness::Slowing => format!("{name} fell by {change} {meanwhile}"),
            Steadiness::Warming => format!("{name} rose by {change} {meanwhile}"),
            Steadiness::Shifting => format!(
                "inconclusive: {name} shifted between levels {meanwhile} (use a longer hold)"
            ),
        }
    });
    let text = join_short(LETTERS_MAX, clauses, None);
    (!text.is_empty()).then(|| format!("{}.", opening(&text)))
}

/// The best trial with its lead; `None` if no figure could be compared.
pub(super) fn best(
    names: &AnswerNames,
    answer: &ScenarioAnswer,
    figures: &[FigureCourse],
) -> Option<String> {
    let main = FigureCourse::main_of(figures)?;
    let others = figures.iter().filter(|figure| is_another(main, figure, ""));
    let others = others.map(|figure| other_best(names, figure));
    let missed = answer
        .goals
        .iter()
        .filter(|goals| goals.status != GoalStatus::Held);
    let missed: Vec<u32> = missed.map(|goals| goals.trial).collect();
    let goals = (!answer.goals.is_empty()).then(|| match missed.as_slice() {
        [] => "goals held in all".to_owned(),
        trials => format!(
            "goals not held with {}",
            format::few(&names.labels(trials), NAMED_MAX)
        ),
    });
    let text = join_short(
        names.letters_max,
        [best_clause(names, main)],
        goals.into_iter().chain(others),
    );
    Some(format!("{text}."))
}

/// `p50 best with 4 KiB (250 µs, 8.17× from the worst)`.
fn other_best(names: &AnswerNames, course: &FigureCourse) -> String {
    let name = names.figure(course.flow.as_ref(), course.figure);
    let mut points = course.points.iter();
    let best = points.find(|point| Some(point.trial) == course.best);
    match (best, course.times) {
        (Some(best), Some(times)) => format!(
            "{name} best with {} ({}, {} from the worst)",
            names.label(best.trial),
            value(course.figure, best.value),
            apart(times)
        ),
        _ => format!("{name}: {}", counts(names, course)),
    }
}

fn best_clause(names: &AnswerNames, course: &FigureCourse) -> String {
    let figure = course.figure;
    let name = names.figure(course.flow.as_ref(), figure);
    let values = || range(figure, course.points.iter().map(|point| point.value));
    let trials = course.points.len();
    match course.finding {
        FigureFinding::Differs => winner(names, course, &name),
        FigureFinding::NoDifference {
            detectable: least,
            more_needed,
        } => format!(
            "No difference found between {trials} trials: {name} {} ({})",
            values(),
            detectable(least, more_needed)
        ),
        FigureFinding::Undecided { cause } => {
            format!(
                "{}: {name} {} over {trials} trials",
                undecided(cause),
                values()
            )
        }
        FigureFinding::SetByLoad | FigureFinding::Counted => {
            "The target kept up with the load in every trial".to_owned()
        }
    }
}

/// `Best: 64 KiB with records/s 1,180,000 (±3.0 %), 12 % ahead of 16 KiB, 3.5× the worst (4 KiB)`.
fn winner(names: &AnswerNames, course: &FigureCourse, name: &str) -> String {
    let mut points = course.points.iter();
    let Some(best) = points.find(|point| Some(point.trial) == course.best) else {
        return String::new();
    };
    let figure = course.figure;
    let interval = best.interval.map_or_else(String::new, |ends| {
        format!(" ({})", format::plus_minus(best.value, ends))
    });
    let lead = match (course.beside_best.as_slice(), &course.lead) {
        ([], Some(lead)) => {
            let next = names.label(lead.trial);
            let by = apart(lead.ratio.max(1.0 / lead.ratio));
            format!(", {by} ahead of {next}")
        }
        ([], None) => String::new(),
        (beside, _) => format!(
            ", indistinguishable from {}",
            format::few(&names.labels(beside), NAMED_MAX)
        ),
    };
    let is_next_the_worst = course.lead.as_ref().map(|lead| lead.trial) == course.worst;
    let worst = match (course.worst, course.times) {
        (Some(worst), Some(times)) if !(is_next_the_worst && course.beside_best.is_empty()) => {
            format!(", {} from the worst ({})", apart(times), names.label(worst))
        }
        _ => String::new(),
    };
    format!(
        "Best: {} with {name} {}{interval}{lead}{worst}",
        names.label(best.trial),
        value(figure, best.value)
    )
}
