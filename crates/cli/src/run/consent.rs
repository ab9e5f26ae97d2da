//! The question whether a run may use an existing cluster.

use std::io::{BufRead, IsTerminal};

use kgauge_runner::ConsentAnswer;

use crate::print;

/// Asks the user at the terminal.
pub(crate) fn ask() -> ConsentAnswer {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return ConsentAnswer::NobodyThere;
    }
    print::question("Begin? [y/N] ");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    let is_yes = matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes");
    match read {
        Ok(_) if is_yes => ConsentAnswer::Yes,
        Ok(_) | Err(_) => ConsentAnswer::No,
    }
}
