//! Goals of built-in scenarios, as the user typed them: without a flow's name, and with mistakes.

use crate::figure::{FigureName, Metric, Statistic};
use crate::keys::figures::split_goal;
use crate::scenario::Scenario;

/// The goal with the name of the flow that it means: `p99 <= 20 ms` is one of `writers.latency.p99`. `latency` is what
/// the flow measures, such as `writers.latency`.
pub(crate) fn qualified(goal: &str, flow: &str, latency: &str) -> String {
    let goal = goal.trim();
    let Some((figure, ..)) = split_goal(goal) else {
        return goal.to_owned();
    };
    if Statistic::parse(figure).is_some() {
        return format!("{latency}.{goal}");
    }
    match Metric::parse(figure) {
        Ok(_) => format!("{flow}.{goal}"),
        Err(_) => goal.to_owned(),
    }
}

/// The first mistake in the goals of a text that has no other, with its fix; the user never wrote the text around it.
pub(crate) fn mistake(text: &str) -> Option<String> {
    let problems = Scenario::parse("goal", text).err()?;
    let mut problems = problems.iter();
    let of_goal = problems.find(|problem| {
        let path = problem.path.strip_prefix("search.");
        path.unwrap_or(&problem.path).starts_with("goals")
    })?;
    Some(format!("{}\n  {}", of_goal.what, of_goal.cure))
}

/// The mistake in a goal of a search, whatever its flows are.
pub(crate) fn mistake_of_search(goal: &str) -> Option<String> {
    let figure = split_goal(goal).map_or("", |(figure, ..)| figure);
    let flow = FigureName::parse(figure).map_or_else(|_| "writers".to_owned(), |name| name.flow);
    mistake(&format!(
        "kgauge: 1\nname: goal\nquestion: Q?\ntopic: {{partitions: 1}}\nflows:\n  - name: {}\n    kind: produce\n    \
         shape: max\n    record: {{size: 1 B}}\nstages: {{warm-up: 1 s}}\nrepeats: 1\nsearch:\n  goals:\n    - {}\n",
        quoted(&flow),
        quoted(goal.trim())
    ))
}

/// A value of a line of YAML: in quotes if it could be read as anything but a text.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " .<>=%/-?,_".contains(letter);
    let is_word = text.starts_with(|first: char| first.is_ascii_alphabetic());
    match is_word && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "''")),
    }
}
