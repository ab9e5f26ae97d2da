//! The search for better settings of a run: its record, read as the search itself reads it.

use kgauge_results::folder::RunRead;
use kgauge_results::run::{
    AbBlock, AbEnd, AbRecord, TuneArm, TuneChoice, TuneEnd, TuneOption, TunePhase, TunePhaseKind,
    TuneRecord,
};
use kgauge_scenario::{AbKind, AbPlan, AbSide, AbSidePlan, TunePlan, TuneSetting};

use super::ab;
use super::tune_elsewhere::elsewhere;
use super::verdict::unit_of_value;
use crate::sequential::PairDecision;
use crate::statistics::{FigureRatio, Interval, median};
use crate::summary::ab::{AbSummary, AbVerdict};
use crate::summary::tune::{
    ConditionRecord, PhaseCost, RacePlace, RacedCandidate, SettingEffect, SettingLine,
    TriedSetting, TuneSummary, TuneVerdict, TuneWinner,
};
use crate::summary::{Bottleneck, GoalStatus, TrialSummary};
use crate::tuning::{
    CANDIDATES_MAX, RaceExit, condition_status, condition_values, judge_proof, of_winner, race,
    screened, sign, table,
};

/// The search, if the run made one.
pub(super) fn search(run: &RunRead, trials: &[TrialSummary]) -> Option<TuneSummary> {
    let plan = run.plan.as_ref()?.tune.as_ref()?;
    let seed = run.plan.as_ref()?.seed;
    let record = run.tune.as_ref()?;
    let choice = record.choice.clone().unwrap_or_default();
    let proof = record.phase(TunePhaseKind::Proof);
    let winner = proof.map(|proof| TuneWinner {
        generator_limited: is_generator_limited(trials, proof.arms.last()),
        ..winner(run, (plan, record), &choice, proof, seed)
    });
    let limit = trials.first().and_then(|trial| trial.limit.as_ref());
    let missed = match record.end {
        Some(TuneEnd::ConditionMissed { condition }) => {
            let today = record.phases.last().map(|phase| (phase, 0));
            of_condition(plan, condition as usize, today)
        }
        _ => None,
    };
    let mut search = TuneSummary {
        goal: plan.goal,
        preset: plan.preset,
        metric: plan.metric.to_string(),
        unit: unit_of_value(plan.metric.unit()),
        more_is_better: plan.metric.more_is_better(),
        width: plan.width,
        budget_ns: plan.budget_ns,
        verdict: verdict(plan, record, winner.as_ref()),
        bottleneck: limit.map(|limit| limit.word),
        settings: settings(plan, record, &choice, winner.as_ref()),
        race: raced(plan, record, &choice),
        winner,
        left_out: choice.left_out.clone(),
        phases: record.phases.iter().map(cost).collect(),
        end: record.end.clone(),
        missed,
        took_s: record.took_ns as f64 / 1e9,
    };
    // A gain that no measurement shows is ruled out only by narrow intervals.
    if search.verdict == TuneVerdict::NothingHelps && search.is_open() {
        search.verdict = TuneVerdict::Inconclusive;
    }
    Some(search)
}

fn verdict(plan: &TunePlan, record: &TuneRecord, winner: Option<&TuneWinner>) -> TuneVerdict {
    let Some(winner) = winner else {
        return match &record.end {
            Some(TuneEnd::Decided) => TuneVerdict::NothingHelps,
            Some(
                TuneEnd::Generator
                | TuneEnd::NotSteady
                | TuneEnd::ConditionMissed { .. }
                | TuneEnd::BudgetTooShort { .. }
                | TuneEnd::NothingToTry,
            ) => TuneVerdict::Refused,
            Some(TuneEnd::Budget | TuneEnd::Void { .. }) | None => TuneVerdict::Inconclusive,
        };
    };
    let proof = record.phase(TunePhaseKind::Proof);
    let is_open = proof.is_some_and(|proof| judge_proof(plan, proof) == PairDecision::Open);
    match (winner.proof.verdict, winner.proof.better()) {
        _ if winner.aa.verdict == AbVerdict::Different => TuneVerdict::FalseAlarm,
        (AbVerdict::Different, Some(AbSide::B)) if is_open => TuneVerdict::Inconclusive,
        (AbVerdict::Different, Some(AbSide::B)) => under_conditions(&winner.conditions),
        (AbVerdict::Different, _) => TuneVerdict::Worse,
        (AbVerdict::NoDifference, _) => TuneVerdict::NothingHelps,
        (AbVerdict::Inconclusive, _) => TuneVerdict::Inconclusive,
    }
}

