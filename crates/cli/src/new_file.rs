//! Files that kgauge writes for the user.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use anyhow::anyhow;

/// Writes a text to a file. With a fix, an existing file is an error that names the fix; without one it is overwritten.
pub(crate) fn write(file: &Path, text: &str, fix: Option<&str>) -> anyhow::Result<()> {
    let mut options = OpenOptions::new();
    match fix {
        Some(_) => options.write(true).create_new(true),
        None => options.write(true).create(true).truncate(true),
    };
    let opened = options.open(file);
    let written = opened.and_then(|mut opened| opened.write_all(text.as_bytes()));
    written.map_err(|error| {
        let why = match (error.kind(), fix) {
            (ErrorKind::AlreadyExists, Some(fix)) => format!("the file exists; {fix}"),
            _ => error.to_string(),
        };
        anyhow!("cannot write {}: {why}", file.display())
    })
}
