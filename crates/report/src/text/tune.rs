//! The answer of a search for better settings: the recommendation, what it rests on, and what was not tried.

mod parts;

use kgauge_analyze::Summary;
use kgauge_analyze::summary::{
    AbRatio, ConditionRecord, MetricUnit, RacePlace, SettingEffect, SettingLine, TuneSummary,
    TuneVerdict, TuneWinner,
};
use kgauge_analyze::tuning::table::{SettingCost, SettingRisk};
use kgauge_results::run::TuneEnd;
use kgauge_scenario::{SettingScope, TuneGoal, TunePreset};

use super::ab;
use super::capacity::void_cause;
use crate::format;
pub use parts::{changed, elsewhere, left_out, measured, phase_begins, phase_name};

/// `Recommended: batch.size=131072. Throughput +34 % (95 % interval +30 to +38 %) in 7 pairs against the settings in
/// force.`
pub fn answer(search: &TuneSummary) -> String {
    let width = width(search);
    match (&search.winner, search.verdict) {
        (_, TuneVerdict::Refused) => refusal(search),
        (Some(winner), TuneVerdict::Better) => format!(
            "{} {}: {}.",
            match search.preset {
                Some(preset) => format!("The preset for {} is better:", preset_name(preset)),
                None => "Recommended:".to_owned(),
            },
            names(&winner.changes),
            proven(winner)
        ),
        (Some(winner), TuneVerdict::Worse) => format!(
            "Not recommended: {} makes it worse: {}.",
            names(&winner.changes),
            proven(winner)
        ),
        (Some(winner), TuneVerdict::ConditionBroken) => format!(
            "No recommendation: {} changes {}, but breaks a condition: {}.",
            names(&winner.changes),
            proven(winner),
            broken(&winner.conditions).join("; ")
        ),
        (Some(_), TuneVerdict::FalseAlarm) => {
            "No recommendation: the proof also found a difference between equal settings, so this \
             machine was not steady enough. Try again, or use longer repeats."
                .to_owned()
        }
        (Some(winner), TuneVerdict::NothingHelps) => format!(
            "Nothing helps by more than {width}. The best candidate was {}: {}.",
            names(&winner.changes),
            proven(winner)
        ),
        (Some(winner), _) => format!(
            "Inconclusive: {}: {}. Use a longer --budget or longer repeats.",
            names(&winner.changes),
            proven(winner)
        ),
        (None, TuneVerdict::NothingHelps) => {
            format!("Nothing that was tried helps by more than {width}.")
        }
        (None, _) => left_open(search),
    }
}

/// The answer to the question of the scenario.
pub fn answer_of_scenario(summary: &Summary) -> Option<String> {
    summary.tune.as_ref().map(answer)
}

/// What ended without a winner, and without ruling one out.
fn left_open(search: &TuneSummary) -> String {
    let settings = search.open_settings();
    let settings = settings.map(|one| format!("{}={}", one.name, one.value));
    let raced = search.open_candidates().map(|one| names(&one.changes));
    let open: Vec<String> = settings.chain(raced).collect();
    match open.is_empty() {
        true => "Inconclusive: the search ended before its proof.".to_owned(),
        false => format!(
            "Inconclusive: nothing is shown to help, but the intervals of {} are too wide to rule out a gain of more than \
             {}. Use longer repeats, a longer --budget or a larger --width.",
            open.join(", "),
            width(search)
        ),
    }
}