/// The answer about a winner that is better.
fn under_conditions(conditions: &[ConditionRecord]) -> TuneVerdict {
    let mut statuses = conditions.iter().map(|one| one.status);
    let is_held = |status: GoalStatus| status == GoalStatus::Held;
    match statuses.clone().any(|status| status == GoalStatus::NotHeld) {
        true => TuneVerdict::ConditionBroken,
        false if statuses.all(is_held) => TuneVerdict::Better,
        false => TuneVerdict::ConditionOpen,
    }
}

/// The effects of the screening, by setting.
fn screened_ratios(
    plan: &TunePlan,
    record: &TuneRecord,
    choice: &TuneChoice,
) -> Vec<Option<FigureRatio>> {
    let phase = record.phase(TunePhaseKind::Screening);
    let effects = phase.map_or_else(Vec::new, |phase| {
        screened(phase, choice.settings.len(), sign(plan))
    });
    let ratio = |setting: usize| {
        let effect = effects.get(setting)?;
        ratio_of(plan, effect.gain, effect.interval)
    };
    (0..choice.settings.len()).map(ratio).collect()
}

fn settings(
    plan: &TunePlan,
    record: &TuneRecord,
    choice: &TuneChoice,
    winner: Option<&TuneWinner>,
) -> Vec<TriedSetting> {
    let ratios = screened_ratios(plan, record, choice);
    let is_screened = record.phase(TunePhaseKind::Screening).is_some();
    let tried = (0..).zip(choice.settings.iter().zip(ratios));
    let mut tried: Vec<TriedSetting> = tried
        .map(|(index, (setting, ratio))| {
            let known = table::known(&setting.name);
            let ratio = ratio.or_else(|| proven_ratio(winner?, &setting.name));
            let values = setting.values.iter().map(|value| value.text.as_str());
            let turns = if is_screened { 1 } else { CANDIDATES_MAX };
            TriedSetting {
                name: setting.name.clone(),
                scope: setting.scope,
                today: setting.today.clone(),
                value: values.take(turns).collect::<Vec<_>>().join(", "),
                untried: untried(record, index, setting, turns),
                ratio,
                effect: match ratio {
                    Some(ratio) => effect(plan, ratio),
                    None if plan.preset.is_some() => SettingEffect::NotAlone,
                    None => SettingEffect::Open,
                },
                cost: known.map(|known| known.cost),
                risk: known.map(|known| known.risk),
            }
        })
        .collect();
    let order = |one: &TriedSetting| gain(plan, one.ratio);
    tried.sort_by(|a, b| order(b).total_cmp(&order(a)));
    tried
}

/// The values of a setting, behind those that have their turn, that no arm with a measurement has.
fn untried(record: &TuneRecord, index: u32, setting: &TuneSetting, turns: usize) -> Vec<String> {
    let is_measured = |value: u32| {
        let option = TuneOption {
            setting: index,
            value,
        };
        record.phases.iter().any(|phase| {
            let mut arms = phase.arms.iter().enumerate();
            arms.any(|(arm, one)| {
                one.options.contains(&option) && phase.of_arm(arm).next().is_some()
            })
        })
    };
    let others = (0..).zip(&setting.values).skip(turns);
    others
        .filter(|(value, _)| !is_measured(*value))
        .map(|(_, value)| value.text.clone())
        .collect()
}

/// What the proof says of a setting that is all that the winner changes.
fn proven_ratio(winner: &TuneWinner, name: &str) -> Option<FigureRatio> {
    let [only] = winner.changes.as_slice() else {
        return None;
    };
    let (ratio, interval) = winner.proof.ratio.zip(winner.proof.interval)?;
    (only.names.join(", ") == name).then_some(FigureRatio { ratio, interval })
}

/// By how much a ratio is better, as a logarithm; the lowest for an unknown one.
fn gain(plan: &TunePlan, ratio: Option<FigureRatio>) -> f64 {
    ratio.map_or(f64::NEG_INFINITY, |ratio| sign(plan) * ratio.ratio.ln())
}

