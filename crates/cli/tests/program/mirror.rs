//! What kgauge refuses about second clusters, before anything is started.

use crate::site::{Site, text};

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

/// What is said of a call that is refused.
fn refused(call: &[&str]) -> String {
    let site = Site::new();
    site.write("mirror.yaml", MIRROR);
    let output = site.run(&[&["run"], call].concat());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{call:?}: {said}");
    assert!(!site.path("kgauge-runs").exists(), "{call:?}");
    said
}

#[test]
fn a_second_cluster_is_asked_for_where_kgauge_cannot_start_it() {
    let said = refused(&["mirror.yaml", "--target", "127.0.0.1:9", "--yes"]);
    assert!(said.contains("--destination TARGET"), "{said}");
}

#[test]
fn a_second_cluster_that_nothing_is_copied_to_is_refused() {
    let said = refused(&["tiny.yaml", "--destination", "embedded"]);
    assert!(
        said.contains("none of the scenarios has a mirror"),
        "{said}"
    );
    let none = ["--set", "target.mirror.replicator=none"];
    let said = refused(&[&["mirror.yaml"], &none[..]].concat());
    assert!(said.contains("nothing would copy"), "{said}");
}

#[test]
fn mirror_maker_is_not_let_loose_on_somebodys_cluster() {
    let there = [
        "--target",
        "127.0.0.1:9",
        "--yes",
        "--destination",
        "127.0.0.1:10",
    ];
    let said = refused(&[&["mirror.yaml"], &there[..]].concat());
    assert!(said.contains("its own topics"), "{said}");
    assert!(said.contains("target.mirror.replicator=none"), "{said}");
    let said = refused(&["mirror.yaml", "--destination", "embeded"]);
    assert!(said.contains("did you mean embedded?"), "{said}");
}
