//! What users type for built-in scenarios: goals without a flow's name, and mistakes in the values of options.

use crate::figure::{FigureName, Metric, Statistic};
use crate::keys::figures::split_goal;
use crate::scenario::Scenario;
use crate::yaml_text::quoted;

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

/// The mistakes in a text, each with the option that it comes from and its fix: the user never wrote the text around
/// them.
pub(crate) fn mistakes(text: &str) -> Vec<String> {
    let Err(problems) = Scenario::parse("options", text) else {
        return Vec::new();
    };
    let of_options = problems.iter().filter_map(|problem| {
        let option = option_of(&problem.path)?;
        Some(format!("--{option}: {}\n  {}", problem.what, problem.cure))
    });
    of_options.collect()
}

/// Ends of paths, and the options that set them.
const OPTIONS: [(&str, &str); 17] = [
    ("settings.acks", "acks"),
    ("settings.compression.type", "compression"),
    ("settings.linger.ms", "linger"),
    ("settings.batch.size", "batch-size"),
    ("record.size", "record-size"),
    ("shape.constant", "rate"),
    ("producers", "producers"),
    ("consumers", "consumers"),
    ("groups", "groups"),
    ("topic.partitions", "partitions"),
    ("topic.replication", "replication"),
    ("stages.hold", "duration"),
    ("search.duration", "duration"),
    ("search.window", "window"),
    ("search.width", "width"),
    ("search.budget", "budget"),
    ("search.max-rate", "max-rate"),
];

fn option_of(path: &str) -> Option<&'static str> {
    if path.starts_with("goals") || path.starts_with("search.goals") {
        return Some("goal");
    }
    let mut options = OPTIONS.iter();
    let found = options.find(|(end, _)| path.ends_with(end));
    found.map(|(_, option)| *option)
}

/// The mistakes in a goal of a search, whatever its flows are.
pub(crate) fn mistakes_of_search(goal: &str) -> Vec<String> {
    let figure = split_goal(goal).map_or("", |(figure, ..)| figure);
    let flow = FigureName::parse(figure).map_or_else(|_| "writers".to_owned(), |name| name.flow);
    mistakes(&format!(
        "kgauge: 1\nname: goal\nquestion: Q?\ntopic: {{partitions: 1}}\nflows:\n  - name: {}\n    kind: produce\n    \
         shape: max\n    record: {{size: 1 B}}\nstages: {{warm-up: 1 s}}\nrepeats: 1\nsearch:\n  goals:\n    - {}\n",
        quoted(&flow),
        quoted(goal.trim())
    ))
}
