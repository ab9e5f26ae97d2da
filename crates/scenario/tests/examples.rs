//! Every example reads in every size, begins with what it teaches, and is listed.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;

use kgauge_scenario::{Scenario, Size};

#[test]
fn every_example_reads_and_is_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let list = fs::read_to_string(root.join("README.md")).unwrap();
    let mut count = 0;
    for entry in fs::read_dir(&root).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "yaml") {
            continue;
        }
        count += 1;
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("# "),
            "{name} does not say what it teaches"
        );
        assert!(
            list.contains(&format!("({name})")),
            "{name} is not in README.md"
        );
        let scenario = Scenario::parse(name, &text).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(format!("{}.yaml", scenario.name()), name);
        for size in [Size::Quick, Size::Default, Size::Full] {
            assert!(!scenario.trials(size).is_empty(), "{name} {size:?}");
        }
    }
    assert_eq!(
        count,
        list.matches(".yaml)").count(),
        "README.md lists other files"
    );
}
