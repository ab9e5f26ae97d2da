//! The page of a real run folder: what it promises whatever is in it.

use kgauge_analyze::Summary;
use kgauge_analyze::summary::{Warning, WarningFinding};
use kgauge_report::{TerminalDetail, TerminalStyle, render_html, render_terminal, text};
use kgauge_results::metrics::{MetricId, Readings};
use kgauge_results::run::{
    DiskSample, Event, EventKind, Evidence, EvidenceKind, MissingEvidence, NetworkSample,
    PressureSample, RepeatKey, Resource, RunHead, Subject,
};
use kgauge_results::{RunFolder, RunRead};
use kgauge_scenario::{FindingSeverity, PublishedFinding, Scenario};

use crate::hostile::spoil;
use crate::made::{CALM, End, Names, make};
use crate::scenarios;
use crate::shared::{Made, complete, killed};
use crate::tags::assert_balanced;

/// Tries everything: ending the element, the attribute, the script block; a comment; reversed
/// reading.
const HOSTILE: &str =
    "x\"'></script><script>alert(1)</script><!--\u{202e}]]>&lt;</style><img src=x onerror=y>";

fn page(made: &Made) -> String {
    render_html(&made.run, &made.summary)
}

/// The values of all attributes of a name.
fn attributes(page: &str, name: &str) -> Vec<String> {
    let start = format!(" {name}=\"");
    let parts = page.split(start.as_str()).skip(1);
    parts
        .filter_map(|part| Some(part.split_once('"')?.0.to_owned()))
        .collect()
}

#[test]
fn every_tag_is_closed_by_its_like() {
    assert_balanced(&page(complete()));
}

#[test]
fn no_text_from_outside_becomes_markup() {
    let calm = page(killed());
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let study = Some(scenarios::study());
    let (mut run, mut summary) = make(&dir, study, &scenarios::all(), &CALM, End::Killed);
    spoil(&mut run, &mut summary, HOSTILE);
    let spoilt = render_html(&run, &summary);
    assert_balanced(&spoilt);
    for own in ["<script", "<style", "<meta"] {
        assert_eq!(
            spoilt.matches(own).count(),
            calm.matches(own).count(),
            "{own}"
        );
    }
    for forbidden in ["<img", "<!--", "\u{202e}", "onerror=y>"] {
        assert!(!spoilt.contains(forbidden), "{forbidden} came through");
    }
    assert!(
        spoilt.matches("alert(1)").count() > 50,
        "the names are shown all the same"
    );
}

#[test]
fn a_topic_named_script_is_only_a_name() {
    let keep = tempfile::tempdir().unwrap();
    let names = Names {
        topic: HOSTILE,
        cluster: HOSTILE,
        error: Some(HOSTILE),
    };
    let (run, summary) = make(
        &keep.path().join("run"),
        None,
        &scenarios::paced(),
        &names,
        End::Complete,
    );
    let page = render_html(&run, &summary);
    // Its own two: the data block and the script.
    assert_eq!(page.matches("<script").count(), 2);
    assert!(
        page.contains("topic x&quot;&#39;&gt;&lt;/script&gt;"),
        "the name is shown"
    );
}

#[test]
fn the_page_asks_the_network_for_nothing() {
    let page = page(complete());
    for forbidden in [
        " src=",
        "url(",
        "@import",
        "<link",
        "fetch(",
        "XMLHttpRequest",
        "<base",
    ] {
        assert!(!page.contains(forbidden), "{forbidden} in the page");
    }
    assert!(
        attributes(&page, "href")
            .iter()
            .all(|target| target.starts_with('#'))
    );
    let policy = attributes(&page, "content")
        .into_iter()
        .find(|text| text.contains("-src"));
    let policy = policy.expect("there is a policy").replace("&#39;", "'");
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    assert!(
        !page.contains(" style="),
        "the policy forbids style attributes"
    );
}

