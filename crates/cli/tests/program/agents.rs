//! Loads that several processes generate: the same figures as one, and what becomes of lost agents and leads.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, ChildStderr, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::site::{Site, check_refused, check_status, json, text, wait_for, wait_until};

/// Four producers with keys; a hold that is long enough to lose an agent in it.
const SPREAD: &str = "\
kgauge: 1
name: spread
question: Do agents add up?
topic: {partitions: 4}
flows:
  - name: writers
    kind: produce
    producers: 4
    shape: {constant: 2k/s}
    record: {size: 100 B, key: {uniform: {keys: 1000}}}
  - name: readers
    kind: consume
    consumers: 2
    from: earliest
stages: {warm-up: 0 s, hold: 2 s}
repeats: 1
";

fn site() -> Site {
    let site = Site::new();
    site.write("spread.yaml", SPREAD);
    site.write("token", "0123456789abcdef0123456789abcdef\n");
    site
}

/// A listening agent. Dropping it ends the process.
struct Listening {
    process: Child,
    address: String,
    _stderr: BufReader<ChildStderr>,
}

impl Listening {
    fn start(site: &Site, token: &str) -> Self {
        let arguments = ["agent", "--listen", "127.0.0.1:0", "--token-file", token];
        let mut command = site.command(&arguments);
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("kgauge agent: listening on ");
        Self {
            address: address.unwrap_or_else(|| panic!("{line:?}")).to_owned(),
            process,
            _stderr: stderr,
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn two_agents(site: &Site) -> [Listening; 2] {
    [(); 2].map(|()| Listening::start(site, "token"))
}

/// The value of `--agents` for both.
fn addresses(agents: &[Listening; 2]) -> String {
    format!("{},{}", agents[0].address, agents[1].address)
}

fn acked(run: &Path) -> (u64, u64) {
    let summary = json(&run.join("summary.json"));
    let counted = &summary["trials"][0]["counted"][0];
    let number = |key: &str| counted[key].as_u64().unwrap();
    (number("acked"), number("on_broker"))
}

#[test]
fn local_agents_write_what_one_process_writes() {
    let site = site();
    let alone = site.run(&["run", "spread.yaml", "--seed", "7", "--out", "alone"]);
    check_status(&alone, 0);
    let command = ["run", "spread.yaml", "--seed", "7", "--out", "out", "-v"];
    let output = site.run(&[&command[..], &["--agents", "local:3"]].concat());
    let stderr = check_status(&output, 0);
    let table = text(&output.stdout);
    assert!(
        table.contains("3 agents started within ±"),
        "{table}{stderr}"
    );
    assert_eq!(acked(&site.path("out")), acked(&site.path("alone")));
    assert_eq!(acked(&site.path("out")), (4_000, 4_000));
    let agents = &json(&site.path("out/summary.json"))["trials"][0]["agents"];
    assert_eq!(agents["count"], 3);
    let each = agents["agents"].as_array().unwrap();
    let records: Vec<u64> = each
        .iter()
        .map(|agent| agent["records_acked"].as_u64().unwrap())
        .collect();
    // Four producers on three agents: the first runs two of them.
    assert_eq!(records, [2_000, 1_000, 1_000]);
    for agent in 0..3 {
        let name = format!("out/repeats/0000-00/evidence-{agent}.jsonl");
        assert!(fs::metadata(site.path(&name)).unwrap().len() > 0, "{name}");
    }
    // Regenerating the report needs nothing but the folder.
    let before = fs::read(site.path("out/report.html")).unwrap();
    check_status(&site.run(&["report", "out"]), 0);
    assert_eq!(fs::read(site.path("out/report.html")).unwrap(), before);
}

#[test]
fn counts_of_all_agents_end_a_hold_without_a_duration() {
    let site = site();
    let output = site.run(&["run", "counted.yaml", "--agents", "local:2", "--out", "out"]);
    check_status(&output, 0);
    assert_eq!(acked(&site.path("out")), (800, 800));
}

#[test]
fn agents_that_listen_serve_one_run_after_the_other_and_refuse_a_wrong_token() {
    let site = site();
    site.write("other", "fedcba9876543210fedcba9876543210\n");
    let agents = two_agents(&site);
    let both = addresses(&agents);
    let run = |token: &str, out: &str| {
        site.run(&[
            "run",
            "spread.yaml",
            "--agents",
            &both,
            "--agents-token-file",
            token,
            "--out",
            out,
        ])
    };
    let refused = check_status(&run("other", "refused"), 2);
    assert!(refused.contains("another token"), "{refused}");
    assert!(!site.path("refused").exists());
    for out in ["one", "two"] {
        check_status(&run("token", out), 0);
        assert_eq!(acked(&site.path(out)), (4_000, 4_000));
    }
    assert!(!text(&fs::read(site.path("one/run.json")).unwrap()).contains("0123456789abcdef"));
}

/// Starts a run on two agents, and waits until it measures.
fn measuring(site: &Site, agents: &[Listening; 2], more: &[&str]) -> Child {
    let both = addresses(agents);
    let arguments = [
        "run",
        "spread.yaml",
        "--set",
        "stages.hold=20 s",
        "--out",
        "out",
        "--agents",
        &both,
        "--agents-token-file",
        "token",
    ];
    let lead = site.start(&[&arguments[..], more].concat());
    wait_for(&site.path("out/repeats/0000-00/slices-0.jsonl"));
    wait_for(&site.path("out/repeats/0000-00/slices-1.jsonl"));
    lead
}

/// Starts a run that tolerates a lost agent, and kills the second of its two agents. Returns what the run prints.
fn lose_agent(site: &Site, option: &str) -> Output {
    let agents = two_agents(site);
    let more = [
        "--agents-lost",
        "tolerate",
        "--set",
        "stages.hold=5 s",
        option,
    ];
    let lead = measuring(site, &agents, &more);
    agents[1].signal(Signal::KILL);
    let output = lead.wait_with_output().unwrap();
    // Records that were in flight in the lost agent have no known outcome.
    assert!(matches!(output.status.code(), Some(0 | 1)));
    output
}

#[test]
fn a_killed_or_stopped_agent_ends_the_run_and_what_was_measured_is_kept() {
    for signal in [Signal::KILL, Signal::STOP] {
        let site = site();
        let agents = two_agents(&site);
        let lead = measuring(&site, &agents, &[]);
        agents[1].signal(signal);
        let begin = Instant::now();
        let output = lead.wait_with_output().unwrap();
        assert!(begin.elapsed() < Duration::from_secs(20), "{signal:?}");
        let stderr = check_status(&output, 1);
        assert!(stderr.contains("lost agent 1"), "{stderr}");
        let (acked, on_broker) = acked(&site.path("out"));
        assert!(acked > 0 && acked <= on_broker, "{acked} of {on_broker}");
        let repeat = json(&site.path("out/repeats/0000-00/repeat.json"));
        assert!(repeat["agents"][0].get("lost").is_none());
        assert!(repeat["agents"][1]["lost"]["at_ns"].as_u64().unwrap() > 0);
    }
}

#[test]
fn a_run_that_tolerates_the_loss_goes_on_and_marks_its_figures() {
    let site = site();
    let output = lose_agent(&site, "-v");
    let table = text(&output.stdout);
    assert!(table.contains("lost agent 1"), "{table}");
    assert!(table.contains("† an agent was lost"), "{table}");
    let summary = json(&site.path("out/summary.json"));
    assert_eq!(summary["trials"][0]["repeats_measured"], 1);
    let warnings = summary["trials"][0]["warnings"].as_array().unwrap();
    let lost = warnings.iter().any(|one| one["kind"] == "agent-lost");
    assert!(lost, "{warnings:?}");
}

/// An echo flow with clients on both of two agents.
const ECHO: &str = "\
kgauge: 1
name: echo
question: Do two clocks measure one record?
topic: {partitions: 4}
flows:
  - {name: echo, kind: echo, producers: 2, consumers: 2, shape: {constant: 1k/s}, record: {size: 100 B}}
stages: {warm-up: 0 s, hold: 2 s}
repeats: 1
";

#[test]
fn end_to_end_times_below_the_error_of_two_clocks_are_marked() {
    let site = site();
    site.write("echo.yaml", ECHO);
    let spread = ["--agents", "local:2", "--agents-echo", "all"];
    let output = site.run(&[&["run", "echo.yaml", "--out", "out"][..], &spread].concat());
    check_status(&output, 0);
    let path = site.path("out/repeats/0000-00/repeat.json");
    let mut repeat = json(&path);
    let bound_ns = &mut repeat["flows"][0]["clock_bound_ns"];
    assert!(bound_ns.as_u64().unwrap() > 0);
    // As if the clocks of the agents were hardly known.
    *bound_ns = 50_000_000_000_u64.into();
    fs::write(&path, repeat.to_string()).unwrap();
    let output = site.run(&["report", "out"]);
    check_status(&output, 0);
    let table = text(&output.stdout);
    assert!(table.contains('≲'), "{table}");
    let page = fs::read_to_string(site.path("out/report.html")).unwrap();
    assert!(page.contains("compare the clocks of two agents, which are known to"));
}

#[test]
fn the_records_of_all_agents_are_verified_by_the_lead() {
    let site = site();
    let group = SPREAD.replace("from: earliest", "from: earliest\n    group: true");
    site.write("group.yaml", &group);
    for scenario in ["spread.yaml", "group.yaml"] {
        let out = scenario.trim_end_matches(".yaml");
        let command = ["run", scenario, "--verify", "--out", out];
        let output = site.run(&[&command[..], &["--agents", "local:3"]].concat());
        check_status(&output, 0);
        let summary = json(&site.path(out).join("summary.json"));
        let found = summary["verification"]["text"].as_str().unwrap();
        let all = "Verified: all 4,000 acked records were read back, once and in order, with their \
                   contents.";
        assert!(found.starts_with(all), "{found}");
    }
}

#[test]
fn what_a_lost_agent_has_sent_is_verified_and_the_rest_is_reported() {
    let site = site();
    lose_agent(&site, "--verify");
    let verification = &json(&site.path("out/summary.json"))["verification"];
    let number = |key: &str| verification[key].as_u64().unwrap();
    // The other agent sent half of 10,000 records.
    assert!(number("acked") >= 5_000, "{verification}");
    assert_eq!(number("acked"), number("confirmed"), "{verification}");
    assert_eq!(
        verification["anomalies"].as_array().unwrap().len(),
        0,
        "{verification}"
    );
    let unchecked = &verification["unchecked"][0];
    assert_eq!(unchecked["cause"], "ledger-incomplete", "{verification}");
    assert_eq!(unchecked["partitions"], 4, "{verification}");
}

#[test]
fn an_agent_whose_lead_was_killed_or_stopped_ends_its_load_within_a_second() {
    let threads = |agent: &Listening| {
        let tasks = fs::read_dir(format!("/proc/{}/task", agent.process.id()));
        let names = tasks.into_iter().flatten().flatten();
        let name = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm")).ok();
        names.filter_map(name).any(|name| name.starts_with("load-"))
    };
    // The connections of a stopped lead stay open, and nothing comes.
    for signal in [Signal::KILL, Signal::STOP] {
        let site = site();
        let agents = two_agents(&site);
        let mut lead = measuring(&site, &agents, &[]);
        assert!(threads(&agents[0]));
        let begin = Instant::now();
        kill_process(Pid::from_child(&lead), signal).unwrap();
        wait_until("no load thread is left", || !agents.iter().any(&threads));
        let took = begin.elapsed();
        lead.kill().unwrap();
        lead.wait().unwrap();
        // A second, and what a busy machine adds.
        assert!(took < Duration::from_secs(5), "{signal:?}: {took:?}");
    }
}

/// Stands for ssh: runs the command in a shell of this machine, whatever the host is.
const FAKE_SSH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/ssh.sh");

#[test]
fn hosts_get_the_program_once_and_run_it() {
    let site = site();
    fs::create_dir_all(site.path("bin")).unwrap();
    symlink(FAKE_SSH, site.path("bin/ssh")).unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", site.path("bin").display());
    for (out, calls) in [("one", 6), ("two", 4)] {
        let arguments = [
            "run",
            "spread.yaml",
            "--agents",
            "ssh:localhost,me@127.0.0.1",
            "--out",
            out,
        ];
        let mut command = site.command(&arguments);
        command.env("PATH", &path).env("HOME", site.dir.path());
        check_status(&command.output().unwrap(), 0);
        assert_eq!(acked(&site.path(out)), (4_000, 4_000));
        // A question and a start for each host; the copy is needed once.
        let hosts = fs::read_to_string(site.path("hosts")).unwrap();
        let count = hosts.lines().count();
        assert!(
            count == calls || out == "one" && count == calls - 1,
            "{hosts}"
        );
        fs::remove_file(site.path("hosts")).unwrap();
    }
}

#[test]
fn what_agents_cannot_do_is_refused_before_anything_starts() {
    for (arguments, words) in [
        (&["--agents", "local:0"][..], "from 1 to 1000"),
        (&["--agents", "host:7700"], "--agents-token-file"),
        (&["--agents-lost", "tolerate"], "--agents"),
        (
            &["--agents", "local:2", "--driver", "java"],
            "another client",
        ),
    ] {
        let command = [&["run", "tiny.yaml"][..], arguments].concat();
        check_refused(&command, 2, &[words]);
    }
    let agent = [
        "agent",
        "--listen",
        "127.0.0.1:0",
        "--token-file",
        "missing",
    ];
    check_refused(&agent, 2, &["missing", "No such file"]);
}
