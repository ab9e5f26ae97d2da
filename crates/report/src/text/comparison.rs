//! Runs side by side: their differences, the verdict on each figure, and the method.

use kgauge_analyze::compare::{
    Against, AgainstReason, AssumedBetweenRuns, CompareError, Comparison, DifferenceFact,
    DifferenceVerdict, FigureKind, MachineDifference, MarkedSide, RunDifference, RunSpreadRecord,
};

use super::{setting_names, target};
use crate::format;

/// More differing settings are only counted.
const SETTINGS_SHOWN: usize = 6;

/// Why runs cannot be put side by side.
pub fn error(error: &CompareError) -> String {
    match error {
        CompareError::NotOneSide(found) => format!("{error}: {}", fact(found)),
        CompareError::TooFew { .. }
        | CompareError::TooMany { .. }
        | CompareError::NoSuchBaseline { .. }
        | CompareError::TooManyInAll { .. }
        | CompareError::GivenTwice { .. } => error.to_string(),
    }
}

/// In what a run differs from the baseline, or the runs of a side from each other.
pub fn difference(found: &RunDifference) -> String {
    match (found.within, &found.run_id) {
        (true, _) => format!("the runs differ: {}", fact(found)),
        (false, Some(run_id)) => format!("{run_id}: {}", fact(found)),
        (false, None) => fact(found),
    }
}

fn fact(found: &RunDifference) -> String {
    let RunDifference { ours, theirs, .. } = found;
    match &found.fact {
        DifferenceFact::Brokers {
            ours: our_count,
            theirs: their_count,
        } => format!(
            "{} in {ours}, {} in {theirs}",
            format::counted((*our_count).into(), "broker"),
            format::counted((*their_count).into(), "broker"),
        ),
        DifferenceFact::Settings { settings } => {
            let settings = settings
                .iter()
                .map(|setting| setting_names::text(setting, ours, theirs));
            let settings = format::few_clauses(&settings.collect::<Vec<_>>(), SETTINGS_SHOWN);
            format!("different settings: {settings}")
        }
        DifferenceFact::BrokerSettings { settings } => {
            let settings = settings.iter().map(|one| {
                format!(
                    "{} {} in {ours}, {} in {theirs}",
                    one.key, one.ours, one.theirs
                )
            });
            let settings = format::few_clauses(&settings.collect::<Vec<_>>(), SETTINGS_SHOWN);
            format!("different effective broker settings: {settings}")
        }
        DifferenceFact::Kgauge {
            ours: our_version,
            theirs: their_version,
        } => format!(
            "{ours} was measured by kgauge {our_version}, {theirs} by kgauge {their_version}"
        ),
        other => bar(other),
    }
}

/// What bars a comparison, and what is the same whatever the runs are called.
fn bar(fact: &DifferenceFact) -> String {
    let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    match fact {
        DifferenceFact::UnknownTarget => "the target of one run is unknown".to_owned(),
        DifferenceFact::OneEmbedded => {
            "only one target is kgauge's embedded cluster, whose figures do not carry over to \
             Apache Kafka"
                .to_owned()
        }
        DifferenceFact::Targets { ours, theirs } => {
            let (ours, theirs) = (target::sentence(ours), target::sentence(theirs));
            format!("their targets are {theirs} and {ours}")
        }
        DifferenceFact::Releases { ours, theirs } => format!(
            "their targets run releases {} and {}",
            or_unknown(theirs),
            or_unknown(ours)
        ),
        DifferenceFact::Size { ours, theirs } => {
            let name = |size: &Option<String>| {
                size.clone().unwrap_or_else(|| "of unknown size".to_owned())
            };
            format!("one run is {}, the other {}", name(ours), name(theirs))
        }
        DifferenceFact::UnknownMachine => "the machine of one run is unknown".to_owned(),
        DifferenceFact::Machines { differences } => {
            let differences: Vec<String> = differences.iter().map(machine).collect();
            format!("different machines: {}", differences.join("; "))
        }
        DifferenceFact::DebugBuild => "one run used a kgauge built without optimisation".to_owned(),
        DifferenceFact::NotFinished { status, why } => {
            let why = why
                .as_ref()
                .map_or_else(String::new, |why| format!(": {why}"));
            format!("the run is incomplete ({}{why})", status.as_str())
        }
        DifferenceFact::Seed => "different seeds, so records and send times differ".to_owned(),
        DifferenceFact::Scenario { name } => format!("the text of the scenario {name} differs"),
        DifferenceFact::Brokers { .. }
        | DifferenceFact::Settings { .. }
        | DifferenceFact::BrokerSettings { .. }
        | DifferenceFact::Kgauge { .. } => String::new(),
    }
}