#[test]
fn ids_are_unique_and_links_lead_somewhere() {
    let page = page(complete());
    let mut ids = attributes(&page, "id");
    for link in attributes(&page, "href") {
        assert!(
            ids.contains(&link.trim_start_matches('#').to_owned()),
            "{link} leads nowhere"
        );
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[test]
fn a_closed_loop_is_marked_wherever_its_latency_is_shown() {
    let page = page(complete());
    // Four of the five producers run at full speed: one beside consumers, three sizes.
    assert_eq!(page.matches("mark-closed\">closed loop</span>").count(), 4);
    // Its sentence with the residual stands under each of their curves and once more in words.
    assert_eq!(page.matches("Little&#39;s law predicts").count(), 8);
}

#[test]
fn remaking_the_page_changes_no_byte_wherever_the_folder_is() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (run, summary) = make(&dir, None, &scenarios::paced(), &CALM, End::Complete);
    let first = render_html(&run, &summary);
    let moved = keep.path().join("moved elsewhere");
    std::fs::rename(&dir, &moved).unwrap();
    let run = RunRead::open(&moved).unwrap();
    assert_eq!(first, render_html(&run, &Summary::of(&run)));
}

#[test]
fn the_page_of_a_study_is_far_below_two_mebibytes() {
    let page = page(complete());
    assert!(page.len() < 600_000, "{} bytes", page.len());
}

/// What a busy machine shows each second, at times that differ between repeats by microseconds.
fn busy_machine(key: RepeatKey, seconds: u64) -> Vec<Evidence> {
    let mut seen = Vec::new();
    for second in 0..seconds {
        let shift_ns = u64::from(key.trial * 3 + key.repeat) * 1_709;
        let disk = |disk: &str| {
            EvidenceKind::Disk(DiskSample {
                disk: disk.to_owned(),
                values: Readings::from([
                    (MetricId::DiskReads, 3 * second),
                    (MetricId::DiskReadBytes, 20_000_003 * second * second),
                    (MetricId::DiskReadTime, 5_000_011 * second),
                    (MetricId::DiskWrites, 10 * second),
                    (MetricId::DiskWrittenBytes, 25_000_007 * second * second),
                    (MetricId::DiskWriteTime, 20_000_003 * second * second),
                    (MetricId::DiskBusy, 300_000_017 * second),
                    (MetricId::DiskQueued, 1_300_000_019 * second),
                    (MetricId::DiskFlushes, second),
                    (MetricId::DiskFlushTime, 9_000_011 * second),
                ]),
            })
        };
        let pressure = |resource| {
            EvidenceKind::Pressure(PressureSample {
                resource,
                values: Readings::from([
                    (MetricId::PressureSome, 123_456_789 * second),
                    (MetricId::PressureFull, 98_765_432 * second),
                ]),
            })
        };
        let network = EvidenceKind::Network(NetworkSample {
            interface: "eth0".to_owned(),
            values: Readings::from([
                (MetricId::ReceivedBytes, 12_345_678 * second * second),
                (MetricId::SentBytes, 23_456_789 * second * second),
                (MetricId::ReceivedDrops, second),
            ]),
        });
        let not_seen = EvidenceKind::NotSeen(MissingEvidence {
            what: "the clock of the third disk".to_owned(),
            why: "no such file".to_owned(),
        });
        let kinds = [
            disk("nvme0n1"),
            disk("nvme1n1"),
            pressure(Resource::Io),
            pressure(Resource::Cpu),
            network,
            not_seen,
        ];
        seen.extend(kinds.into_iter().map(|kind| Evidence {
            at_unix_ms: 0,
            repeat: Some(key),
            at_ns: Some(second * 1_000_000_000 + shift_ns * (second + 1)),
            subject: Subject::Host,
            kind,
        }));
    }
    seen
}

#[test]
fn a_page_of_very_many_trials_stays_small_and_says_what_it_left_out() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (mut run, summary) = make(&dir, None, &scenarios::very_many(), &CALM, End::Complete);
    let keys: Vec<RepeatKey> = run.repeats.iter().map(|repeat| repeat.key).collect();
    let seen = keys.into_iter().flat_map(|key| busy_machine(key, 30));
    run.evidence.extend(seen);
    let page = render_html(&run, &summary);
    assert_balanced(&page);
    assert!(page.len() < 3 << 19, "{} bytes", page.len());
    assert!(page.contains("Omitted to keep the page small: "));
    assert!(page.contains("machine charts of 80 trials"));
    let notes = page
        .matches("Not available: the clock of the third disk")
        .count();
    assert_eq!(notes, 80, "a note for each machine");
    assert!(
        page.contains("id=\"trial-80\""),
        "its figures are there all the same"
    );
}

