//! The machine in the page: charts of what did anything, words for what could not be seen.

use kgauge_analyze::Summary;
use kgauge_report::render_html;
use kgauge_results::metrics::{MetricId, Readings};
use kgauge_results::run::{
    DataDir, DiskSample, Evidence, EvidenceKind, HostMemory, IdleTime, MissingEvidence,
    NetworkSample, NetworkSpeed, PressureSample, RepeatKey, Resource, SpeedSource, Subject,
};
use kgauge_results::{RunRead, SECOND_NS};

use crate::made::{CALM, End, make};
use crate::scenarios;
use crate::tags::assert_balanced;

/// A run of one trial, with what was seen of its machine.
fn page_with(see: impl Fn(u64) -> Vec<EvidenceKind>) -> String {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (mut run, summary) = make(&dir, None, &scenarios::paced(), &CALM, End::Complete);
    let keys: Vec<RepeatKey> = run.repeats.iter().map(|repeat| repeat.key).collect();
    for key in keys {
        for second in 0..6 {
            let kinds = see(second).into_iter();
            run.evidence.extend(kinds.map(|kind| Evidence {
                at_unix_ms: 0,
                repeat: Some(key),
                at_ns: Some(second * SECOND_NS),
                subject: Subject::Host,
                kind,
            }));
        }
    }
    render(&run, &summary)
}

fn render(run: &RunRead, summary: &Summary) -> String {
    let page = render_html(run, summary);
    assert_balanced(&page);
    page
}

fn disk(name: &str, second: u64) -> EvidenceKind {
    EvidenceKind::Disk(DiskSample {
        disk: name.to_owned(),
        values: Readings::from([
            (MetricId::DiskWrites, 10 * second),
            (MetricId::DiskWrittenBytes, 25_000_000 * second),
            (MetricId::DiskWriteTime, 20_000_000 * second),
            (MetricId::DiskBusy, SECOND_NS / 2 * second),
            (MetricId::DiskQueued, SECOND_NS * second),
        ]),
    })
}

fn data_on(disk: &str) -> EvidenceKind {
    EvidenceKind::DataDir(DataDir {
        path: "/data".to_owned(),
        file_system: Some("xfs".to_owned()),
        disks: vec![disk.to_owned()],
        ..DataDir::default()
    })
}

fn titles(page: &str) -> Vec<&str> {
    let parts = page.split("<figcaption><strong>").skip(1);
    let titles = parts.filter_map(|part| Some(part.split_once("</strong>")?.0));
    titles.collect()
}

/// What is said instead of a chart: its titles.
fn texts(page: &str) -> Vec<&str> {
    let lists = page.split("<ul class=\"numbers\">").skip(1);
    let lists = lists.filter_map(|list| Some(list.split_once("</ul>")?.0));
    let items = lists.flat_map(|list| list.split("<li><strong>").skip(1));
    let titles = items.filter_map(|item| Some(item.split_once("</strong>")?.0));
    titles.collect()
}

/// 1, 3, 6, 10, 15: what grows by one more each second.
fn growing(second: u64) -> u64 {
    second * (second + 1) / 2
}

#[test]
fn what_the_machine_did_is_shown_and_what_did_nothing_is_not() {
    let page = page_with(|second| {
        vec![
            disk("nvme0n1", second),
            disk("sdb", 0),
            data_on("nvme0n1"),
            EvidenceKind::HostMemory(HostMemory {
                values: Readings::from([
                    (MetricId::MemoryAvailable, 5_000_000_000),
                    (MetricId::MemoryDirty, 1_000_000 * second),
                ]),
            }),
            EvidenceKind::Pressure(PressureSample {
                resource: Resource::Io,
                values: Readings::from([
                    (MetricId::PressureSome, SECOND_NS / 4 * second),
                    (MetricId::PressureFull, 0),
                ]),
            }),
            EvidenceKind::Idle(IdleTime {
                values: Readings::from([(MetricId::CpuIowait, SECOND_NS / 10 * second)]),
            }),
        ]
    });
    let flat = [
        "Disks",
        "Disk utilisation",
        "Disk latency",
        "Disk queues",
        "Machine memory",
        "Pressure stall (PSI)",
    ];
    let all = texts(&page);
    let first = all.iter().position(|title| *title == "Disks").unwrap();
    assert_eq!(all[first..], flat);
    assert!(titles(&page).contains(&"Dirty pages"), "they grow");
    assert!(page.contains("The target&#39;s data is on nvme0n1 (xfs)."));
    assert!(page.contains("disk, some tasks") && !page.contains("disk, all tasks"));
    assert!(page.contains("iowait") && !page.contains("stolen"));
    assert!(!page.contains("sdb"), "it did nothing");
    assert!(page.contains("25.0 MB/s throughout"), "megabytes a second");
    let charts = page.matches("<figure class=\"chart").count();
    assert_eq!(page.matches("<details class=\"data\">").count(), charts);
}