/// Why the settings in force could not be judged, and what to do.
fn refusal(search: &TuneSummary) -> String {
    match &search.end {
        Some(TuneEnd::Generator) => {
            "Nothing was tried: the load generator is the bottleneck with the settings in force, so \
             settings cannot be judged. Use a faster machine for kgauge, or a fixed rate that it can \
             generate with --goal latency or cost."
                .to_owned()
        }
        Some(TuneEnd::NotSteady) => {
            "Nothing was tried: the target is not steady with the settings in force, so drift would \
             pass for effects. Use a longer hold or warm-up, such as --set stages.hold='30 s'."
                .to_owned()
        }
        Some(TuneEnd::ConditionMissed { .. }) => format!(
            "Nothing was tried: the settings in force miss a condition: {}. Recommendations have to \
             keep it from there on. Lower the rate, relax the condition, or make it the goal.",
            search.missed.as_ref().map_or_else(String::new, condition)
        ),
        Some(TuneEnd::BudgetTooShort { needed_ns }) => format!(
            "Nothing was tried: the budget of {} is too short for a proof. Use --budget '{}' or \
             shorter repeats.",
            format::span(search.budget_ns),
            budget_text(*needed_ns)
        ),
        _ => format!(
            "Nothing was tried: no setting of the table acts on the bottleneck ({}) and may be \
             changed here.",
            search.bottleneck.map_or("unknown", super::bottleneck::name)
        ),
    }
}

/// A length as `--budget` takes it, in whole minutes.
fn budget_text(ns: u64) -> String {
    format!("{} min", ns.div_ceil(60_000_000_000).max(1))
}

/// `throughput +34 % (95 % interval +30 to +38 %) in 7 pairs against the settings in force`.
fn proven(winner: &TuneWinner) -> String {
    let proof = &winner.proof;
    let pairs = format::counted(proof.pairs.into(), "pair");
    let Some(ratio) = proof.ratio else {
        return "not measured".to_owned();
    };
    let known = ab::known(ratio, proof.interval);
    format!(
        "{} {known} in {pairs} against the settings in force",
        ab::metric_name(proof)
    )
}

/// `batch.size=131072, linger.ms=20`.
pub fn names(changes: &[SettingLine]) -> String {
    let lines: Vec<String> = changes.iter().flat_map(properties).collect();
    match lines.is_empty() {
        true => "the settings in force".to_owned(),
        false => lines.join(", "),
    }
}

/// The lines of a properties file.
pub fn properties(line: &SettingLine) -> Vec<String> {
    let pairs = line.names.iter().zip(&line.values);
    pairs
        .map(|(name, value)| {
            let name = name.strip_prefix("topic.").unwrap_or(name);
            format!("{name}={value}")
        })
        .collect()
}

/// Why a line is there: its value in force, its effect alone, its cost and its risk.
pub fn because(search: &TuneSummary, line: &SettingLine) -> String {
    let mut parts = Vec::new();
    parts.extend(line.today.as_ref().map(|today| format!("was {today}")));
    if let Some(ratio) = line.ratio {
        parts.push(format!("{} in the screening", effect(search, ratio)));
    } else if search.preset.is_some() {
        parts.push("part of the preset".to_owned());
    } else {
        parts.push("measured in the proof".to_owned());
    }
    parts.extend(line.cost.and_then(cost).map(|cost| format!("costs {cost}")));
    parts.extend(line.risk.and_then(risk).map(str::to_owned));
    parts.join("; ")
}

/// `throughput +24 %, +20 to +28 %`.
fn effect(search: &TuneSummary, ratio: AbRatio) -> String {
    format!("{} {}", figure_name(search), changed(ratio))
}

/// `throughput`, `p99`.
pub fn figure_name(search: &TuneSummary) -> String {
    ab::name_of_metric(&search.metric)
}

fn cost(cost: SettingCost) -> Option<&'static str> {
    Some(match cost {
        SettingCost::None => return None,
        SettingCost::Latency => "latency",
        SettingCost::ClientCpu => "CPU time of clients",
        SettingCost::ClientMemory => "memory of clients",
        SettingCost::BrokerMemory => "memory of brokers",
        SettingCost::BrokerCpu => "CPU time of brokers",
        SettingCost::BrokerFiles => "open files and replication work of brokers",
    })
}

