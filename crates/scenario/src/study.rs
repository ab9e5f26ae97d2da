//! Studies: folders of scenarios that answer one published document, read from their texts.

use crate::files::Files;
use crate::keys::audit::AuditFacts;
use crate::keys::flow::FlowPlan;
use crate::keys::study::{PartitionFormula, WrittenStudy};
use crate::plan::{Size, StudyRef};
use crate::problem::{Problems, SourceLocation, SourceTexts};
use crate::reader::{KeyMap, ValueReader};
use crate::scenario::Scenario;
use crate::suggest::shorten;
use crate::tree::{self, YamlNode};

/// A study, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// What a plan keeps of it.
    pub about: StudyRef,
    /// The target most similar to the authors', as for `--target`.
    pub target: Option<String>,
    /// Facts for the check of the lines that their tools printed.
    pub audit: AuditFacts,
    /// In running order.
    pub scenarios: Vec<Scenario>,
}

/// A file of a study: its path, for messages and by its last part, and what is in it.
#[derive(Clone, Copy, Debug)]
pub struct StudyFile<'t> {
    /// Only the last part (`study.yaml`, `single-producer.yaml`) matters, except in messages.
    pub path: &'t str,
    /// The whole text.
    pub text: &'t str,
}

impl StudyFile<'_> {
    fn name(&self) -> &str {
        self.path.rsplit(['/', '\\']).next().unwrap_or(self.path)
    }
}

/// The file that makes a folder a study.
pub const STUDY_FILE: &str = "study.yaml";
const SCENARIO_ENDING: &str = ".yaml";

