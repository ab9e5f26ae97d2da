//! Files of the suite next to its run folders.

use std::path::Path;

use kgauge_runner::RunError;

/// Writes a file, and makes its folder if needed.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), RunError> {
    let parent = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let written = parent.and_then(|()| std::fs::write(path, content));
    written.map_err(|error| RunError::system(format!("cannot write {}", path.display()), &error))
}
