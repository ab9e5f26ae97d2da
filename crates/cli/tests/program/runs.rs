//! `kgauge runs`, `--name` and `KGAUGE_TARGET`: run folders and what they are called.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::site::{Site, check_refused, check_status, json, text};

/// The folders below `kgauge-runs`, sorted.
fn folders(site: &Site) -> Vec<PathBuf> {
    let entries = fs::read_dir(site.path("kgauge-runs")).unwrap();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

#[test]
fn runs_have_names_and_are_listed_and_pruned() {
    let site = Site::new();
    for name in ["before: 20 ms", "after"] {
        let output = site.run(&["run", "counted.yaml", "--name", name]);
        check_status(&output, 0);
        let table = text(&output.stdout);
        assert!(table.contains(name), "{table}");
    }
    let dirs = folders(&site);
    let is_named = |dir: &PathBuf, start: &str| {
        dir.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with(start)
    };
    assert!(
        is_named(&dirs[0], "after-20") && is_named(&dirs[1], "before-20-ms-20"),
        "{dirs:?}"
    );
    assert_eq!(json(&dirs[1].join("run.json"))["name"], "before: 20 ms");
    assert_eq!(
        json(&dirs[1].join("summary.json"))["run"]["name"],
        "before: 20 ms"
    );
    let [after, before] = [&dirs[0], &dirs[1]].map(|dir| dir.to_str().unwrap());
    let compared = text(&site.run(&["compare", before, after]).stdout);
    assert!(
        compared.contains("before: 20 ms") && compared.contains("after"),
        "{compared}"
    );

    let list = text(&site.run(&["runs"]).stdout);
    assert!(list.starts_with("2 runs in kgauge-runs, "), "{list}");
    assert!(
        list.contains("UTC  after (counted) on embedded: "),
        "{list}"
    );
    let newest_first = list.find("\nafter-20") < list.find("\nbefore-20-ms-20");
    assert!(newest_first, "{list}");
    let output = site.run(&["runs", "--json"]);
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(listed[0]["run"]["name"], "after");
    assert_eq!(listed[0]["status"], "complete");
    assert_eq!(listed[0]["headline"]["trials"], 1);
    assert!(listed[0]["bytes"].as_u64().unwrap() > 1_000);

    fs::create_dir(site.path("kgauge-runs/mine")).unwrap();
    let prune = ["runs", "--prune", "--keep", "1"];
    let refused = site.run(&prune);
    check_status(&refused, 2);
    let stderr = text(&refused.stderr);
    assert!(
        stderr.contains("before-20-ms-20") && stderr.contains("use --yes"),
        "{stderr}"
    );
    assert_eq!(folders(&site).len(), 3, "nothing was removed");
    let young = site.run(&["runs", "--prune", "--older-than", "1d", "--yes"]);
    assert_eq!((young.status.code(), young.stdout.len()), (Some(0), 0));
    let pruned = site.run(&[&prune[..], &["--yes"]].concat());
    check_status(&pruned, 0);
    assert!(text(&pruned.stdout).starts_with("removed kgauge-runs/before-20-ms-20"));
    assert_eq!(
        folders(&site),
        [dirs[0].clone(), site.path("kgauge-runs/mine")]
    );
}

#[test]
fn a_list_of_no_runs_and_wrong_conditions_are_refused_in_words() {
    let site = Site::new();
    let none = site.run(&["runs"]);
    check_status(&none, 0);
    assert_eq!(text(&none.stdout), "0 runs in kgauge-runs, 0 bytes\n");
    check_refused(&["runs", "nowhere"], 2, &["cannot read nowhere"]);
    check_refused(&["runs", "--prune"], 2, &["--older-than TIME or --keep N"]);
    check_refused(&["runs", "--keep", "1"], 2, &["--prune"]);
    let age = ["runs", "--prune", "--older-than", "30"];
    check_refused(&age, 2, &["12h, 30d or 8w"]);
    check_refused(
        &["run", "tiny.yaml", "--name", "/"],
        2,
        &["--name: use at most 80"],
    );
}

#[test]
fn the_environment_names_a_target_that_the_option_overrides() {
    let site = Site::new();
    let run = |arguments: &[&str]| {
        let mut command = site.command(&[&["run", "counted.yaml"], arguments].concat());
        command.env("KGAUGE_TARGET", "embedded:2").output().unwrap()
    };
    let output = run(&["--out", "one"]);
    check_status(&output, 0);
    let head = json(&site.path("one/run.json"));
    assert_eq!(head["target"], "embedded:2");
    let command = head["command"].as_array().unwrap();
    assert_eq!(command[command.len() - 2..], ["--target", "embedded:2"]);
    let output = run(&["--out", "two", "--target", "embedded"]);
    check_status(&output, 0);
    assert_eq!(json(&site.path("two/run.json"))["target"], "embedded");
}
