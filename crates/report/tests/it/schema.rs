//! The published schemas of `summary.json` and of comparisons.

use std::fs;
use std::path::PathBuf;

use kgauge_report::{comparison_schema, summary_schema};
use serde_json::Value;

fn assert_published(file: &str, schema: &Value) {
    let docs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let text = serde_json::to_string_pretty(schema).unwrap() + "\n";
    if std::env::var_os("KGAUGE_UPDATE_GOLDEN").is_some() {
        fs::write(docs.join(file), &text).unwrap();
    }
    let kept = fs::read_to_string(docs.join(file)).unwrap_or_default();
    assert!(
        kept == text,
        "docs/schema/{file} is out of date: run the tests of kgauge-report once with \
         KGAUGE_UPDATE_GOLDEN=1 and look at the difference"
    );
}

#[test]
fn the_published_schemas_are_those_of_types_and_texts() {
    assert_published("summary.schema.json", &summary_schema());
    assert_published("comparison.schema.json", &comparison_schema());
}
