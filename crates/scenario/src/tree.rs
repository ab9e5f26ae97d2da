//! YAML text as a small tree with the place of every value.
//!
//! It is YAML's plain part: mappings, lists and scalars of one document. Anchors, aliases and tags
//! are refused, so nothing can grow beyond the text; depth and size are bounded.

use std::collections::BTreeSet;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span};

use crate::problem::{Problems, SourceLocation, SourceTexts};

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct YamlNode {
    pub(crate) place: SourceLocation,
    pub(crate) value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Scalar {
        text: String,
        /// Written without quotes.
        plain: bool,
    },
    List(Vec<YamlNode>),
    Map(Vec<MapEntry>),
}

/// A key and its value. Keys are unique in their map.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MapEntry {
    pub(crate) key: String,
    pub(crate) place: SourceLocation,
    pub(crate) node: YamlNode,
}

/// Largest text that is read. The longest scenario that ships has 2 kB.
const TEXT_BYTES_MAX: usize = 256 * 1024;
/// Most nodes; a scenario has some hundred. Each trial of a scenario reads them again.
const NODES_MAX: usize = 5_000;
/// Deepest nesting; a scenario needs 6.
const DEPTH_MAX: usize = 32;

impl YamlNode {
    /// A scalar for a default that was not written.
    pub(crate) fn scalar(place: SourceLocation, text: &str) -> YamlNode {
        YamlNode {
            place,
            value: Value::Scalar {
                text: text.to_owned(),
                plain: true,
            },
        }
    }

    /// An empty map that was not written.
    pub(crate) fn empty_map(place: SourceLocation) -> YamlNode {
        YamlNode {
            place,
            value: Value::Map(Vec::new()),
        }
    }

    /// True for `key:` with nothing after it, `~` and `null`.
    pub(crate) fn is_nothing(&self) -> bool {
        match &self.value {
            Value::Scalar { text, plain: true } => {
                matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL")
            }
            _ => false,
        }
    }

    /// The node under a key, if this is a map that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&YamlNode> {
        match &self.value {
            Value::Map(entries) => entries
                .iter()
                .find(|entry| entry.key == key)
                .map(|entry| &entry.node),
            _ => None,
        }
    }

    /// The text of a scalar.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }
}

impl YamlNode {
    /// The value in one line, as it could have been written.
    pub(crate) fn describe(&self) -> String {
        match &self.value {
            Value::Scalar { text, .. } => text.clone(),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(YamlNode::describe).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Map(entries) => {
                let describe =
                    |entry: &MapEntry| format!("{}: {}", entry.key, entry.node.describe());
                let entries: Vec<String> = entries.iter().map(describe).collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }
}

/// Reads source `source` of `sources`, from byte `from` on.
///
/// Syntax errors end the reading; after others (a duplicate key, an anchor) it continues. All are
/// reported. `None` when there is no usable tree.
pub(crate) fn read(
    sources: &SourceTexts,
    source: usize,
    from: usize,
    problems: &mut Problems,
) -> Option<YamlNode> {
    let whole = sources.text(source);
    let text = whole.get(from..).unwrap_or("");
    let column_shift = whole.get(..from).map_or(0, |before| before.chars().count());
    let builder = Builder {
        sources,
        problems,
        source,
        column_shift,
        frames: Vec::new(),
        nodes: 0,
        root: None,
    };
    builder.run(text)
}

struct Builder<'a> {
    sources: &'a SourceTexts,
    problems: &'a mut Problems,
    source: usize,
    /// Characters before the text on its first line (for `--set path=value`).
    column_shift: usize,
    /// The collections that are open, outermost first.
    frames: Vec<Frame>,
    nodes: usize,
    root: Option<YamlNode>,
}

struct Frame {
    place: SourceLocation,
    kind: FrameKind,
}

enum FrameKind {
    List(Vec<YamlNode>),
    Map {
        entries: Vec<MapEntry>,
        keys: BTreeSet<String>,
        key: Key,
    },
}

/// What the next node of a map is.
enum Key {
    /// A key.
    Awaited,
    /// The value of a key that is not a word; it is dropped.
    Unusable,
    /// The value of this key.
    Read(String, SourceLocation),
}

/// Reading cannot continue; the reason has been reported.
struct Stop;

impl Builder<'_> {
    fn run(mut self, text: &str) -> Option<YamlNode> {
        if text.len() > TEXT_BYTES_MAX {
            let what = format!("the text has {} bytes", text.len());
            self.note(
                self.start(),
                what,
                format!("keep it below {TEXT_BYTES_MAX} bytes"),
            );
            return None;
        }
        let options = granit_parser::options! {
            emit_unresolved_aliases: true,
            emit_comments: false,
            disallow_directives: true,
            flow_nesting_limit: DEPTH_MAX,
            block_nesting_limit: DEPTH_MAX,
        };
        let mut documents = 0;
        for event in Parser::new_from_str_with_options(text, options) {
            let step = match event {
                Ok((Event::DocumentStart(..), span)) => {
                    documents += 1;
                    self.document(documents, &span)
                }
                Ok((event, span)) => self.event(event, &span),
                Err(error) => self.syntax(&error),
            };
            if let Err(Stop) = step {
                return None;
            }
        }
        if self.root.is_none() {
            self.note(
                self.start(),
                "there is no content".into(),
                "write a scenario".into(),
            );
        }
        self.root
    }

