//! A scenario as somebody wrote it, with gaps, and the trials that it means.

use crate::check::check;
use crate::cluster_needs::{BrokerCount, ClusterNeeds};
use crate::files::Files;
use crate::flow_values::ConsumeEnd;
use crate::keys::flow::{EchoFlow, FlowPlan};
use crate::keys::scenario::{SizesKeys, WrittenScenario};
use crate::keys::stages::Stages;
use crate::load::{at_full_speed, trial_name};
use crate::path::{locate, of_setting, put};
use crate::plan::{Size, Trial};
use crate::problem::{Problems, SourceLocation, SourceTexts};
use crate::reader::{KeyMap, ValueReader, overlap};
use crate::tree::{self, Value, YamlNode};
use crate::vary::{self, FactorGroup};
use crate::verified;
use crate::written_search;
use crate::yaml_text::scenario_text;

/// The maximum number of trials of a scenario: more is a typo, and would take days.
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
    /// The trials of each size, in the order of [`SIZES`].
    trials: [Vec<Trial>; 3],
}

/// The sizes, and what they are called in `sizes`.
const SIZES: [(Size, &str); 3] = [
    (Size::Default, "default"),
    (Size::Quick, "quick"),
    (Size::Full, "full"),
];

impl Scenario {
    /// Reads a scenario. `source` names the text in messages: usually the file's path.
    ///
    /// # Errors
    /// Every mistake in the text, in the order of the text. Mistakes of syntax hide those behind
    /// them.
    pub fn parse(source: &str, text: &str) -> Result<Scenario, Problems> {
        Scenario::parse_with(source, text, Files::none())
    }

