//! The question of an A/B test: two sides of one trial each, or the side that one of two runs measures.

use kgauge_scenario::{AbKind, AbOptions, AbPlan, AbSide, AbSidePlan, LISTED, Trial};

use crate::error::{OrRunError, RunError};
use crate::question::Question;

/// An A/B test as the user requested it.
#[derive(Debug, Clone)]
pub struct AbRequest {
    /// What the sides are.
    pub kind: AbKind,
    /// Their names.
    pub names: [String; 2],
    /// The user's other options.
    pub options: AbOptions,
}

/// The sides of an A/B test, as the user writes them.
#[derive(Debug, Clone, Default)]
pub struct AbSides {
    /// Settings of each side, one in each text.
    pub settings: [Vec<String>; 2],
    /// Scenarios: two of them are the sides.
    pub scenarios: Vec<String>,
    /// Targets: two of them are the sides.
    pub targets: Vec<String>,
    /// Whether one setting is measured against itself.
    pub is_same: bool,
}

impl AbRequest {
    /// Decides what the sides are.
    ///
    /// # Errors
    /// There are no two sides, or they differ in several ways or in none.
    pub fn of_sides(sides: &AbSides, options: AbOptions) -> Result<Self, RunError> {
        let (kind, names) = sides.kind_and_names()?;
        if options.is_duet && kind != AbKind::Targets {
            return Err(RunError::input(
                "--duet needs two targets: --target X --target Y",
            ));
        }
        Ok(Self {
            kind,
            names,
            options,
        })
    }
}

impl AbSides {
    fn kind_and_names(&self) -> Result<(AbKind, [String; 2]), RunError> {
        let kinds = [
            (
                self.settings.iter().any(|side| !side.is_empty()),
                AbKind::Settings,
            ),
            (self.scenarios.len() == 2, AbKind::Scenarios),
            (self.targets.len() == 2, AbKind::Targets),
            (self.is_same, AbKind::Same),
        ];
        if self.targets.len() > 2 {
            return Err(RunError::input(
                "an A/B test has two sides; give --target twice",
            ));
        }
        let mut given = kinds.into_iter().filter(|(is_given, _)| *is_given);
        let kind = match (given.next(), given.next()) {
            (Some((_, kind)), None) => kind,
            (None, _) => {
                return Err(RunError::input(
                    "there are no two sides to compare\n  add --a or --b PATH=VALUE, a second \
                     scenario, a second --target, or --aa",
                ));
            }
            (Some(_), Some(_)) => {
                return Err(RunError::input(
                    "the sides can differ in one way only: in settings (--a, --b), in the scenario, or \
                     in the target",
                ));
            }
        };
        let both = |texts: &[String]| [texts[0].clone(), texts[1].clone()];
        let names = match kind {
            AbKind::Settings => self.settings.each_ref().map(|side| name(side)),
            AbKind::Scenarios => both(&self.scenarios),
            AbKind::Targets => both(&self.targets),
            AbKind::Same => ["first".to_owned(), "second".to_owned()],
        };
        match kind != AbKind::Same && names[0] == names[1] {
            true => Err(RunError::input(format!(
                "both sides are {}\n  use --aa to measure one setting against itself",
                names[0]
            ))),
            false => Ok((kind, names)),
        }
    }
}

/// What a side with these settings is called.
fn name(settings: &[String]) -> String {
    match settings {
        [] => "unchanged".to_owned(),
        settings => settings.join(", "),
    }
}

/// The question of a run that measures both sides on one target.
///
/// # Errors
/// When a side does not have exactly one trial, or the options do not fit.
pub fn two_sides(a: Question, b: &Question, request: &AbRequest) -> Result<Question, RunError> {
    let mut trials = [only_trial(&a, request)?, only_trial(b, request)?];
    let sides = [0, 1].map(|index| AbSidePlan {
        name: request.names[index].clone(),
        trial: u32::try_from(index).ok(),
        folder: None,
    });
    let [of_a, of_b] = &trials;
    let plan = AbPlan::new(&request.options, request.kind, sides, [of_a, of_b]);
    let plan = plan.or_bad_input()?;
    let words = words(&plan);
    for ((trial, side), index) in trials.iter_mut().zip(AbSide::BOTH).zip(0..) {
        trial.index = index;
        // Two scenarios keep their own questions.
        if request.kind != AbKind::Scenarios {
            trial.question.clone_from(&words);
        }
        trial.name = match request.kind {
            AbKind::Same => side.to_string(),
            AbKind::Settings | AbKind::Scenarios | AbKind::Targets => {
                format!("{side} {}", request.names[side.index()])
            }
        };
        let factor = (LISTED.to_owned(), trial.name.clone());
        trial.factors.push(factor);
    }
    let mut question = a;
    question.trials = trials.into();
    question.ab = Some(plan);
    question.study = None;
    for scenario in &b.scenarios {
        let mut known = question.scenarios.iter();
        if known.all(|known| known.name() != scenario.name()) {
            question.scenarios.push(scenario.clone());
        }
    }
    Ok(question)
}

