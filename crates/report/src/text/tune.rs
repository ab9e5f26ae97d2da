//! The answer of a search for better settings: the recommendation, what it rests on, and what was not tried.

mod lines;
mod parts;
#[cfg(test)]
pub(crate) mod tests;

use kgauge_analyze::Summary;
use kgauge_analyze::summary::{
    AbVerdict, ConditionRecord, GoalStatus, RacePlace, SettingEffect, TuneSummary, TuneVerdict,
    TuneWinner,
};
use kgauge_results::run::{LeftOutCause, TuneEnd};
use kgauge_scenario::{TuneGoal, TunePreset};

use super::ab;
use super::capacity::void_cause;
use crate::format;
pub(crate) use lines::{because, names, place, properties};
use parts::phase_name;
pub(crate) use parts::{changed, elsewhere, left_out};
pub use parts::{measured, phase_begins};

/// `Recommended: batch.size=131072. Throughput +34 % (95 % interval +30 to +38 %) in 7 pairs against the settings in
/// force.`
pub fn answer(search: &TuneSummary) -> String {
    match (&search.winner, search.preset) {
        (_, _) if search.verdict == TuneVerdict::Refused => refusal(search),
        (None, _) => without_winner(search),
        (Some(winner), Some(preset)) if search.has_lines() => of_preset(search, winner, preset),
        (Some(winner), _) => of_winner(search, winner),
    }
}

/// The answer to the question of the scenario.
pub(crate) fn answer_of_scenario(summary: &Summary) -> Option<String> {
    summary.tune.as_ref().map(answer)
}

/// What a preset brings, or costs.
fn of_preset(search: &TuneSummary, winner: &TuneWinner, preset: TunePreset) -> String {
    let start = format!("The preset for {}", preset_name(preset));
    let (names, proven) = (names(&winner.changes), proven(winner));
    match search.verdict {
        TuneVerdict::Better if search.is_of_price() => {
            format!("{start} costs nothing here: {proven}. It sets {names}.")
        }
        TuneVerdict::Better => format!("{start} is better: {proven}. It sets {names}."),
        TuneVerdict::Worse => format!("{start} has a price: {proven}. It sets {names}."),
        TuneVerdict::NothingHelps
        | TuneVerdict::ConditionBroken
        | TuneVerdict::ConditionOpen
        | TuneVerdict::FalseAlarm
        | TuneVerdict::Inconclusive
        | TuneVerdict::Refused => format!(
            "{start} costs less than {}: {proven}. It sets {names}.",
            width(search)
        ),
    }
}

/// What the proof says of the winner.
fn of_winner(search: &TuneSummary, winner: &TuneWinner) -> String {
    let (names, proven) = (names(&winner.changes), proven(winner));
    let sentence = format::capital(&proven);
    let of_status = |status: GoalStatus| {
        let conditions = winner.conditions.iter();
        let conditions = conditions.filter(|one| one.status == status);
        conditions.map(condition).collect::<Vec<_>>()
    };
    match search.verdict {
        TuneVerdict::Better => format!("Recommended: {names}. {sentence}."),
        TuneVerdict::Worse => format!("Not recommended: {names}. {sentence}."),
        TuneVerdict::ConditionBroken => format!(
            "No recommendation: {names} is better ({proven}), but misses a condition: {}.",
            of_status(GoalStatus::NotHeld).join("; ")
        ),
        TuneVerdict::ConditionOpen => {
            let mut open = of_status(GoalStatus::Undecided);
            open.extend(of_status(GoalStatus::NotMeasured));
            format!(
                "No recommendation: {names} is better ({proven}), but it is not clear that it keeps every \
                 condition: {}. {}",
                open.join("; "),
                more(search)
            )
        }
        TuneVerdict::FalseAlarm => {
            "No recommendation: the proof also found a difference between equal settings, so this \
             machine was not steady enough. Try again, or use longer repeats, such as --set \
             stages.hold='30 s'."
                .to_owned()
        }
        TuneVerdict::NothingHelps => format!(
            "Nothing helps by more than {}. The best candidate was {names}. {sentence}.",
            width(search)
        ),
        TuneVerdict::Inconclusive if winner.proof.verdict == AbVerdict::Different => format!(
            "Inconclusive: {names} is better ({proven}), but it is not clear that the gain is {} or \
             more. {}",
            width(search),
            more(search)
        ),
        _ if winner.proof.verdict == AbVerdict::NoDifference => format!(
            "Inconclusive: the best candidate was {names}. {sentence}. {}",
            too_wide(search)
        ),
        TuneVerdict::Inconclusive | TuneVerdict::Refused => format!(
            "Inconclusive: the best candidate was {names}. {sentence}. {}",
            more(search)
        ),
    }
}

