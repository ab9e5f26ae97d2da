//! The JSON Schema of scenario files, for editors that complete and check while one types.
//!
//! It is looser than the parser: it knows neither paths nor contradictions between parts.

use serde_json::{Map, Value, json};

use super::TABLES;
use crate::keys::{
    CONSUME, DELAY, ECHO, ERROR_NAMES, FROM, KEY, KeyDefault, KeyDefinition, PARTITION_FORMULA,
    PARTITIONER, PRODUCE, REPLAY, ROOT, SHAPE, SIZE, SOURCE, STUDY, ScenarioKeys, TOPIC_CONFIG,
    ValueKind,
};
use crate::vary::{LISTED, ONE_AT_A_TIME};

/// The schema of a scenario file, JSON Schema draft 2020-12.
pub fn schema() -> Value {
    let mut definitions = Map::new();
    for table in TABLES.iter().filter(|table| !is_of_studies(table)) {
        definitions.insert(name(table), object(table));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "kgauge scenario",
        "description": "One question to a Kafka cluster. The guide explains every key.",
        "$ref": reference(&ROOT),
        "$defs": definitions,
    })
}

/// A study's own file is another kind of file.
fn is_of_studies(table: &ScenarioKeys) -> bool {
    [STUDY.name, SOURCE.name, PARTITION_FORMULA.name].contains(&table.name)
}

fn name(table: &ScenarioKeys) -> String {
    table.name.to_lowercase().replace(' ', "-")
}

fn reference(table: &ScenarioKeys) -> String {
    format!("#/$defs/{}", name(table))
}

fn object(table: &ScenarioKeys) -> Value {
    let mut properties = Map::new();
    for key in table.keys {
        properties.insert(key.name.to_owned(), property(key));
    }
    let required: Vec<&str> = table
        .keys
        .iter()
        .filter(|key| matches!(key.given, KeyDefault::Required))
        .map(|key| key.name)
        .collect();
    let mut object = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    if is_one_of(table) {
        object["minProperties"] = json!(1);
        object["maxProperties"] = json!(1);
    }
    object
}

/// Tables in which the keys exclude each other.
fn is_one_of(table: &ScenarioKeys) -> bool {
    let tables = [&SHAPE, &REPLAY, &SIZE, &KEY, &FROM, &PARTITIONER];
    tables.iter().any(|one| one.name == table.name)
}

fn property(key: &KeyDefinition) -> Value {
    let mut value = value(key.kind);
    value["description"] = json!(key.note);
    if let KeyDefault::Default(text) = key.given {
        value["default"] = literal(text);
    }
    value
}

/// A default as YAML would read it.
fn literal(text: &str) -> Value {
    serde_json::from_str(text)
        .ok()
        .filter(|value: &Value| value.is_number() || value.is_boolean())
        .unwrap_or_else(|| json!(text))
}

/// A number as it stands before a unit.
const NUMBER: &str = r"[0-9][0-9_]*(\.[0-9_]+)?";

fn text(pattern: String) -> Value {
    json!({"type": "string", "pattern": pattern})
}

fn any_of(schemas: Vec<Value>) -> Value {
    json!({"anyOf": schemas})
}

/// Paths with values, and the two groups of other kinds.
fn vary() -> Value {
    let values = json!({"type": "array", "minItems": 1});
    json!({
        "type": "object",
        "properties": {
            ONE_AT_A_TIME: {"type": "object", "additionalProperties": values},
            LISTED: {
                "type": "array",
                "minItems": 1,
                "items": {"type": "object", "required": ["name"], "properties": {"name": value(ValueKind::Name)}},
            },
        },
        "additionalProperties": values,
    })
}

/// One of some words, or what stands in a table.
fn words_or(words: &[&str], table: &ScenarioKeys) -> Value {
    any_of(vec![
        json!({"enum": words}),
        json!({"$ref": reference(table)}),
    ])
}

fn part() -> Value {
    any_of(vec![
        json!({"type": "number", "minimum": 0, "maximum": 1}),
        text(format!("^{NUMBER} ?%$")),
    ])
}

fn bytes_a_second() -> Value {
    text(format!(
        "^{NUMBER} ?(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB) ?/ ?(s|min|h)$"
    ))
}

fn quantiles() -> Value {
    json!({
        "type": "object",
        "propertyNames": {"pattern": r"^p[0-9]+(\.[0-9]+)?$"},
        "additionalProperties": text(format!("^{NUMBER} ?(ns|us|µs|ms|s|min|h)$")),
    })
}

