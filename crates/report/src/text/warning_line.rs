//! All warnings of one kind in one line: what is wrong, in how many places, and what helps.

use kgauge_analyze::summary::{Summary, WarningFinding as Finding, WarningKind as Kind};
use kgauge_results::run::RunStatus;
use kgauge_scenario::BuiltIn;

use super::target_note;
use super::warning_kind::kind_of_remedy;
use crate::format;

/// Percentiles that are shown at a glance, beyond which few samples are worth a line.
const SHOWN: [&str; 4] = ["p50", "p90", "p95", "p99"];
/// A first wide interval is answered by as many repeats.
const REPEATS: u32 = 5;

/// A run whose warnings are shown.
pub(crate) struct WarningContext<'a> {
    /// Its summary.
    pub(crate) summary: &'a Summary,
    /// The command that made it.
    pub(crate) command: &'a [String],
    /// The command that resumes it.
    pub(crate) resume: String,
}

impl WarningContext<'_> {
    fn is_quick(&self) -> bool {
        self.summary.run.size.as_deref() == Some("quick")
    }

    /// Whether `--duration` is the length of the hold: for built-in scenarios and searches.
    fn has_duration(&self) -> bool {
        let trials = || self.summary.trials.iter();
        let is_run = |word: &String| trials().any(|trial| trial.scenario == *word);
        let is_built_in = |word: &String| BuiltIn::named(word).is_some() && is_run(word);
        let subcommand = self.command.get(1);
        subcommand.is_some_and(|word| word == "capacity") || self.command.iter().any(is_built_in)
    }

    /// How to hold longer. A checkup decides that itself.
    fn longer_hold(&self) -> &'static str {
        match (self.is_quick(), self.has_duration()) {
            _ if self.summary.checkup.is_some() => "",
            (true, _) => "drop --quick or hold longer",
            (false, true) => "hold longer with --duration",
            (false, false) => "hold longer with --set stages.hold",
        }
    }
}

/// `the target was not steady (3 of 8 trials): use a longer warm-up`, of all warnings of a kind and the number of
/// trials that have one (0: the whole run). Empty where the conditions of the run say it, or where it is about figures
/// that are not shown at a glance.
pub(crate) fn line(
    kind: Kind,
    findings: &[&Finding],
    trials: usize,
    context: &WarningContext<'_>,
) -> String {
    let summary = context.summary;
    if kind == Kind::NotFinished && summary.run.status == RunStatus::Running {
        return "this run is still in progress; its figures are preliminary".to_owned();
    }
    let Some((matter, fix)) = with_numbers(kind, findings, context).or_else(|| constant(kind))
    else {
        return String::new();
    };
    // A checkup is not resumed, and its loads are not repeated.
    let is_of_run = matches!(
        kind,
        Kind::NotFinished | Kind::RepeatsMissing | Kind::SingleRepeat
    );
    let fix = match summary.checkup.is_some() && is_of_run {
        true => "run the checkup again".to_owned(),
        false => fix,
    };
    let matter = match total(findings) {
        Some((count, noun)) => matter.replace('#', &format::counted(count, noun)),
        None => matter,
    };
    // Trials that the target cannot run are in the table, with the reason.
    let ran = summary
        .trials
        .iter()
        .filter(|one| one.not_measured.is_none());
    let all = ran.count();
    let names_places = matches!(kind, Kind::WideInterval | Kind::NotFinished);
    let places = match trials > 0 && trials < all && !names_places {
        true => format!(" ({trials} of {})", format::counted(all as u64, "trial")),
        false => String::new(),
    };
    match fix.is_empty() {
        true => format!("{matter}{places}"),
        false => format!("{matter}{places}: {fix}"),
    }
}

/// What is counted over all findings, for the `#` of a text.
fn total(findings: &[&Finding]) -> Option<(u64, &'static str)> {
    let mut sum = 0;
    let mut noun = None;
    for finding in findings {
        let (count, of) = match finding {
            Finding::CorruptRecords { records }
            | Finding::CopyDoubled { records }
            | Finding::SendsFailed { records }
            | Finding::SendsIndeterminate { records }
            | Finding::RecordsUnresolved { records }
            | Finding::RecordsSkipped { records, .. }
            | Finding::ClockAnomalies { records } => (*records, "record"),
            Finding::CopyIncomplete { missing, .. } => (*missing, "acked record"),
            Finding::ConnectionsBroken { lost, .. } => (*lost, "connection"),
            _ => return None,
        };
        sum += count;
        noun = Some(of);
    }
    Some((sum, noun?))
}