fn machine(found: &MachineDifference) -> String {
    let versus = |name: &str, ours: Option<String>, theirs: Option<String>| {
        let show = |text: Option<String>| text.unwrap_or_else(|| "unknown".to_owned());
        format!("{name} {} vs {}", show(ours), show(theirs))
    };
    let count = |count: &Option<u32>| count.map(|count| count.to_string());
    let memory = |bytes: &Option<u64>| bytes.map(|bytes| format::decimal_bytes(bytes as f64));
    match found {
        MachineDifference::Processor { ours, theirs } => {
            versus("processor", ours.clone(), theirs.clone())
        }
        MachineDifference::Architecture { ours, theirs } => {
            versus("architecture", ours.clone(), theirs.clone())
        }
        MachineDifference::Processors { ours, theirs } => {
            versus("processors", count(ours), count(theirs))
        }
        MachineDifference::MemoryBytes { ours, theirs } => {
            versus("memory", memory(ours), memory(theirs))
        }
    }
}

/// The reason for the verdict on a figure, as a sentence.
pub fn reason(against: &Against) -> String {
    match against.reason {
        AgainstReason::Statistics { comparisons } => decided(against, comparisons) + ".",
        _ => unmeasured(&against.reason) + ".",
    }
}

/// The same within a sentence: `inconclusive: one repeat has no spread to compare`.
pub(crate) fn clause(against: &Against) -> String {
    match (lead(&against.reason), &against.reason) {
        (_, AgainstReason::Statistics { comparisons }) => decided(against, *comparisons),
        (Some(lead), reason) => format!("{}: {}", lead.to_lowercase(), cause(reason)),
        (None, reason) => cause(reason),
    }
}

/// The same behind a verdict: `one repeat has no spread to compare`.
pub(crate) fn without_verdict(against: &Against) -> String {
    match against.word {
        DifferenceVerdict::Undecided => match against.reason {
            AgainstReason::Statistics { comparisons } => decided(against, comparisons),
            ref reason => cause(reason),
        },
        _ => clause(against),
    }
}

/// Why statistics did not decide: `Inconclusive: one repeat has no spread to compare`.
pub(crate) fn unmeasured(reason: &AgainstReason) -> String {
    match lead(reason) {
        Some(lead) => format!("{lead}: {}", cause(reason)),
        None => cause(reason),
    }
}

/// The word that a reason begins with.
fn lead(reason: &AgainstReason) -> Option<&'static str> {
    match reason {
        AgainstReason::NotSteady { .. }
        | AgainstReason::WideBounds { .. }
        | AgainstReason::FewSamples
        | AgainstReason::OneRepeat
        | AgainstReason::ZeroRepeat => Some("Inconclusive"),
        AgainstReason::Differences { .. }
        | AgainstReason::ClosedLoop
        | AgainstReason::GeneratorLimited { .. }
        | AgainstReason::GeneratorLate { .. }
        | AgainstReason::ZeroFigure => Some("Not comparable"),
        AgainstReason::Statistics { .. }
        | AgainstReason::Lost { .. }
        | AgainstReason::NoFigure { .. }
        | AgainstReason::OtherRow => None,
    }
}