    /// As [`Scenario::parse`], for a scenario that may name files in its folder.
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
        let mut scenario = Scenario {
            sources,
            tree,
            sets: Vec::new(),
            varied: Vec::new(),
            trials: Default::default(),
        };
        problems.append(scenario.check());
        problems.into_result(scenario)
    }

    /// Changes one thing, as `--set path=value` does, in every size and trial.
    ///
    /// Paths are those of `vary`: `writers.settings.linger.ms`, `stages.hold`, `repeats`. The name of a Kafka setting
    /// (`linger.ms`) is enough if only one flow has it; flows that send come first. A path that the scenario varies is
    /// fixed at the value.
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
            let path = self.full_path(path);
            let source = changed.sources.add("--set", &format!("{path}={value}"));
            let node = tree::read(&changed.sources, source, path.len() + 1, &mut problems);
            changed.sets.extend(node.map(|node| (path, node)));
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

    /// Whether a path, or a Kafka setting's name, means something in this scenario.
    pub fn has_path(&self, path: &str) -> bool {
        locate(&self.tree, path).is_ok() || !of_setting(&self.tree, path).is_empty()
    }

    /// The path that a Kafka setting's name stands for, if only one flow has it.
    fn full_path(&self, path: &str) -> String {
        match of_setting(&self.tree, path).as_slice() {
            [only] => only.clone(),
            _ => path.to_owned(),
        }
    }

    /// The scenario's name.
    pub fn name(&self) -> &str {
        self.trials[0].first().map_or("", |trial| &trial.scenario)
    }

    /// The question that it answers.
    pub fn question(&self) -> &str {
        self.trials[0].first().map_or("", |trial| &trial.question)
    }

    /// The name that the text was read under.
    pub fn source(&self) -> &str {
        self.sources.name(0)
    }

    /// The text, verbatim.
    pub fn text(&self) -> &str {
        self.sources.text(0)
    }

    /// The text of a scenario that is this one in a size, with what [`Scenario::set`] changed. Comments are lost, and
    /// factors stay as written.
    pub fn changed_text(&self, size: Size) -> String {
        let mut reader = ValueReader::new(&self.sources);
        let mut tree = self.tree.clone();
        let name = SIZES.into_iter().find(|(one, _)| *one == size);
        let name = name.map_or("", |(_, name)| name);
        self.resize(&mut reader, &mut tree, name);
        self.apply_sets(&mut reader, &mut tree);
        let is_resized = tree.get("sizes").is_some_and(|it| it.get(name).is_some());
        if let Value::Map(entries) = &mut tree.value {
            entries.retain(|entry| entry.key != "sizes" || !is_resized);
            let sizes = entries.iter_mut().filter(|entry| entry.key == "sizes");
            sizes.for_each(|sizes| self.forget_sets(&mut sizes.node));
        }
        scenario_text(&tree)
    }

    /// Removes from `sizes` what `--set` overrides.
    fn forget_sets(&self, sizes: &mut YamlNode) {
        let Value::Map(sizes) = &mut sizes.value else {
            return;
        };
        for size in sizes {
            if let Value::Map(changes) = &mut size.node.value {
                let is_set = |path: &str| self.sets.iter().any(|(set, _)| overlap(set, path));
                changes.retain(|change| !is_set(&change.key));
            }
        }
    }

    /// How many brokers the cluster must have, at least, in a size.
    pub fn brokers_needed(&self, size: Size) -> u32 {
        let trials = self.trials_of(size).iter();
        let needed = trials.map(|trial| trial.cluster.brokers_min());
        needed.max().unwrap_or(1)
    }

    /// The trials of a size, in the order of the file. Their indexes start at 0.
    pub fn trials(&self, size: Size) -> Vec<Trial> {
        self.trials_of(size).to_vec()
    }

    /// As [`Scenario::trials`], borrowed.
    pub fn trials_of(&self, size: Size) -> &[Trial] {
        let of_size = SIZES.iter().zip(&self.trials);
        let mut found = of_size.filter(|((one, _), _)| *one == size);
        found.next().map_or(&[], |(_, trials)| trials)
    }

    /// Reads every combination of every size, once, and keeps the trials.
    fn check(&mut self) -> Problems {
        let mut problems = Problems::default();
        for (index, (size, name)) in SIZES.into_iter().enumerate() {
            let changes = self.tree.get("sizes").and_then(|sizes| sizes.get(name));
            self.trials[index] = match (size, changes) {
                (Size::Quick | Size::Full, None) => self.trials[0].clone(),
                _ => {
                    let (trials, found) = self.read(name);
                    problems.append(found);
                    trials
                }
            };
        }
        problems
    }

    /// The trials of a size: every combination of the factors. Mistakes come with them.
    fn read(&self, size: &str) -> (Vec<Trial>, Problems) {
        let mut reader = ValueReader::new(&self.sources);
        let mut tree = self.tree.clone();
        self.resize(&mut reader, &mut tree, size);
        self.apply_sets(&mut reader, &mut tree);
        let in_file = self.factors_in_file(&mut reader);
        let named = |factor: &FactorGroup| (factor.path.clone(), factor.names());
        reader.scope.factors = in_file.iter().map(named).collect();
        let all = self.with_varied(in_file);
        reader.inside("vary", |reader| vary::in_two_groups(reader, &all));
        let changes = all.iter().flat_map(FactorGroup::changes);
        reader.scope.varied = changes.map(|change| change.path.clone()).collect();
        let factors: Vec<FactorGroup> = all.iter().map(|factor| factor.fixed(&self.sets)).collect();
        let mut trials = Vec::new();
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
                chosen.are_brokers_varied |= factor.overlaps(BROKERS);
                chosen.changes.extend(vary::distinguished(factor, choice));
                chosen
                    .factors
                    .push((factor.path.clone(), choice.name.clone()));
            }
            if let Some(mut written) = WrittenScenario::read_map(&mut reader, &tree) {
                if written.search.is_some() && tree.get("repeats").is_none() {
                    written.repeats = 1;
                }
                check(&mut reader, &tree, &written);
                written_search::check(&mut reader, &tree, &written);
                verified::check(&mut reader, &tree, &written);
                trials.push(trial(written, chosen, trials.len()));
            }
        }
        let mut problems = reader.problems;
        problems.sort();
        (trials, problems)
    }

    fn apply_sets(&self, reader: &mut ValueReader<'_>, tree: &mut YamlNode) {
        for (path, value) in &self.sets {
            let before_value = SourceLocation {
                column: 1,
                line: 1,
                width: path.len(),
                ..value.place
            };
            apply(reader, tree, path, value, before_value);
        }
    }

    /// Applies what `sizes` changes in one size. All of `sizes` is checked.
    fn resize(&self, reader: &mut ValueReader<'_>, tree: &mut YamlNode, size: &str) {
        let sizes = self.tree.get("sizes").filter(|sizes| !sizes.is_nothing());
        let Some(sizes) = sizes else { return };
        let read = |reader: &mut ValueReader<'_>| reader.map(sizes, SizesKeys::KEYS).map(|_| ());
        if reader.inside("sizes", read).is_none() {
            return;
        }
        let Some(changes) = sizes.get(size) else {
            return;
        };
        reader.inside(&format!("sizes.{size}"), |reader| {
            let Value::Map(entries) = &changes.value else {
                return reader.wrong_type(changes, "paths with values: `{stages.hold: 2 s}`");
            };
            for entry in entries {
                apply(reader, tree, &entry.key, &entry.node, entry.place);
            }
        });
    }

    /// The factors of the file, with those from the command line added or in their place.
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
        match self.tree.get("vary").filter(|vary| !vary.is_nothing()) {
            Some(vary) => reader.inside("vary", |reader| vary::factors(reader, vary)),
            None => Vec::new(),
        }
    }
}

