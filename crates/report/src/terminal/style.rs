//! Colour and width of a terminal. Colour only repeats the text.

/// How to write for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Whether to use ANSI colours.
    pub color: bool,
    /// Columns to fill at most; less than 40 is taken as 40.
    pub width: usize,
    /// How much to write.
    pub detail: TerminalDetail,
}

/// How much of a report or a comparison to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TerminalDetail {
    /// The result only: answers, table, and what makes them wrong.
    Brief,
    /// The result with its conditions, caveats and paths.
    #[default]
    Usual,
    /// All of that with its evidence, and all figures.
    Full,
}

impl Default for TerminalStyle {
    /// Plain text in 80 columns: what a file or a pipe gets.
    fn default() -> Self {
        Self {
            color: false,
            width: 80,
            detail: TerminalDetail::Usual,
        }
    }
}

/// The role of a piece of text, which determines its look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    Strong,
    Soft,
    Good,
    Caution,
    Bad,
}

impl Ink {
    /// Parameters of "select graphic rendition" (ECMA-48, 8.3.117).
    fn code(self) -> &'static str {
        match self {
            Self::Strong => "1",
            Self::Soft => "2",
            Self::Good => "32",
            Self::Caution => "33",
            Self::Bad => "31",
        }
    }
}

impl TerminalStyle {
    /// The text, coloured if colour is on.
    pub(super) fn paint(self, ink: Ink, text: &str) -> String {
        match self.color && !text.is_empty() {
            true => format!("\u{1b}[{}m{text}\u{1b}[0m", ink.code()),
            false => text.to_owned(),
        }
    }

    /// The usable width.
    pub(super) fn columns(self) -> usize {
        self.width.max(40)
    }
}