#[test]
fn a_run_that_did_not_look_says_nothing_of_its_machine() {
    let page = page_with(|_| Vec::new());
    assert!(!titles(&page).contains(&"Disks") && !texts(&page).contains(&"Disks"));
}

#[test]
fn what_could_not_be_seen_is_said_once_even_without_charts() {
    let page = page_with(|_| {
        vec![EvidenceKind::NotSeen(MissingEvidence {
            what: "waits for disks".to_owned(),
            why: "no such file".to_owned(),
        })]
    });
    assert_eq!(
        page.matches("Not available: waits for disks (no such file).")
            .count(),
        1
    );
}

#[test]
fn names_of_devices_are_only_names() {
    const HOSTILE: &str = "\"'></script><script>alert(1)</script><!--\u{202e}";
    let page = page_with(|second| {
        vec![
            disk(HOSTILE, second),
            data_on(HOSTILE),
            EvidenceKind::Network(NetworkSample {
                interface: HOSTILE.to_owned(),
                values: Readings::from([(MetricId::SentBytes, 1_000_000 * second)]),
            }),
            EvidenceKind::NotSeen(MissingEvidence {
                what: HOSTILE.to_owned(),
                why: HOSTILE.to_owned(),
            }),
        ]
    });
    // Its own two: the data block and the script.
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("<!--") && !page.contains('\u{202e}'));
    assert!(page.matches("alert(1)").count() > 5, "they are shown");
}

#[test]
fn a_long_run_and_many_devices_stay_small() {
    let few = page_with(|second| vec![disk("sda", second)]).len();
    let many = page_with(|second| {
        let disks = (0..60).map(|number| disk(&format!("sd{number}"), second * (number + 1)));
        disks.collect()
    });
    assert!(many.len() < few + 100_000, "{} and {few}", many.len());
    assert!(
        many.contains("sd59") && !many.contains("sd17"),
        "the busiest"
    );
    assert!(many.contains("Omitted: 56 other disks with less traffic."));
}

#[test]
fn texts_without_end_are_cut_and_many_notes_are_counted() {
    let few = page_with(|second| vec![disk("sda", second)]).len();
    let long = "x<".repeat(1_500_000);
    let page = page_with(|second| {
        let not_seen =
            |what: String, why: String| EvidenceKind::NotSeen(MissingEvidence { what, why });
        let mut seen = vec![disk("sda", second), not_seen(long.clone(), long.clone())];
        let name = "n".repeat(50_000);
        seen.push(disk(&name, 2 * second));
        seen.push(EvidenceKind::DataDir(DataDir {
            why: Some(long.clone()),
            ..DataDir::default()
        }));
        let many = (0..5_000).map(|number| not_seen(format!("thing {number}"), String::new()));
        seen.extend(many);
        seen
    });
    assert!(page.len() < few + 60_000, "{} and {few}", page.len());
    assert!(page.contains("…") && !page.contains(&"n".repeat(201)));
    assert_eq!(page.matches("Not available: thing ").count(), 18);
    // The two long ones and eighteen of these are shown.
    assert!(page.contains("And 4,982 more."));
}

