//! The page cache of this machine: whether data lies on a disk at all, and how a topic's records leave the cache, so
//! that brokers read them from the disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders of partitions lie this deep below a data folder: the embedded cluster has one for each node.
const DEPTH: u32 = 1;

/// Whether the data in these folders lies on disks of this machine, not in memory, and can be read by this process.
pub fn is_on_disk(dirs: &[PathBuf]) -> bool {
    !dirs.is_empty() && dirs.iter().all(|dir| is_readable(dir).unwrap_or(false))
}

/// Writes a topic's data in these folders to disk and drops it from the page cache. Returns its bytes; 0 if none of its
/// partitions is there.
///
/// # Errors
/// A file cannot be read, or this system has no such advice.
pub fn drop_from_page_cache(dirs: &[PathBuf], topic: &str) -> io::Result<u64> {
    let mut partitions = Vec::new();
    for dir in dirs {
        find_partitions(dir, topic, DEPTH, &mut partitions);
    }
    let mut bytes = 0;
    for partition in partitions {
        for entry in fs::read_dir(partition)? {
            let path = entry?.path();
            match drop_file(&path) {
                Ok(length) => bytes += length,
                // The broker has removed it since.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(bytes)
}

/// The folders of a topic's partitions. What cannot be read has none.
fn find_partitions(dir: &Path, topic: &str, depth: u32, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let number = name.strip_prefix(topic);
        let number = number.and_then(|rest| rest.strip_prefix('-'));
        if number.is_some_and(|number| number.parse::<u32>().is_ok()) {
            found.push(entry.path());
        } else if depth > 0 {
            find_partitions(&entry.path(), topic, depth - 1, found);
        }
    }
}

#[cfg(target_os = "linux")]
fn drop_file(path: &Path) -> io::Result<u64> {
    let file = fs::File::open(path)?;
    // What is not on disk yet stays in the cache.
    file.sync_data()?;
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
    Ok(file.metadata()?.len())
}

#[cfg(not(target_os = "linux"))]
fn drop_file(_: &Path) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn is_readable(dir: &Path) -> io::Result<bool> {
    /// `TMPFS_MAGIC` of Linux (`linux/magic.h`).
    const IN_MEMORY: u64 = 0x0102_1994;
    /// The root of a file system has this folder, which only the administrator may read.
    const OF_FILE_SYSTEM: &str = "lost+found";
    let file_system = rustix::fs::fstatfs(&fs::File::open(dir)?)?;
    let mut entries = fs::read_dir(dir)?.flatten();
    let is_open =
        entries.all(|entry| entry.file_name() == OF_FILE_SYSTEM || !is_closed(&entry.path()));
    Ok(is_open && u64::try_from(file_system.f_type) != Ok(IN_MEMORY))
}

/// Whether brokers that run as another user keep this from kgauge.
#[cfg(target_os = "linux")]
fn is_closed(path: &Path) -> bool {
    let tried = match (path.is_dir(), path.is_file()) {
        (true, _) => fs::read_dir(path).map(drop),
        (false, true) => fs::File::open(path).map(drop),
        (false, false) => Ok(()),
    };
    tried.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

#[cfg(not(target_os = "linux"))]
fn is_readable(_: &Path) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn only_the_partitions_of_a_topic_are_dropped_and_their_data_stays() {
        let dir = tempfile::tempdir().unwrap();
        for (partition, bytes) in [
            ("node-1/orders-0", 10),
            ("node-2/orders-11", 20),
            ("node-1/orders-new-0", 40),
            ("orders-3", 80),
        ] {
            let partition = dir.path().join(partition);
            fs::create_dir_all(&partition).unwrap();
            fs::write(partition.join("0.log"), vec![7; bytes]).unwrap();
        }
        let dirs = [dir.path().to_owned()];
        assert_eq!(drop_from_page_cache(&dirs, "orders").unwrap(), 110);
        let log = dir.path().join("node-2/orders-11/0.log");
        assert_eq!(fs::read(log).unwrap(), vec![7; 20]);
        assert_eq!(drop_from_page_cache(&dirs, "others").unwrap(), 0);
        assert!(!is_on_disk(&[]) && !is_on_disk(&[dir.path().join("gone")]));
    }
}
