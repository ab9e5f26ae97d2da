//! Markdown and CSV, against golden files, and what must hold for any run.

use std::path::Path;

use kgauge_analyze::Summary;
use kgauge_analyze::statistics::Steadiness;
use kgauge_analyze::summary::FlowSteadiness;
use kgauge_report::{render_csv, render_markdown};
use kgauge_results::RunRead;
use kgauge_results::run::{TuneEnd, TuneRecord};
use kgauge_scenario::{TuneOptions, TunePlan};

use crate::hostile::spoil;
use crate::made::{CALM, End, make};
use crate::scenarios;
use crate::shared::{complete, killed};

/// Tries to end its cell, its line and its code, to be HTML, a list, a formula, a mention.
const HOSTILE: &str =
    "=cmd()|`x`\r\n\n# <script>alert(1)</script> @all #1 \"; =1+1,\"**[a](b)\u{202e}";

fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/golden")
        .join(name);
    if std::env::var_os("KGAUGE_UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        text, golden,
        "look at the change, then set KGAUGE_UPDATE_GOLDEN=1"
    );
}

/// A run all of whose texts from outside are hostile.
fn spoilt(text: &str) -> (RunRead, Summary, tempfile::TempDir) {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let study = Some(scenarios::study());
    let (mut run, mut summary) = make(&dir, study, &scenarios::all(), &CALM, End::Killed);
    spoil(&mut run, &mut summary, text);
    (run, summary, keep)
}

/// Cells of a row of a Markdown table: an escaped bar ends none.
fn cells(row: &str) -> usize {
    row.replace("\\\\", "")
        .replace("\\|", "")
        .matches('|')
        .count()
}

#[test]
fn the_markdown_matches_the_golden_file() {
    let made = complete();
    assert_golden("markdown.md", &render_markdown(&made.run, &made.summary));
}

#[test]
fn a_search_for_settings_is_resumed_if_that_measures_something_and_never_rerun() {
    let mut run = complete().run.clone();
    let plan = run.plan.as_mut().unwrap();
    let search = TunePlan::new(&TuneOptions::default(), &plan.trials[0]);
    plan.tune = Some(search.unwrap());
    let resume = "kgauge tune --resume RUN-FOLDER";
    for (end, line) in [
        (None, Some(format!("{resume}\n"))),
        // Twice the time that was over.
        (
            Some(TuneEnd::Budget),
            Some(format!("{resume} --budget '60 min'\n")),
        ),
        (Some(TuneEnd::Decided), None),
        (Some(TuneEnd::NothingToTry), None),
    ] {
        run.tune = Some(TuneRecord {
            end,
            ..TuneRecord::default()
        });
        let text = render_markdown(&run, &Summary::of(&run));
        assert!(!text.contains("plan.json"), "{text}");
        let found = line.map_or(!text.contains("--resume"), |line| text.contains(&line));
        assert!(found, "{text}");
    }
}

#[test]
fn no_name_becomes_markdown_or_html() {
    let (run, summary, _keep) = spoilt(HOSTILE);
    let text = render_markdown(&run, &summary);
    let mut own = text.clone();
    for tag in ["<details>", "</details>", "<summary>", "</summary>", "<br>"] {
        own = own.replace(tag, "");
    }
    let (prose, code) = own.split_once("``sh\n").unwrap();
    assert!(!prose.contains('<'), "{prose}");
    assert!(!prose.contains("\u{202e}") && !code.contains("\u{202e}"));
    assert!(!prose.contains("@all") && !prose.contains("#1"), "{prose}");
    for bare in ["`x`", "[a](b)", "**["] {
        let escaped = prose.replace(&format!("\\{bare}"), "");
        assert!(!escaped.contains(bare), "{bare} in {prose}");
    }
    // The fence is longer than what stands in it.
    assert_eq!(code.matches("```").count(), 1, "{code}");
}

#[test]
fn no_name_ends_a_cell_or_a_line_of_a_table() {
    let (run, summary, _keep) = spoilt(HOSTILE);
    let text = render_markdown(&run, &summary);
    let mut columns = None;
    let mut rows = 0;
    for line in text.lines() {
        if !line.starts_with('|') {
            columns = None;
            continue;
        }
        rows += 1;
        assert_eq!(cells(line), *columns.get_or_insert(cells(line)), "{line}");
    }
    assert!(rows > 10, "{text}");
    let headings = text.lines().filter(|line| line.starts_with('#')).count();
    assert_eq!(headings, 1, "{text}");
}

#[test]
fn the_markdown_fits_a_comment_whatever_the_run_was() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (run, summary) = make(&dir, None, &scenarios::very_many(), &CALM, End::Complete);
    let text = render_markdown(&run, &summary);
    assert!(text.len() < 65_536, "{} bytes", text.len());
    assert!(text.contains("<details><summary>Throughput: 80 rows</summary>"));
    let (run, summary, _keep) = spoilt(&"<|`_*".repeat(20_000));
    let text = render_markdown(&run, &summary);
    assert!(text.len() < 65_536, "{} bytes", text.len());
    assert!(text.contains("&lt;\\|"), "{text}");
}

