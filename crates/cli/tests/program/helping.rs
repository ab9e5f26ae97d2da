//! `kgauge help` and `kgauge schema`: what the program knows of its guide.

use std::fs;
use std::path::Path;

use crate::site::{Site, check_refused, check_status, text};

fn shown(arguments: &[&str]) -> String {
    let output = Site::new().run(arguments);
    check_status(&output, 0);
    text(&output.stdout)
}

#[test]
fn every_topic_is_plain_text_of_80_columns() {
    for (topic, words) in [
        ("scenario", "Scenario files\n=============="),
        ("marks", "*, closed loop"),
        ("targets", "--target selects the cluster under test."),
        ("exit-codes", "bad input"),
    ] {
        let page = shown(&["help", topic]);
        assert!(page.contains(words), "{page}");
        assert!(!page.contains("](") && !page.contains("<!--"), "{page}");
        for line in page.lines().filter(|line| !line.starts_with("    ")) {
            assert!(line.chars().count() <= 80, "{topic}: {line}");
        }
    }
}

#[test]
fn commands_have_their_help_there_too() {
    assert_eq!(shown(&["help"]), shown(&["--help"]));
    assert_eq!(
        shown(&["help", "cluster", "up"]),
        shown(&["cluster", "up", "--help"])
    );
    let up = shown(&["cluster", "up", "--help"]);
    // What listens on all addresses is advertised as localhost, and in a container that is the container.
    let example = "  kgauge cluster up --listen 0.0.0.0 --advertise host.docker.internal\n";
    assert!(up.contains(example), "{up}");
    assert!(up.contains("`localhost` for"), "{up}");
    let topics = "topics: scenario, marks, targets, kubernetes, exit-codes";
    check_refused(
        &["help", "nonsense"],
        2,
        &["no topic or command `nonsense`", topics],
    );
}

#[test]
fn schemas_are_those_of_the_documentation() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    for kind in ["scenario", "summary", "comparison"] {
        let published = fs::read_to_string(docs.join(format!("{kind}.schema.json"))).unwrap();
        assert!(shown(&["schema", kind]) == published, "{kind}");
    }
    assert_eq!(shown(&["schema"]), shown(&["schema", "scenario"]));
    check_refused(&["schema", "plan"], 2, &["scenario, summary, comparison"]);
}
