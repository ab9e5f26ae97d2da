//! The file system under a path.

use std::fs;
use std::path::{Path, PathBuf};

const MOUNTS: &str = "/proc/self/mountinfo";

/// The file system under a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileSystem {
    /// Such as `ext4`, `xfs`, `tmpfs`.
    pub(crate) kind: String,
    /// The mounted device, such as `/dev/nvme0n1p1`.
    pub(crate) device: String,
}

impl FileSystem {
    /// The file system under `path`, or under its nearest parent that exists; `None` if unknown.
    pub(crate) fn of(path: &Path) -> Option<FileSystem> {
        mount_of(&fs::read_to_string(MOUNTS).ok()?, &existing(path)?)
    }
}

/// `path`, or its nearest parent that exists.
pub(crate) fn existing(path: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(path).ok()?;
    let mut parents = absolute.ancestors();
    parents.find_map(|parent| fs::canonicalize(parent).ok())
}

/// The mount under `path`: the one whose mount point is the longest prefix. Of several, the last one
/// hides the others (proc(5), `/proc/pid/mountinfo`).
fn mount_of(text: &str, path: &Path) -> Option<FileSystem> {
    let mut best: Option<(usize, FileSystem)> = None;
    for line in text.lines() {
        let Some((before, after)) = line.split_once(" - ") else {
            continue;
        };
        let Some(point) = before.split(' ').nth(4).map(unescape) else {
            continue;
        };
        let mut after = after.split(' ');
        let (Some(kind), Some(device)) = (after.next(), after.next()) else {
            continue;
        };
        let is_longer = best
            .as_ref()
            .is_none_or(|(length, _)| point.len() >= *length);
        if path.starts_with(&point) && is_longer {
            let (kind, device) = (kind.to_owned(), unescape(device));
            best = Some((point.len(), FileSystem { kind, device }));
        }
    }
    best.map(|(_, found)| found)
}

/// Blanks and backslashes are encoded as three octal digits.
fn unescape(text: &str) -> String {
    [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (escaped, plain)| {
        text.replace(escaped, plain)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw\n\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n\
30 27 0:25 / /data rw shared:4 master:1 - xfs /dev/nvme0n1 rw\n\
31 27 0:26 / /data\\040two rw - btrfs /dev/sdb rw\n\
32 27 0:27 / /data rw - tmpfs scratch rw\n";

    #[test]
    fn the_nearest_and_newest_mount_counts() {
        let kind = |path: &str| mount_of(TEXT, Path::new(path)).unwrap().kind;
        assert_eq!(kind("/home/me"), "ext4");
        assert_eq!(kind("/data/kafka"), "tmpfs");
        assert_eq!(kind("/database"), "ext4");
        assert_eq!(kind("/data two/x"), "btrfs");
        assert_eq!(mount_of("nonsense\n", Path::new("/")), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_path_that_does_not_exist_yet_has_the_file_system_of_its_parent() {
        let dir = tempfile::tempdir().unwrap();
        let there = FileSystem::of(&dir.path().join("not/yet/there"));
        assert!(there.is_some());
        assert_eq!(FileSystem::of(dir.path()), there);
    }
}
