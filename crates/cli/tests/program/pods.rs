//! `--agents k8s:` from start to end: a program that answers as `kubectl` does starts pods as processes.

use std::fs;
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::fake_kubectl;
use crate::site::{ServingCluster, Site, check_status, good, json, text, wait_for, wait_until};

struct FakeKubernetes {
    site: Site,
    cluster: ServingCluster,
}

impl FakeKubernetes {
    fn new() -> Self {
        let site = Site::with_free_disk();
        fake_kubectl::install(&site);
        let cluster = ServingCluster::start(&site, &["embedded:1"]);
        Self { site, cluster }
    }

    /// A command with two agents. Pods of this machine reach its loopback, which real ones do not: the name is another.
    fn command(&self, words: &[&str]) -> Command {
        let agents = "k8s:replicas=2,namespace=perf,image=kgauge:test";
        let servers = self
            .cluster
            .servers
            .replace("127.0.0.1", "[::ffff:127.0.0.1]");
        let call = [
            "--out", "out", "--yes", "--agents", agents, "--target", &servers,
        ];
        let mut command = fake_kubectl::command(&self.site, &[words, &call].concat());
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        command
            .env("KGAUGE", env!("CARGO_BIN_EXE_kgauge"))
            .env("FAKE_AGENTS", "2")
            .env("FAKE_PORT", port.local_addr().unwrap().port().to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// A run of a minute whose records flow.
    fn start_long(&self) -> Child {
        let long = ["--set", "stages.hold='60 s'", "--set", "repeats=1"];
        let mut command = self.command(&[&["run", "tiny.yaml"][..], &long].concat());
        let child = command.spawn().unwrap();
        self.await_load();
        child
    }

    fn run(&self) -> Output {
        self.command(&["run", "counted.yaml"]).output().unwrap()
    }

    #[track_caller]
    fn check_refused(&self, words: &[&str]) {
        let output = self.run();
        let stderr = check_status(&output, 2);
        for words in words {
            assert!(stderr.contains(words), "{words}: {stderr}");
        }
        self.check_removed();
        assert!(!self.site.path("out").exists());
    }

    fn check_removed(&self) {
        let calls = fs::read_to_string(self.site.path("bin/calls")).unwrap();
        let last = calls.lines().last().unwrap();
        assert!(
            last.starts_with("delete -n perf --ignore-not-found"),
            "{calls}"
        );
        for kind in ["job/", "service/", "configmap/", "secret/"] {
            assert!(last.contains(kind), "{last}");
        }
        let entries = fs::read_dir(self.site.dir.path()).unwrap();
        let mut names = entries.map(|entry| text(entry.unwrap().file_name().as_encoded_bytes()));
        assert!(names.all(|name| !name.ends_with(".fetched")));
    }

    /// Waits until the lead shows that records flow.
    fn await_load(&self) {
        let log = self.site.path("bin/state/lead.log");
        // The plan is the last line before the first repeat; its result comes a minute later.
        wait_until("load", || {
            fs::read_to_string(&log).is_ok_and(|log| log.contains("; results in "))
        });
    }

    /// Waits until the pods' processes have ended.
    fn await_end(&self) {
        for pod in ["lead", "agent-0", "agent-1"] {
            wait_for(&self.site.path(&format!("bin/state/{pod}.status")));
        }
    }
}

#[test]
fn a_run_in_pods_brings_its_report_here_and_leaves_nothing() {
    let fake = FakeKubernetes::new();
    let output = fake.run();
    let (stderr, table) = (text(&output.stderr), text(&output.stdout));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(
        stderr.contains("lead running, 2 of 2 agents running"),
        "{stderr}"
    );
    assert!(table.contains("report.html"), "{table}");
    let trial = json(&fake.site.path("out/summary.json"))["trials"][0].clone();
    assert_eq!(trial["counted"][0]["acked"], 800);
    assert_eq!(trial["counted"][0]["on_broker"], 800);
    let head = json(&fake.site.path("out/run.json"));
    let command = head["command"].as_array().unwrap();
    assert!(command.contains(&"counted.yaml".into()), "{command:?}");
    assert!(fake.site.path("out/scenarios/counted.yaml").exists());
    fake.check_removed();
    fake.await_end();
    let objects = fs::read_to_string(fake.site.path("bin/state/objects")).unwrap();
    let owner = "8f14e45f-ceea-467f-a0e6-4d2a10a1f9a5";
    assert_eq!(objects.matches(owner).count(), 4, "{objects}");
    let token = fs::read_to_string(fake.site.path("bin/state/etc/secret/token")).unwrap();
    assert!(objects.contains(token.trim()));
    assert!(!stderr.contains(token.trim()));
    let calls = fs::read_to_string(fake.site.path("bin/calls")).unwrap();
    assert!(!calls.contains(token.trim()));
}

#[test]
fn an_image_that_cannot_be_pulled_ends_the_run_and_removes_the_pods() {
    let fake = FakeKubernetes::new();
    let waiting =
        r#"{"reason": "ImagePullBackOff", "message": "Back-off pulling image \"kgauge:test\""}"#;
    let pod = format!(
        r#"{{"items": [{{"metadata": {{"name": "a-agent-0"}}, "status": {{"phase": "Pending",
           "containerStatuses": [{{"state": {{"waiting": {waiting}}}}}]}}}}]}}"#
    );
    fake.site.write("bin/get-pods.json", &pod);
    fake.check_refused(&[
        "ImagePullBackOff",
        "Back-off pulling image",
        "pull-secret=NAME",
    ]);
    fake.await_end();
}