impl Study {
    /// Reads a study from the files of its folder; those that are not YAML are passed over.
    ///
    /// # Errors
    /// Every mistake in every file.
    pub fn from_files(name: &str, files: &[StudyFile<'_>]) -> Result<Study, Problems> {
        Study::from_files_with(name, files, &Files::none())
    }

    /// As [`Study::from_files`], for scenarios that may name other files of the folder.
    ///
    /// # Errors
    /// As [`Study::from_files`]; files that cannot be used are among them.
    pub fn from_files_with(
        name: &str,
        files: &[StudyFile<'_>],
        beside: &Files,
    ) -> Result<Study, Problems> {
        let mut problems = Problems::default();
        let mut sources = SourceTexts::with(beside.clone());
        let Some(head) = files.iter().find(|file| file.name() == STUDY_FILE) else {
            let source = sources.add(name, "");
            let place = SourceLocation {
                source,
                line: 1,
                column: 1,
                width: 1,
            };
            let what = format!("there is no `{STUDY_FILE}` in this folder");
            let cure = "add it, or run a single scenario file".to_owned();
            problems.add(sources.problem(place, "", what, cure));
            return problems.into_result(()).and(Err(Problems::default()));
        };
        let source = sources.add(head.path, head.text);
        let tree = tree::read(&sources, source, 0, &mut problems);
        let mut reader = ValueReader::new(&sources);
        let study = tree.and_then(|tree| read(&mut reader, &tree, name, files));
        problems.append(reader.problems);
        match study {
            Some((study, found)) => {
                problems.append(found);
                problems.into_result(study)
            }
            None => problems.into_result(()).and(Err(Problems::default())),
        }
    }

    /// Changes one thing in every scenario that has the path, as `--set path=value` does.
    ///
    /// # Errors
    /// As [`Study::set_all`].
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), Problems> {
        self.set_all(&[(path.to_owned(), value.to_owned())])
    }

    /// Changes several things at once, (path, value), each in every scenario that has the path.
    ///
    /// # Errors
    /// Every mistake that the changes bring in any scenario; a path that no scenario has is shown
    /// as the first one sees it. The study is then as it was.
    pub fn set_all(&mut self, changes: &[(String, String)]) -> Result<(), Problems> {
        let mut changed = self.scenarios.clone();
        let mut problems = Problems::default();
        let somewhere = |path: &str| self.scenarios.iter().any(|one| one.has_path(path));
        for (index, scenario) in changed.iter_mut().enumerate() {
            let belongs = |path: &str| match index {
                0 => scenario.has_path(path) || !somewhere(path),
                _ => scenario.has_path(path),
            };
            let mine: Vec<(String, String)> = changes
                .iter()
                .filter(|(path, _)| belongs(path))
                .cloned()
                .collect();
            if let Err(found) = scenario.set_all(&mine) {
                problems.append(found);
            }
        }
        self.scenarios = problems.into_result(changed)?;
        Ok(())
    }
}

/// Reads `study.yaml`, and with it the scenarios' files.
fn read(
    reader: &mut ValueReader<'_>,
    tree: &YamlNode,
    name: &str,
    files: &[StudyFile<'_>],
) -> Option<(Study, Problems)> {
    let written = WrittenStudy::read_map(reader, tree)?;
    let mut found = Problems::default();
    let mut listed: Vec<String> = Vec::new();
    let mut scenarios = Vec::new();
    for (index, item) in written.scenarios.iter().enumerate() {
        let scenario = reader.inside(&format!("scenarios[{index}]"), |reader| {
            let name = reader.name(item)?;
            if listed.contains(&name) {
                return reader.refuse(item.place, "the scenario is listed twice", "remove one");
            }
            listed.push(name.clone());
            scenario(reader, item, &name, files, &mut found)
        });
        scenarios.extend(scenario);
    }
    if let Some(list) = tree.get("scenarios") {
        reader.inside("scenarios", |reader| {
            forgotten(reader, list, &listed, files)
        });
    }
    if let (Some(formula), Some(node)) = (&written.partition_formula, tree.get("partition-formula"))
    {
        measured_there(reader, node.place, formula, &scenarios);
    }
    compared_with(reader, &written.scenarios, &listed, &scenarios);
    let study = Study {
        about: StudyRef {
            name: name.to_owned(),
            title: written.title,
            question: written.question,
            source: written.source,
            setup: written.setup,
            found: written.found,
            disk_baseline: written.disk_baseline,
            partition_formula: written.partition_formula,
            differs: written.differs,
        },
        target: written.target,
        audit: written.audit,
        scenarios,
    };
    Some((study, found))
}

fn scenario(
    reader: &mut ValueReader<'_>,
    item: &YamlNode,
    name: &str,
    files: &[StudyFile<'_>],
    found: &mut Problems,
) -> Option<Scenario> {
    let file_name = format!("{name}{SCENARIO_ENDING}");
    let Some(file) = files.iter().find(|file| file.name() == file_name) else {
        let what = format!("there is no `{file_name}` in this folder");
        reader.problem(item.place, what, "add the file, or remove the name");
        return None;
    };
    match Scenario::parse_with(file.path, file.text, reader.sources.files.clone()) {
        Ok(scenario) if scenario.name() == name => Some(scenario),
        Ok(scenario) => {
            let what = format!("`{file_name}` has `name: {}`", scenario.name());
            reader.problem(
                item.place,
                what,
                format!("write `name: {name}` in that file"),
            );
            None
        }
        Err(problems) => {
            found.append(problems);
            None
        }
    }
}

/// The flows that a formula names must exist.
fn measured_there(
    reader: &mut ValueReader<'_>,
    place: SourceLocation,
    formula: &PartitionFormula,
    scenarios: &[Scenario],
) {
    for (of, writes) in [(&formula.produce, true), (&formula.consume, false)] {
        let (scenario, flow) = of;
        let fits = |known: &FlowPlan| {
            let is_kind = match known {
                FlowPlan::Produce(_) => writes,
                FlowPlan::Consume(_) => !writes,
                FlowPlan::Echo(_) => false,
            };
            known.name() == flow && is_kind
        };
        let is_there = scenarios.iter().any(|one| {
            let mut trials = one.trials_of(Size::Default).iter();
            one.name() == scenario && trials.any(|trial| trial.flows.iter().any(fits))
        });
        if !is_there {
            let kind = if writes { "produce" } else { "consume" };
            let what = format!("there is no {kind} flow `{scenario}.{flow}`");
            let cure = "use a scenario of this study and one of its flows";
            reader.problem(place, shorten(&what), cure);
        }
    }
}

/// What scenarios are compared with must be in the study.
fn compared_with(
    reader: &mut ValueReader<'_>,
    list: &[YamlNode],
    listed: &[String],
    scenarios: &[Scenario],
) {
    for scenario in scenarios {
        let first = scenario.trials_of(Size::Default).first();
        let Some(against) = first.and_then(|trial| trial.against.as_ref()) else {
            continue;
        };
        let Some(other) = &against.scenario else {
            continue;
        };
        let is_listed = other != scenario.name() && listed.contains(other);
        let read = scenarios.iter().find(|one| one.name() == other);
        let missing = against.factor.as_ref().filter(|factor| {
            let has = |one: &Scenario| {
                let mut trials = one.trials_of(Size::Default).iter();
                trials.any(|trial| trial.factors.contains(factor))
            };
            read.is_some_and(|one| !has(one))
        });
        let what = match (is_listed, missing) {
            (true, None) => continue,
            (false, _) => format!(
                "`{}` is compared with `{}`, which is not another scenario of this study",
                scenario.name(),
                shorten(other)
            ),
            (true, Some((path, value))) => format!(
                "`{}` is compared with `{other}`, which has no trial with {}",
                scenario.name(),
                shorten(&format!("{path}={value}"))
            ),
        };
        let item = list
            .iter()
            .find(|item| item.as_text() == Some(scenario.name()));
        let place = item.map(|item| item.place).unwrap_or_default();
        let cure = format!("change `against` in `{}{SCENARIO_ENDING}`", scenario.name());
        reader.problem(place, what, cure);
    }
}

/// A scenario that is not listed would never run.
fn forgotten(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
    listed: &[String],
    files: &[StudyFile<'_>],
) {
    for file in files {
        let Some(name) = file.name().strip_suffix(SCENARIO_ENDING) else {
            continue;
        };
        if file.name() != STUDY_FILE && !listed.iter().any(|other| other == name) {
            let what = format!(
                "`{}` is in the folder but not in `scenarios`",
                shorten(file.name())
            );
            reader.problem(node.place, what, "add it to the list, or remove the file");
        }
    }
}
