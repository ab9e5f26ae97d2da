//! The key tables as reference: Markdown for the guide, JSON Schema for editors.

mod schema;

pub use schema::schema;

use crate::key_definition::{KeyDefault, KeyDefinition, ScenarioKeys, ValueForm};
use crate::keys::scenario::WrittenScenario;
use crate::keys::study::WrittenStudy;
use crate::reader::KeyMap;

/// The names of the tables and their Markdown, as the guide shows them.
pub fn tables() -> Vec<(&'static str, String)> {
    let mut tables = tables_from(WrittenScenario::KEYS);
    for table in tables_from(WrittenStudy::KEYS) {
        if tables.iter().all(|known| known.name != table.name) {
            tables.push(table);
        }
    }
    let shown = tables
        .into_iter()
        .map(|table| (table.name, markdown(table)));
    shown.collect()
}

/// A table and every table that it leads to.
fn tables_from(root: &'static ScenarioKeys) -> Vec<&'static ScenarioKeys> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(table) = found.get(next) {
        next += 1;
        let maps = table.keys().flat_map(|key| maps_in((key.form)()));
        for map in maps.collect::<Vec<_>>() {
            if found.iter().all(|known| known.name != map.name) {
                found.push(map);
            }
        }
    }
    found
}

fn maps_in(form: ValueForm) -> Vec<&'static ScenarioKeys> {
    match form {
        ValueForm::Map(table) => vec![table],
        ValueForm::Flows(tables) => tables.to_vec(),
        ValueForm::List(form) => maps_in(*form),
        ValueForm::Any(forms) => forms.into_iter().flat_map(maps_in).collect(),
        _ => Vec::new(),
    }
}

fn markdown(table: &ScenarioKeys) -> String {
    let mut text = String::from("| key | value | default | description |\n|---|---|---|---|\n");
    for key in table.keys() {
        text.push_str(&row(key));
    }
    if !table.refused.is_empty() {
        text.push_str("\nRefused by name:\n\n");
    }
    for refusal in table.refused {
        text.push_str(&format!("* {}: {}.\n", quoted(refusal.names), refusal.why));
    }
    text
}

fn row(key: &KeyDefinition) -> String {
    let default = match key.default {
        KeyDefault::Required => "required".to_owned(),
        KeyDefault::Default(text) => format!("`{text}`"),
        KeyDefault::Empty => "all defaults".to_owned(),
        KeyDefault::Optional(meaning) => meaning.to_owned(),
    };
    let (name, form, note) = (key.name, words((key.form)()), key.note());
    format!("| `{name}` | {form} | {default} | {note} |\n")
}