fn value(kind: ValueKind) -> Value {
    let count = || text(format!("^{NUMBER}[kMG]?$"));
    let size = || text(format!("^{NUMBER} ?(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)$"));
    let time = || text(format!("^{NUMBER} ?(ns|us|µs|ms|s|min|h)$"));
    let rate = || text(format!("^{NUMBER}[kMG]?( ?records)? ?/ ?(s|min|h)$"));
    let signed_time = || text(format!("^-? ?{NUMBER} ?(ns|us|µs|ms|s|min|h)$"));
    let whole = || json!({"type": "integer"});
    let node =
        |words: &[&str]| json!({"anyOf": [{"type": "integer", "minimum": 1}, {"enum": words}]});
    match kind {
        ValueKind::Name => text("^[a-z][a-z0-9-]{0,63}$".into()),
        ValueKind::FlagOrName => any_of(vec![json!({"type": "boolean"}), value(ValueKind::Name)]),
        ValueKind::Text => json!({"type": ["string", "number"]}),
        ValueKind::Count => any_of(vec![whole(), count()]),
        ValueKind::Size => size(),
        ValueKind::Time => time(),
        ValueKind::TimeOrNone => any_of(vec![json!({"const": "none"}), time()]),
        ValueKind::CountOrVolume => any_of(vec![whole(), count(), size()]),
        ValueKind::CountOrTime => any_of(vec![whole(), count(), time()]),
        ValueKind::CountOrAll => any_of(vec![json!({"const": "all"}), whole(), count()]),
        ValueKind::Flag => json!({"type": "boolean"}),
        ValueKind::Choice(choices) => {
            json!({"enum": choices.iter().map(|choice| literal(choice)).collect::<Vec<_>>()})
        }
        ValueKind::Shape => words_or(&["max"], &SHAPE),
        ValueKind::Rate => rate(),
        ValueKind::Either(words, table) => words_or(words, table),
        ValueKind::SizeOr(table) => any_of(vec![size(), json!({"$ref": reference(table)})]),
        ValueKind::File => json!({"type": "string"}),
        ValueKind::FileOr(table) => any_of(vec![
            json!({"type": "string"}),
            json!({"$ref": reference(table)}),
        ]),
        ValueKind::Number => json!({"type": "number", "minimum": 0}),
        ValueKind::Part => part(),
        ValueKind::KafkaBytes => any_of(vec![whole(), size()]),
        ValueKind::KafkaTime => any_of(vec![whole(), time()]),
        ValueKind::KafkaNumber => whole(),
        ValueKind::Map(table) => json!({"$ref": reference(table)}),
        ValueKind::List(table) => list(json!({"$ref": reference(table)})),
        ValueKind::Flows => list(flow()),
        ValueKind::Paths => json!({"type": "object"}),
        ValueKind::Vary => vary(),
        ValueKind::TopicConfig => {
            json!({"type": "object", "propertyNames": {"enum": TOPIC_CONFIG}})
        }
        ValueKind::BrokerConfig | ValueKind::MirrorSettings => json!({"type": "object"}),
        ValueKind::Texts => list(json!({"type": "string"})),
        ValueKind::Moment => any_of(vec![json!({"const": "start"}), signed_time()]),
        ValueKind::SignedTime => signed_time(),
        ValueKind::FaultNode => node(&["leader", "follower", "random", "all"]),
        ValueKind::CutEnd => node(&["nodes", "controller", "others"]),
        ValueKind::True => json!({"const": true}),
        ValueKind::SizeOrTrue => any_of(vec![json!({"const": true}), size()]),
        ValueKind::Delay => any_of(vec![time(), json!({"$ref": reference(&DELAY)})]),
        ValueKind::Capacity => any_of(vec![rate(), bytes_a_second()]),
        ValueKind::ErrorName => json!({"enum": ERROR_NAMES}),
        ValueKind::Times => json!({"type": "array", "minItems": 2, "maxItems": 2, "items": time()}),
        ValueKind::Quantiles => quantiles(),
    }
}

fn list(items: Value) -> Value {
    json!({"type": "array", "minItems": 1, "items": items})
}

/// The kind decides which table a flow follows, so that an editor names the right keys.
fn flow() -> Value {
    let is = |kind: &str| json!({"properties": {"kind": {"const": kind}}});
    json!({
        "type": "object",
        "required": ["name", "kind"],
        "if": is("consume"),
        "then": {"$ref": reference(&CONSUME)},
        "else": {
            "if": is("echo"),
            "then": {"$ref": reference(&ECHO)},
            "else": {"$ref": reference(&PRODUCE)},
        },
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// `KGAUGE_UPDATE_GOLDEN=1` writes the schema.
    #[test]
    fn the_published_schema_is_made_of_the_parsers_own_tables() {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("../../docs/schema/scenario.schema.json");
        let now = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
        if std::env::var_os("KGAUGE_UPDATE_GOLDEN").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &now).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap();
        assert!(
            written == now,
            "docs/schema/scenario.schema.json is out of date"
        );
    }
}
