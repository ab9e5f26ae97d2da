//! What sizing found, in words and tables for the terminal and the page.

use kgauge_analyze::sizing::{
    CACHE_S, CPU_PART_MAX, CostTerm, Extrapolation, MachineChoice, MissingTrial, ResourceNeed,
    SPACE_PART_MAX, SizeAnswer, SizeError, SizingNeed, SizingResource, SizingRespect, SizingRule,
    THROUGHPUT_PART_MAX, UnusableTrial, UnusableTrials,
};

use crate::format;

/// A table of texts; the first column holds names.
pub(crate) struct SizingTable {
    pub(crate) title: &'static str,
    pub(crate) heads: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// `Three m7g.xlarge ...`: the cheapest cluster, and what asks for its size.
pub(crate) fn answer(answer: &SizeAnswer) -> String {
    let Some(best) = answer.choices.first() else {
        return String::new();
    };
    let partitions = format::plural(
        u64::from(answer.partitions.partitions),
        "partition",
        "partitions",
    );
    let price = best.price_per_month.map_or_else(String::new, |price| {
        format!(", {} a month", format::thousands(price))
    });
    let range = match best.brokers_low == best.brokers_high {
        true => String::new(),
        false => format!(
            " (90 % interval: {} to {})",
            best.brokers_low, best.brokers_high
        ),
    };
    format!(
        "{} of type {}{range}, {} of disk each and at least {partitions}{price}. {}",
        format::plural(u64::from(best.brokers), "broker", "brokers"),
        best.machine.name,
        format::decimal_bytes(best.disk_bytes_each),
        binding(best),
    )
}

fn binding(choice: &MachineChoice) -> String {
    let why = match choice.binding {
        SizingResource::Replicas => "Replicas and losses alone need that many".to_owned(),
        other => format!("{} needs that many", format::capital(resource(other))),
    };
    let used = choice
        .resources
        .iter()
        .find(|need| need.resource == choice.binding);
    match used.and_then(|need| need.used_part) {
        Some(part) => format!(
            "{why}: {} in use at the peak after the loss.",
            format::percent(part)
        ),
        None => format!("{why}."),
    }
}

/// What was asked for, on one line.
pub(crate) fn need(need: &SizingNeed) -> String {
    let mut parts = vec![format!(
        "{}/s of {} records on average, {}/s at the peak",
        format::decimal_bytes(need.rate_bytes_per_s),
        format::decimal_bytes(need.record_bytes),
        format::decimal_bytes(need.peak_bytes_per_s()),
    )];
    parts.push(match need.fan_out {
        0.0 => "never read".to_owned(),
        1.0 => "read once".to_owned(),
        times => format!("read {times} times"),
    });
    parts.push(format!("kept for {}", days(need.retention_s)));
    parts.push(format::plural(
        u64::from(need.replication),
        "replica",
        "replicas",
    ));
    match need.lose {
        0 => {}
        lose => parts.push(format!(
            "{} down",
            format::plural(u64::from(lose), "broker", "brokers")
        )),
    }
    if need.tls {
        parts.push("TLS".to_owned());
    }
    if let Some(p99) = need.latency_ns_p99 {
        parts.push(format!("p99 at most {}", format::nanoseconds(p99)));
    }
    parts.join(", ")
}

fn days(seconds: f64) -> String {
    match seconds / 86_400.0 {
        days if days >= 2.0 => format!("{days} days"),
        days => format!("{} h", days * 24.0),
    }
}

/// A row for each machine type.
pub(crate) fn choices(answer: &SizeAnswer) -> SizingTable {
    let row = |choice: &MachineChoice| {
        let range = match choice.brokers_low == choice.brokers_high {
            true => choice.brokers.to_string(),
            false => format!("{} to {}", choice.brokers_low, choice.brokers_high),
        };
        let of_rule = |rule: SizingRule| {
            let answer = choice.rules.iter().find(|answer| answer.rule == rule);
            let brokers = answer.and_then(|answer| answer.brokers);
            brokers.map_or_else(|| format::NOTHING.to_owned(), |brokers| brokers.to_string())
        };
        vec![
            choice.machine.name.clone(),
            choice.brokers.to_string(),
            range,
            resource(choice.binding).to_owned(),
            format::decimal_bytes(choice.disk_bytes_each),
            choice
                .price_per_month
                .map_or_else(|| format::NOTHING.to_owned(), format::thousands),
            of_rule(SizingRule::CoreRates),
            of_rule(SizingRule::Throughput),
        ]
    };
    SizingTable {
        title: "Machine types",
        heads: vec![
            "type",
            "brokers",
            "90 %",
            "needed for",
            "disk each",
            "a month",
            "rule 1",
            "rule 2",
        ],
        rows: answer.choices.iter().map(row).collect(),
    }
}

/// What each resource of the first machine type asks for.
pub(crate) fn resources(choice: &MachineChoice) -> SizingTable {
    let row = |need: &ResourceNeed| {
        let range = need.interval.map_or_else(String::new, |interval| {
            format!("{} to {}", interval.low, interval.high)
        });
        let used = need
            .used_part
            .map_or_else(|| format::NOTHING.to_owned(), format::percent);
        vec![
            format::capital(resource(need.resource)),
            need.brokers.to_string(),
            range,
            used,
        ]
    };
    SizingTable {
        title: "Resources of the first",
        heads: vec!["resource", "brokers", "90 %", "used at the peak"],
        rows: choice.resources.iter().map(row).collect(),
    }
}

/// What each kind of work costs.
pub(crate) fn costs(answer: &SizeAnswer) -> SizingTable {
    let row = |cost: &kgauge_analyze::sizing::TermCost| {
        let (name, units) = term(cost.term);
        let time = |ns: f64| format::nanoseconds(ns * units);
        let range = format!(
            "{} to {}",
            time(cost.interval.low),
            time(cost.interval.high)
        );
        vec![name.to_owned(), time(cost.cpu_ns), range]
    };
    SizingTable {
        title: "CPU time that the runs' brokers needed",
        heads: vec!["work", "CPU", "90 %"],
        rows: answer.costs.iter().map(row).collect(),
    }
}

/// A name, and of how many units the CPU time is shown.
fn term(term: CostTerm) -> (&'static str, f64) {
    match term {
        CostTerm::InByte => ("1 MB from producers", 1e6),
        CostTerm::Batch => ("a record batch", 1.0),
        CostTerm::ReplicatedByte => ("1 MB replicated", 1e6),
        CostTerm::OutByte => ("1 MB to consumers", 1e6),
        CostTerm::ProduceRequest => ("a produce request", 1.0),
        CostTerm::FetchRequest => ("a fetch request", 1.0),
        CostTerm::TlsByte => ("1 MB over TLS", 1e6),
        CostTerm::BrokerSecond => ("a second of a broker", 1.0),
    }
}

fn resource(resource: SizingResource) -> &'static str {
    match resource {
        SizingResource::Replicas => "replicas",
        SizingResource::Cpu => "CPU",
        SizingResource::NetworkIn => "network in",
        SizingResource::NetworkOut => "network out",
        SizingResource::DiskThroughput => "disk throughput",
        SizingResource::PageCache => "page cache",
        SizingResource::Partitions => "partitions",
        SizingResource::CatchUp => "catching up",
        SizingResource::Latency => "latency",
    }
}

