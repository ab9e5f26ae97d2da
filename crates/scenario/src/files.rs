//! Files that a scenario names: traces and records. This crate reads none; the caller provides access.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::record::{RecordFile, file_digest};
use crate::shape::{Shape, Trace};
use crate::units;

/// A file that a scenario names.
#[derive(Clone, Debug)]
pub struct FileRead {
    /// Where it was found, as a run can find it again.
    pub path: String,
    /// All of it.
    pub bytes: Vec<u8>,
}

type ReadFile = dyn Fn(&str) -> Result<FileRead, String> + Send + Sync;

/// Access to the files that a scenario names. Each is read once.
#[derive(Clone, Default)]
pub struct Files {
    read: Option<Arc<ReadFile>>,
    known: Arc<Mutex<BTreeMap<String, KnownFiles>>>,
}

#[derive(Clone)]
enum KnownFiles {
    Trace(Result<Trace, String>),
    Records(Result<(RecordFile, u32), String>),
}

impl Files {
    /// No files: a scenario that names one is refused.
    pub fn none() -> Files {
        Files::default()
    }

    /// Files as `read` finds them by the paths in the scenario; errors are words for the user.
    pub fn by(read: impl Fn(&str) -> Result<FileRead, String> + Send + Sync + 'static) -> Files {
        Files {
            read: Some(Arc::new(read)),
            known: Arc::default(),
        }
    }

    fn read(&self, path: &str) -> Result<FileRead, String> {
        match &self.read {
            Some(read) => read(path),
            None => Err("this scenario is not in a folder, so it cannot use files".to_owned()),
        }
    }

    fn known(&self, name: String, find: impl FnOnce() -> KnownFiles) -> KnownFiles {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(name).or_insert_with(find).clone()
    }

    /// Times of records, one a line.
    pub(crate) fn times(&self, path: &str) -> Result<Trace, String> {
        self.trace(path, "times", &times)
    }

    /// Records in each second, one a line.
    pub(crate) fn rates(&self, path: &str) -> Result<Trace, String> {
        self.trace(path, "rates", &rates)
    }

    fn trace(
        &self,
        path: &str,
        kind: &str,
        parse: &dyn Fn(&str) -> Result<Trace, String>,
    ) -> Result<Trace, String> {
        let found = self.known(format!("{kind} {path}"), || {
            let text = self.read(path).and_then(|file| {
                String::from_utf8(file.bytes).map_err(|_| "it is not UTF-8 text".to_owned())
            });
            KnownFiles::Trace(text.and_then(|text| parse(&text)))
        });
        match found {
            KnownFiles::Trace(trace) => trace,
            KnownFiles::Records(_) => Err("it is a file of records".to_owned()),
        }
    }

    /// A file of records, and the mean size of its values.
    pub(crate) fn records(&self, path: &str, delimiter: &str) -> Result<(RecordFile, u32), String> {
        let found = self.known(format!("records {delimiter} {path}"), || {
            KnownFiles::Records(self.read(path).and_then(|file| records(file, delimiter)))
        });
        match found {
            KnownFiles::Records(records) => records,
            KnownFiles::Trace(_) => Err("it is a trace".to_owned()),
        }
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files").finish_non_exhaustive()
    }
}

/// Scenarios are compared by their contents.
impl PartialEq for Files {
    fn eq(&self, _: &Files) -> bool {
        true
    }
}

/// A trace is kept in the plan: more than this belongs into a shape.
const TRACE_LINES_MAX: usize = 1_000_000;

/// The lines with content, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let bare = |line: &'_ str| -> usize { line.find('#').unwrap_or(line.len()) };
    let lines = text.lines().enumerate();
    lines
        .map(move |(index, line)| (index + 1, line[..bare(line)].trim()))
        .filter(|(_, line)| !line.is_empty())
}

fn parsed<T>(
    text: &str,
    mut parse: impl FnMut(&str) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let mut found = Vec::new();
    for (number, line) in lines(text) {
        if found.len() >= TRACE_LINES_MAX {
            return Err(format!("it has more than {TRACE_LINES_MAX} entries"));
        }
        found.push(parse(line).map_err(|why| format!("its line {number} {why}"))?);
    }
    Ok(found)
}

