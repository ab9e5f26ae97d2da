//! The program on real Apache Kafka of every age. It needs Java and Maven, and takes minutes:
//!
//! `cargo test -p kgauge --test kafka -- --ignored --test-threads=2`

#![allow(clippy::unwrap_used, reason = "a test may end by a panic")]

#[path = "../program/site.rs"]
#[allow(dead_code)]
mod site;

mod bad_input;
mod consuming;
mod drivers;
mod ends;
#[path = "../../../target/src/fake_program.rs"]
mod fake_program;
mod flows;
mod metrics;
mod mirror;
mod releases;
mod secrets;
mod security;
mod transactions;
mod wire;

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use site::{ServingCluster, Site};

/// The release that most tests use.
const NEWEST: &str = "4.3.1";

/// Apache Kafka that starts quickly: in a run of seconds most of the time goes into Java's start, and most of that into
/// its second compiler. Its brokers are not warmed either.
fn kafka(version: &str, more: &str) -> String {
    format!("{},warming=off", warm_kafka(version, more))
}

/// The same, but a run warms its brokers first, as it does by default.
fn warm_kafka(version: &str, more: &str) -> String {
    format!("kafka:{version},{more},jvm=-XX:TieredStopAtLevel=1")
}

/// The program with the cache of releases that all tests share.
fn kgauge(site: &Site, arguments: &[&str]) -> Command {
    let mut command = site.command(arguments);
    command
        .env("XDG_CACHE_HOME", cache())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn start(site: &Site, arguments: &[&str]) -> Child {
    kgauge(site, arguments).spawn().unwrap()
}

/// A cluster that serves.
fn serve(site: &Site, target: &str) -> ServingCluster {
    ServingCluster::of(start(site, &["cluster", "up", target]))
}

fn cache() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// Processes whose command line names the site's folder.
fn processes(site: &Site) -> Vec<u32> {
    let dir = site.dir.path().to_str().unwrap().to_owned();
    let entries = std::fs::read_dir("/proc").unwrap();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let names = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&dir)
    };
    pids.filter(names).collect()
}
