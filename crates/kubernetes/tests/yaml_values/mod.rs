//! Reads YAML documents as JSON values, as Kubernetes and compose do: plain scalars have types, aliases and merge keys
//! are resolved.

use std::collections::BTreeMap;

use granit_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

/// All documents that have content.
pub(crate) fn read(text: &str) -> Vec<Value> {
    let mut reader = Reader {
        events: Vec::new(),
        anchors: BTreeMap::new(),
    };
    for event in Parser::new_from_str(text) {
        let (event, _) = event.unwrap_or_else(|error| panic!("{error}\n{text}"));
        if !matches!(event, Event::Comment(..)) {
            reader.events.push(event);
        }
    }
    reader.events.reverse();
    let mut documents = Vec::new();
    while let Some(event) = reader.events.pop() {
        if matches!(event, Event::DocumentStart(..)) {
            documents.push(reader.node());
        }
    }
    documents.retain(|document| !document.is_null());
    documents
}

struct Reader<'a> {
    /// The next one is the last.
    events: Vec<Event<'a>>,
    anchors: BTreeMap<usize, Value>,
}

impl Reader<'_> {
    fn node(&mut self) -> Value {
        let (value, anchor) = match self.events.pop().unwrap() {
            Event::Scalar(text, ScalarStyle::Plain, anchor, _) => (typed(&text), anchor),
            Event::Scalar(text, _, anchor, _) => (Value::String(text.into_owned()), anchor),
            Event::SequenceStart(_, anchor, _) => {
                let mut items = Vec::new();
                while !matches!(self.events.last(), Some(Event::SequenceEnd)) {
                    items.push(self.node());
                }
                self.events.pop();
                (Value::Array(items), anchor)
            }
            Event::MappingStart(_, anchor, _) => (self.map(), anchor),
            Event::Alias(anchor) => (self.anchors[&anchor].clone(), 0),
            Event::DocumentEnd => (Value::Null, 0),
            other => panic!("{other:?}"),
        };
        self.anchors.insert(anchor, value.clone());
        value
    }

    fn map(&mut self) -> Value {
        let (mut own, mut merged) = (Map::new(), Map::new());
        while !matches!(self.events.last(), Some(Event::MappingEnd)) {
            let key = match self.node() {
                Value::String(key) => key,
                other => other.to_string(),
            };
            match (key.as_str(), self.node()) {
                ("<<", Value::Object(base)) => merged.extend(base),
                (_, value) => assert!(own.insert(key.clone(), value).is_none(), "{key} is twice"),
            }
        }
        self.events.pop();
        merged.extend(own);
        Value::Object(merged)
    }
}

/// The core schema of YAML 1.2.
fn typed(text: &str) -> Value {
    match text {
        "" | "~" | "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(number), _) => Value::Number(number.into()),
            (Err(_), Ok(number)) => {
                Number::from_f64(number).map_or_else(|| text.into(), Value::Number)
            }
            _ => text.into(),
        },
    }
}
