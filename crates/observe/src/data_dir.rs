//! The disks under a folder.
//!
//! Sources: sysfs(5); the kernel's "sysfs-block": `/sys/dev/block/MAJOR:MINOR` leads to a device. A partition's folder
//! is inside its disk's and has a file `partition`; `slaves` lists the devices that a device consists of.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use kgauge_results::run::DataDir;

use crate::file_system::{FileSystem, existing};

const DEVICES: &str = "/sys/dev/block";

/// Device mapper on RAID on partitions are three levels; more than this is a loop.
const LAYERS_MAX: u32 = 8;

/// Facts about the disks under a folder, which need not exist yet.
pub(crate) fn data_dir(path: &Path) -> DataDir {
    let file_system = FileSystem::of(path);
    let (kind, device) = file_system.map(|found| (found.kind, found.device)).unzip();
    let found = number_of(path, device.as_deref())
        .and_then(|number| disks_of(Path::new(DEVICES), number))
        .filter(|disks| !disks.is_empty());
    let why = match (&found, kind.as_deref()) {
        (Some(_), _) => None,
        (None, Some("tmpfs" | "ramfs")) => Some("it is in memory".to_owned()),
        (None, Some(kind)) => Some(format!("the system reports no disk under this {kind}")),
        (None, None) => Some("the system does not report its file system".to_owned()),
    };
    DataDir {
        path: path.display().to_string(),
        file_system: kind,
        device,
        disks: found.unwrap_or_default(),
        why,
    }
}

/// The number of the device under a path. Some file systems have artificial numbers with the major 0; then that of the
/// mounted device, if it is one.
fn number_of(path: &Path, device: Option<&str>) -> Option<u64> {
    let number = fs::metadata(existing(path)?).ok()?.dev();
    if rustix::fs::major(number) != 0 {
        return Some(number);
    }
    let device = device.filter(|device| device.starts_with("/dev/"))?;
    Some(fs::metadata(device).ok()?.rdev()).filter(|number| *number != 0)
}

/// The whole disks behind a device's number, in order, each once.
fn disks_of(devices: &Path, number: u64) -> Option<Vec<String>> {
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let device = fs::canonicalize(devices.join(format!("{major}:{minor}"))).ok()?;
    let mut disks = Vec::new();
    collect(device, LAYERS_MAX, &mut disks);
    disks.sort();
    disks.dedup();
    Some(disks)
}

fn collect(device: PathBuf, layers_left: u32, disks: &mut Vec<String>) {
    let below = fs::read_dir(device.join("slaves")).into_iter().flatten();
    let below: Vec<PathBuf> = below
        .flatten()
        .filter_map(|entry| fs::canonicalize(entry.path()).ok())
        .collect();
    if !below.is_empty() {
        if let Some(left) = layers_left.checked_sub(1) {
            below.into_iter().for_each(|one| collect(one, left, disks));
        }
        return;
    }
    let is_partition = device.join("partition").exists();
    let disk = if is_partition {
        device.parent()
    } else {
        Some(device.as_path())
    };
    let name = disk
        .and_then(Path::file_name)
        .map(|name| name.to_string_lossy());
    // sysfs writes an exclamation mark for a slash in a name.
    disks.extend(name.map(|name| name.replace('!', "/")));
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// `8:1` is a partition of sda; `253:0` consists of it and of all of cciss!c0d0; `9:9` contains itself.
    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let make = |path: &str| fs::create_dir_all(dir.path().join(path)).unwrap();
        let link = |to: &str, from: &str| {
            symlink(dir.path().join(to), dir.path().join(from)).unwrap();
        };
        make("devices/sda/sda1");
        fs::write(dir.path().join("devices/sda/sda1/partition"), "1\n").unwrap();
        make("devices/sda/slaves");
        make("devices/cciss!c0d0/slaves");
        make("devices/dm-0/slaves");
        make("devices/md9/slaves");
        make("block");
        link("devices/sda/sda1", "devices/dm-0/slaves/sda1");
        link("devices/cciss!c0d0", "devices/dm-0/slaves/c0d0");
        link("devices/md9", "devices/md9/slaves/md9");
        link("devices/sda/sda1", "block/8:1");
        link("devices/dm-0", "block/253:0");
        link("devices/md9", "block/9:9");
        dir
    }

    #[test]
    fn a_partition_leads_to_its_disk_and_a_layer_to_all_below_it() {
        let dir = tree();
        let disks =
            |major, minor| disks_of(&dir.path().join("block"), rustix::fs::makedev(major, minor));
        assert_eq!(disks(8, 1).unwrap(), ["sda"]);
        assert_eq!(disks(253, 0).unwrap(), ["cciss/c0d0", "sda"]);
        assert_eq!(disks(9, 9).unwrap(), [""; 0], "a ring has no end");
        assert_eq!(disks(7, 7), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_directory_in_memory_has_no_disk() {
        let found = data_dir(Path::new("/proc/self"));
        assert_eq!(found.disks, [""; 0]);
        assert_eq!(
            found.why.as_deref(),
            Some("the system reports no disk under this proc")
        );
    }
}
