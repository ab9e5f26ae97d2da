//! What a written search means, and what contradicts it.

use crate::check::{Contradiction, closed_loop, fault, note};
use crate::figure::{FigureName, Goal, GoalComparison, Metric};
use crate::flow_values::ConsumeEnd;
use crate::keys::flow::{FlowPlan, ProduceFlow};
use crate::keys::scenario::WrittenScenario;
use crate::keys::search::{GoalFigure, WrittenGoal, WrittenLimit, WrittenSearch};
use crate::reader::ValueReader;
use crate::search::{SearchGoal, SearchPlan, SearchedFlow};
use crate::shape::{Arrivals, Shape};
use crate::suggest::shorten;
use crate::tree::YamlNode;
use crate::value_kind::ListItem;

/// What a written search means; the scenario has been checked.
pub(crate) fn planned(written: &WrittenScenario) -> Option<SearchPlan> {
    let search = written.search.as_ref()?;
    let flows = searched_flows(written, search);
    let mut goals = written_goals(written, search, &flows);
    let before = goals.len();
    add_goals(&mut goals, written, &flows);
    // Flows at full speed are scaled alike.
    let weight = |flow: &ProduceFlow| flow.shape.per_second_max().unwrap_or(1.0);
    let sum: f64 = flows
        .iter()
        .filter_map(|flow| flow.produces())
        .map(weight)
        .sum();
    let of_flow = |flow: &ProduceFlow| SearchedFlow {
        name: flow.name.clone(),
        part: weight(flow) / sum,
        is_poisson: matches!(flow.shape, Shape::Poisson { .. })
            || flow.arrivals == Arrivals::Poisson,
    };
    Some(SearchPlan {
        added: u32::try_from(goals.len() - before).unwrap_or(u32::MAX),
        goals,
        flows: flows
            .iter()
            .filter_map(|flow| flow.produces())
            .map(of_flow)
            .collect(),
        width: search.width,
        window_ns: search.window_ns,
        windows: u32::try_from(search.duration_ns.div_ceil(search.window_ns)).unwrap_or(u32::MAX),
        rate_max: search.rate_max,
        budget_ns: search.budget_ns,
    })
}

fn searched_flows<'a>(written: &'a WrittenScenario, search: &WrittenSearch) -> Vec<&'a FlowPlan> {
    let is_searched = |flow: &&FlowPlan| {
        let mut names = search.flows.iter();
        let is_named = names.any(|name| name.item == flow.name());
        flow.produces().is_some() && (search.flows.is_empty() || is_named)
    };
    written.flows.iter().filter(is_searched).collect()
}

fn written_goals(
    written: &WrittenScenario,
    search: &WrittenSearch,
    flows: &[&FlowPlan],
) -> Vec<SearchGoal> {
    let mut goals: Vec<SearchGoal> = Vec::new();
    for ListItem { item, .. } in &search.goals {
        match item {
            WrittenGoal::ConsumersKeepUp => goals.push(SearchGoal::ConsumersKeepUp),
            WrittenGoal::FollowersKeepUp => goals.push(SearchGoal::FollowersKeepUp),
            WrittenGoal::Limit(limit) => {
                goals.extend(limits(limit, flows).map(SearchGoal::Figure));
            }
        }
    }
    if search.goals.is_empty() {
        let of_scenario = written.goals.iter();
        goals.extend(of_scenario.map(|goal| SearchGoal::Figure(goal.item.clone())));
    }
    goals
}

/// What every search demands, unless the scenario limits the same figure.
fn add_goals(goals: &mut Vec<SearchGoal>, written: &WrittenScenario, flows: &[&FlowPlan]) {
    for metric in [Metric::Failed, Metric::Skipped] {
        for flow in flows {
            let figure = FigureName {
                flow: flow.name().to_owned(),
                metric,
            };
            let is_there = |goal: &SearchGoal| matches!(goal, SearchGoal::Figure(goal) if goal.figure == figure);
            if !goals.iter().any(is_there) {
                goals.push(SearchGoal::Figure(Goal {
                    text: format!("{figure} <= 0"),
                    figure,
                    comparison: GoalComparison::LessOrEqual,
                    value: 0.0,
                }));
            }
        }
    }
    if reads_along(written) && !goals.contains(&SearchGoal::ConsumersKeepUp) {
        goals.push(SearchGoal::ConsumersKeepUp);
    }
    goals.push(SearchGoal::RateKept);
}

