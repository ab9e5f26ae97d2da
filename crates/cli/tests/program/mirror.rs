//! What kgauge refuses about second clusters, before anything is started.

use crate::site::{Site, check_status};

const MIRROR: &str = "\
kgauge: 1
name: mirror
question: Does it arrive?
target: {mirror: {}}
topic: {partitions: 1}
flows:
  - {name: records, kind: echo, shape: {constant: 100/s}, record: {size: 100 B}}
stages: {warm-up: 0 s, hold: 1 s}
repeats: 1
";

/// The stderr of a run that is refused.
fn refused(call: &[&str]) -> String {
    let site = Site::new();
    site.write("mirror.yaml", MIRROR);
    let stderr = check_status(&site.run(&[&["run"], call].concat()), 2);
    assert!(!site.path("kgauge-runs").exists(), "{call:?}");
    stderr
}

#[test]
fn a_second_cluster_is_asked_for_where_kgauge_cannot_start_it() {
    let stderr = refused(&["mirror.yaml", "--target", "127.0.0.1:9", "--yes"]);
    assert!(stderr.contains("--destination TARGET"), "{stderr}");
}

#[test]
fn a_second_cluster_that_nothing_is_copied_to_is_refused() {
    let stderr = refused(&["tiny.yaml", "--destination", "embedded"]);
    assert!(
        stderr.contains("none of the scenarios has a mirror"),
        "{stderr}"
    );
    let none = ["--set", "target.mirror.replicator=none"];
    let stderr = refused(&[&["mirror.yaml"], &none[..]].concat());
    assert!(stderr.contains("nothing would copy"), "{stderr}");
}

#[test]
fn mirror_maker_is_not_started_on_an_existing_cluster() {
    let there = [
        "--target",
        "127.0.0.1:9",
        "--yes",
        "--destination",
        "127.0.0.1:10",
    ];
    let stderr = refused(&[&["mirror.yaml"], &there[..]].concat());
    assert!(stderr.contains("its own topics"), "{stderr}");
    assert!(stderr.contains("target.mirror.replicator=none"), "{stderr}");
    let stderr = refused(&["mirror.yaml", "--destination", "embeded"]);
    assert!(stderr.contains("did you mean embedded?"), "{stderr}");
}
