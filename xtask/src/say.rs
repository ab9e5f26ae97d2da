//! The only places where the checks and the benchmark print.

/// Results, on stdout.
#[expect(clippy::print_stdout, reason = "a script says what came out")]
pub(crate) fn say(what: &str) {
    println!("{what}");
}

/// What is waited for, on stderr.
#[expect(clippy::print_stderr, reason = "a script says what it waits for")]
pub(crate) fn remark(what: &str) {
    eprintln!("{what}");
}
