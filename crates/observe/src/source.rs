//! A kernel file that is read until that fails; then the reason is reported once.

use std::borrow::Cow;
use std::path::PathBuf;

use kgauge_results::run::MissingEvidence;

use crate::proc_file::{Buffer, ProcFile};
use crate::unavailable::{Unavailable, reason};

/// One file, with the parsed state.
#[derive(Debug)]
pub(crate) struct SourceFile {
    what: &'static str,
    file: Result<ProcFile, MissingSource>,
}

/// A file that is no longer read.
#[derive(Debug)]
struct MissingSource {
    /// Not reported yet.
    why: Option<String>,
}

impl SourceFile {
    pub(crate) fn open(what: &'static str, path: impl Into<PathBuf>) -> SourceFile {
        let path = path.into();
        let file = ProcFile::open(&path).map_err(|error| MissingSource {
            why: Some(reason(&path, &error)),
        });
        SourceFile { what, file }
    }

    /// The file's text.
    ///
    /// # Errors
    /// Why there is none; empty if that was reported before.
    pub(crate) fn text<'a>(
        &mut self,
        buffer: &'a mut Buffer,
    ) -> Result<Cow<'a, str>, Option<MissingEvidence>> {
        let why = match &mut self.file {
            Ok(file) => match file.read(buffer) {
                Ok(text) => return Ok(text),
                Err(error) => Some(reason(file.path(), &error)),
            },
            Err(missing) => missing.why.take(),
        };
        Err(self.given_up(why))
    }

    /// The parsed file. A file that cannot be parsed is not read again.
    ///
    /// # Errors
    /// As [`SourceFile::text`].
    pub(crate) fn parse<T>(
        &mut self,
        buffer: &mut Buffer,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Option<MissingEvidence>> {
        let found = parse(&self.text(buffer)?);
        found.ok_or_else(|| {
            let path = self.file.as_ref().map(ProcFile::path).ok();
            let why = path.map(|path| Unavailable::format(self.what, path).why);
            self.given_up(why)
        })
    }

    fn given_up(&mut self, why: Option<String>) -> Option<MissingEvidence> {
        self.file = Err(MissingSource { why: None });
        let what = self.what.to_owned();
        why.map(|why| MissingEvidence { what, why })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_reported_once() {
        let mut source = SourceFile::open("waits for disks", "/proc/pressure/no-such-thing");
        let mut buffer = Buffer::new();
        let missing = source.text(&mut buffer).unwrap_err().unwrap();
        assert_eq!(missing.what, "waits for disks");
        assert!(!missing.why.is_empty());
        assert_eq!(source.text(&mut buffer), Err(None));
    }

    #[test]
    fn an_unparsable_file_is_reported_once_and_not_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "7").unwrap();
        let mut source = SourceFile::open("a number", &path);
        let mut buffer = Buffer::new();
        let number = |text: &str| text.parse::<u64>().ok();
        assert_eq!(source.parse(&mut buffer, number), Ok(7));
        std::fs::write(&path, "seven").unwrap();
        assert!(source.parse(&mut buffer, number).unwrap_err().is_some());
        std::fs::write(&path, "8").unwrap();
        assert_eq!(source.parse(&mut buffer, number), Err(None));
    }
}