#[test]
fn a_missing_right_and_a_quota_are_named() {
    let fake = FakeKubernetes::new();
    fake.site.write(
        "bin/create.error",
        "Error from server (Forbidden): error when creating \"STDIN\": jobs.batch is forbidden: User \"jane\" cannot \
         create resource \"jobs\" in API group \"batch\" in the namespace \"perf\"\n",
    );
    fake.check_refused(&[
        "user jane may not create jobs.batch in namespace perf",
        "kubectl auth can-i create jobs.batch",
    ]);
    fs::remove_file(fake.site.path("bin/create.error")).unwrap();
    fake.site.write("bin/get-pods.json", r#"{"items": []}"#);
    fake.site.write(
        "bin/get-events.json",
        &serde_json::json!({"items": [{
            "involvedObject": {"kind": "Job", "name": "other-lead"}, "message": "not ours"
        }]})
        .to_string(),
    );
    // The event names the run's own Job, whose name is only known after the start.
    let child = fake.command(&["run", "counted.yaml"]).spawn().unwrap();
    wait_for(&fake.site.path("bin/state/objects"));
    wait_until("the objects are complete", || {
        let objects = fs::read_to_string(fake.site.path("bin/state/objects")).unwrap();
        objects.contains("-agent\n")
    });
    let objects = fs::read_to_string(fake.site.path("bin/state/objects")).unwrap();
    let name = objects
        .lines()
        .find_map(|line| line.strip_prefix("  name: ")?.strip_suffix("-lead"))
        .unwrap();
    let event = serde_json::json!({"items": [{
        "involvedObject": {"kind": "Job", "name": format!("{name}-agent")},
        "message": "Error creating: pods \"x\" is forbidden: exceeded quota: small, requested: cpu=2, used: cpu=8, limited: cpu=8"
    }]});
    fake.site.write("bin/get-events.json", &event.to_string());
    let output = child.wait_with_output().unwrap();
    let stderr = check_status(&output, 2);
    assert!(stderr.contains("exceeded quota: small"), "{stderr}");
    fake.check_removed();
    fake.await_end();
}

#[test]
fn ctrl_c_ends_the_run_in_the_pods_and_brings_what_there_is() {
    let fake = FakeKubernetes::new();
    let child = fake.start_long();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = check_status(&output, 130);
    assert!(fake.site.path("out/report.html").exists(), "{stderr}");
    fake.check_removed();
    fake.await_end();
}

#[test]
fn a_killed_lead_is_named() {
    let fake = FakeKubernetes::new();
    let child = fake.start_long();
    let pid = fs::read_to_string(fake.site.path("bin/state/lead.pid")).unwrap();
    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = check_status(&output, 2);
    assert!(
        stderr.contains("pod lead ended: Error (exit status 137)"),
        "{stderr}"
    );
    fake.check_removed();
    fake.await_end();
}

#[test]
fn all_missing_rights_are_named_before_anything_is_created() {
    let fake = FakeKubernetes::new();
    let review = |group: &str, resource: &str, subresource: &str| {
        serde_json::json!({"spec": {"resourceAttributes": {"group": group, "resource": resource,
            "subresource": subresource, "verb": "create"}}, "status": {"allowed": false}})
        .to_string()
    };
    let reviews = review("batch", "jobs", "") + &review("", "pods", "exec");
    fake.site.write("bin/reviews.json", &reviews);
    let stderr = check_status(&fake.run(), 2);
    assert!(
        stderr
            .contains("rights are missing in namespace perf: create jobs.batch, create pods/exec"),
        "{stderr}"
    );
    assert!(stderr.contains("deploy/role.yaml"), "{stderr}");
    assert!(!fake.site.path("bin/state").exists());
    assert!(!fake.site.path("out").exists());
}

#[test]
fn an_ab_test_in_pods_measures_its_pairs_there() {
    let fake = FakeKubernetes::new();
    let sides = ["ab", "--a", "linger.ms=0", "--b", "linger.ms=5"];
    let short = ["--pairs", "1", "--duration", "1 s"];
    let cold = ["--set", "stages.warm-up=0 s"];
    let output = fake
        .command(&[&sides[..], &short, &cold].concat())
        .output()
        .unwrap();
    let stderr = check_status(&output, 2);
    assert!(stderr.contains("pair 1: B "), "{stderr}");
    let record = json(&fake.site.path("out/ab.json"));
    assert_eq!(record["blocks"].as_array().unwrap().len(), 1);
    fake.check_removed();
    fake.await_end();
}

#[test]
fn a_checkup_in_pods_plans_its_loads_there() {
    let fake = FakeKubernetes::new();
    let limits = ["--max-rate", "1k/s", "--budget", "90 s"];
    let mut command = fake.command(&[&["checkup"][..], &limits].concat());
    let child = command.spawn().unwrap();
    fake.await_load();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = check_status(&output, 130);
    assert!(stderr.contains("checkup, at most 1 min 30 s"), "{stderr}");
    let checkup = json(&fake.site.path("out/summary.json"))["checkup"].clone();
    assert_eq!(checkup["limits"]["rate_max"], 1_000.0);
    fake.check_removed();
    fake.await_end();
}

#[test]
fn a_search_in_pods_tries_its_rates_there() {
    let fake = FakeKubernetes::new();
    let search = ["capacity", "--goal", "p99 <= 20 ms", "--max-rate", "1k/s"];
    let child = fake.command(&search).spawn().unwrap();
    fake.await_load();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    check_status(&output, 130);
    let plan = json(&fake.site.path("out/plan.json"));
    let search = &plan["trials"][0]["search"];
    assert_eq!(search["rate_max"], 1_000.0, "{plan}");
    fake.check_removed();
    fake.await_end();
}

#[test]
fn a_saved_plan_keeps_its_seed_unless_the_user_gives_another() {
    let site = Site::new();
    let first = site.run(&["run", "counted.yaml", "--seed", "7", "--out", "first"]);
    check_status(&first, 0);
    let call = fake_kubectl::manifest("first/plan.json", "a:1");
    for (more, seed) in [(vec![], 7), (vec!["--seed", "9"], 9)] {
        let manifest = good(&site.run(&[&call[..], &more[..]].concat()));
        assert!(
            manifest.contains(&format!("\"seed\": {seed},")),
            "{manifest}"
        );
    }
}

#[test]
fn a_manifest_has_the_flags_of_the_lead() {
    let site = Site::new();
    let call = fake_kubectl::manifest("counted.yaml", "a:1");
    let manifest = good(&site.run(&[&call[..], &["--", "--agents-lost", "tolerate"]].concat()));
    assert!(manifest.contains("- --agents-lost=tolerate"), "{manifest}");
    for (flag, words) in [
        ("--serve=0", "--serve"),
        ("--target=b:1", "before `--`"),
        ("--verify", "before `--`"),
        ("--seed=7", "before `--`"),
        ("--rate=1k/s", "before `--`"),
    ] {
        let stderr = check_status(&site.run(&[&call[..], &["--", flag]].concat()), 2);
        assert!(stderr.contains(words), "{words}: {stderr}");
    }
}

#[test]
fn what_pods_cannot_do_is_refused_before_anything_is_created() {
    let site = Site::new();
    let agents = "k8s:replicas=2,namespace=perf";
    for (arguments, words) in [
        (&["--agents", agents][..], "pods need an existing cluster"),
        (
            &["--agents", agents, "--target", "embedded"],
            "started on this machine",
        ),
        (
            &["--agents", agents, "--target", "127.0.0.1:9092"],
            "is on this machine",
        ),
        (
            &["--agents", "k8s:replicas=2", "--target", "a:1"],
            "namespace= is missing",
        ),
        (
            &["--agents", agents, "--target", "a:1", "--serve", "0"],
            "--serve",
        ),
        (
            &["--agents", agents, "--target", "a:1", "--driver", "java"],
            "another client",
        ),
    ] {
        let output = site.run(&[&["run", "counted.yaml"], arguments].concat());
        let stderr = check_status(&output, 2);
        assert!(stderr.contains(words), "{words}: {stderr}");
    }
    let call = ["run", "counted.yaml", "--yes", "--target", "a:1"];
    let mut command = site.command(&[&call[..], &["--agents", agents]].concat());
    let output = command.env("PATH", site.dir.path()).output().unwrap();
    let stderr = check_status(&output, 2);
    assert!(stderr.contains("kubectl is not installed"), "{stderr}");
    assert!(!site.path("kgauge-runs").exists());
}
