//! A scenario as somebody wrote it, with gaps, and the trials that it means.

use crate::cluster_needs::{BrokerCount, ClusterNeeds};
use crate::files::Files;
use crate::keys::{ROOT, SIZES};
use crate::path::{locate, put};
use crate::plan::{ConsumeEnd, EchoFlow, FlowPlan, Size, Stages, Trial};
use crate::problem::{Problems, SourceLocation, SourceTexts};
use crate::read::{self, WrittenScenario, written};
use crate::reader::ValueReader;
use crate::tree::{self, Value, YamlNode};
use crate::vary::{self, FactorGroup};

/// Most trials of one scenario: more is a slip of the pen, and would take days.
const TRIALS_MAX: usize = 500;

/// One question, as written: everything in it has been checked, in every size.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    sources: SourceTexts,
    tree: YamlNode,
    /// What `--set` changed, in order.
    sets: Vec<(String, YamlNode)>,
    /// What is varied from outside, in order.
    varied: Vec<FactorGroup>,
    name: String,
    question: String,
}

impl Scenario {
    /// Reads a scenario. `source` names the text in messages: usually the file's path.
    ///
    /// # Errors
    /// Every mistake in the text, in the order of the text. Mistakes of syntax hide those behind
    /// them.
    pub fn parse(source: &str, text: &str) -> Result<Scenario, Problems> {
        Scenario::parse_with(source, text, Files::none())
    }

