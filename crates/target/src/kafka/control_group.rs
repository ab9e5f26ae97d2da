//! Limits on a broker's memory, including its page cache, and CPU time, with the kernel's control groups.
//!
//! Interfaces: `memory.limit_in_bytes`, `cpu.cfs_quota_us` and `cpu.cfs_period_us` of version 1 (cgroup-v1/memory.rst
//! and sched-bwc.rst of the kernel's documentation), `memory.max` and `cpu.max` of version 2 (cgroup-v2.rst). In both,
//! a page of a file counts for the group of the process that first touched it. Version 1 has a hierarchy per
//! controller, version 2 one for all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::KafkaError;
use super::process_id::ProcessId;

/// Mount points of the hierarchies.
const ROOT: &str = "/sys/fs/cgroup";

/// The periods in which processor time is counted have this length: the kernel's default. A period may have at most one
/// second.
const PERIOD_US: u64 = 100_000;

/// The limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Bounds {
    pub(crate) memory_bytes: Option<u64>,
    /// Thousandths of a processor.
    pub(crate) milli_cores: Option<u64>,
}

/// A control group for one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ControlGroup {
    root: PathBuf,
    /// One per hierarchy.
    dirs: Vec<PathBuf>,
    bounds: Bounds,
    /// Version 1.
    is_old: bool,
}

impl ControlGroup {
    /// A group with this name, before it is created.
    pub(crate) fn named(name: &str, bounds: Bounds) -> ControlGroup {
        ControlGroup::named_in(Path::new(ROOT), name, bounds)
    }

    pub(crate) fn named_in(root: &Path, name: &str, bounds: Bounds) -> ControlGroup {
        let name = format!("kgauge-{name}");
        let hierarchies = [
            ("memory", bounds.memory_bytes.is_some()),
            ("cpu", bounds.milli_cores.is_some()),
        ];
        let controllers = hierarchies.iter().filter(|(_, is_limited)| *is_limited);
        let old: Vec<PathBuf> = controllers
            .map(|(controller, _)| root.join(controller))
            .collect();
        let is_old = old.iter().any(|parent| parent.is_dir());
        let dirs = if is_old {
            old.iter().map(|parent| parent.join(&name)).collect()
        } else {
            vec![root.join(&name)]
        };
        ControlGroup {
            root: root.to_owned(),
            dirs,
            bounds,
            is_old,
        }
    }

    /// Creates the group with its limits.
    pub(crate) fn make(&self) -> Result<(), KafkaError> {
        self.make_all().inspect_err(|_| self.remove())
    }

    fn make_all(&self) -> Result<(), KafkaError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error: io::Error| KafkaError::ControlGroup { path, error }
        };
        if !self.is_old {
            self.delegate().map_err(failed(&self.root))?;
        }
        for dir in &self.dirs {
            fs::create_dir(dir).map_err(failed(dir))?;
        }
        for (file, value) in self.values() {
            fs::write(&file, value).map_err(failed(&file))?;
        }
        Ok(())
    }

    /// Version 2: the controllers must exist and be enabled for child groups. If they are, this changes nothing.
    fn delegate(&self) -> io::Result<()> {
        let there = fs::read_to_string(self.root.join("cgroup.controllers"))?;
        for (controller, is_wanted) in [
            ("memory", self.bounds.memory_bytes.is_some()),
            ("cpu", self.bounds.milli_cores.is_some()),
        ] {
            if !is_wanted {
                continue;
            }
            if !there.split_whitespace().any(|one| one == controller) {
                return Err(io::ErrorKind::Unsupported.into());
            }
            let subtree = self.root.join("cgroup.subtree_control");
            fs::write(subtree, format!("+{controller}"))?;
        }
        Ok(())
    }

    /// The files and their contents.
    fn values(&self) -> Vec<(PathBuf, String)> {
        let mut values = Vec::new();
        let of = |controller: &str| {
            let is_its = |dir: &&PathBuf| dir.starts_with(self.root.join(controller));
            let dir = self.dirs.iter().find(|dir| !self.is_old || is_its(dir));
            dir.cloned().unwrap_or_default()
        };
        if let Some(bytes) = self.bounds.memory_bytes {
            let file = if self.is_old {
                "memory.limit_in_bytes"
            } else {
                "memory.max"
            };
            values.push((of("memory").join(file), bytes.to_string()));
        }
        if let Some(milli_cores) = self.bounds.milli_cores {
            let quota_us = milli_cores * PERIOD_US / 1_000;
            let dir = of("cpu");
            if self.is_old {
                values.push((dir.join("cpu.cfs_period_us"), PERIOD_US.to_string()));
                values.push((dir.join("cpu.cfs_quota_us"), quota_us.to_string()));
            } else {
                values.push((dir.join("cpu.max"), format!("{quota_us} {PERIOD_US}")));
            }
        }
        values
    }

    /// Moves a process into it. Earlier resource use counts elsewhere, so the process waits for this before it does
    /// anything.
    pub(crate) fn take_in(&self, id: ProcessId) -> Result<(), KafkaError> {
        for dir in &self.dirs {
            let file = dir.join("cgroup.procs");
            fs::write(&file, id.pid.to_string()).map_err(KafkaError::file(&file))?;
        }
        Ok(())
    }

    /// Its folders.
    pub(crate) fn dirs(&self) -> &[PathBuf] {
        &self.dirs
    }

    /// Removes it after its process has ended.
    fn remove(&self) {
        self.dirs.iter().for_each(|dir| remove(dir));
    }
}

