//! Lines of Markdown under construction: what every text for a comment is written with.

use super::escape::escape;
use crate::format;
use crate::view::Severity;

/// GitHub takes comments of up to 65,536 characters; bytes are never fewer.
const BYTES_MAX: usize = 60_000;

/// The first of some texts, each shorter than the one before it, that a comment can hold.
pub(super) fn first_that_fits(mut texts: impl Iterator<Item = String>, what: &str) -> String {
    let found = texts.find(|text| text.len() <= BYTES_MAX);
    // Only reached if the limits are wrong: the shortest possible text.
    found.unwrap_or_else(|| format!("The {what} is too long for a comment.\n"))
}

/// Text under construction.
pub(super) struct Lines {
    /// Letters of one text.
    letters: usize,
    /// The file that has what is left out.
    whole: &'static str,
    out: String,
}

impl Lines {
    pub(super) fn new(letters: usize, whole: &'static str) -> Lines {
        Lines {
            letters,
            whole,
            out: String::new(),
        }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    /// Text from outside, safe within a line.
    pub(super) fn escaped(&self, text: &str) -> String {
        escape(text, self.letters)
    }

    pub(super) fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    /// A blank line, never two: it ends the paragraph above.
    pub(super) fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// A block that is made already, with its line breaks.
    pub(super) fn block(&mut self, block: &str) {
        self.out.push_str(block);
        self.gap();
    }

    /// Says how much is left out, if anything is.
    pub(super) fn more(&mut self, left_out: usize, what: &str) {
        if left_out > 0 {
            let count = format::count(left_out as u64);
            self.line(&format!("- and {count} more {what} in `{}`", self.whole));
        }
    }

    /// A quoted paragraph with its severity.
    pub(super) fn quoted(&mut self, level: Severity, words: &str) {
        let word = match level {
            Severity::Note => "Note",
            Severity::Caution => "Caution",
            Severity::Grave => "Important",
        };
        self.line(&format!("> **{word}:** {words}"));
        self.gap();
    }
}
