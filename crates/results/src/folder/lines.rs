//! Files of JSON lines, appended by several threads, and readable with a torn last line.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use super::error::FolderError;
use super::file::open_regular;

/// Longer lines are not ours: a slice has at most eight histograms of 600 KiB.
pub(super) const LINE_BYTES_MAX: u64 = 8 << 20;

/// Called with each line on the writing thread: it must be fast and must not wait.
pub type LineTap<T> = Arc<dyn Fn(&T) + Send + Sync>;

/// A file of lines of one type. Clones write to the same file.
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

    /// Opens an existing file to append to it.
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

    /// Sets an observer for all lines written from now on, by this log and later clones.
    pub(super) fn set_tap(&mut self, tap: LineTap<T>) {
        self.tap = Some(tap);
    }

    /// Locks the file until all clones are dropped. On a file system without locks this does nothing, and readers
    /// consider the run cut short.
    pub(super) fn lock(&self) {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = shared.file.try_lock();
    }

    pub(super) fn unlock(&self) {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = shared.file.unlock();
    }

    /// Appends a line and passes it to the operating system.
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
            // Removes a partial line if possible; otherwise readers skip it.
            let _ = self.file.set_len(self.bytes);
            return Err(error);
        }
        self.bytes += self.line.len() as u64;
        Ok(())
    }
}

/// A line being read.
pub(super) struct JsonLine<'a> {
    /// From 1.
    pub(super) number: u64,
    /// Its offset.
    pub(super) offset: u64,
    /// Its length without the line end.
    pub(super) content: LineContent<'a>,
}

/// The content of a line.
pub(super) enum LineContent<'a> {
    /// A complete line.
    Whole(&'a [u8]),
    /// The last line, without an end: its writer died.
    Torn,
    /// Longer than any valid line.
    TooLong,
}

/// Calls `take` for each line of a file. Memory is limited by the longest valid line.
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

/// Reads to the end of the line; returns the number of bytes.
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
