//! The trials of a search for better settings: the scenario with some of its settings changed.

use std::collections::BTreeMap;

use kgauge_results::run::{
    LeftOutCause, TuneArm, TuneChoice, TuneOption, TunePhaseKind, TuneRecord,
};
use kgauge_scenario::{LISTED, Plan, ProduceFlow, Scenario, Size, Trial, TuneSetting};

use crate::error::RunError;
use crate::open_run::EarlierAttempt;
use crate::question::{Question, unjudged};

/// A name with more settings would not fit.
const NAMED_MAX: usize = 3;

/// Makes trials out of the scenario.
pub(crate) struct TuneTrials {
    scenario: Scenario,
    size: Size,
    /// The trial with the settings in force, as it runs.
    base: Trial,
    /// The same as the scenario has it, with defaults that the release may not support.
    written: Trial,
    /// The next repeat of each trial.
    repeats: BTreeMap<u32, u32>,
}

impl TuneTrials {
    /// For the only trial of a question. Trials of an earlier attempt go on behind their repeats.
    pub(crate) fn of(
        question: &Question,
        plan: &Plan,
        earlier: Option<&EarlierAttempt>,
    ) -> Result<TuneTrials, RunError> {
        let scenario = question.scenarios.first();
        let written = scenario.and_then(|one| one.trials_of(question.size).first());
        let (Some(scenario), Some(written), Some(base)) = (scenario, written, plan.trials.first())
        else {
            let words = "a saved plan has no settings that could be changed\n  use the scenario";
            return Err(RunError::input(words));
        };
        let mut repeats: BTreeMap<u32, u32> = BTreeMap::new();
        for key in earlier.iter().flat_map(|earlier| &earlier.done) {
            let next = repeats.entry(key.trial).or_default();
            *next = (*next).max(key.repeat + 1);
        }
        Ok(TuneTrials {
            scenario: scenario.clone(),
            size: question.size,
            base: base.clone(),
            written: written.clone(),
            repeats,
        })
    }

    /// The trial with the settings in force.
    pub(crate) fn base(&self) -> &Trial {
        &self.base
    }

    /// The trial with changes; or why the scenario refuses them.
    pub(crate) fn changed(&self, changes: &[(String, String)]) -> Result<Trial, String> {
        if changes.is_empty() {
            return Ok(self.base.clone());
        }
        Ok(Trial {
            question: self.base.question.clone(),
            ..unjudged(changed(&self.scenario, self.size, changes)?)
        })
    }

    /// The trial with the changes of a candidate; or why it is none.
    pub(crate) fn candidate(
        &self,
        changes: &[(String, String)],
        durability_may_change: bool,
    ) -> Result<Trial, LeftOutCause> {
        let trial = self.changed(changes);
        let trial = trial.map_err(|why| LeftOutCause::Refused { why })?;
        let written = &self.written;
        if !durability_may_change && trial.durability() != written.durability() {
            return Err(LeftOutCause::Durability);
        }
        let is_same = trial.flows == written.flows
            && trial.topic == written.topic
            && trial.cluster == written.cluster;
        match is_same {
            true => Err(LeftOutCause::InForce),
            false => Ok(trial),
        }
    }

    /// The number of an arm's next repeat.
    pub(crate) fn next_repeat(&mut self, trial: u32) -> u32 {
        let next = self.repeats.entry(trial).or_insert(0);
        *next += 1;
        *next - 1
    }

    /// The trial of an arm of the last phase; it is added to the plan if no earlier arm had the same settings.
    pub(crate) fn trial_of(
        &self,
        record: &mut TuneRecord,
        plan: &mut Plan,
        arm: usize,
    ) -> Result<u32, String> {
        let Some(phase) = record.phases.last() else {
            return Err("no phase".to_owned());
        };
        let (kind, number) = (phase.kind, record.phases.len());
        let TuneArm { options, trial } = phase.arms.get(arm).cloned().unwrap_or_default();
        if let Some(trial) = trial {
            return Ok(trial);
        }
        let phases = record.phases.iter();
        let similar = phases.filter(|phase| is_other_load(phase.kind) == is_other_load(kind));
        let mut arms = similar.flat_map(|phase| &phase.arms);
        let known = arms.find_map(|one| one.trial.filter(|_| one.options == options));
        let index = match known {
            Some(index) => index,
            None if options.is_empty() && kind == TunePhaseKind::Today => 0,
            None => self.add(record, plan, (kind, number, arm), &options)?,
        };
        if let Some(arm) = record
            .phases
            .last_mut()
            .and_then(|phase| phase.arms.get_mut(arm))
        {
            arm.trial = Some(index);
        }
        Ok(index)
    }

