//! Whole files: written at once or not at all, read up to a bound.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::FolderError;

/// Beyond it a file is not one of ours: a plan of a thousand trials is a few MiB.
const WHOLE_BYTES_MAX: u64 = 64 << 20;

/// Replaces a file so that a reader sees the old or the new content and never a part of it.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".part");
    let temporary = Path::new(&temporary);
    let written = write_then_rename(temporary, path, bytes);
    if written.is_err() {
        // A half-written temporary file must not be left in the way.
        let _ = fs::remove_file(temporary);
    }
    written.map_err(|source| FolderError::io("write", path, source))
}

fn write_then_rename(temporary: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(temporary)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    fs::rename(temporary, path)
}

/// The same for JSON, with line breaks so that people and diffs can read it.
pub(super) fn write_json(path: &Path, content: &impl Serialize) -> Result<(), FolderError> {
    let mut bytes =
        serde_json::to_vec_pretty(content).map_err(|error| FolderError::content(path, error))?;
    bytes.push(b'\n');
    write_whole(path, &bytes)
}

/// Reads a file of text; `None` when there is none.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, FolderError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(FolderError::io("read", path, source)),
    };
    let mut bytes = Vec::new();
    let read = file.take(WHOLE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|source| FolderError::io("read", path, source))?;
    if bytes.len() as u64 > WHOLE_BYTES_MAX {
        let what = format!("larger than {} MiB", WHOLE_BYTES_MAX >> 20);
        return Err(FolderError::content(path, what));
    }
    let text = String::from_utf8(bytes).map_err(|_| FolderError::content(path, "not UTF-8"))?;
    Ok(Some(text))
}

/// Reads a file of JSON; `None` when there is none.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, FolderError> {
    let Some(text) = read_text(path)? else {
        return Ok(None);
    };
    let content = serde_json::from_str(&text).map_err(|error| FolderError::Content {
        path: path.to_owned(),
        line: Some(error.line() as u64),
        what: error.to_string(),
    })?;
    Ok(Some(content))
}
