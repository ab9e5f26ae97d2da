//! Control groups, such as a container's, that limit the CPU time of a process.
//!
//! Sources: cgroups(7); the kernel's documentation "Control Group v2", section on `cpu.max`, and for version 1 "CFS
//! Bandwidth Control".

use std::fs;
use std::path::{Path, PathBuf};

use crate::proc_file::number;

pub(crate) const ROOT: &str = "/sys/fs/cgroup";

/// The folders of the groups that limit the CPU time of a process, its own first, each with its limit in cores.
/// `groups` is the process's `/proc/PID/cgroup`.
pub(crate) fn limited_dirs(groups: &str, root: &Path) -> Vec<(PathBuf, f64)> {
    let mut limited = Vec::new();
    for line in groups.lines() {
        // hierarchy:controllers:path
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let is_old = controllers.split(',').any(|one| one == "cpu");
        let dirs = match (is_old, controllers.is_empty()) {
            (true, _) => upwards(&root.join("cpu"), path),
            (_, true) => upwards(root, path),
            _ => continue,
        };
        let cores = |dir: &Path| if is_old { cpu_v1(dir) } else { cpu_v2(dir) };
        limited.extend(dirs.into_iter().filter_map(|dir| {
            let cores = cores(&dir)?;
            Some((dir, cores))
        }));
    }
    limited
}

/// A group's directory and those of the groups around it, up to the root.
fn upwards(root: &Path, path: &str) -> Vec<PathBuf> {
    let relative = Path::new(path.trim_start_matches('/'));
    relative
        .ancestors()
        .map(|parent| root.join(parent))
        .collect()
}

/// `cpu.max`: quota and period in microseconds, or `max` for no quota.
fn cpu_v2(dir: &Path) -> Option<f64> {
    let text = fs::read_to_string(dir.join("cpu.max")).ok()?;
    let (quota, period) = text.trim().split_once(' ')?;
    ratio(quota.parse().ok()?, period.parse().ok()?)
}

/// -1 means no quota; it fails to parse as an unsigned number.
fn cpu_v1(dir: &Path) -> Option<f64> {
    ratio(
        number(&dir.join("cpu.cfs_quota_us"))?,
        number(&dir.join("cpu.cfs_period_us"))?,
    )
}

fn ratio(quota: u64, period: u64) -> Option<f64> {
    (period > 0).then(|| quota as f64 / period as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn groups_of_version_2_are_found_on_the_way_up() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "pod/cpu.max", "150000 100000\n");
        write(dir.path(), "pod/box/cpu.max", "max 100000\n");
        let limited = limited_dirs("0::/pod/box\n", dir.path());
        assert_eq!(limited, [(dir.path().join("pod"), 1.5)]);
    }

    #[test]
    fn groups_of_version_1_are_found_in_the_cpu_hierarchy() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "cpu/a/cpu.cfs_quota_us", "50000\n");
        write(dir.path(), "cpu/a/cpu.cfs_period_us", "100000\n");
        write(dir.path(), "cpu/cpu.cfs_quota_us", "-1\n");
        write(dir.path(), "cpu/cpu.cfs_period_us", "100000\n");
        let limited = limited_dirs("3:cpu,cpuacct:/a\n4:memory:/b\n", dir.path());
        assert_eq!(limited, [(dir.path().join("cpu/a"), 0.5)]);
    }

    #[test]
    fn no_groups_mean_no_limits() {
        assert!(limited_dirs("", Path::new("/none")).is_empty());
    }
}