    /// As [`Scenario::parse`], for a scenario that may name files beside it.
    ///
    /// # Errors
    /// As [`Scenario::parse`]; files that cannot be used are among them.
    pub fn parse_with(source: &str, text: &str, files: Files) -> Result<Scenario, Problems> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut sources = SourceTexts::with(files);
        let file = sources.add(source, text);
        let mut problems = Problems::default();
        let Some(tree) = tree::read(&sources, file, 0, &mut problems) else {
            return problems.into_result(()).and(Err(Problems::default()));
        };
        let (name, question) = (String::new(), String::new());
        let mut scenario = Scenario {
            sources,
            tree,
            sets: Vec::new(),
            varied: Vec::new(),
            name,
            question,
        };
        problems.append(scenario.check());
        problems.into_result(scenario)
    }

    /// Changes one thing, as `--set path=value` does, in every size and trial.
    ///
    /// Paths are those of `vary`: `writers.settings.linger.ms`, `stages.hold`, `repeats`. A path
    /// that the scenario varies is fixed at the value.
    ///
    /// # Errors
    /// Every mistake that the change brings; the scenario is then as it was.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), Problems> {
        self.set_all(&[(path.to_owned(), value.to_owned())])
    }

    /// Changes several things at once: (path, value). They are checked together, so that two
    /// changes that only fit together can be made in either order.
    ///
    /// # Errors
    /// Every mistake that the changes bring; the scenario is then as it was.
    pub fn set_all(&mut self, changes: &[(String, String)]) -> Result<(), Problems> {
        let mut changed = self.clone();
        let mut problems = Problems::default();
        for (path, value) in changes {
            let source = changed.sources.add("--set", &format!("{path}={value}"));
            let node = tree::read(&changed.sources, source, path.len() + 1, &mut problems);
            changed.sets.extend(node.map(|node| (path.clone(), node)));
        }
        problems.append(changed.check());
        *self = problems.into_result(changed)?;
        Ok(())
    }

    /// Makes a path a factor with these values, as `vary` in the file does; a factor of that path
    /// gets these values instead.
    ///
    /// # Errors
    /// Every mistake that it brings; the scenario is then as it was.
    pub fn vary(&mut self, path: &str, values: &[String]) -> Result<(), Problems> {
        let mut changed = self.clone();
        let mut problems = Problems::default();
        let mut nodes = Vec::new();
        for value in values {
            let source = changed.sources.add(path, value);
            nodes.extend(tree::read(&changed.sources, source, 0, &mut problems));
        }
        let place = nodes.first().map(|node| node.place).unwrap_or_default();
        changed
            .varied
            .push(FactorGroup::crossed(path, place, nodes));
        problems.append(changed.check());
        *self = problems.into_result(changed)?;
        Ok(())
    }

    /// Whether a path means something in this scenario.
    pub fn has_path(&self, path: &str) -> bool {
        locate(&self.tree, path).is_ok()
    }

    /// The scenario's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The question that it answers.
    pub fn question(&self) -> &str {
        &self.question
    }

    /// The name that the text was read under.
    pub fn source(&self) -> &str {
        self.sources.name(0)
    }

    /// The text, verbatim.
    pub fn text(&self) -> &str {
        self.sources.text(0)
    }

    /// How many brokers the cluster must have, at least, in a size.
    pub fn brokers_needed(&self, size: Size) -> u32 {
        let trials = self.trials(size);
        let needed = trials.iter().map(|trial| trial.cluster.brokers_min());
        needed.max().unwrap_or(1)
    }

    /// The trials of a size, in the order of the file. Their indexes start at 0.
    pub fn trials(&self, size: Size) -> Vec<Trial> {
        let (combinations, _) = self.combinations(size);
        let trial = |(index, (chosen, written)): (usize, (TrialChoice, WrittenScenario))| Trial {
            stages: stages(&written),
            index: u32::try_from(index).unwrap_or(u32::MAX),
            scenario: written.name,
            question: written.question,
            name: trial_name(&chosen.factors),
            changes: chosen.changes,
            cluster: ClusterNeeds {
                brokers: match chosen.are_brokers_varied {
                    true => BrokerCount::Exactly(written.target.brokers),
                    false => BrokerCount::AtLeast(written.target.brokers),
                },
                config: written.target.config,
                memory_bytes: written.target.memory_bytes,
                security: written.target.security,
                mirror: written.target.mirror,
            },
            topic: written.topic,
            flows: written.flows,
            faults: written.faults.into_iter().map(|one| one.item).collect(),
            repeats: written.repeats,
            goals: written.goals.into_iter().map(|goal| goal.item).collect(),
            published: written
                .published
                .into_iter()
                .map(|one| one.item)
                .filter(|one| one.belongs_to(&chosen.factors))
                .map(|one| one.published)
                .collect(),
            factors: chosen.factors,
        };
        combinations.into_iter().enumerate().map(trial).collect()
    }

    /// Reads everything in every size, and remembers name and question.
    fn check(&mut self) -> Problems {
        let mut problems = Problems::default();
        for size in [Size::Default, Size::Quick, Size::Full] {
            let (combinations, found) = self.combinations(size);
            problems.append(found);
            if let Some((_, written)) = combinations.first() {
                self.name.clone_from(&written.name);
                self.question.clone_from(&written.question);
            }
        }
        problems
    }

    /// Every combination of the factors in a size, read. Mistakes come with it.
    fn combinations(&self, size: Size) -> (Vec<(TrialChoice, WrittenScenario)>, Problems) {
        let mut reader = ValueReader::new(&self.sources);
        let mut tree = self.tree.clone();
        self.resize(&mut reader, &mut tree, size);
        for (path, value) in &self.sets {
            let before_value = SourceLocation {
                column: 1,
                line: 1,
                width: path.len(),
                ..value.place
            };
            apply(&mut reader, &mut tree, path, value, before_value);
        }
        let in_file = self.factors_in_file(&mut reader);
        let all = self.with_varied(in_file.clone());
        reader.inside("vary", |reader| vary::in_two_groups(reader, &all));
        let factors: Vec<FactorGroup> = all.iter().map(|factor| factor.fixed(&self.sets)).collect();
        let mut found = Vec::new();
        for choice in crossed(&mut reader, &factors) {
            if reader.problems.refuses_more() {
                break;
            }
            let mut tree = tree.clone();
            let mut chosen = TrialChoice::default();
            for (factor, &index) in factors.iter().zip(&choice) {
                let choice = &factor.choices[index];
                for change in &choice.changes {
                    let (path, value) = (&change.path, &change.value);
                    apply(&mut reader, &mut tree, path, value, change.place);
                }
                chosen.are_brokers_varied |= factor.changes(BROKERS);
                chosen.changes.extend(vary::distinguished(factor, choice));
                let name = choice.name.clone();
                chosen.factors.push((factor.path.clone(), name));
            }
            let known = read::Factors {
                all: &all,
                in_file: &in_file,
            };
            let written = written(&mut reader, &tree, &known);
            found.extend(written.map(|written| (chosen, written)));
        }
        let mut problems = reader.problems;
        problems.sort();
        (found, problems)
    }

    /// Applies what `sizes` says of one size. All of `sizes` is checked.
    fn resize(&self, reader: &mut ValueReader<'_>, tree: &mut YamlNode, size: Size) {
        let Some(sizes) = self.tree.get("sizes") else {
            return;
        };
        let Some(fields) = reader.inside("sizes", |reader| reader.map(sizes, &SIZES)) else {
            return;
        };
        let name = match size {
            Size::Quick => "quick",
            Size::Full => "full",
            Size::Default => return,
        };
        let Some(changes) = fields.get(name) else {
            return;
        };
        reader.inside(&format!("sizes.{name}"), |reader| {
            let Value::Map(entries) = &changes.value else {
                return reader.wrong_type(changes, "paths with values: `{stages.hold: 2 s}`");
            };
            for entry in entries {
                apply(reader, tree, &entry.key, &entry.node, entry.place);
            }
        });
    }

    /// What is varied from outside beside the factors of the file, or in their place.
    fn with_varied(&self, mut factors: Vec<FactorGroup>) -> Vec<FactorGroup> {
        for varied in &self.varied {
            match factors.iter_mut().find(|known| known.path == varied.path) {
                Some(known) => known.clone_from(varied),
                None => factors.push(varied.clone()),
            }
        }
        factors
    }

    /// The factors as the file has them.
    fn factors_in_file(&self, reader: &mut ValueReader<'_>) -> Vec<FactorGroup> {
        let Some(vary) = self.tree.get(vary_key()) else {
            return Vec::new();
        };
        reader.inside("vary", |reader| vary::factors(reader, vary))
    }
}

