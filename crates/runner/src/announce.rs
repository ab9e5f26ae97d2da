//! What a run reports before it begins: how much there is to do, and how long that takes.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use kgauge_scenario::format::seconds;
use kgauge_scenario::{
    AbKind, AbPlan, ClusterNeeds, FlowPlan, Plan, RepeatKey, SearchPlan, Shape, Stages, Trial,
};

use crate::observer::Announcement;
use crate::time_estimate::{TimeEstimate, plain, rounded};
use crate::{warm_up, warming};

/// The assumed speed of a flow at full speed that ends after a number of records. Most flows are faster, so a run
/// rarely takes longer than announced.
const RECORDS_PER_S: f64 = 500e3;
const BYTES_PER_S: f64 = 150e6;

/// Time to start a cluster of Apache Kafka: two starts of Java, one after the other, and what each broker adds
/// on two cores.
const KAFKA_NS: u64 = 4_000_000_000;
const KAFKA_BROKER_NS: u64 = 2_000_000_000;

/// Time until a replicator has found its topic.
const MIRROR_NS: u64 = 10_000_000_000;

/// Time to start a cluster for each step that needs another one than the step before it, and to warm the brokers of
/// every cluster. The first cluster is already running.
fn clusters_ns(plan: &Plan, steps: &[RepeatKey], warming_ns: u64) -> u64 {
    let needs = steps
        .iter()
        .filter_map(|step| Some(&plan.trials.get(step.trial as usize)?.cluster));
    let needs: Vec<&ClusterNeeds> = needs.collect();
    let starts = needs
        .windows(2)
        .filter(|pair| !pair[0].shares_with(pair[1]));
    let starts_release = plan.cluster.kind.is_started_release();
    let of_start = |pair: &[&ClusterNeeds]| {
        let brokers = pair[1].brokers_exactly().unwrap_or(plan.cluster.brokers);
        let kafka_ns = match starts_release {
            true => KAFKA_NS + KAFKA_BROKER_NS * u64::from(brokers),
            false => 0,
        };
        let mirror = pair[1].mirror.as_ref();
        warming_ns + kafka_ns + mirror.map_or(0, |_| kafka_ns + MIRROR_NS)
    };
    starts.map(of_start).sum::<u64>() + warming_ns
}

/// How long the steps of a plan take, with starting clusters between them; `warms` if new brokers are warmed.
pub(crate) fn time_estimate(plan: &Plan, steps: &[RepeatKey], warms: bool) -> TimeEstimate {
    let time = |warm_up_ns: fn(&Stages) -> u64, warming_ns: u64| {
        let warming_ns = if warms { warming_ns } else { 0 };
        let clusters_ns = clusters_ns(plan, steps, warming_ns);
        let once = steps_ns(plan, steps, warm_up_ns).saturating_add(clusters_ns);
        let once = Duration::from_nanos(once);
        plan.ab.as_ref().map_or(once, |test| test_time(test, once))
    };
    TimeEstimate {
        usual: time(warm_up::usual_ns, warming::USUAL_NS),
        limit: time(Stages::warm_up_limit_ns, warming::LIMIT_NS),
    }
}

/// What an A/B test takes in most cases, if a block takes `block`.
fn test_time(test: &AbPlan, block: Duration) -> Duration {
    /// Blocks until a difference of two standard deviations is found, or none is.
    const BLOCKS: u32 = 12;
    let blocks = match test.kind {
        AbKind::Same => test.blocks_max,
        AbKind::Settings | AbKind::Scenarios | AbKind::Targets => BLOCKS.min(test.blocks_max),
    };
    // The other side is measured in turn by another run.
    let is_in_turn = test.own_sides().len() == 1 && !test.is_duet;
    let block = if is_in_turn { block * 2 } else { block };
    let budget = test.budget_ns.map(Duration::from_nanos);
    let time = block * blocks;
    budget.map_or(time, |budget| time.min(budget))
}

