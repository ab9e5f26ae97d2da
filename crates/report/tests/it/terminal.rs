//! The terminal's text, against a golden file, and what must hold for any.

use std::path::Path;

use kgauge_report::{TerminalStyle, render_terminal};
use kgauge_results::Summary;

use crate::hostile::spoil;
use crate::made::{CALM, End, make};
use crate::scenarios;
use crate::shared::{Made, complete, killed};

const PLAIN: TerminalStyle = TerminalStyle {
    color: false,
    width: 80,
};

/// The text of a made-up run; its folder's name is replaced, since it differs each time.
fn text(style: TerminalStyle, made: &Made) -> String {
    let mut summary = made.summary.clone();
    own_sentences(&mut summary);
    let text = render_terminal(&made.run, &summary, style);
    text.replace(&made.run.dir.display().to_string(), "RUNS/run")
}

/// Other rooms' sentences, replaced: what they say is tested there, where they stand is tested
/// here.
pub(crate) fn own_sentences(summary: &mut Summary) {
    for warning in &mut summary.warnings {
        let kind = warning.kind;
        warning.text = format!("a warning of the kind {kind:?}");
        warning.remedy = format!("the remedy of {kind:?}");
    }
    for trial in &mut summary.trials {
        for warning in &mut trial.warnings {
            let kind = warning.kind;
            warning.text = format!("a warning of the kind {kind:?}, with its numbers");
            warning.remedy = format!("the remedy of {kind:?}");
        }
        for goal in &mut trial.goals {
            goal.why = "why".to_owned();
        }
        for ack in trial.flows.iter_mut().filter_map(|flow| flow.ack.as_mut()) {
            ack.sentence = format!("what acks={} meant", ack.acks);
        }
    }
}

#[test]
fn the_text_is_as_it_was_looked_at() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden/terminal.txt");
    let text = text(PLAIN, complete());
    if std::env::var_os("KGAUGE_UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        text, golden,
        "look at the change, then set KGAUGE_UPDATE_GOLDEN=1"
    );
}

#[test]
fn no_line_is_wider_than_asked_but_paths_and_commands() {
    for width in [60, 80, 120] {
        let text = text(
            TerminalStyle {
                color: false,
                width,
            },
            complete(),
        );
        let last = text.find("\nReport ").unwrap();
        for line in text[..last].lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn colour_comes_only_when_asked_for_and_says_nothing_new() {
    let plain = text(PLAIN, complete());
    assert!(!plain.contains('\u{1b}'));
    let colored = text(
        TerminalStyle {
            color: true,
            width: 80,
        },
        complete(),
    );
    let mut stripped = String::new();
    for (index, part) in colored.split("\u{1b}[").enumerate() {
        let text = if index == 0 {
            part
        } else {
            part.split_once('m').unwrap().1
        };
        stripped.push_str(text);
    }
    assert_eq!(stripped, plain);
}

#[test]
fn a_killed_run_says_so_before_its_figures() {
    let text = text(PLAIN, killed());
    let said = text
        .find("IMPORTANT: This run was not finished.")
        .expect("it is said");
    let figures = text.find("records/s").unwrap();
    let why = text
        .find("IMPORTANT: a warning of the kind NotFinished")
        .expect("and why");
    assert!(said < figures && figures < why);
}

#[test]
fn no_name_commands_the_terminal() {
    let bell = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}";
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (mut run, mut summary) = make(&dir, None, &scenarios::all(), &CALM, End::Killed);
    spoil(&mut run, &mut summary, bell);
    let text = render_terminal(&run, &summary, PLAIN);
    assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text}");
    assert!(
        text.contains("]0;owned"),
        "the names are shown all the same"
    );
}

#[test]
fn the_percentiles_of_a_closed_loop_carry_their_mark_and_residual() {
    let text = text(PLAIN, complete());
    let latency = &text[text.find("\nlatency ").unwrap()..];
    let writers = latency
        .lines()
        .find(|line| line.trim_start().starts_with("writers"))
        .unwrap();
    assert_eq!(writers.matches('*').count(), 4, "{writers}");
    assert!(writers.contains(" %"), "{writers}");
    let paced = latency
        .lines()
        .find(|line| line.starts_with("paced-producer"))
        .unwrap();
    assert!(!paced.contains('*'), "{paced}");
}

#[test]
fn the_answer_to_what_varies_at_a_rate_is_what_became_of_the_times() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let (run, summary) = make(
        &dir,
        None,
        &scenarios::paced_with_batches(),
        &CALM,
        End::Complete,
    );
    let text = render_terminal(&run, &summary, PLAIN);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, answer) = text.split_once("What does a caller wait").unwrap();
    assert!(
        answer.contains("From linger.ms 1 ms to 100 ms, p99 response goes from "),
        "{text}"
    );
    assert!(answer.contains(", at 1,000 records/s."), "{text}");
    assert!(!answer.contains("records/s go"), "{text}");
}

#[test]
fn trials_at_one_rate_are_not_told_apart_by_it() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let scenarios = scenarios::paced_twice();
    let (run, summary) = make(&dir, None, &scenarios, &CALM, End::Complete);
    let text = kgauge_report::render_markdown(&run, &summary);
    let said = "writers: no difference was found, p99 response ";
    assert!(
        text.contains(said) && text.contains(" records/s in both trials."),
        "{text}"
    );
    assert!(!text.contains("writers: from "), "{text}");
}
