//! How often a control group's limit on CPU time throttled a process.
//!
//! Source: `cpu.stat` in the kernel's documentation, "CFS Bandwidth Control" (version 1: `throttled_time` in
//! nanoseconds) and "Control Group v2" (`throttled_usec`). Both count periods (100 ms by default), and those in which
//! the group had used up its quota.

use std::path::Path;

use kgauge_results::run::{CpuLimitSample, MissingEvidence};

use crate::cgroup::{ROOT, limited_dirs};
use crate::proc_file::Buffer;
use crate::source::SourceFile;

/// The limits that applied to a process when it was first sampled.
#[derive(Debug)]
pub(crate) struct CpuLimits(Vec<Limit>);

#[derive(Debug)]
struct Limit {
    milli_cores: u64,
    stat: SourceFile,
}

impl CpuLimits {
    /// The limits of a process; none if nothing limits it.
    pub(crate) fn of(pid: u32) -> CpuLimits {
        let groups = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        CpuLimits::read(&groups, Path::new(ROOT))
    }

    fn read(groups: &str, root: &Path) -> CpuLimits {
        let limits = limited_dirs(groups, root).into_iter();
        let limit = |(dir, cores): (std::path::PathBuf, f64)| Limit {
            milli_cores: (cores * 1e3).round() as u64,
            stat: SourceFile::open("CPU throttling of a process", dir.join("cpu.stat")),
        };
        CpuLimits(limits.map(limit).collect())
    }

    /// The counters of each limit so far, and once the reason if one cannot be read.
    pub(crate) fn sample(
        &mut self,
        buffer: &mut Buffer,
    ) -> Vec<Result<CpuLimitSample, MissingEvidence>> {
        let limits = self.0.iter_mut().enumerate();
        let sample = |(level, limit): (usize, &mut Limit)| {
            let (level, milli_cores) = (level as u32, limit.milli_cores);
            let seen = limit.stat.parse(buffer, |text| {
                let (periods, held_periods) =
                    (number(text, "nr_periods")?, number(text, "nr_throttled")?);
                Some(CpuLimitSample {
                    level,
                    milli_cores,
                    periods,
                    held_periods,
                })
            });
            match seen {
                Ok(sample) => Some(Ok(sample)),
                Err(why) => why.map(Err),
            }
        };
        limits.filter_map(sample).collect()
    }
}

/// A line `name value`.
fn number(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines();
    lines.find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn both_versions_report_periods_and_only_groups_with_a_limit_are_sampled() {
        for (groups, dir, limit_file, limit, stat) in [
            (
                "3:cpu,cpuacct:/a/b\n0::/\n",
                "cpu/a/b",
                "cpu.cfs_quota_us",
                "30000\n",
                "nr_periods 50\nnr_throttled 20\nthrottled_time 900\n",
            ),
            (
                "0::/a/b\n",
                "a/b",
                "cpu.max",
                "30000 100000\n",
                "usage_usec 7\nnr_periods 50\nnr_throttled 20\nthrottled_usec 9\n",
            ),
        ] {
            let root = tempfile::tempdir().unwrap();
            let dir = root.path().join(dir);
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join(limit_file), limit).unwrap();
            fs::write(dir.join("cpu.cfs_period_us"), "100000\n").unwrap();
            fs::write(dir.join("cpu.stat"), stat).unwrap();
            // The group around it has none.
            fs::write(dir.parent().unwrap().join("cpu.cfs_quota_us"), "-1\n").unwrap();
            fs::write(dir.parent().unwrap().join("cpu.cfs_period_us"), "100000\n").unwrap();
            let mut limits = CpuLimits::read(groups, root.path());
            let sample = CpuLimitSample {
                level: 0,
                milli_cores: 300,
                periods: 50,
                held_periods: 20,
            };
            assert_eq!(limits.sample(&mut Buffer::new()), [Ok(sample)]);
        }
    }

    #[test]
    fn a_limit_without_counts_is_reported_once() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("cpu.max"), "50000 100000").unwrap();
        let mut limits = CpuLimits::read("0::/\n", root.path());
        let mut buffer = Buffer::new();
        assert!(matches!(limits.sample(&mut buffer)[..], [Err(_)]));
        assert_eq!(limits.sample(&mut buffer), []);
        assert_eq!(CpuLimits::read("", root.path()).sample(&mut buffer), []);
    }
}