/// Duration of all stages. A flow that ends by count is assumed to need its whole hold, if there is one.
fn steps_ns(plan: &Plan, steps: &[RepeatKey], warm_up_ns: fn(&Stages) -> u64) -> u64 {
    let of_step = |(index, step): (usize, &RepeatKey)| {
        let Some(trial) = plan.trials.get(step.trial as usize) else {
            return 0;
        };
        // A preload is made once for repeats that share it, and these follow each other.
        let is_first = index == 0
            || steps
                .get(index - 1)
                .is_none_or(|one| one.trial != step.trial);
        let preload = trial.topic.preload.as_ref();
        let preload_ns = preload
            .filter(|_| is_first || !trial.only_reads())
            .map_or(0, |preload| preload.records.saturating_mul(400));
        let hold_ns = match preload {
            Some(preload) => {
                let read_ns = preload.records.saturating_mul(300);
                read_ns.min(trial.stages.hold_ns.unwrap_or(u64::MAX))
            }
            None => trial.stages.hold_ns.unwrap_or_else(|| counted_ns(trial)),
        };
        let search = trial.search.as_ref();
        // Its loads have a fixed warm-up.
        let search_ns = search.map_or(0, |search| search_ns(search, trial.stages.warm_up_ns));
        let parts = [preload_ns, warm_up_ns(&trial.stages), hold_ns, search_ns];
        parts
            .into_iter()
            .fold(around_ns(trial), u64::saturating_add)
    };
    let each = steps.iter().enumerate().map(of_step);
    each.fold(0, u64::saturating_add)
}

/// Time of a repeat outside of its stages: creating and deleting a topic, connecting, the last responses, and the wait
/// for replicas and disks after full speed.
fn around_ns(trial: &Trial) -> u64 {
    const EACH_NS: u64 = 300_000_000;
    const EACH_REPLICA_NS: u64 = 500_000_000;
    let mut writers = trial.flows.iter().filter_map(FlowPlan::produces);
    match writers.any(|flow| flow.shape == Shape::Max) {
        true => EACH_NS + EACH_REPLICA_NS * u64::from(trial.topic.replication),
        false => EACH_NS,
    }
}

/// Usual time of a search after its trial at full speed.
fn search_ns(search: &SearchPlan, warm_up_ns: u64) -> u64 {
    /// Creating and deleting a topic, connecting, the last responses.
    const BETWEEN_NS: u64 = 1_500_000_000;
    let around_ns = u64::from(SearchPlan::LOADS_USUAL) * (warm_up_ns + BETWEEN_NS);
    let loads_ns = search.windows_usual() * search.window_ns + around_ns;
    search
        .budget_ns
        .map_or(loads_ns, |budget_ns| budget_ns.min(loads_ns))
}

/// How long the flows of a trial take to send their record counts.
fn counted_ns(trial: &Trial) -> u64 {
    let writes = trial.flows.iter().filter_map(FlowPlan::produces);
    let seconds = writes.map(|flow| {
        let records = flow.records_max.unwrap_or(0) as f64;
        let rate = flow.shape.per_second_max().unwrap_or_else(|| {
            let bytes = flow.record.value_bytes_mean().max(1.0);
            RECORDS_PER_S.min(BYTES_PER_S / bytes)
        });
        records / rate.max(1e-9)
    });
    (seconds.fold(0.0, f64::max) * 1e9) as u64
}

impl Announcement<'_> {
    /// The faults, each listed once.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let runs = |trial: &&Trial| self.steps.iter().any(|step| step.trial == trial.index);
        let trials = self.plan.trials.iter().filter(runs);
        for fault in trials.flat_map(|trial| &trial.faults) {
            let text = fault.to_string();
            if !faults.contains(&text) {
                faults.push(text);
            }
        }
        faults
    }

    /// `latency, search for the highest rate with p99 <= 20 ms, about 6 min 50 s, at most 15 min; ...`.
    fn fmt_search(
        &self,
        f: &mut fmt::Formatter<'_>,
        what: &str,
        first: &SearchPlan,
        rest: &[&SearchPlan],
    ) -> fmt::Result {
        let searches = match self.steps.len() {
            1 => "search".to_owned(),
            count => format!("{count} searches"),
        };
        let again = if self.is_resumed { " resumed" } else { "" };
        let goals = first.written_goals();
        let are_equal = rest.iter().all(|search| search.written_goals() == goals);
        let goals = match are_equal {
            true => format!(" with {}", goals.join(" and ")),
            false => String::new(),
        };
        let budget = first.budget_ns.map(Duration::from_nanos);
        let planned = match budget {
            Some(budget) => {
                let usual = plain(rounded(self.planned.usual.min(budget)));
                format!("about {usual}, at most {}", plain(budget))
            }
            None => self.planned.to_string(),
        };
        write!(
            f,
            "{what}, {searches}{again} for the highest rate{goals}, {planned}; seed {}; results \
             in {}",
            self.plan.seed,
            self.dir.display()
        )
    }

    /// `throughput, A/B test of linger.ms=0 and linger.ms=5 by writers.throughput, about 5 min, at most 30 min; ...`.
    fn fmt_test(&self, f: &mut fmt::Formatter<'_>, what: &str, test: &AbPlan) -> fmt::Result {
        let [a, b] = &test.sides;
        let sides = match test.kind {
            AbKind::Same => "of equal sides".to_owned(),
            AbKind::Settings | AbKind::Scenarios | AbKind::Targets => {
                format!("of {} and {}", a.name, b.name)
            }
        };
        let again = if self.is_resumed { " resumed" } else { "" };
        let budget = test.budget_ns.map(Duration::from_nanos);
        let budget = budget.map_or_else(String::new, |budget| {
            format!(", at most {}", seconds(budget))
        });
        write!(
            f,
            "{what}, A/B test{again} {sides} by {}, about {}{budget}; seed {}; results in {}",
            test.metric,
            seconds(rounded(self.planned.usual)),
            self.plan.seed,
            self.dir.display()
        )
    }
}

