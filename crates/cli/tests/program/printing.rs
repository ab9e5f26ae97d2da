//! Streams that take nothing: a reader that is gone, a full disk, a closed terminal.

use std::ffi::OsStr;
use std::fs::{File, read_to_string};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::site::{
    COUNTED, ServingCluster, Site, check_refused, check_status, json, text, wait_for,
};

/// A stream that cannot be written.
#[derive(Clone, Copy, Debug)]
enum Broken {
    /// Its reader is gone.
    Pipe,
    /// Its disk is full.
    Disk,
}

impl Broken {
    fn stream(self) -> Stdio {
        match self {
            Broken::Pipe => {
                let (reader, writer) = std::io::pipe().unwrap();
                drop(reader);
                writer.into()
            }
            Broken::Disk => File::options()
                .write(true)
                .open("/dev/full")
                .unwrap()
                .into(),
        }
    }
}

fn ended(command: &mut Command) -> Output {
    command.spawn().unwrap().wait_with_output().unwrap()
}

/// What a command prints and how it ends when stdout takes nothing.
fn without_stdout(site: &Site, arguments: &[&str], broken: Broken) -> (Option<i32>, String) {
    let mut command = site.command(arguments);
    let output = ended(command.stdout(broken.stream()).stderr(Stdio::piped()));
    (output.status.code(), text(&output.stderr))
}

fn check_full(site: &Site, arguments: &[&str], status: i32) {
    let (code, stderr) = without_stdout(site, arguments, Broken::Disk);
    assert_eq!(code, Some(status), "{arguments:?}: {stderr}");
    let words = "kgauge: error: cannot write to stdout: No space left on device";
    assert!(stderr.contains(words), "{arguments:?}: {stderr}");
    assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let site = Site::new();
    let calls: [&[&str]; 6] = [
        &["studies"],
        &["studies", "--json"],
        &["--help"],
        &["cluster", "versions"],
        &[
            "ceiling",
            "--set",
            "stages.hold=100 ms",
            "--set",
            "stages.warm-up=0 s",
        ],
        &["kafka-topics", "--version"],
    ];
    for call in calls {
        let (code, stderr) = without_stdout(&site, call, Broken::Pipe);
        assert_eq!(code, Some(0), "{call:?}: {stderr}");
        assert!(!stderr.contains("error"), "{call:?}: {stderr}");
    }
}

#[test]
fn a_run_whose_reader_is_gone_ends_as_it_would_have() {
    let site = Site::new();
    let call = ["run", "counted.yaml", "--out", "good"];
    let (code, stderr) = without_stdout(&site, &call, Broken::Pipe);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(json(&site.path("good/run.json"))["status"], "complete");
    // A gate must not open because nobody read the table.
    site.write(
        "missed.yaml",
        &format!("{COUNTED}goals: [writers.throughput >= 1G/s]\n"),
    );
    let call = ["run", "missed.yaml", "--out", "missed"];
    let (code, stderr) = without_stdout(&site, &call, Broken::Pipe);
    assert_eq!(code, Some(1), "{stderr}");
}

#[test]
fn results_that_stdout_does_not_take_are_reported_when_the_run_is_closed() {
    let site = Site::new();
    check_full(&site, &["run", "counted.yaml", "--out", "one"], 2);
    assert_eq!(json(&site.path("one/run.json"))["status"], "complete");
    let page = read_to_string(site.path("one/report.html")).unwrap();
    assert!(page.contains("<html"));
    check_full(&site, &["report", "one"], 2);
    check_full(&site, &["report", "one", "--json"], 2);
    check_full(&site, &["report", "one", "--as", "csv"], 2);
    check_full(&site, &["compare", "one", "one"], 2);
    check_full(&site, &["studies"], 2);
    check_full(&site, &["kafka-topics", "--version"], 1);
}

