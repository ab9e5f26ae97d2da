//! A disk in memory that knows which bytes and names have been flushed, for tests and simulation.

mod file;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{
    Crash, DirEntry, DiskFault, EntryKind, OpenMode, Operation, Space, Storage, StorageError,
    StorageFile, StorageResult,
};
use crate::random::SmallRandom;
use file::MemoryFile;

/// A disk in memory. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct MemoryStorage {
    disk: Arc<Mutex<SimulatedDisk>>,
}

#[derive(Debug, Default)]
pub(super) struct SimulatedDisk {
    /// The tree as programs see it.
    names: BTreeMap<PathBuf, Node>,
    /// The tree that a crash leaves.
    names_durable: BTreeMap<PathBuf, Node>,
    faults: Vec<DiskFault>,
    /// How often each operation was tried.
    tried: HashMap<Operation, u64>,
    /// Room for file bytes; `None` for no limit.
    pub(super) capacity_bytes: Option<u64>,
    pub(super) used_bytes: u64,
    /// Counts crashes; handles of earlier lives fail.
    pub(super) life: u64,
    /// Counts writes, so that the newest one is known.
    pub(super) writes: u64,
}

#[derive(Debug, Clone)]
enum Node {
    Dir,
    File(Arc<Mutex<Inode>>),
}

#[derive(Debug, Default)]
pub(super) struct Inode {
    pub(super) bytes: Vec<u8>,
    pub(super) bytes_durable: Vec<u8>,
    /// What was done since the last flush, oldest first.
    pub(super) pending: Vec<UnsyncedWrite>,
    /// It has no name; its bytes no longer count.
    removed: bool,
}

#[derive(Debug)]
pub(super) enum UnsyncedWrite {
    Write {
        number: u64,
        position: usize,
        bytes: Vec<u8>,
    },
    Truncate {
        len: usize,
    },
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoryStorage {
    /// An empty disk without a limit.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The disk as a shareable [`Storage`].
    #[must_use]
    pub fn shared(&self) -> Arc<dyn Storage> {
        Arc::new(self.clone())
    }

    /// Crashes and restarts: see [`Crash`] for what survives. Faults are lifted, the capacity
    /// stays.
    pub fn crash(&self, crash: Crash) {
        let disk = &mut *lock(&self.disk);
        disk.life += 1;
        disk.faults.clear();
        match crash {
            Crash::KeepEverything => {}
            Crash::LoseUnflushed => {
                disk.names = disk.names_durable.clone();
                disk.each_inode(|inode| inode.bytes = inode.bytes_durable.clone());
            }
            Crash::TearLastWrite { bytes_kept } => disk.tear_last_write(bytes_kept),
            Crash::Random { seed } => disk.roll_dice(&mut SmallRandom::new(seed)),
        }
        disk.drop_unreachable();
        disk.names_durable = disk.names.clone();
        disk.each_inode(|inode| {
            inode.bytes_durable = inode.bytes.clone();
            inode.pending.clear();
        });
        disk.count_used();
    }

    /// How often an operation was tried so far: what work costs a disk.
    #[must_use]
    pub fn tried(&self, operation: Operation) -> u64 {
        let disk = lock(&self.disk);
        disk.tried.get(&operation).copied().unwrap_or(0)
    }

    /// Adds an error to come.
    pub fn inject(&self, fault: DiskFault) {
        lock(&self.disk).faults.push(fault);
    }

    /// Lifts all injected faults.
    pub fn clear_faults(&self) {
        lock(&self.disk).faults.clear();
    }

    /// Sets the room for file bytes. A write beyond it writes what fits and fails with
    /// `StorageFull`.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        lock(&self.disk).capacity_bytes = bytes;
    }

    /// Bytes in all files.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        lock(&self.disk).used_bytes
    }

    /// A copy of the disk as it is now, with nothing shared and everything durable.
    #[must_use]
    pub fn fork(&self) -> Self {
        let disk = lock(&self.disk);
        let copy = |node: &Node| match node {
            Node::Dir => Node::Dir,
            Node::File(inode) => {
                let bytes = lock(inode).bytes.clone();
                let bytes_durable = bytes.clone();
                let copy = Inode {
                    bytes,
                    bytes_durable,
                    ..Inode::default()
                };
                Node::File(Arc::new(Mutex::new(copy)))
            }
        };
        let names: BTreeMap<_, _> = disk
            .names
            .iter()
            .map(|(p, n)| (p.clone(), copy(n)))
            .collect();
        let names_durable = names.clone();
        let capacity_bytes = disk.capacity_bytes;
        let used_bytes = disk.used_bytes;
        let disk = SimulatedDisk {
            names,
            names_durable,
            capacity_bytes,
            used_bytes,
            ..SimulatedDisk::default()
        };
        Self {
            disk: Arc::new(Mutex::new(disk)),
        }
    }
}

impl SimulatedDisk {
    pub(super) fn fail_if_due(&mut self, operation: Operation, path: &Path) -> StorageResult<()> {
        *self.tried.entry(operation).or_default() += 1;
        for fault in &mut self.faults {
            if let Some(error) = fault.fail_if_due(operation, path) {
                return Err(StorageError::new(operation, path, error));
            }
        }
        Ok(())
    }

