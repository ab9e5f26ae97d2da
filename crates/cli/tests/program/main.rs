//! The program as a user meets it: arguments, exit statuses, files, signals.

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

mod ab;
mod agents;
mod auditing;
mod built_in;
mod checking;
mod checkups;
mod clusters;
mod comparing;
mod cut_short;
mod drop_in;
#[path = "../../../client/tests/fake/mod.rs"]
mod fake;
mod fake_kubectl;
mod forms;
mod helping;
mod hostile;
mod init;
mod leftovers;
mod live;
mod metrics;
mod mirror;
mod pods;
mod printing;
mod runs;
mod secured;
mod site;
mod sizing;
mod speeds;
mod strimzi;
mod trials;
mod tune;

use std::fs;
use std::io::Read;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use site::{Site, TINY, check_refused, check_status, json, text, wait_for, wait_until};

#[test]
fn a_run_ends_with_a_table_a_summary_and_a_report() {
    let site = Site::new();
    let output = site.run(&["run", "tiny.yaml", "--out", "out", "--seed", "42"]);
    let (stderr, table) = (text(&output.stderr), text(&output.stdout));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(table.contains("not Apache Kafka"), "{table}");
    assert!(table.contains("report.html"), "{table}");
    assert!(stderr.contains("seed 42"), "{stderr}");
    let summary = json(&site.path("out/summary.json"));
    let counted = summary["trials"][0]["counted"].as_array().unwrap();
    assert_eq!(counted.len(), 2);
    for repeat in counted {
        assert_eq!(repeat["acked"], 800, "800 a second for a second");
        assert_eq!(repeat["on_broker"], 800);
    }
    // 800 records a second are next to nothing, also for a slow build on a busy machine.
    let headroom = &summary["trials"][0]["headroom"];
    let used = headroom["used_part"].as_f64().unwrap();
    assert!(used > 0.0 && used < 0.5, "{headroom:#}");
    assert_eq!(headroom["flows"].as_array().unwrap().len(), 2);
    let full = text(&site.run(&["report", "out", "-v"]).stdout);
    assert!(full.contains("Generator headroom"), "{full}");
    let page = fs::read_to_string(site.path("out/report.html")).unwrap();
    assert!(page.contains("<html") && page.contains("of its capacity on this machine"));
    assert!(
        !site.path("out/target-data").exists(),
        "what the run wrote is removed"
    );
}

#[test]
fn a_ceiling_is_measured_for_the_flows_that_are_asked_for() {
    let site = Site::new();
    let short = ["stages.hold=100 ms", "stages.warm-up=10 ms"];
    let changed = [
        "writers.record.size=1 kB",
        "writers.settings.batch.size=64 KiB",
    ];
    let mut call = vec!["ceiling", "--json"];
    for set in short.iter().chain(&changed) {
        call.extend(["--set", set]);
    }
    let output = site.run(&call);
    check_status(&output, 0);
    let ceilings: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = ceilings["rows"].as_array().unwrap();
    let number = |row: &Value, key: &str| row[key].as_f64().unwrap();
    let written = rows.iter().filter(|row| row["flow"] == "writers");
    let mut count = 0;
    for row in written {
        count += 1;
        let bytes = number(row, "logical_bytes_per_s");
        assert!(bytes > 0.0, "{row}");
        assert_eq!(bytes, 1_000.0 * number(row, "records_per_s"), "{row}");
        assert!(number(row, "cpu_ns_per_record") > 0.0, "{row}");
    }
    assert!(
        count == 2 || count == 4,
        "one thread and all, in two ways: {rows:?}"
    );
    let wrong = ["ceiling", "--set", "writers.settings.batch.sise=1"];
    check_refused(&wrong, 2, &["did you mean `writers.settings.batch.size`?"]);
}

#[test]
fn the_report_is_a_function_of_the_folder() {
    let site = Site::new();
    site.run(&["run", "tiny.yaml", "--out", "out", "--repeat", "1"]);
    let before = fs::read(site.path("out/report.html")).unwrap();
    fs::remove_file(site.path("out/report.html")).unwrap();
    fs::remove_file(site.path("out/summary.json")).unwrap();
    let output = site.run(&["report", "out"]);
    check_status(&output, 0);
    assert_eq!(fs::read(site.path("out/report.html")).unwrap(), before);
}

#[test]
fn a_saved_plan_repeats_the_run() {
    let site = Site::new();
    let first = ["run", "tiny.yaml", "--out", "one"];
    site.run(&[&first[..], &["--repeat", "1", "--seed", "7"]].concat());
    let output = site.run(&["run", "one/plan.json", "--out", "two", "--json"]);
    check_status(&output, 0);
    let (one, two) = (
        json(&site.path("one/plan.json")),
        json(&site.path("two/plan.json")),
    );
    assert_eq!(one["trials"], two["trials"]);
    assert_eq!(one["seed"], two["seed"]);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed, json(&site.path("two/summary.json")));
}

