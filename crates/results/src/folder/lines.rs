//! Files that grow by whole lines of JSON, written by several threads, read even when torn.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use super::error::FolderError;
use super::file::open_regular;

/// Beyond it a line is not one of ours: a slice has at most eight histograms of 600 KiB.
pub(super) const LINE_BYTES_MAX: u64 = 8 << 20;

/// Sees each line on its way to disk, on the thread that writes it: it must be quick, and must not wait.
pub type LineTap<T> = Arc<dyn Fn(&T) + Send + Sync>;

/// A file that lines of one kind are appended to. Clones write to the same file.
pub struct LineLog<T> {
    shared: Arc<Mutex<SharedFile>>,
    path: Arc<PathBuf>,
    tap: Option<LineTap<T>>,
}

impl<T> fmt::Debug for LineLog<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LineLog").field(&self.path).finish()
    }
}

#[derive(Debug)]
struct SharedFile {
    file: File,
    bytes: u64,
    line: Vec<u8>,
}

impl<T> Clone for LineLog<T> {
    fn clone(&self) -> LineLog<T> {
        LineLog {
            shared: Arc::clone(&self.shared),
            path: Arc::clone(&self.path),
            tap: self.tap.clone(),
        }
    }
}

impl<T: Serialize> LineLog<T> {
    pub(super) fn create(path: &Path) -> Result<LineLog<T>, FolderError> {
        let file = File::create_new(path);
        let file = file.map_err(|source| FolderError::io("create", path, source))?;
        Ok(LineLog::over(file, 0, path))
    }

    /// Opens a file of whole lines, to go on with it.
    pub(super) fn append(path: &Path) -> Result<LineLog<T>, FolderError> {
        let open = || {
            open_regular(path)?;
            let file = File::options().append(true).open(path)?;
            let bytes = file.metadata()?.len();
            Ok((file, bytes))
        };
        let (file, bytes) = open().map_err(|source| FolderError::io("open", path, source))?;
        Ok(LineLog::over(file, bytes, path))
    }

    fn over(file: File, bytes: u64, path: &Path) -> LineLog<T> {
        let line = Vec::new();
        LineLog {
            shared: Arc::new(Mutex::new(SharedFile { file, bytes, line })),
            path: Arc::new(path.to_owned()),
            tap: None,
        }
    }

    /// Has somebody look at what is written from now on, by this log and by clones that are made of it.
    pub(super) fn set_tap(&mut self, tap: LineTap<T>) {
        self.tap = Some(tap);
    }

    /// Marks the file as being written, until all clones are dropped. Where the file system has
    /// no locks this does nothing, and a reader takes the running run for one that was cut short.
    pub(super) fn lock(&self) {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = shared.file.try_lock();
    }

    pub(super) fn unlock(&self) {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = shared.file.unlock();
    }

    /// Appends a line; it has gone to the operating system when this returns.
    pub fn write(&self, content: &T) -> Result<(), FolderError> {
        if let Some(tap) = &self.tap {
            tap(content);
        }
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let written = shared.append(content);
        written.map_err(|source| FolderError::io("write", &self.path, source))
    }
}

impl SharedFile {
    fn append(&mut self, content: &impl Serialize) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, content)?;
        self.line.push(b'\n');
        if let Err(error) = self.file.write_all(&self.line) {
            // Half a line is cut off again where possible; readers skip it otherwise.
            let _ = self.file.set_len(self.bytes);
            return Err(error);
        }
        self.bytes += self.line.len() as u64;
        Ok(())
    }
}

/// A line of a file that is being read.
pub(super) struct JsonLine<'a> {
    /// From 1.
    pub(super) number: u64,
    /// Where it begins.
    pub(super) offset: u64,
    /// Without its end.
    pub(super) content: LineContent<'a>,
}

/// What a line holds.
pub(super) enum LineContent<'a> {
    /// A whole line.
    Whole(&'a [u8]),
    /// The last line, without an end: its writer died.
    Torn,
    /// Longer than any line of ours.
    TooLong,
}

/// Calls `take` for each line of a file. Memory is bounded by the longest line allowed.
pub(super) fn each_line(
    path: &Path,
    mut take: impl FnMut(JsonLine<'_>),
) -> Result<(), FolderError> {
    let fail = |source| FolderError::io("read", path, source);
    let mut reader = BufReader::with_capacity(1 << 16, open_regular(path).map_err(fail)?);
    let (mut buffer, mut number, mut offset) = (Vec::new(), 0_u64, 0_u64);
    loop {
        buffer.clear();
        let mut limited = reader.by_ref().take(LINE_BYTES_MAX);
        let length = limited.read_until(b'\n', &mut buffer).map_err(fail)? as u64;
        if length == 0 {
            return Ok(());
        }
        number += 1;
        let (start, content, skipped) = (offset, buffer.strip_suffix(b"\n"), length);
        offset += skipped;
        let content = match content {
            Some(whole) => LineContent::Whole(whole),
            None if length < LINE_BYTES_MAX => LineContent::Torn,
            None => {
                offset += skip_line(&mut reader).map_err(fail)?;
                LineContent::TooLong
            }
        };
        take(JsonLine {
            number,
            offset: start,
            content,
        });
    }
}

/// Reads on to the end of the line; how many bytes that was.
fn skip_line(reader: &mut impl BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            return Ok(skipped);
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(chunk.len(), |end| end + 1);
        reader.consume(used);
        skipped += used as u64;
        if end.is_some() {
            return Ok(skipped);
        }
    }
}
