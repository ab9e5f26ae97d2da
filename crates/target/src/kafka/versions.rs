//! The available releases, and the Java that each needs.

use std::fs;
use std::path::PathBuf;

use serde::Serialize;

use super::fetch::{cached, is_cached};
use super::java;
use super::release::{CHECKED, Coordination, KafkaDistribution};
use super::setup::KafkaSetup;
use super::version::Version;

/// A release that is known or in the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReleaseFacts {
    /// Its number.
    pub version: String,
    /// Whether kgauge is tested with it.
    pub checked: bool,
    /// `zookeeper` or `kraft`.
    pub coordination: String,
    /// The required Java, as text.
    pub java: String,
    /// Whether the Java that was found is suitable; `None` without Java.
    pub java_fits: Option<bool>,
    /// Its folder in the cache, if it is there.
    pub cached: Option<PathBuf>,
    /// Its size there in bytes.
    pub cached_bytes: Option<u64>,
}

/// All checked releases and all in the cache, oldest first; and the Java that was found, as text.
pub fn versions(setup: &KafkaSetup) -> (Vec<ReleaseFacts>, String) {
    let found = java::find(setup);
    let words = match &found {
        Ok(java) => format!("Java {} ({})", java.version, java.path.display()),
        Err(error) => error.to_string(),
    };
    let mut known: Vec<Version> = CHECKED
        .iter()
        .filter_map(|text| text.parse().ok())
        .collect();
    let entries = fs::read_dir(setup.cache_dir.join("kafka"));
    let names = entries.into_iter().flatten().filter_map(Result::ok);
    known.extend(names.filter_map(|entry| entry.file_name().to_str()?.parse::<Version>().ok()));
    known.sort();
    known.dedup();
    let facts = |version: Version| {
        let release = KafkaDistribution::of(&version);
        let dir = is_cached(setup, &release).then(|| cached(setup, &version));
        let java_fits = found
            .as_ref()
            .ok()
            .map(|java| java::check(java, &release).is_ok());
        ReleaseFacts {
            version: version.to_string(),
            checked: release.checked,
            coordination: match release.coordination {
                Coordination::ZooKeeper => "zookeeper",
                Coordination::KRaft => "kraft",
            }
            .to_owned(),
            java: release.java_range(),
            java_fits,
            cached_bytes: dir.as_ref().map(|dir| size(&dir.join("libs"))),
            cached: dir,
        }
    };
    let is_worth_a_line = |facts: &ReleaseFacts| facts.checked || facts.cached.is_some();
    let rows = known
        .into_iter()
        .map(facts)
        .filter(is_worth_a_line)
        .collect();
    (rows, words)
}

/// Releases as a table for a terminal, and below it the Java that was found.
pub fn release_table(rows: &[ReleaseFacts], java: &str) -> String {
    let mut text = format!(
        "{:<10} {:<8} {:<10} {:<13} cache\n",
        "release", "checked", "mode", "Java"
    );
    for row in rows {
        let checked = if row.checked { "yes" } else { "no" };
        let java = match row.java_fits {
            Some(false) => format!("{} !", row.java),
            _ => row.java.clone(),
        };
        let cache = match (&row.cached, row.cached_bytes) {
            (Some(dir), Some(bytes)) => format!("{} MB in {}", bytes / 1_000_000, dir.display()),
            _ => "-".to_owned(),
        };
        text.push_str(&format!(
            "{:<10} {checked:<8} {:<10} {java:<13} {cache}\n",
            row.version, row.coordination
        ));
    }
    text.push_str(&format!(
        "\n{java}\nOther releases: kafka:VERSION. Maven downloads them on first use.\n"
    ));
    text
}

fn size(dir: &std::path::Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten();
    let files = entries.filter_map(|entry| entry.ok()?.metadata().ok());
    files.map(|facts| facts.len()).sum()
}