    fn file(&self, operation: Operation, path: &Path) -> StorageResult<Arc<Mutex<Inode>>> {
        match self.names.get(path) {
            Some(Node::File(inode)) => Ok(Arc::clone(inode)),
            Some(Node::Dir) => Err(error_at(operation, path, io::ErrorKind::IsADirectory)),
            None => Err(error_at(operation, path, io::ErrorKind::NotFound)),
        }
    }

    fn require_dir(&self, operation: Operation, dir: &Path) -> StorageResult<()> {
        match self.names.get(dir) {
            Some(Node::Dir) => Ok(()),
            Some(Node::File(_)) => Err(error_at(operation, dir, io::ErrorKind::NotADirectory)),
            None if dir.parent().is_none() || dir.as_os_str().is_empty() => Ok(()),
            None => Err(error_at(operation, dir, io::ErrorKind::NotFound)),
        }
    }

    /// Takes a name away, and the file's bytes out of the account.
    fn remove_name(&mut self, path: &Path) {
        if let Some(Node::File(inode)) = self.names.remove(path) {
            let mut inode = lock(&inode);
            inode.removed = true;
            self.used_bytes -= inode.bytes.len() as u64;
        }
    }

    /// Takes note that a file grew or shrank.
    pub(super) fn account(&mut self, inode: &Inode, bytes_before: usize) {
        if !inode.removed {
            self.used_bytes += inode.bytes.len() as u64;
            self.used_bytes -= bytes_before as u64;
        }
    }

    fn below(&self, dir: &Path) -> Vec<PathBuf> {
        below(&self.names, dir)
    }

    fn each_inode(&self, mut change: impl FnMut(&mut Inode)) {
        for node in self.names.values() {
            if let Node::File(inode) = node {
                change(&mut lock(inode));
            }
        }
    }

    /// Drops names whose folder is gone.
    fn drop_unreachable(&mut self) {
        let mut reached: BTreeMap<PathBuf, Node> = BTreeMap::new();
        // Folders come before what is in them.
        for (path, node) in std::mem::take(&mut self.names) {
            let top = |parent: &Path| parent.as_os_str().is_empty() || parent.parent().is_none();
            if path
                .parent()
                .is_none_or(|parent| top(parent) || reached.contains_key(parent))
            {
                reached.insert(path, node);
            }
        }
        self.names = reached;
    }

    fn count_used(&mut self) {
        let mut used = 0;
        self.each_inode(|inode| used += inode.bytes.len() as u64);
        self.used_bytes = used;
    }

    fn tear_last_write(&mut self, bytes_kept: usize) {
        let mut newest = None;
        self.each_inode(|inode| {
            for change in &inode.pending {
                if let UnsyncedWrite::Write { number, .. } = change {
                    newest = newest.max(Some(*number));
                }
            }
        });
        self.each_inode(|inode| {
            for change in &mut inode.pending {
                if let UnsyncedWrite::Write { number, bytes, .. } = change
                    && Some(*number) == newest
                {
                    bytes.truncate(bytes_kept);
                }
            }
            inode.replay();
        });
    }

    fn roll_dice(&mut self, dice: &mut SmallRandom) {
        let mut names = self.names_durable.clone();
        for path in self.names.keys().chain(self.names_durable.keys()) {
            if dice.below(2) == 0 {
                match self.names.get(path) {
                    Some(node) => names.insert(path.clone(), node.clone()),
                    None => names.remove(path),
                };
            }
        }
        self.names = names;
        self.each_inode(|inode| {
            inode
                .pending
                .retain_mut(|change| match (dice.below(4), change) {
                    (0, _) => false,
                    (1, UnsyncedWrite::Write { bytes, .. }) => {
                        bytes.truncate(dice.below(bytes.len() as u64 + 1) as usize);
                        true
                    }
                    _ => true,
                });
            inode.replay();
        });
    }
}

impl Inode {
    /// Makes the bytes what the durable ones become by the pending changes.
    fn replay(&mut self) {
        let mut bytes = self.bytes_durable.clone();
        for change in &self.pending {
            match change {
                UnsyncedWrite::Truncate { len } => bytes.resize(*len, 0),
                UnsyncedWrite::Write {
                    position,
                    bytes: written,
                    ..
                } => {
                    overwrite(&mut bytes, *position, written);
                }
            }
        }
        self.bytes = bytes;
    }
}

/// A folder and everything in it.
fn below(names: &BTreeMap<PathBuf, Node>, dir: &Path) -> Vec<PathBuf> {
    let from_dir = names.range(dir.to_path_buf()..);
    from_dir
        .take_while(|(path, _)| path.starts_with(dir))
        .map(|(path, _)| path.clone())
        .collect()
}

pub(super) fn overwrite(bytes: &mut Vec<u8>, position: usize, written: &[u8]) {
    let end = position + written.len();
    if position == bytes.len() {
        bytes.extend_from_slice(written);
        return;
    }
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[position..end].copy_from_slice(written);
}

