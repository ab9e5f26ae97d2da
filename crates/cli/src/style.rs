//! How tables look on this standard output.

use std::io::IsTerminal;

use kgauge_report::TerminalStyle;

/// Colours and width for this standard output.
pub(crate) fn terminal_style() -> TerminalStyle {
    TerminalStyle {
        color: std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        width: terminal_width(),
    }
}

/// The terminal's width, between what a table needs and what an eye follows.
fn terminal_width() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    let columns = size.filter(|size| size.ws_col > 0);
    usize::from(columns.map_or(80, |size| size.ws_col)).clamp(60, 120)
}
