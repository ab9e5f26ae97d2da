//! The parts of a checkup as texts of scenarios, which are read like every other scenario.

use kgauge_results::run::{CAPACITY_SHARES, CheckupLimits, CheckupPart};

use super::lengths::PartLengths;

/// The share of the capacity at which topics with other numbers of replicas are measured: three replicas instead of one
/// then write less than the capacity.
const REPLICATED_SHARE: f64 = 0.25;
/// Bytes that are written to be read from the start, replicas not counted.
const FROM_START_BYTES_MAX: f64 = 2e9;

/// What the texts of parts are made from.
#[derive(Debug, Clone)]
pub(crate) struct ScenarioBasis<'a> {
    pub(crate) goal: &'a str,
    pub(crate) limits: &'a CheckupLimits,
    pub(crate) lengths: PartLengths,
    pub(crate) producers: u32,
    pub(crate) brokers: u32,
    /// Kafka's `client.id` of all clients, which quotas may name.
    pub(crate) client_id: &'a str,
    /// `min.insync.replicas` of the topics, where the cluster's value is more than their replicas.
    pub(crate) min_insync: Option<u32>,
    /// The rate that keeps the goal, in records per second; 0 before the search.
    pub(crate) capacity: f64,
}

/// The part without load. It is known before the cluster is, so it has one replica.
pub(crate) fn idle() -> String {
    "kgauge: 1\nname: idle\n\
     question: How long does a record take from producer to consumer without other load of kgauge?\n\
     topic: {partitions: 6}\nflows:\n  - name: echo\n    kind: echo\n    shape: {constant: 10/s}\n    \
     record: {size: 1 kB}\nstages: {warm-up: 1 s, warm-up-limit: 1 s, hold: 5 s}\nrepeats: 1\n"
        .to_owned()
}

/// The text of a part; the idle part has its own.
pub(crate) fn text(part: CheckupPart, basis: &ScenarioBasis<'_>) -> String {
    match part {
        CheckupPart::Idle => idle(),
        CheckupPart::Capacity => capacity(basis),
        CheckupPart::EndToEnd => end_to_end(basis),
        CheckupPart::Acks => acks(basis),
        CheckupPart::Replication => replication(basis),
        CheckupPart::Tail => tail(basis),
        CheckupPart::FromStart => from_start(basis),
    }
}

impl ScenarioBasis<'_> {
    /// Records per second at a share of the capacity, at least one.
    pub(crate) fn rate(&self, part: f64) -> String {
        let rate = (self.capacity * part).min(self.limits.rate_max).max(1.0);
        format!("{rate:.0}/s")
    }

    fn head(&self, part: CheckupPart, question: &str, topic: &str) -> String {
        let CheckupLimits {
            partitions,
            replication,
            ..
        } = self.limits;
        // Trials with other numbers of replicas need as many brokers.
        let brokers = self.brokers;
        let min_insync = self.min_insync.map_or_else(String::new, |replicas| {
            format!(", config: {{min.insync.replicas: {replicas}}}")
        });
        format!(
            "kgauge: 1\nname: {}\nquestion: {question:?}\ntarget: {{brokers: {brokers}}}\n\
             topic: {{partitions: {partitions}, replication: {replication}{min_insync}{topic}}}\n\
             flows:\n",
            part.scenario()
        )
    }

    fn writers(&self, shape: &str, settings: &str) -> String {
        format!(
            "  - name: writers\n    kind: produce\n    producers: {}\n    shape: {shape}\n    \
             record: {{size: {} B}}\n    settings: {{client.id: {:?}{settings}}}\n",
            self.producers, self.limits.record_bytes, self.client_id
        )
    }

    fn stages(&self) -> String {
        let PartLengths {
            warm_up_s, hold_s, ..
        } = self.lengths;
        format!(
            "stages: {{warm-up: {warm_up_s} s, warm-up-limit: {warm_up_s} s, hold: {hold_s} s}}\n\
             repeats: 1\n"
        )
    }
}

