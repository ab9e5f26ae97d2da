//! Clients and replicas in the page: charts of what did anything, marks where the cluster changed.

use kgauge_report::render_html;
use kgauge_results::run::{
    ClientSample, Event, EventKind, Evidence, EvidenceKind, MissingEvidence, RepeatKey,
    ReplicaChanges, Subject, TopicReplicasSample, TopicSample,
};
use kgauge_results::{RunRead, SECOND_NS};

use crate::made::{CALM, End, make};
use crate::scenarios;
use crate::tags::assert_balanced;

/// A run of one trial with what `see` puts into each repeat.
fn page_with(see: impl Fn(&mut RunRead, RepeatKey)) -> String {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (mut run, summary) = make(&dir, None, &scenarios::paced(), &CALM, End::Complete);
    let keys: Vec<RepeatKey> = run.repeats.iter().map(|repeat| repeat.key).collect();
    for key in keys {
        see(&mut run, key);
    }
    let page = render_html(&run, &summary);
    assert_balanced(&page);
    page
}

fn line(key: RepeatKey, second: u64, subject: Subject, kind: EvidenceKind) -> Evidence {
    Evidence {
        at_unix_ms: 0,
        repeat: Some(key),
        at_ns: Some(second * SECOND_NS),
        subject,
        kind,
    }
}

/// What is drawn, and what is said instead of a chart.
fn titles(page: &str) -> Vec<&str> {
    let drawn = page.split("<figcaption><strong>").skip(1);
    let lists = page.split("<ul class=\"numbers\">").skip(1);
    let lists = lists.filter_map(|list| Some(list.split_once("</ul>")?.0));
    let texts = lists.flat_map(|list| list.split("<li><strong>").skip(1));
    let titles = drawn.chain(texts);
    titles
        .filter_map(|part| Some(part.split_once("</strong>")?.0))
        .collect()
}

const LAG: &str = "Replica lag";
const SHORT: &str = "Under-replicated partitions";
const HELD: &str = "Producer buffer and requests";

#[test]
fn what_did_anything_has_a_chart_and_what_is_nought_has_none() {
    let page = page_with(|run, key| {
        for second in 0..6 {
            let replicas = TopicReplicasSample {
                log_bytes: Some(second * 4_000_000),
                lag_records: Some(second),
                ..TopicReplicasSample::default()
            };
            let broker = Subject::Cluster { broker: Some(2) };
            let kind = EvidenceKind::Replicas(replicas);
            run.evidence.push(line(key, second, broker, kind));
            let topic = EvidenceKind::Topic(TopicSample::default());
            let cluster = Subject::Cluster { broker: None };
            run.evidence.push(line(key, second, cluster, topic));
            let held = ClientSample {
                looks: 20 * second,
                buffer_bytes_sum: 100 * second,
                buffer_bytes_allowed_sum: 400 * second,
                ..ClientSample::default()
            };
            let flow = Subject::Flow { flow: 0 };
            run.evidence
                .push(line(key, second, flow, EvidenceKind::Client(held)));
        }
        let not_seen = MissingEvidence {
            what: "how far consumer groups have committed".to_owned(),
            why: "<b>refused</b>".to_owned(),
        };
        let cluster = Subject::Cluster { broker: None };
        let kind = EvidenceKind::NotSeen(not_seen);
        run.evidence.push(line(key, 6, cluster, kind));
    });
    let titles = titles(&page);
    for start in [LAG, HELD, "Log growth"] {
        let found = titles.iter().any(|title| title.starts_with(start));
        assert!(found, "{start}: {titles:?}");
    }
    assert!(!titles.contains(&SHORT), "{titles:?}");
    assert!(page.contains("Clients and replicas: batches"));
    let note = "Not available: how far consumer groups have committed \
                (&lt;b&gt;refused&lt;/b&gt;).";
    assert_eq!(page.matches(note).count(), 1, "once for all repeats");
}

#[test]
fn a_run_of_before_has_what_slices_tell_and_nothing_of_replicas() {
    let page = page_with(|_, _| {});
    let titles = titles(&page);
    assert!(
        !titles.contains(&LAG) && !titles.contains(&HELD),
        "{titles:?}"
    );
}

#[test]
fn a_leader_that_moves_is_marked_in_throughput_and_latency() {
    let page = page_with(|run, key| {
        run.events.push(Event {
            at_unix_ms: 0,
            repeat: Some(key),
            at_ns: Some(3 * SECOND_NS),
            kind: EventKind::ReplicasChanged {
                text: "2 leaders moved (0: leader 1 → 2; 3: leader 1 → 3)".to_owned(),
                changes: ReplicaChanges {
                    leaders_moved: 2,
                    ..ReplicaChanges::default()
                },
                partitions: Vec::new(),
                further: 0,
            },
        });
    });
    let note = "Cluster changes: 1 at 3.00 s, 2 leaders moved.";
    assert!(
        page.contains(note),
        "{:?}",
        page.find("Cluster changes").map(|at| &page[at..at + 120])
    );
    assert!(page.matches("class=\"fault change\"").count() >= 2);
    assert!(page.contains("2 leaders moved (0: leader 1 → 2; 3: leader 1 → 3)"));
}
