//! The line at the bottom of the terminal, which shows the progress of a run or of a start.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kgauge_live::{RunTerminal, TerminalLine};

use crate::print;
use crate::style::columns;

/// Whether anybody sees the line.
pub(crate) fn is_seen() -> bool {
    std::io::stderr().is_terminal()
}

/// How often a line is drawn while nothing is reported.
const TICK: Duration = Duration::from_millis(250);

/// A line at the bottom of the terminal; it is removed when this is dropped.
pub(crate) struct StatusLine(ProgressBar);

impl StatusLine {
    /// Shows what is waited for and for how long so far; a message where there is no terminal.
    pub(crate) fn waiting(doing: &str) -> Self {
        let line = Self::start("{spinner} {msg} · {elapsed}");
        match is_seen() {
            true => {
                line.0.set_message(doing.to_owned());
                line.0.enable_steady_tick(TICK);
            }
            false => print::remark(doing),
        }
        line
    }

    fn start(template: &str) -> Self {
        // indicatif itself keeps quiet when stderr is no terminal.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.tick_chars("-\\|/ "));
        }
        print::set_status(Some(bar.clone()));
        Self(bar)
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        print::set_status(None);
        self.0.finish_and_clear();
    }
}

impl TerminalLine for StatusLine {
    fn set_text(&self, text: String) {
        self.0.set_message(text);
    }

    fn set_ticking(&self, is_ticking: bool) {
        match is_ticking {
            true => self.0.enable_steady_tick(TICK),
            false => self.0.disable_steady_tick(),
        }
    }

    fn tick(&self) {
        self.0.tick();
    }
}

/// Stderr, where runs show their progress.
pub(crate) struct StderrTerminal;

impl RunTerminal for StderrTerminal {
    type Line = StatusLine;

    fn is_seen(&self) -> bool {
        is_seen()
    }

    fn columns(&self) -> usize {
        columns(std::io::stderr())
    }

    fn remark(&self, message: &str) {
        print::remark(message);
    }

    fn start_line(&self) -> StatusLine {
        StatusLine::start("{spinner} {wide_msg}")
    }

    fn start_waiting(&self, doing: &str) -> StatusLine {
        StatusLine::waiting(doing)
    }
}
