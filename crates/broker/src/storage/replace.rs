//! Small files that are read whole and replaced whole: checkpoints, snapshots, metadata.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{OpenMode, Storage, StorageError, StorageFile, StorageResult};

/// All bytes of a file, or `None` when there is no such file.
pub fn read_whole(storage: &dyn Storage, path: &Path) -> StorageResult<Option<Vec<u8>>> {
    let file = match storage.open(path, OpenMode::Existing) {
        Ok(file) => file,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error),
    };
    let len = usize::try_from(file.len()?)
        .map_err(|_| StorageError::short_read(path, 0, usize::MAX, 0))?;
    let mut bytes = vec![0; len];
    let count = file.read_at(&mut bytes, 0)?;
    bytes.truncate(count);
    Ok(Some(bytes))
}

/// Replaces a file so that a crash leaves either the old bytes or the new ones, never a mixture.
///
/// The bytes go to `<path>.tmp`, are flushed, and take the name. The name itself becomes durable
/// with the next `sync_dir` of the folder, which is left to the caller.
pub fn replace_file(storage: &dyn Storage, path: &Path, bytes: &[u8]) -> StorageResult<()> {
    let (temporary, file) = write_temporary(storage, path, bytes)?;
    file.sync_data()?;
    storage.rename(&temporary, path)
}

/// The same for a file that nobody misses: a crash of the machine may leave any part of it.
pub fn replace_file_unflushed(
    storage: &dyn Storage,
    path: &Path,
    bytes: &[u8],
) -> StorageResult<()> {
    let (temporary, _) = write_temporary(storage, path, bytes)?;
    storage.rename(&temporary, path)
}

fn write_temporary(
    storage: &dyn Storage,
    path: &Path,
    bytes: &[u8],
) -> StorageResult<(PathBuf, Arc<dyn StorageFile>)> {
    let temporary = temporary_name(path);
    let file = storage.open(&temporary, OpenMode::CreateOrTruncate)?;
    file.write_at(bytes, 0)?;
    Ok((temporary, file))
}

fn temporary_name(path: &Path) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(".tmp");
    PathBuf::from(name)
}
