//! The findings of an audit as text for a terminal.

use std::fmt;

use crate::Audit;
use crate::finding::{Finding, FindingSeverity};

/// The maximum number of positions that are shown per finding.
const PLACES_MAX: usize = 6;
/// Columns of a terminal.
const WIDTH: usize = 80;

impl fmt::Display for Audit {
    /// Ends with a line break.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |level| {
            let findings = self.findings.iter();
            findings.filter(|one| one.level == level).count()
        };
        writeln!(
            f,
            "lines read {}, of them summaries with percentiles {}",
            self.lines.len(),
            self.summaries(),
        )?;
        writeln!(
            f,
            "contradictions {}, artefacts {}, cautions {}",
            count(FindingSeverity::Contradiction),
            count(FindingSeverity::Artefact),
            count(FindingSeverity::Caution),
        )?;
        for finding in &self.findings {
            writeln!(f, "\n{}  {}", finding.level, places(finding))?;
            f.write_str(&wrap(&finding.text))?;
        }
        if !self.remarks.is_empty() {
            writeln!(f)?;
        }
        for remark in &self.remarks {
            f.write_str(&wrap(remark))?;
        }
        Ok(())
    }
}

fn places(finding: &Finding) -> String {
    let shown = finding.places.iter().take(PLACES_MAX);
    let shown = shown
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ");
    match finding.places.len().saturating_sub(PLACES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Words as indented lines.
fn wrap(words: &str) -> String {
    let mut text = String::new();
    let mut length = WIDTH;
    for word in words.split_whitespace() {
        let wide = word.chars().count() + 1;
        if length + wide > WIDTH {
            text.push_str(if text.is_empty() { "  " } else { "\n  " });
            length = 2;
        } else {
            text.push(' ');
        }
        text.push_str(word);
        length += wide;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_fit_a_terminal() {
        let text = wrap(&"arithmetic ".repeat(30));
        let fits = |line: &str| line.chars().count() <= WIDTH && line.starts_with("  arithmetic");
        assert!(text.lines().all(fits), "{text}");
    }
}
