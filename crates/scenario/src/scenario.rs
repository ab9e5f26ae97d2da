//! A scenario as somebody wrote it, with gaps, and the trials that it means.

use crate::files::Files;
use crate::keys::{ROOT, SIZES};
use crate::path::{locate, put};
use crate::plan::{Size, Trial};
use crate::problem::{Place, Problems, Sources};
use crate::read::{self, Factor, Written, factor_values, written};
use crate::reader::Reader;
use crate::tree::{self, Node, Value};

/// Most trials of one scenario: more is a slip of the pen, and would take days.
const TRIALS_MAX: usize = 500;

/// One question, as written: everything in it has been checked, in every size.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    sources: Sources,
    tree: Node,
    /// What `--set` changed, in order.
    sets: Vec<(String, Node)>,
    /// What is varied from outside, in order.
    varied: Vec<Factor>,
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
        let mut sources = Sources::with(files);
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
        changed.varied.push(Factor {
            path: path.to_owned(),
            place: nodes.first().map(|node| node.place).unwrap_or_default(),
            values: nodes,
        });
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
        let (combinations, _) = self.combinations(size);
        combinations
            .iter()
            .map(|(_, written)| written.target.brokers)
            .max()
            .unwrap_or(1)
    }

    /// The trials of a size, in the order in which they run. Their indexes start at 0.
    pub fn trials(&self, size: Size) -> Vec<Trial> {
        let (combinations, _) = self.combinations(size);
        let trial = |(index, (factors, written)): (usize, (Factors, Written))| Trial {
            index: u32::try_from(index).unwrap_or(u32::MAX),
            scenario: written.name,
            question: written.question,
            name: trial_name(&factors),
            broker_config: written.target.config,
            topic: written.topic,
            flows: written.flows,
            stages: written.stages,
            faults: written.faults.into_iter().map(|one| one.item).collect(),
            repeats: written.repeats,
            goals: written.goals.into_iter().map(|goal| goal.item).collect(),
            published: written
                .published
                .into_iter()
                .map(|one| one.item)
                .filter(|one| one.factors.iter().all(|wanted| factors.contains(wanted)))
                .map(|one| one.published)
                .collect(),
            factors,
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
    fn combinations(&self, size: Size) -> (Vec<(Factors, Written)>, Problems) {
        let mut reader = Reader::new(&self.sources);
        let mut tree = self.tree.clone();
        self.resize(&mut reader, &mut tree, size);
        for (path, value) in &self.sets {
            let before_value = Place {
                column: 1,
                line: 1,
                width: path.len(),
                ..value.place
            };
            apply(&mut reader, &mut tree, path, value, before_value);
        }
        let in_file = self.factors_in_file(&mut reader);
        let all = self.with_varied(in_file.clone());
        let factors: Vec<Factor> = all.iter().map(|factor| self.fixed(factor)).collect();
        let mut found = Vec::new();
        for choice in crossed(&mut reader, &factors) {
            if reader.problems.refuses_more() {
                break;
            }
            let mut tree = tree.clone();
            let mut values: Factors = Vec::new();
            for (factor, &index) in factors.iter().zip(&choice) {
                let value = &factor.values[index];
                apply(&mut reader, &mut tree, &factor.path, value, factor.place);
                values.push((factor.path.clone(), factor_values(factor)[index].clone()));
            }
            let known = read::Factors {
                all: &all,
                in_file: &in_file,
            };
            let written = written(&mut reader, &tree, &known);
            found.extend(written.map(|written| (values, written)));
        }
        let mut problems = reader.problems;
        problems.sort();
        (found, problems)
    }

    /// Applies what `sizes` says of one size. All of `sizes` is checked.
    fn resize(&self, reader: &mut Reader<'_>, tree: &mut Node, size: Size) {
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
    fn with_varied(&self, mut factors: Vec<Factor>) -> Vec<Factor> {
        for varied in &self.varied {
            match factors.iter_mut().find(|known| known.path == varied.path) {
                Some(known) => known.clone_from(varied),
                None => factors.push(varied.clone()),
            }
        }
        factors
    }

    /// The factors as the file has them.
    fn factors_in_file(&self, reader: &mut Reader<'_>) -> Vec<Factor> {
        let Some(vary) = self.tree.get(vary_key()) else {
            return Vec::new();
        };
        reader.inside("vary", |reader| {
            let Value::Map(entries) = &vary.value else {
                reader.wrong_type(
                    vary,
                    "paths with lists: `{writers.record.size: [10 B, 1 kB]}`",
                );
                return Vec::new();
            };
            let mut factors = Vec::new();
            for entry in entries {
                let values = reader.inside(&format!(".{}", entry.key), |reader| {
                    reader.list(&entry.node, |_, item| Some(item.clone()))
                });
                let (path, place) = (entry.key.clone(), entry.place);
                factors.extend(values.map(|values| Factor {
                    path,
                    place,
                    values,
                }));
            }
            factors.retain(|factor| !factor.values.is_empty());
            self.twice(reader, &factors);
            factors
        })
    }

    fn twice(&self, reader: &mut Reader<'_>, factors: &[Factor]) {
        for factor in factors {
            let names = factor_values(factor);
            for (index, name) in names.iter().enumerate() {
                if names[..index].contains(name) {
                    let place = factor.values[index].place;
                    let cure = "remove one: `repeats` says how often a trial runs";
                    reader.problem(place, "this value stands here twice", cure);
                }
            }
        }
    }

    /// A factor that `--set` has fixed has one value left.
    fn fixed(&self, factor: &Factor) -> Factor {
        let set = self
            .sets
            .iter()
            .rev()
            .find(|(path, _)| *path == factor.path);
        let values = match set {
            Some((_, value)) => vec![value.clone()],
            None => factor.values.clone(),
        };
        Factor {
            values,
            ..factor.clone()
        }
    }
}

/// Paths and their values, as written.
type Factors = Vec<(String, String)>;

fn vary_key() -> &'static str {
    ROOT.key("vary").map_or("vary", |key| key.name)
}

fn trial_name(factors: &[(String, String)]) -> String {
    let parts: Vec<String> = factors
        .iter()
        .map(|(path, value)| format!("{path}={value}"))
        .collect();
    parts.join(", ")
}

/// Puts a value at a path, or notes why that cannot be.
fn apply(reader: &mut Reader<'_>, tree: &mut Node, path: &str, value: &Node, at: Place) {
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
fn crossed(reader: &mut Reader<'_>, factors: &[Factor]) -> Vec<Vec<usize>> {
    let count = factors
        .iter()
        .try_fold(1usize, |count, factor| {
            count.checked_mul(factor.values.len())
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
            choice.push(number % factor.values.len());
            number /= factor.values.len();
        }
        choice.reverse();
        choice
    };
    (0..count).map(choice).collect()
}
