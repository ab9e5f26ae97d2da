//! What a scenario varies: crossed paths, one thing at a time, listed combinations.
//!
//! Each is a group of alternatives, and a trial takes one alternative of each group. A crossed path
//! is a group whose alternatives are its values; `one-at-a-time` is one group of the unchanged
//! scenario and of each single change; `listed` is one group of named sets of changes.

use crate::problem::SourceLocation;
use crate::reader::{ValueReader, overlap};
use crate::suggest::shorten;
use crate::tree::{MapEntry, Value, YamlNode};

/// The group of single changes.
pub const ONE_AT_A_TIME: &str = "one-at-a-time";
/// The group of named sets of changes.
pub const LISTED: &str = "listed";
/// The unchanged scenario, among single changes.
const BASELINE: &str = "baseline";

/// A group of alternatives.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FactorGroup {
    /// The varied path, or [`ONE_AT_A_TIME`], or [`LISTED`].
    pub(crate) path: String,
    pub(crate) place: SourceLocation,
    pub(crate) choices: Vec<Choice>,
}

/// One alternative.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    /// A value as written, a change such as `topic.partitions=3`, or a name.
    pub(crate) name: String,
    pub(crate) place: SourceLocation,
    pub(crate) changes: Vec<FactorChange>,
}

/// One thing that an alternative changes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FactorChange {
    pub(crate) path: String,
    /// Where the path is written; of a crossed path, where the group is.
    pub(crate) place: SourceLocation,
    pub(crate) value: YamlNode,
}

impl FactorGroup {
    /// A path with values.
    pub(crate) fn crossed(path: &str, place: SourceLocation, values: Vec<YamlNode>) -> FactorGroup {
        let choice = |value: YamlNode| Choice {
            name: value.describe(),
            place: value.place,
            changes: vec![FactorChange {
                path: path.to_owned(),
                place,
                value,
            }],
        };
        FactorGroup {
            path: path.to_owned(),
            place,
            choices: values.into_iter().map(choice).collect(),
        }
    }

    /// The alternatives' names.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.choices.iter().map(|choice| choice.name.clone());
        names.collect()
    }

    /// Everything that its alternatives change.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &FactorChange> {
        self.choices.iter().flat_map(|choice| &choice.changes)
    }

    /// Whether it changes a path, or something in it, or what it is in.
    pub(crate) fn overlaps(&self, path: &str) -> bool {
        self.changes().any(|change| overlap(&change.path, path))
    }

    /// Whether the names of its alternatives are the values of a path.
    fn is_crossed(&self) -> bool {
        self.path != ONE_AT_A_TIME && self.path != LISTED
    }

    /// The group when some paths are fixed by `--set`. A crossed path has one value left.
    pub(crate) fn fixed(&self, sets: &[(String, YamlNode)]) -> FactorGroup {
        if self.is_crossed() {
            let set = sets.iter().rev().find(|(path, _)| *path == self.path);
            return match set {
                Some((path, value)) => FactorGroup::crossed(path, self.place, vec![value.clone()]),
                None => self.clone(),
            };
        }
        let is_set = |path: &str| sets.iter().any(|(set, _)| overlap(set, path));
        let mut left = self.clone();
        for choice in &mut left.choices {
            let had_any = !choice.changes.is_empty();
            choice.changes.retain(|change| !is_set(&change.path));
            if had_any && choice.changes.is_empty() && self.path == ONE_AT_A_TIME {
                choice.name.clear();
            }
        }
        left.choices.retain(|choice| !choice.name.is_empty());
        left
    }
}

/// The changes of a choice that its name does not contain, as written.
pub(crate) fn distinguished(factor: &FactorGroup, choice: &Choice) -> Vec<(String, String)> {
    if factor.path != LISTED {
        return Vec::new();
    }
    let changes = choice.changes.iter();
    changes
        .map(|change| (change.path.clone(), change.value.describe()))
        .collect()
}