/// Whether consumers read what is written, until the end of the hold.
fn reads_along(written: &WrittenScenario) -> bool {
    let is_reader = |flow: &FlowPlan| match flow {
        FlowPlan::Consume(flow) => flow.records == ConsumeEnd::StageEnd,
        FlowPlan::Produce(_) | FlowPlan::Echo(_) => false,
    };
    written.flows.iter().any(is_reader)
}

/// The goals that a limit means: one for each flow.
fn limits(limit: &WrittenLimit, flows: &[&FlowPlan]) -> impl Iterator<Item = Goal> {
    let of_one = match &limit.figure {
        GoalFigure::OfFlow(figure) => Some(figure.clone()),
        GoalFigure::OfSearched(_) | GoalFigure::Time(_) => None,
    };
    let of_searched = flows.iter().filter_map(move |flow| {
        let metric = match (&limit.figure, flow) {
            (GoalFigure::OfFlow(_), _) => return None,
            (GoalFigure::OfSearched(metric), _) => *metric,
            (GoalFigure::Time(statistic), FlowPlan::Echo(_)) => Metric::EndToEnd(*statistic),
            (GoalFigure::Time(statistic), _) => Metric::Latency(*statistic),
        };
        Some(FigureName {
            flow: flow.name().to_owned(),
            metric,
        })
    });
    let figures = of_one.into_iter().chain(of_searched);
    figures.map(move |figure| Goal {
        text: limit.text.clone(),
        figure,
        comparison: limit.comparison,
        value: limit.value,
    })
}

/// Reports what contradicts a search.
pub(crate) fn check(reader: &mut ValueReader<'_>, tree: &YamlNode, written: &WrittenScenario) {
    let Some(search) = &written.search else {
        return;
    };
    check_flows(reader, written, search);
    let flows = searched_flows(written, search);
    for flow in flows.iter().filter_map(|flow| flow.produces()) {
        let is_level = matches!(
            flow.shape,
            Shape::Max | Shape::Constant { .. } | Shape::Poisson { .. }
        );
        if !is_level {
            let path = format!("{}.shape", flow.name);
            let what = "the search sets the rate of this flow";
            note(
                reader,
                tree,
                &path,
                what,
                "write `max`, `constant` or `poisson`",
            );
        }
        if flow.records_max.is_some() {
            let path = format!("{}.records", flow.name);
            let what = "the search sets the length of its loads";
            note(reader, tree, &path, what, "remove it");
        }
    }
    let at_full_speed = |flow: &&&FlowPlan| {
        let flow = flow.produces();
        flow.is_some_and(|flow| flow.shape == Shape::Max)
    };
    let unscaled = flows.iter().filter(at_full_speed).count();
    if unscaled > 0 && unscaled < flows.len() {
        let what = "flows that are scaled together need a rate each, or all of them `max`";
        let cure = "write `shape: {constant: RATE}` in each: the search keeps the ratio";
        note(reader, tree, "search.rate", what, cure);
    }
    if flows.is_empty() && search.flows.is_empty() {
        let what = "no flow writes, so there is no rate to search";
        note(
            reader,
            tree,
            "search.rate",
            what,
            "add a produce or echo flow",
        );
    }
    let goals = |node: Option<&YamlNode>| node.and_then(|node| node.get("goals")).is_some();
    // A goal that was refused has its own message.
    if !goals(tree.get("search")) && !goals(Some(tree)) {
        let what = "the search has no goal";
        let cure = "add one: `goals: [p99 <= 20 ms]`, or --goal 'p99 <= 20 ms'";
        note(reader, tree, "search.goals", what, cure);
    }
    if search.window_ns > search.duration_ns {
        let what = "a window is longer than the duration";
        note(
            reader,
            tree,
            "search.duration",
            what,
            "make it at least `window`",
        );
    }
    check_goals(reader, written, search, &flows);
}

