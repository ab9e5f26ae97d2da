//! Paths such as `writers.settings.linger.ms`, which `vary`, `sizes` and `--set` use.
//!
//! A path starts with a flow's name or with one of [`PATH_ROOTS`]. It is followed through the key tables, so a path
//! that no parser would read is refused by name.

use crate::key_definition::{KeyDefinition, ScenarioKeys, ValueForm};
use crate::keys::flow::{PATH_ROOTS, keys_of};
use crate::keys::scenario::WrittenScenario;
use crate::problem::SourceLocation;
use crate::reader::KeyMap;
use crate::suggest::{nearest, shorten};
use crate::tree::{MapEntry, Value, YamlNode};

/// One step down the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathStep {
    Key(String),
    Index(usize),
}

/// Why a path leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathError {
    pub(crate) what: String,
    pub(crate) cure: String,
}

const ROOT: &ScenarioKeys = WrittenScenario::KEYS;

/// `broker.num.io.threads` is short for `target.config.num.io.threads`.
const BROKER: &str = "broker.";

/// The steps to what a path names, whether it is written yet or not.
pub(crate) fn locate(tree: &YamlNode, path: &str) -> Result<Vec<PathStep>, PathError> {
    for (index, name, table) in flows(tree) {
        let rest = path
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix('.'));
        if let Some(rest) = rest {
            let start = vec![PathStep::Key("flows".into()), PathStep::Index(index)];
            return descend(tree, path, start, table, rest);
        }
    }
    if let Some(setting) = path.strip_prefix(BROKER) {
        let full = format!("target.config.{setting}");
        return descend(tree, path, Vec::new(), ROOT, &full);
    }
    let root = path.split('.').next().unwrap_or(path);
    if PATH_ROOTS.contains(&root) {
        return descend(tree, path, Vec::new(), ROOT, path);
    }
    Err(unknown(tree, path))
}

/// The paths of a Kafka setting in the flows that have it: those that send, or else those that only read.
pub(crate) fn of_setting(tree: &YamlNode, setting: &str) -> Vec<String> {
    let paths = |sends: bool| -> Vec<String> {
        let has_setting = |table: &ScenarioKeys| {
            let settings = table.key("settings").map(|key| next_step((key.form)()));
            let is_known = |settings: &ScenarioKeys| settings.key(setting).is_some();
            matches!(settings, Some(NextStep::Map(settings)) if is_known(settings))
        };
        flows(tree)
            .into_iter()
            .filter(|(_, _, table)| table.key("producers").is_some() == sends)
            .filter(|(_, _, table)| has_setting(table))
            .map(|(_, name, _)| format!("{name}.settings.{setting}"))
            .collect()
    };
    let of_senders = paths(true);
    match of_senders.is_empty() {
        true => paths(false),
        false => of_senders,
    }
}

fn descend(
    tree: &YamlNode,
    path: &str,
    mut steps: Vec<PathStep>,
    mut table: &'static ScenarioKeys,
    mut rest: &str,
) -> Result<Vec<PathStep>, PathError> {
    loop {
        if let Some(why) = table.refusal(rest) {
            let what = format!("`{}` is refused", shorten(path));
            return Err(PathError {
                what,
                cure: why.to_owned(),
            });
        }
        let Some((key, remaining)) = table.key_at_start(rest) else {
            return Err(unknown(tree, path));
        };
        if !can_change(key) {
            let what = format!("`{}` cannot be changed by a path", shorten(path));
            let cure = "change it in the file".to_owned();
            return Err(PathError { what, cure });
        }
        steps.push(PathStep::Key(key.name.to_owned()));
        if remaining.is_empty() {
            return Ok(steps);
        }
        table = match next_step((key.form)()) {
            NextStep::Map(table) => table,
            NextStep::AnyName => {
                steps.push(PathStep::Key(remaining.to_owned()));
                return Ok(steps);
            }
            NextStep::None => return Err(unknown(tree, path)),
        };
        rest = remaining;
    }
}