/// The ratio of the figure, from a gain and its interval as logarithms.
fn ratio_of(plan: &TunePlan, gain: f64, gains: Interval) -> Option<FigureRatio> {
    let of_gain = |gain: f64| (sign(plan) * gain).exp();
    let ends = [of_gain(gains.low), of_gain(gains.high)];
    let interval = Interval {
        low: ends[0].min(ends[1]),
        high: ends[0].max(ends[1]),
    };
    let ratio = of_gain(gain);
    let is_sound = ratio.is_finite() && interval.high.is_finite();
    is_sound.then_some(FigureRatio { ratio, interval })
}

fn effect(plan: &TunePlan, ratio: FigureRatio) -> SettingEffect {
    let ends = [ratio.interval.low, ratio.interval.high].map(|end| sign(plan) * end.ln());
    let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
    let width = plan.width.ln_1p();
    if high < width && low > -width {
        SettingEffect::None
    } else if low > 0.0 {
        SettingEffect::Helps
    } else if high < 0.0 {
        SettingEffect::Harms
    } else {
        SettingEffect::Open
    }
}

fn lines(
    options: &[TuneOption],
    choice: &TuneChoice,
    ratios: &[Option<FigureRatio>],
) -> Vec<SettingLine> {
    let line = |one: &TuneOption| {
        let setting = choice.settings.get(one.setting as usize)?;
        let value = setting.values.get(one.value as usize)?;
        let known = table::known(&setting.name);
        // Several flows may have the same setting.
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for (path, text) in &value.changes {
            let pair = (TuneSetting::place_of(path).1, text.as_str());
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        Some(SettingLine {
            scope: setting.scope,
            names: pairs.iter().map(|(name, _)| (*name).to_owned()).collect(),
            values: pairs.iter().map(|(_, text)| (*text).to_owned()).collect(),
            today: setting.today.clone(),
            // The screening had the first value.
            ratio: ratios
                .get(one.setting as usize)
                .copied()
                .flatten()
                .filter(|_| one.value == 0),
            cost: known.map(|known| known.cost),
            risk: known.map(|known| known.risk),
        })
    };
    let mut lines: Vec<SettingLine> = options.iter().filter_map(line).collect();
    lines.sort_by_key(|line| line.scope);
    lines
}

fn raced(plan: &TunePlan, record: &TuneRecord, choice: &TuneChoice) -> Vec<RacedCandidate> {
    let ratios = screened_ratios(plan, record, choice);
    let candidate = |arm: &TuneArm, ratio: Option<FigureRatio>, place: RacePlace| RacedCandidate {
        trial: arm.trial,
        changes: lines(&arm.options, choice, &ratios),
        ratio,
        place,
    };
    let proof = record.phase(TunePhaseKind::Proof);
    let won = proof.and_then(|proof| proof.arms.last());
    let won = won.map(|arm| &arm.options);
    let mut raced: Vec<RacedCandidate> = Vec::new();
    if let Some(phase) = record.phase(TunePhaseKind::Race) {
        let state = race(plan, phase);
        raced.extend(state.candidates.iter().filter_map(|one| {
            let arm = phase.arms.get(one.arm)?;
            let known = one.gain.zip(one.interval);
            let ratio = known.and_then(|(gain, ends)| ratio_of(plan, gain, ends));
            let place = match one.out {
                _ if won == Some(&arm.options) => RacePlace::Winner,
                None => RacePlace::Finisher,
                Some(RaceExit::NoGain) => RacePlace::NoGain,
                Some(RaceExit::Behind) => RacePlace::Behind,
                Some(RaceExit::Condition) => RacePlace::BreaksCondition,
            };
            Some(candidate(arm, ratio, place))
        }));
    }
    let order = |one: &RacedCandidate| gain(plan, one.ratio);
    raced.sort_by(|a, b| order(b).total_cmp(&order(a)));
    raced.extend(
        dropped(record)
            .into_iter()
            .map(|arm| candidate(arm, None, RacePlace::BreaksCondition)),
    );
    raced
}

/// Candidates that broke a condition at the second load, and so did not race.
fn dropped(record: &TuneRecord) -> Vec<&TuneArm> {
    let Some(position) = record
        .phases
        .iter()
        .rposition(|phase| phase.kind == TunePhaseKind::Conditions)
    else {
        return Vec::new();
    };
    let is_judged = record.end == Some(TuneEnd::Decided) || position + 1 < record.phases.len();
    let later = record.phases[position + 1..].iter();
    let entered: Vec<&Vec<TuneOption>> = later
        .flat_map(|phase| phase.arms.iter().map(|arm| &arm.options))
        .collect();
    let candidates = record.phases[position].arms.iter().skip(1);
    candidates
        .filter(|arm| is_judged && !entered.contains(&&arm.options))
        .collect()
}

/// Two arms of a proof as an A/B test.
fn test(plan: &TunePlan, phase: &TunePhase, arms: [usize; 2], seed: u64) -> AbSummary {
    let [a, b] = arms;
    let kind = match b {
        1 => AbKind::Same,
        _ => AbKind::Settings,
    };
    let side = |name: &str, arm: usize| AbSidePlan {
        name: name.to_owned(),
        trial: phase.arms.get(arm).and_then(|arm| arm.trial),
        folder: None,
    };
    let names = match kind {
        AbKind::Same => ["first", "second"],
        AbKind::Settings | AbKind::Scenarios | AbKind::Targets => ["settings in force", "winner"],
    };
    let test = AbPlan {
        kind,
        sides: [side(names[0], a), side(names[1], b)],
        metric: plan.metric.clone(),
        width: plan.width,
        budget_ns: None,
        blocks_max: phase.blocks_started().max(1),
        is_duet: false,
    };
    let place = |arm: usize, block: u32| {
        let mut measures = phase.measures.iter();
        measures.position(|one| one.arm as usize == arm && one.block == block)
    };
    let blocks = (0..phase.blocks_started()).map(|block| AbBlock {
        repeat: block,
        first: match place(a, block) <= place(b, block) {
            true => AbSide::A,
            false => AbSide::B,
        },
        a: phase.value(a, block),
        b: phase.value(b, block),
        void: None,
    });
    let took = phase.measures.iter().map(|one| one.took_ns);
    let record = AbRecord {
        blocks: blocks.collect(),
        end: Some(AbEnd::Decided),
        took_ns: took.sum(),
    };
    ab::of_record(&test, &record, seed)
}

fn winner(
    run: &RunRead,
    (plan, record): (&TunePlan, &TuneRecord),
    choice: &TuneChoice,
    phase: &TunePhase,
    seed: u64,
) -> TuneWinner {
    let options = phase.arms.last().map(|arm| arm.options.clone());
    let proof = test(plan, phase, [0, 2], seed);
    let other = record.phase(TunePhaseKind::OtherLoad);
    let conditions = 0..plan.keep.len();
    TuneWinner {
        changes: lines(
            &options.unwrap_or_default(),
            choice,
            &screened_ratios(plan, record, choice),
        ),
        proof,
        aa: test(plan, phase, [0, 1], seed),
        conditions: conditions
            .filter_map(|condition| of_condition(plan, condition, of_winner(record, condition)))
            .collect(),
        elsewhere: elsewhere(run, plan, phase, other),
        other_rate: choice.other_rate.filter(|_| other.is_some()),
        generator_limited: false,
    }
}

fn is_generator_limited(trials: &[TrialSummary], arm: Option<&TuneArm>) -> bool {
    let index = arm.and_then(|arm| arm.trial);
    let trial = trials.iter().find(|trial| Some(trial.index) == index);
    let limit = trial.and_then(|trial| trial.limit.as_ref());
    limit.is_some_and(|limit| limit.word == Bottleneck::Generator)
}

/// A condition over the repeats of an arm; arm 0 of the phase has the settings in force.
fn of_condition(
    plan: &TunePlan,
    condition: usize,
    measured: Option<(&TunePhase, usize)>,
) -> Option<ConditionRecord> {
    let goal = plan.keep.get(condition)?;
    let values = |of: fn(usize) -> usize| {
        measured.map_or_else(Vec::new, |(phase, arm)| {
            condition_values(phase, of(arm), condition)
        })
    };
    let own = values(|arm| arm);
    let kept = own
        .iter()
        .filter(|value| goal.comparison.holds(**value, goal.value));
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Some(ConditionRecord {
        condition: goal.text.clone(),
        required: goal.value,
        unit: unit_of_value(goal.figure.metric.unit()),
        status: condition_status(goal, &own),
        kept: count(kept.count()),
        repeats: count(own.len()),
        median: median(own.clone()),
        median_today: median(values(|_| 0)),
    })
}

fn cost(phase: &TunePhase) -> PhaseCost {
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let void = phase.measures.iter().filter(|one| one.void.is_some());
    let void = void.count();
    let took: u64 = phase.measures.iter().map(|one| one.took_ns).sum();
    PhaseCost {
        phase: phase.kind,
        arms: count(phase.arms.len()),
        repeats: count(phase.measures.len() - void),
        void: count(void),
        took_s: took as f64 / 1e9,
    }
}
