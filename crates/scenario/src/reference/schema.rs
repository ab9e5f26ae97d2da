//! The JSON Schema of scenario files, for editors that complete and check while one types.
//!
//! It is looser than the parser: it knows neither paths nor contradictions between parts.

use serde_json::{Map, Value, json};

use super::tables_from;
use crate::key_definition::{KeyDefault, KeyDefinition, ScenarioKeys, ValueForm};
use crate::keys::scenario::WrittenScenario;
use crate::reader::KeyMap;
use crate::vary::{LISTED, ONE_AT_A_TIME};

/// The schema of a scenario file, JSON Schema draft 2020-12.
pub fn schema() -> Value {
    let mut definitions = Map::new();
    for table in tables_from(WrittenScenario::KEYS) {
        definitions.insert(name(table), object(table));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "kgauge scenario",
        "description": "One question to a Kafka cluster. The guide explains every key.",
        "$ref": reference(WrittenScenario::KEYS),
        "$defs": definitions,
    })
}

fn name(table: &ScenarioKeys) -> String {
    table.name.to_lowercase().replace(' ', "-")
}

fn reference(table: &ScenarioKeys) -> String {
    format!("#/$defs/{}", name(table))
}

fn object(table: &ScenarioKeys) -> Value {
    let mut properties = Map::new();
    for key in table.keys() {
        properties.insert(key.name.to_owned(), property(key));
    }
    let required: Vec<&str> = table
        .keys()
        .filter(|key| matches!(key.default, KeyDefault::Required))
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
    if table.is_one_of {
        object["minProperties"] = json!(1);
        object["maxProperties"] = json!(1);
    }
    object
}

fn property(key: &KeyDefinition) -> Value {
    let mut value = value((key.form)());
    value["description"] = json!(key.note());
    if let KeyDefault::Default(text) = key.default {
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

/// A number before a unit.
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
                "items": {"type": "object", "required": ["name"], "properties": {"name": value(ValueForm::Name)}},
            },
        },
        "additionalProperties": values,
    })
}

fn time(sign: &str) -> Value {
    text(format!("^{sign}{NUMBER} ?(ns|us|µs|ms|s|min|h)$"))
}

fn value(form: ValueForm) -> Value {
    const SIZES: &str = "(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)";
    let count = || text(format!("^{NUMBER}[kMG]?$"));
    let size = || text(format!("^{NUMBER} ?{SIZES}$"));
    let whole = || json!({"type": "integer"});
    match form {
        ValueForm::Name => text("^[a-z][a-z0-9-]{0,63}$".into()),
        ValueForm::Text => json!({"type": ["string", "number"]}),
        ValueForm::Count => any_of(vec![whole(), count()]),
        ValueForm::Size => size(),
        ValueForm::Time => time(""),
        ValueForm::SignedTime => time("-? ?"),
        ValueForm::Flag => json!({"type": "boolean"}),
        ValueForm::Words(names) => {
            json!({"enum": names.iter().map(|name| literal(name)).collect::<Vec<_>>()})
        }
        ValueForm::Number => json!({"type": "number", "minimum": 0}),
        ValueForm::Fraction => any_of(vec![
            json!({"type": "number", "minimum": 0, "maximum": 1}),
            text(format!("^{NUMBER} ?%$")),
        ]),
        ValueForm::Rate => text(format!("^{NUMBER}[kMG]?( ?records)? ?/ ?(s|min|h)$")),
        ValueForm::ByteRate => text(format!("^{NUMBER} ?{SIZES} ?/ ?(s|min|h)$")),
        ValueForm::File => json!({"type": "string"}),
        ValueForm::KafkaBytes => any_of(vec![whole(), size()]),
        ValueForm::KafkaTime => any_of(vec![whole(), time("")]),
        ValueForm::KafkaNumber => whole(),
        ValueForm::NodeNumber => json!({"type": "integer", "minimum": 1}),
        ValueForm::Map(table) => json!({"$ref": reference(table)}),
        ValueForm::List(form) => match *form {
            ValueForm::Map(_) => list(value(*form)),
            _ => list(json!({"type": "string"})),
        },
        ValueForm::Flows(tables) => list(flow(tables)),
        ValueForm::Paths | ValueForm::Settings(_, []) => json!({"type": "object"}),
        ValueForm::Vary => vary(),
        ValueForm::Settings(_, known) => {
            json!({"type": "object", "propertyNames": {"enum": known}})
        }
        ValueForm::ErrorName(names) => json!({"enum": names}),
        ValueForm::Times => {
            json!({"type": "array", "minItems": 2, "maxItems": 2, "items": time("")})
        }
        ValueForm::Quantiles => json!({
            "type": "object",
            "propertyNames": {"pattern": r"^p[0-9]+(\.[0-9]+)?$"},
            "additionalProperties": time(""),
        }),
        ValueForm::Any(forms) => any_of(forms.into_iter().map(value).collect()),
    }
}

fn list(items: Value) -> Value {
    json!({"type": "array", "minItems": 1, "items": items})
}

/// The kind decides which table a flow follows, so that an editor names the right keys.
fn flow([produce, consume, echo]: [&ScenarioKeys; 3]) -> Value {
    let is = |kind: &str| json!({"properties": {"kind": {"const": kind}}});
    json!({
        "type": "object",
        "required": ["name", "kind"],
        "if": is("consume"),
        "then": {"$ref": reference(consume)},
        "else": {
            "if": is("echo"),
            "then": {"$ref": reference(echo)},
            "else": {"$ref": reference(produce)},
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