fn capacity(basis: &ScenarioBasis<'_>) -> String {
    let goal = basis.goal;
    let question = format!("What is the highest rate with {goal}?");
    let PartLengths {
        window_s,
        duration_s,
        width_percent,
        search_s,
        warm_up_s,
        ..
    } = basis.lengths;
    format!(
        "{}{}stages: {{warm-up: {warm_up_s} s, warm-up-limit: {warm_up_s} s}}\nrepeats: 1\n\
         search:\n  goals: [{goal:?}]\n  width: {width_percent} %\n  window: {window_s} s\n  \
         duration: {duration_s} s\n  budget: {search_s} s\n  max-rate: {:.0}/s\n",
        basis.head(CheckupPart::Capacity, &question, ""),
        basis.writers("max", ", acks: all"),
        basis.limits.rate_max
    )
}

fn end_to_end(basis: &ScenarioBasis<'_>) -> String {
    let question = "How long do records take from producer to consumer at shares of the capacity?";
    let rates = CAPACITY_SHARES.map(|part| basis.rate(part));
    format!(
        "{}  - name: echo\n    kind: echo\n    producers: {}\n    consumers: {}\n    \
         shape: {{constant: {}}}\n    record: {{size: {} B}}\n    \
         settings: {{client.id: {:?}, acks: all}}\n{}vary:\n  echo.shape.constant: [{}]\n",
        basis.head(CheckupPart::EndToEnd, question, ""),
        basis.producers,
        basis.producers,
        rates[0],
        basis.limits.record_bytes.max(ECHO_BYTES_MIN),
        basis.client_id,
        basis.stages(),
        rates.join(", ")
    )
}

/// Echo flows keep a stamp in the value.
const ECHO_BYTES_MIN: u64 = 64;

/// With one replica, both values mean the same, so the topic has as many as [`replication`] compares with one.
fn acks(basis: &ScenarioBasis<'_>) -> String {
    let shape = format!("{{constant: {}}}", basis.rate(REPLICATED_SHARE));
    let limits = CheckupLimits {
        replication: replicas_compared(basis.limits.replication, basis.brokers),
        ..basis.limits.clone()
    };
    let replicated = ScenarioBasis {
        limits: &limits,
        ..basis.clone()
    };
    format!(
        "{}{}{}vary:\n  writers.settings.acks: [1, all]\n",
        replicated.head(CheckupPart::Acks, "How much latency does acks=all add?", ""),
        basis.writers(&shape, ", enable.idempotence: false"),
        basis.stages()
    )
}

fn replication(basis: &ScenarioBasis<'_>) -> String {
    let shape = format!("{{constant: {}}}", basis.rate(REPLICATED_SHARE));
    let most = replicas_compared(basis.limits.replication, basis.brokers);
    let one_replica = ScenarioBasis {
        min_insync: Some(1),
        ..basis.clone()
    };
    format!(
        "{}{}{}vary:\n  topic.replication: [1, {most}]\n",
        one_replica.head(
            CheckupPart::Replication,
            "How much latency do replicas add?",
            ""
        ),
        basis.writers(&shape, ", acks: all"),
        basis.stages()
    )
}

/// The number of replicas that is compared with one: the default, or what it should be.
fn replicas_compared(default: u16, brokers: u32) -> u16 {
    match default {
        0 | 1 => brokers.min(3) as u16,
        default => default,
    }
}

fn tail(basis: &ScenarioBasis<'_>) -> String {
    let shape = format!("{{constant: {}}}", basis.rate(0.5));
    format!(
        "{}{}{}{}",
        basis.head(
            CheckupPart::Tail,
            "Do consumers keep up at half of the capacity?",
            ""
        ),
        basis.writers(&shape, ", acks: all"),
        readers(basis, "from: latest"),
        basis.stages()
    )
}

fn readers(basis: &ScenarioBasis<'_>, from: &str) -> String {
    format!(
        "  - name: readers\n    kind: consume\n    consumers: {}\n    partitions: split\n    {from}\n    \
         settings: {{client.id: {:?}}}\n",
        basis.producers.min(basis.limits.partitions),
        basis.client_id
    )
}

fn from_start(basis: &ScenarioBasis<'_>) -> String {
    let question = "How fast do consumers read from the start of a topic?";
    let preload = format!(
        ", preload: {{records: {}, record: {{size: {} B}}}}",
        records_from_start(basis),
        basis.limits.record_bytes
    );
    let lengths = basis.lengths;
    format!(
        "{}{}stages: {{warm-up: 0 s, warm-up-limit: 0 s, hold: {} s}}\nrepeats: 1\n{}",
        basis.head(CheckupPart::FromStart, question, &preload),
        readers(basis, "from: earliest\n    records: all"),
        lengths.warm_up_s + lengths.hold_s,
        match lengths.reads_disk {
            true => "vary:\n  topic.preload.cached: [true, false]\n",
            false => "",
        }
    )
}