#[test]
fn a_run_prints_what_is_asked_for_and_each_repeat_as_it_ends() {
    let site = Site::new();
    let output = site.run(&["run", "counted.yaml", "--out", "one"]);
    let (usual, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(stderr.contains("kgauge: starting embedded\n"), "{stderr}");
    let result = "kgauge: [1/1] counted, repeat 1 of 1: writers ";
    assert!(stderr.contains(result), "{stderr}");
    assert!(usual.starts_with("counted · "), "{usual}");
    assert!(usual.contains("acks=all, 1 replica"), "{usual}");
    assert!(
        usual.contains("\nAll 800 acked records are on the brokers.\n"),
        "{usual}"
    );
    // About 20, and what a busy machine adds.
    assert!(usual.lines().count() <= 28, "{usual}");

    let output = site.run(&["run", "counted.yaml", "--out", "two", "-q"]);
    let (brief, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(stderr, "", "no progress");
    assert!(
        brief.contains("records/s") && !brief.contains("report.html"),
        "{brief}"
    );

    let full = text(&site.run(&["report", "one", "--verbose"]).stdout);
    for part in [
        "Durability",
        "Generator headroom",
        "\nthroughput ",
        "Run folder",
    ] {
        assert!(
            full.contains(part) && !usual.contains(part),
            "{part}: {full}"
        );
    }
    check_refused(
        &["run", "tiny.yaml", "-q", "-v"],
        2,
        &["cannot be used with"],
    );
}

#[test]
fn colours_are_for_terminals_unless_somebody_wants_them() {
    let site = Site::new();
    site.run(&["run", "counted.yaml", "--out", "one"]);
    let is_coloured = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = site.command(&[&["report", "one"], arguments].concat());
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        command.envs(variables.iter().copied());
        text(&command.output().unwrap().stdout).contains('\u{1b}')
    };
    assert!(!is_coloured(&[], &[]), "a pipe");
    assert!(is_coloured(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(is_coloured(&[], &[("CLICOLOR_FORCE", "1")]));
    let both = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
    assert!(!is_coloured(&[], &both));
    assert!(!is_coloured(&["--color=never"], &[("CLICOLOR_FORCE", "1")]));
    check_refused(
        &["studies", "--color", "often"],
        2,
        &["auto", "always", "never"],
    );
}

#[test]
fn messages_that_stderr_does_not_take_stop_nothing() {
    let site = Site::new();
    for (broken, out) in [(Broken::Pipe, "pipe"), (Broken::Disk, "disk")] {
        let mut command = site.command(&["run", "counted.yaml", "--out", out]);
        let output = ended(command.stdout(Stdio::piped()).stderr(broken.stream()));
        assert_eq!(output.status.code(), Some(0), "{broken:?}");
        assert!(text(&output.stdout).contains("report.html"), "{broken:?}");
        let status = &json(&site.path(out).join("run.json"))["status"];
        assert_eq!(*status, "complete", "{broken:?}");
    }
    let cluster = ServingCluster::start(&site, &[]);
    let call = ["run", "counted.yaml", "--out", "there", "--yes", "--target"];
    let mut command = site.command(&[&call[..], &[&cluster.servers]].concat());
    // `2>&1 | head -1`
    let output = ended(
        command
            .stdout(Broken::Pipe.stream())
            .stderr(Broken::Pipe.stream()),
    );
    check_status(&output, 0);
    assert_eq!(json(&site.path("there/run.json"))["status"], "complete");
    cluster.end();
}

#[test]
fn a_signal_ends_a_load_although_stderr_takes_nothing() {
    let site = Site::new();
    let cluster = ServingCluster::start(&site, &[]);
    let cases = [
        (Broken::Pipe, Signal::TERM),
        (Broken::Pipe, Signal::HUP),
        (Broken::Disk, Signal::INT),
    ];
    for (index, (broken, signal)) in cases.into_iter().enumerate() {
        let out = format!("out{index}");
        let call = ["run", "tiny.yaml", "--yes", "--set", "stages.hold=30 min"];
        let place = ["--out", &out, "--target", &cluster.servers];
        let mut command = site.command(&[&call[..], &place].concat());
        command.stdout(Stdio::null()).stderr(broken.stream());
        let mut run = command.spawn().unwrap();
        wait_for(&site.path(&format!("{out}/repeats/0000-00/slices.jsonl")));
        kill_process(Pid::from_child(&run), signal).unwrap();
        // It would load for half an hour.
        assert_eq!(
            run.wait().unwrap().code(),
            Some(130),
            "{broken:?} {signal:?}"
        );
        let status = &json(&site.path(&format!("{out}/run.json")))["status"];
        assert_eq!(*status, "interrupted", "{broken:?} {signal:?}");
        let list = [
            "kafka-topics",
            "--list",
            "--bootstrap-server",
            &cluster.servers,
        ];
        assert_eq!(text(&site.run(&list).stdout), "", "{broken:?} {signal:?}");
    }
    cluster.end();
}

#[test]
fn a_signal_ends_clusters_and_tools_although_stderr_takes_nothing() {
    let site = Site::new();
    let mut command = site.command(&["cluster", "up"]);
    command.stdout(Stdio::piped()).stderr(Broken::Pipe.stream());
    let cluster = ServingCluster::of(command.spawn().unwrap());
    let made = [
        "kafka-topics",
        "--create",
        "--topic",
        "t",
        "--bootstrap-server",
        &cluster.servers,
    ];
    assert_eq!(site.run(&made).status.code(), Some(0));
    let mut command = site.command(&["kafka-producer-perf-test", "--topic", "t", "--num-records"]);
    command
        .args(["1000000000", "--record-size", "10", "--throughput", "100"])
        .args(["--reporting-interval", "100"])
        .args(["--bootstrap-server", &cluster.servers])
        .stdout(File::create(site.path("stdout")).unwrap())
        .stderr(Broken::Disk.stream());
    let mut tool = command.spawn().unwrap();
    wait_for(&site.path("stdout"));
    kill_process(Pid::from_child(&tool), Signal::TERM).unwrap();
    tool.wait().unwrap();
    let stdout = read_to_string(site.path("stdout")).unwrap();
    assert!(stdout.contains("99th"), "the totals were printed: {stdout}");
    assert_eq!(cluster.end(), Some(0));
}

#[test]
fn every_error_has_the_same_prefix() {
    for call in [
        &["run"][..],
        &["run", "--quik"],
        &["runn"],
        &["report", "nowhere"],
    ] {
        check_refused(call, 2, &["kgauge: error: "]);
        let stderr = text(&Site::new().run(call).stderr);
        assert!(stderr.starts_with("kgauge: error: "), "{stderr}");
    }
}

#[test]
fn a_folder_whose_name_is_not_utf_8_is_refused() {
    let site = Site::new();
    let name = OsStr::from_bytes(b"caf\xe9");
    for call in [
        &["run", "tiny.yaml", "--out"][..],
        &["cluster", "up", "--data"],
    ] {
        let stderr = check_status(&site.command(call).arg(name).output().unwrap(), 2);
        assert!(
            stderr.contains("is not UTF-8; choose another one"),
            "{stderr}"
        );
    }
}
