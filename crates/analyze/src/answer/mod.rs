//! Answers: the facts that answer the question of each scenario, by the kind of the question. A pure function of the
//! summary.

mod counts;
mod course;
mod doubts;
mod effect;
mod factor_values;
mod figures;
mod outage;
mod verification;

use kgauge_scenario::AnswerKind;
use schemars::JsonSchema;
use serde::Serialize;

pub use counts::{CountCheck, RecordMismatch, UncountedCause, UncountedTrial};
pub use course::{CourseDirection, CoursePoint, FigureCourse, KeptRates, TimeTrend, TrialLead};
pub use doubts::{AnswerDoubt, AnswerDoubtCause};
pub use effect::{FigureEffect, TrialEffect};
pub use factor_values::{FactorUnit, FactorValues};
pub use figures::{AnswerFigure, FigureFinding};
pub use outage::OutageAnswer;
pub use verification::{
    AnomalyCount, AnomalySum, CutShortSum, Staleness, TrialAnomalies, TrialPlace, Verification,
};

use crate::summary::{GoalStatus, Summary, TrialSummary};

/// The answer to the question of one scenario. Trials are named by their index in the plan.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ScenarioAnswer {
    /// The scenario.
    pub scenario: String,
    /// Its trials.
    pub trials: Vec<u32>,
    /// The kind of the answer, with its facts.
    #[serde(flatten)]
    pub facts: AnswerFacts,
    /// The worst status of each trial's goals; absent without goals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<TrialGoals>,
    /// Trials whose figures are missing or doubtful; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<AnswerDoubt>,
}

/// The facts of an answer. Lists are empty where nothing was measured.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AnswerFacts {
    /// How much: the figures.
    HowMuch {
        /// Rates and latencies, trial by trial.
        figures: Vec<AnswerFigure>,
    },
    /// What something does, compared with other trials.
    Effect {
        /// The comparisons.
        comparisons: Vec<TrialEffect>,
    },
    /// How figures change with one setting, or over time.
    Trend {
        /// The path of the setting; null for one trial over time.
        setting: Option<String>,
        /// Figures over the values of the setting, the main one first; empty for a trend over time.
        figures: Vec<FigureCourse>,
        /// If the setting is a rate: which rates the target kept up with.
        kept_rates: Option<KeptRates>,
        /// Each flow over time; empty for a trend over a setting.
        over_time: Vec<TimeTrend>,
    },
    /// Whether records were lost.
    Loss {
        /// The counts; null if nothing was written.
        counts: Option<CountCheck>,
        /// Records whose send failed.
        failed: u64,
        /// Records whose outcome is unknown.
        unknown: u64,
        /// What the check of every record found in each verified trial; empty without `verify`.
        findings: Vec<TrialAnomalies>,
    },
    /// For how long nothing was acked.
    Outage {
        /// The times, trial by trial; null if no fault was recorded.
        outage: Option<Vec<OutageAnswer>>,
        /// Whether records were lost; null if nothing was written.
        counts: Option<CountCheck>,
    },
    /// Which trial is best.
    Best {
        /// Figures over the trials, the main one first.
        figures: Vec<FigureCourse>,
    },
}

impl AnswerFacts {
    /// The kind.
    pub fn kind(&self) -> AnswerKind {
        match self {
            AnswerFacts::HowMuch { .. } => AnswerKind::HowMuch,
            AnswerFacts::Effect { .. } => AnswerKind::Effect,
            AnswerFacts::Trend { .. } => AnswerKind::Trend,
            AnswerFacts::Loss { .. } => AnswerKind::Loss,
            AnswerFacts::Outage { .. } => AnswerKind::Outage,
            AnswerFacts::Best { .. } => AnswerKind::Best,
        }
    }

    /// The counts of records, of the kinds that have them.
    pub fn counts(&self) -> Option<&CountCheck> {
        match self {
            AnswerFacts::Loss { counts, .. } | AnswerFacts::Outage { counts, .. } => {
                counts.as_ref()
            }
            _ => None,
        }
    }
}

/// The worst status of a trial's goals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrialGoals {
    /// The trial.
    pub trial: u32,
    /// The status.
    pub status: GoalStatus,
}

/// The contents of `summary.json`, with the schema `docs/schema/summary.schema.json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "kgauge summary")]
pub struct SummaryFile<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    /// The answers to the scenarios' questions, in the order of the plan.
    answers: Vec<ScenarioAnswer>,
    /// Acked records of the run beside those on the brokers; null if nothing was written.
    count_check: Option<CountCheck>,
    /// The check of every record; absent without `verify`.
    #[serde(skip_serializing_if = "Option::is_none")]
    verification: Option<Verification>,
}