impl fmt::Display for Announcement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (plan, steps) = (self.plan, self.steps);
        let what = match (&plan.study, plan.trials.first()) {
            (Some(study), _) => format!("study {}", study.name),
            (None, Some(trial)) => trial.scenario.clone(),
            (None, None) => String::new(),
        };
        if let Some(test) = &plan.ab {
            return self.fmt_test(f, &what, test);
        }
        if let Some(tune) = &plan.tune {
            return write!(
                f,
                "{what}, search for better settings by {}, at most {}; seed {}; results in {}",
                tune.metric,
                seconds(self.planned.limit),
                plan.seed,
                self.dir.display()
            );
        }
        if self.is_checkup {
            return write!(
                f,
                "checkup, at most {}; seed {}; results in {}",
                seconds(self.planned.limit),
                plan.seed,
                self.dir.display()
            );
        }
        let trials: BTreeSet<u32> = steps.iter().map(|step| step.trial).collect();
        let searches = trials.iter().map(|trial| {
            let trial = plan.trials.get(*trial as usize)?;
            trial.search.as_ref()
        });
        if let Some([first, rest @ ..]) = searches.collect::<Option<Vec<_>>>().as_deref() {
            return self.fmt_search(f, &what, first, rest);
        }
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        write!(
            f,
            "{what}, {} trial{}, {} repeat{} {}, {}; seed {}; results in {}",
            trials.len(),
            plural(trials.len()),
            steps.len(),
            plural(steps.len()),
            if self.is_resumed {
                "left to do"
            } else {
                "in all"
            },
            self.planned,
            plan.seed,
            self.dir.display()
        )
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::question::{Question, ScenarioChanges};

    fn announced(search: &str) -> String {
        let text = format!(
            "kgauge: 1\nname: small\nquestion: Why?\ntopic: {{partitions: 6}}\nflows:\n  \
             - {{name: w, kind: produce, shape: max, record: {{size: 100 B}}}}\n\
             stages: {{warm-up: 2 s, warm-up-limit: 2 s}}\nrepeats: 1\n\
             search: {{goals: [p99 <= 20 ms, failed <= 1], {search}}}\n"
        );
        let question = Question::of_text("small.yaml", &text, &ScenarioChanges::default());
        let preview = question.unwrap().preview(Some(7)).unwrap();
        Announcement {
            plan: &preview.plan,
            steps: &preview.steps,
            dir: Path::new("runs/1"),
            is_resumed: false,
            planned: preview.planned,
            is_checkup: false,
        }
        .to_string()
    }

    #[test]
    fn a_search_is_announced_with_its_goals_and_budget() {
        // 2 s + 10 s + 0.8 s at full speed; 34 windows of 10 s; 16 times 2 s + 1.5 s: 408.8 s.
        assert_eq!(
            announced("width: 2 %"),
            "small, search for the highest rate with p99 <= 20 ms and failed <= 1, about 6 min \
             50 s; seed 7; results in runs/1"
        );
        let text = announced("budget: 3 min");
        assert!(text.contains("about 3 min, at most 3 min"), "{text}");
    }
}
