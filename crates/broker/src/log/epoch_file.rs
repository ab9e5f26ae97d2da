//! The file `leader-epoch-checkpoint` of a log: Kafka's text form of the leader epochs.
//!
//! Lines: the version 0, the number of entries, then `epoch start_offset` for each.

use std::fmt::Write as _;
use std::path::Path;

use super::epochs::{EpochStart, LeaderEpochs};
use crate::storage::{Storage, StorageResult, read_whole, replace_file};

const NAME: &str = "leader-epoch-checkpoint";

/// Reads the file. `None` when it is missing or damaged: the epochs then come from the batches.
pub(super) fn read(storage: &dyn Storage, dir: &Path) -> StorageResult<Option<LeaderEpochs>> {
    let bytes = read_whole(storage, &dir.join(NAME))?;
    Ok(bytes.and_then(|bytes| parse(std::str::from_utf8(&bytes).ok()?)))
}

fn parse(text: &str) -> Option<LeaderEpochs> {
    let mut lines = text.lines();
    if lines.next()? != "0" {
        return None;
    }
    let count: usize = lines.next()?.parse().ok()?;
    let mut entries = Vec::new();
    for line in lines {
        let (epoch, start_offset) = line.split_once(' ')?;
        let start_offset = start_offset.parse().ok()?;
        entries.push(EpochStart {
            epoch: epoch.parse().ok()?,
            start_offset,
        });
    }
    if entries.len() != count || !text.ends_with('\n') {
        return None;
    }
    LeaderEpochs::from_entries(entries)
}

/// Replaces the file durably: only this file has the epochs of batches below the recovery point.
pub(super) fn write(storage: &dyn Storage, dir: &Path, epochs: &[EpochStart]) -> StorageResult<()> {
    replace_file(storage, &dir.join(NAME), text(epochs).as_bytes())?;
    storage.sync_dir(dir)
}

/// The text of the file.
fn text(epochs: &[EpochStart]) -> String {
    let mut text = format!("0\n{}\n", epochs.len());
    for EpochStart {
        epoch,
        start_offset,
    } in epochs
    {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{epoch} {start_offset}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_kafkas() {
        let mut epochs = LeaderEpochs::default();
        epochs.assign(0, 0);
        epochs.assign(3, 120);
        assert_eq!(text(epochs.entries()), "0\n2\n0 0\n3 120\n");
        assert_eq!(parse("0\n2\n0 0\n3 120\n"), Some(epochs));
        assert_eq!(parse("0\n0\n"), Some(LeaderEpochs::default()));
    }

    #[test]
    fn a_damaged_file_is_no_file() {
        for bad in [
            "",
            "0\n",
            "1\n0\n",
            "0\n1\n",
            "0\n2\n0 0\n3 12",
            "0\n2\n3 0\n1 9\n",
            "0\n1\nx\n",
        ] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }
}