fn cause(reason: &AgainstReason) -> String {
    let of_side = |what: &str, side: MarkedSide| {
        let side = match side {
            MarkedSide::Run => "in this run",
            MarkedSide::Baseline => "in the baseline",
            MarkedSide::Both => "in both runs",
        };
        format!("{what} {side}")
    };
    match reason {
        AgainstReason::Statistics { .. } => "decided by statistics".to_owned(),
        AgainstReason::Lost { ours, theirs } => format!(
            "{} lost, {} in the baseline",
            format::counted(*ours, "record"),
            format::counted(*theirs, "record")
        ),
        AgainstReason::NoFigure { is_baseline: false } => {
            "This run does not have this figure".to_owned()
        }
        AgainstReason::NoFigure { is_baseline: true } => {
            "The baseline does not have this figure".to_owned()
        }
        AgainstReason::Differences { differences } => {
            let differences: Vec<String> = differences.iter().map(bar).collect();
            differences.join("; ")
        }
        AgainstReason::ClosedLoop => "at full speed, latency is time in the producer buffer \
                                      (Little's law); compare throughput"
            .to_owned(),
        AgainstReason::GeneratorLimited { side } => {
            of_side("the generator was the bottleneck", *side)
        }
        AgainstReason::GeneratorLate { side } => of_side(
            "records were sent late for reasons other than the target",
            *side,
        ),
        AgainstReason::NotSteady { side } => of_side("the target was not steady", *side),
        AgainstReason::WideBounds { side } => {
            of_side("the search ended before its bounds were close", *side)
        }
        AgainstReason::OtherRow => "Covered by records per second".to_owned(),
        AgainstReason::ZeroFigure => "one of the figures is zero".to_owned(),
        AgainstReason::ZeroRepeat => "a repeat's figure is zero".to_owned(),
        AgainstReason::FewSamples => "fewer than 100 samples lie beyond the percentile".to_owned(),
        AgainstReason::OneRepeat => "one repeat has no spread to compare".to_owned(),
    }
}

fn decided(against: &Against, comparisons: u32) -> String {
    let (Some(ratio), Some(interval)) = (against.ratio, against.interval) else {
        return String::new();
    };
    let ratio = format!(
        "{} times the baseline, 95 % interval {} to {}",
        format::short(ratio),
        format::short(interval.low),
        format::short(interval.high)
    );
    if against.word != DifferenceVerdict::NoDifference {
        return ratio;
    }
    let among = match interval.contains(1.0) {
        true => String::new(),
        // Alone it would be a difference.
        false => format!(", expected by chance among {comparisons} comparisons"),
    };
    format!(
        "No difference found: {ratio}{among}. A change of {} or more would have been detected",
        format::percent(against.detectable.unwrap_or_default())
    )
}

/// How differences were separated from chance.
pub(crate) fn method(comparison: &Comparison) -> String {
    let decided = match comparison.method.comparisons {
        0 => "Statistics could not decide any comparison.".to_owned(),
        1 => "One comparison was decided this way.".to_owned(),
        many => format!(
            "{many} comparisons were decided this way. Holm's method adjusts those of each run \
             with the baseline together: the chance of any false difference among them is at most \
             1 in 20."
        ),
    };
    let is_of_several = comparison.runs.iter().any(|run| !run.further.is_empty());
    let several = match is_of_several {
        true => {
            " A side of several runs shows the mean of their figures and its interval over the \
             runs."
        }
        false => "",
    };
    let has_capacity = comparison.rows.iter().any(|row| row.figure.is_capacity());
    let capacities = match has_capacity {
        true => {
            " Capacities are compared by their lower bounds, and the distance to the upper ones \
             counts as uncertainty."
        }
        false => "",
    };
    format!(
        "Ratios compare geometric means over the repeats, with 95 % intervals by Welch's t test \
         on logarithms; changes below 0.1 % count as none.{several}{capacities} {decided}"
    )
}

