//! The folder `broken`: scenarios with mistakes, and the exact message for each.
//!
//! `KGAUGE_UPDATE_GOLDEN=1 cargo test -p kgauge-scenario --test broken` writes the current messages;
//! read the difference before you commit it.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};

use kgauge_scenario::Scenario;

/// The messages that a user would see: the mistakes of the file, or of each `# set: path=value` in it.
fn messages(path: &Path, text: &str) -> String {
    let name = path.file_name().unwrap().to_str().unwrap();
    let mut scenario = match Scenario::parse(name, text) {
        Ok(scenario) => scenario,
        Err(problems) => return format!("{problems}\n"),
    };
    let mut output = String::new();
    for line in text.lines() {
        let Some(set) = line.strip_prefix("# set: ") else {
            continue;
        };
        let (path, value) = set.split_once('=').unwrap();
        let before = scenario.clone();
        let problems = scenario.set(path, value).expect_err(set);
        assert_eq!(scenario, before, "a refused change leaves no trace");
        output.push_str(&format!("{problems}\n\n"));
    }
    assert!(!output.is_empty(), "{name} is not broken");
    output
}

#[test]
fn every_mistake_of_a_broken_scenario_is_reported() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/broken");
    let update = std::env::var_os("KGAUGE_UPDATE_GOLDEN").is_some();
    let mut wrong = String::new();
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "yaml") {
            continue;
        }
        count += 1;
        let text = messages(&path, &fs::read_to_string(&path).unwrap());
        let golden = path.with_extension("txt");
        if update {
            fs::write(&golden, &text).unwrap();
        } else if fs::read_to_string(&golden).unwrap_or_default() != text {
            wrong.push_str(&format!("--- {} now reads:\n{text}\n", path.display()));
        }
    }
    assert!(count >= 20, "the folder has been found");
    assert!(wrong.is_empty(), "{wrong}");
}
