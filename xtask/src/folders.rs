//! The project's root, and folders for what a command writes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use tempfile::TempDir;

/// The project's root.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
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
