//! What a gate found, in a line for each figure, and what to do where it could not decide.

use kgauge_analyze::compare::{AgainstReason, FigureKind, Gate, GateFigure, GateVerdict};

use super::comparison;
use crate::format;

/// Figures beyond it are only counted: the comparison has them all.
const FIGURES_MAX: usize = 40;

/// The lines of a gate, the gravest first, and at last the word of it all.
pub(crate) fn lines(gate: &Gate) -> Vec<String> {
    let mut figures: Vec<&GateFigure> = gate.figures.iter().collect();
    figures.sort_by_key(|figure| std::cmp::Reverse(figure.word));
    let shown = figures.iter().take(FIGURES_MAX);
    let mut lines: Vec<String> = shown.map(|figure| line(figure)).collect();
    let more = figures.len().saturating_sub(FIGURES_MAX);
    if more > 0 {
        lines.push(format!("{more} more figures in the comparison"));
    }
    let unjudged = gate.unjudged.iter();
    lines.extend(unjudged.map(|run| format!("inconclusive: {run} has no figures to judge")));
    lines.push(last(gate, &figures));
    lines
}

/// `worse: records/s of l20, orders: 0.610× (0.450 to 0.830), allowed drop 10 %; the smallest detectable drop is 4.2 %`
fn line(figure: &GateFigure) -> String {
    let word = match figure.word {
        GateVerdict::Passed => "pass",
        GateVerdict::Undecided => "inconclusive",
        GateVerdict::Worse => "worse",
    };
    let place = format!(
        "{word}: {} of {}, {}",
        comparison::figure_name(figure.figure),
        figure.run,
        figure.place
    );
    let change = if figure.figure.more_is_better() {
        "drop"
    } else {
        "rise"
    };
    let detectable = match (figure.detectable, &figure.reason) {
        (Some(part), _) => {
            let part = format::percent(part);
            format!("; the smallest detectable {change} is {part}")
        }
        (None, Some(AgainstReason::OneRepeat)) => format!("; no {change} was detectable"),
        (None, _) => String::new(),
    };
    if let Some(reason) = &figure.reason {
        return format!("{place}: {}{detectable}", comparison::unmeasured(reason));
    }
    let ratio = figure.ratio.map_or_else(String::new, |ratio| {
        let interval = figure.interval.map_or_else(String::new, |found| {
            format!(
                " ({} to {})",
                format::short(found.low),
                format::short(found.high)
            )
        });
        format!("{}×{interval}, ", format::short(ratio))
    });
    format!(
        "{place}: {ratio}allowed {change} {}{detectable}",
        format::percent(figure.allowed)
    )
}

fn last(gate: &Gate, figures: &[&GateFigure]) -> String {
    let count =
        |word: GateVerdict| figures.iter().filter(|figure| figure.word == word).count() as u64;
    let of = format::counted(figures.len() as u64, "figure");
    match gate.word() {
        GateVerdict::Passed => format!("gate passed: {of} judged"),
        GateVerdict::Worse => format!("gate failed: {} of {of} worse", count(GateVerdict::Worse)),
        GateVerdict::Undecided => {
            let undecided = count(GateVerdict::Undecided);
            format!("gate inconclusive: {undecided} of {of}{}", remedy(figures))
        }
    }
}

/// What would decide all figures that nothing but more measuring does.
fn remedy(figures: &[&GateFigure]) -> String {
    let wide = || {
        let wide = |figure: &&&GateFigure| {
            figure.word == GateVerdict::Undecided
                && figure.reason.is_none()
                && figure.detectable.is_some_and(|part| part > figure.allowed)
        };
        figures.iter().filter(wide)
    };
    let repeats = wide()
        .map(|figure| figure.repeats)
        .collect::<Option<Vec<u32>>>();
    let runs = wide().filter_map(|figure| figure.runs).max();
    let mut reasons = figures.iter().map(|figure| &figure.reason);
    let one_repeat = reasons.any(|reason| *reason == Some(AgainstReason::OneRepeat));
    let kinds: Vec<FigureKind> = wide().map(|figure| figure.figure).collect();
    match (repeats.and_then(|all| all.into_iter().max()), runs) {
        (Some(repeats), _) => format!("; use --repeat {repeats}"),
        (None, Some(runs)) => format!("; compare {runs} runs per side (--with)"),
        (None, None) if one_repeat => "; use --repeat 5".to_owned(),
        (None, None) if !kinds.is_empty() => {
            "; raise the allowed change, choose other figures with --metric, or use a quieter \
             machine"
                .to_owned()
        }
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kgauge_analyze::compare::MarkedSide;

    fn figure(detectable: Option<f64>, reason: Option<AgainstReason>) -> GateFigure {
        GateFigure {
            run: "new".to_owned(),
            place: "orders, writers".to_owned(),
            figure: FigureKind::Throughput,
            allowed: 0.10,
            ratio: Some(0.5),
            interval: None,
            detectable,
            repeats: None,
            runs: None,
            word: GateVerdict::Undecided,
            reason,
        }
    }

    #[test]
    fn a_figure_that_a_reason_leaves_undecided_shows_what_would_have_been_detected() {
        let side = MarkedSide::Run;
        let shaky = figure(Some(0.25), Some(AgainstReason::NotSteady { side }));
        let shaky_line = line(&shaky);
        assert!(shaky_line.starts_with("inconclusive: "), "{shaky_line}");
        assert!(
            shaky_line.ends_with("; the smallest detectable drop is 25 %"),
            "{shaky_line}"
        );
        // More repeats do not make a target steady.
        assert_eq!(remedy(&[&shaky]), "");
        let one = line(&figure(None, Some(AgainstReason::OneRepeat)));
        assert!(one.ends_with("; no drop was detectable"), "{one}");
        let missing = AgainstReason::NoFigure { is_baseline: true };
        let missing = line(&figure(None, Some(missing)));
        assert!(!missing.contains("detectable"), "{missing}");
    }
}
