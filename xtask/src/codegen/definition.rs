//! Kafka's message definitions as they stand in the JSON files.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// One file: a request, a response or a data structure.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Definition {
    pub(super) api_key: Option<i16>,
    pub(super) name: String,
    pub(super) valid_versions: String,
    pub(super) flexible_versions: String,
    pub(super) fields: Vec<FieldDefinition>,
    #[serde(default)]
    pub(super) common_structs: Vec<StructDefinition>,
    #[serde(rename = "type")]
    _kind: IgnoredAny,
    #[serde(default, rename = "listeners")]
    _listeners: IgnoredAny,
    #[serde(default, rename = "latestVersionUnstable")]
    _latest_version_unstable: IgnoredAny,
    #[serde(default, rename = "deprecatedVersions")]
    _deprecated_versions: IgnoredAny,
}

/// A structure that several fields of one message share.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StructDefinition {
    pub(super) name: String,
    pub(super) fields: Vec<FieldDefinition>,
    #[serde(rename = "versions")]
    _versions: IgnoredAny,
}

/// One field. What has no influence on bytes or types is read and dropped.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FieldDefinition {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) versions: String,
    #[serde(default)]
    pub(super) nullable_versions: String,
    #[serde(default)]
    pub(super) tagged_versions: String,
    pub(super) tag: Option<u32>,
    #[serde(default)]
    pub(super) ignorable: bool,
    pub(super) default: Option<Value>,
    pub(super) fields: Option<Vec<FieldDefinition>>,
    #[serde(default, rename = "about")]
    _about: IgnoredAny,
    #[serde(default, rename = "entityType")]
    _entity_type: IgnoredAny,
    #[serde(default, rename = "mapKey")]
    _map_key: IgnoredAny,
    #[serde(default, rename = "zeroCopy")]
    _zero_copy: IgnoredAny,
}

impl Definition {
    /// Reads a file; a release that does not have it is no error.
    pub(super) fn read(path: &Path) -> Result<Option<Self>> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        };
        Self::parse(&text)
            .map(Some)
            .with_context(|| path.display().to_string())
    }

    /// Reads the text of a file.
    pub(super) fn parse(text: &str) -> Result<Self> {
        // By way of a `Value`, where the last of two equal keys counts, as it does for Kafka:
        // DescribeTopicPartitionsRequest has such a pair.
        let value = serde_json::from_str::<Value>(&strip_comments(text))?;
        Ok(serde_json::from_value(value)?)
    }
}

/// Blanks `//` comments to the end of their line, except inside strings.
fn strip_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let mut in_string = false;
        let mut previous = ' ';
        let mut end = line.len();
        for (index, character) in line.char_indices() {
            match character {
                '"' if previous != '\\' => in_string = !in_string,
                '/' if previous == '/' && !in_string => {
                    end = index - 1;
                    break;
                }
                _ => {}
            }
            previous = character;
        }
        out.push_str(&line[..end]);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_and_slashes_in_strings_stay() {
        let text = "// all\n{\"a\": \"http://b\"} // rest\n";
        assert_eq!(strip_comments(text), "\n{\"a\": \"http://b\"} \n");
    }
}
