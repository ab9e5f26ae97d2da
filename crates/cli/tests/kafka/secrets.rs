//! Secrets appear in no argument, environment, output, log, report or run folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::security::check_counted;
use crate::site::{Site, files, good, wait_for};
use crate::{kafka, processes, start};

/// The passwords, and the lines of private keys, in a cluster's configuration files.
fn secrets(conf: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in files(conf) {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        for line in text.lines() {
            if let Some((key, value)) = line.split_once(".password=") {
                // The password of the key stores, and that in librdkafka.properties.
                assert!(key.starts_with("ssl.") || key == "sasl", "{key}");
                found.insert(value.to_owned());
            }
            for (_, rest) in line
                .match_indices("password=\"")
                .map(|(at, _)| line.split_at(at))
            {
                found.insert(rest.split('"').nth(1).unwrap().to_owned());
            }
            if let Some((_, rest)) = line.split_once("user_kgauge=\"") {
                found.insert(rest.split('"').next().unwrap().to_owned());
            }
        }
        if let Some((_, key)) = text.split_once("-----BEGIN PRIVATE KEY-----") {
            let (key, _) = key.split_once("-----END").unwrap();
            found.extend(
                key.lines()
                    .map(str::to_owned)
                    .filter(|line| line.len() > 30),
            );
        }
    }
    found
}

fn check(security: &str, version: &str, at_least: usize) {
    let site = Site::new();
    let target = kafka(version, &format!("heap=512M,security={security}"));
    // A run of two seconds, in which the test searches everything.
    let rate = "writers.shape.constant=400/s";
    let call = ["run", "counted.yaml", "--out", "out", "--target", &target];
    let child = start(&site, &[&call[..], &["--set", rate]].concat());
    wait_for(&site.path("out/repeats/0000-00/slices.jsonl"));
    let conf = site.path("state/kgauge/clusters");
    let secrets = secrets(&conf);
    assert!(
        secrets.len() >= at_least,
        "{security}: {} found",
        secrets.len()
    );
    let shows = |what: &str, bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        for secret in &secrets {
            assert!(
                !text.contains(secret.as_str()),
                "{security}: a secret in {what}"
            );
        }
    };
    let pids = processes(&site);
    assert!(!pids.is_empty(), "{security}: Kafka runs");
    for pid in pids {
        for file in ["cmdline", "environ"] {
            let path = format!("/proc/{pid}/{file}");
            shows(&path, &fs::read(&path).unwrap_or_default());
        }
    }
    let output = child.wait_with_output().unwrap();
    good(&output);
    check_counted(&site, security);
    shows("stdout", &output.stdout);
    shows("stderr", &output.stderr);
    for path in files(&site.path("out")) {
        shows(&path.display().to_string(), &fs::read(&path).unwrap());
    }
    assert!(
        files(&conf).is_empty(),
        "configurations are gone with the cluster"
    );
}

#[test]
#[ignore = "real Kafka"]
fn no_secret_of_scram_over_tls_is_seen_anywhere() {
    check("scram-sha-512+tls", crate::NEWEST, 2);
}

#[test]
#[ignore = "real Kafka"]
fn no_secret_of_mtls_is_seen_anywhere() {
    check("mtls", crate::NEWEST, 2);
}

#[test]
#[ignore = "real Kafka"]
fn no_secret_of_plain_is_seen_anywhere_on_an_old_release() {
    check("sasl-plain+tls", "1.0.2", 2);
}