/// Names must be those of flows that write, each once.
fn check_flows(reader: &mut ValueReader<'_>, written: &WrittenScenario, search: &WrittenSearch) {
    for (index, ListItem { item, place, .. }) in search.flows.iter().enumerate() {
        let flow = written.flows.iter().find(|flow| flow.name() == item);
        let is_repeated = search.flows[..index].iter().any(|one| one.item == *item);
        let (what, cure) = match flow {
            None => {
                let names: Vec<&str> = written.flows.iter().map(FlowPlan::name).collect();
                let what = format!("there is no flow `{}`", shorten(item));
                (what, format!("the flows are: {}", names.join(", ")))
            }
            Some(flow) if flow.produces().is_none() => {
                let what = format!("flow `{item}` does not write, so it has no rate");
                (what, "name a produce or echo flow".to_owned())
            }
            Some(_) if is_repeated => {
                let what = format!("flow `{item}` is listed twice");
                (what, "remove one of them".to_owned())
            }
            Some(_) => continue,
        };
        reader.inside(".search.rate", |reader| reader.problem(*place, what, cure));
    }
}

fn check_goals(
    reader: &mut ValueReader<'_>,
    written: &WrittenScenario,
    search: &WrittenSearch,
    flows: &[&FlowPlan],
) {
    for ListItem { item, place, index } in &search.goals {
        let found: Option<Contradiction> = match item {
            WrittenGoal::ConsumersKeepUp if !reads_along(written) => Some((
                "no consumers read along".to_owned(),
                "add a consume flow, or remove the goal".to_owned(),
            )),
            WrittenGoal::FollowersKeepUp if written.topic.replication < 2 => Some((
                "with one replica there are no followers".to_owned(),
                "make `topic.replication` at least 2".to_owned(),
            )),
            WrittenGoal::ConsumersKeepUp | WrittenGoal::FollowersKeepUp => None,
            WrittenGoal::Limit(limit) => limits(limit, flows).find_map(|goal| {
                let is_searched = flows.iter().any(|flow| flow.name() == goal.figure.flow);
                // A searched flow gets a rate, whatever its shape.
                let of_loop = || closed_loop(written, &goal).filter(|_| !is_searched);
                fault(written, &goal.figure).or_else(of_loop)
            }),
        };
        if let Some((what, cure)) = found {
            let step = format!(".search.goals[{index}]");
            reader.inside(&step, |reader| reader.problem(*place, what, cure));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::plan::Trial;
    use crate::{Scenario, Size};

    fn scenario(flows: &str, search: &str) -> String {
        format!(
            "kgauge: 1\nname: s\nquestion: Q?\ntopic: {{partitions: 1}}\nflows:\n{flows}search: {search}\n"
        )
    }

    const WRITERS: &str = "  - {name: writers, kind: produce, shape: max, record: {size: 100 B}}\n";

    fn trial(text: &str) -> Trial {
        let scenario = Scenario::parse("s.yaml", text);
        let scenario = scenario.unwrap_or_else(|problems| panic!("{text}\n{problems}"));
        scenario.trials(Size::Default).remove(0)
    }

    #[test]
    fn a_search_starts_with_a_trial_at_full_speed_and_has_its_own_goals() {
        let trial = trial(&scenario(WRITERS, "{goals: [p99 <= 20 ms]}"));
        let search = trial.search.unwrap();
        assert_eq!((search.window_ns, search.windows), (10_000_000_000, 6));
        assert_eq!(trial.repeats, 1);
        assert_eq!(trial.stages.hold_ns, Some(10_000_000_000));
        let goals: Vec<&str> = search.goals.iter().map(SearchGoal::text).collect();
        assert_eq!(
            goals,
            [
                "p99 <= 20 ms",
                "writers.failed <= 0",
                "writers.skipped <= 0",
                "the offered rate is reached"
            ]
        );
        let SearchGoal::Figure(first) = &search.goals[0] else {
            panic!("{:?}", search.goals);
        };
        assert_eq!(first.figure.to_string(), "writers.latency.p99");
        assert_eq!(first.value, 20e6);
    }

    #[test]
    fn a_load_has_its_rate_and_the_length_of_its_windows() {
        let flows = "  - {name: a, kind: produce, shape: {constant: 3k/s}, record: {size: 100 B}}\n  \
                     - {name: b, kind: echo, shape: {poisson: 1k/s}, record: {size: 100 B}}\n";
        let text = scenario(
            flows,
            "{rate: [a, b], goals: [p99.9 <= 20 ms], window: 5 s}",
        );
        let trial = trial(&text);
        let is_full_speed = |flow: &FlowPlan| flow.produces().unwrap().shape == Shape::Max;
        assert!(trial.flows.iter().all(is_full_speed));
        let load = trial.at_load(7, 8_000.0, 2).unwrap();
        assert_eq!((load.index, load.load), (7, Some(8_000.0)));
        assert_eq!(load.name, "load=8,000/s");
        assert_eq!(load.stages.hold_ns, Some(10_000_000_000));
        let shapes: Vec<Shape> = load
            .flows
            .iter()
            .map(|flow| flow.produces().unwrap().shape.clone())
            .collect();
        assert_eq!(
            shapes,
            [
                Shape::Constant {
                    per_second: 6_000.0
                },
                Shape::Poisson {
                    per_second: 2_000.0
                }
            ]
        );
        let figures: Vec<String> = trial.search.unwrap().goals[..2]
            .iter()
            .map(|goal| match goal {
                SearchGoal::Figure(goal) => goal.figure.to_string(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(figures, ["a.latency.p99.9", "b.end-to-end.p99.9"]);
    }

    #[test]
    fn goals_that_mean_nothing_are_refused() {
        let two = format!(
            "{WRITERS}  - {{name: more, kind: produce, shape: max, record: {{size: 100 B}}}}\n"
        );
        for (flows, search, message) in [
            (WRITERS, "{goals: [p99 <= 20]}", "has no unit"),
            (WRITERS, "{goals: [p99 > 20 ms]}", "does not limit the rate"),
            (
                WRITERS,
                "{goals: [throughput <= 5k/s]}",
                "does not limit the rate",
            ),
            (WRITERS, "{goals: [fast]}", "is not a goal"),
            (
                WRITERS,
                "{goals: [consumers keep up]}",
                "no consumers read along",
            ),
            (WRITERS, "{goals: [followers keep up]}", "no followers"),
            (
                WRITERS,
                "{rate: readers, goals: [p99 <= 1 ms]}",
                "there is no flow",
            ),
            (WRITERS, "{rate: writers}", "the search has no goal"),
            (
                WRITERS,
                "{goals: [p99 <= 1 ms], width: 60 %}",
                "out of range",
            ),
            (
                WRITERS,
                "{goals: [p99 <= 1 ms], window: 1500 ms}",
                "a window of 1.5 s ends within a second",
            ),
            (
                &*two,
                "{rate: writers, goals: [more.latency.p99 <= 1 ms]}",
                "shape: max",
            ),
        ] {
            let text = scenario(flows, search);
            let problems = Scenario::parse("s.yaml", &text).unwrap_err().to_string();
            assert!(problems.contains(message), "{search}: {problems}");
            let has_goals = search.contains("goals");
            assert!(
                !has_goals || !problems.contains("has no goal"),
                "{problems}"
            );
        }
    }

    #[test]
    fn goals_of_the_scenario_serve_a_search_without_goals() {
        let text = scenario(WRITERS, "{width: 5 %}") + "goals: [writers.failed <= 10]\n";
        let trial = trial(&text);
        assert!(trial.goals.is_empty());
        assert_eq!(
            trial.search.unwrap().goals[0].text(),
            "writers.failed <= 10"
        );
    }
}
