//! Reading typed values from the tree: each mistake is reported with its path, and reading continues.

use std::ops::RangeInclusive;

use crate::key_definition::{KeyDefault, KeyDefinition, ScenarioKeys};
use crate::problem::{Problems, SourceLocation, SourceTexts};
use crate::suggest::{nearest, shorten};
use crate::tree::{Value, YamlNode};
use crate::units::{self, ByteSize, Time, UnitError};

/// Reads values and collects problems. Methods return `None` for what is wrong or absent.
pub(crate) struct ValueReader<'s> {
    pub(crate) sources: &'s SourceTexts,
    pub(crate) problems: Problems,
    pub(crate) scope: ReadScope,
    /// The position in the scenario, as text: `flows[0].settings`.
    path: String,
    /// The key whose value is read.
    key_name: &'static str,
}

/// Context on which the meaning of some keys depends.
#[derive(Debug, Default)]
pub(crate) struct ReadScope {
    /// The paths that the scenario varies.
    pub(crate) varied: Vec<String>,
    /// Of the factors in the file itself: their paths and the names of their values.
    pub(crate) factors: Vec<(String, Vec<String>)>,
    /// The flow that is read; empty if its name is wrong.
    pub(crate) flow: String,
    /// Whether the flow's consumers are, or may be, members of a group.
    pub(crate) in_group: bool,
    /// The length of the hold, if the stages could be read.
    pub(crate) hold_ns: Option<Option<u64>>,
}

impl ReadScope {
    /// Whether the scenario varies a path of the flow that is read, or something in it, or what it is in.
    pub(crate) fn is_varied(&self, path: &str) -> bool {
        let path = format!("{}.{path}", self.flow);
        self.varied.iter().any(|varied| overlap(varied, &path))
    }
}

/// Whether two paths are the same, or one leads through the other.
pub(crate) fn overlap(a: &str, b: &str) -> bool {
    // `broker.KEY` is short for `target.config.KEY`.
    let full = |path: &str| match path.strip_prefix("broker.") {
        Some(setting) => format!("target.config.{setting}"),
        None => path.to_owned(),
    };
    let (a, b) = (full(a), full(b));
    let leads_through = |short: &str, long: &str| {
        long.strip_prefix(short)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    leads_through(&a, &b) || leads_through(&b, &a)
}

/// The known keys of one map.
pub(crate) struct Fields<'n> {
    table: &'static ScenarioKeys,
    /// Where the map is.
    pub(crate) map_place: SourceLocation,
    /// Whether the map has no keys at all, known or not.
    pub(crate) is_empty: bool,
    found: Vec<(&'static KeyDefinition, &'n YamlNode)>,
    /// Keys that are probably meant by ones that were reported as unknown.
    meant: Vec<&'static str>,
}

impl<'n> Fields<'n> {
    /// The node under a key, if it was written.
    pub(crate) fn get(&self, name: &str) -> Option<&'n YamlNode> {
        self.found
            .iter()
            .find(|(key, _)| key.name == name)
            .map(|(_, node)| *node)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The keys that were written, in the order of the text.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.found.iter().map(|(key, _)| key.name)
    }

    /// The only key, where keys exclude each other.
    pub(crate) fn only(&self) -> Option<&'static str> {
        match self.found.as_slice() {
            [(key, _)] => Some(key.name),
            _ => None,
        }
    }

    /// Whether an unknown key that was reported probably means this one.
    pub(crate) fn is_meant(&self, name: &str) -> bool {
        self.meant.contains(&name)
    }

    /// The place of a key's value, or else of the map.
    pub(crate) fn place(&self, name: &str) -> SourceLocation {
        self.get(name).map_or(self.map_place, |node| node.place)
    }
}

/// A kind of map, with its keys and its meaning.
pub(crate) trait KeyMap {
    type Value: 'static;
    const KEYS: &'static ScenarioKeys;

    /// Reads the keys of this map. `None` only together with at least one problem.
    fn read_keys(reader: &mut ValueReader<'_>, fields: &Fields<'_>) -> Option<Self::Value>;

