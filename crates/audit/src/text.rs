//! The findings of an audit as text for a terminal.

use std::fmt;

use crate::Audit;
use crate::finding::{Finding, FindingLocation, FindingSeverity};

/// The maximum number of positions that are shown per finding.
const PLACES_MAX: usize = 12;
/// The part of a line that is quoted: more than a summary of Kafka's tool.
const QUOTE_CHARS_MAX: usize = 240;
/// Columns of a terminal.
const WIDTH: usize = 80;

impl fmt::Display for Audit {
    /// Ends with a line break.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for sentence in self.conclusion() {
            f.write_str(&wrap(&sentence, ""))?;
        }
        let count = |level, name: &str| {
            let findings = self.findings.iter();
            counted(findings.filter(|one| one.level == level).count(), name)
        };
        writeln!(
            f,
            "\n{}, {}, {}; {} read, {} with percentiles",
            count(FindingSeverity::Contradiction, "contradiction"),
            count(FindingSeverity::Artefact, "artefact"),
            count(FindingSeverity::Caution, "caution"),
            counted(self.lines.len(), "line"),
            self.summaries(),
        )?;
        for alike in self.findings.chunk_by(is_alike) {
            let Some(finding) = alike.first() else {
                continue;
            };
            f.write_str(&format!(
                "\n{}",
                wrap(&places(&finding.places), &format!("{}  ", finding.level))
            ))?;
            if let Some(line) = self.quoted(finding) {
                f.write_str(&wrap(&line, "  | "))?;
            }
            f.write_str(&wrap(&finding.text, "  "))?;
            let others = alike.iter().skip(1);
            let others: Vec<FindingLocation> = others.flat_map(|one| one.places.clone()).collect();
            if !others.is_empty() {
                let words = format!("Likewise, with other figures: {}.", places(&others));
                f.write_str(&wrap(&words, "  "))?;
            }
        }
        if !self.remarks.is_empty() {
            writeln!(f)?;
        }
        for remark in &self.remarks {
            f.write_str(&wrap(remark, "  "))?;
        }
        Ok(())
    }
}

impl Audit {
    /// The line of a finding about a single line, as it can be printed.
    fn quoted(&self, finding: &Finding) -> Option<String> {
        let [place] = finding.places.as_slice() else {
            return None;
        };
        let line = self.lines.iter().find(|line| line.place == *place)?;
        let letters = line.text.chars().take(QUOTE_CHARS_MAX);
        let printable = letters.map(|letter| if letter.is_control() { ' ' } else { letter });
        let quote: String = printable.collect();
        (!quote.is_empty()).then_some(quote)
    }
}

/// `1 line`, `3 lines`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Whether two findings say the same about different lines. Each contradiction is shown: its arithmetic is the proof.
fn is_alike(one: &Finding, other: &Finding) -> bool {
    (one.level, one.check) == (other.level, other.check)
        && one.level != FindingSeverity::Contradiction
        && one.places.len() == 1
        && other.places.len() == 1
}

/// `run.log:70, 71, 72 and 3 more`: each file is named once in a row.
fn places(places: &[FindingLocation]) -> String {
    let mut text = String::new();
    let mut file = None;
    for place in places.iter().take(PLACES_MAX) {
        if !text.is_empty() {
            text.push_str(", ");
        }
        match file == Some(&place.file) {
            true => text.push_str(&place.line.to_string()),
            false => text.push_str(&place.to_string()),
        }
        file = Some(&place.file);
    }
    match places.len().saturating_sub(PLACES_MAX) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// Words as lines that begin with `start`, or for a heading, with as many blanks.
fn wrap(words: &str, start: &str) -> String {
    let blank = start.trim().is_empty() || start.trim() == "|";
    let next = match blank {
        true => start.to_owned(),
        false => " ".repeat(start.chars().count()),
    };
    let mut text = start.to_owned();
    let mut length = start.chars().count();
    let mut is_first = true;
    for word in words.split_whitespace() {
        let wide = word.chars().count() + usize::from(!is_first);
        match length + wide > WIDTH && !is_first {
            true => {
                text.push('\n');
                text.push_str(&next);
                length = next.chars().count() + wide - 1;
            }
            false => {
                text.push_str(if is_first { "" } else { " " });
                length += wide;
            }
        }
        text.push_str(word);
        is_first = false;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_fit_a_terminal() {
        let text = wrap(&"arithmetic ".repeat(30), "  ");
        let fits = |line: &str| line.chars().count() <= WIDTH && line.starts_with("  arithmetic");
        assert!(text.lines().all(fits), "{text}");
    }
}