/// How a proof may become clear. A search that had all of its repeats measures nothing if it is resumed.
fn more(search: &TuneSummary) -> &'static str {
    match search.end {
        Some(TuneEnd::Decided) => "Use longer repeats.",
        _ => "Use --resume with a longer --budget, or longer repeats.",
    }
}

/// What ended before a proof.
fn without_winner(search: &TuneSummary) -> String {
    let missed = search.race.iter();
    let missed = missed.filter(|one| one.place == RacePlace::BreaksCondition);
    let missed = missed.count() as u64;
    match search.verdict {
        TuneVerdict::NothingHelps if missed > 0 => format!(
            "Nothing that keeps the conditions helps by more than {}; {} missed one.",
            width(search),
            format::counted(missed, "candidate")
        ),
        TuneVerdict::NothingHelps => {
            format!(
                "Nothing that was tried helps by more than {}.",
                width(search)
            )
        }
        _ if search.is_open() => {
            format!(
                "Inconclusive: nothing is shown to help. {}",
                too_wide(search)
            )
        }
        _ => "Inconclusive: the search ended before its proof.".to_owned(),
    }
}

/// What may still help.
fn too_wide(search: &TuneSummary) -> String {
    let settings = search.open_settings();
    let settings = settings.map(|one| format!("{}={}", one.name, one.value));
    let raced = search.open_candidates().map(|one| names(&one.changes));
    let open: Vec<String> = settings.chain(raced).collect();
    format!(
        "The intervals of {} are too wide to rule out a gain of more than {}. Use longer repeats, a \
         longer --budget or a larger --width.",
        open.join("; "),
        width(search)
    )
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
             look like effects. Use a longer hold or warm-up, such as --set stages.hold='30 s'."
                .to_owned()
        }
        Some(TuneEnd::ConditionMissed { .. }) => format!(
            "Nothing was tried: the settings in force miss a condition: {}. Lower the rate, relax the \
             condition, or make it the goal.",
            search.missed.as_ref().map_or_else(String::new, condition)
        ),
        Some(TuneEnd::BudgetTooShort { needed_ns }) => format!(
            "Nothing was tried: the budget of {} is too short for a proof. Use --resume with --budget \
             '{}', or shorter repeats.",
            format::span(search.budget_ns),
            budget_text(*needed_ns)
        ),
        _ => format!("Nothing was tried: {}.", why_nothing(search)),
    }
}

/// Why no setting was left to try. Only a search of the table asks for the bottleneck.
fn why_nothing(search: &TuneSummary) -> String {
    let causes = || search.left_out.iter().map(|one| &one.cause);
    if !causes().any(|cause| *cause == LeftOutCause::OtherBottleneck) {
        return left_out(search).join("; ");
    }
    let narrowed = match causes().any(|cause| *cause == LeftOutCause::Scope) {
        true => ", and --try leaves out others",
        false => "",
    };
    format!(
        "no setting may change here that acts on the bottleneck ({}){narrowed}",
        search.bottleneck.map_or("unknown", super::bottleneck::name)
    )
}

/// A length as `--budget` takes it, in whole minutes.
pub(crate) fn budget_text(ns: u64) -> String {
    format!("{} min", ns.div_ceil(60_000_000_000).max(1))
}

/// `throughput +34 % (95 % interval +30 to +38 %) in 7 pairs against the settings in force`.
fn proven(winner: &TuneWinner) -> String {
    let proof = &winner.proof;
    let name = ab::metric_name(proof);
    let Some(ratio) = proof.ratio else {
        return format!("{name} was not measured in a proof");
    };
    let known = ab::known(ratio, proof.interval);
    let pairs = format::counted(proof.pairs.into(), "pair");
    format!("{name} {known} in {pairs} against the settings in force")
}

