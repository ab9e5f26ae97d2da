//! The library that brokers load before their C library for some faults: what is flushed, late or failing flushes, a
//! full disk. The machine's C compiler builds it when a cluster starts.
//!
//! After a crash, a file has only what was flushed: the worst that a failing machine may leave behind.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::error::KafkaError;
use super::setup::KafkaSetup;
use crate::security::private;

const SOURCE: &str = include_str!("preload/preload.c");

/// Compilers, in the order of preference.
const COMPILERS: [&str; 3] = ["cc", "gcc", "clang"];

/// `EIO`, as on every system that has the library.
const IO_ERROR: i64 = 5;

/// Bytes of an event in the record: four integers.
const EVENT_BYTES: usize = 32;

/// Files that brokers write through memory maps. Their recovery after an unclean shutdown makes them again.
const MAPPED: [&str; 2] = ["index", "timeindex"];

/// Builds the library in a folder.
pub(crate) fn build(setup: &KafkaSetup, dir: &Path) -> Result<PathBuf, KafkaError> {
    let missing = |why: String| KafkaError::FaultTool {
        what: "a C compiler, for a library that brokers load first",
        why,
    };
    if !cfg!(target_os = "linux") {
        return Err(missing("such libraries are made for Linux only".to_owned()));
    }
    let compiler = COMPILERS.iter().find_map(|name| setup.program(name));
    let compiler = compiler.ok_or_else(|| missing("there is no cc, gcc or clang".to_owned()))?;
    let source = private::write(dir, "preload.c", SOURCE.as_bytes());
    let source = source.map_err(KafkaError::file(dir))?;
    let library = dir.join("kgauge-preload.so");
    let output = Command::new(&compiler)
        .args(["-shared", "-fPIC", "-O2", "-o"])
        .arg(&library)
        .arg(&source)
        .arg("-ldl")
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => Ok(library),
        Ok(output) => {
            let stderr = String::from_utf8_lossy(&output.stderr);
            let first: Vec<&str> = stderr.lines().take(4).collect();
            Err(missing(format!(
                "{} failed:\n{}",
                compiler.display(),
                first.join("\n")
            )))
        }
        Err(error) => Err(missing(format!("{}: {error}", compiler.display()))),
    }
}

/// What a library does in one broker, and what it has recorded.
#[derive(Debug, Clone)]
pub(crate) struct FlushRecord {
    control: PathBuf,
    record: PathBuf,
    /// The broker's data folders, without symbolic links.
    dirs: Vec<PathBuf>,
}

/// The integers of the control file.
#[derive(Debug, Clone, Copy)]
enum ControlField {
    FlushDelayNs = 0,
    FlushError = 1,
    SpaceLeft = 2,
}

/// No limit of space.
const UNLIMITED: i64 = -1;

impl FlushRecord {
    /// A record in `conf_dir` for a broker that has not started so far. What its folders have is taken for flushed.
    pub(crate) fn begin(conf_dir: &Path, name: &str, dirs: &[PathBuf]) -> io::Result<Self> {
        let dirs: io::Result<Vec<PathBuf>> = dirs.iter().map(fs::canonicalize).collect();
        let own = FlushRecord {
            control: conf_dir.join(format!("{name}.control")),
            record: conf_dir.join(format!("{name}.flushes")),
            dirs: dirs?,
        };
        let fields = [0, 0, UNLIMITED].map(i64::to_ne_bytes).concat();
        fs::write(&own.control, fields)?;
        let mut record = File::create(&own.record)?;
        for dir in &own.dirs {
            for_each_file(dir, &mut |_, status| {
                record.write_all(&event(Event::Flushed, status, status.len()))
            })?;
        }
        Ok(own)
    }

