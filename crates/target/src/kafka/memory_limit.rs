//! A bound on what a broker may use of the machine's memory, its page cache included: a control group of the kernel.
//!
//! Interfaces: `memory.limit_in_bytes` of version 1 (cgroup-v1/memory.rst of the kernel's documentation), `memory.max` of
//! version 2 (cgroup-v2.rst). Pages of files count for the group of the process that touched them first, in both.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::KafkaError;
use super::process::ProcessId;

/// Where systems mount the hierarchies.
const ROOT: &str = "/sys/fs/cgroup";

/// A control group that kgauge has made for one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MemoryLimit {
    dir: PathBuf,
    parent: PathBuf,
    /// Of version 1.
    is_old: bool,
}

impl MemoryLimit {
    /// The group of this name, which is yet to be made.
    pub(crate) fn named(name: &str) -> MemoryLimit {
        MemoryLimit::named_in(Path::new(ROOT), name)
    }

    fn named_in(root: &Path, name: &str) -> MemoryLimit {
        let old = root.join("memory");
        let (parent, is_old) = match old.is_dir() {
            true => (old, true),
            false => (root.to_owned(), false),
        };
        MemoryLimit {
            dir: parent.join(format!("kgauge-{name}")),
            parent,
            is_old,
        }
    }

    /// Makes the group, and bounds its memory.
    pub(crate) fn make(&self, bytes: u64) -> Result<(), KafkaError> {
        let failed = |error: io::Error| KafkaError::MemoryLimit {
            path: self.parent.clone(),
            error,
        };
        let file = match self.is_old {
            true => "memory.limit_in_bytes",
            false => "memory.max",
        };
        if !self.is_old {
            let controllers = self.parent.join("cgroup.controllers");
            let controllers = fs::read_to_string(controllers).map_err(failed)?;
            if !controllers.split_whitespace().any(|one| one == "memory") {
                return Err(failed(io::ErrorKind::Unsupported.into()));
            }
            // Where it is on already this changes nothing.
            let subtree = self.parent.join("cgroup.subtree_control");
            fs::write(subtree, "+memory").map_err(failed)?;
        }
        fs::create_dir(&self.dir).map_err(failed)?;
        let written = fs::write(self.dir.join(file), bytes.to_string());
        written.map_err(failed).inspect_err(|_| self.remove())
    }

    /// Puts a process under it. What it has used before counts elsewhere: that is little right after its start.
    pub(crate) fn take_in(&self, id: ProcessId) -> Result<(), KafkaError> {
        let file = self.dir.join("cgroup.procs");
        fs::write(&file, id.pid.to_string()).map_err(KafkaError::file(&file))
    }

    /// Its folder.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Takes it away, once its process is gone.
    pub(crate) fn remove(&self) {
        remove(&self.dir);
    }
}

/// Takes a group away. The kernel lets nobody remove one that is in use, nor one that is none.
pub(crate) fn remove(dir: &Path) {
    let _ = fs::remove_dir(dir);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_of_the_kernels_interface_are_used_as_documented() {
        let old = tempfile::tempdir().unwrap();
        fs::create_dir(old.path().join("memory")).unwrap();
        let limit = MemoryLimit::named_in(old.path(), "run-broker-1");
        limit.make(1 << 30).unwrap();
        assert_eq!(limit.dir(), old.path().join("memory/kgauge-run-broker-1"));
        let written = fs::read_to_string(limit.dir().join("memory.limit_in_bytes")).unwrap();
        assert_eq!(written, "1073741824");

        let new = tempfile::tempdir().unwrap();
        fs::write(new.path().join("cgroup.controllers"), "cpu io memory\n").unwrap();
        let limit = MemoryLimit::named_in(new.path(), "run-broker-1");
        limit.make(7).unwrap();
        assert_eq!(
            fs::read_to_string(limit.dir().join("memory.max")).unwrap(),
            "7"
        );
        let own = ProcessId::own().unwrap();
        limit.take_in(own).unwrap();
        let taken = fs::read_to_string(limit.dir().join("cgroup.procs")).unwrap();
        assert_eq!(taken, own.pid.to_string());
    }

    #[test]
    fn a_machine_without_the_controller_is_told() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("cgroup.controllers"), "cpu io\n").unwrap();
        let error = MemoryLimit::named_in(dir.path(), "x").make(1).unwrap_err();
        assert!(
            error.to_string().contains("cannot bound the memory"),
            "{error}"
        );
        assert!(error.cure().contains("root"), "{}", error.cure());
    }
}