    fn document(&mut self, documents: usize, span: &Span) -> Result<(), Stop> {
        if documents < 2 {
            return Ok(());
        }
        let what = "the file contains a second document".to_owned();
        self.note(self.place(span), what, "remove `---`".into());
        Err(Stop)
    }

    fn event(&mut self, event: Event<'_>, span: &Span) -> Result<(), Stop> {
        let place = self.place(span);
        if event.is_node() {
            self.node(&event, place)?;
        }
        match event {
            Event::Scalar(text, style, ..) => {
                let plain = style == ScalarStyle::Plain;
                let value = Value::Scalar {
                    text: text.into_owned(),
                    plain,
                };
                self.finish(YamlNode { place, value });
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                self.note(
                    place,
                    "YAML aliases are not supported".into(),
                    "write the value out".into(),
                );
                self.finish(YamlNode::scalar(place, ""));
            }
            Event::SequenceStart(..) => self.open(place, FrameKind::List(Vec::new()))?,
            Event::MappingStart(..) => {
                let (entries, keys) = (Vec::new(), BTreeSet::new());
                self.open(
                    place,
                    FrameKind::Map {
                        entries,
                        keys,
                        key: Key::Awaited,
                    },
                )?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            _ => {}
        }
        Ok(())
    }

    /// What is the same for every node: it is counted, and has neither anchor nor tag.
    fn node(&mut self, event: &Event<'_>, place: SourceLocation) -> Result<(), Stop> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            let what = format!("more than {NODES_MAX} values");
            self.note(place, what, "reduce the number of values".into());
            return Err(Stop);
        }
        let anchor = match event {
            Event::Scalar(_, _, anchor, _)
            | Event::SequenceStart(_, anchor, _)
            | Event::MappingStart(_, anchor, _) => *anchor,
            _ => 0,
        };
        if anchor != 0 {
            self.note(
                place,
                "YAML anchors are not supported".into(),
                "write the value out".into(),
            );
        }
        if event.tag().is_some() {
            self.note(
                place,
                "YAML tags are not supported".into(),
                "remove it".into(),
            );
        }
        Ok(())
    }

    fn open(&mut self, place: SourceLocation, kind: FrameKind) -> Result<(), Stop> {
        if self.frames.len() >= DEPTH_MAX {
            let what = format!("nested more than {DEPTH_MAX} deep");
            self.note(place, what, "reduce the nesting".into());
            return Err(Stop);
        }
        self.frames.push(Frame { place, kind });
        Ok(())
    }

    fn close(&mut self) {
        // The parser pairs starts and ends; an end without start would be its own bug.
        if let Some(frame) = self.frames.pop() {
            let value = match frame.kind {
                FrameKind::List(nodes) => Value::List(nodes),
                FrameKind::Map { entries, .. } => Value::Map(entries),
            };
            self.finish(YamlNode {
                place: frame.place,
                value,
            });
        }
    }

