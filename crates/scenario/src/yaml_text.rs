//! From a tree to YAML text: a line for each key, a block for each flow, and one line for all that is in them.

use std::fmt::Write as _;

use crate::tree::{Value, YamlNode};

/// A scenario's text.
pub(crate) fn scenario_text(tree: &YamlNode) -> String {
    let mut text = String::new();
    let Value::Map(entries) = &tree.value else {
        return text;
    };
    for entry in entries {
        let key = quoted(&entry.key);
        match &entry.node.value {
            Value::List(items) if !items.is_empty() => {
                let _ = writeln!(text, "{key}:");
                items.iter().for_each(|item| write_item(&mut text, item));
            }
            _ => {
                let _ = writeln!(text, "{key}: {}", in_line(&entry.node));
            }
        }
    }
    text
}

fn write_item(text: &mut String, item: &YamlNode) {
    let mut indent = "  - ";
    match &item.value {
        Value::Map(entries) if !entries.is_empty() => {
            for entry in entries {
                let (key, value) = (quoted(&entry.key), in_line(&entry.node));
                let _ = writeln!(text, "{indent}{key}: {value}");
                indent = "    ";
            }
        }
        _ => {
            let _ = writeln!(text, "{indent}{}", in_line(item));
        }
    }
}

fn in_line(node: &YamlNode) -> String {
    match &node.value {
        Value::Scalar { .. } if node.is_nothing() => "null".to_owned(),
        Value::Scalar { text, .. } => quoted(text),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(in_line).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(entries) => {
            let entries = entries.iter();
            let entries =
                entries.map(|one| format!("{}: {}", quoted(&one.key), in_line(&one.node)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A scalar anywhere in YAML: in quotes if it could be read as anything but a text.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " .<>=%/-?_".contains(letter);
    let is_text = text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && !text.ends_with(' ')
        && !text.eq_ignore_ascii_case("null");
    match is_text && text.chars().all(is_plain) {
        true => text.to_owned(),
        // JSON's quotes and escapes are also YAML's.
        false => serde_json::Value::from(text).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Problems, SourceTexts};
    use crate::tree::read;

    fn tree(text: &str) -> YamlNode {
        let mut sources = SourceTexts::default();
        let source = sources.add("test", text);
        let mut problems = Problems::default();
        let tree = read(&sources, source, 0, &mut problems);
        tree.unwrap_or_else(|| panic!("{text}\n{problems}"))
    }

    #[test]
    fn a_scenario_is_written_as_people_write_it() {
        let text = "name: a\ntopic: {partitions: 6, config: {}}\nflows:\n  - name: writers\n    shape: {constant: \
                    10k/s}\n    settings: {linger.ms: 20}\ngoals:\n  - w.latency.p99 <= 20 ms\nfinds: []\n";
        assert_eq!(scenario_text(&tree(text)), text);
    }

    #[test]
    fn what_yaml_could_read_otherwise_is_quoted() {
        for text in [
            "", "null", "-1", "a: b", "a, b", "{a", "a # b", "it's", "\"a\"", "a\nb", "a ", "é",
        ] {
            let written = format!("key: {{a: {}}}\n", quoted(text));
            let node = tree(&written);
            let read = node.get("key").and_then(|key| key.get("a")).unwrap();
            assert_eq!(read.as_text(), Some(text), "{written}");
            assert!(!read.is_nothing(), "{written}");
            assert_eq!(scenario_text(&node), written);
        }
        assert_eq!(quoted("stages.warm-up"), "stages.warm-up");
        assert_eq!(quoted("64 KiB"), "64 KiB");
        assert_eq!(in_line(&tree("~")), "null");
    }
}