fn risk(risk: SettingRisk) -> Option<&'static str> {
    Some(match risk {
        SettingRisk::None => return None,
        SettingRisk::CannotBeUndone => "cannot be undone",
        SettingRisk::Restart => "needs a restart of the brokers",
        SettingRisk::Loss => "acked records may be lost",
    })
}

/// The file or place that a setting belongs to.
pub fn place(scope: SettingScope) -> &'static str {
    match scope {
        SettingScope::Client => "client.properties",
        SettingScope::Topic => "topic",
        SettingScope::Broker => "server.properties",
    }
}

/// What is known of a setting: `helps`, `no effect`.
pub fn effect_word(effect: SettingEffect) -> &'static str {
    match effect {
        SettingEffect::Helps => "helps",
        SettingEffect::Harms => "harms",
        SettingEffect::None => "no effect",
        SettingEffect::Open => "open",
    }
}

/// How a candidate left the race.
pub fn place_word(place: RacePlace) -> &'static str {
    match place {
        RacePlace::Winner => "winner",
        RacePlace::Finisher => "to the end",
        RacePlace::NoGain => "out: no gain",
        RacePlace::Behind => "out: behind",
        RacePlace::BreaksCondition => "out: breaks a condition",
    }
}

/// What the answer rests on, a sentence each.
pub fn details(search: &TuneSummary) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(bottleneck) = search.bottleneck {
        let name = super::bottleneck::name(bottleneck);
        found.push(format!("Bottleneck with the settings in force: {name}."));
    }
    if let Some(winner) = &search.winner {
        found.push(aa(winner));
        found.extend(
            winner
                .conditions
                .iter()
                .map(|one| format!("Condition {}.", condition(one))),
        );
    }
    found.push(cost_of(search));
    found
}

/// What the A/A arm found.
fn aa(winner: &TuneWinner) -> String {
    let known = winner
        .aa
        .ratio
        .map(|ratio| ab::known(ratio, winner.aa.interval));
    let Some(known) = known else {
        return "The A/A arm was not measured.".to_owned();
    };
    let alarms = winner
        .aa
        .false_alarms
        .as_ref()
        .map_or_else(String::new, |alarms| {
            let share = f64::from(alarms.different) / f64::from(alarms.tests.max(1));
            format!(
                "; {} of tests drawn from it call equal settings different",
                format::percent(share)
            )
        });
    format!("A/A arm of the proof, equal settings: {known}{alarms}.")
}

/// `writers.latency.p99 <= 20 ms: kept in 9 of 9 repeats (median 3.1 ms, before 4.0 ms)`.
fn condition(one: &ConditionRecord) -> String {
    let value = |value: f64| match one.unit {
        MetricUnit::RecordsPerSecond => format!("{} records/s", format::figure(value)),
        MetricUnit::BytesPerSecond => format!("{}/s", format::decimal_bytes(value)),
        MetricUnit::Nanoseconds => format::nanoseconds(value),
        MetricUnit::Records => format::figure(value),
    };
    let medians: Vec<String> = [
        one.median.map(|median| format!("median {}", value(median))),
        one.median_today
            .map(|today| format!("with the settings in force {}", value(today))),
    ]
    .into_iter()
    .flatten()
    .collect();
    let medians = match medians.is_empty() {
        true => String::new(),
        false => format!(" ({})", medians.join(", ")),
    };
    let repeats = format::counted(one.repeats.into(), "repeat");
    format!(
        "{}: kept in {} of {repeats}{medians}",
        one.condition, one.kept
    )
}

fn broken(conditions: &[ConditionRecord]) -> Vec<String> {
    let broken = conditions.iter().filter(|one| 2 * one.kept < one.repeats);
    broken.map(condition).collect()
}

