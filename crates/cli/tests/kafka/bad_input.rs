//! Bad input gets its own clear error with a fix and exit status 3, and leaves nothing behind.

use std::fs;

use crate::fake_program::write_script;
use crate::site::{Site, check_status, text};
use crate::{NEWEST, kafka, kgauge, processes};

/// Runs on a target with other environment variables. Returns the exit status and stderr.
fn run(site: &Site, target: &str, environment: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut command = kgauge(
        site,
        &["run", "tiny.yaml", "--out", "out", "--target", target],
    );
    command.envs(environment.iter().copied());
    let output = command.output().unwrap();
    assert_eq!(processes(site), [0; 0]);
    assert!(!site.path("out").exists());
    (output.status.code(), text(&output.stderr))
}

#[test]
fn a_missing_or_a_wrong_java_is_refused() {
    let site = Site::new();
    let (status, stderr) = run(
        &site,
        "kafka:4.3.1",
        &[("PATH", "/nowhere"), ("JAVA_HOME", "")],
    );
    assert_eq!(status, Some(3), "{stderr}");
    assert!(
        stderr.contains("needs Java, but none was found in PATH"),
        "{stderr}"
    );
    assert!(stderr.contains("install a JDK"), "{stderr}");
    let home = site.path("jdk");
    fs::create_dir_all(home.join("bin")).unwrap();
    write_script(
        &home.join("bin/java"),
        "echo 'openjdk version \"11.0.2\"' >&2",
    );
    let java = [("JAVA_HOME", home.to_str().unwrap())];
    let (status, stderr) = run(&site, "kafka:4.3.1", &java);
    assert_eq!(status, Some(3), "{stderr}");
    assert!(stderr.contains("4.3.1 needs Java 17 or newer"), "{stderr}");
    assert!(stderr.contains("is Java 11"), "{stderr}");
}

#[test]
fn no_maven_and_an_unknown_release_and_no_network_are_told_apart() {
    let site = Site::new();
    let bin = site.path("bin");
    fs::create_dir(&bin).unwrap();
    write_script(&bin.join("java"), "echo 'openjdk version \"17.0.2\"' >&2");
    let cache = site.path("cache");
    let only = |site: &Site, target: &str| {
        let (bin, cache) = (bin.to_str().unwrap(), cache.to_str().unwrap());
        run(
            site,
            target,
            &[("PATH", bin), ("JAVA_HOME", ""), ("XDG_CACHE_HOME", cache)],
        )
    };
    let (status, stderr) = only(&site, "kafka:4.3.1");
    assert_eq!(status, Some(3), "{stderr}");
    assert!(
        stderr.contains("is not in the cache, and there is no Maven"),
        "{stderr}"
    );
    assert!(stderr.contains("--kafka-home"), "{stderr}");
    // Maven's messages for a missing release, and without a network.
    let missing =
        "echo '[ERROR] Could not find artifact org.apache.kafka:kafka_2.13:jar:9.9.9 in x'; exit 1";
    write_script(&bin.join("mvn"), missing);
    let (status, stderr) = only(&site, "kafka:9.9.9");
    assert_eq!(status, Some(3), "{stderr}");
    assert!(
        stderr.contains("Maven has no Apache Kafka 9.9.9"),
        "{stderr}"
    );
    let offline = "echo '[ERROR] Could not transfer artifact x from y: Unknown host y'; exit 1";
    write_script(&bin.join("mvn"), offline);
    let (status, stderr) = only(&site, "kafka:4.3.1");
    assert_eq!(status, Some(3), "{stderr}");
    assert!(
        stderr.contains("Maven cannot reach a repository"),
        "{stderr}"
    );
}

#[test]
fn a_target_without_release_or_with_a_slip_is_bad_input() {
    let site = Site::new();
    let (status, stderr) = run(&site, "kafka", &[]);
    assert_eq!(status, Some(2), "{stderr}");
    assert!(
        stderr.contains("the target does not name an Apache Kafka release"),
        "{stderr}"
    );
    let (status, stderr) = run(&site, "kafka:4.3.1,broker=3", &[]);
    assert_eq!(status, Some(2), "{stderr}");
    assert!(stderr.contains("did you mean brokers?"), "{stderr}");
}

#[test]
#[ignore = "real Kafka"]
fn a_setting_that_the_broker_refuses_or_does_not_know_is_named() {
    let site = Site::new();
    let (status, stderr) = run(&site, &kafka(NEWEST, "heap=512M,num.io.threads=none"), &[]);
    assert_eq!(status, Some(3), "{stderr}");
    assert!(stderr.contains("num.io.threads"), "{stderr}");
    // Old releases have no storage to format: the broker itself exits.
    let (status, stderr) = run(&site, &kafka("1.0.2", "heap=512M,num.io.threads=none"), &[]);
    assert_eq!(status, Some(3), "{stderr}");
    assert!(stderr.contains("broker 1 exited"), "{stderr}");
    // The log exists although there is no run folder.
    let (_, rest) = stderr.split_once("the last lines of ").unwrap();
    let log = std::path::PathBuf::from(rest.split(":\n").next().unwrap());
    assert!(fs::read_to_string(&log).unwrap().contains("num.io.threads"));
    fs::remove_dir_all(log.parent().unwrap()).unwrap();
    let (status, stderr) = run(&site, &kafka(NEWEST, "heap=512M,num.io.treads=4"), &[]);
    assert_eq!(status, Some(3), "{stderr}");
    assert!(stderr.contains("did you mean num.io.threads?"), "{stderr}");
}

#[test]
#[ignore = "real Kafka"]
fn too_little_memory_is_refused_before_anything_starts() {
    let site = Site::new();
    let (status, stderr) = run(&site, "kafka:4.3.1,brokers=9,heap=900G", &[]);
    assert_eq!(status, Some(3), "{stderr}");
    assert!(stderr.contains("MiB are available"), "{stderr}");
    assert!(stderr.contains("smaller heap"), "{stderr}");
}

#[test]
#[ignore = "real Kafka"]
fn an_unpacked_release_is_started_from_its_folder() {
    let site = Site::new();
    let call = ["run", "counted.yaml", "--repeat", "1", "--target"];
    let home = crate::cache().join("kgauge/kafka").join(NEWEST);
    // A first start fills the cache, which then serves as an unpacked release.
    if !home.join("libs").is_dir() {
        let target = kafka(NEWEST, "heap=512M");
        let first = [&call[..], &[target.as_str(), "--out", "first"]].concat();
        let output = kgauge(&site, &first).output().unwrap();
        check_status(&output, 0);
    }
    let home = home.to_str().unwrap();
    let target = "kafka,heap=512M,jvm=-XX:TieredStopAtLevel=1,warming=off";
    let second = [target, "--kafka-home", home, "--out", "second"];
    let output = kgauge(&site, &[&call[..], &second].concat())
        .output()
        .unwrap();
    check_status(&output, 0);
}
