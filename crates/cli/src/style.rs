//! The style of results on this standard output, and their detail.

use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::sync::OnceLock;

use clap::{Args, ColorChoice};
use kgauge_report::{TerminalDetail, TerminalStyle};

/// The value of `--color`, once arguments are read.
static COLOR: OnceLock<ColorChoice> = OnceLock::new();

/// Stores the value of `--color`.
pub(crate) fn set_color(choice: ColorChoice) {
    let _ = COLOR.set(choice);
}

/// How much is printed.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct DetailArgs {
    /// Also print the evidence: all figures, the generator's headroom, bottlenecks, groups,
    /// transactions, durability, faults and settings
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    /// Print only the result: answers, table and important warnings, without progress, other caveats and
    /// paths
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl DetailArgs {
    /// Colours, width and detail for this standard output.
    pub(crate) fn style(self) -> TerminalStyle {
        TerminalStyle {
            detail: self.detail(),
            ..terminal_style()
        }
    }

    /// The detail in a file: no colours, 80 columns.
    pub(crate) fn file_style(self) -> TerminalStyle {
        TerminalStyle {
            detail: self.detail(),
            ..TerminalStyle::default()
        }
    }

    fn detail(self) -> TerminalDetail {
        match (self.verbose, self.quiet) {
            (_, true) => TerminalDetail::Brief,
            (true, _) => TerminalDetail::Full,
            (false, false) => TerminalDetail::Usual,
        }
    }
}

/// Colours and width for this standard output.
pub(crate) fn terminal_style() -> TerminalStyle {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let choice = COLOR.get().copied().unwrap_or(ColorChoice::Auto);
    TerminalStyle {
        color: is_coloured(choice, variable, std::io::stdout().is_terminal()),
        width: terminal_width(),
        detail: TerminalDetail::Usual,
    }
}

/// Whether to use colours: `--color` decides, then NO_COLOR (no-color.org), then CLICOLOR_FORCE
/// (bixense.com/clicolors), then whether a terminal shows them.
fn is_coloured(choice: ColorChoice, variable: impl Fn(&str) -> String, is_terminal: bool) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if !variable("NO_COLOR").is_empty() => false,
        ColorChoice::Auto => {
            is_terminal || !["", "0"].contains(&variable("CLICOLOR_FORCE").as_str())
        }
    }
}

/// The terminal's width, between what a table needs and what an eye follows.
fn terminal_width() -> usize {
    columns(std::io::stdout()).clamp(60, 100)
}

/// The columns of a terminal; 80 of anything else.
pub(crate) fn columns(stream: impl AsFd) -> usize {
    let size = rustix::termios::tcgetwinsize(stream).ok();
    let size = size.filter(|size| size.ws_col > 0);
    usize::from(size.map_or(80, |size| size.ws_col))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_decides_before_the_environment_and_that_before_the_terminal() {
        let is = |choice, set: &[&str], is_terminal| {
            let variable = |name: &str| match set.contains(&name) {
                true => "1".to_owned(),
                false => String::new(),
            };
            is_coloured(choice, variable, is_terminal)
        };
        assert!(is(ColorChoice::Always, &["NO_COLOR"], false));
        assert!(!is(ColorChoice::Never, &["CLICOLOR_FORCE"], true));
        assert!(!is(
            ColorChoice::Auto,
            &["NO_COLOR", "CLICOLOR_FORCE"],
            true
        ));
        assert!(is(ColorChoice::Auto, &["CLICOLOR_FORCE"], false));
        assert!(is(ColorChoice::Auto, &[], true));
        assert!(!is(ColorChoice::Auto, &[], false), "a pipe");
    }
}
