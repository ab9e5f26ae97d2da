//! The published schema of `summary.json`.

use std::fs;
use std::path::PathBuf;

use kgauge_report::summary_schema;

fn published() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/summary.schema.json")
}

#[test]
fn the_published_schema_is_that_of_the_types() {
    let mut text = serde_json::to_string_pretty(&summary_schema()).unwrap();
    text.push('\n');
    if std::env::var_os("KGAUGE_UPDATE").is_some() {
        fs::create_dir_all(published().parent().unwrap()).unwrap();
        fs::write(published(), &text).unwrap();
    }
    let kept = fs::read_to_string(published()).unwrap_or_default();
    assert!(
        kept == text,
        "docs/schema/summary.schema.json is out of date: run the tests of kgauge-report once \
         with KGAUGE_UPDATE=1 and look at the difference"
    );
}