/// What must be known before the answer is used.
pub(crate) fn caveats(answer: &SizeAnswer) -> Vec<String> {
    let mut caveats = Vec::new();
    if answer.basis.release.is_embedded {
        caveats.push(
            "The runs measured kgauge's embedded cluster: this sizes that cluster, not Apache Kafka.".to_owned(),
        );
    }
    caveats.extend(answer.extrapolated.iter().map(extrapolation));
    if answer.basis.generator_limited > 0 {
        let trials = format::plural(u64::from(answer.basis.generator_limited), "trial", "trials");
        caveats.push(format!(
            "The load generator was the limit of {trials}: used for costs, not for what brokers or partitions can do."
        ));
    }
    if answer.partitions.produce_bytes_per_s.is_none() {
        caveats.push(
            "No run wrote at full speed into one partition, so the number of partitions is only that of the replicas."
                .to_owned(),
        );
    }
    caveats.push(
        "A vCPU of each type counts as one processor of the machine that was measured; that was not measured.".to_owned(),
    );
    caveats
}

fn extrapolation(outside: &Extrapolation) -> String {
    let bytes = format::decimal_bytes;
    let (what, needed, measured) = match outside.respect {
        SizingRespect::RecordBytes => {
            ("Records of", bytes(outside.needed), bytes(outside.measured))
        }
    };
    format!(
        "{what} {needed} lie outside of what was measured (nearest: {measured}, a factor of {}).",
        format::short(outside.factor())
    )
}