/// `64 repeats (screening 24, race 20, proof 20), 18 min.`
fn cost_of(search: &TuneSummary) -> String {
    let repeats: u32 = search.phases.iter().map(|phase| phase.repeats).sum();
    let void: u32 = search.phases.iter().map(|phase| phase.void).sum();
    let of_phase = search
        .phases
        .iter()
        .map(|phase| format!("{} {}", phase_name(phase.phase), phase.repeats));
    let void = match void {
        0 => String::new(),
        count => format!(", {count} more void"),
    };
    let took = format::span((search.took_s * 1e9) as u64);
    let parts: Vec<String> = of_phase.collect();
    format!(
        "{} ({}{void}), {took}.{}",
        format::counted(repeats.into(), "repeat"),
        parts.join(", "),
        end(search)
    )
}

fn end(search: &TuneSummary) -> String {
    match &search.end {
        Some(TuneEnd::Budget) => " The budget ended the search.".to_owned(),
        Some(TuneEnd::Void { cause }) => format!(
            " The search gave up: repeats were void several times in a row ({}).",
            void_cause(cause)
        ),
        None => " The search did not come to its end.".to_owned(),
        Some(_) => String::new(),
    }
}

/// `3 %`: a smaller gain counts as none.
pub fn width(search: &TuneSummary) -> String {
    format::without_zeros(&format::percent(search.width))
}

/// What is searched, and how.
pub fn setup(search: &TuneSummary) -> String {
    let goal = match search.goal {
        TuneGoal::Throughput => "higher throughput",
        TuneGoal::Latency => "shorter latency",
        TuneGoal::Cost => "less CPU time per record",
    };
    format!(
        "Goal: {goal} ({}); gains below {} count as none; at most {}.",
        search.metric,
        width(search),
        format::span(search.budget_ns)
    )
}

