//! The only code of the checks and benchmarks that prints. A reader that has closed the stream is no error.

use std::io::Write;

/// Results, on stdout.
pub(crate) fn print_line(what: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{what}");
}

/// Progress, on stderr.
pub(crate) fn remark(what: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{what}");
}
