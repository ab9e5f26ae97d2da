//! What sizing found, in words and tables for the terminal and the page.

mod error;
#[cfg(test)]
mod tests;

use kgauge_analyze::sizing::{
    CodecRatio, CostTerm, Extrapolation, MachineChoice, MonthlyPrice, PlannedUse, ResourceNeed,
    SizeAnswer, SizingNeed, SizingResource, SizingRespect, SizingRule, UnusableTrial,
    UnusableTrials,
};
use kgauge_analyze::statistics::Interval;

pub use error::size_error;

use crate::format;

/// A table of texts; the first column holds names.
pub(crate) struct SizingTable {
    pub(crate) title: &'static str,
    pub(crate) heads: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// `4 brokers of type m7g.xlarge ...`: the cheapest cluster, and what asks for its size.
pub(crate) fn answer(answer: &SizeAnswer) -> String {
    let Some(best) = answer.choices.first() else {
        return String::new();
    };
    let partitions = partitions(best);
    let range = match best.brokers_interval {
        one if one.low == one.high => String::new(),
        range => format!(" (90 % interval: {})", whole_range(range)),
    };
    let disk = between(
        best.disk_interval,
        best.disk_bytes_each,
        format::decimal_bytes,
    );
    let price = best.price.map_or_else(String::new, |price| {
        let range = best.price_interval.map_or_else(String::new, |interval| {
            between(interval, price.total(), format::thousands)
        });
        format!(", {}{range} per month", format::thousands(price.total()))
    });
    format!(
        "{} of type {}{range}, {}{disk} of disk each, and {partitions}{price}. {}",
        format::counted(u64::from(best.brokers), "broker"),
        best.machine.name,
        format::decimal_bytes(best.disk_bytes_each),
        binding(best),
    )
}

/// `12 partitions`, `35 partitions (30 to 40)`.
fn partitions(choice: &MachineChoice) -> String {
    let count = u64::from(choice.partitions);
    let range = between(
        choice.partitions_interval,
        f64::from(choice.partitions),
        format::all_digits,
    );
    format!("{}{range}", format::counted(count, "partition"))
}

/// What the busiest broker of the cheapest cluster does; empty without a cluster.
pub(crate) fn busiest(answer: &SizeAnswer) -> String {
    let Some(best) = answer.choices.first() else {
        return String::new();
    };
    let of = |resource: SizingResource| {
        let mut needs = best.resources.iter();
        let need = needs.find(|need| need.resource == resource);
        let write = |value: f64| amount(resource, value);
        match need {
            Some(need) => (
                write(need.amount),
                between(need.amount_interval, need.amount, write),
            ),
            None => (format::NOTHING.to_owned(), String::new()),
        }
    };
    let all = [
        SizingResource::NetworkIn,
        SizingResource::NetworkOut,
        SizingResource::Cpu,
        SizingResource::Memory,
    ]
    .map(of);
    let ranges = match all.iter().all(|(_, range)| range.is_empty()) {
        true => "",
        false => " Ranges are 90 % intervals.",
    };
    let [received, sent, used, needed] = all.map(|(amount, range)| amount + &range);
    format!(
        "At the peak with brokers down, the busiest broker receives {received}, sends {sent}, uses {used} and needs \
         {needed} of memory.{ranges}"
    )
}

/// ` (1.20 TB to 1.40 TB)`; nothing where both ends read like the figure.
fn between(interval: Interval, value: f64, write: impl Fn(f64) -> String) -> String {
    let (low, high) = (write(interval.low), write(interval.high));
    match low == write(value) && high == low {
        true => String::new(),
        false => format!(" ({})", format::pair(&low, "to", &high)),
    }
}

/// `4 to 6`, or `4`.
fn whole_range(interval: Interval) -> String {
    match interval.low == interval.high {
        true => interval.low.to_string(),
        false => format!("{} to {}", interval.low, interval.high),
    }
}

fn binding(choice: &MachineChoice) -> String {
    let why = match choice.binding {
        SizingResource::Replicas => {
            "The replicas and the brokers that may be down require this number".to_owned()
        }
        other => format!("{} requires this number", format::capital(resource(other))),
    };
    let used = choice
        .resources
        .iter()
        .find(|need| need.resource == choice.binding);
    match used.and_then(ResourceNeed::used_part) {
        Some(part) => format!(
            "{why}: {} in use at the peak with brokers down.",
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
    parts.push(format!("kept for {}", kept(need.retention_s)));
    parts.push(format::counted(u64::from(need.replication), "replica"));
    match need.lose {
        0 => {}
        lose => parts.push(format!(
            "{} down",
            format::counted(u64::from(lose), "broker")
        )),
    }
    if need.tls {
        parts.push("TLS".to_owned());
    }
    if let Some(compression) = &need.compression {
        let codec = compression.codec.as_deref().unwrap_or("compressed");
        parts.push(format!("{codec} {}:1", format::short(compression.ratio)));
    }
    if need.recompressed {
        parts.push("compressed again by brokers".to_owned());
    }
    if let Some(p99) = need.latency_ns_p99 {
        parts.push(format!("p99 at most {}", format::nanoseconds(p99)));
    }
    parts.join(", ")
}

fn kept(seconds: f64) -> String {
    let (amount, unit) = match seconds {
        seconds if seconds >= 2.0 * 86_400.0 => (seconds / 86_400.0, "days"),
        seconds if seconds >= 2.0 * 3_600.0 => (seconds / 3_600.0, "h"),
        seconds if seconds >= 120.0 => (seconds / 60.0, "min"),
        seconds => (seconds, "s"),
    };
    format::without_zeros(&format!("{} {unit}", format::short(amount)))
}

/// A row for each machine type.
pub(crate) fn choices(answer: &SizeAnswer) -> SizingTable {
    let row = |choice: &MachineChoice| {
        let of_rule = |rule: SizingRule| {
            let answer = choice.rules.iter().find(|answer| answer.rule == rule);
            let brokers = answer.and_then(|answer| answer.brokers);
            brokers.map_or_else(|| format::NOTHING.to_owned(), |brokers| brokers.to_string())
        };
        let price = choice.price.as_ref().map(MonthlyPrice::total);
        vec![
            choice.machine.name.clone(),
            choice.brokers.to_string(),
            whole_range(choice.brokers_interval),
            resource(choice.binding).to_owned(),
            format::decimal_bytes(choice.disk_bytes_each),
            price.map_or_else(|| format::NOTHING.to_owned(), format::thousands),
            of_rule(SizingRule::CoreRates),
            of_rule(SizingRule::Throughput),
            of_rule(SizingRule::MskRate),
            of_rule(SizingRule::BytesWithoutReplicas),
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
            "per month",
            "rule 1",
            "rule 2",
            "rule 3",
            "rule 4",
        ],
        rows: answer.choices.iter().map(row).collect(),
    }
}

/// What each resource of the first machine type asks for.
pub(crate) fn resources(choice: &MachineChoice) -> SizingTable {
    let row = |need: &ResourceNeed| {
        let nothing = || format::NOTHING.to_owned();
        let write = |value: f64| amount(need.resource, value);
        let (amount, range) = match need.resource {
            SizingResource::Replicas => (nothing(), String::new()),
            _ => (
                write(need.amount),
                format::pair(
                    &write(need.amount_interval.low),
                    "to",
                    &write(need.amount_interval.high),
                ),
            ),
        };
        vec![
            format::capital(resource(need.resource)),
            need.brokers.map_or_else(nothing, |count| count.to_string()),
            need.brokers_interval.map_or_else(nothing, whole_range),
            amount,
            range,
            need.limit.map_or_else(nothing, write),
        ]
    };
    SizingTable {
        title: "Resources of the first type, busiest broker at the peak with brokers down",
        heads: vec!["resource", "brokers", "90 %", "used", "90 %", "limit"],
        rows: choice.resources.iter().map(row).collect(),
    }
}

fn amount(resource: SizingResource, value: f64) -> String {
    match resource {
        SizingResource::Cpu => format!("{} cores", format::cores(value)),
        SizingResource::NetworkIn | SizingResource::NetworkOut | SizingResource::DiskThroughput => {
            format!("{}/s", format::decimal_bytes(value))
        }
        SizingResource::Storage | SizingResource::Memory => format::decimal_bytes(value),
        SizingResource::Replicas | SizingResource::Partitions => format::figure(value),
        SizingResource::CatchUp | SizingResource::Latency => format::percent(value),
    }
}

/// How well each codec compresses the sample; `None` without one.
pub(crate) fn codecs(answer: &SizeAnswer) -> Option<SizingTable> {
    let sample = answer.sample.as_ref()?;
    let row = |codec: &CodecRatio| {
        let range = codec.interval.map_or_else(String::new, |interval| {
            format!(
                "{} to {}",
                format::short(interval.low),
                format::short(interval.high)
            )
        });
        vec![
            codec.codec.clone(),
            format::short(codec.ratio),
            range,
            codec.batches.to_string(),
        ]
    };
    Some(SizingTable {
        title: "Compression of your records",
        heads: vec!["codec", "ratio", "90 %", "batches"],
        rows: sample.codecs.iter().map(row).collect(),
    })
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
        CostTerm::Record => ("a record", 1.0),
        CostTerm::ReplicatedBatch => ("a replicated batch", 1.0),
        CostTerm::CompressedByte => ("checking 1 MB that was compressed", 1e6),
        CostTerm::RecompressedByte => ("compressing 1 MB again", 1e6),
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
        SizingResource::Storage => "storage",
        SizingResource::Memory => "memory",
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
    if let Some(best) = answer.choices.first() {
        caveats.extend(best.extrapolated.iter().map(extrapolation));
    }
    caveats.extend(entangled(&answer.entangled));
    if answer.need.lose >= answer.need.replication {
        caveats.push(
            "As many brokers may be down as there are replicas: partitions with all replicas down are unavailable \
             meanwhile."
                .to_owned(),
        );
    }
    if let Some(sample) = &answer.sample {
        let factor = sample.record_bytes / answer.need.record_bytes;
        if !(0.5..=2.0).contains(&factor) {
            caveats.push(format!(
                "Records of the sample have {} on average, but --record is {}. Compression depends on the size.",
                format::decimal_bytes(sample.record_bytes),
                format::decimal_bytes(answer.need.record_bytes)
            ));
        }
    }
    if answer.basis.generator_limited > 0 {
        let trials = format::counted(u64::from(answer.basis.generator_limited), "trial");
        caveats.push(format!(
            "The load generator was the bottleneck in {trials}: they show costs, but not what brokers or partitions can do."
        ));
    }
    if answer.partitions.produce_bytes_per_s.is_none() {
        caveats.push(
            "No run wrote at full speed into one partition, so throughput does not determine the number of partitions."
                .to_owned(),
        );
    }
    caveats.push(
        "kgauge assumes that a vCPU of each type is as fast as a processor of the measured machine.".to_owned(),
    );
    caveats
}

/// What is part of the size although it is not needed.
fn entangled(terms: &[CostTerm]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for term in terms {
        let name = match term {
            CostTerm::ReplicatedByte | CostTerm::ReplicatedBatch => "replication",
            CostTerm::OutByte | CostTerm::FetchRequest => "reading",
            CostTerm::TlsByte => "TLS",
            CostTerm::CompressedByte => "checking compressed batches",
            CostTerm::RecompressedByte => "compressing again",
            CostTerm::InByte
            | CostTerm::Batch
            | CostTerm::BrokerSecond
            | CostTerm::ProduceRequest
            | CostTerm::Record => continue,
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| {
        format!(
            "Every trial had the CPU cost of {}, so this size has it too, although it is not needed. Add a trial without it.",
            names.join(" and ")
        )
    })
}

fn extrapolation(outside: &Extrapolation) -> String {
    let (what, write): (&str, fn(f64) -> String) = respect(outside.respect);
    format!(
        "Outside the measured range: {} {what} (nearest: {}, a factor of {}).",
        write(outside.needed),
        write(outside.measured),
        format::short(outside.factor())
    )
}

fn respect(respect: SizingRespect) -> (&'static str, fn(f64) -> String) {
    match respect {
        SizingRespect::RecordBytes => ("per record", format::decimal_bytes),
        SizingRespect::FanOut => ("reads of each record", format::short),
        SizingRespect::Replication => ("replicas of each partition", counted),
        SizingRespect::CpuPart => ("of the busiest broker's CPU", format::percent),
        SizingRespect::ReplicasPerBroker => ("replicas on one broker", counted),
    }
}

fn counted(number: f64) -> String {
    format::count(number.round() as u64)
}

/// What the answer rests on, and how it was made.
pub(crate) fn basis(answer: &SizeAnswer) -> Vec<String> {
    let basis = &answer.basis;
    let habits = &answer.habits;
    let mut lines = vec![format!(
        "Costs are fitted to {} of {}; they predict a trial's CPU from the other trials with a median error of {}.",
        format::counted(u64::from(basis.trials), "trial"),
        format::counted(basis.runs.len() as u64, "run"),
        format::percent(answer.cost_error),
    )];
    lines.push(format!(
        "Clients behave as in the runs with the most similar records: {} per batch, {} per produce request; {} bytes of \
         requests per byte of records, before compression by {}; the busiest broker leads {} of an equal share.",
        format::decimal_bytes(habits.batch_bytes),
        format::decimal_bytes(habits.produce_request_bytes),
        format::short(habits.framing),
        format::short(habits.compression_ratio),
        format::percent(habits.skew),
    ));
    lines.push(format!(
        "Planned use at most: CPU {}, network and disk throughput {}, disk space {}; the page cache holds {} s of \
         writes.",
        format::percent(PlannedUse::SAFE.cpu_part),
        format::percent(PlannedUse::SAFE.throughput_part),
        format::percent(PlannedUse::SAFE.space_part),
        PlannedUse::SAFE.cache_s,
    ));
    if let Some(reading) = answer.choices.first().and_then(|best| best.latency) {
        lines.push(format!(
            "Response time: p99 was {} at a measured load that used {} of the busiest broker's CPU; planned are {}.",
            format::nanoseconds(reading.latency_ns_p99),
            format::percent(reading.measured_part),
            format::percent(reading.planned_part),
        ));
    }
    if let Some(rule) = answer.partitions.rule_partitions {
        lines.push(format!(
            "Throughput alone needs {} partitions (90 %: {}). T / P rounded down, as in the dcos-2018 study, is {rule}.",
            answer.partitions.partitions,
            whole_range(answer.partitions.interval),
        ));
    }
    lines.push(
        "Rule 1: one vCPU takes 5 MiB/s in and sends 15 MiB/s (AKalculator). Rule 2: bytes by network and disk, without \
         CPU (AWS). Rule 3: one vCPU takes 2.4 MB/s in (Amazon MSK). Rule 4: bytes without replicas by one disk \
         (image-queue-2016)."
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
            UnusableTrial::Hypervisor => "the hypervisor took CPU",
            UnusableTrial::Warming => "brokers were warming up",
            UnusableTrial::Faults => "with faults",
            UnusableTrial::NoCpu => "CPU time of the brokers unknown",
            UnusableTrial::NoProducers => "without producers",
        };
        format!(
            "{} ({why})",
            format::counted(u64::from(one.trials), "trial")
        )
    };
    all.iter().map(one).collect::<Vec<_>>().join(", ")
}