#[test]
fn a_goal_that_does_not_hold_makes_exit_status_1() {
    let site = Site::new();
    site.write("tiny.yaml", &TINY.replace(">= 10/s", ">= 1M/s"));
    let output = site.run(&["run", "tiny.yaml", "--out", "out", "--repeat", "1"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
}

#[test]
fn all_mistakes_of_a_scenario_are_shown_at_once() {
    let site = Site::new();
    let wrong = TINY
        .replace("question", "questoin")
        .replace("size: 100 B", "size: 100");
    site.write("wrong.yaml", &wrong);
    let output = site.run(&["run", "wrong.yaml"]);
    let stderr = text(&output.stderr);
    check_status(&output, 2);
    for word in [
        "wrong.yaml:3:1",
        "did you mean `question`",
        "has no unit",
        "100 B",
    ] {
        assert!(stderr.contains(word), "{word:?} is missing in {stderr}");
    }
    assert!(
        !site.path("kgauge-runs").exists(),
        "a wrong scenario has no run folder"
    );
}

#[test]
fn bad_arguments_are_refused_in_words() {
    check_refused(
        &["run", "linkedin-2015"],
        2,
        &["did you mean `linkedin-2014`"],
    );
    check_refused(&["run", "tiny.yaml", "--set", "hold"], 2, &["PATH=VALUE"]);
    check_refused(
        &["run", "tiny.yaml", "--set", "stages.hodl='1 s'"],
        2,
        &["stages.hold"],
    );
    check_refused(&["run", "tiny.yaml", "--quik"], 2, &["--quick"]);
    check_refused(
        &["run", "tiny.yaml", "--price", "1", "--price", "2"],
        2,
        &["prices (2) and targets (1)"],
    );
    check_refused(&["run", "tiny.yaml", "--price", "0"], 2, &["cost per hour"]);
    check_refused(
        &["run", "linkedin-2014", "--only", "nothing"],
        2,
        &["single-producer"],
    );
    check_refused(
        &["run", "tiny.yaml", "--target", "embeded"],
        2,
        &["embedded"],
    );
    check_refused(
        &["run", "tiny.yaml", "--target", "kafka:4.3"],
        2,
        &["write it like 4.3.1"],
    );
    check_refused(&["report", "nowhere"], 2, &["holds no run"]);
    for command in ["run", "capacity", "tune"] {
        check_refused(&[command, "--resume", "nowhere"], 2, &["holds no run"]);
    }
}

#[test]
fn a_target_that_is_not_there_makes_exit_status_3() {
    // A closed port, and one that speaks another protocol.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = listener.local_addr().unwrap().to_string();
    drop(listener);
    check_refused(
        &["run", "tiny.yaml", "--target", &closed],
        3,
        &["refused", "start the broker"],
    );

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut first = [0; 1];
            if stream.read(&mut first).unwrap_or(0) == 0 {
                break;
            }
            let _ = std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    check_refused(
        &["run", "tiny.yaml", "--target", &address],
        3,
        &["looks like HTTP"],
    );
    drop(std::net::TcpStream::connect(&address));
    server.join().unwrap();
}

#[test]
fn a_folder_with_something_in_it_is_left_alone() {
    let site = Site::new();
    fs::create_dir(site.path("out")).unwrap();
    site.write("out/mine.txt", "precious");
    let output = site.run(&["run", "tiny.yaml", "--out", "out"]);
    check_status(&output, 2);
    assert_eq!(
        fs::read_to_string(site.path("out/mine.txt")).unwrap(),
        "precious"
    );
}

/// A run of a minute that has recorded its first seconds.
fn start_long(site: &Site) -> Child {
    let call = ["run", "tiny.yaml", "--out", "out"];
    let run = site.start(&[&call[..], &["--set", "stages.hold=60 s"]].concat());
    wait_for(&site.path("out/repeats/0000-00/slices.jsonl"));
    run
}

#[test]
fn ctrl_c_ends_a_run_cleanly_and_still_reports() {
    let site = Site::new();
    let run = start_long(&site);
    let sent = Instant::now();
    kill_process(Pid::from_child(&run), Signal::INT).unwrap();
    let output = run.wait_with_output().unwrap();
    check_status(&output, 130);
    assert!(
        sent.elapsed() < Duration::from_secs(20),
        "{:?}",
        sent.elapsed()
    );
    assert!(
        text(&output.stdout).contains("did not finish"),
        "{}",
        text(&output.stdout)
    );
    assert_eq!(json(&site.path("out/run.json"))["status"], "interrupted");
    assert!(!site.path("out/target-data").exists());
}

#[test]
fn a_killed_run_leaves_nothing_running_and_a_report_can_be_made_of_it() {
    let site = Site::new();
    let mut run = start_long(&site);
    run.kill().unwrap();
    run.wait().unwrap();
    // The embedded cluster sees its parent go, removes its data and ends.
    let data = site.path("out/target-data");
    wait_until("the embedded cluster has ended", || !data.exists());
    let output = site.run(&["report", "out"]);
    assert!(
        text(&output.stdout).contains("this run did not finish"),
        "{}",
        text(&output.stdout)
    );
    check_status(&output, 3);
    assert!(
        fs::read_to_string(site.path("out/report.html"))
            .unwrap()
            .contains("cut short")
    );
}

#[test]
fn studies_are_listed_with_their_questions() {
    let site = Site::new();
    let output = site.run(&["studies"]);
    assert!(text(&output.stdout).contains("linkedin-2014"));
    let output = site.run(&["studies", "--json"]);
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(listed[0]["name"], "linkedin-2014");
}
