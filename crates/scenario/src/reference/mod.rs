//! The key tables as reference: Markdown for the guide, JSON Schema for editors.

mod schema;

pub use schema::schema;

use crate::keys::{
    AUDIT, BURST, CONSUME, CONSUMER_SETTINGS, CUT, DELAY, DRIVER, ECHO, FAULT, FROM, HEADERS, KEY,
    KEY_SEQUENCE, KEY_UNIFORM, KEY_ZIPF, KeyDefault, KeyDefinition, MIRROR, PARTITION_FORMULA,
    PARTITIONER, PRELOAD, PRODUCE, PRODUCER_SETTINGS, PUBLISHED, RAMP, RECORD, RECORD_FILE, REPLAY,
    ROOT, SHAPE, SIZE, SIZE_LOGNORMAL, SIZE_NORMAL, SIZE_UNIFORM, SIZE_WEIGHTED, SIZES, SOURCE,
    STAGES, STEP, STUDY, ScenarioKeys, TARGET, TOPIC, ValueKind, WAVE,
};

/// Every table, in the order of the guide.
static TABLES: &[&ScenarioKeys] = &[
    &ROOT,
    &TARGET,
    &MIRROR,
    &TOPIC,
    &PRELOAD,
    &RECORD,
    &SIZE,
    &SIZE_UNIFORM,
    &SIZE_NORMAL,
    &SIZE_LOGNORMAL,
    &SIZE_WEIGHTED,
    &KEY,
    &KEY_UNIFORM,
    &KEY_ZIPF,
    &KEY_SEQUENCE,
    &HEADERS,
    &RECORD_FILE,
    &PRODUCE,
    &DRIVER,
    &SHAPE,
    &RAMP,
    &STEP,
    &WAVE,
    &BURST,
    &REPLAY,
    &CONSUME,
    &FROM,
    &ECHO,
    &STAGES,
    &FAULT,
    &CUT,
    &DELAY,
    &SIZES,
    &PUBLISHED,
    &PRODUCER_SETTINGS,
    &PARTITIONER,
    &CONSUMER_SETTINGS,
    &STUDY,
    &AUDIT,
    &PARTITION_FORMULA,
    &SOURCE,
];

/// The names of the tables and their Markdown, as the guide shows them.
pub fn tables() -> Vec<(&'static str, String)> {
    TABLES
        .iter()
        .map(|table| (table.name, markdown(table)))
        .collect()
}

fn markdown(table: &ScenarioKeys) -> String {
    let mut text = String::from("| key | value | default | description |\n|---|---|---|---|\n");
    for key in table.keys {
        text.push_str(&row(key));
    }
    if !table.refused.is_empty() {
        text.push_str("\nRefused by name:\n\n");
    }
    for refusal in table.refused {
        let names: Vec<String> = refusal
            .names
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        text.push_str(&format!("* {}: {}.\n", names.join(", "), refusal.why));
    }
    text
}

fn row(key: &KeyDefinition) -> String {
    let default = match key.given {
        KeyDefault::Required => "required".to_owned(),
        KeyDefault::Default(text) => format!("`{text}`"),
        KeyDefault::Empty => "all defaults".to_owned(),
        KeyDefault::Optional(meaning) => meaning.to_owned(),
    };
    format!(
        "| `{}` | {} | {default} | {} |\n",
        key.name,
        words(key.kind),
        key.note
    )
}

/// Describes how a value is written.
fn words(kind: ValueKind) -> String {
    let link = |table: &ScenarioKeys| {
        format!(
            "[{}](#{})",
            table.name.to_lowercase(),
            table.name.to_lowercase().replace(' ', "-")
        )
    };
    match kind {
        ValueKind::Name => "name".into(),
        ValueKind::FlagOrName => "`true`, `false` or a name".into(),
        ValueKind::Text => "text".into(),
        ValueKind::Count => "count".into(),
        ValueKind::Size => "size".into(),
        ValueKind::Time => "time".into(),
        ValueKind::TimeOrNone => "time or `none`".into(),
        ValueKind::CountOrVolume => "count or size".into(),
        ValueKind::CountOrTime => "count or time".into(),
        ValueKind::CountOrAll => "count or `all`".into(),
        ValueKind::Flag => "`true`, `false`".into(),
        ValueKind::Choice(choices) => {
            let choices: Vec<String> = choices.iter().map(|one| format!("`{one}`")).collect();
            choices.join(", ")
        }
        ValueKind::Shape => format!("`max` or {}", link(&SHAPE)),
        ValueKind::Rate => "rate".into(),
        ValueKind::Either(choices, table) => {
            let choices: Vec<String> = choices.iter().map(|one| format!("`{one}`")).collect();
            format!("{} or {}", choices.join(", "), link(table))
        }
        ValueKind::SizeOr(table) => format!("size, or {}", link(table)),
        ValueKind::File => "file".into(),
        ValueKind::FileOr(table) => format!("file, or {}", link(table)),
        ValueKind::Number => "number".into(),
        ValueKind::Part => "0 to 1, or a percentage".into(),
        ValueKind::KafkaBytes => "bytes".into(),
        ValueKind::KafkaTime => "ms".into(),
        ValueKind::KafkaNumber => "number".into(),
        ValueKind::Map(table) => link(table),
        ValueKind::List(table) => format!("list of {}", link(table)),
        ValueKind::Flows => format!(
            "list of {}s, {}s and {}s",
            link(&PRODUCE),
            link(&CONSUME),
            link(&ECHO)
        ),
        ValueKind::Paths => "[paths](#paths) with values".into(),
        ValueKind::Vary => "[paths](#paths) with lists of values, or [more](#vary)".into(),
        ValueKind::TopicConfig => "Kafka's topic settings".into(),
        ValueKind::BrokerConfig => "Kafka's broker settings".into(),
        ValueKind::MirrorSettings => "properties of MirrorMaker 2".into(),
        ValueKind::Texts => "list of texts".into(),
        ValueKind::Moment => "time, also negative, or `start`".into(),
        ValueKind::SignedTime => "time, also negative".into(),
        ValueKind::FaultNode => "number, `leader`, `follower`, `random`, `all`".into(),
        ValueKind::CutEnd => "number, `nodes`, `controller`, `others`".into(),
        ValueKind::True => "`true`".into(),
        ValueKind::SizeOrTrue => "size or `true`".into(),
        ValueKind::Delay => format!("time or {}", link(&DELAY)),
        ValueKind::Capacity => "rate of bytes or records".into(),
        ValueKind::ErrorName => "name of a Kafka error".into(),
        ValueKind::Times => "list of two times".into(),
        ValueKind::Quantiles => "`p0` to `p100` with times".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

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
            (&PRODUCER_SETTINGS, producer),
            (&CONSUMER_SETTINGS, consumer),
        ] {
            for line in settings.lines() {
                let (name, default) = line.split_once('\t').unwrap();
                match table.key(name).map(|key| key.given) {
                    Some(KeyDefault::Default(ours)) => assert_eq!(ours, default, "{name}"),
                    Some(_) => {}
                    None => assert!(table.refusal(name).is_some(), "{name} is not known"),
                }
            }
            for key in table.keys {
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