fn times(text: &str) -> Result<Trace, String> {
    let mut last_ns = 0;
    let times = parsed(text, |line| {
        let at_ns = units::time_ns(line)
            .or_else(|_| units::time_ns(&format!("{line} s")))
            .map_err(|_| format!("is not a time: `{}`", crate::suggest::shorten(line)))?;
        if at_ns < last_ns {
            return Err("is earlier than the previous one".to_owned());
        }
        last_ns = at_ns;
        Ok(at_ns)
    })?;
    not_empty(Trace::Times(times.into()))
}

fn rates(text: &str) -> Result<Trace, String> {
    let rates = parsed(text, |line| {
        let rate = units::rate(line)
            .or_else(|_| units::rate(&format!("{line}/s")))
            .map_err(|_| format!("is not a rate: `{}`", crate::suggest::shorten(line)))?;
        match rate == 0.0 || Shape::is_rate(rate) {
            true => Ok(rate),
            false => Err(format!("is out of range: {rate} records per second")),
        }
    })?;
    not_empty(Trace::Rates(rates.into()))
}

fn not_empty(trace: Trace) -> Result<Trace, String> {
    match trace.records() {
        0 => Err("it contains no record".to_owned()),
        _ => Ok(trace),
    }
}

fn records(file: FileRead, delimiter: &str) -> Result<(RecordFile, u32), String> {
    let records = RecordFile::split(&file.bytes, delimiter);
    let Some(largest) = records.iter().map(|record| record.len()).max() else {
        return Err("it is empty".to_owned());
    };
    let largest = u32::try_from(largest)
        .ok()
        .filter(|bytes| *bytes <= i32::MAX as u32)
        .ok_or_else(|| "a record in it is larger than 2 GiB".to_owned())?;
    let bytes: usize = records.iter().map(|record| record.len()).sum();
    let mean = (bytes as f64 / records.len() as f64).round() as u32;
    let plan = RecordFile {
        path: file.path,
        delimiter: delimiter.to_owned(),
        records: records.len() as u64,
        value_bytes_max: largest,
        digest: file_digest(&file.bytes),
        at_random: false,
    };
    Ok((plan, mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &'static str) -> Files {
        Files::by(move |path| {
            Ok(FileRead {
                path: format!("/there/{path}"),
                bytes: text.as_bytes().to_vec(),
            })
        })
    }

    #[test]
    fn times_are_seconds_or_carry_their_unit() {
        let text = "# when\n0\n0.000125 # an eighth of a millisecond\n\n250 ms\n1.5\n";
        let expected = [0, 125_000, 250_000_000, 1_500_000_000];
        assert_eq!(files(text).times("t"), Ok(Trace::Times(expected.into())));
        let error = files("1\n0.5\n").times("t").unwrap_err();
        assert_eq!(error, "its line 2 is earlier than the previous one");
        assert!(files("soon\n").times("t").unwrap_err().contains("line 1"));
        assert!(files("# nothing\n").times("t").is_err());
    }

    #[test]
    fn rates_are_records_a_second() {
        let text = "100\n2.5k/s\n0\n";
        let expected = [100.0, 2_500.0, 0.0];
        assert_eq!(files(text).rates("t"), Ok(Trace::Rates(expected.into())));
        assert!(files("0\n").rates("t").is_err());
        assert!(files("1e12\n").rates("t").is_err());
    }

    #[test]
    fn a_file_of_records_is_described_and_read_once() {
        let reads = Arc::new(std::sync::atomic::AtomicU32::new(0));
        let counted = Arc::clone(&reads);
        let files = Files::by(move |path| {
            counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let (path, bytes) = (path.to_owned(), b"aa;bbbb;".to_vec());
            Ok(FileRead { path, bytes })
        });
        for _ in 0..3 {
            let (plan, mean) = files.records("r", ";").unwrap();
            assert_eq!((plan.records, plan.value_bytes_max, mean), (2, 4, 3));
            assert_eq!(plan.digest, file_digest(b"aa;bbbb;"));
        }
        assert_eq!(reads.load(std::sync::atomic::Ordering::Relaxed), 1);
    }

    #[test]
    fn without_a_folder_there_are_no_files() {
        assert!(Files::none().times("t").unwrap_err().contains("folder"));
    }
}