impl<'a> SummaryFile<'a> {
    /// A summary and what follows from it.
    pub fn of(summary: &'a Summary) -> SummaryFile<'a> {
        SummaryFile {
            summary,
            answers: summary.answers(),
            count_check: summary.count_check(),
            verification: summary.verification(),
        }
    }

    /// The answers.
    pub fn answers(&self) -> &[ScenarioAnswer] {
        &self.answers
    }

    /// The check of counts.
    pub fn count_check(&self) -> Option<&CountCheck> {
        self.count_check.as_ref()
    }

    /// The check of every record.
    pub fn verification(&self) -> Option<&Verification> {
        self.verification.as_ref()
    }

    /// The JSON Schema (draft 2020-12).
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(SummaryFile<'_>).to_value()
    }
}

impl Summary {
    /// The answer to the question of each scenario, in the order of [`Summary::scenarios`].
    pub fn answers(&self) -> Vec<ScenarioAnswer> {
        let scenarios = self.scenarios();
        let answers = scenarios.iter().map(|trials| answer(self, trials));
        answers.collect()
    }

    /// Acked records of the run beside those on the brokers; `None` if nothing was written.
    pub fn count_check(&self) -> Option<CountCheck> {
        counts::check(self.trials.iter())
    }

    /// The check of every record; `None` if nothing was verified.
    pub fn verification(&self) -> Option<Verification> {
        verification::verification(self.trials.iter())
    }
}

fn answer(summary: &Summary, trials: &[&TrialSummary]) -> ScenarioAnswer {
    let counts = || counts::check(trials.iter().copied());
    let facts = match kind(trials) {
        AnswerKind::HowMuch => AnswerFacts::HowMuch {
            figures: figures::measured(summary, trials),
        },
        AnswerKind::Effect => AnswerFacts::Effect {
            comparisons: effect::comparisons(summary, trials),
        },
        AnswerKind::Trend => course::trend(summary, trials),
        AnswerKind::Loss => {
            let flows = || trials.iter().flat_map(|trial| &trial.flows);
            let records = || flows().map(|flow| flow.records_all_stages);
            let sum = |all: u64, of_flow: u64| all.saturating_add(of_flow);
            AnswerFacts::Loss {
                counts: counts(),
                failed: records().map(|all| all.failed).fold(0, sum),
                unknown: records().map(|all| all.indeterminate).fold(0, sum),
                findings: verification::findings(trials.iter().copied()),
            }
        }
        AnswerKind::Outage => AnswerFacts::Outage {
            outage: outage::answers(trials),
            counts: counts(),
        },
        AnswerKind::Best => AnswerFacts::Best {
            figures: course::best(summary, trials),
        },
    };
    let scenario = trials.first().map(|trial| trial.scenario.clone());
    ScenarioAnswer {
        scenario: scenario.unwrap_or_default(),
        trials: trials.iter().map(|trial| trial.index).collect(),
        doubts: doubts::of(trials, &facts),
        facts,
        goals: trials.iter().filter_map(|trial| goals(trial)).collect(),
    }
}

/// The kind that the scenario asks for where its trials can give it, and otherwise the kind that they can.
fn kind(trials: &[&TrialSummary]) -> AnswerKind {
    let [first, others @ ..] = trials else {
        return AnswerKind::HowMuch;
    };
    let is_alone = others.is_empty();
    let is_numeric = || FactorValues::of(trials).is_some_and(|values| values.is_a_series());
    let asks = match &first.against {
        Some(_) => Some(AnswerKind::Effect),
        None => first.asks,
    };
    match asks {
        Some(AnswerKind::Effect) if !effect::has_pairs(trials) => {}
        Some(AnswerKind::Best) if is_alone => {}
        Some(AnswerKind::Trend) if !is_alone && !is_numeric() => {}
        Some(kind) => return kind,
        None => {}
    }
    let has_outage = trials.iter().any(|trial| !trial.outages.is_empty());
    match trials.len() {
        1 if has_outage => AnswerKind::Outage,
        1 => AnswerKind::HowMuch,
        2 => AnswerKind::Effect,
        _ if is_numeric() => AnswerKind::Trend,
        _ => AnswerKind::Best,
    }
}

fn goals(trial: &TrialSummary) -> Option<TrialGoals> {
    let grave = |status: &GoalStatus| match status {
        GoalStatus::Held => 0,
        GoalStatus::Undecided => 1,
        GoalStatus::NotMeasured => 2,
        GoalStatus::NotHeld => 3,
    };
    let status = trial.goals.iter().map(|goal| goal.word).max_by_key(grave)?;
    Some(TrialGoals {
        trial: trial.index,
        status,
    })
}