/// Texts that need the numbers of their findings, or the run.
fn with_numbers(
    kind: Kind,
    findings: &[&Finding],
    context: &WarningContext<'_>,
) -> Option<(String, String)> {
    let (summary, is_quick) = (context.summary, context.is_quick());
    Some(match (kind, findings.first()?) {
        (Kind::WideInterval, _) => {
            let fix = match is_quick {
                true => "drop --quick".to_owned(),
                false => more_repeats(summary),
            };
            (wide(findings, summary), fix)
        }
        (Kind::ShortHold, _) => {
            let seconds = findings.iter().filter_map(|finding| match finding {
                Finding::ShortHold { seconds } => Some(*seconds),
                _ => None,
            });
            let shortest = format::nanoseconds(seconds.reduce(f64::min)? * 1e9);
            let shortest = format::without_zeros(&shortest);
            let fix = context.longer_hold().to_owned();
            (format!("held for only {shortest} per repeat"), fix)
        }
        (Kind::FewSamples, _) => (few(findings)?, context.longer_hold().to_owned()),
        (Kind::NotSteady, _) if is_quick => (constant(kind)?.0, "drop --quick".to_owned()),
        (Kind::SteadinessUnknown | Kind::LittlesLawBroken, _) => {
            (constant(kind)?.0, context.longer_hold().to_owned())
        }
        (Kind::RepeatsMissing, _) => (constant(kind)?.0, format!("use {}", context.resume)),
        (_, Finding::ClockSource { clock }) => (
            format!("the kernel's clock source is {clock}, slow or coarse"),
            "switch it to tsc".to_owned(),
        ),
        (_, Finding::TargetNote { note }) => {
            let (opening, _) = target_note::text(note);
            (opening.trim_end_matches('.').to_owned(), String::new())
        }
        (Kind::RecordsSkipped, first) => {
            let (matter, _) = constant(kind)?;
            let by = kind_of_remedy(first);
            let is_one = findings.iter().all(|finding| kind_of_remedy(finding) == by);
            (matter, by.filter(|_| is_one).map_or_else(String::new, fix))
        }
        (Kind::OtherPrograms, _) => {
            let late = Finding::OtherPrograms {
                is_in_latencies: true,
            };
            let matter = match findings.contains(&&late) {
                true => "other load on this host delayed records",
                false => "other load on this host took CPU",
            };
            (matter.to_owned(), "stop it".to_owned())
        }
        _ => return None,
    })
}

/// The first percentile that rests on few samples, if it is shown.
fn few(findings: &[&Finding]) -> Option<String> {
    let percentiles = findings.iter().filter_map(|finding| match finding {
        Finding::FewSamples { percentile } => Some(percentile.as_str()),
        _ => None,
    });
    // Each further nine makes the name longer.
    let first = percentiles.min_by_key(|name| name.len())?;
    let is_shown = SHOWN.contains(&first);
    is_shown.then(|| format!("{first} rests on fewer than 100 samples"))
}

/// `9 of 15 throughputs have an interval of ±24 % or wider`.
fn wide(findings: &[&Finding], summary: &Summary) -> String {
    let reaches = findings.iter().filter_map(|finding| match finding {
        Finding::WideInterval { reach } => Some(*reach),
        _ => None,
    });
    let least = format::percent(reaches.reduce(f64::min).unwrap_or_default());
    let flows = summary.trials.iter().flat_map(|trial| &trial.flows);
    let all = flows.filter(|flow| flow.throughput.is_some()).count();
    match (findings.len(), all) {
        (_, 1) => format!("throughput is only known to ±{least}"),
        (1, all) => format!("1 of {all} throughputs is only known to ±{least}"),
        (some, all) => format!("{some} of {all} throughputs have an interval of ±{least} or wider"),
    }
}

fn more_repeats(summary: &Summary) -> String {
    let repeats = summary.trials.iter().map(|trial| trial.repeats_planned);
    let more = match repeats.max().unwrap_or_default() {
        few if few < REPEATS => REPEATS,
        many => many * 2,
    };
    format!("use --repeat {more}")
}

