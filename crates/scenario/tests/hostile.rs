//! Texts that nobody means well: the parser ends soon, with problems and without a panic.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::time::{Duration, Instant};

use kgauge_scenario::{Problems, Scenario, Size, Studies};
use proptest::prelude::*;
use proptest::sample::Index;

fn shipped() -> Vec<&'static str> {
    let files = Studies::names().filter_map(Studies::files).flatten();
    files.map(|file| file.text).collect()
}

/// What would stand in a scenario, in any order.
const PIECES: &[&str] = &[
    "kgauge: 1\n",
    "name: a\n",
    "question: b\n",
    "topic:\n",
    "flows:\n",
    "  - ",
    "kind: produce\n",
    "kind: consume\n",
    "  partitions: 6\n",
    "    shape: max\n",
    "{",
    "}",
    "[",
    "]",
    ": ",
    ", ",
    "? ",
    "vary: {w.record.size: [1 B, 2 B]}\n",
    "sizes: {quick: {stages.hold: 1 s}}\n",
    "|\n  x\n",
    ">-\n",
    "record: {size: 1 B}\n",
    "&a ",
    "*a",
    "!!t ",
    "\"",
    "'",
    "#",
    "\t",
    "\r\n",
    "---\n",
    "...\n",
    "\u{0}",
    "\u{feff}",
    "99999999999999999999 TiB",
    "1e400/s",
    "-0",
    "é",
    "\\",
    "repeats: 1000\n",
    "<<: ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn pieces_in_any_order_never_panic(picks in prop::collection::vec(any::<Index>(), 0..60)) {
        let text: String = picks.iter().map(|pick| *pick.get(PIECES)).collect();
        let _ = Scenario::parse("pieces", &text).map(|one| one.trials(Size::Quick));
    }

    #[test]
    fn a_shipped_scenario_with_one_change_never_panics(
        file in any::<Index>(), at in any::<Index>(), cut in 0..6usize, piece in any::<Index>()
    ) {
        let shipped = shipped();
        let text: Vec<char> = file.get(&shipped).chars().collect();
        let at = at.index(text.len());
        let changed: String = text[..at]
            .iter()
            .copied()
            .chain(piece.get(PIECES).chars())
            .chain(text[(at + cut).min(text.len())..].iter().copied())
            .collect();
        if let Err(problems) = Scenario::parse("changed", &changed) {
            prop_assert!(!problems.is_empty());
            prop_assert!(problems.iter().all(|one| one.line >= 1 && !one.cure.is_empty()));
        }
    }

    #[test]
    fn no_set_makes_a_panic(path in "[a-z.-]{0,30}|writers\\.[a-z.]{0,20}", value in ".{0,30}") {
        let text = shipped()[1];
        let mut scenario = Scenario::parse("s", text).expect("it ships");
        let before = scenario.clone();
        if scenario.set(&path, &value).is_err() {
            prop_assert_eq!(scenario, before);
        }
    }
}

#[test]
fn large_and_deep_texts_are_refused_soon() {
    let flow = "  - {name: w, kind: produce, shape: max, record: {size: 1 B}}\n";
    let start = "kgauge: 1\nname: a\nquestion: b\ntopic: {partitions: 1}\nflows:\n";
    let keys = |count: usize| {
        (0..count)
            .map(|n| format!("key-{n}: 1\n"))
            .collect::<String>()
    };
    let texts = [
        format!("{start}{}", flow.repeat(400)),
        format!("{start}{flow}{}", keys(2_000)),
        format!(
            "{start}{flow}vary:\n{}",
            keys(1_500).replace("key", "  w.key")
        ),
        format!(
            "{start}{flow}goals: [{}]\n",
            "w.throughput >= 1, ".repeat(2_000)
        ),
        format!("{start}{flow}question: {}\n", "x".repeat(200_000)),
        format!("{}{}", "a: {".repeat(10_000), "}".repeat(10_000)),
        format!("a: {}{}", "[".repeat(30), "]".repeat(30)),
        format!(
            "{start}{flow}sizes: {{quick: {{{}}}}}",
            "a.b: 1, ".repeat(2_000)
        ),
    ];
    for text in texts {
        let began = Instant::now();
        let problems = Scenario::parse("hostile", &text).unwrap_err();
        let words: String = text.chars().take(90).collect();
        // Milliseconds in a release build; generous, for a busy machine and a debug build.
        assert!(began.elapsed() < Duration::from_secs(10), "{words}");
        assert!(problems.iter().count() <= Problems::SHOWN_MAX);
        assert!(problems.to_string().len() < 100_000, "{words}");
    }
}

#[test]
fn a_large_scenario_with_many_trials_reads_soon() {
    let values: Vec<String> = (1..=500).map(|n| format!("{n} B")).collect();
    let goals: Vec<&str> = vec!["w.throughput >= 1/s"; 20];
    let text = format!(
        "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: 1}}\nflows:\n  - {{name: w, kind: \
         produce, shape: max}}\nvary: {{w.record.size: [{}]}}\ngoals: [{}]\n",
        values.join(", "),
        goals.join(", ")
    );
    let scenario = Scenario::parse("large", &text).unwrap();
    assert_eq!(scenario.trials(Size::Full).len(), 500);
}
