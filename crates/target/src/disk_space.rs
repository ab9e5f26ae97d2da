//! Checks whether a run's data fits on the target's disks.

use std::fs;
use std::path::{Path, PathBuf};

use kgauge_client::admin::LogDirsError;
use kgauge_client::{CallError, Cluster, ClusterError};
use kgauge_scenario::format::binary_bytes;

/// The share of a disk's free space that is left for others.
const SPARE_PART: u64 = 20;

/// Free space on one disk of the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskSpace {
    /// The broker whose disk it is; `None` if all brokers share it.
    pub broker_id: Option<i32>,
    /// The directory.
    pub path: String,
    /// Its free bytes; `None` if unknown.
    pub free_bytes: Option<u64>,
}

/// A disk is too small.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "not enough disk space on the target: {} has {} free, the run needs {}{}",
    location(disk),
    binary_bytes(*free_bytes),
    binary_bytes(*needed_bytes),
    ", and kgauge keeps 5 % of the free space in reserve"
)]
pub struct DiskSpaceError {
    /// The disk.
    pub disk: DiskSpace,
    /// Its free bytes.
    pub free_bytes: u64,
    /// The bytes that the run writes there.
    pub needed_bytes: u64,
}

fn location(disk: &DiskSpace) -> String {
    match disk.broker_id {
        Some(id) => format!("{} of broker {id}", disk.path),
        None => disk.path.clone(),
    }
}

/// Bytes available to this process on the file system of `path`, or of its nearest existing parent.
pub fn free_bytes(path: &Path) -> std::io::Result<u64> {
    let absolute = std::path::absolute(path)?;
    let existing: Option<PathBuf> = absolute
        .ancestors()
        .find_map(|parent| fs::canonicalize(parent).ok());
    let facts = rustix::fs::statvfs(existing.unwrap_or(absolute))?;
    Ok(facts.f_bavail.saturating_mul(facts.f_frsize))
}

/// The disks of an existing cluster, as its brokers report them (since Kafka 3.3).
pub(crate) fn of_cluster(cluster: &mut Cluster) -> Result<Vec<DiskSpace>, LogDirsError> {
    let ids: Vec<i32> = cluster
        .metadata()
        .brokers
        .iter()
        .map(|broker| broker.id)
        .collect();
    let mut disks = Vec::new();
    for broker_id in ids {
        let unknown = DiskSpace {
            broker_id: Some(broker_id),
            path: "its log directory".to_owned(),
            free_bytes: None,
        };
        match cluster.describe_log_dirs(broker_id, Some(&[])) {
            Ok(dirs) => disks.extend(dirs.into_iter().map(|dir| DiskSpace {
                broker_id: Some(broker_id),
                path: dir.path,
                free_bytes: dir.usable_bytes,
            })),
            Err(error) if is_kept_secret(&error.error) => disks.push(unknown),
            Err(error) => return Err(error),
        }
    }
    Ok(disks)
}

/// Too old, or not permitted.
fn is_kept_secret(error: &ClusterError) -> bool {
    matches!(
        error,
        ClusterError::Call(CallError::Unsupported { .. }) | ClusterError::Refused { .. }
    )
}

/// Whether `bytes` (all replicas together) fit, spread evenly over the brokers, or all on one disk if the brokers share
/// it. Disks of unknown size count as large enough.
pub fn check_disks(disks: &[DiskSpace], bytes: u64) -> Result<(), DiskSpaceError> {
    let mut brokers: Vec<Option<i32>> = disks.iter().map(|disk| disk.broker_id).collect();
    brokers.sort_unstable();
    brokers.dedup();
    let needed_bytes = bytes.div_ceil(u64::try_from(brokers.len()).unwrap_or(1).max(1));
    for broker in brokers {
        // A broker puts each new partition into the directory with the fewest partitions. Which one that will be is
        // unknown, so the largest free space counts.
        let of_broker = disks.iter().filter(|disk| disk.broker_id == broker);
        let known: Option<Vec<(&DiskSpace, u64)>> = of_broker
            .map(|disk| Some((disk, disk.free_bytes?)))
            .collect();
        let largest = known.and_then(|known| known.into_iter().max_by_key(|&(_, free)| free));
        if let Some((disk, free_bytes)) = largest
            && free_bytes - free_bytes / SPARE_PART < needed_bytes
        {
            return Err(DiskSpaceError {
                disk: disk.clone(),
                free_bytes,
                needed_bytes,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(broker_id: Option<i32>, free_bytes: Option<u64>) -> DiskSpace {
        DiskSpace {
            broker_id,
            path: "/data".to_owned(),
            free_bytes,
        }
    }

    #[test]
    fn bytes_are_spread_over_the_brokers() {
        let disks = [disk(Some(1), Some(1000)), disk(Some(2), Some(1000))];
        assert_eq!(check_disks(&disks, 1900), Ok(()));
        let error = check_disks(&disks, 1902).unwrap_err();
        assert_eq!((error.needed_bytes, error.free_bytes), (951, 1000));
        assert!(
            error
                .to_string()
                .contains("/data of broker 1 has 1000 bytes free"),
            "{error}"
        );
    }

    #[test]
    fn a_shared_disk_takes_it_all() {
        let disks = [disk(None, Some(1000))];
        assert_eq!(check_disks(&disks, 950), Ok(()));
        assert!(check_disks(&disks, 951).is_err());
    }

    #[test]
    fn a_brokers_largest_directory_counts_and_unknown_ones_are_trusted() {
        let two = [disk(Some(1), Some(10)), disk(Some(1), Some(1000))];
        assert_eq!(check_disks(&two, 900), Ok(()));
        let unknown = [disk(Some(1), None), disk(Some(1), Some(10))];
        assert_eq!(check_disks(&unknown, 1 << 60), Ok(()));
        assert_eq!(check_disks(&[], 5), Ok(()));
    }

    #[test]
    fn this_machine_reports_its_free_space() {
        let dir = tempfile::tempdir().unwrap();
        assert!(free_bytes(&dir.path().join("not/there")).unwrap() > 0);
    }
}