#[test]
fn no_trial_has_diagnostics_while_another_lacks_its_own_charts() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let scenarios = scenarios::paced_very_often();
    let (mut run, summary) = make(&dir, None, &scenarios, &CALM, End::Complete);
    let keys: Vec<RepeatKey> = run.repeats.iter().map(|repeat| repeat.key).collect();
    let seen = keys.into_iter().flat_map(|key| busy_machine(key, 7));
    run.evidence.extend(seen);
    let page = render_html(&run, &summary);
    assert_balanced(&page);
    assert!(page.len() < 3 << 19, "{} bytes", page.len());
    assert!(page.contains("Omitted to keep the page small: throughput and latency charts of "));
    assert!(page.contains("machine charts of 60 trials, heat maps of 60 trials"));
    assert!(!page.contains("-disk-bytes\"") && !page.contains("-cpu\""));
    assert!(page.contains("id=\"trial-1-latency-1\""));
}

#[test]
fn no_fold_is_empty_and_diagnostics_are_folded() {
    for made in [complete(), killed()] {
        let page = page(made);
        assert!(!page.contains("</summary></details>"));
        assert!(!page.contains("<details class=\"machine\" open"));
    }
}

#[test]
fn a_flat_line_is_a_sentence_and_few_points_are_numbers() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (run, summary) = make(&dir, None, &scenarios::paced_long(), &CALM, End::Complete);
    let long = render_html(&run, &summary);
    let flat = "<strong>Records per request</strong>: writers produced 1 record throughout";
    assert!(long.contains(flat));
    assert!(!long.contains("id=\"trial-1-per-request\""));
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (run, summary) = make(&dir, None, &scenarios::paced(), &CALM, End::Complete);
    let short = render_html(&run, &summary);
    assert!(short.contains("<strong>Response over time</strong>: p50 "));
    assert!(!short.contains("id=\"trial-1-latency-1\"") && !short.contains("class=\"chart heat"));
}

#[test]
fn a_sweep_of_rates_opens_with_latency_against_the_achieved_rate_and_the_goal() {
    for rates in [scenarios::rates(), scenarios::shapes()] {
        check_sweep_of_rates(&rates);
    }
}