/// The path whose values determine the cluster of a trial.
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

fn trial(written: WrittenScenario, chosen: TrialChoice, index: usize) -> Trial {
    let search = written_search::planned(&written);
    let published = written.published.into_iter().map(|one| one.item);
    let published = published.filter(|one| one.belongs_to(&chosen.factors));
    let mut trial = Trial {
        stages: adapted(written.stages, &written.flows, written.faults.is_empty()),
        index: u32::try_from(index).unwrap_or(u32::MAX),
        scenario: written.name,
        question: written.question,
        asks: written.asks,
        against: written.against,
        name: trial_name(&chosen.factors),
        changes: chosen.changes,
        cluster: ClusterNeeds {
            brokers: match chosen.are_brokers_varied {
                true => BrokerCount::Exactly(written.target.brokers),
                false => BrokerCount::AtLeast(written.target.brokers),
            },
            controllers: written.target.controllers,
            release: written.target.release,
            config: written.target.config,
            memory_bytes: written.target.memory_bytes,
            security: written.target.security,
            mirror: written.target.mirror,
        },
        topic: written.topic,
        flows: written.flows,
        faults: written
            .faults
            .plans(written.stages.hold_ns, written.target.brokers),
        verify: written.verify,
        finds: written.finds,
        repeats: written.repeats,
        goals: written.goals.into_iter().map(|goal| goal.item).collect(),
        published: published.map(|one| one.published).collect(),
        factors: chosen.factors,
        search,
        load: None,
    };
    at_full_speed(&mut trial);
    trial
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
fn adapted(stages: Stages, flows: &[FlowPlan], is_without_faults: bool) -> Stages {
    let continues = |flow: &FlowPlan| match flow {
        FlowPlan::Consume(flow) => flow.records == ConsumeEnd::StageEnd,
        FlowPlan::Produce(flow) | FlowPlan::Echo(EchoFlow { produce: flow, .. }) => {
            flow.driver.is_kgauge()
        }
    };
    let is_prolonged = stages.warm_up_ns > 0
        && stages.is_adaptive()
        && is_without_faults
        && flows.iter().all(|flow| flow.has_level() && continues(flow));
    let warm_up_ns_max = match is_prolonged {
        true => stages.warm_up_ns_max,
        false => 0,
    };
    Stages {
        warm_up_ns_max,
        ..stages
    }
}
