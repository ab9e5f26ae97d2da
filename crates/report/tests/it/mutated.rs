//! Run folders that somebody damaged, by accident or on purpose: each gives an error in words or whole reports, in
//! bounded time and size, and no name in them becomes markup or a command to a terminal.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kgauge_analyze::{RunToCompare, Summary, compare};
use kgauge_report::{
    TerminalStyle, render_comparison_html, render_comparison_markdown, render_comparison_terminal,
    render_csv, render_html, render_markdown, render_terminal,
};
use kgauge_results::RunRead;
use kgauge_scenario::{Random, Scenario};
use serde_json::{Map, Number, Value};

use crate::made::{self, CALM, End};
use crate::tags::assert_balanced;

/// Fixed, unless somebody looks for more: `KGAUGE_DAMAGE_SEED=7`.
const SEED: u64 = 20_261_122;
const DAMAGES: u64 = 200;
/// Reading and writing a small folder takes some tenths of a second without optimisation.
const TIME_MAX: Duration = Duration::from_secs(60);
const PAGE_BYTES_MAX: usize = 6 << 20;
const EVIL: &str =
    "<script>alert(1)</script><img src=x onerror=alert(2)>\"'`|\u{1b}]0;owned\u{7}\u{202e}";

/// A schedule, a closed loop and a reader, varied; with a goal and a published figure.
const SCENARIO: &str = "\
kgauge: 1
name: damaged
question: What is left of a folder?
target: {brokers: 1}
topic: {partitions: 1, replication: 1}
flows:
  - {name: paced, kind: produce, shape: {constant: 200/s}, record: {size: 100 B}}
  - {name: readers, kind: consume}
vary:
  paced.record.size: [100 B, 1000 B]
stages: {warm-up: 0 s, hold: 2 s, drain: 5 s}
repeats: 2
goals:
  - paced.latency.p99 <= 20 ms
published:
  - {figure: paced.throughput, value: 200 records/s, trial: {paced.record.size: 100 B}, source: a paper}
";

/// Where the damage comes from.
struct Dice {
    random: Random,
    at: u64,
}

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.at += 1;
        (self.random.bits(self.at) % count.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Values of the wrong kind and size, and names.
fn strange(dice: &mut Dice) -> Value {
    let huge = Number::from_f64(1e300).unwrap();
    let values = [
        Value::Null,
        Value::Bool(true),
        Value::from(0),
        Value::from(-1),
        Value::from(u64::MAX),
        Value::from(i64::MAX),
        Value::from(i64::MIN),
        Value::from(u32::MAX),
        Value::from(1_000_000_000_000_u64),
        Value::Number(huge),
        Value::from(1e-300),
        Value::from(""),
        Value::from(EVIL),
        Value::from("x".repeat(100_000)),
        Value::Array(Vec::new()),
        Value::Array(vec![Value::from(EVIL); 300]),
        Value::Object(Map::new()),
    ];
    dice.pick(&values).clone()
}

/// Somewhere inside, something else: another value, nothing, or the same twice.
fn spoil(value: &mut Value, dice: &mut Dice) {
    let inner = match value {
        Value::Object(map) if !map.is_empty() => {
            let keys: Vec<String> = map.keys().cloned().collect();
            let key = dice.pick(&keys).clone();
            match dice.below(8) {
                0 => {
                    map.remove(&key);
                    return;
                }
                1 => {
                    let old = map.remove(&key).unwrap();
                    map.insert(EVIL.to_owned(), old);
                    return;
                }
                _ => map.get_mut(&key).unwrap(),
            }
        }
        Value::Array(list) if !list.is_empty() => {
            let index = dice.below(list.len());
            match dice.below(8) {
                0 => {
                    list.remove(index);
                    return;
                }
                1 => {
                    let twice = list[index].clone();
                    list.push(twice);
                    return;
                }
                _ => &mut list[index],
            }
        }
        other => {
            *other = strange(dice);
            return;
        }
    };
    if dice.below(6) == 0 {
        *inner = strange(dice);
    } else {
        spoil(inner, dice);
    }
}

/// Every text of a value becomes a hostile one.
fn spoil_texts(value: &mut Value) {
    match value {
        Value::String(text) => *text = EVIL.to_owned(),
        Value::Array(list) => list.iter_mut().for_each(spoil_texts),
        Value::Object(map) => map.values_mut().for_each(spoil_texts),
        _ => {}
    }
}

fn spoil_json(
    bytes: &[u8],
    is_lines: bool,
    dice: &mut Dice,
    how: fn(&mut Value, &mut Dice),
) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let mut parts: Vec<String> = match is_lines {
        true => text.lines().map(str::to_owned).collect(),
        false => vec![text.into_owned()],
    };
    for _ in 0..=dice.below(3) {
        let index = dice.below(parts.len());
        let Some(part) = parts.get_mut(index) else {
            break;
        };
        if let Ok(mut value) = serde_json::from_str::<Value>(part) {
            how(&mut value, dice);
            *part = value.to_string();
        }
    }
    (parts.join("\n") + "\n").into_bytes()
}

