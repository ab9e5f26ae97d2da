//! A fact that this system does not provide.

use std::io;
use std::path::Path;

/// An unavailable fact, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} unavailable: {why}")]
pub struct Unavailable {
    /// The fact.
    pub what: String,
    /// Why it is unavailable.
    pub why: String,
}

impl Unavailable {
    pub(crate) fn new(what: &str, why: impl Into<String>) -> Unavailable {
        Unavailable {
            what: what.to_owned(),
            why: why.into(),
        }
    }

    /// A file with unexpected content.
    pub(crate) fn format(what: &str, path: impl AsRef<Path>) -> Unavailable {
        let path = path.as_ref().display();
        Unavailable::new(what, format!("{path} has an unexpected format"))
    }
}

/// The text of a kernel file.
pub(crate) fn read(what: &str, path: impl AsRef<Path>) -> Result<String, Unavailable> {
    let path = path.as_ref();
    std::fs::read_to_string(path).map_err(|error| Unavailable::new(what, reason(path, &error)))
}

/// Why a file could not be read, as text.
pub(crate) fn reason(path: &Path, error: &io::Error) -> String {
    if cfg!(target_os = "linux") {
        format!("{}: {error}", path.display())
    } else {
        format!(
            "kgauge only reads it on Linux, not on {}",
            std::env::consts::OS
        )
    }
}