    /// The environment of the broker.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut dirs = OsString::new();
        for (index, dir) in self.dirs.iter().enumerate() {
            if index > 0 {
                dirs.push(":");
            }
            dirs.push(dir);
        }
        vec![
            (
                "KGAUGE_PRELOAD_CONTROL".into(),
                self.control.clone().into_os_string(),
            ),
            (
                "KGAUGE_PRELOAD_RECORD".into(),
                self.record.clone().into_os_string(),
            ),
            ("KGAUGE_PRELOAD_DIRS".into(), dirs),
        ]
    }

    fn set(&self, field: ControlField, value: i64) -> io::Result<()> {
        let file = OpenOptions::new().write(true).open(&self.control)?;
        file.write_all_at(&value.to_ne_bytes(), 8 * field as u64)
    }

    /// Each flush takes this much longer; 0 for no longer.
    pub(crate) fn delay_flushes(&self, length_ns: u64) -> io::Result<()> {
        let ns = i64::try_from(length_ns).unwrap_or(i64::MAX);
        self.set(ControlField::FlushDelayNs, ns)
    }

    /// Whether flushes fail from now on.
    pub(crate) fn fail_flushes(&self, fail: bool) -> io::Result<()> {
        self.set(ControlField::FlushError, if fail { IO_ERROR } else { 0 })
    }

    /// This many more bytes fit; `None` for any number.
    pub(crate) fn limit_space(&self, bytes: Option<u64>) -> io::Result<()> {
        let limit = bytes.map_or(UNLIMITED, |bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
        self.set(ControlField::SpaceLeft, limit)
    }

    /// Everything works again.
    pub(crate) fn restore(&self) -> io::Result<()> {
        self.delay_flushes(0)?;
        self.fail_flushes(false)?;
        self.limit_space(None)
    }

    /// Cuts each file of a broker that was killed to what was flushed of it. Returns the number of lost bytes.
    pub(crate) fn lose_unflushed(&self) -> io::Result<u64> {
        let mut bytes = Vec::new();
        File::open(&self.record)?.read_to_end(&mut bytes)?;
        let flushed = FlushedLengths::of(&bytes);
        if !flushed.is_loaded {
            let why = "the broker did not load the library that records flushes";
            return Err(io::Error::other(why));
        }
        let mut lost = 0;
        for dir in &self.dirs {
            for_each_file(dir, &mut |path, status| {
                let is_mapped = path
                    .extension()
                    .is_some_and(|ending| MAPPED.iter().any(|mapped| ending == *mapped));
                if is_mapped {
                    return Ok(());
                }
                let kept = flushed.of_file(status).min(status.len());
                if kept < status.len() {
                    lost += status.len() - kept;
                    OpenOptions::new().write(true).open(path)?.set_len(kept)?;
                }
                Ok(())
            })?;
        }
        Ok(lost)
    }
}

/// What happened to a file, as in `preload.c`.
#[derive(Debug, Clone, Copy)]
enum Event {
    Loaded = 0,
    Created = 1,
    Flushed = 2,
    Cut = 3,
}

fn event(event: Event, status: &fs::Metadata, length: u64) -> Vec<u8> {
    let fields = [event as u64, status.dev(), status.ino(), length];
    fields.map(u64::to_ne_bytes).concat()
}

/// The flushed length of each file, by device and inode: files are renamed.
#[derive(Debug, Default)]
struct FlushedLengths {
    is_loaded: bool,
    lengths: HashMap<(u64, u64), u64>,
}

impl FlushedLengths {
    fn of(record: &[u8]) -> Self {
        let mut own = Self::default();
        let (events, _) = record.as_chunks::<EVENT_BYTES>();
        for bytes in events {
            let field = |at: usize| {
                let from = bytes.get(8 * at..).and_then(|from| from.first_chunk::<8>());
                from.map_or(0, |from| u64::from_ne_bytes(*from))
            };
            let (file, length) = ((field(1), field(2)), field(3));
            match field(0) {
                kind if kind == Event::Loaded as u64 => own.is_loaded = true,
                kind if kind == Event::Created as u64 || kind == Event::Flushed as u64 => {
                    own.lengths.insert(file, length);
                }
                kind if kind == Event::Cut as u64 => {
                    let flushed = own.lengths.entry(file).or_default();
                    *flushed = (*flushed).min(length);
                }
                _ => {}
            }
        }
        own
    }