/// What the answer rests on, and how it was made.
pub(crate) fn basis(answer: &SizeAnswer) -> Vec<String> {
    let basis = &answer.basis;
    let habits = &answer.habits;
    let mut lines = vec![format!(
        "Costs are fitted to {} of {}; a trial's CPU is predicted from the others with a median error of {}.",
        format::plural(u64::from(basis.trials), "trial", "trials"),
        format::plural(basis.runs.len() as u64, "run", "runs"),
        format::percent(answer.cost_error),
    )];
    lines.push(format!(
        "Clients behave as in the runs with the most similar records: {} a batch, {} a produce request, {} bytes of \
         payload per byte on the wire; the busiest broker has {} of an equal part.",
        format::decimal_bytes(habits.batch_bytes),
        format::decimal_bytes(habits.produce_request_bytes),
        format::short(habits.compression_ratio),
        format::percent(habits.skew),
    ));
    lines.push(format!(
        "Planned use at most: CPU {}, network and disk throughput {}, disk space {}; the page cache holds {CACHE_S} s \
         of writes.",
        format::percent(CPU_PART_MAX),
        format::percent(THROUGHPUT_PART_MAX),
        format::percent(SPACE_PART_MAX),
    ));
    lines.push(
        "Rule 1: one vCPU takes 5 MiB/s in and sends 15 MiB/s (AKalculator). Rule 2: bytes by network and disk, without \
         CPU (AWS)."
            .to_owned(),
    );
    if !basis.unusable.is_empty() {
        lines.push(format!("Not used: {}.", unusable(&basis.unusable)));
    }
    lines
}

