//! The two streams of a tool: lines that the old tool would print go to stdout, all else to stderr.

use crate::print;

pub(crate) use crate::print::is_open;

/// Prints a line of the old tool, without control characters: it may hold text from a broker.
pub(crate) fn line(text: &str) {
    print::line(&kgauge_report::printable(text));
}

/// Something for people, on stderr.
pub(crate) fn note(words: &str) {
    raw(&format!("kgauge: {words}"));
}

/// A line on stderr as the old tool prints it.
pub(crate) fn raw(words: &str) {
    print::message(words);
}