pub(super) fn error_at(operation: Operation, path: &Path, kind: io::ErrorKind) -> StorageError {
    StorageError::new(operation, path, io::Error::from(kind))
}

impl Storage for MemoryStorage {
    fn create_dir_all(&self, dir: &Path) -> StorageResult<()> {
        let disk = &mut *lock(&self.disk);
        disk.fail_if_due(Operation::CreateDir, dir)?;
        for ancestor in dir.ancestors() {
            match disk.names.get(ancestor) {
                Some(Node::File(_)) => {
                    return Err(error_at(
                        Operation::CreateDir,
                        dir,
                        io::ErrorKind::NotADirectory,
                    ));
                }
                Some(Node::Dir) => break,
                None => disk.names.insert(ancestor.to_path_buf(), Node::Dir),
            };
        }
        Ok(())
    }

    fn list(&self, dir: &Path) -> StorageResult<Vec<DirEntry>> {
        let disk = &mut *lock(&self.disk);
        disk.fail_if_due(Operation::List, dir)?;
        disk.require_dir(Operation::List, dir)?;
        let entry = |path: &PathBuf| {
            let name = path.file_name()?.to_str()?.to_owned();
            Some(match disk.names.get(path)? {
                Node::Dir => DirEntry {
                    name,
                    kind: EntryKind::Dir,
                    len: 0,
                },
                Node::File(inode) => {
                    let len = lock(inode).bytes.len() as u64;
                    DirEntry {
                        name,
                        kind: EntryKind::File,
                        len,
                    }
                }
            })
        };
        let below = disk.below(dir);
        Ok(below
            .iter()
            .filter(|path| path.parent() == Some(dir))
            .filter_map(entry)
            .collect())
    }

    fn open(&self, path: &Path, mode: OpenMode) -> StorageResult<Arc<dyn StorageFile>> {
        let disk = &mut *lock(&self.disk);
        disk.fail_if_due(Operation::Open, path)?;
        let inode = match disk.file(Operation::Open, path) {
            Err(error) if error.is_not_found() && mode != OpenMode::Existing => {
                disk.require_dir(Operation::Open, path.parent().unwrap_or(Path::new("")))?;
                let inode = Arc::new(Mutex::new(Inode::default()));
                disk.names
                    .insert(path.to_path_buf(), Node::File(Arc::clone(&inode)));
                inode
            }
            found => found?,
        };
        let file = MemoryFile {
            path: path.to_path_buf(),
            disk: Arc::clone(&self.disk),
            inode,
            life: disk.life,
        };
        if mode == OpenMode::CreateOrTruncate {
            file.cut(disk, 0);
        }
        Ok(Arc::new(file))
    }

    fn rename(&self, from: &Path, to: &Path) -> StorageResult<()> {
        let disk = &mut *lock(&self.disk);
        disk.fail_if_due(Operation::Rename, from)?;
        let paths = disk.below(from);
        if paths.is_empty() {
            return Err(error_at(Operation::Rename, from, io::ErrorKind::NotFound));
        }
        disk.require_dir(Operation::Rename, to.parent().unwrap_or(Path::new("")))?;
        for path in paths {
            if let (Some(node), Ok(rest)) = (disk.names.remove(&path), path.strip_prefix(from)) {
                let target = if rest.as_os_str().is_empty() {
                    to.to_path_buf()
                } else {
                    to.join(rest)
                };
                disk.remove_name(&target);
                disk.names.insert(target, node);
            }
        }
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> StorageResult<()> {
        let disk = &mut *lock(&self.disk);
        disk.fail_if_due(Operation::Remove, path)?;
        disk.file(Operation::Remove, path)?;
        disk.remove_name(path);
        Ok(())
    }

    fn remove_dir_all(&self, dir: &Path) -> StorageResult<()> {
        let disk = &mut *lock(&self.disk);
        disk.fail_if_due(Operation::Remove, dir)?;
        disk.require_dir(Operation::Remove, dir)?;
        for path in disk.below(dir) {
            disk.remove_name(&path);
        }
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> StorageResult<()> {
        let disk = &mut *lock(&self.disk);
        disk.fail_if_due(Operation::SyncDir, dir)?;
        disk.require_dir(Operation::SyncDir, dir)?;
        let in_dir = |path: &&PathBuf| path.parent() == Some(dir);
        let durable = below(&disk.names_durable, dir);
        for path in durable.into_iter().filter(|path| in_dir(&path)) {
            if !disk.names.contains_key(&path) {
                disk.names_durable
                    .retain(|other, _| !other.starts_with(&path));
            }
        }
        for path in disk.below(dir).iter().filter(in_dir) {
            if let Some(node) = disk.names.get(path) {
                disk.names_durable.insert(path.clone(), node.clone());
            }
        }
        Ok(())
    }

    fn space(&self, dir: &Path) -> StorageResult<Space> {
        let disk = &mut *lock(&self.disk);
        disk.fail_if_due(Operation::Space, dir)?;
        let bytes_total = disk.capacity_bytes.unwrap_or(u64::MAX);
        Ok(Space {
            bytes_total,
            bytes_free: bytes_total.saturating_sub(disk.used_bytes),
        })
    }
}
