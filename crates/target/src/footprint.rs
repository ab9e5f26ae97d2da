//! What a run would do to a cluster, shown before it starts.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use kgauge_scenario::format::{binary_bytes, count, seconds};
use kgauge_scenario::{ClosedLoopPace, Plan, Trial, release_words};

use crate::facts::TargetFacts;

/// Brokers delete the remains of a crashed run this long after its planned end. The time is long because records carry
/// the generator's wall clock, which may differ from the brokers'.
const RETENTION_MARGIN_MS: u64 = 24 * 3_600 * 1_000;

/// Limit on the number of brokers that are listed; beyond it only their number is shown.
const BROKERS_SHOWN: usize = 2;

/// What a run would create and write, as far as the plan determines it.
///
/// Displayed as a few lines of text.
#[derive(Debug, Clone, PartialEq)]
pub struct Footprint {
    /// Kafka's cluster id; clusters before 0.10.1 have none.
    pub cluster_id: Option<String>,
    /// The release, if known.
    pub version: Option<String>,
    /// The brokers' advertised addresses.
    pub brokers: Vec<String>,
    /// The existing topic that all records go to; no topic is created then.
    pub existing_topic: Option<String>,
    /// Number of topics created, over all trials and repeats; of searches as many as usual.
    pub topics: u64,
    /// Common prefix of their names.
    pub name_prefix: String,
    /// Maximum number of partitions of a topic.
    pub partitions_max: u32,
    /// Maximum number of replicas of a partition.
    pub replication_max: u16,
    /// Maximum number of records written, without flows counted in `closed_loop_ns`.
    pub records: u64,
    /// Bytes of their keys and values.
    pub logical_bytes: u64,
    /// Their bytes on the brokers' disks, with all replicas, without compression.
    pub stored_bytes: u64,
    /// How long flows write at full speed without a limit, if every warm-up needs its limit; 0 if none does.
    pub closed_loop_ns: u64,
    /// The highest planned rate of all flows of a trial together, in records per second; `None` if a flow runs at full
    /// speed. Poisson arrivals count with their mean.
    pub peak_per_second: Option<f64>,
    /// The longest load of a search with its warm-up; 0 without a search. With one, the other figures are estimates.
    pub load_ns_max: u64,
}

impl Footprint {
    /// The footprint of a plan on a cluster.
    pub fn of(plan: &Plan, facts: &TargetFacts) -> Footprint {
        Footprint {
            cluster_id: facts.cluster_id.clone(),
            version: facts.version.clone(),
            brokers: facts.brokers.iter().map(|b| b.address.clone()).collect(),
            ..Footprint::of_plan(plan)
        }
    }

    /// The footprint of a plan, as far as it is known without a cluster.
    pub fn of_plan(plan: &Plan) -> Footprint {
        let mut footprint = Footprint {
            cluster_id: None,
            version: None,
            brokers: Vec::new(),
            existing_topic: None,
            topics: 0,
            name_prefix: format!("kgauge-{}-", plan.run_id),
            partitions_max: 0,
            replication_max: 0,
            records: 0,
            logical_bytes: 0,
            stored_bytes: 0,
            closed_loop_ns: 0,
            peak_per_second: Some(0.0),
            load_ns_max: 0,
        };
        for trial in &plan.trials {
            footprint.add(trial);
            // A search adds its loads to the plan while it runs.
            if let Some(loads) = trial.usual_loads() {
                footprint.add(&loads);
            }
            if let Some(load) = trial.longest_load() {
                let load_ns = load.stages.warm_up_ns + load.stages.hold_ns.unwrap_or(0);
                footprint.load_ns_max = footprint.load_ns_max.max(load_ns);
            }
        }
        footprint
    }

    fn add(&mut self, trial: &Trial) {
        let mut volume = trial.bytes_written_max(ClosedLoopPace::ASSUMED);
        if volume.is_assumed {
            // Only volumes that the plan limits are counted.
            volume = trial.bytes_written_max(ClosedLoopPace::NONE);
        }
        let repeats = u64::from(trial.repeats);
        let add = |sum: &mut u64, each: u64| {
            *sum = sum.saturating_add(each.saturating_mul(repeats));
        };
        add(&mut self.topics, 1);
        add(&mut self.records, volume.records);
        add(&mut self.logical_bytes, volume.logical_bytes);
        add(&mut self.stored_bytes, volume.stored_bytes);
        if volume.is_assumed {
            let hold_ns = trial.stages.hold_ns.unwrap_or(0);
            let warm_up_ns = trial.stages.warm_up_limit_ns();
            let span_ns = warm_up_ns.saturating_add(hold_ns);
            add(&mut self.closed_loop_ns, span_ns);
        }
        self.partitions_max = self.partitions_max.max(trial.topic.partitions);
        self.replication_max = self.replication_max.max(trial.topic.replication);
        self.peak_per_second = self
            .peak_per_second
            .zip(peak_per_second(trial))
            .map(|(a, b)| a.max(b));
    }