    fn read_map(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<Self::Value> {
        let fields = reader.map(node, Self::KEYS)?;
        Self::read_keys(reader, &fields)
    }
}

/// The meaning of a map in which every key has its default.
pub(crate) fn defaults<M: KeyMap>() -> M::Value {
    let sources = SourceTexts::default();
    let nothing = YamlNode::empty_map(SourceLocation::default());
    let value = M::read_map(&mut ValueReader::new(&sources), &nothing);
    value.expect("every key of the table has a default")
}

/// Limits of a quantity, in its smallest unit.
pub(crate) type Range = RangeInclusive<u64>;

impl<'s> ValueReader<'s> {
    pub(crate) fn new(sources: &'s SourceTexts) -> ValueReader<'s> {
        ValueReader {
            sources,
            problems: Problems::default(),
            scope: ReadScope::default(),
            path: String::new(),
            key_name: "",
        }
    }

    /// The key whose value is read.
    pub(crate) fn key_name(&self) -> &'static str {
        self.key_name
    }

    /// Reports a mistake; there is no value.
    pub(crate) fn refuse<T>(
        &mut self,
        at: SourceLocation,
        what: impl Into<String>,
        cure: impl Into<String>,
    ) -> Option<T> {
        self.problem(at, what, cure);
        None
    }

    /// Reports a mistake at the current path.
    pub(crate) fn problem(
        &mut self,
        at: SourceLocation,
        what: impl Into<String>,
        cure: impl Into<String>,
    ) {
        if self.problems.refuses_more() {
            return;
        }
        let problem = self
            .sources
            .problem(at, &self.path, what.into(), cure.into());
        self.problems.add(problem);
    }

    /// As [`ValueReader::problem`], without the line, which contains a secret.
    pub(crate) fn hidden_problem(&mut self, at: SourceLocation, what: String, cure: &str) {
        if self.problems.refuses_more() {
            return;
        }
        let mut problem = self.sources.problem(at, &self.path, what, cure.to_owned());
        problem.hide_line();
        self.problems.add(problem);
    }

    /// Reads something one step deeper: `step` is `.name` or `[3]`.
    pub(crate) fn inside<T>(&mut self, step: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        /// Hostile keys must not make long paths.
        const STEP_CHARS_MAX: usize = 80;
        let length = self.path.len();
        let step = if length == 0 {
            step.trim_start_matches('.')
        } else {
            step
        };
        self.path.extend(step.chars().take(STEP_CHARS_MAX));
        let value = read(self);
        self.path.truncate(length);
        value
    }