    /// Nothing of a file that was never flushed is left.
    fn of_file(&self, status: &fs::Metadata) -> u64 {
        let length = self.lengths.get(&(status.dev(), status.ino()));
        length.copied().unwrap_or(0)
    }
}

/// Visits every file below a folder. Files that vanish meanwhile are left out.
fn for_each_file(
    dir: &Path,
    visit: &mut dyn FnMut(&Path, &fs::Metadata) -> io::Result<()>,
) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let Ok(status) = fs::symlink_metadata(&path) else {
            continue;
        };
        if status.is_dir() {
            for_each_file(&path, visit)?;
        } else if status.is_file() {
            visit(&path, &status)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn append(record: &FlushRecord, kind: Event, path: &Path, length: u64) {
        let status = fs::metadata(path).unwrap();
        let mut file = OpenOptions::new()
            .append(true)
            .open(&record.record)
            .unwrap();
        file.write_all(&event(kind, &status, length)).unwrap();
    }

    fn length(path: &Path) -> u64 {
        fs::metadata(path).unwrap().len()
    }

    #[test]
    fn files_keep_what_was_flushed_of_them() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        fs::create_dir_all(data.join("t-0")).unwrap();
        let at = |name: &str| data.join(name);
        fs::write(at("meta.properties"), [1; 10]).unwrap();
        let record = FlushRecord::begin(dir.path(), "broker-1", std::slice::from_ref(&data));
        let record = record.unwrap();
        assert!(record.lose_unflushed().is_err(), "it was never loaded");
        append(&record, Event::Loaded, &at("meta.properties"), 0);
        for name in ["t-0/a.log", "t-0/b.log", "t-0/c.log", "t-0/a.index"] {
            fs::write(at(name), [2; 100]).unwrap();
        }
        append(&record, Event::Flushed, &at("t-0/a.log"), 70);
        // It was shortened after its flush, and grew again.
        append(&record, Event::Flushed, &at("t-0/b.log"), 90);
        append(&record, Event::Cut, &at("t-0/b.log"), 20);
        assert_eq!(record.lose_unflushed().unwrap(), 30 + 80 + 100);
        assert_eq!(length(&at("t-0/a.log")), 70);
        assert_eq!(length(&at("t-0/b.log")), 20);
        assert_eq!(length(&at("t-0/c.log")), 0);
        assert_eq!(length(&at("t-0/a.index")), 100);
        assert_eq!(length(&at("meta.properties")), 10);
    }

    #[test]
    fn a_record_that_is_cut_off_or_unknown_is_no_panic() {
        let lengths = FlushedLengths::of(&[7; EVENT_BYTES + 5]);
        assert!(!lengths.is_loaded && lengths.lengths.is_empty());
    }

    #[test]
    fn the_control_file_has_what_the_library_reads() {
        let dir = tempfile::tempdir().unwrap();
        let record = FlushRecord::begin(dir.path(), "broker-1", &[]).unwrap();
        let fields = || {
            let bytes = fs::read(&record.control).unwrap();
            let (fields, rest) = bytes.as_chunks::<8>();
            assert!(rest.is_empty());
            fields
                .iter()
                .map(|field| i64::from_ne_bytes(*field))
                .collect::<Vec<_>>()
        };
        assert_eq!(fields(), [0, 0, -1]);
        record.delay_flushes(5).unwrap();
        record.fail_flushes(true).unwrap();
        record.limit_space(Some(0)).unwrap();
        assert_eq!(fields(), [5, 5, 0]);
        record.restore().unwrap();
        assert_eq!(fields(), [0, 0, -1]);
    }
}