    /// The number of topics; before one of a search, that it is an estimate.
    pub fn topics_text(&self) -> String {
        match self.load_ns_max {
            0 => self.topics.to_string(),
            _ => format!("about {}", self.topics),
        }
    }

    /// What is written, and how fast, as lines of text.
    pub fn load_text(&self) -> String {
        let mut lines = Vec::new();
        let about = match self.load_ns_max {
            0 => "up to",
            _ => "about",
        };
        if self.records > 0 || self.closed_loop_ns == 0 {
            lines.push(format!(
                "writes   {about} {} records, {}; with all replicas {}",
                count(self.records),
                binary_bytes(self.logical_bytes),
                binary_bytes(self.stored_bytes)
            ));
        }
        if self.closed_loop_ns > 0 {
            let start = match lines.is_empty() {
                true => "writes   ",
                false => "         and ",
            };
            let time = seconds(Duration::from_nanos(self.closed_loop_ns));
            lines.push(format!(
                "{start}as much as the cluster accepts in {about} {time} at full speed"
            ));
        }
        if self.load_ns_max > 0 {
            let longest = seconds(Duration::from_nanos(self.load_ns_max));
            lines.push(format!("search   loads of up to {longest} each"));
        }
        lines.push(match self.peak_per_second {
            Some(rate) => format!("rate     up to {} records/s", count(rate.ceil() as u64)),
            None => "rate     as much as the cluster accepts".to_owned(),
        });
        lines.join("\n")
    }
}

/// All produce flows together; `None` if one of them runs at full speed.
fn peak_per_second(trial: &Trial) -> Option<f64> {
    let mut sum = 0.0;
    for flow in &trial.flows {
        if let Some(flow) = flow.produces() {
            sum += flow.shape.per_second_max()?;
        }
    }
    Some(sum)
}

/// `retention.ms` for the topic of a trial on an existing cluster, so that a crashed run's records expire: the trial's
/// planned time and a day.
///
/// `None` keeps the cluster's own retention. That applies if the scenario sets one, or if the trial has no planned end:
/// then any value could delete records that are still to be read.
pub fn retention_ms(trial: &Trial) -> Option<u64> {
    if has_retention(&trial.topic.config) {
        return None;
    }
    let stages = &trial.stages;
    let planned_ns = stages
        .warm_up_ns
        .saturating_add(stages.hold_ns?)
        .saturating_add(stages.drain_ns_max);
    Some(planned_ns.div_ceil(1_000_000) + RETENTION_MARGIN_MS)
}

fn has_retention(config: &BTreeMap<String, String>) -> bool {
    ["retention.ms", "retention.bytes", "cleanup.policy"]
        .iter()
        .any(|&key| config.contains_key(key))
}