fn quoted(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn link(table: &ScenarioKeys) -> String {
    let name = table.name.to_lowercase();
    format!("[{name}](#{})", name.replace(' ', "-"))
}

/// Describes how a value is written.
fn words(form: ValueForm) -> String {
    let text = match form {
        ValueForm::Name => "name",
        ValueForm::Text => "text",
        ValueForm::Count => "count",
        ValueForm::Size => "size",
        ValueForm::Time => "time",
        ValueForm::SignedTime => "time, also negative",
        ValueForm::Flag => "`true`, `false`",
        ValueForm::Words(names) => return quoted(&names),
        ValueForm::Number | ValueForm::KafkaNumber | ValueForm::NodeNumber => "number",
        ValueForm::Fraction => "0 to 1, or a percentage",
        ValueForm::Rate => "rate",
        ValueForm::ByteRate => "rate of bytes",
        ValueForm::File => "file",
        ValueForm::KafkaBytes => "bytes",
        ValueForm::KafkaTime => "ms",
        ValueForm::Map(table) => return link(table),
        ValueForm::List(form) => match *form {
            ValueForm::Map(table) => return format!("list of {}", link(table)),
            _ => "list of texts",
        },
        ValueForm::Flows([produce, consume, echo]) => {
            let (produce, consume, echo) = (link(produce), link(consume), link(echo));
            return format!("list of {produce}s, {consume}s and {echo}s");
        }
        ValueForm::Paths => "[paths](#paths) with values",
        ValueForm::Vary => "[paths](#paths) with lists of values, or [more](#vary)",
        ValueForm::Settings(name, _) => name,
        ValueForm::ErrorName(_) => "name of a Kafka error",
        ValueForm::Times => "list of two times",
        ValueForm::Quantiles => "`p0` to `p100` with times",
        ValueForm::Any(forms) => {
            let forms: Vec<String> = forms.into_iter().map(words).collect();
            return forms.join(" or ");
        }
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::keys::consumer::ConsumerMap;
    use crate::keys::producer::ProducerSettings;

    fn guide() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/scenario.md")
    }

    /// The guide with every table between its marks as it is now.
    fn renewed(guide: &str) -> String {
        let mut renewed = guide.to_owned();
        for (name, table) in tables() {
            let start_mark = format!("<!-- keys: {name} -->\n");
            let end_mark = "<!-- end of keys -->";
            let start = renewed
                .find(&start_mark)
                .unwrap_or_else(|| panic!("no keys of {name}"));
            let start = start + start_mark.len();
            let end = start
                + renewed[start..]
                    .find(end_mark)
                    .expect("every table has an end");
            renewed.replace_range(start..end, &format!("\n{table}\n"));
        }
        renewed
    }

    /// `KGAUGE_UPDATE_GOLDEN=1` puts the tables into the guide.
    #[test]
    fn the_guide_shows_the_parsers_own_tables() {
        let written = std::fs::read_to_string(guide()).unwrap();
        let renewed = renewed(&written);
        if std::env::var_os("KGAUGE_UPDATE_GOLDEN").is_some() {
            std::fs::write(guide(), &renewed).unwrap();
        } else {
            assert!(written == renewed, "docs/guide/scenario.md is out of date");
        }
    }

    #[test]
    fn the_guides_examples_are_scenarios() {
        let guide = std::fs::read_to_string(guide()).unwrap();
        let mut count = 0;
        for block in guide.split("```yaml\n").skip(1) {
            let text = block.split("```").next().unwrap();
            if !text.starts_with("kgauge: 1\n") || text.contains("\ntitle:") {
                continue;
            }
            count += 1;
            if let Err(problems) = crate::Scenario::parse("the guide", text) {
                panic!("{problems}");
            }
        }
        assert!(count >= 2);
    }

    #[test]
    fn every_link_between_tables_leads_to_a_heading() {
        let guide = std::fs::read_to_string(guide()).unwrap();
        let anchors: Vec<String> = guide
            .lines()
            .filter_map(|line| line.strip_prefix("##"))
            .map(|line| {
                line.trim_matches(['#', ' '])
                    .to_lowercase()
                    .replace(' ', "-")
            })
            .collect();
        for link in guide.split("](#").skip(1) {
            let anchor = link.split(')').next().unwrap();
            assert!(
                anchors.iter().any(|other| other == anchor),
                "#{anchor} is not a heading"
            );
        }
    }

    #[test]
    fn every_setting_that_kafka_documents_is_honoured_or_refused() {
        // As `ProducerConfig` and `ConsumerConfig` of kafka-clients 4.3.1 print themselves.
        let producer = include_str!("../../tests/kafka-producer-settings.txt");
        let consumer = include_str!("../../tests/kafka-consumer-settings.txt");
        for (table, settings) in [
            (ProducerSettings::KEYS, producer),
            (ConsumerMap::KEYS, consumer),
        ] {
            for line in settings.lines() {
                let (name, default) = line.split_once('\t').unwrap();
                match table.key(name).map(|key| key.default) {
                    Some(KeyDefault::Default(ours)) => assert_eq!(ours, default, "{name}"),
                    Some(_) => {}
                    None => assert!(table.refusal(name).is_some(), "{name} is not known"),
                }
            }
            for key in table.keys() {
                let is_kafkas = settings.lines().any(|line| line.starts_with(key.name));
                assert!(
                    is_kafkas || key.name == "partitioner",
                    "{} is not Kafka's",
                    key.name
                );
            }
        }
    }
}