    /// Puts a finished node where it belongs: into the open list, as key, or under its key.
    fn finish(&mut self, node: YamlNode) {
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some(node);
            return;
        };
        let (entries, keys, key) = match &mut frame.kind {
            FrameKind::List(nodes) => return nodes.push(node),
            FrameKind::Map { entries, keys, key } => (entries, keys, key),
        };
        let (name, place) = match std::mem::replace(key, Key::Awaited) {
            Key::Read(name, place) => (name, place),
            Key::Unusable => return,
            Key::Awaited => {
                let place = node.place;
                match node.value {
                    Value::Scalar { text, .. } => *key = Key::Read(text, place),
                    Value::List(_) | Value::Map(_) => {
                        *key = Key::Unusable;
                        self.note(
                            place,
                            "a key must be a single word".into(),
                            "write `key: value`".into(),
                        );
                    }
                }
                return;
            }
        };
        if keys.insert(name.clone()) {
            entries.push(MapEntry {
                key: name,
                place,
                node,
            });
            return;
        }
        let first = entries
            .iter()
            .find(|entry| entry.key == name)
            .map_or(0, |e| e.place.line);
        let what = format!("`{name}` is written twice");
        self.note(
            place,
            what,
            format!("remove one; the first is on line {first}"),
        );
    }

    fn syntax(&mut self, error: &ScanError) -> Result<(), Stop> {
        let marker = error.marker();
        let place = self.shifted(marker.line(), marker.col(), 1);
        let cure = match error.kind() {
            ErrorKind::DirectiveDisallowed => "remove the line that starts with `%`",
            ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => {
                "put values that contain `: ` in quotes, and check the indentation"
            }
            ErrorKind::TabNotAllowed | ErrorKind::TabInBlockIndentation => {
                "indent with spaces, not with tabs"
            }
            _ => "check indentation, brackets and quotes here and in the line before",
        };
        self.note(
            place,
            format!("this is not YAML: {}", error.info()),
            cure.into(),
        );
        Err(Stop)
    }

    fn start(&self) -> SourceLocation {
        self.shifted(1, 0, 1)
    }

    fn place(&self, span: &Span) -> SourceLocation {
        let (start, end) = (span.start, span.end);
        let one_line = start.line() == end.line();
        let width = if one_line {
            end.col().saturating_sub(start.col())
        } else {
            1
        };
        self.shifted(start.line(), start.col(), width)
    }

    /// A place from the parser's line (from 1) and column (from 0).
    fn shifted(&self, line: usize, column: usize, width: usize) -> SourceLocation {
        let shift = if line <= 1 { self.column_shift } else { 0 };
        SourceLocation {
            source: self.source,
            line: line.max(1),
            column: column + 1 + shift,
            width,
        }
    }

    fn note(&mut self, place: SourceLocation, what: String, cure: String) {
        if !self.problems.refuses_more() {
            self.problems
                .add(self.sources.problem(place, "", what, cure));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (Option<YamlNode>, Problems) {
        let mut sources = SourceTexts::default();
        let source = sources.add("t", text);
        let mut problems = Problems::default();
        let node = read(&sources, source, 0, &mut problems);
        (node, problems)
    }

    fn words(text: &str) -> Vec<String> {
        parse(text)
            .1
            .iter()
            .map(|p| format!("{}:{} {}", p.line, p.column, p.what))
            .collect()
    }

    #[test]
    fn everything_knows_its_place() {
        let (node, problems) = parse("a: 1\nb:\n  - {c: \"x y\"}\n");
        assert!(problems.is_empty());
        let node = node.unwrap();
        let b = node.get("b").unwrap();
        let Value::List(list) = &b.value else {
            panic!("{b:?}")
        };
        let c = list[0].get("c").unwrap();
        assert_eq!(
            c.value,
            Value::Scalar {
                text: "x y".into(),
                plain: false
            }
        );
        assert_eq!((c.place.line, c.place.column, c.place.width), (3, 9, 5));
    }

    #[test]
    fn what_can_be_passed_over_is_noted_and_reading_goes_on() {
        let found = words("a: &x 1\nb: *x\nc: !!str 2\na: 3\n? [k]\n: v\nd: *gone\n");
        assert_eq!(
            found,
            [
                "1:7 YAML anchors are not supported",
                "2:4 YAML aliases are not supported",
                "3:10 YAML tags are not supported",
                "4:1 `a` is written twice",
                "5:3 a key must be a single word",
                "7:4 YAML aliases are not supported",
            ]
        );
    }

    #[test]
    fn a_second_document_a_directive_and_broken_syntax_end_the_reading() {
        assert_eq!(
            words("a: 1\n---\nb: 2\n"),
            ["2:1 the file contains a second document"]
        );
        assert!(words("%YAML 1.2\n---\na: 1\n")[0].starts_with("1:1 this is not YAML"));
        assert!(words("a: [1, 2\nb: 3\n")[0].contains("this is not YAML"));
        assert_eq!(words(""), ["1:1 there is no content"]);
        assert_eq!(words("# only a comment\n"), ["1:1 there is no content"]);
    }

    #[test]
    fn hostile_texts_end_soon_and_without_a_crash() {
        let texts = [
            "[".repeat(200_000),
            "{a: ".repeat(60_000),
            "- ".repeat(100_000),
            "? ".repeat(100_000),
            "a: [".to_owned() + &"x,".repeat(100_000),
            "\"".to_owned() + &"\\u0041".repeat(40_000),
            (0..20_000).map(|n| format!("k{n}: 1\n")).collect(),
            "\u{feff}%".repeat(10_000),
            "&a ".repeat(60_000),
            "x".repeat(TEXT_BYTES_MAX + 1),
        ];
        for text in texts {
            let start: String = text.chars().take(10).collect();
            let (node, problems) = parse(&text);
            assert!(node.is_none() && problems.count() >= 1, "{start}");
        }
    }
}