/// How a path goes on behind a key.
enum NextStep {
    Map(&'static ScenarioKeys),
    /// A setting of another program.
    AnyName,
    None,
}

fn next_step(form: ValueForm) -> NextStep {
    match form {
        ValueForm::Map(table) => NextStep::Map(table),
        ValueForm::Settings(..) => NextStep::AnyName,
        ValueForm::Any(forms) => {
            let mut maps = forms.into_iter().map(next_step);
            maps.next_back().unwrap_or(NextStep::None)
        }
        _ => NextStep::None,
    }
}

/// Names of flows and factors cannot be changed: other paths would lose their meaning.
fn can_change(key: &KeyDefinition) -> bool {
    !matches!(key.name, "name" | "kind")
}

fn unknown(tree: &YamlNode, path: &str) -> PathError {
    if let [first, second, more @ ..] = of_setting(tree, path).as_slice() {
        let more = if more.is_empty() { "" } else { ", ..." };
        return PathError {
            what: format!("several flows have `{}`", shorten(path)),
            cure: format!("write the path of one: {first}, {second}{more}"),
        };
    }
    let what = format!("`{}` is not in this scenario", shorten(path));
    let known = all(tree);
    let meant = nearest(path, known.iter().map(String::as_str));
    let setting = || nearest(path, settings(tree));
    // `hold` is the end of `stages.hold`.
    let end = format!(".{path}");
    let whole = || {
        known
            .iter()
            .map(String::as_str)
            .find(|one| one.ends_with(&end))
    };
    let cure = match meant.or_else(setting).or_else(whole) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => {
            let names = flows(tree).into_iter().map(|(_, name, _)| name);
            let starts: Vec<&str> = names.chain(PATH_ROOTS.iter().copied()).collect();
            format!("a path starts with one of: {}", shorten(&starts.join(", ")))
        }
    };
    PathError { what, cure }
}

/// Every path that the tables allow, for suggestions.
fn all(tree: &YamlNode) -> Vec<String> {
    let mut paths = Vec::new();
    for root in PATH_ROOTS {
        if let Some(key) = ROOT.key(root) {
            gather(root, key, &mut paths);
        }
    }
    // A scenario with thousands of flows is an attack, not a typo.
    for (_, name, table) in flows(tree).into_iter().take(20) {
        for key in table.keys().filter(|key| can_change(key)) {
            gather(&format!("{name}.{}", key.name), key, &mut paths);
        }
    }
    paths
}

fn gather(path: &str, key: &KeyDefinition, paths: &mut Vec<String>) {
    paths.push(path.to_owned());
    if let ValueForm::Map(table) = (key.form)() {
        for key in table.keys() {
            gather(&format!("{path}.{}", key.name), key, paths);
        }
    }
}

/// The Kafka settings of the flows, which [`of_setting`] finds without a path.
fn settings(tree: &YamlNode) -> Vec<&'static str> {
    let tables = flows(tree).into_iter().filter_map(|(_, _, table)| {
        match next_step((table.key("settings")?.form)()) {
            NextStep::Map(settings) => Some(settings),
            NextStep::AnyName | NextStep::None => None,
        }
    });
    tables
        .flat_map(|table| table.keys().map(|key| key.name))
        .collect()
}

/// Index, name and table of the flows that have a name and a kind.
fn flows(tree: &YamlNode) -> Vec<(usize, &str, &'static ScenarioKeys)> {
    let Some(Value::List(list)) = tree.get("flows").map(|node| &node.value) else {
        return Vec::new();
    };
    let named = list.iter().enumerate().filter_map(|(index, node)| {
        let table = keys_of(node.get("kind")?.as_text()?)?;
        Some((index, node.get("name")?.as_text()?, table))
    });
    named.collect()
}

/// Puts a node where the steps lead; maps on the way are made when they are missing.
pub(crate) fn put(tree: &mut YamlNode, steps: &[PathStep], node: YamlNode) {
    let Some((step, rest)) = steps.split_first() else {
        *tree = node;
        return;
    };
    match step {
        PathStep::Index(index) => {
            if let Value::List(list) = &mut tree.value
                && let Some(item) = list.get_mut(*index)
            {
                put(item, rest, node);
            }
        }
        PathStep::Key(name) => {
            if !matches!(tree.value, Value::Map(_)) {
                tree.value = Value::Map(Vec::new());
            }
            let Value::Map(entries) = &mut tree.value else {
                return;
            };
            if let Some(entry) = entries.iter_mut().find(|entry| entry.key == *name) {
                return put(&mut entry.node, rest, node);
            }
            let mut new = YamlNode::empty_map(node.place);
            let place = node.place;
            put(&mut new, rest, node);
            entries.push(MapEntry {
                key: name.clone(),
                place,
                node: new,
            });
        }
    }
}

/// The place of a path's value, or of the nearest map above it.
pub(crate) fn place(tree: &YamlNode, path: &str) -> SourceLocation {
    let mut node = tree;
    for step in locate(tree, path).unwrap_or_default() {
        let next = match (&step, &node.value) {
            (PathStep::Key(key), Value::Map(_)) => node.get(key),
            (PathStep::Index(index), Value::List(list)) => list.get(*index),
            _ => None,
        };
        match next {
            Some(next) => node = next,
            None => break,
        }
    }
    node.place
}