/// Texts that are the same whatever the numbers; `#` is what is counted. Some fixes depend on the run.
const LINES: [(Kind, &str, &str); 38] = [
    (
        Kind::NotFinished,
        "this run did not finish",
        "finish it with --resume",
    ),
    (
        Kind::BrokerOutage,
        "a broker stopped responding",
        "check its log and rerun",
    ),
    (
        Kind::CountsDisagree,
        "the brokers' record counts differ from the acks",
        "check broker logs",
    ),
    (
        Kind::CopyIncomplete,
        "# not in the copy",
        "use --set stages.drain='1 min'",
    ),
    (
        Kind::CopyDoubled,
        "# more than once in the copy",
        "make its consumers idempotent",
    ),
    (
        Kind::CorruptRecords,
        "# with a wrong checksum",
        "check the brokers' disks",
    ),
    (Kind::SendsFailed, "# failed", "see events.jsonl"),
    (Kind::NoWorkDone, "a flow did no work", "see events.jsonl"),
    (
        Kind::ConnectionsBroken,
        "# to brokers broke",
        "see events.jsonl",
    ),
    (
        Kind::SendsIndeterminate,
        "# with an unknown outcome",
        "raise delivery.timeout.ms",
    ),
    (
        Kind::RecordsUnresolved,
        "# of unknown outcome",
        "use --set stages.drain='1 min'",
    ),
    (
        Kind::GeneratorLimited,
        "the generator was the bottleneck",
        "add clients or cores",
    ),
    (
        Kind::AgentLost,
        "an agent was lost; its records are missing",
        "check that machine",
    ),
    (
        Kind::AgentLate,
        "one agent was late; latencies include its delay",
        "check that machine",
    ),
    (
        Kind::AgentThrottled,
        "a CPU limit throttled an agent",
        "raise the limit",
    ),
    (
        Kind::AgentNetworkFull,
        "an agent's network card was saturated",
        "use more agents",
    ),
    (
        Kind::AgentSlow,
        "one agent sent much less than the others",
        "check that machine",
    ),
    (
        Kind::GeneratorLate,
        "the generator was late; latencies include it",
        "check CPU limits",
    ),
    (
        Kind::HypervisorTookCpu,
        "the hypervisor delayed records",
        "use dedicated CPUs",
    ),
    (
        Kind::ProcessorsExhausted,
        "too little CPU delayed records",
        "use brokers on other machines",
    ),
    (
        Kind::GeneratorUnknown,
        "the generator's CPU use is unknown",
        "",
    ),
    (
        Kind::NotSteady,
        "the target was not steady",
        "use --set stages.warm-up-limit='2 min'",
    ),
    (
        Kind::SteadinessUnknown,
        "too short or noisy to tell if the target was steady",
        "",
    ),
    (
        Kind::RecordsSkipped,
        "# skipped, too late to send",
        "lower the rate",
    ),
    (
        Kind::UnderReplicated,
        "partitions were under-replicated",
        "check the broker logs",
    ),
    (Kind::LeadersMoved, "leaders moved", "check the broker logs"),
    (
        Kind::FollowersFallBehind,
        "followers fell further behind",
        "use acks=all or a lower rate",
    ),
    (
        Kind::LittlesLawBroken,
        "latency and throughput contradict each other",
        "",
    ),
    (
        Kind::FollowersBehind,
        "followers had not caught up",
        "use acks=all or a lower rate",
    ),
    (
        Kind::AcksNone,
        "records were sent without acks",
        "use acks=1 or acks=all",
    ),
    (
        Kind::ClockAnomalies,
        "# with timestamps that ran backwards",
        "check the clock source",
    ),
    (
        Kind::FreeMemoryReturned,
        "this VM returns memory to its host, so writes are uneven",
        "use a fixed rate",
    ),
    (
        Kind::DebugBuild,
        "kgauge was built without optimisation",
        "build with --release",
    ),
    (
        Kind::BrokerSkew,
        "one broker led most of the records",
        "use more partitions",
    ),
    (
        Kind::Throttled,
        "brokers throttled the clients",
        "lift the quota of this client.id",
    ),
    (
        Kind::SingleRepeat,
        "one repeat, so no intervals",
        "use --repeat 5",
    ),
    (Kind::RepeatsMissing, "not all repeats completed", ""),
    (
        Kind::TwoModes,
        "the repeats form two groups; the mean describes neither",
        "compare the repeats",
    ),
];

/// What helps against the cause of skipped records.
fn fix(kind: Kind) -> String {
    match kind {
        Kind::OtherPrograms => "stop other load on this host".to_owned(),
        _ => constant(kind).map_or_else(String::new, |(_, fix)| fix),
    }
}

/// `None` of what the conditions of the run say: what load and brokers share.
fn constant(kind: Kind) -> Option<(String, String)> {
    let (_, matter, fix) = LINES.iter().find(|(known, ..)| *known == kind)?;
    Some(((*matter).to_owned(), (*fix).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::warning_kind::{Severity, about};

    #[test]
    fn each_kind_has_its_line_but_those_of_the_conditions() {
        let with_numbers = [
            Kind::WideInterval,
            Kind::ShortHold,
            Kind::FewSamples,
            Kind::ClockSource,
            Kind::TargetNote,
            Kind::OtherPrograms,
        ];
        let of_conditions = [Kind::SameMachine, Kind::CoresShared];
        for kind in Kind::ALL {
            let is_known = with_numbers.contains(kind) || of_conditions.contains(kind);
            assert_ne!(is_known, constant(*kind).is_some(), "{kind:?}");
        }
    }

    #[test]
    fn each_line_fits_a_terminal_and_with_the_number_of_trials_a_wide_one() {
        for (kind, matter, fix) in LINES {
            let mark = match about(kind).level {
                Severity::Grave => "IMPORTANT: ",
                Severity::Caution | Severity::Note => "! ",
            };
            let matter = matter.replace('#', "1,234,567 records");
            for (places, columns) in [("", 80), (" (10 of 16 trials)", 100)] {
                let line = format!("{mark}{matter}{places}: {fix}");
                assert!(line.chars().count() <= columns, "{line}");
            }
        }
    }

    #[test]
    fn counts_are_added_up() {
        let failed = [12, 30].map(|records| Finding::SendsFailed { records });
        let all: Vec<&Finding> = failed.iter().collect();
        assert_eq!(total(&all), Some((42, "record")));
        assert_eq!(total(&[&Finding::NoWorkDone]), None);
        assert_eq!(total(&[]), None);
    }
}
