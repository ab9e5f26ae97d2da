//! Several targets in one run, and run folders side by side.

use std::fs;

use crate::site::{Site, check_status, json, text};

#[test]
fn a_run_on_several_targets_ends_with_one_table_of_them() {
    let site = Site::new();
    let call = ["run", "tiny.yaml", "--out", "out", "--repeat", "2"];
    let targets = [
        "--target",
        "embedded",
        "--target",
        "embedded:2,num.partitions=3",
    ];
    let output = site.run(&[&call[..], &targets].concat());
    let (stderr, table) = (text(&output.stderr), text(&output.stdout));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(table.contains(" ratio\n"), "{table}");
    assert!(table.contains("comparison.html"), "{table}");
    let folders = ["out/1-embedded", "out/2-embedded-2-num.partitions-3"];
    let seeds = folders.map(|folder| {
        assert!(site.path(folder).join("report.html").exists(), "{stderr}");
        json(&site.path(folder).join("plan.json"))["seed"].clone()
    });
    assert_eq!(seeds[0], seeds[1], "the same records on each target");
    let comparison = json(&site.path("out/comparison.json"));
    assert_eq!(comparison["runs"].as_array().unwrap().len(), 2);
    let page = fs::read_to_string(site.path("out/comparison.html")).unwrap();
    assert!(page.contains("<html"));

    let call = ["compare", "--baseline", "2", "--out", "again", "--json"];
    let output = site.run(&[&call[..], &folders].concat());
    check_status(&output, 0);
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["baseline"], 1, "counted from 0 in the file");
    assert_eq!(printed, json(&site.path("again/comparison.json")));
}

#[test]
fn a_quiet_run_on_several_targets_prints_the_comparison_only() {
    let site = Site::new();
    let call = ["run", "tiny.yaml", "--out", "out", "--repeat", "1", "-q"];
    let targets = ["--target", "embedded", "--target", "embedded:2"];
    let output = site.run(&[&call[..], &targets].concat());
    let (stderr, table) = (check_status(&output, 0), text(&output.stdout));
    assert!(table.starts_with("2 runs compared"), "{table}");
    assert!(!table.contains("comparison.html"), "{table}");
    assert!(!stderr.contains("target 1 of 2"), "{stderr}");
    assert!(site.path("out/comparison.html").exists());
}

