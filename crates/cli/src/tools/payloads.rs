//! What the producer tools put into records, as the load engine's records.

use std::path::Path;

use kgauge_scenario::{Content, RecordFile, RecordPlan, SizePlan, file_digest};

use super::ToolFailure;
use super::producer_run::PayloadSource;
use super::release::ToolRelease;
use super::say;

/// The records of a payload. What is read from a file is told as Kafka's tool tells it.
///
/// # Errors
/// In words, when the file cannot be read or holds nothing.
pub(super) fn records(
    payload: &PayloadSource,
    as_of: ToolRelease,
) -> Result<RecordPlan, ToolFailure> {
    let size = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
    Ok(match payload {
        PayloadSource::Size(bytes) => RecordPlan {
            content: Content::Letters,
            ..RecordPlan::of_values(size(*bytes))
        },
        PayloadSource::UpTo(bytes) => RecordPlan {
            content: Content::Letters,
            sizes: Some(SizePlan::Uniform {
                from: 1,
                to: size(*bytes),
            }),
            ..RecordPlan::of_values(size(bytes.div_ceil(2)))
        },
        PayloadSource::Numbered {
            words,
            first,
            bytes,
        } => RecordPlan {
            content: Content::Numbered {
                words: words.clone(),
                first: *first,
            },
            ..RecordPlan::of_values(size(*bytes))
        },
        PayloadSource::Monotonic => RecordPlan {
            content: Content::Numbers,
            ..RecordPlan::of_values(8)
        },
        PayloadSource::File { path, delimiter } => of_file(path, delimiter, as_of)?,
    })
}

fn of_file(path: &Path, delimiter: &str, as_of: ToolRelease) -> Result<RecordPlan, ToolFailure> {
    // The default, as it is typed and as shells pass it.
    let delimiter = match delimiter {
        "\\n" => "\n",
        "\\t" => "\t",
        "" => {
            let words = "--payload-delimiter is empty: say what ends a record";
            return Err(ToolFailure::new(words));
        }
        other => other,
    };
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    say::line(&format!("Reading payloads from: {}", path.display()));
    let bytes = std::fs::read(&path);
    let bytes = bytes.map_err(|error| ToolFailure::new(format!("{}: {error}", path.display())))?;
    let values = pieces(&bytes, delimiter);
    if values.is_empty() {
        return Err(ToolFailure::new(format!(
            "File does not exist or empty file provided: {}",
            path.display()
        )));
    }
    let what = if as_of < ToolRelease::of(4, 2, 0) {
        "messages"
    } else {
        "records"
    };
    say::line(&format!("Number of {what} read: {}", values.len()));
    let sum: u64 = values.iter().map(|value| value.len() as u64).sum();
    let largest = values.iter().map(|value| value.len()).max().unwrap_or(0);
    let size = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
    let file = RecordFile {
        path: path.display().to_string(),
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

/// As Java's `String.split` cuts: empty pieces at the end are none.
fn pieces<'b>(bytes: &'b [u8], delimiter: &str) -> Vec<&'b [u8]> {
    let mut pieces = RecordFile::split(bytes, delimiter);
    while pieces.last().is_some_and(|last| last.is_empty()) {
        pieces.pop();
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, delimiter: &str) -> Vec<String> {
        let cut = pieces(text.as_bytes(), delimiter).into_iter();
        cut.map(|piece| String::from_utf8(piece.to_vec()).unwrap())
            .collect()
    }

    #[test]
    fn a_file_is_cut_as_java_cuts_it() {
        assert_eq!(
            cut("one\ntwo\n\nthree\n\n", "\n"),
            ["one", "two", "", "three"]
        );
        assert_eq!(cut("a;;b;;", ";;"), ["a", "b"]);
        assert!(cut("", "\n").is_empty());
    }

    #[test]
    fn a_file_becomes_records_that_are_picked_at_random() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("values");
        std::fs::write(&path, "one\nthree\n\n").unwrap();
        let plan = of_file(&path, "\\n", ToolRelease::NEWEST).unwrap();
        let file = plan.file.unwrap();
        assert_eq!((file.records, file.value_bytes_max), (2, 5));
        assert_eq!((plan.value_bytes, file.at_random), (4, true));
        let none = dir.path().join("none");
        assert!(of_file(&none, "\\n", ToolRelease::NEWEST).is_err());
    }
}
