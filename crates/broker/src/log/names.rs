//! Names of the files and folders of a log, as Kafka has them.

use std::path::{Path, PathBuf};

/// A segment's batches.
pub(super) const LOG: &str = "log";
/// A segment's sparse index from offset to position.
pub(super) const OFFSET_INDEX: &str = "index";
/// A segment's sparse index from timestamp to offset.
pub(super) const TIME_INDEX: &str = "timeindex";
/// Producer states up to an offset.
pub(super) const SNAPSHOT: &str = "snapshot";

/// The file of a kind that begins at an offset: 20 digits and the kind.
pub(super) fn file_at(dir: &Path, offset: i64, kind: &str) -> PathBuf {
    dir.join(format!("{offset:020}.{kind}"))
}

/// Splits a name as [`file_at`] makes it into offset and kind.
pub(super) fn parse_file(name: &str) -> Option<(i64, &str)> {
    let (digits, kind) = name.split_once('.')?;
    if digits.len() != 20 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((digits.parse().ok()?, kind))
}

/// The folder name of a partition's log: `<topic>-<partition>`.
#[must_use]
pub fn partition_dir_name(topic: &str, partition: i32) -> String {
    format!("{topic}-{partition}")
}

/// Splits a folder name as [`partition_dir_name`] makes it. `None` for folders that are no
/// partition's.
#[must_use]
pub fn parse_partition_dir_name(name: &str) -> Option<(&str, i32)> {
    let (topic, partition) = name.rsplit_once('-')?;
    let plain = partition.bytes().all(|byte| byte.is_ascii_digit());
    let partition = partition.parse().ok().filter(|_| plain)?;
    (!topic.is_empty()).then_some((topic, partition))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_file_has_twenty_digits() {
        let path = file_at(Path::new("t-0"), 1234, LOG);
        assert_eq!(path, Path::new("t-0/00000000000000001234.log"));
        assert_eq!(
            parse_file("00000000000000001234.timeindex"),
            Some((1234, "timeindex"))
        );
        assert_eq!(parse_file("1234.log"), None);
        assert_eq!(parse_file("leader-epoch-checkpoint"), None);
        assert_eq!(parse_file("0000000000000000123x.log"), None);
        assert_eq!(parse_file("99999999999999999999.log"), None);
    }

    #[test]
    fn a_topic_may_hold_hyphens() {
        assert_eq!(parse_partition_dir_name("a-b-12"), Some(("a-b", 12)));
        assert_eq!(parse_partition_dir_name("a-b-12-delete"), None);
        assert_eq!(parse_partition_dir_name("-3"), None);
        assert_eq!(parse_partition_dir_name("a-+3"), None);
        assert_eq!(
            parse_partition_dir_name(&partition_dir_name("x", 7)),
            Some(("x", 7))
        );
    }
}
