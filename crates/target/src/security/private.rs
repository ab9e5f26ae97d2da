//! A folder for secrets, which only this user can read. It is removed with the cluster.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A folder for secrets. Dropping it removes it with its contents.
#[derive(Debug)]
pub(crate) struct PrivateDir(PathBuf);

impl PrivateDir {
    /// Creates one.
    pub(crate) fn make(path: &Path) -> io::Result<PrivateDir> {
        make(path)?;
        Ok(PrivateDir(path.to_owned()))
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PrivateDir {
    fn drop(&mut self) {
        // A child that ended in order has already removed it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Creates a folder that only this user can read.
pub(crate) fn make(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

/// Writes a file that only this user can read, and returns its path.
pub(crate) fn write(dir: &Path, name: &str, content: &[u8]) -> io::Result<PathBuf> {
    let path = dir.join(name);
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&path)?;
    file.write_all(content)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn nobody_else_may_read_it_and_it_goes_when_it_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let private = PrivateDir::make(&dir.path().join("a/b")).unwrap();
        let file = write(private.path(), "secret", b"x").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(private.path()), mode(&file)), (0o700, 0o600));
        drop(private);
        assert!(!dir.path().join("a/b").exists());
        assert!(dir.path().join("a").exists());
    }
}
