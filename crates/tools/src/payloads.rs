//! The records of the producer tools.

use std::path::Path;

use kgauge_scenario::{Content, RecordFile, RecordPlan, file_digest};

use crate::context::ToolContext;
use crate::failure::ToolFailure;
use crate::release::ToolRelease;

/// Records with values of random letters, as Kafka's tools send them since 3.0.
pub(crate) fn letters(bytes: u64) -> RecordPlan {
    RecordPlan {
        content: Content::Letters,
        ..RecordPlan::of_values(size(bytes))
    }
}

/// Records whose values are chosen at random from a file. Prints what Kafka's tool prints about the file.
pub(crate) fn from_file(
    path: &Path,
    delimiter: &str,
    as_of: ToolRelease,
    context: &ToolContext<'_>,
) -> Result<RecordPlan, ToolFailure> {
    // The default, as users type it and as shells pass it.
    let delimiter = match delimiter {
        "\\n" => "\n",
        "\\t" => "\t",
        "" => {
            let message = "--payload-delimiter is empty; write the text that ends a value";
            return Err(ToolFailure::of(message));
        }
        other => other,
    };
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let path = path.display().to_string();
    context.line(&format!("Reading payloads from: {path}"));
    let bytes = std::fs::read(&path);
    let bytes = bytes.map_err(|error| ToolFailure::Failed(format!("{path}: {error}")))?;
    let mut values = RecordFile::split(&bytes, delimiter);
    // Java's `String.split` drops empty pieces at the end.
    while values.last().is_some_and(|last| last.is_empty()) {
        values.pop();
    }
    if values.is_empty() {
        return Err(ToolFailure::Failed(format!(
            "File does not exist or empty file provided: {path}"
        )));
    }
    let records = as_of.records_word();
    context.line(&format!("Number of {records} read: {}", values.len()));
    let sum: u64 = values.iter().map(|value| value.len() as u64).sum();
    let largest = values.iter().map(|value| value.len()).max().unwrap_or(0);
    let file = RecordFile {
        path,
        delimiter: delimiter.to_owned(),
        records: values.len() as u64,
        value_bytes_max: size(largest as u64),
        digest: file_digest(&bytes),
        at_random: true,
    };
    Ok(RecordPlan {
        file: Some(file),
        ..RecordPlan::of_values(size(sum / values.len() as u64))
    })
}

/// A size in the load engine's type; larger ones exceed every limit.
pub(crate) fn size(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::{RecordedOutput, context};

    fn plan(text: &str, delimiter: &str) -> Result<RecordPlan, ToolFailure> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("values");
        std::fs::write(&path, text).unwrap();
        let output = RecordedOutput::default();
        from_file(&path, delimiter, ToolRelease::NEWEST, &context(&output))
    }

    #[test]
    fn a_file_is_split_as_java_splits_it() {
        for (text, delimiter, count) in [
            ("one\ntwo\n\nthree\n\n", "\\n", 4),
            ("a;;b;;", ";;", 2),
            ("a\tb", "\\t", 2),
        ] {
            let file = plan(text, delimiter).unwrap().file.unwrap();
            assert_eq!(file.records, count, "{text:?}");
        }
        assert!(plan("", "\\n").is_err());
        assert!(plan("a", "").is_err());
    }

    #[test]
    fn values_are_chosen_at_random() {
        let plan = plan("one\nthree\n\n", "\\n").unwrap();
        let file = plan.file.unwrap();
        assert_eq!((file.records, file.value_bytes_max), (2, 5));
        assert_eq!((plan.value_bytes, file.at_random), (4, true));
    }
}