/// The question of a run that measures one side on its own target; `folders` are the names of both runs' folders.
///
/// # Errors
/// As [`two_sides`].
pub(crate) fn one_side(
    mut question: Question,
    own: AbSide,
    folders: &[String; 2],
    request: &AbRequest,
) -> Result<Question, RunError> {
    let mut trial = only_trial(&question, request)?;
    let sides = AbSide::BOTH.map(|side| AbSidePlan {
        name: request.names[side.index()].clone(),
        trial: (side == own).then_some(0),
        folder: Some(folders[side.index()].clone()),
    });
    let plan = AbPlan::new(&request.options, request.kind, sides, [&trial, &trial]);
    let plan = plan.or_bad_input()?;
    trial.question = words(&plan);
    question.ab = Some(plan);
    question.study = None;
    question.trials = vec![trial];
    Ok(question)
}

/// The question that the test answers.
fn words(plan: &AbPlan) -> String {
    let [a, b] = &plan.sides;
    match plan.kind {
        AbKind::Same => {
            "How often does a test on this machine find a difference where there is none?"
                .to_owned()
        }
        AbKind::Settings | AbKind::Scenarios | AbKind::Targets => {
            format!(
                "Does {} differ between {} and {}?",
                plan.metric, a.name, b.name
            )
        }
    }
}

/// The only trial of a side, as the test runs it.
fn only_trial(question: &Question, request: &AbRequest) -> Result<Trial, RunError> {
    let mut trial = question.only_trial("a side of an A/B test")?;
    if request.options.is_duet {
        // Both sides have to be in their hold at the same time.
        trial.stages.warm_up_ns_max = 0;
    }
    Ok(trial)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::question::ScenarioChanges;

    fn question(flow: &str, more: &str) -> Question {
        let text = format!(
            "kgauge: 1\nname: s\nquestion: Q?\ntopic: {{partitions: 1}}\n\
             flows: [{{name: w, kind: produce, {flow}, record: {{size: 100 B}}}}]\n\
             goals: [w.failed <= 0]\n{more}"
        );
        Question::of_text("s.yaml", &text, &ScenarioChanges::default()).unwrap()
    }

    fn request(kind: AbKind) -> AbRequest {
        AbRequest {
            kind,
            names: ["linger.ms=0".to_owned(), "linger.ms=5".to_owned()],
            options: AbOptions::default(),
        }
    }

    #[test]
    fn sides_are_trials_with_one_repeat_and_without_goals() {
        let (a, b) = (question("shape: max", ""), question("shape: max", ""));
        let question = two_sides(a, &b, &request(AbKind::Settings)).unwrap();
        let names: Vec<&str> = question
            .trials
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        assert_eq!(names, ["A linger.ms=0", "B linger.ms=5"]);
        let indexes: Vec<u32> = question.trials.iter().map(|one| one.index).collect();
        assert_eq!(indexes, [0, 1]);
        let trials = &question.trials;
        assert!(
            trials
                .iter()
                .all(|one| one.repeats == 1 && one.goals.is_empty())
        );
        assert_eq!(question.texts().count(), 1);
        let sides = question.ab.unwrap().sides.map(|side| side.trial);
        assert_eq!(sides, [Some(0), Some(1)]);
    }

    #[test]
    fn a_run_of_one_side_knows_the_other() {
        let folders = ["1-a".to_owned(), "2-b".to_owned()];
        let of = |side| {
            let question = question("shape: max", "");
            one_side(question, side, &folders, &request(AbKind::Targets)).unwrap()
        };
        let plan = of(AbSide::B).ab.unwrap();
        assert_eq!(plan.own_sides(), [(AbSide::B, 0)]);
        assert_eq!(plan.sides[0].folder.as_deref(), Some("1-a"));
    }

    #[test]
    fn a_side_with_several_trials_is_refused() {
        let several = question("shape: max", "vary: {topic.partitions: [1, 2]}\n");
        let error = two_sides(several.clone(), &several, &request(AbKind::Same)).unwrap_err();
        assert!(error.to_string().contains("has 2 trials"), "{error}");
    }
}
