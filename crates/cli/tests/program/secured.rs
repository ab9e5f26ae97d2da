//! The embedded cluster with TLS and SASL: clients with the credentials connect, and no secret is shown.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

use crate::site::{
    ServingCluster, Site, check_status, children, files, good, json, text, wait_for, wait_until,
};

fn is_empty(dir: &Path) -> bool {
    fs::read_dir(dir).map_or(true, |mut entries| entries.next().is_none())
}

#[test]
fn a_run_works_by_every_kind_of_security() {
    for security in [
        "tls",
        "mtls",
        "sasl-plain",
        "scram-sha-256",
        "scram-sha-512+tls",
    ] {
        let site = Site::new();
        let target = format!("embedded:2,security={security}");
        let call = ["run", "tiny.yaml", "--out", "out", "--repeat", "1"];
        let call = [&call[..], &["--target", &target]].concat();
        good(&site.run(&call));
        let trial = json(&site.path("out/summary.json"))["trials"][0].clone();
        assert_eq!(trial["counted"][0]["acked"], 800, "{security}");
        assert_eq!(trial["counted"][0]["on_broker"], 800, "{security}");
        let environment = json(&site.path("out/environment.json"));
        let note = &environment["target"]["notes"][0];
        assert_eq!(note["kind"], "embedded-security", "{note}");
        assert!(
            note["security"].as_str().unwrap().starts_with('S'),
            "{note}"
        );
        assert!(is_empty(&site.path("state/kgauge/clusters")), "{security}");
    }
}

/// Passwords, and the lines of private keys, in a cluster's private folder.
fn secrets(private: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in files(private) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        for line in text.lines() {
            found.extend(line.strip_prefix("sasl.password=").map(str::to_owned));
        }
        let key = text.split_once("-----BEGIN PRIVATE KEY-----");
        let key = key.and_then(|(_, key)| key.split_once("-----END"));
        let lines = key.into_iter().flat_map(|(key, _)| key.lines());
        found.extend(lines.filter(|line| line.len() > 30).map(str::to_owned));
    }
    found
}

#[test]
fn no_secret_of_an_embedded_cluster_is_seen_anywhere() {
    for (security, at_least) in [("scram-sha-512+tls", 1), ("mtls", 2), ("sasl-plain", 1)] {
        let site = Site::new();
        let target = format!("embedded:2,security={security}");
        let call = ["run", "tiny.yaml", "--out", "out", "--target", &target];
        let hold = ["--set", "stages.hold='2 s'", "--repeat", "1"];
        let child = site.start(&[&call[..], &hold].concat());
        wait_for(&site.path("out/repeats/0000-00/slices.jsonl"));
        let private = site.path("state/kgauge/clusters");
        let mut secrets = secrets(&private);
        assert!(secrets.len() >= at_least, "{security}: {}", secrets.len());
        // The nodes' own keys are in no file, so no private key at all may be shown.
        secrets.insert("PRIVATE KEY".to_owned());
        let shows = |what: &str, bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            let seen = secrets.iter().any(|secret| text.contains(secret.as_str()));
            assert!(!seen, "{security}: a secret in {what}");
        };
        let clusters = children(child.id());
        assert_eq!(clusters.len(), 1, "the embedded cluster is a process");
        for pid in [child.id().to_string(), clusters[0].to_string()] {
            for file in ["cmdline", "environ"] {
                let path = format!("/proc/{pid}/{file}");
                shows(&path, &fs::read(&path).unwrap());
            }
        }
        // While it runs: data, log and results. The remaining files are checked afterwards.
        for path in files(&site.path("out")) {
            shows(
                &path.display().to_string(),
                &fs::read(&path).unwrap_or_default(),
            );
        }
        let output = child.wait_with_output().unwrap();
        check_status(&output, 0);
        shows("stdout", &output.stdout);
        shows("stderr", &output.stderr);
        for path in files(&site.path("out")) {
            shows(&path.display().to_string(), &fs::read(&path).unwrap());
        }
        assert!(is_empty(&private), "{security}: gone with the cluster");
        assert!(is_empty(&site.path("tmp")));
    }
}