#[test]
fn a_comparison_can_end_a_build() {
    let site = Site::new();
    for folder in ["one", "other"] {
        site.run(&["run", "tiny.yaml", "--repeat", "1", "--out", folder]);
    }
    let output = site.run(&["compare", "one", "other", "--as", "markdown"]);
    check_status(&output, 0);
    assert!(text(&output.stdout).starts_with("### 2 runs compared"));
    let names = fs::read_dir(site.path("."))
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert!(
        !names.into_iter().any(|name| name == "kgauge-runs"),
        "a form writes nothing else"
    );
    // One repeat each: nothing can be judged, so the gate does not pass.
    let compare = |arguments: &[&str]| {
        let output = site.run(&[&["compare", "one", "other"], arguments].concat());
        (output.status.code(), text(&output.stderr))
    };
    for allowed in [&["10%"][..], &["10"], &["0.1"], &["10 %"]] {
        let (status, stderr) = compare(&[&["--fail-if-worse"], allowed].concat());
        assert_eq!(status, Some(2), "{stderr}");
        assert!(stderr.contains("kgauge: gate inconclusive"), "{stderr}");
        assert!(stderr.contains("use --repeat 5"), "{stderr}");
    }
    let (status, stderr) = compare(&["--fail-if-worse=10%", "--metric", "loss"]);
    assert_eq!(status, Some(0), "{stderr}");
    assert!(
        stderr.contains("0 records lost, 0 records in the baseline"),
        "{stderr}"
    );
    assert!(
        stderr.contains("kgauge: gate passed: 1 figure judged"),
        "{stderr}"
    );
    for (arguments, words) in [
        (&["--fail-if-worse=150%"][..], "above 0 and below 100"),
        (&["--fail-if-worse"], "a value is required"),
        (&["--fail-if-worse", "0"], "above 0 and below 100"),
        (&["--fail-if-worse=5%", "--metric", "p98"], "unknown figure"),
        (&["--metric", "p99"], "--fail-if-worse"),
    ] {
        let (status, stderr) = compare(arguments);
        assert_eq!(status, Some(2), "{stderr}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_comparison_is_named_by_its_folders_and_leaves_nothing_behind() {
    let site = Site::new();
    for folder in ["l0", "l20"] {
        site.run(&["run", "tiny.yaml", "--repeat", "2", "--out", folder]);
    }
    let output = site.run(&["compare", "l0", "l20", "-v"]);
    let table = text(&output.stdout);
    check_status(&output, 0);
    assert!(table.contains("l20 against l0"), "{table}");
    assert!(
        !site.path("kgauge-runs").exists(),
        "nothing is written unless asked"
    );
    let table = text(
        &site
            .run(&["compare", "before=l0", "linger 20=l20", "-v"])
            .stdout,
    );
    assert!(table.contains("linger 20 against before"), "{table}");
    let output = site.run(&["compare", "l0", "l20", "--out", "kept"]);
    assert!(text(&output.stdout).contains("report: kept/comparison.html"));
    assert!(site.path("kept/comparison.json").exists());
    let output = site.run(&["compare", "l0", "l20", "-q", "--out", "quiet"]);
    check_status(&output, 0);
    assert!(!text(&output.stdout).contains("comparison.html"));
    assert!(site.path("quiet/comparison.html").exists());
}

#[test]
fn a_target_that_fails_does_not_end_the_others() {
    let site = Site::new();
    // Nobody listens on the port once the listener is dropped.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = closed.local_addr().unwrap().to_string();
    drop(closed);
    let call = ["run", "tiny.yaml", "--repeat", "1", "--out", "out", "--yes"];
    let targets = ["--target", &address, "--target", "embedded"];
    let output = site.run(&[&call[..], &targets].concat());
    let stderr = check_status(&output, 3);
    assert!(stderr.contains("only one target was measured"), "{stderr}");
    assert!(text(&output.stdout).contains("not Apache Kafka"));
    assert!(site.path("out/2-embedded/report.html").exists());
}

#[test]
fn what_cannot_be_compared_is_refused_in_words() {
    let site = Site::new();
    let output = site.run(&["compare", "nowhere", "neither"]);
    check_status(&output, 2);
    assert!(text(&output.stderr).contains("nowhere"));
    site.run(&["run", "tiny.yaml", "--repeat", "1", "--out", "one"]);
    let output = site.run(&["compare", "one"]);
    check_status(&output, 2);
    assert!(text(&output.stderr).contains("at least two runs, not 1"));
    let output = site.run(&["compare", "one", "one", "--baseline", "3"]);
    check_status(&output, 2);
}

#[test]
fn several_runs_make_a_side_and_a_run_by_itself_gets_what_is_assumed() {
    let site = Site::new();
    let run = |repeat: &str, out: &str| {
        site.run(&["run", "counted.yaml", "--repeat", repeat, "--out", out]);
    };
    for (repeat, out) in [("2", "a1"), ("2", "b1"), ("1", "a2"), ("1", "b2")] {
        run(repeat, out);
    }
    let as_json = ["--as", "json"];
    let compared = |arguments: &[&str]| {
        let output = site.run(&[&["compare"], arguments, &as_json[..]].concat());
        check_status(&output, 0);
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let spread_text = |comparison: &serde_json::Value| {
        let words = &comparison["method"]["between_runs"]["words"];
        words.as_str().unwrap().to_owned()
    };
    let sides = compared(&["a1", "a2", "--with", "b1", "b2"]);
    assert_eq!(sides["runs"].as_array().unwrap().len(), 2);
    assert_eq!(sides["runs"][1]["further"][0]["folder"], "b2");
    assert!(
        spread_text(&sides).contains("is measured"),
        "{}",
        spread_text(&sides)
    );
    // Each `--with` is a side.
    let three = compared(&["a1", "--with", "a2", "--with", "b1", "b2"]);
    assert_eq!(three["runs"].as_array().unwrap().len(), 3);
    let usual = spread_text(&compared(&["a1", "b1"]));
    assert!(
        usual.starts_with("Back-to-back runs differ slightly"),
        "{usual}"
    );
    let own = spread_text(&compared(&["a1", "b1", "--between-runs", "7"]));
    assert!(own.contains("assumed spread between runs is 7 %"), "{own}");
    let none = spread_text(&compared(&["a1", "b1", "--between-runs=0"]));
    assert!(
        none.starts_with("No spread between runs is assumed"),
        "{none}"
    );

    let table = text(
        &site
            .run(&["compare", "-v", "a1", "a2", "--with", "b1", "b2"])
            .stdout,
    );
    assert!(
        table.starts_with("2 sides, 4 runs in total: counted"),
        "{table}"
    );
    assert!(
        table.contains("b (2 runs) against a (2 runs)") && table.contains("is measured"),
        "{table}"
    );
    for (arguments, words) in [
        (&["a1", "a2", "--with", "b1", "a2"][..], "is given twice"),
        (
            &["a1", "b1", "--between-runs", "-1"],
            "a percentage between 0 and 100",
        ),
        (
            &["a1", "b1", "--between-runs", "101"],
            "a percentage between 0 and 100",
        ),
        (&["a1", "--with"], "--with"),
    ] {
        let output = site.run(&[&["compare"], arguments].concat());
        let stderr = check_status(&output, 2);
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
    }
}