/// The path whose values decide which cluster a trial gets.
const BROKERS: &str = "target.brokers";

/// What a trial takes of each group of alternatives.
#[derive(Default)]
struct TrialChoice {
    /// Groups and the names of their alternatives.
    factors: Vec<(String, String)>,
    /// What the names do not tell: paths and values, as written.
    changes: Vec<(String, String)>,
    are_brokers_varied: bool,
}

fn vary_key() -> &'static str {
    ROOT.key("vary").map_or("vary", |key| key.name)
}

fn trial_name(factors: &[(String, String)]) -> String {
    let parts: Vec<String> = factors
        .iter()
        .map(|(path, value)| match path.as_str() {
            vary::ONE_AT_A_TIME | vary::LISTED => value.clone(),
            path => format!("{path}={value}"),
        })
        .collect();
    parts.join(", ")
}

/// Puts a value at a path, or notes why that cannot be.
fn apply(
    reader: &mut ValueReader<'_>,
    tree: &mut YamlNode,
    path: &str,
    value: &YamlNode,
    at: SourceLocation,
) {
    if reader.problems.refuses_more() {
        return;
    }
    match locate(tree, path) {
        Ok(steps) => put(tree, &steps, value.clone()),
        Err(error) => {
            let step = format!(".{path}");
            reader.inside(&step, |reader| reader.problem(at, error.what, error.cure));
        }
    }
}

/// All combinations of the factors' values, as indexes; the last factor changes fastest.
fn crossed(reader: &mut ValueReader<'_>, factors: &[FactorGroup]) -> Vec<Vec<usize>> {
    let count = factors
        .iter()
        .try_fold(1usize, |count, factor| {
            count.checked_mul(factor.choices.len())
        })
        .filter(|count| *count <= TRIALS_MAX);
    let Some(count) = count else {
        let what = format!("the factors make more than {TRIALS_MAX} trials");
        let place = factors
            .first()
            .map(|factor| factor.place)
            .unwrap_or_default();
        reader.inside("vary", |reader| {
            reader.problem(place, what, "vary less, or write several scenarios");
        });
        return vec![vec![0; factors.len()]];
    };
    let choice = |mut number: usize| {
        let mut choice: Vec<usize> = Vec::new();
        for factor in factors.iter().rev() {
            choice.push(number % factor.choices.len());
            number /= factor.choices.len();
        }
        choice.reverse();
        choice
    };
    (0..count).map(choice).collect()
}
/// A warm-up can be prolonged where the load has a level to reach, and nothing is due at a moment of the hold.
fn stages(written: &WrittenScenario) -> Stages {
    let goes_on = |flow: &FlowPlan| match flow {
        FlowPlan::Consume(flow) => flow.records == ConsumeEnd::StageEnd,
        FlowPlan::Produce(flow) | FlowPlan::Echo(EchoFlow { produce: flow, .. }) => {
            flow.driver.is_kgauge()
        }
    };
    let stages = written.stages;
    let mut flows = written.flows.iter();
    let is_prolonged = stages.warm_up_ns > 0
        && stages.is_adaptive()
        && written.faults.is_empty()
        && flows.all(|flow| flow.has_level() && goes_on(flow));
    Stages {
        warm_up_ns_max: if is_prolonged {
            stages.warm_up_ns_max
        } else {
            0
        },
        ..stages
    }
}
