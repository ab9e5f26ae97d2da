//! What a run would do, without a target: its trials, how long they take, and what they write.

use std::fmt;

use kgauge_scenario::format::{counted, span, without_zeros};
use kgauge_scenario::{Plan, RepeatKey, SearchPlan, TargetKind, Trial};
use kgauge_target::Footprint;
use serde_json::{Value, json};

use crate::announce::time_estimate;
use crate::error::RunError;
use crate::question::Question;
use crate::time_estimate::TimeEstimate;

/// A question, planned for an embedded cluster that is as large as its scenarios need.
#[derive(Debug)]
pub struct RunPreview {
    /// The plan.
    pub plan: Plan,
    /// Every repeat, in order.
    pub steps: Vec<RepeatKey>,
    /// Whether the order is that of a run, because its seed is known.
    pub is_ordered: bool,
    /// How long it should take.
    pub planned: TimeEstimate,
    /// What it would create and write.
    pub footprint: Footprint,
}

impl Question {
    /// What a run would do. Without a seed the order of its repeats is not known.
    ///
    /// # Errors
    /// There is nothing to run.
    pub fn preview(&self, seed: Option<u64>) -> Result<RunPreview, RunError> {
        let cluster = self.unknown_cluster(TargetKind::Embedded);
        let known = seed.or(self.seed);
        let plan = self.plan("RUN", known.unwrap_or_default(), cluster)?;
        let steps = plan.order();
        Ok(RunPreview {
            // The embedded cluster, which needs no warming.
            planned: time_estimate(&plan, &steps, false),
            footprint: Footprint::of_plan(&plan),
            is_ordered: known.is_some(),
            plan,
            steps,
        })
    }
}

impl RunPreview {
    /// The preview for other programs.
    pub fn json(&self) -> Value {
        let plan = &self.plan;
        let trials = plan.trials.iter().map(|trial| {
            json!({
                "scenario": trial.scenario,
                "question": trial.question,
                "trial": trial.name,
                "repeats": trial.repeats,
                "warm_up_ns": trial.stages.warm_up_ns,
                "hold_ns": trial.stages.hold_ns,
                "brokers": trial.cluster.brokers_min(),
                "partitions": trial.topic.partitions,
                "replication": trial.topic.replication,
                "goals": goals(trial),
            })
        });
        let order = self.steps.iter();
        let order = order.map(|step| json!({"trial": step.trial, "repeat": step.repeat}));
        let footprint = &self.footprint;
        json!({
            "study": plan.study.as_ref().map(|study| &study.name),
            "trials": trials.collect::<Vec<_>>(),
            "repeats": self.steps.len(),
            "order": self.is_ordered.then(|| order.collect::<Vec<_>>()),
            "planned_s": self.planned.usual.as_secs_f64(),
            "planned_s_max": self.planned.limit.as_secs_f64(),
            "brokers": plan.cluster.brokers,
            "topics": footprint.topics,
            "records_max": footprint.records,
            "logical_bytes_max": footprint.logical_bytes,
            "stored_bytes_max": footprint.stored_bytes,
            "full_speed_ns": footprint.closed_loop_ns,
            "records_per_s_max": footprint.peak_per_second,
        })
    }

    fn write_trials(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for of_scenario in self.plan.trials.chunk_by(|a, b| a.scenario == b.scenario) {
            let Some(first) = of_scenario.first() else {
                continue;
            };
            writeln!(f, "{}: {}", first.scenario, first.question)?;
            for trial in of_scenario {
                let name = match trial.name.as_str() {
                    "" => String::new(),
                    name => format!("{name}: "),
                };
                writeln!(f, "  {name}{}", length(trial))?;
            }
            // Trials of one scenario share them.
            for fault in &first.faults {
                writeln!(f, "  fault {fault}")?;
            }
            for goal in goals(first) {
                writeln!(f, "  goal {goal}")?;
            }
        }
        Ok(())
    }

    fn write_order(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_varied = self.plan.trials.len() > 1;
        if !is_varied {
            return Ok(());
        }
        if !self.is_ordered {
            return writeln!(
                f,
                "order    random within each scenario; --seed N shows that of a seed"
            );
        }
        for (index, step) in self.steps.iter().enumerate() {
            let Some(trial) = self.plan.trials.get(step.trial as usize) else {
                continue;
            };
            let start = if index == 0 { "order    " } else { "         " };
            let name = format!("{} {}", trial.scenario, trial.name);
            writeln!(f, "{start}{}, repeat {}", name.trim(), step.repeat + 1)?;
        }
        Ok(())
    }
}