/// A preset's name.
pub fn preset_name(preset: TunePreset) -> &'static str {
    match preset {
        TunePreset::Throughput => "throughput",
        TunePreset::Latency => "latency",
        TunePreset::Durability => "durability",
        TunePreset::Availability => "availability",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
pub(crate) mod tests {
    use kgauge_analyze::statistics::Interval;
    use kgauge_analyze::summary::Bottleneck;
    use kgauge_analyze::summary::{SideEffect, SideFigure};
    use kgauge_results::run::{LeftOutCause, LeftOutSetting};

    use super::super::ab::tests::{different, test_of};
    use kgauge_analyze::summary::TriedSetting;

    use super::*;

    fn ratio(ratio: f64) -> AbRatio {
        let interval = Interval {
            low: ratio - 0.01,
            high: ratio + 0.01,
        };
        AbRatio { ratio, interval }
    }

    fn tried(name: &str, value: &str, of: f64, effect: SettingEffect) -> TriedSetting {
        TriedSetting {
            name: name.to_owned(),
            scope: SettingScope::Client,
            today: Some("16384".to_owned()),
            value: value.to_owned(),
            ratio: Some(ratio(of)),
            effect,
            cost: Some(SettingCost::ClientMemory),
            risk: Some(SettingRisk::None),
        }
    }

    /// A search that recommends a batch size.
    pub(crate) fn better() -> TuneSummary {
        let line = SettingLine {
            scope: SettingScope::Client,
            names: vec!["batch.size".to_owned()],
            values: vec!["131072".to_owned()],
            today: Some("16384".to_owned()),
            ratio: Some(ratio(1.06)),
            cost: Some(SettingCost::ClientMemory),
            risk: Some(SettingRisk::None),
        };
        let equal = test_of(
            kgauge_scenario::AbKind::Same,
            "writers.throughput",
            &[1.001, 0.999, 1.002, 0.998, 1.0],
        );
        TuneSummary {
            goal: TuneGoal::Throughput,
            preset: None,
            metric: "writers.throughput".to_owned(),
            unit: MetricUnit::RecordsPerSecond,
            more_is_better: true,
            width: 0.03,
            budget_ns: 1_800_000_000_000,
            verdict: TuneVerdict::Better,
            bottleneck: Some(Bottleneck::Buffer),
            settings: vec![
                tried("batch.size", "131072", 1.06, SettingEffect::Helps),
                tried("linger.ms", "20", 1.0, SettingEffect::None),
            ],
            race: Vec::new(),
            winner: Some(TuneWinner {
                changes: vec![line],
                proof: different(),
                aa: equal,
                conditions: vec![ConditionRecord {
                    condition: "writers.latency.p99 <= 20 ms".to_owned(),
                    required: 2e7,
                    unit: MetricUnit::Nanoseconds,
                    kept: 3,
                    repeats: 3,
                    median: Some(3.1e6),
                    median_today: Some(4e6),
                }],
                elsewhere: vec![SideEffect {
                    figure: SideFigure::BrokerCpu,
                    second_load: true,
                    today: 2_000.0,
                    winner: 1_200.0,
                    ratio: Some(ratio(0.6)),
                }],
                other_rate: Some(50_000.0),
            }),
            left_out: vec![LeftOutSetting {
                name: "acks".to_owned(),
                scope: SettingScope::Client,
                cause: LeftOutCause::Durability,
            }],
            phases: Vec::new(),
            end: Some(TuneEnd::Decided),
            missed: None,
            took_s: 600.0,
        }
    }

    #[test]
    fn a_recommendation_has_its_proof_its_lines_and_their_reasons() {
        let search = better();
        assert_eq!(
            answer(&search),
            "Recommended: batch.size=131072: throughput +5.0 % (95 % interval +3.9 to +6.1 %) in 7 \
             pairs against the settings in force."
        );
        let winner = search.winner.as_ref().unwrap();
        let line = &winner.changes[0];
        assert_eq!(properties(line), ["batch.size=131072"]);
        assert_eq!(
            because(&search, line),
            "was 16384; throughput +6.0 %, +5.0 to +7.0 % in the screening; costs memory of clients"
        );
        assert_eq!(
            elsewhere(winner),
            [
                "Broker CPU per record at 50,000 records/s: 1.20 µs, was 2.00 µs (−40 %, −41 to −39 %)"
            ]
        );
        let left_out = left_out(&search);
        assert_eq!(
            left_out,
            ["acks: decides what an ack means (--durability-may-change)"]
        );
        let details = details(&search).join("\n");
        assert!(
            details.contains("kept in 3 of 3 repeats (median 3.10 ms"),
            "{details}"
        );
    }

    #[test]
    fn nothing_helps_is_an_answer_and_names_what_is_open() {
        let mut search = better();
        search.winner = None;
        search.verdict = TuneVerdict::NothingHelps;
        search.settings[0].effect = SettingEffect::None;
        assert_eq!(
            answer(&search),
            "Nothing that was tried helps by more than 3 %."
        );
        search.verdict = TuneVerdict::Inconclusive;
        search.race.clear();
        search.settings[0].effect = SettingEffect::Open;
        search.settings[0].ratio = None;
        assert!(search.is_open());
        let text = answer(&search);
        assert!(
            text.contains("the intervals of batch.size=131072 are too wide to rule out a gain of more than 3 %"),
            "{text}"
        );
    }

    #[test]
    fn refusals_name_the_way_out() {
        let mut search = better();
        search.winner = None;
        search.verdict = TuneVerdict::Refused;
        for (end, words) in [
            (TuneEnd::Generator, "load generator is the bottleneck"),
            (TuneEnd::NotSteady, "not steady"),
            (TuneEnd::ConditionMissed { condition: 0 }, "Lower the rate"),
            (
                TuneEnd::BudgetTooShort {
                    needed_ns: 90_000_000_000,
                },
                "--budget '2 min'",
            ),
            (TuneEnd::NothingToTry, "producer buffer"),
        ] {
            search.end = Some(end);
            let text = answer(&search);
            assert!(
                text.starts_with("Nothing was tried") && text.contains(words),
                "{text}"
            );
        }
    }
}
