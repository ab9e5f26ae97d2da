//! Limits that a control group, such as a container's, puts on this process.
//!
//! Sources: cgroups(7); the kernel's documentation "Control Group v2", sections on `cpu.max` and `memory.max`; for
//! version 1 "CFS Bandwidth Control" and "Memory Resource Controller".

use std::fs;
use std::path::{Path, PathBuf};

const GROUPS: &str = "/proc/self/cgroup";
pub(crate) const ROOT: &str = "/sys/fs/cgroup";

/// Version 1 writes "no limit" as the largest multiple of the page size that fits 63 bits.
const NO_LIMIT_BYTES: u64 = 1 << 62;

/// The tightest limits of this process's group and of all groups around it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CgroupLimits {
    /// In processors.
    pub cpu_cores: Option<f64>,
    /// In bytes.
    pub memory_bytes: Option<u64>,
}

impl CgroupLimits {
    /// The limits in force for this process; none without control groups.
    pub fn in_force() -> CgroupLimits {
        let groups = fs::read_to_string(GROUPS).unwrap_or_default();
        CgroupLimits::read(&groups, Path::new(ROOT))
    }

    fn read(groups: &str, root: &Path) -> CgroupLimits {
        let mut limits = CgroupLimits::default();
        for line in groups.lines() {
            // hierarchy:controllers:path
            let mut fields = line.splitn(3, ':');
            let (Some(_), Some(controllers), Some(path)) =
                (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            let has = |name: &str| controllers.split(',').any(|controller| controller == name);
            if controllers.is_empty() {
                for dir in upwards(root, path) {
                    limits.add(cpu_v2(&dir), number(&dir.join("memory.max")));
                }
            }
            if has("cpu") {
                for dir in upwards(&root.join("cpu"), path) {
                    limits.add(cpu_v1(&dir), None);
                }
            }
            if has("memory") {
                for dir in upwards(&root.join("memory"), path) {
                    let bytes = number(&dir.join("memory.limit_in_bytes"));
                    limits.add(None, bytes.filter(|&bytes| bytes < NO_LIMIT_BYTES));
                }
            }
        }
        limits
    }

    fn add(&mut self, cpu_cores: Option<f64>, memory_bytes: Option<u64>) {
        let cores = [self.cpu_cores, cpu_cores].into_iter().flatten();
        self.cpu_cores = cores.min_by(f64::total_cmp);
        self.memory_bytes = [self.memory_bytes, memory_bytes]
            .into_iter()
            .flatten()
            .min();
    }
}

/// The folders of the groups that limit the CPU time of a process, its own first, each with its limit in cores.
/// `groups` is the process's `/proc/PID/cgroup`.
pub(crate) fn limited_dirs(groups: &str, root: &Path) -> Vec<(PathBuf, f64)> {
    let mut limited = Vec::new();
    for line in groups.lines() {
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

fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
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
    fn version_2_limits_are_the_tightest_on_the_way_up() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "pod/cpu.max", "150000 100000\n");
        write(dir.path(), "pod/memory.max", "1073741824\n");
        write(dir.path(), "pod/box/cpu.max", "max 100000\n");
        write(dir.path(), "pod/box/memory.max", "2147483648\n");
        let limits = CgroupLimits::read("0::/pod/box\n", dir.path());
        assert_eq!(
            limits,
            CgroupLimits {
                cpu_cores: Some(1.5),
                memory_bytes: Some(1 << 30)
            }
        );
    }

    #[test]
    fn version_1_limits_are_read_and_its_no_limit_is_none() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "cpu/a/cpu.cfs_quota_us", "50000\n");
        write(dir.path(), "cpu/a/cpu.cfs_period_us", "100000\n");
        write(dir.path(), "cpu/cpu.cfs_quota_us", "-1\n");
        write(dir.path(), "cpu/cpu.cfs_period_us", "100000\n");
        write(
            dir.path(),
            "memory/memory.limit_in_bytes",
            "9223372036854771712\n",
        );
        let limits = CgroupLimits::read("3:cpu,cpuacct:/a\n4:memory:/b\n", dir.path());
        assert_eq!(
            limits,
            CgroupLimits {
                cpu_cores: Some(0.5),
                memory_bytes: None
            }
        );
    }

    #[test]
    fn no_groups_mean_no_limits() {
        assert_eq!(
            CgroupLimits::read("", Path::new("/none")),
            CgroupLimits::default()
        );
    }
}
