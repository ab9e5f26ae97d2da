//! Questions to the user at the terminal.

use std::io::{BufRead, IsTerminal};

use kgauge_runner::ConsentAnswer;

use crate::print;

/// The line that the user types after a question; `None` if there is no terminal.
pub(crate) fn line(question: &str) -> Option<String> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return None;
    }
    print::question(question);
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    let answer = read.map_or_else(|_| String::new(), |_| answer);
    Some(answer.trim().to_ascii_lowercase())
}

/// Asks for a yes.
pub(crate) fn consent(question: &str) -> ConsentAnswer {
    match line(&format!("{question} [y/N] ")).as_deref() {
        None => ConsentAnswer::NobodyThere,
        Some("y" | "yes") => ConsentAnswer::Yes,
        Some(_) => ConsentAnswer::No,
    }
}

/// Asks whether a run may use an existing cluster.
pub(crate) fn may_begin() -> ConsentAnswer {
    consent("Begin?")
}