#[test]
fn repeats_that_were_sampled_some_microseconds_apart_share_the_rows_of_a_table() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (mut run, summary) = make(&dir, None, &scenarios::of_sizes(1, 3), &CALM, End::Complete);
    let keys: Vec<RepeatKey> = run.repeats.iter().map(|repeat| repeat.key).collect();
    assert_eq!(keys.len(), 3);
    for key in keys {
        run.evidence.extend((0..6).map(|second| Evidence {
            at_unix_ms: 0,
            repeat: Some(key),
            at_ns: Some(second * SECOND_NS + u64::from(key.repeat) * 7_013 * (second + 1)),
            subject: Subject::Host,
            kind: EvidenceKind::Disk(DiskSample {
                disk: "sda".to_owned(),
                values: Readings::from([
                    (MetricId::DiskWrites, 10 * second),
                    (MetricId::DiskWrittenBytes, 25_000_000 * second),
                    (MetricId::DiskBusy, SECOND_NS / 10 * growing(second)),
                ]),
            }),
        }));
    }
    let page = render(&run, &summary);
    let (_, chart) = page.split_once("-disk-use\"").unwrap();
    let (_, body) = chart.split_once("<tbody>").unwrap();
    let (body, _) = body.split_once("</tbody>").unwrap();
    assert_eq!(body.matches("<tr>").count(), 5);
    assert_eq!(body.matches("<td>").count(), 15);
    assert_eq!(
        body.matches(" %</td>").count(),
        15,
        "no cell is empty: {body}"
    );
}

/// A chart of a page: its lines' names, and the highest value of each.
fn lines_of(page: &str, id: &str) -> Option<Vec<(String, f64)>> {
    let (_, data) = page.split_once("id=\"chart-data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let data: Vec<serde_json::Value> = serde_json::from_str(data).unwrap();
    let chart = data.iter().find(|chart| chart["id"] == id)?;
    let lines = chart["lines"].as_array().unwrap().iter().map(|line| {
        let values = line["y"].as_array().unwrap().iter();
        let highest = values
            .filter_map(serde_json::Value::as_f64)
            .fold(0.0, f64::max);
        let name = line["group"].as_u64().unwrap() as usize;
        (chart["groups"][name].as_str().unwrap().to_owned(), highest)
    });
    Some(lines.collect())
}

#[test]
fn what_interfaces_carried_of_their_speed_is_drawn_where_it_is_known() {
    let look = |interface: &str, received: u64, sent: u64| {
        EvidenceKind::Network(NetworkSample {
            interface: interface.to_owned(),
            values: Readings::from([
                (MetricId::ReceivedBytes, received),
                (MetricId::SentBytes, sent),
            ]),
        })
    };
    let speed = |interface: &str, is_half_duplex| {
        EvidenceKind::NetworkSpeed(NetworkSpeed {
            interface: interface.to_owned(),
            bits_per_s: 1_000_000_000,
            is_half_duplex,
            told_by: SpeedSource::Kernel,
        })
    };
    let moved = |second: u64| {
        vec![
            look(
                "eth0",
                2_500_000 * growing(second),
                20_000_000 * growing(second),
            ),
            look(
                "old",
                5_000_000 * growing(second),
                10_000_000 * growing(second),
            ),
            look(
                "lo",
                12_500_000 * growing(second),
                12_500_000 * growing(second),
            ),
            look("mute", 1_000_000 * growing(second), 0),
        ]
    };
    let mut page = page_with(|second| {
        let mut seen = moved(second);
        if second == 0 {
            seen.extend([speed("eth0", false), speed("old", true), speed("lo", false)]);
        }
        seen
    });
    // 1 Gbit/s are 125 MB/s; the last second carries five times the first.
    let mut lines = lines_of(&page, "trial-1-network-use").unwrap();
    lines.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [
        ("eth0 in", 10.0),
        ("eth0 out", 80.0),
        ("lo", 50.0),
        ("old", 60.0),
    ];
    let expected = expected.map(|(name, percent)| (name.to_owned(), percent));
    assert_eq!(lines, expected);
    page = page_with(moved);
    assert!(lines_of(&page, "trial-1-network-use").is_none());
    assert!(lines_of(&page, "trial-1-network").is_some());
}

#[test]
fn packets_dropped_are_told_by_the_second() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (mut run, summary) = make(&dir, None, &scenarios::paced(), &CALM, End::Complete);
    let key = run.repeats[0].key;
    for (second, drops) in [(0, 0), (4, 12), (5, 15)] {
        run.evidence.push(Evidence {
            at_unix_ms: 0,
            repeat: Some(key),
            at_ns: Some(second * SECOND_NS),
            subject: Subject::Host,
            kind: EvidenceKind::Network(NetworkSample {
                interface: "eth0".to_owned(),
                values: Readings::from([
                    (MetricId::ReceivedBytes, 1_000_000 * second),
                    (MetricId::ReceivedDrops, drops),
                ]),
            }),
        });
    }
    let page = render(&run, &summary);
    assert!(texts(&page).contains(&"Packets dropped"));
    assert!(page.contains("3 packets/s throughout"));
}