#[test]
fn a_killed_run_says_so_before_its_answers() {
    let text = render_markdown(&killed().run, &killed().summary);
    let notice = text.find("> **Important:** ").unwrap();
    assert!(
        notice < text.find("**How much does a consumer").unwrap(),
        "{text}"
    );
}

#[test]
fn the_same_folder_gives_the_same_bytes_wherever_it_is() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (run, summary) = make(&dir, None, &scenarios::paced(), &CALM, End::Complete);
    let first = (render_markdown(&run, &summary), render_csv(&run, &summary));
    let moved = keep.path().join("moved elsewhere");
    std::fs::rename(&dir, &moved).unwrap();
    let run = RunRead::open(&moved).unwrap();
    let summary = Summary::of(&run);
    assert_eq!(
        first,
        (render_markdown(&run, &summary), render_csv(&run, &summary))
    );
}

#[test]
fn the_csv_matches_the_golden_file() {
    assert_golden(
        "figures.csv",
        &render_csv(&complete().run, &complete().summary),
    );
}

#[test]
fn the_csv_marks_figures_that_were_not_steady() {
    let mut summary = complete().summary.clone();
    summary.trials[0].flows[0].steadiness = Some(FlowSteadiness {
        verdict: Steadiness::Warming,
        ..FlowSteadiness::default()
    });
    let records = parse(&render_csv(&complete().run, &summary));
    let (head, rows) = records.split_first().unwrap();
    let column = head.iter().position(|found| found == "steadiness");
    assert_eq!(rows[0][column.unwrap()], "warming");
}

/// Reads CSV by the RFC; panics where it is none.
fn parse(text: &str) -> Vec<Vec<String>> {
    let mut records = vec![vec![String::new()]];
    let (mut letters, mut quoted) = (text.chars().peekable(), false);
    while let Some(letter) = letters.next() {
        let cell = records.last_mut().unwrap().last_mut().unwrap();
        match (letter, quoted) {
            ('"', true) if letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            ('"', _) => quoted = !quoted,
            (',', false) => records.last_mut().unwrap().push(String::new()),
            ('\r', false) => {
                assert_eq!(letters.next(), Some('\n'));
                records.push(vec![String::new()]);
            }
            ('\n', false) => panic!("a line ends with CR LF"),
            (letter, _) => cell.push(letter),
        }
    }
    assert!(!quoted);
    assert_eq!(records.pop(), Some(vec![String::new()]), "ends with a line");
    records
}

#[test]
fn every_repeat_has_its_row_and_the_trial_is_their_mean() {
    let records = parse(&render_csv(&complete().run, &complete().summary));
    let (head, rows) = records.split_first().unwrap();
    let column = |name: &str| head.iter().position(|found| found == name).unwrap();
    let [scenario, flow, scope, rate] = ["scenario", "flow", "scope", "records_per_s"].map(column);
    let is_row_of = |row: &&Vec<String>, in_scope: &str| {
        row[scenario] == "producer-and-consumer" && row[flow] == "writers" && row[scope] == in_scope
    };
    let rates = |in_scope: &str| {
        let found = rows.iter().filter(|row| is_row_of(row, in_scope));
        let found = found.map(|row| row[rate].parse::<f64>().unwrap());
        found.collect::<Vec<_>>()
    };
    let (trial, repeats) = (rates("trial"), rates("repeat"));
    assert_eq!((trial.len(), repeats.len()), (1, 3));
    assert!((repeats.iter().sum::<f64>() / 3.0 / trial[0] - 1.0).abs() < 1e-12);
    let throughput = complete().summary.trials[0].flows[0].throughput.as_ref();
    assert_eq!(repeats, throughput.unwrap().records_per_s.values);
    let counts = |in_scope: &str| {
        let found = rows.iter().filter(|row| is_row_of(row, in_scope));
        let found = found.map(|row| row[column("response_count")].parse::<u64>().unwrap());
        found.sum::<u64>()
    };
    assert_eq!(counts("trial"), counts("repeat"));
    assert!(head.contains(&"factor.writers.record.size".to_owned()));
}

#[test]
fn no_name_becomes_a_formula_a_cell_or_a_line() {
    let (run, summary, _keep) = spoilt(HOSTILE);
    let text = render_csv(&run, &summary);
    let records = parse(&text);
    assert_eq!(text.matches('\n').count(), records.len());
    for record in &records {
        assert_eq!(record.len(), records[0].len());
        for cell in record {
            // A semicolon parts cells where the comma is the decimal mark.
            for part in cell.split(';') {
                let formula = part.trim_start().starts_with(['=', '+', '-', '@']);
                assert!(!formula || part.parse::<f64>().is_ok(), "{cell}");
            }
        }
    }
    assert!(records[1].iter().any(|cell| cell.starts_with("'=cmd()|")));
}