#[test]
fn clients_of_a_secured_cluster_need_its_properties() {
    let site = Site::new();
    let mut cluster = ServingCluster::start(&site, &["embedded:3,security=scram-sha-256+tls"]);
    let properties = cluster.properties();
    let run = |target: &str| {
        let call = ["run", "tiny.yaml", "--yes", "--repeat", "1", "--target"];
        let output = site.run(&[&call[..], &[target]].concat());
        (output.status.code(), text(&output.stderr))
    };
    let (status, stderr) = run(properties.to_str().unwrap());
    assert_eq!(status, Some(0), "{stderr}");

    let right = fs::read_to_string(&properties).unwrap();
    assert!(right.starts_with(&format!("bootstrap.servers={}\n", cluster.servers)));
    let at = right.find("password=\"").unwrap() + "password=\"".len();
    let mut wrong = right.clone();
    wrong.replace_range(at..at + 8, "00000000");
    site.write("wrong.properties", &wrong);
    let (status, stderr) = run("wrong.properties");
    assert_eq!(status, Some(3), "{stderr}");
    assert!(
        stderr.contains("the credentials were not accepted"),
        "{stderr}"
    );

    let (status, stderr) = run(&cluster.servers);
    assert_eq!(status, Some(3), "without TLS: {stderr}");

    let private = properties.parent().unwrap();
    assert!(private.join("librdkafka.properties").exists());
    cluster.interrupt();
    let (status, stderr) = cluster.wait();
    assert_eq!(status, Some(0), "{stderr}");
    assert!(!private.exists());
    assert!(is_empty(&site.path("tmp")), "nothing is left");
}

#[test]
fn after_kill_9_neither_secrets_nor_processes_are_left() {
    let site = Site::new();
    let mut cluster = ServingCluster::start(&site, &["embedded,security=mtls"]);
    let properties = cluster.properties();
    let private = properties.parent().unwrap();
    let child = children(cluster.process.id())[0];
    assert!(private.exists());
    cluster.process.kill().unwrap();
    cluster.process.wait().unwrap();
    wait_until("the private folder is removed", || !private.exists());
    wait_until("the child ends", || {
        let stat = fs::read_to_string(format!("/proc/{child}/stat"));
        stat.map_or(true, |stat| stat.contains(") Z "))
    });
}

#[test]
fn after_a_bad_end_the_error_names_the_folder_of_the_logs() {
    let site = Site::new();
    let mut cluster = ServingCluster::start(&site, &["embedded:2"]);
    let child = children(cluster.process.id())[0];
    // kgauge keeps logs only if one of them is not empty.
    let folder = fs::read_dir(site.path("tmp")).unwrap().next().unwrap();
    let log = folder.unwrap().path().join("target.log");
    assert!(log.exists());
    fs::write(&log, "last words\n").unwrap();
    kill_process(Pid::from_raw(child).unwrap(), Signal::KILL).unwrap();
    let (status, stderr) = cluster.wait();
    assert_eq!(status, Some(3), "{stderr}");
    let place = log.parent().unwrap().display().to_string();
    assert!(
        stderr.contains(&format!("its logs are kept in {place}")),
        "{stderr}"
    );
    assert_eq!(fs::read_to_string(&log).unwrap(), "last words\n");
    assert!(!log.with_file_name("data").exists(), "only the logs");
}

#[test]
fn the_flush_policy_of_an_option_is_in_the_meaning_of_an_ack() {
    let site = Site::new();
    let flush = |out: &str, target: &str, more: &[&str]| {
        let call = ["run", "counted.yaml", "--out", out, "--target", target];
        good(&site.run(&[&call[..], more].concat()));
        let summary = json(&site.path(out).join("summary.json"));
        let meaning = &summary["trials"][0]["flows"][0]["ack"];
        let words = meaning["flush"].as_str();
        let words = words.unwrap_or_else(|| panic!("{meaning}")).to_owned();
        let sentence = meaning["sentence"].as_str().unwrap();
        assert!(sentence.contains(&words), "{sentence}");
        let report = fs::read_to_string(site.path(out).join("report.html")).unwrap();
        // A number stays on one line with its unit.
        let report = report.replace('\u{a0}', " ");
        assert!(report.contains(&words), "{words}");
        words
    };
    assert_eq!(
        flush("a", "embedded", &[]),
        "flushing left to the operating system"
    );
    assert_eq!(
        flush("b", "embedded:3,log.flush.interval.messages=1", &[]),
        "flushed to disk before the ack"
    );
    let both = "embedded,log.flush.interval.messages=100,log.flush.interval.ms=50";
    assert_eq!(
        flush("c", both, &[]),
        "flushed every 100 records and flushed every 50 ms"
    );
    // A topic's own setting wins.
    let topic = ["--set", "topic.config.flush.ms=20"];
    assert_eq!(
        flush("d", "embedded,log.flush.interval.ms=50", &topic),
        "flushed every 20 ms"
    );
    let one = "embedded:2,2.log.flush.interval.messages=1";
    flush("e", one, &[]);
    let environment = json(&site.path("e/environment.json"));
    let note = &environment["target"]["notes"][0];
    assert_eq!(note["kind"], "flushes-differ", "{note}");
    assert_eq!(note["setting"], "log.flush.interval.messages");
}