/// Reads `vary`.
pub(crate) fn factors(reader: &mut ValueReader<'_>, vary: &YamlNode) -> Vec<FactorGroup> {
    let Value::Map(entries) = &vary.value else {
        reader.wrong_type(
            vary,
            "paths with lists: `{writers.record.size: [10 B, 1 kB]}`",
        );
        return Vec::new();
    };
    let mut factors = Vec::new();
    for entry in entries {
        let factor = reader.inside(&format!(".{}", entry.key), |reader| {
            match entry.key.as_str() {
                ONE_AT_A_TIME => one_at_a_time(reader, entry),
                LISTED => listed(reader, entry),
                path => values(reader, entry)
                    .map(|values| FactorGroup::crossed(path, entry.place, values)),
            }
        });
        factors.extend(factor);
    }
    factors.retain(|factor| !factor.choices.is_empty());
    for factor in &factors {
        twice(reader, factor);
    }
    factors
}

fn values(reader: &mut ValueReader<'_>, entry: &MapEntry) -> Option<Vec<YamlNode>> {
    reader.list(&entry.node, |_, item| Some(item.clone()))
}

fn one_at_a_time(reader: &mut ValueReader<'_>, entry: &MapEntry) -> Option<FactorGroup> {
    let Value::Map(paths) = &entry.node.value else {
        let expected = "paths with lists: `{broker.num.io.threads: [4, 16]}`";
        reader.wrong_type(&entry.node, expected);
        return None;
    };
    let mut choices = vec![Choice {
        name: BASELINE.to_owned(),
        place: entry.place,
        changes: Vec::new(),
    }];
    for path in paths {
        let found = reader.inside(&format!(".{}", path.key), |reader| values(reader, path));
        choices.extend(found.into_iter().flatten().map(|value| Choice {
            name: format!("{}={}", path.key, value.describe()),
            place: value.place,
            changes: vec![FactorChange {
                path: path.key.clone(),
                place: path.place,
                value,
            }],
        }));
    }
    Some(FactorGroup {
        path: ONE_AT_A_TIME.to_owned(),
        place: entry.place,
        choices,
    })
}

fn listed(reader: &mut ValueReader<'_>, entry: &MapEntry) -> Option<FactorGroup> {
    let choices = reader.list(&entry.node, |reader, item| {
        let Value::Map(entries) = &item.value else {
            reader.wrong_type(
                item,
                "a name and paths: `{name: small, topic.partitions: 3}`",
            );
            return None;
        };
        let Some(name) = item.get("name") else {
            let what = "this combination has no name";
            reader.problem(item.place, what, "add `name: ...`, which names its trials");
            return None;
        };
        let name = reader.inside(".name", |reader| reader.name(name))?;
        let changes = entries.iter().filter(|entry| entry.key != "name");
        let changes = changes.map(|entry| FactorChange {
            path: entry.key.clone(),
            place: entry.place,
            value: entry.node.clone(),
        });
        Some(Choice {
            name,
            place: item.place,
            changes: changes.collect(),
        })
    })?;
    Some(FactorGroup {
        path: LISTED.to_owned(),
        place: entry.place,
        choices,
    })
}

fn twice(reader: &mut ValueReader<'_>, factor: &FactorGroup) {
    for (index, choice) in factor.choices.iter().enumerate() {
        let before = &factor.choices[..index];
        if before.iter().any(|other| other.name == choice.name) {
            let what = match factor.path == LISTED {
                true => "this name is listed twice",
                false => "this value is listed twice",
            };
            let cure = "remove one; `repeats` sets how often a trial runs";
            reader.problem(choice.place, what, cure);
        }
    }
}

/// Two groups that change one path would depend on their order.
pub(crate) fn in_two_groups(reader: &mut ValueReader<'_>, factors: &[FactorGroup]) {
    for (index, factor) in factors.iter().enumerate() {
        let mut reported_paths: Vec<&str> = Vec::new();
        for change in factor.changes() {
            let before = &factors[..index];
            let is_known = before.iter().any(|other| other.overlaps(&change.path));
            if is_known && !reported_paths.contains(&change.path.as_str()) {
                reported_paths.push(&change.path);
                let what = format!("`{}` is varied in two places", shorten(&change.path));
                reader.problem(change.place, what, "keep one of them");
            }
        }
    }
}