/// What was taken for the spread between runs; empty where no comparison was decided.
pub fn between_runs(record: &RunSpreadRecord) -> String {
    let single = match record.measured {
        true => "of a side with one run ",
        false => "",
    };
    let mut sentences = Vec::new();
    if record.measured {
        sentences.push(
            "Run-to-run spread is measured; each side's values are the means of its runs."
                .to_owned(),
        );
    }
    if !record.assumed.is_empty() {
        sentences.push(format!(
            "Back-to-back runs differ slightly even when nothing changed. The assumed spread \
             between runs {single}is {}; pass several runs per side (--with) to measure it.",
            assumed(&record.assumed)
        ));
    }
    if record.is_ignored {
        sentences.push(format!(
            "No spread between runs {single}is assumed beyond that of their repeats; pass several \
             runs per side (--with) to measure it."
        ));
    }
    sentences.join(" ")
}

/// `1.5 %` where all are the same, else `1.5 % of rates, 3 % of CPU`.
fn assumed(all: &[AssumedBetweenRuns]) -> String {
    let mut groups: Vec<(f64, Vec<&str>)> = Vec::new();
    for found in all {
        let name = figure(found.figure);
        match groups.iter_mut().find(|(part, _)| *part == found.part) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => groups.push((found.part, vec![name])),
        }
    }
    let percent = |part: f64| format!("{} %", format::all_digits(100.0 * part));
    match groups.as_slice() {
        [(part, _)] => percent(*part),
        groups => {
            let each = groups
                .iter()
                .map(|(part, names)| format!("{} of {}", percent(*part), names.join(" and ")));
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

fn figure(kind: FigureKind) -> &'static str {
    match kind {
        FigureKind::Capacity | FigureKind::CapacityTypical => "capacities",
        FigureKind::Throughput | FigureKind::PerPrice | FigureKind::ThroughputBytes => "rates",
        FigureKind::LatencyP50 => "p50",
        FigureKind::LatencyP99 => "p99",
        FigureKind::LatencyP999 => "p99.9",
        FigureKind::GeneratorCpu | FigureKind::TargetCpu => "CPU",
        FigureKind::WireBytes => "bytes on the wire",
        FigureKind::Lost => "records lost",
    }
}

/// The verdict on a figure, in a word.
pub(crate) fn verdict(word: DifferenceVerdict) -> &'static str {
    match word {
        DifferenceVerdict::Faster => "faster",
        DifferenceVerdict::Slower => "slower",
        DifferenceVerdict::Cheaper => "cheaper",
        DifferenceVerdict::Dearer => "dearer",
        DifferenceVerdict::Smaller => "smaller",
        DifferenceVerdict::Larger => "larger",
        DifferenceVerdict::NoDifference => "no difference found",
        DifferenceVerdict::Undecided => "inconclusive",
        DifferenceVerdict::NotComparable => "not comparable",
        DifferenceVerdict::NotMeasured => "not measured",
        DifferenceVerdict::NotJudged => "not judged",
    }
}

/// The figure's name with its unit.
pub(crate) fn figure_name(kind: FigureKind) -> &'static str {
    match kind {
        FigureKind::Capacity => "capacity/s",
        FigureKind::CapacityTypical => "typical capacity/s",
        FigureKind::Throughput => "records/s",
        FigureKind::PerPrice => "records per 1.00",
        FigureKind::ThroughputBytes => "MB/s",
        FigureKind::LatencyP50 => "latency p50",
        FigureKind::LatencyP99 => "latency p99",
        FigureKind::LatencyP999 => "latency p99.9",
        FigureKind::GeneratorCpu => "CPU generator",
        FigureKind::TargetCpu => "CPU target",
        FigureKind::WireBytes => "wire B/record",
        FigureKind::Lost => "records lost",
    }
}
