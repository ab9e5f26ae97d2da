//! The forms in which `kgauge report` gives a run.

use std::fs;

use crate::site::{Site, check_refused, good, json};

#[test]
fn a_run_is_given_in_every_form_and_its_folder_stays_as_it_is() {
    let site = Site::new();
    good(&site.run(&["run", "counted.yaml", "--out", "out"]));
    // A file that is written again would reappear.
    fs::remove_file(site.path("out/report.html")).unwrap();
    fs::remove_file(site.path("out/summary.json")).unwrap();
    let report = |arguments: &[&str]| good(&site.run(&[&["report", "out"], arguments].concat()));

    let markdown = report(&["--as", "markdown"]);
    assert!(
        markdown.starts_with("### counted on kgauge's embedded cluster"),
        "{markdown}"
    );
    assert!(
        markdown.contains("| throughput | records/s |"),
        "{markdown}"
    );
    assert_eq!(report(&["--as", "markdown", "--out", "comment.md"]), "");
    assert_eq!(
        fs::read_to_string(site.path("comment.md")).unwrap(),
        markdown
    );

    let csv = report(&["--as", "csv", "--out", "-"]);
    assert!(
        csv.starts_with("run,target,scenario,trial,flow,kind,"),
        "{csv}"
    );
    assert_eq!(
        csv.lines().count(),
        1 + 2 * 2,
        "a trial and a repeat of two flows"
    );

    assert_eq!(report(&["--as", "hdr", "--out", "logs"]), "");
    assert!(site.path("logs/trial-1.writers.response.hlog").exists());
    assert!(report(&["--as", "html"]).starts_with("<!DOCTYPE html>"));
    let summary = report(&["--as", "json"]);
    assert!(!site.path("out/report.html").exists() && !site.path("out/summary.json").exists());

    assert!(report(&[]).contains("records/s"));
    assert!(report(&["-v"]).contains("throughput"));
    assert!(site.path("out/report.html").exists());
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary, json(&site.path("out/summary.json")));
}

#[test]
fn a_form_that_cannot_be_made_is_refused_in_words() {
    check_refused(&["report", "x", "--as", "hdr"], 2, &["--out DIR"]);
    check_refused(
        &["report", "x", "--as", "hdr", "--out", "-"],
        2,
        &["--out DIR"],
    );
    check_refused(&["report", "x", "--as", "word"], 2, &["markdown, csv, hdr"]);
    check_refused(&["report", "x", "--as", "csv"], 2, &["x holds no run"]);
    check_refused(&["report", "x", "--out", "y"], 2, &["--as"]);
    check_refused(
        &["report", "x", "--as", "csv", "--json"],
        2,
        &["cannot be used with"],
    );
}
