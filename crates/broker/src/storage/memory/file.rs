//! An open file of the disk in memory.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::{Inode, SimulatedDisk, UnsyncedWrite, error_at, lock, overwrite};
use crate::storage::{Operation, StorageError, StorageFile, StorageResult};

/// An open file of a [`super::MemoryStorage`].
#[derive(Debug)]
pub(super) struct MemoryFile {
    pub(super) path: PathBuf,
    pub(super) disk: Arc<Mutex<SimulatedDisk>>,
    pub(super) inode: Arc<Mutex<Inode>>,
    /// The disk's life in which the file was opened.
    pub(super) life: u64,
}

impl MemoryFile {
    /// Locks the disk for one operation; fails by injected fault, or when the disk crashed since
    /// the file was opened.
    fn begin(&self, operation: Operation) -> StorageResult<MutexGuard<'_, SimulatedDisk>> {
        let mut disk = lock(&self.disk);
        if disk.life != self.life {
            let words = "the disk crashed since the file was opened";
            return Err(StorageError::new(
                operation,
                &self.path,
                io::Error::other(words),
            ));
        }
        disk.fail_if_due(operation, &self.path)?;
        Ok(disk)
    }

    /// Cuts the file, or extends it with zeros.
    pub(super) fn cut(&self, disk: &mut SimulatedDisk, len: usize) {
        let mut inode = lock(&self.inode);
        let bytes_before = inode.bytes.len();
        inode.bytes.resize(len, 0);
        disk.account(&inode, bytes_before);
        inode.pending.push(UnsyncedWrite::Truncate { len });
    }
}

impl StorageFile for MemoryFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn len(&self) -> StorageResult<u64> {
        let _disk = self.begin(Operation::Len)?;
        Ok(lock(&self.inode).bytes.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], position: u64) -> StorageResult<usize> {
        let _disk = self.begin(Operation::Read)?;
        let inode = lock(&self.inode);
        let start = usize::try_from(position)
            .unwrap_or(usize::MAX)
            .min(inode.bytes.len());
        let count = buffer.len().min(inode.bytes.len() - start);
        buffer[..count].copy_from_slice(&inode.bytes[start..start + count]);
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], position: u64) -> StorageResult<()> {
        let mut disk = self.begin(Operation::Write)?;
        let full = |_| error_at(Operation::Write, &self.path, io::ErrorKind::FileTooLarge);
        let position = usize::try_from(position).map_err(full)?;
        let mut inode = lock(&self.inode);
        let growth = (position + bytes.len()).saturating_sub(inode.bytes.len());
        let room = disk
            .capacity_bytes
            .map_or(u64::MAX, |all| all.saturating_sub(disk.used_bytes));
        let missing = growth.saturating_sub(usize::try_from(room).unwrap_or(usize::MAX));
        let written = &bytes[..bytes.len() - missing.min(bytes.len())];
        if !written.is_empty() {
            let len_before = inode.bytes.len();
            overwrite(&mut inode.bytes, position, written);
            disk.account(&inode, len_before);
            disk.writes += 1;
            let change = UnsyncedWrite::Write {
                number: disk.writes,
                position,
                bytes: written.to_vec(),
            };
            inode.pending.push(change);
        }
        if missing > 0 {
            return Err(error_at(
                Operation::Write,
                &self.path,
                io::ErrorKind::StorageFull,
            ));
        }
        Ok(())
    }

    fn truncate(&self, len: u64) -> StorageResult<()> {
        let mut disk = self.begin(Operation::Truncate)?;
        let too_large = |_| error_at(Operation::Truncate, &self.path, io::ErrorKind::FileTooLarge);
        let len = usize::try_from(len).map_err(too_large)?;
        self.cut(&mut disk, len);
        Ok(())
    }

    fn sync_data(&self) -> StorageResult<()> {
        let _disk = self.begin(Operation::SyncData)?;
        let mut inode = lock(&self.inode);
        inode.bytes_durable = inode.bytes.clone();
        inode.pending.clear();
        Ok(())
    }
}