/// Repeats and stages.
fn length(trial: &Trial) -> String {
    let repeats = counted(trial.repeats.into(), "repeat");
    let hold = match trial.stages.hold_ns {
        Some(ns) => format!("hold {}", without_zeros(&span(ns))),
        None => "hold until all records are done".to_owned(),
    };
    let warm_up = match trial.stages.warm_up_ns {
        0 => "no warm-up".to_owned(),
        ns if trial.stages.is_adaptive() => format!(
            "warm-up {} to {}",
            without_zeros(&span(ns)),
            without_zeros(&span(trial.stages.warm_up_limit_ns()))
        ),
        ns => format!("warm-up {}", without_zeros(&span(ns))),
    };
    format!("{repeats}, {warm_up}, {hold}")
}

/// Those of the trial, and those of its search.
fn goals(trial: &Trial) -> Vec<String> {
    let goals = trial.goals.iter().map(|goal| goal.text.clone());
    let search = trial.search.iter().flat_map(SearchPlan::written_goals);
    goals.chain(search.map(str::to_owned)).collect()
}

impl fmt::Display for RunPreview {
    /// Ends with a line break.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (plan, footprint) = (&self.plan, &self.footprint);
        if let Some(study) = &plan.study {
            writeln!(f, "study {}: {}\n", study.name, study.question)?;
        }
        self.write_trials(f)?;
        writeln!(
            f,
            "\nplan     {}, {}, {}",
            counted(plan.trials.len() as u64, "trial"),
            counted(self.steps.len() as u64, "repeat"),
            self.planned
        )?;
        self.write_order(f)?;
        writeln!(
            f,
            "target   at least {}",
            counted(plan.cluster.brokers.into(), "broker")
        )?;
        writeln!(
            f,
            "topics   {}; partitions up to {}, replicas up to {}",
            footprint.topics_text(),
            footprint.partitions_max,
            footprint.replication_max
        )?;
        writeln!(f, "{}", footprint.load_text())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::question::ScenarioChanges;

    const TEXT: &str = "\
kgauge: 1
name: small
question: Why?
target: {brokers: 3}
topic: {partitions: 6}
flows: [{name: w, kind: produce, shape: {constant: 1k/s}, record: {size: 100 B}}]
stages: {warm-up: 2 s, warm-up-limit: 2 s, hold: 8 s}
vary: {topic.replication: [1, 3]}
goals: [w.latency.p99 <= 20 ms]
repeats: 2
";

    fn preview(seed: Option<u64>) -> RunPreview {
        let question = Question::of_text("small.yaml", TEXT, &ScenarioChanges::default());
        question.unwrap().preview(seed).unwrap()
    }

    #[test]
    fn a_preview_has_trials_time_and_volume() {
        let text = preview(None).to_string();
        // 10,001 records of 100 B, twice for each of two trials.
        for line in [
            "small: Why?",
            "  topic.replication=1: 2 repeats, warm-up 2 s, hold 8 s",
            "  goal w.latency.p99 <= 20 ms",
            "plan     2 trials, 4 repeats, about 42 s",
            "order    random within each scenario; --seed N shows that of a seed",
            "target   at least 3 brokers",
            "topics   4; partitions up to 6, replicas up to 3",
            "rate     up to 1,000 records/s",
        ] {
            assert!(text.lines().any(|one| one == line), "{line:?}\n{text}");
        }
        assert!(
            text.contains("writes   up to 40,004 records, 3.8 MiB"),
            "{text}"
        );
    }

    #[test]
    fn a_search_is_previewed_with_its_goals_and_loads() {
        const STAGES: &str = "stages: {warm-up: 2 s, warm-up-limit: 20 s}";
        const SEARCH: &str = "search: {goals: [p99 <= 20 ms], max-rate: 1k/s}\nrepeats: 1";
        let text = TEXT
            .replace(
                "stages: {warm-up: 2 s, warm-up-limit: 2 s, hold: 8 s}",
                STAGES,
            )
            .replace("shape: {constant: 1k/s}", "shape: max")
            .replace("vary: {topic.replication: [1, 3]}\n", "")
            .replace("goals: [w.latency.p99 <= 20 ms]\nrepeats: 2", SEARCH);
        let question = Question::of_text("small.yaml", &text, &ScenarioChanges::default());
        let text = question.unwrap().preview(None).unwrap().to_string();
        for line in [
            "  goal p99 <= 20 ms",
            "topics   about 17; partitions up to 6, replicas up to 1",
            "search   loads of up to 1 min 02 s each",
        ] {
            assert!(text.lines().any(|one| one == line), "{line:?}\n{text}");
        }
        // Only the trial at full speed has a warm-up with a limit.
        assert!(!text.contains("warm-ups need their limit"), "{text}");
    }

    #[test]
    fn the_order_of_a_seed_is_that_of_the_run() {
        let preview = preview(Some(7));
        assert_eq!(preview.steps, preview.plan.order());
        let text = preview.to_string();
        assert_eq!(text.matches(", repeat 2\n").count(), 2, "{text}");
        let json = preview.json();
        assert_eq!(json["order"].as_array().unwrap().len(), 4);
        assert_eq!(json["records_max"], 40_004);
        assert_eq!(json["trials"][1]["goals"][0], "w.latency.p99 <= 20 ms");
    }
}