/// One kind of damage to one file; `None` takes the file away.
fn damage(path: &Path, bytes: &[u8], dice: &mut Dice) -> Option<Vec<u8>> {
    let is_lines = path.extension().is_some_and(|ending| ending == "jsonl");
    let mut out = bytes.to_vec();
    match dice.below(14) {
        0 => out.truncate(dice.below(bytes.len())),
        1 => {
            for _ in 0..=dice.below(8) {
                let index = dice.below(out.len());
                if let Some(byte) = out.get_mut(index) {
                    *byte ^= 1 << dice.below(8);
                }
            }
        }
        2 => out.extend_from_slice(bytes),
        3 => {
            let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
            for _ in 0..3.min(lines.len()) {
                out.extend_from_slice(lines[dice.below(lines.len())]);
            }
        }
        4 => return None,
        5 => out = vec![b'['; 200_000],
        6 => out.clear(),
        7 => {
            let text = String::from_utf8_lossy(bytes);
            out = text
                .replace("\"format\":1", "\"format\":0")
                .replace("\"format\": 1", "\"format\": 7")
                .into_bytes();
        }
        8 => out = spoil_json(bytes, is_lines, dice, |value, _| spoil_texts(value)),
        _ => out = spoil_json(bytes, is_lines, dice, spoil),
    }
    Some(out)
}

/// The whole way of a folder to what people read.
fn look(dir: &Path, whole: (&RunRead, &Summary)) -> Result<(), String> {
    let run = RunRead::open(dir).map_err(|error| error.to_string())?;
    let summary = Summary::of(&run);
    let style = TerminalStyle::default();
    let sides = [whole, (&run, &summary)].map(|(run, summary)| RunToCompare { run, summary });
    let comparison = compare(&sides, 0).unwrap();
    let pages = [
        render_html(&run, &summary),
        render_comparison_html(&comparison),
    ];
    for page in &pages {
        assert!(page.len() < PAGE_BYTES_MAX, "{} bytes", page.len());
        assert!(!page.contains("<script>alert") && !page.contains("<img"));
        assert_balanced(page);
    }
    for comment in [
        render_markdown(&run, &summary),
        render_comparison_markdown(&comparison),
    ] {
        assert!(comment.len() <= 60_000 && !comment.contains("<script"));
    }
    let texts = [
        render_terminal(&run, &summary, style),
        render_comparison_terminal(&comparison, style),
    ];
    for text in pages.iter().chain(&texts) {
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']));
    }
    assert!(render_csv(&run, &summary).lines().count() >= 1);
    assert!(!serde_json::to_string(&summary).unwrap().is_empty());
    Ok(())
}

#[test]
fn a_damaged_folder_gives_an_error_in_words_or_a_report() {
    let keep = tempfile::tempdir().unwrap();
    let dir = keep.path().join("run");
    let scenario = Scenario::parse("damaged.yaml", SCENARIO).unwrap();
    let (run, summary) = made::make(&dir, None, &[scenario], &CALM, End::Complete);
    let mut paths = Vec::new();
    files(&dir, &mut paths);
    let seed = std::env::var("KGAUGE_DAMAGE_SEED");
    let seed = seed.map_or(SEED, |seed| seed.parse().unwrap());
    let mut dice = Dice {
        random: Random::new(seed),
        at: 0,
    };
    let (mut refused, mut reported) = (0, 0);
    for number in 0..DAMAGES {
        let mut kept: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        for _ in 0..=dice.below(2) {
            let path = dice.pick(&paths).clone();
            let bytes = fs::read(&path).unwrap_or_default();
            match damage(&path, &bytes, &mut dice) {
                Some(damaged) => fs::write(&path, damaged).unwrap(),
                None => {
                    let _ = fs::remove_file(&path);
                }
            }
            kept.push((path, bytes));
        }
        // What a failure says comes with the damage that made it.
        let names: Vec<_> = kept.iter().map(|(path, _)| path.file_name()).collect();
        let start = Instant::now();
        match std::panic::catch_unwind(|| look(&dir, (&run, &summary))) {
            Ok(Ok(())) => reported += 1,
            Ok(Err(words)) => {
                assert!(words.len() > 10, "{words}");
                refused += 1;
            }
            Err(_) => panic!("damage {number} of {names:?}"),
        }
        let took = start.elapsed();
        assert!(took < TIME_MAX, "{took:?} for damage {number} of {names:?}");
        for (path, bytes) in kept.into_iter().rev() {
            fs::write(path, bytes).unwrap();
        }
    }
    assert!(
        refused > 3 && reported > 100,
        "{refused} refused, {reported} reported"
    );
    look(&dir, (&run, &summary)).unwrap();
}