    /// A map with the keys of `table`. Unknown and refused keys are reported.
    pub(crate) fn map<'n>(
        &mut self,
        node: &'n YamlNode,
        table: &'static ScenarioKeys,
    ) -> Option<Fields<'n>> {
        let Value::Map(entries) = &node.value else {
            let names: Vec<&str> = table.keys().take(4).map(|key| key.name).collect();
            let expected = format!("keys with values, such as: {}", names.join(", "));
            self.wrong_type(node, &expected);
            return None;
        };
        let (mut found, mut meant) = (Vec::new(), Vec::new());
        for entry in entries {
            if let Some(key) = table.key(&entry.key) {
                found.push((key, &entry.node));
                continue;
            }
            let step = format!(".{}", entry.key);
            self.inside(&step, |reader| match table.refusal(&entry.key) {
                Some(why) => {
                    let what = format!("`{}` is refused", entry.key);
                    reader.problem(entry.place, what, why);
                }
                None => meant.extend(reader.unknown_key(&entry.key, entry.place, table)),
            });
        }
        Some(Fields {
            table,
            map_place: node.place,
            is_empty: entries.is_empty(),
            found,
            meant,
        })
    }

    /// Reports a key that the table does not have, and returns the one that is probably meant.
    fn unknown_key(
        &mut self,
        key: &str,
        place: SourceLocation,
        table: &'static ScenarioKeys,
    ) -> Option<&'static str> {
        if self.problems.refuses_more() {
            return None;
        }
        let names = || table.keys().map(|key| key.name);
        let near = nearest(key, names());
        let cure = match near {
            Some(name) => format!("did you mean `{name}`?"),
            None if table.keys().count() <= 12 => {
                format!("known keys: {}", names().collect::<Vec<_>>().join(", "))
            }
            None => format!("`kgauge help scenario` lists them under \"{}\"", table.name),
        };
        self.problem(place, format!("unknown key `{}`", shorten(key)), cure);
        near
    }

    /// Reads the value of one key; its default when it is absent.
    ///
    /// `None` when it is optional and absent, or wrong (which has been reported).
    pub(crate) fn field<T>(
        &mut self,
        fields: &Fields<'_>,
        name: &'static str,
        read: impl FnOnce(&mut Self, &YamlNode) -> Option<T>,
    ) -> Option<T> {
        let key = fields
            .table
            .key(name)
            .expect("the parser asks only for keys of the table");
        let place = fields.map_place;
        let stand_in;
        let node = match (fields.get(name), key.default) {
            (Some(node), _) => node,
            (None, KeyDefault::Default(text)) => {
                stand_in = YamlNode::scalar(place, text);
                &stand_in
            }
            (None, KeyDefault::Empty) => {
                stand_in = YamlNode::empty_map(place);
                &stand_in
            }
            (None, KeyDefault::Optional(_)) => return None,
            // The misspelt key has been reported; the missing key follows from it.
            (None, KeyDefault::Required) if fields.meant.contains(&name) => return None,
            (None, KeyDefault::Required) => {
                let what = format!("`{name}` is missing");
                self.problem(
                    place,
                    what,
                    format!("add `{name}`: {}", first_sentence(key.note())),
                );
                return None;
            }
        };
        self.inside(&format!(".{name}"), |reader| {
            if node.is_nothing() {
                let what = format!("`{name}` has no value");
                return reader.refuse(node.place, what, "write a value, or remove the key");
            }
            reader.key_name = name;
            read(reader, node)
        })
    }

    /// Reports that a map in which keys exclude each other has none of them, or several.
    pub(crate) fn not_one_key(&mut self, fields: &Fields<'_>) {
        let names: Vec<&'static str> = fields.names().collect();
        if names.is_empty() && !fields.meant.is_empty() {
            return;
        }
        let what = match names.as_slice() {
            [] => "no key is given".to_owned(),
            names => format!("{} exclude each other", names.join(" and ")),
        };
        let all: Vec<&str> = fields.table.keys().map(|key| key.name).collect();
        let cure = format!("write one of: {}", all.join(", "));
        self.problem(fields.map_place, what, cure);
    }

    /// Reports a mistake at a key of a map.
    pub(crate) fn problem_at(
        &mut self,
        fields: &Fields<'_>,
        name: &str,
        what: impl Into<String>,
        cure: impl Into<String>,
    ) {
        let place = fields.place(name);
        self.inside(&format!(".{name}"), |reader| {
            reader.problem(place, what, cure)
        });
    }

    /// A list, each item read with its own path. Items that are wrong are left out.
    pub(crate) fn list<T>(
        &mut self,
        node: &YamlNode,
        mut read: impl FnMut(&mut Self, &YamlNode) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Value::List(items) = &node.value else {
            self.wrong_type(node, "a list");
            return None;
        };
        if items.is_empty() {
            self.problem(node.place, "the list is empty", "write at least one item");
        }
        let mut values = Vec::new();
        for (index, item) in items.iter().enumerate() {
            values.extend(self.inside(&format!("[{index}]"), |reader| read(reader, item)));
        }
        Some(values)
    }

    /// Any words.
    pub(crate) fn text(&mut self, node: &YamlNode) -> Option<String> {
        /// A question or a note; not a file.
        const TEXT_CHARS_MAX: usize = 4_000;
        self.text_up_to(node, TEXT_CHARS_MAX)
    }

    /// What a tool has printed.
    pub(crate) fn output(&mut self, node: &YamlNode) -> Option<String> {
        /// Some lines of each of a hundred producers; not a log.
        const OUTPUT_CHARS_MAX: usize = 40_000;
        self.text_up_to(node, OUTPUT_CHARS_MAX)
    }

    fn text_up_to(&mut self, node: &YamlNode, chars_max: usize) -> Option<String> {
        let text = self.scalar(node, "a text")?;
        if node.is_nothing() || text.trim().is_empty() {
            self.problem(node.place, "the text is empty", "write some text");
            return None;
        }
        if text.chars().count() > chars_max {
            let cure = format!("keep it below {chars_max} characters");
            self.problem(node.place, "the text is too long", cure);
            return None;
        }
        Some(text.trim().to_owned())
    }

    /// A name: lower-case letters, digits and `-`, starting with a letter.
    pub(crate) fn name(&mut self, node: &YamlNode) -> Option<String> {
        const NAME_CHARS_MAX: usize = 64;
        let text = self.scalar(node, "a name")?;
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let good = text.len() <= NAME_CHARS_MAX
            && text.starts_with(|first: char| first.is_ascii_lowercase())
            && text.bytes().all(allowed);
        if !good {
            let what = format!("`{}` is not a name", shorten(text));
            let cure = "use at most 64 characters of a-z, 0-9 and `-`, starting with a letter";
            self.problem(node.place, what, cure);
        }
        good.then(|| text.to_owned())
    }

    /// One of a few words.
    pub(crate) fn choice<T: Copy>(&mut self, node: &YamlNode, choices: &[(&str, T)]) -> Option<T> {
        let text = self.scalar(node, "a word")?;
        if let Some((_, value)) = choices.iter().find(|(name, _)| *name == text) {
            return Some(*value);
        }
        let names = || choices.iter().map(|(name, _)| *name);
        // Another number is another value, not a typo.
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let cure = match nearest(text, names()).filter(|_| !is_number) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("write one of: {}", names().collect::<Vec<_>>().join(", ")),
        };
        self.problem(
            node.place,
            format!("invalid value `{}`", shorten(text)),
            cure,
        );
        None
    }

    /// The version of the file format: there is one so far.
    pub(crate) fn version(&mut self, node: &YamlNode) -> Option<()> {
        if self.scalar(node, "`1`")? == "1" {
            return Some(());
        }
        let what = "unsupported version of the file format";
        self.problem(node.place, what, "this version of kgauge reads `kgauge: 1`");
        None
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self, node: &YamlNode) -> Option<bool> {
        self.choice(node, &[("true", true), ("false", false)])
    }

    /// A count such as `50M`.
    pub(crate) fn count(&mut self, node: &YamlNode, range: Range) -> Option<u64> {
        let value = self.quantity(node, "a count", units::count)?;
        self.within(node, value, range, |value| value.to_string())
    }

    /// A size with unit, in bytes.
    pub(crate) fn bytes(&mut self, node: &YamlNode, range: Range) -> Option<u64> {
        let value = self.quantity(node, "a size", units::bytes)?;
        self.within(node, value, range, |value| ByteSize(value).to_string())
    }

    /// A time with unit, in ns.
    pub(crate) fn time_ns(&mut self, node: &YamlNode, range: Range) -> Option<u64> {
        let value = self.quantity(node, "a time", units::time_ns)?;
        self.within(node, value, range, |value| Time(value).to_string())
    }

    pub(crate) fn quantity<T>(
        &mut self,
        node: &YamlNode,
        what: &str,
        parse: impl FnOnce(&str) -> Result<T, UnitError>,
    ) -> Option<T> {
        let text = self.scalar(node, what)?;
        match parse(&shorten(text)) {
            Ok(value) => Some(value),
            Err(error) => {
                self.problem(node.place, error.what, error.cure);
                None
            }
        }
    }

    pub(crate) fn within(
        &mut self,
        node: &YamlNode,
        value: u64,
        range: Range,
        show: impl Fn(u64) -> String,
    ) -> Option<u64> {
        if range.contains(&value) {
            return Some(value);
        }
        let (low, high) = (show(*range.start()), show(*range.end()));
        let what = format!("{} is out of range", show(value));
        self.problem(node.place, what, format!("write {low} to {high}"));
        None
    }

    /// The text of a scalar; anything else is reported, with `expected` as the fix.
    pub(crate) fn scalar<'n>(&mut self, node: &'n YamlNode, expected: &str) -> Option<&'n str> {
        let text = node.as_text();
        if text.is_none() {
            self.wrong_type(node, expected);
        }
        text
    }

    pub(crate) fn wrong_type(&mut self, node: &YamlNode, expected: &str) {
        let is = match &node.value {
            _ if node.is_nothing() => "nothing".to_owned(),
            Value::Scalar { text, .. } => format!("`{}`", shorten(text)),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a map".to_owned(),
        };
        self.problem(
            node.place,
            format!("found {is}"),
            format!("write {expected}"),
        );
    }
}

/// A note's first sentence, without its full stop.
fn first_sentence(note: &str) -> String {
    let end = note.find(". ").unwrap_or(note.len());
    note[..end].trim_end_matches('.').to_owned()
}