fn unusable(all: &[UnusableTrials]) -> String {
    let one = |one: &UnusableTrials| {
        let why = match one.why {
            UnusableTrial::NotMeasured => "not measured",
            UnusableTrial::OtherPrograms => "other load on the host",
            UnusableTrial::Warming => "brokers were warming up",
            UnusableTrial::Faults => "with faults",
            UnusableTrial::NoCpu => "CPU time of the brokers unknown",
            UnusableTrial::NoProducers => "without producers",
        };
        format!(
            "{} ({why})",
            format::plural(u64::from(one.trials), "trial", "trials")
        )
    };
    all.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Why there is no size, and what to do.
pub fn size_error(error: &SizeError) -> String {
    match error {
        SizeError::Releases(releases) => {
            let names =
                releases
                    .iter()
                    .map(|release| match (&release.version, release.is_embedded) {
                        (_, true) => "the embedded cluster".to_owned(),
                        (Some(version), _) => format!("Kafka {version}"),
                        (None, _) => "an unknown release".to_owned(),
                    });
            let names = names.collect::<Vec<_>>().join(", ");
            format!("the runs measured different releases: {names}\n  give the runs of one release")
        }
        SizeError::Machines(machines) => {
            let names = machines.iter().map(|machine| {
                let model = machine
                    .cpu_model
                    .as_deref()
                    .unwrap_or("an unknown processor");
                let count = machine
                    .processors
                    .map_or_else(String::new, |count| format!("{count} × "));
                format!("{count}{model}")
            });
            let names = names.collect::<Vec<_>>().join(", ");
            format!(
                "the runs were made on different machines: {names}\n  give the runs of one machine"
            )
        }
        SizeError::Missing {
            trials,
            unusable: all,
        } => {
            let missing = trials
                .iter()
                .map(|trial| format!("\n  - {}", missing_trial(trial)));
            let left_out = match all.is_empty() {
                true => String::new(),
                false => format!("\n  not used: {}", unusable(all)),
            };
            format!(
                "the runs do not show enough; missing:{}{left_out}\n  `kgauge size --measure --target TARGET` makes such \
                 trials",
                missing.collect::<String>()
            )
        }
        SizeError::GoalOutOfReach { best_ns } => format!(
            "no measured rate kept the goal: the shortest p99 was {}\n  measure lower rates, or allow a longer p99",
            format::nanoseconds(*best_ns)
        ),
        SizeError::NoMachine => {
            "no machine type can do it, whatever their number\n  give larger types with --prices"
                .to_owned()
        }
    }
}

fn missing_trial(trial: &MissingTrial) -> String {
    match trial {
        MissingTrial::More { trials } => {
            format!(
                "{} with other batch and record sizes",
                format::plural(u64::from(*trials), "more trial", "more trials")
            )
        }
        MissingTrial::Replication => "a trial with replicas".to_owned(),
        MissingTrial::Consumers => "a trial with consumers".to_owned(),
        MissingTrial::Tls => "a trial with TLS".to_owned(),
        MissingTrial::RecordBytes { bytes } => {
            format!(
                "trials with records of about {} (measured sizes are off by more than a factor of two)",
                format::decimal_bytes(*bytes)
            )
        }
        MissingTrial::ScheduledRate => "trials at constant rates, for latencies".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use kgauge_analyze::sizing::{MachineType, MeasuredRelease, TrialFacts, size};

    use super::*;
    use crate::{TerminalStyle, render_size_html, render_size_terminal};

    /// 1 ns for a byte in and 10 µs for a batch.
    fn trials() -> Vec<TrialFacts> {
        let trial = |(in_bytes, batches): (f64, f64)| TrialFacts {
            run_id: "one".to_owned(),
            brokers: 3,
            partitions: 6,
            replication: 3,
            record_bytes: Some(1_000.0),
            records: in_bytes / 1_000.0,
            logical_bytes: in_bytes,
            in_bytes,
            batches,
            produce_requests: batches,
            out_bytes: in_bytes,
            fetch_requests: 100.0,
            cpu_cores: Some(1e-9 * in_bytes + 10e-6 * batches),
            release: MeasuredRelease {
                is_embedded: true,
                version: None,
            },
            ..TrialFacts::default()
        };
        [(1e7, 1e3), (2e7, 1e4), (1e8, 2e4), (5e7, 1e3), (3e7, 3e4)]
            .map(trial)
            .to_vec()
    }

    fn small() -> SizingNeed {
        SizingNeed {
            rate_bytes_per_s: 10e6,
            record_bytes: 1_900.0,
            peak: 2.0,
            retention_s: 86_400.0,
            fan_out: 1.0,
            replication: 3,
            lose: 1,
            tls: false,
            compression_ratio: None,
            latency_ns_p99: None,
            outage_s: 3_600.0,
            catch_up_s: 3_600.0,
        }
    }

    #[test]
    fn the_answer_comes_with_its_reason_and_its_caveats() {
        let machines = MachineType::built_in().expect("a table");
        let answer = size(&small(), &trials(), &machines).expect("an answer");
        let text = render_size_terminal(&answer, TerminalStyle::default());
        assert!(
            text.starts_with("10.0 MB/s of 1.90 kB records on average, 20.0 MB/s at the peak"),
            "{text}"
        );
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "3 brokers of type m7g.large",
            "Replicas and losses alone need that many",
            "this sizes that cluster, not Apache Kafka",
            "(nearest: 1.00 kB, a factor of 1.90)",
        ] {
            assert!(words.contains(part), "{part}: {text}");
        }
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
        assert!(text.lines().count() <= 40, "{text}");
        let page = render_size_html(&answer);
        assert!(page.contains("m7g.large") && page.contains("How it was made"));
    }

    #[test]
    fn what_is_missing_is_listed() {
        let need = SizingNeed {
            tls: true,
            latency_ns_p99: Some(20e6),
            ..small()
        };
        let error = size(&need, &trials(), &[]).expect_err("an error");
        assert_eq!(
            size_error(&error),
            "the runs do not show enough; missing:\n  - a trial with TLS\n  - trials at constant rates, for latencies\n  \
             `kgauge size --measure --target TARGET` makes such trials"
        );
    }
}