/// Removes a group. The kernel refuses to remove one in use, or a plain folder.
pub(crate) fn remove(dir: &Path) {
    let _ = fs::remove_dir(dir);
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: Bounds = Bounds {
        memory_bytes: Some(1 << 30),
        milli_cores: None,
    };
    const BOTH: Bounds = Bounds {
        memory_bytes: Some(1 << 30),
        milli_cores: Some(250),
    };

    fn read(path: PathBuf) -> String {
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn version_1_has_a_group_in_each_hierarchy() {
        let old = tempfile::tempdir().unwrap();
        fs::create_dir(old.path().join("memory")).unwrap();
        fs::create_dir(old.path().join("cpu")).unwrap();
        let group = ControlGroup::named_in(old.path(), "run-broker-1", BOTH);
        group.make().unwrap();
        let memory = old.path().join("memory/kgauge-run-broker-1");
        let cpu = old.path().join("cpu/kgauge-run-broker-1");
        assert_eq!(group.dirs(), [memory.clone(), cpu.clone()]);
        assert_eq!(read(memory.join("memory.limit_in_bytes")), "1073741824");
        assert_eq!(read(cpu.join("cpu.cfs_quota_us")), "25000");
        assert_eq!(read(cpu.join("cpu.cfs_period_us")), "100000");
        let group = ControlGroup::named_in(old.path(), "run-broker-2", MEMORY);
        assert_eq!(
            group.dirs(),
            [old.path().join("memory/kgauge-run-broker-2")]
        );
    }

    #[test]
    fn version_2_has_one_group_for_all() {
        let new = tempfile::tempdir().unwrap();
        fs::write(new.path().join("cgroup.controllers"), "cpu io memory\n").unwrap();
        let group = ControlGroup::named_in(new.path(), "run-broker-1", BOTH);
        group.make().unwrap();
        let dir = new.path().join("kgauge-run-broker-1");
        assert_eq!(group.dirs(), std::slice::from_ref(&dir));
        assert_eq!(read(dir.join("memory.max")), "1073741824");
        assert_eq!(read(dir.join("cpu.max")), "25000 100000");
        let own = ProcessId::own().unwrap();
        group.take_in(own).unwrap();
        assert_eq!(read(dir.join("cgroup.procs")), own.pid.to_string());
    }

    #[test]
    fn a_machine_without_the_controller_is_told() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("cgroup.controllers"), "cpu io\n").unwrap();
        let group = ControlGroup::named_in(dir.path(), "x", MEMORY);
        let error = group.make().unwrap_err();
        assert!(
            error
                .to_string()
                .contains("cannot limit a broker's resources"),
            "{error}"
        );
        assert!(error.fix().contains("root"), "{}", error.fix());
    }
}
