//! Finds the lines of known tools in a text.

use crate::Audit;
use crate::context::{self, Context};
use crate::finding::FindingLocation;
use crate::line::{AuditedLine, ParsedLine};
use crate::producer::PerfTestLine;
use crate::{consumer, omb, producer, rate, rdkafka};

/// The name of a text, and its bytes.
pub type AuditInput = (String, Vec<u8>);

/// The maximum number of line numbers in a remark.
const NAMED_MAX: usize = 5;

pub(crate) fn read((file, bytes): &AuditInput, audit: &mut Audit) {
    let place = |line| FindingLocation {
        file: file.clone(),
        line,
    };
    if let Some(result) = omb::find(bytes) {
        return audit.lines.push(AuditedLine {
            place: place(1),
            text: String::new(),
            content: ParsedLine::Omb(result),
            nearby: None,
        });
    }
    let text = String::from_utf8_lossy(bytes);
    let before = audit.lines.len();
    let mut current: Option<Context> = None;
    let (mut cut, mut commas) = (Vec::new(), Vec::new());
    for (index, text) in text.lines().enumerate() {
        let line = index + 1;
        if let Some(found) = context::command(text, line) {
            current = Some(found);
        }
        let content = match producer::find(text) {
            Some(PerfTestLine::Line(producer_line)) => {
                if producer_line.has_commas {
                    commas.push(line);
                }
                ParsedLine::Producer(producer_line)
            }
            Some(PerfTestLine::Cut) => {
                cut.push(line);
                continue;
            }
            None => match other(text) {
                Some(content) => content,
                None => continue,
            },
        };
        audit.lines.push(AuditedLine {
            nearby: current.clone(),
            place: place(line),
            text: text.trim().to_owned(),
            content,
        });
    }
    let mut remark = |places: &[usize], words: &str| {
        if !places.is_empty() {
            audit
                .remarks
                .push(format!("{file}: {} {words}", named(places)));
        }
    };
    remark(
        &cut,
        "begins like a line of the tool but differs later or is cut off: skipped",
    );
    remark(
        &commas,
        "has decimal commas, as Java prints in some locales: accepted",
    );
    if audit.lines.len() == before {
        let words = if bytes.contains(&0) {
            "is binary and has no line of a known tool"
        } else {
            "has no line of a known tool"
        };
        audit.remarks.push(format!("{file} {words}"));
    }
}

/// A line of another tool, or a rate in prose.
fn other(text: &str) -> Option<ParsedLine> {
    if consumer::is_one(text) {
        return Some(ParsedLine::Consumer);
    }
    let rdkafka = rdkafka::find(text).map(ParsedLine::Rdkafka);
    rdkafka.or_else(|| rate::find(text).map(ParsedLine::Rate))
}

fn named(places: &[usize]) -> String {
    let shown: Vec<String> = places
        .iter()
        .take(NAMED_MAX)
        .map(usize::to_string)
        .collect();
    match places.len() {
        1 => format!("line {}", shown[0]),
        all if all > NAMED_MAX => format!(
            "each of lines {} and {} more",
            shown.join(", "),
            all - NAMED_MAX
        ),
        _ => format!("each of lines {}", shown.join(", ")),
    }
}