/// `throughput`, `p99`.
pub(crate) fn figure_name(search: &TuneSummary) -> String {
    ab::name_of_metric(&search.metric)
}

/// What is known of a setting: `helps`, `less than 3 %`.
pub(crate) fn effect_word(search: &TuneSummary, effect: SettingEffect) -> String {
    match effect {
        SettingEffect::Helps => "helps".to_owned(),
        SettingEffect::Harms => "harms".to_owned(),
        SettingEffect::None => format!("less than {}", width(search)),
        SettingEffect::Open => "open".to_owned(),
        SettingEffect::NotAlone => "not measured alone".to_owned(),
    }
}

/// How a candidate left the race.
pub(crate) fn place_word(place: RacePlace) -> &'static str {
    match place {
        RacePlace::Winner => "winner",
        RacePlace::Finisher => "finished",
        RacePlace::NoGain => "out: no gain",
        RacePlace::Behind => "out: behind",
        RacePlace::BreaksCondition => "out: misses a condition",
    }
}

/// What the answer rests on, a sentence each.
pub(crate) fn details(search: &TuneSummary) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(bottleneck) = search.bottleneck {
        let name = super::bottleneck::name(bottleneck);
        found.push(format!("Bottleneck with the settings in force: {name}."));
    }
    if let Some(winner) = &search.winner {
        if winner.generator_limited {
            found.push(
                "With the winner's settings, the load generator was the bottleneck: the gain may be \
                 larger."
                    .to_owned(),
            );
        }
        found.push(aa(winner));
        let conditions = winner.conditions.iter();
        found.extend(conditions.map(|one| format!("Condition {}.", condition(one))));
    }
    found.push(cost_of(search));
    found
}

/// Whether equal settings differed in the proof.
fn aa(winner: &TuneWinner) -> String {
    let Some(ratio) = winner.aa.ratio else {
        return "Equal settings were not compared in the proof.".to_owned();
    };
    let known = ab::known(ratio, winner.aa.interval);
    let alarms = winner.aa.false_alarms.as_ref().map(|alarms| {
        format!(
            "; false alarms: {} of the tests drawn from these pairs",
            ab::share_of_tests(alarms, alarms.different)
        )
    });
    format!(
        "Equal settings in the proof: {known}{}.",
        alarms.unwrap_or_default()
    )
}

/// `writers.latency.p99 <= 20 ms: held, in 9 of 9 repeats (median 3.1 ms; with the settings in force 4.0 ms)`.
fn condition(one: &ConditionRecord) -> String {
    let value = |value: f64| ab::in_unit(value, one.unit);
    let status = match one.status {
        GoalStatus::Held => "held",
        GoalStatus::NotHeld => "missed",
        GoalStatus::Undecided => "inconclusive",
        GoalStatus::NotMeasured => return format!("{}: not measured", one.condition),
    };
    let median = one.median.map(|median| format!("median {}", value(median)));
    let today = one.median_today.filter(|today| Some(*today) != one.median);
    let today = today.map(|today| format!("with the settings in force {}", value(today)));
    let medians: Vec<String> = [median, today].into_iter().flatten().collect();
    let medians = match medians.is_empty() {
        true => String::new(),
        false => format!(" ({})", medians.join("; ")),
    };
    let repeats = format::counted(one.repeats.into(), "repeat");
    format!(
        "{}: {status}, kept in {} of {repeats}{medians}",
        one.condition, one.kept
    )
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
        Some(TuneEnd::Budget) => {
            " The budget ended the search. --resume with a longer --budget continues it.".to_owned()
        }
        Some(TuneEnd::Void { cause }) => format!(
            " The search ended early: repeats were void several times in a row ({}). --resume continues it.",
            void_cause(cause)
        ),
        None => " The search did not end; --resume continues it.".to_owned(),
        Some(_) => String::new(),
    }
}

/// `3 %`: a smaller gain counts as none.
fn width(search: &TuneSummary) -> String {
    ab::width(search.width)
}

/// What is searched, and how.
pub(crate) fn setup(search: &TuneSummary) -> String {
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
fn preset_name(preset: TunePreset) -> &'static str {
    match preset {
        TunePreset::Throughput => "throughput",
        TunePreset::Latency => "latency",
        TunePreset::Durability => "durability",
        TunePreset::Availability => "availability",
    }
}
