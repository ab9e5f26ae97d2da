//! A fact that this system does not give.

use std::io;
use std::path::Path;

/// What cannot be had, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} unavailable: {why}")]
pub struct Unavailable {
    /// The fact.
    pub what: String,
    /// Why not.
    pub why: String,
}

impl Unavailable {
    pub(crate) fn new(what: &str, why: impl Into<String>) -> Unavailable {
        Unavailable {
            what: what.to_owned(),
            why: why.into(),
        }
    }

    /// A file that does not hold what it should.
    pub(crate) fn format(what: &str, path: impl AsRef<Path>) -> Unavailable {
        let path = path.as_ref().display();
        Unavailable::new(what, format!("{path} has an unexpected format"))
    }
}

/// The text of a file of the kernel's.
pub(crate) fn read(what: &str, path: impl AsRef<Path>) -> Result<String, Unavailable> {
    let path = path.as_ref();
    std::fs::read_to_string(path).map_err(|error| Unavailable::new(what, reason(path, &error)))
}

/// Why a file could not be read, in words.
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
