//! Whole files: written atomically, read up to a size limit.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::FolderError;

/// Larger files are not ours: a plan of a thousand trials is a few MiB.
const WHOLE_BYTES_MAX: u64 = 64 << 20;

/// The unit in which the kernel counts a file's blocks.
const BLOCK_BYTES: u64 = 512;

/// Replaces a file so that a reader sees the old or the new content, never a part of it.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".part");
    let temporary = Path::new(&temporary);
    let written = write_then_rename(temporary, path, bytes);
    if written.is_err() {
        // A partial temporary file must not stay.
        let _ = fs::remove_file(temporary);
    }
    written.map_err(|source| FolderError::io("write", path, source))
}

fn write_then_rename(temporary: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    // An earlier writer may have left something other than a file.
    let _ = fs::remove_file(temporary);
    let mut file = File::create_new(temporary)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    fs::rename(temporary, path)
}

/// The same for JSON, with line breaks so that people and diff tools can read it.
pub(super) fn write_json(path: &Path, content: &impl Serialize) -> Result<(), FolderError> {
    let mut bytes =
        serde_json::to_vec_pretty(content).map_err(|error| FolderError::content(path, error))?;
    bytes.push(b'\n');
    write_whole(path, &bytes)
}

/// Replaces JSON on a full disk, within the file's existing blocks.
pub(super) fn overwrite_json(path: &Path, content: &impl Serialize) -> Result<(), FolderError> {
    let mut bytes =
        serde_json::to_vec(content).map_err(|error| FolderError::content(path, error))?;
    bytes.push(b'\n');
    let overwrite = || {
        let mut file = File::options().write(true).open(path)?;
        let facts = file.metadata()?;
        let room = facts.len().max(facts.blocks().saturating_mul(BLOCK_BYTES));
        if bytes.len() as u64 > room {
            return Err(io::ErrorKind::StorageFull.into());
        }
        file.write_all(&bytes)?;
        file.set_len(bytes.len() as u64)?;
        file.sync_data()
    };
    overwrite().map_err(|source| FolderError::io("write", path, source))
}

/// Opens a file for reading. Refuses pipes, which block the reader, and devices, which may never end.
pub(super) fn open_regular(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    File::open(path)
}

/// Reads a text file; `None` if it does not exist.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, FolderError> {
    let file = match open_regular(path) {
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

/// Reads a JSON file; `None` if it does not exist.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, FolderError> {
    let Some(text) = read_text(path)? else {
        return Ok(None);
    };
    let content = serde_json::from_str(&text)
        .map_err(|error| FolderError::at(path, Some(error.line() as u64), error))?;
    Ok(Some(content))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_replaced_within_the_space_that_it_has() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.json");
        write_json(
            &path,
            &json!({"status": "running", "command": ["kgauge", "run"]}),
        )
        .unwrap();
        let ended = json!({"status": "failed", "why": "no space"});
        overwrite_json(&path, &ended).unwrap();
        let read = || read_json::<serde_json::Value>(&path).unwrap();
        assert_eq!(read(), Some(ended.clone()));
        let blocks = fs::metadata(&path).unwrap().blocks();
        let long = "x".repeat(usize::try_from(blocks * BLOCK_BYTES).unwrap() + 100);
        assert!(overwrite_json(&path, &json!({"why": long})).is_err());
        assert_eq!(read(), Some(ended));
    }
}
