//! The published schema of `summary.json`.

use std::fs;
use std::path::PathBuf;

use kgauge_results::Summary;

use crate::made::{Made, PACED, whole_closed_run, whole_paced_run};

fn published() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/summary.schema.json")
}

#[test]
fn the_published_schema_is_that_of_the_types() {
    let mut text = serde_json::to_string_pretty(&Summary::schema()).unwrap();
    text.push('\n');
    if std::env::var_os("KGAUGE_UPDATE").is_some() {
        fs::create_dir_all(published().parent().unwrap()).unwrap();
        fs::write(published(), &text).unwrap();
    }
    let kept = fs::read_to_string(published()).unwrap_or_default();
    assert!(
        kept == text,
        "docs/schema/summary.schema.json is out of date: run the tests of kgauge-results once \
         with KGAUGE_UPDATE=1 and look at the difference"
    );
}

#[test]
fn every_summary_that_we_make_is_valid_by_it() {
    let schema = Summary::schema();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    let validator = jsonschema::validator_for(&schema).unwrap();
    let cut_short = Made::begin(PACED);
    let cut_short_run = cut_short.read();
    let runs = [whole_paced_run().1, whole_closed_run().1, cut_short_run];
    for run in runs {
        let summary = serde_json::to_value(Summary::of(&run)).unwrap();
        let errors = validator
            .iter_errors(&summary)
            .map(|error| error.to_string());
        assert_eq!(errors.collect::<Vec<_>>(), Vec::<String>::new());
    }
}

#[test]
fn a_wrong_summary_is_invalid_by_it() {
    let validator = jsonschema::validator_for(&Summary::schema()).unwrap();
    let mut summary = serde_json::to_value(Summary::of(&whole_closed_run().1)).unwrap();
    assert!(validator.is_valid(&summary));
    summary["trials"][0]["flows"][0]["throughput"]["records_per_s"]["mean"] = "fast".into();
    assert!(!validator.is_valid(&summary));
}