impl fmt::Display for Footprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self
            .cluster_id
            .as_deref()
            .map_or_else(|| "without an id".to_owned(), kgauge_client::shown);
        writeln!(f, "cluster  {id}")?;
        if let Some(version) = &self.version {
            writeln!(f, "release  {}", release_words(version))?;
        }
        let shown = self.brokers.len().min(BROKERS_SHOWN);
        let more = match self.brokers.len() - shown {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let names = self.brokers[..shown].join(", ");
        writeln!(f, "brokers  {}: {names}{more}", self.brokers.len())?;
        if let Some(topic) = &self.existing_topic {
            writeln!(
                f,
                "topics   none; it writes to {topic}, and its records stay there"
            )?;
        } else {
            writeln!(
                f,
                "topics   {} to create; partitions up to {}, replicas up to {}",
                self.topics_text(),
                self.partitions_max,
                self.replication_max
            )?;
            writeln!(f, "names    {}*", self.name_prefix)?;
        }
        f.write_str(&self.load_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::BrokerFacts;
    use kgauge_scenario::{Scenario, Size, TargetKind};

    fn trials(flow: &str, topic: &str) -> Vec<Trial> {
        let text = format!(
            "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: 6{topic}}}\nflows:\n  \
             - {{name: w, kind: produce, record: {{size: 100 B}}, {flow}}}\n\
             stages: {{warm-up: 2 s, warm-up-limit: 2 s, hold: 8 s}}\n"
        );
        let scenario = Scenario::parse("a.yaml", &text).unwrap();
        scenario.trials(Size::Default)
    }

    fn footprint(flow: &str) -> Footprint {
        let mut trials = trials(flow, "");
        trials[0].repeats = 3;
        footprint_of(trials)
    }

    fn footprint_of(trials: Vec<Trial>) -> Footprint {
        let broker = |id: i32| BrokerFacts {
            id,
            address: format!("10.0.0.{id}:9092"),
            rack: None,
            settings: BTreeMap::new(),
        };
        let facts = TargetFacts {
            kind: TargetKind::Existing,
            cluster_id: Some("abc".to_owned()),
            bootstrap_servers: vec!["10.0.0.1:9092".to_owned()],
            same_machine: Some(false),
            version: None,
            brokers: vec![broker(1), broker(2), broker(3)],
            missing: Vec::new(),
            settings_known: Vec::new(),
        };
        let plan = Plan {
            format: Plan::FORMAT,
            run_id: "r1".to_owned(),
            seed: 1,
            size: Size::Default,
            study: None,
            cluster: facts.for_plan(),
            trials,
            ab: None,
            tune: None,
        };
        Footprint::of(&plan, &facts)
    }

    #[test]
    fn a_rate_is_told_with_all_repeats() {
        let footprint = footprint("shape: {constant: 10k/s}");
        // Three times the 100,001 records of 10 s.
        assert_eq!(footprint.records, 300_003);
        assert_eq!(footprint.closed_loop_ns, 0);
        assert_eq!(footprint.peak_per_second, Some(10_000.0));
        let text = footprint.to_string();
        assert!(text.contains("3: 10.0.0.1:9092, 10.0.0.2:9092 and 1 more"));
        assert!(text.contains("topics   3 to create; partitions up to 6"));
        assert!(text.contains("names    kgauge-r1-*"));
        assert!(text.contains("300,003 records, 28.6 MiB"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    }

    #[test]
    fn an_existing_topic_replaces_the_created_ones() {
        let mut footprint = footprint("shape: {constant: 10k/s}");
        footprint.existing_topic = Some("orders".to_owned());
        let text = footprint.to_string();
        assert!(text.contains("topics   none; it writes to orders, and its records stay there"));
        assert!(
            !text.contains("to create") && !text.contains("names"),
            "{text}"
        );
    }

    #[test]
    fn full_speed_shows_its_duration_and_no_rate() {
        let text = footprint("shape: max").to_string();
        assert!(
            text.contains("as much as the cluster accepts in up to 30 s"),
            "{text}"
        );
        assert!(text.ends_with("as much as the cluster accepts"), "{text}");
        assert!(!text.contains("up to 0 records"), "{text}");
    }

    #[test]
    fn a_search_counts_its_loads_and_names_the_longest() {
        let of = |search: &str| {
            let text = format!(
                "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: 6}}\nflows:\n  \
                 - {{name: w, kind: produce, record: {{size: 100 B}}, shape: max}}\n\
                 stages: {{warm-up: 2 s, warm-up-limit: 2 s}}\nrepeats: 1\n\
                 search: {{goals: [p99 <= 20 ms], {search}}}\n"
            );
            footprint_of(
                Scenario::parse("a.yaml", &text)
                    .unwrap()
                    .trials(Size::Default),
            )
        };
        let text = of("window: 10 s").to_string();
        // 16 loads and the trial at full speed; the bounds take 3 x 60 s more than one window.
        assert!(text.contains("topics   about 17 to create"), "{text}");
        assert!(
            text.contains("search   loads of up to 1 min 02 s each"),
            "{text}"
        );
        assert!(text.ends_with("as much as the cluster accepts"), "{text}");
        let limited = of("window: 10 s, max-rate: 1k/s");
        // 12 s at full speed, and 16 loads of 2 s + 34/16 windows; one more for the record at time 0 of each.
        assert_eq!(limited.records, 12_001 + 16 * 23_251);
        assert_eq!(limited.closed_loop_ns, 0);
        // 46.5 s are two such loads.
        assert_eq!(of("window: 10 s, budget: 50 s").topics, 3);
    }

    #[test]
    fn full_speed_up_to_a_count_is_told_by_that_count() {
        let mut trial = trials("shape: max, records: 20000", "").remove(0);
        trial.stages.warm_up_ns = 0;
        let mut footprint = footprint("shape: max");
        (footprint.records, footprint.closed_loop_ns) = (0, 0);
        trial.repeats = 1;
        footprint.add(&trial);
        // One more for the record at time 0.
        assert_eq!((footprint.records, footprint.closed_loop_ns), (20_001, 0));
    }

    #[test]
    fn retention_outlasts_the_trial_and_yields_to_the_scenario() {
        let mut trial = trials("shape: {constant: 1/s}", "").remove(0);
        trial.stages.drain_ns_max = 5_000_000_000;
        assert_eq!(retention_ms(&trial), Some(15_000 + 86_400_000));
        let config = &mut trial.topic.config;
        config.insert("retention.ms".to_owned(), "1".to_owned());
        assert_eq!(retention_ms(&trial), None);
        trial.topic.config.clear();
        trial.stages.hold_ns = None;
        assert_eq!(retention_ms(&trial), None);
    }
}
