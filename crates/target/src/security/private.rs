//! A folder for secrets: only this user may look into it, and it goes with the cluster.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A folder for secrets. Dropping it removes it with all that is in it.
#[derive(Debug)]
pub(crate) struct PrivateDir(PathBuf);

impl PrivateDir {
    /// Makes one.
    pub(crate) fn make(path: &Path) -> io::Result<PrivateDir> {
        make(path)?;
        Ok(PrivateDir(path.to_owned()))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PrivateDir {
    fn drop(&mut self) {
        // A child that ended in order has removed it already.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Makes a folder that only this user may look into.
pub(crate) fn make(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

/// Writes a file that only this user may read, and gives its path.
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
