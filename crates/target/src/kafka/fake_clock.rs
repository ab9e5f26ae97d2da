//! The wall clock of a broker, set ahead or behind by `libfaketime`.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::KafkaError;

/// Where packages put libraries.
const LIBRARY_DIRS: [&str; 5] = [
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/lib",
    "/opt/homebrew/lib",
];

/// The variant for programs with threads.
const LIBRARY: &str = "faketime/libfaketimeMT.so.1";

/// The library, if it is installed.
pub(crate) fn find() -> Result<PathBuf, KafkaError> {
    let dirs = LIBRARY_DIRS.map(PathBuf::from);
    find_in(&dirs).ok_or_else(|| KafkaError::FaultTool {
        what: "libfaketime, for a clock that is wrong",
        why: format!("no {LIBRARY} is in {}", LIBRARY_DIRS.join(", ")),
    })
}

/// Looks in folders, and in their folders: Debian has one for each architecture.
fn find_in(dirs: &[PathBuf]) -> Option<PathBuf> {
    for dir in dirs {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        let inner = entries.map(|entry| entry.path());
        let found = std::iter::once(dir.clone())
            .chain(inner)
            .map(|dir| dir.join(LIBRARY))
            .find(|library| library.is_file());
        if found.is_some() {
            return found;
        }
    }
    None
}

/// The offset of a broker's clock, in a file that the library reads.
#[derive(Debug, Clone)]
pub(crate) struct ClockOffsetFile(PathBuf);

impl ClockOffsetFile {
    /// A file in a folder, for a clock that is right.
    pub(crate) fn begin(dir: &Path, name: &str) -> io::Result<Self> {
        let own = Self(dir.join(format!("{name}.clock")));
        own.set(0)?;
        Ok(own)
    }

    /// Sets the clock ahead, or behind if negative. The broker notices within a second.
    pub(crate) fn set(&self, ahead_ms: i64) -> io::Result<()> {
        let sign = if ahead_ms < 0 { '-' } else { '+' };
        let ms = ahead_ms.unsigned_abs();
        let text = format!("{sign}{}.{:03}\n", ms / 1_000, ms % 1_000);
        // The library may read it at any time: it is replaced as a whole.
        let new = self.0.with_extension("new");
        fs::write(&new, text)?;
        fs::rename(&new, &self.0)
    }

    /// The environment of the broker.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        let file = self.0.clone().into_os_string();
        vec![
            ("FAKETIME_TIMESTAMP_FILE".into(), file),
            ("FAKETIME_CACHE_DURATION".into(), "1".into()),
            // Timeouts go by the monotonic clock, under both of its names.
            ("FAKETIME_DONT_FAKE_MONOTONIC".into(), "1".into()),
            ("DONT_FAKE_MONOTONIC".into(), "1".into()),
            ("NO_FAKE_STAT".into(), "1".into()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_found_in_a_folder_of_an_architecture() {
        let dir = tempfile::tempdir().unwrap();
        let library = dir.path().join("x86_64-linux-gnu").join(LIBRARY);
        let dirs = [dir.path().join("none"), dir.path().to_owned()];
        assert_eq!(find_in(&dirs), None);
        fs::create_dir_all(library.parent().unwrap()).unwrap();
        fs::write(&library, "").unwrap();
        assert_eq!(find_in(&dirs), Some(library));
    }

    #[test]
    fn an_offset_is_written_in_seconds() {
        let dir = tempfile::tempdir().unwrap();
        let file = ClockOffsetFile::begin(dir.path(), "broker-1").unwrap();
        let text = || fs::read_to_string(&file.0).unwrap();
        assert_eq!(text(), "+0.000\n");
        file.set(90_500).unwrap();
        assert_eq!(text(), "+90.500\n");
        file.set(-5).unwrap();
        assert_eq!(text(), "-0.005\n");
    }
}