    fn add(
        &self,
        record: &TuneRecord,
        plan: &mut Plan,
        (kind, _, arm): (TunePhaseKind, usize, usize),
        options: &[TuneOption],
    ) -> Result<u32, String> {
        let choice = record.choice.clone().unwrap_or_default();
        let changes = changes(&choice, options);
        let mut trial = self.changed(&changes)?;
        if is_other_load(kind) {
            trial = trial.at_other_load(choice.other_rate.unwrap_or_default());
        }
        let name = match (kind, options.len()) {
            (TunePhaseKind::Screening, _) => format!("screening {}", arm + 1),
            (_, 0) => "settings in force".to_owned(),
            (_, 1..=NAMED_MAX) => named(&choice, options),
            (_, count) => format!("{count} settings, candidate {arm}"),
        };
        let name = match is_other_load(kind) {
            true => format!("{name}, second load"),
            false => name,
        };
        let index = u32::try_from(plan.trials.len()).unwrap_or(u32::MAX);
        trial.index = index;
        trial.factors = vec![(LISTED.to_owned(), name.clone())];
        trial.name = name;
        trial.changes = changes;
        plan.trials.push(trial);
        Ok(index)
    }
}

/// Refuses candidates of the user that the scenario does not have, or that change its load.
pub(crate) fn check_candidates(question: &Question, own: &[TuneSetting]) -> Result<(), RunError> {
    let Some(scenario) = question.scenarios.first() else {
        return Ok(());
    };
    let values = own.iter().flat_map(|setting| &setting.values);
    let refused = values.filter_map(|value| {
        let why = changed(scenario, question.size, &value.changes).err()?;
        let changes = value.changes.iter();
        let changes: Vec<String> = changes
            .map(|(path, text)| format!("{path}={text}"))
            .collect();
        Some(format!("--candidate {}: {why}", changes.join(",")))
    });
    let refused: Vec<String> = refused.collect();
    match refused.is_empty() {
        true => Ok(()),
        false => Err(RunError::input(refused.join("\n"))),
    }
}

/// The trial of a scenario with changes; or why they are not those of settings.
fn changed(scenario: &Scenario, size: Size, changes: &[(String, String)]) -> Result<Trial, String> {
    let mut changed = scenario.clone();
    changed.set_all(changes).map_err(|problems| {
        let problems = problems
            .iter()
            .map(|one| format!("{}; {}", one.what, one.cure));
        problems.collect::<Vec<_>>().join("; ")
    })?;
    match (scenario.trials_of(size), changed.trials_of(size)) {
        ([written, ..], [trial, ..]) if has_same_load(trial, written) => Ok(trial.clone()),
        _ => Err("it changes the load, not a setting".to_owned()),
    }
}

/// Whether trials offer the same load. A candidate that changes it would be measured by another rule.
fn has_same_load(one: &Trial, other: &Trial) -> bool {
    let mut flows = one.flows.iter().zip(&other.flows);
    let is_same = |a: &ProduceFlow, b: &ProduceFlow| {
        a.shape == b.shape
            && a.arrivals == b.arrivals
            && a.record == b.record
            && a.records_max == b.records_max
    };
    one.stages == other.stages
        && flows.all(|(a, b)| match (a.produces(), b.produces()) {
            (Some(a), Some(b)) => is_same(a, b),
            (a, b) => a.is_none() && b.is_none(),
        })
}

/// Whether the phase is measured at the second load.
fn is_other_load(kind: TunePhaseKind) -> bool {
    matches!(kind, TunePhaseKind::Conditions | TunePhaseKind::OtherLoad)
}

/// `batch.size=131072, linger.ms=20`.
fn named(choice: &TuneChoice, options: &[TuneOption]) -> String {
    let name = |one: &TuneOption| {
        let setting = choice.settings.get(one.setting as usize)?;
        let value = setting.values.get(one.value as usize)?;
        Some(format!("{}={}", setting.name, value.text))
    };
    let names: Vec<String> = options.iter().filter_map(name).collect();
    names.join(", ")
}

/// The paths and values of options.
fn changes(choice: &TuneChoice, options: &[TuneOption]) -> Vec<(String, String)> {
    let values = options.iter().filter_map(|one| {
        let setting = choice.settings.get(one.setting as usize)?;
        setting.values.get(one.value as usize)
    });
    values.flat_map(|value| value.changes.clone()).collect()
}