fn check_sweep_of_rates(rates: &[Scenario]) {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (run, summary) = make(&dir, None, rates, &CALM, End::Complete);
    let page = render_html(&run, &summary);
    assert_balanced(&page);
    let (first_screen, rest) = page.split_once("id=\"figures\"").unwrap();
    assert!(first_screen.contains("<strong>Latency against achieved rate</strong>"));
    assert!(first_screen.contains("goal: writers.latency.p99 &lt;= 20 ms"));
    assert!(
        !page.contains("against rate</strong>"),
        "a rate against itself is no chart"
    );
    let (_, data) = rest.split_once("id=\"chart-data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let data: Vec<serde_json::Value> = serde_json::from_str(data).unwrap();
    let chart = &data[0];
    assert_eq!(chart["id"], "sweep-1-latency");
    let rates = chart["lines"][0]["x"].as_array().unwrap().iter();
    let rates: Vec<f64> = rates.map(|rate| rate.as_f64().unwrap().round()).collect();
    assert_eq!(rates, [500.0, 1_000.0, 2_000.0]);
    assert_eq!(chart["groups"][0], "p99");
    let style = TerminalStyle {
        color: false,
        width: 80,
        detail: TerminalDetail::Usual,
    };
    let text = render_terminal(&run, &summary, style);
    assert!(text.contains("\n500/s "), "{text}");
}

#[test]
fn contents_list_every_part_and_every_part_has_a_link() {
    for made in [complete(), killed()] {
        let page = page(made);
        let (_, contents) = page.split_once("<nav class=\"contents\"").unwrap();
        let (contents, body) = contents.split_once("</nav>").unwrap();
        for section in body.split("<section id=\"").skip(1) {
            let (id, _) = section.split_once('"').unwrap();
            assert!(contents.contains(&format!("href=\"#{id}\"")), "{id}");
            let own = format!("class=\"anchor\" href=\"#{id}\"");
            assert!(id == "answer" || body.contains(&own), "{id}");
        }
        for trial in &made.summary.trials {
            let own = format!("class=\"anchor\" href=\"#trial-{}\"", trial.index + 1);
            assert!(body.contains(&own), "{own}");
        }
    }
}

#[test]
fn settings_have_kafkas_names_and_say_what_differs_from_the_default() {
    let page = page(complete());
    assert!(page.contains("<dt>writers.buffer.memory</dt><dd>1048576 (default 33554432)</dd>"));
    assert!(page.contains("<dt>writers.linger.ms</dt><dd>5</dd>"));
    assert!(!page.contains("linger_ns"));
}

#[test]
fn a_killed_run_gives_a_page_that_says_so_first() {
    let page = page(killed());
    let notice = page
        .find("This run did not finish. <a class=\"small\" href=\"#matter-1\">why</a>")
        .expect("the notice");
    assert!(notice < page.find("<ul class=\"questions\">").unwrap());
    let (_, why) = page.split_once("id=\"matter-1\"").expect("the link's aim");
    assert!(why.contains("This run did not finish (cut short"));
    assert!(page.contains("repeat.json"), "what is missing is named");
}

#[test]
fn every_chart_has_its_data_as_a_table_and_for_the_script() {
    let keep = tempfile::tempdir().unwrap();
    let (run, summary) = make(
        &keep.path().join("run"),
        None,
        &scenarios::paced_long(),
        &CALM,
        End::Complete,
    );
    let page = render_html(&run, &summary);
    let charts = page.matches("<figure class=\"chart").count();
    assert_eq!(charts, 5, "throughput, response, percentiles, CPU, heat");
    assert_eq!(page.matches("<details class=\"data\">").count(), charts);
    let (_, data) = page.split_once("id=\"chart-data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(data.as_array().map(Vec::len), Some(charts));
}

#[test]
fn a_folder_without_any_figure_gives_a_page_all_the_same() {
    let keep = tempfile::tempdir().unwrap();
    let head = RunHead::starting("r9".to_owned(), Vec::new(), 1_772_366_400_000);
    drop(RunFolder::create(keep.path(), head).unwrap());
    let run = RunRead::open(keep.path()).unwrap();
    let page = render_html(&run, &Summary::of(&run));
    assert_balanced(&page);
    assert!(page.contains("kgauge ended before the run did"));
}

#[test]
fn faults_are_marked_over_time_and_told_in_words() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (mut run, summary) = make(&dir, None, &scenarios::all(), &CALM, End::Complete);
    let first = run.events.iter().find_map(|event| event.repeat).unwrap();
    let calm = render_html(&run, &summary);
    assert!(!calm.contains("class=\"fault"));
    for (at_ns, text, active) in [
        (
            2_500_000_000,
            "node 1: crash; 77 bytes were not flushed and are lost",
            true,
        ),
        (4_000_000_000, "node 1: started again after crash", false),
    ] {
        run.events.push(Event {
            at_unix_ms: run.head.started_unix_ms,
            repeat: Some(first),
            at_ns: Some(at_ns),
            kind: EventKind::Fault {
                text: text.to_owned(),
                active,
                entry: Some(0),
                nodes: vec![1],
                bytes_lost: active.then_some(77),
                requests: None,
                records: None,
                stalls: Vec::new(),
            },
        });
    }
    let page = render_html(&run, &summary);
    assert_balanced(&page);
    assert!(page.contains("class=\"fault\"") && page.contains("class=\"fault over\""));
    let note = "1 at 2.50 s, node 1: crash; 77 bytes were not flushed and are lost; 2 at 4.00 s, \
                node 1: started again after crash, ended.";
    assert!(page.contains(note), "the note is missing");
    let style = kgauge_report::TerminalStyle {
        detail: kgauge_report::TerminalDetail::Full,
        ..Default::default()
    };
    let text = kgauge_report::render_terminal(&run, &summary, style);
    assert!(
        text.contains("     2.500 s  node 1: crash; 77 bytes"),
        "{text}"
    );
    assert!(text.contains("after crash (ended)"), "{text}");
}

/// The page above its first answer.
fn above_the_answer(page: &str) -> &str {
    let main = page.split_once("<main>").unwrap().1;
    main.split_once("<ul class=\"questions\">").unwrap().0
}

#[test]
fn what_must_be_known_first_is_a_short_sentence_each_with_its_evidence_folded() {
    let made = killed();
    let mut summary = made.summary.clone();
    let trial = &mut summary.trials[0];
    trial.warnings.push(Warning {
        flow: None,
        finding: WarningFinding::GeneratorLimited,
    });
    trial.cpu.generator_thread_use_max = Some(0.98);
    let remedy = text::warning::remedy(&WarningFinding::GeneratorLimited);
    let page = render_html(&made.run, &summary);
    assert_balanced(&page);
    let seen = above_the_answer(&page);
    for sentence in [
        "This run did not finish.",
        "The generator was the bottleneck; the target can do more than these figures show.",
    ] {
        assert!(seen.contains(sentence), "{sentence} in {seen}");
    }
    assert!(
        !seen.contains("98 % of a core") && !seen.contains(remedy),
        "{seen}"
    );
    let words = page.replace('\u{a0}', " ");
    assert!(words.contains("98 % of a core") && words.contains(remedy));
}

#[test]
fn the_first_screen_has_bottlenecks_and_counts_and_a_part_of_its_own_has_every_sentence() {
    let made = complete();
    let page = page(made);
    let (first_screen, rest) = page.split_once("id=\"figures\"").unwrap();
    assert!(first_screen.contains("<dt>Bottleneck</dt>"));
    assert!(
        first_screen.contains("<dt>Count check</dt><dd><span class=\"check good\">✓</span> All ")
    );
    assert!(first_screen.contains("1 missed") || first_screen.contains("2 missed"));
    let (_, limits) = rest.split_once("id=\"limits\"").unwrap();
    let (limits, _) = limits.split_once("</section>").unwrap();
    let limits = limits.replace('\u{a0}', " ");
    for trial in &made.summary.trials {
        let Some(limit) = &trial.limit else { continue };
        let sentence = text::bottleneck::below_heading(limit, trial);
        assert!(limits.contains(&sentence), "{sentence}");
    }
}

#[test]
fn what_observing_has_cost_is_told() {
    let mut run = complete().run.clone();
    run.evidence
        .retain(|line| !matches!(line.kind, EvidenceKind::Observing { .. }));
    let without = render_html(&run, &complete().summary);
    assert!(!without.contains(">Sampling overhead<"));
    // Two threads in each of two repeats: 4 x 10 ms in 2 x 2 s are 1 % of a core.
    for repeat in [0, 1] {
        for looks in [3, 2] {
            run.evidence.push(Evidence {
                at_unix_ms: 1_000,
                repeat: Some(RepeatKey { trial: 0, repeat }),
                at_ns: Some(2_000_000_000),
                subject: Subject::Generator,
                kind: EvidenceKind::Observing {
                    looks,
                    cpu_ns: 10_000_000,
                    span_ns: 2_000_000_000,
                },
            });
        }
    }
    let with = render_html(&run, &complete().summary);
    assert!(with.contains(">Sampling overhead<") && with.contains("1.0 % of a core, 6 samples"));
}

#[test]
fn what_is_found_in_published_lines_stands_once_below_the_figures() {
    let made = complete();
    let mut summary = made.summary.clone();
    let trial = summary
        .trials
        .iter_mut()
        .find(|trial| !trial.published.is_empty());
    let published = &mut trial.expect("a trial with a published figure").published;
    let finding = |level, text: &str| PublishedFinding {
        level,
        text: text.to_owned(),
    };
    let mean = "the mean is above all percentiles";
    let mean = finding(FindingSeverity::Contradiction, mean);
    let whole = finding(FindingSeverity::Artefact, "whole ms");
    let (wrong, cut) = (
        "contradiction: the mean is above all percentiles",
        "artefact: whole ms",
    );
    published.push(published[0].clone());
    published[0].audit = vec![whole.clone()];
    published[1].audit = vec![whole, mean];
    let page = render_html(&made.run, &summary);
    let (before, audit) = page
        .split_once("About the published lines")
        .expect("its own part");
    assert!(before.contains(">audit: 1 artefact</a>"));
    assert!(before.contains(">audit: 1 contradiction, 1 artefact</a>"));
    assert!(!before.contains(cut) && !before.contains(wrong));
    assert_eq!(
        (audit.matches(cut).count(), audit.matches(wrong).count()),
        (1, 1)
    );
    assert!(audit.find(wrong) < audit.find(cut), "the gravest first");
    let links = attributes(&page, "href");
    let aim = links.iter().find_map(|link| link.strip_prefix("#audit-"));
    let aim = format!("audit-{}", aim.expect("a link to the sentences"));
    assert!(attributes(&page, "id").contains(&aim));
}
