//! A kernel file that stays open: every sample reads it from its beginning.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Most of these files are shorter; the buffer grows for others.
const BYTES: usize = 4096;
/// Limit: an interface takes about 130 bytes, and no other file read here is longer.
const BYTES_MAX: usize = 4 << 20;

/// An open file.
#[derive(Debug)]
pub(crate) struct ProcFile {
    path: PathBuf,
    file: File,
}

/// A read buffer, shared by many files.
#[derive(Debug)]
pub(crate) struct Buffer(Vec<u8>);

impl Buffer {
    pub(crate) fn new() -> Buffer {
        Buffer(vec![0; BYTES])
    }
}

impl ProcFile {
    pub(crate) fn open(path: impl Into<PathBuf>) -> io::Result<ProcFile> {
        let path = path.into();
        let file = File::open(&path)?;
        Ok(ProcFile { path, file })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file's current text.
    pub(crate) fn read<'a>(&self, buffer: &'a mut Buffer) -> io::Result<Cow<'a, str>> {
        let bytes = &mut buffer.0;
        let mut length = self.fill(bytes)?;
        while length == bytes.len() && length < BYTES_MAX {
            bytes.resize(2 * length, 0);
            // Starts over: the text must be of one moment.
            length = self.fill(bytes)?;
        }
        let bytes = bytes.get(..length).unwrap_or_default();
        // A name that was cut to 15 bytes may end within a character.
        Ok(String::from_utf8_lossy(bytes))
    }

    /// Reads until the file or the buffer ends; the kernel may return a file in pieces.
    pub(crate) fn fill(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut length = 0;
        while let Some(rest) = buffer.get_mut(length..).filter(|rest| !rest.is_empty()) {
            match self.file.read_at(rest, length as u64) {
                Ok(0) => break,
                Ok(read) => length += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(length)
    }
}

/// The only number in a file.
pub(crate) fn number(path: &Path) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_it_is_now_however_long_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "short").unwrap();
        let file = ProcFile::open(&path).unwrap();
        let mut buffer = Buffer::new();
        assert_eq!(file.read(&mut buffer).unwrap(), "short");
        for length in [0, BYTES - 1, BYTES, BYTES + 1, 5 * BYTES, 3] {
            let text = "x".repeat(length);
            std::fs::write(&path, &text).unwrap();
            assert_eq!(file.read(&mut buffer).unwrap(), text);
        }
        std::fs::write(&path, b"half a letter: \xc3").unwrap();
        assert!(
            file.read(&mut buffer)
                .unwrap()
                .starts_with("half a letter: ")
        );
    }
}