/// What the capacity writes in a few seconds, but no more than a third of what may be on disk.
fn records_from_start(basis: &ScenarioBasis<'_>) -> u64 {
    let limits = basis.limits;
    let stored = (limits.record_bytes * u64::from(limits.replication)) as f64;
    let by_rate = basis.capacity.min(limits.rate_max) * basis.lengths.preload_s as f64;
    let by_disk = limits.disk_bytes_max as f64 / 3.0 / stored;
    let by_bytes = FROM_START_BYTES_MAX / limits.record_bytes as f64;
    by_rate.min(by_disk).min(by_bytes).max(1_000.0) as u64
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::time::Duration;

    use kgauge_results::run::RateLimit;
    use kgauge_scenario::{Scenario, Size};

    use super::*;

    fn limits() -> CheckupLimits {
        CheckupLimits {
            budget_s: 900,
            load_s: 900,
            topics_max: 81,
            record_bytes: 1_000,
            partitions: 6,
            replication: 3,
            rate_max: 400_000.0,
            rate_limit: RateLimit::Disk,
            written_bytes_max: 1,
            disk_bytes_max: 60_000_000_000,
        }
    }

    fn basis(limits: &CheckupLimits) -> ScenarioBasis<'_> {
        ScenarioBasis {
            goal: "p99 <= 20 ms",
            limits,
            lengths: PartLengths::of(Duration::from_secs(900), false),
            producers: 4,
            brokers: 3,
            client_id: "our: \"client\"",
            min_insync: Some(2),
            capacity: 200_000.0,
        }
    }

    #[test]
    fn every_part_is_a_scenario_with_as_many_loads_as_planned() {
        let limits = limits();
        let mut basis = basis(&limits);
        for reads_disk in [false, true] {
            basis.lengths = PartLengths::of(Duration::from_secs(900), reads_disk);
            for part in CheckupPart::ALL {
                let text = text(part, &basis);
                let scenario = Scenario::parse(part.scenario(), &text);
                let scenario = scenario.unwrap_or_else(|problems| panic!("{text}\n{problems}"));
                assert_eq!(scenario.name(), part.scenario());
                let trials = scenario.trials(Size::Default);
                assert_eq!(trials.len() as u64, basis.lengths.loads(part), "{text}");
                assert_eq!(trials[0].repeats, 1);
            }
        }
    }

    #[test]
    fn consumers_read_from_the_page_cache_first_and_then_from_disk() {
        let limits = limits();
        let mut basis = basis(&limits);
        basis.lengths.reads_disk = true;
        let scenario = Scenario::parse("from-start", &text(CheckupPart::FromStart, &basis));
        let trials = scenario.unwrap().trials(Size::Default);
        let preloads = trials.iter().map(|trial| trial.topic.preload.as_ref());
        let cached = preloads.map(|preload| preload.unwrap().cached);
        assert_eq!(cached.collect::<Vec<bool>>(), [true, false]);
    }

    #[test]
    fn acks_are_compared_on_replicated_topics() {
        let mut limits = limits();
        limits.replication = 1;
        let text = text(CheckupPart::Acks, &basis(&limits));
        assert!(text.contains("replication: 3"), "{text}");
        assert!(text.contains("constant: 50000/s"), "{text}");
    }

    #[test]
    fn rates_are_shares_of_the_capacity_below_the_limit() {
        let limits = limits();
        let mut basis = basis(&limits);
        assert_eq!(basis.rate(0.25), "50000/s");
        basis.capacity = 1e9;
        assert_eq!(basis.rate(0.25), "400000/s");
        basis.capacity = 0.0;
        assert_eq!(basis.rate(0.25), "1/s");
    }

    #[test]
    fn what_is_read_from_the_start_is_bounded_by_disk_and_bytes() {
        let mut limits = limits();
        // 8 s of 200,000 records.
        assert_eq!(records_from_start(&basis(&limits)), 1_600_000);
        // A third of 3 GB in three replicas of 1,000 bytes.
        limits.disk_bytes_max = 3_000_000_000;
        assert_eq!(records_from_start(&basis(&limits)), 333_333);
    }
}
