//! The file system under a path: its type and free space.

use std::fs;
use std::path::{Path, PathBuf};

use crate::unavailable::{Unavailable, read};

const MOUNTS: &str = "/proc/self/mountinfo";

/// The file system under a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSystem {
    /// Such as `ext4`, `xfs`, `tmpfs`; `None` if unknown.
    pub kind: Option<String>,
    /// The mounted device, such as `/dev/nvme0n1p1`.
    pub device: Option<String>,
    /// Size in bytes.
    pub total_bytes: u64,
    /// Bytes available to this process.
    pub free_bytes: u64,
}

/// Bytes available to this process on the file system under `path`.
///
/// If `path` does not exist, its nearest existing parent is used.
pub fn free_bytes(path: &Path) -> Result<u64, Unavailable> {
    Ok(sizes(&existing(path)?)?.1)
}

impl FileSystem {
    /// The file system under `path`, or under its nearest parent that exists.
    pub fn of(path: &Path) -> Result<FileSystem, Unavailable> {
        let path = existing(path)?;
        let (total_bytes, free_bytes) = sizes(&path)?;
        let mount = read("file system", MOUNTS)
            .ok()
            .and_then(|text| mount_of(&text, &path));
        let (kind, device) = mount.unzip();
        Ok(FileSystem {
            kind,
            device,
            total_bytes,
            free_bytes,
        })
    }
}

pub(crate) fn existing(path: &Path) -> Result<PathBuf, Unavailable> {
    let absolute = std::path::absolute(path)
        .map_err(|error| Unavailable::new("file system", format!("{}: {error}", path.display())))?;
    let found = absolute
        .ancestors()
        .find_map(|parent| fs::canonicalize(parent).ok());
    found.ok_or_else(|| {
        Unavailable::new(
            "file system",
            format!("{} has no parent that exists", path.display()),
        )
    })
}

/// Size, and space available to users other than root.
fn sizes(path: &Path) -> Result<(u64, u64), Unavailable> {
    let facts = rustix::fs::statvfs(path).map_err(|error| {
        Unavailable::new("free disk space", format!("{}: {error}", path.display()))
    })?;
    Ok((
        facts.f_blocks.saturating_mul(facts.f_frsize),
        facts.f_bavail.saturating_mul(facts.f_frsize),
    ))
}

/// Type and device of the mount under `path`: the one whose mount point is the longest prefix. Of several, the last one
/// hides the others (proc(5), `/proc/pid/mountinfo`).
fn mount_of(text: &str, path: &Path) -> Option<(String, String)> {
    let mut best: Option<(usize, (String, String))> = None;
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
            best = Some((point.len(), (kind.to_owned(), unescape(device))));
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
        let kind = |path: &str| mount_of(TEXT, Path::new(path)).unwrap().0;
        assert_eq!(kind("/home/me"), "ext4");
        assert_eq!(kind("/data/kafka"), "tmpfs");
        assert_eq!(kind("/database"), "ext4");
        assert_eq!(kind("/data two/x"), "btrfs");
        assert_eq!(mount_of("nonsense\n", Path::new("/")), None);
    }

    #[test]
    fn a_path_that_does_not_exist_yet_has_the_room_of_its_parent() {
        let dir = tempfile::tempdir().unwrap();
        let here = FileSystem::of(dir.path()).unwrap();
        let there = FileSystem::of(&dir.path().join("not/yet/there")).unwrap();
        assert_eq!(here.total_bytes, there.total_bytes);
        assert!(here.free_bytes > 0 && here.free_bytes <= here.total_bytes);
        assert!(free_bytes(&dir.path().join("new")).unwrap() > 0);
    }
}
