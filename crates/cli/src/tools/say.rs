//! The two streams of a tool: lines that the old tool would print go to stdout, all else to stderr.

use std::io::Write;

/// Stdout, line by line, as the old tool fills it. A reader that has gone ends nothing by a panic.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    is_closed: bool,
}

impl Lines {
    /// Prints a line and sees to it that the reader gets it.
    pub(crate) fn line(&mut self, text: &str) {
        if self.is_closed {
            return;
        }
        let mut out = std::io::stdout().lock();
        let written = writeln!(out, "{text}").and_then(|()| out.flush());
        self.is_closed = written.is_err();
    }

    /// Whether nobody reads any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }
}

/// Something for people, on stderr.
pub(crate) fn note(words: &str) {
    raw(&format!("kgauge: {words}"));
}

/// A line on stderr as the old tool prints it.
pub(crate) fn raw(words: &str) {
    // A stderr that nobody reads is no reason to end.
    let _ = writeln!(std::io::stderr().lock(), "{words}");
}
