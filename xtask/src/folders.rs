//! The project's root, and folders for what a command writes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempDir;

/// The project's root.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// The cache folder of kgauge and of what it is checked with. The tests on real Kafka use it too, so every release is
/// fetched once.
pub(crate) fn cache() -> PathBuf {
    root().join("target/tmp/cache")
}

/// Makes a folder, without what an earlier run left in it.
pub(crate) fn make_empty(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    Ok(())
}

/// Makes a folder below another one. It is removed when it is dropped.
pub(crate) fn temporary_in(folder: &Path) -> Result<TempDir> {
    fs::create_dir_all(folder)?;
    Ok(tempfile::Builder::new()
        .prefix("work-")
        .tempdir_in(folder)?)
}

/// The list of packages that were installed into a folder to the end.
const INSTALLED: &str = "installed";

/// True when exactly this list of packages was installed into `folder` to the end.
pub(crate) fn is_installed(folder: &Path, list: &Path) -> Result<bool> {
    let expected = fs::read(list).with_context(|| format!("cannot read {}", list.display()))?;
    Ok(fs::read(folder.join(INSTALLED)).unwrap_or_default() == expected)
}

/// Records that this list of packages was installed into `folder`.
pub(crate) fn mark_installed(folder: &Path, list: &Path) -> Result<()> {
    fs::copy(list, folder.join(INSTALLED))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_list_of_packages_is_installed_again() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list");
        fs::write(&list, "a==1").unwrap();
        assert!(!is_installed(folder.path(), &list).unwrap());
        mark_installed(folder.path(), &list).unwrap();
        assert!(is_installed(folder.path(), &list).unwrap());
        fs::write(&list, "a==2").unwrap();
        assert!(!is_installed(folder.path(), &list).unwrap());
    }
}
