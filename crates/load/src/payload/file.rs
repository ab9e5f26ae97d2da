//! Values from a file, unchanged.

use kgauge_scenario::{RecordFile, file_digest, mix};

use super::PayloadError;

/// A file of records in memory.
#[derive(Debug)]
pub(super) struct FileValues {
    bytes: Vec<u8>,
    /// Start and end of each record.
    cuts: Vec<(usize, usize)>,
    at_random: bool,
}

impl FileValues {
    /// Reads a plan's file, which must be unchanged since the plan was made.
    pub(super) fn read(plan: &RecordFile) -> Result<Self, PayloadError> {
        let path = &plan.path;
        let bytes = std::fs::read(path).map_err(|error| {
            PayloadError(format!("cannot read its records from {path}: {error}"))
        })?;
        if file_digest(&bytes) != plan.digest {
            return Err(PayloadError(format!(
                "{path} has changed since the plan was made; make a new plan, or restore the file"
            )));
        }
        let start = bytes.as_ptr() as usize;
        let cut = |record: &[u8]| {
            let from = record.as_ptr() as usize - start;
            (from, from + record.len())
        };
        let records = RecordFile::split(&bytes, &plan.delimiter);
        let count = usize::try_from(plan.records).unwrap_or(usize::MAX);
        let cuts: Vec<(usize, usize)> = records.into_iter().take(count).map(cut).collect();
        if cuts.is_empty() {
            Err(PayloadError(format!("{path} holds no record")))
        } else {
            Ok(Self {
                bytes,
                cuts,
                at_random: plan.at_random,
            })
        }
    }

    /// The value of a record: in order and then from the start again, or at random.
    #[inline]
    pub(super) fn value(&self, number: u64, seed: u64) -> &[u8] {
        let number = if self.at_random {
            mix(seed ^ number)
        } else {
            number
        };
        let (from, to) = self.cuts[(number % self.cuts.len() as u64) as usize];
        &self.bytes[from..to]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_in_order_and_again_and_a_changed_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("records");
        std::fs::write(&path, "one\ntwo\n\nfour\n").unwrap();
        let mut plan = RecordFile {
            path: path.display().to_string(),
            delimiter: "\n".to_owned(),
            records: 4,
            value_bytes_max: 4,
            digest: file_digest(b"one\ntwo\n\nfour\n"),
            at_random: false,
        };
        let values = FileValues::read(&plan).unwrap();
        let all: Vec<&[u8]> = (0..5).map(|number| values.value(number, 1)).collect();
        let expected: [&[u8]; 5] = [b"one", b"two", b"", b"four", b"one"];
        assert_eq!(all, expected);
        plan.at_random = true;
        let values = FileValues::read(&plan).unwrap();
        let picked: std::collections::BTreeSet<&[u8]> =
            (0..100).map(|number| values.value(number, 1)).collect();
        assert_eq!(picked.len(), 4, "each is picked");
        plan.records = 2;
        let values = FileValues::read(&plan).unwrap();
        assert!((0..100).all(|number| values.value(number, 1).len() == 3));
        std::fs::write(&path, "one\ntwo\n\nfive\n").unwrap();
        let error = FileValues::read(&plan).unwrap_err().to_string();
        assert!(error.contains("has changed"), "{error}");
        plan.path = dir.path().join("none").display().to_string();
        let error = FileValues::read(&plan).unwrap_err().to_string();
        assert!(error.contains("cannot read"), "{error}");
    }
}
