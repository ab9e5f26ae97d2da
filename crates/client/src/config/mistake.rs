//! Mistakes in a client's settings, all at once, each with location and fix.

use std::fmt;
use std::path::PathBuf;

/// The location of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingLocation {
    /// A line of a properties file, counted from 1.
    Line {
        /// The file's name as the user gave it.
        file: String,
        /// The line on which the key begins.
        line: u32,
    },
    /// A `key=value` pair in addition to the file (from the command line or a scenario).
    Pair,
    /// It is missing.
    Missing,
}

impl fmt::Display for SettingLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingLocation::Line { file, line } => write!(formatter, "{file}:{line}"),
            SettingLocation::Pair | SettingLocation::Missing => {
                formatter.write_str("client settings")
            }
        }
    }
}

/// One mistake. No text in it contains a value that may be a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigMistake {
    /// Its location.
    pub place: SettingLocation,
    /// What is wrong.
    pub what: String,
    /// What to write instead.
    pub fix: String,
}

impl fmt::Display for ConfigMistake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}; {}", self.place, self.what, self.fix)
    }
}

/// A note about something without effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigNote {
    /// Its location.
    pub place: SettingLocation,
    /// The note.
    pub what: String,
}

impl fmt::Display for ConfigNote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.what)
    }
}

/// Why there is no [`crate::ClientConfig`].
#[derive(Debug, thiserror::Error)]
pub enum ClientConfigError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The operating system's message.
        error: std::io::Error,
    },
    /// The settings are wrong; all mistakes, in the order of their locations.
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
