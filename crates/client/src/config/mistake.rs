//! What can be wrong with a client's settings, all of it at once, each with place and cure.

use std::fmt;
use std::path::PathBuf;

/// Where a setting stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingLocation {
    /// A line of a properties file, counted from 1.
    Line {
        /// The file's name as the user gave it.
        file: String,
        /// The line on which the key begins.
        line: u32,
    },
    /// A `key=value` pair given beside the file (on the command line, in a scenario).
    Pair,
    /// Nowhere: it is missing.
    Missing,
}

impl fmt::Display for SettingLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingLocation::Line { file, line } => write!(formatter, "{file}:{line}"),
            SettingLocation::Pair => formatter.write_str("client settings"),
            SettingLocation::Missing => formatter.write_str("client settings"),
        }
    }
}

/// One mistake. No text of it ever holds a value that may be a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigMistake {
    /// Where it is.
    pub place: SettingLocation,
    /// What is wrong.
    pub what: String,
    /// What to write instead.
    pub cure: String,
}

impl fmt::Display for ConfigMistake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}; {}", self.place, self.what, self.cure)
    }
}

/// Something that has no effect, but that the user should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigNote {
    /// Where it is.
    pub place: SettingLocation,
    /// What the user should know.
    pub what: String,
}

impl fmt::Display for ConfigNote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.what)
    }
}

/// Why no [`crate::ClientConfig`] came out.
#[derive(Debug, thiserror::Error)]
pub enum ClientConfigError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The operating system's words.
        error: std::io::Error,
    },
    /// The settings are wrong; all mistakes, in the order of their places.
    #[error("{}", lines(mistakes))]
    Mistakes {
        /// At least one.
        mistakes: Vec<ConfigMistake>,
    },
}

fn lines(mistakes: &[ConfigMistake]) -> String {
    mistakes
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}
