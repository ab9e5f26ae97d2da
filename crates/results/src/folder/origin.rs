//! What only the machine knows that started a run elsewhere.

use std::path::Path;

use super::error::FolderError;
use super::file::{write_json, write_whole};
use super::layout;
use super::read::read_head;

/// How a run was started.
#[derive(Debug, Clone)]
pub struct RunOrigin {
    /// The command line as typed, without secrets.
    pub command: Vec<String>,
    /// The target as given.
    pub target: String,
    /// Names and texts of the scenarios.
    pub scenarios: Vec<(String, String)>,
}

/// Notes in the folder of a run that another machine made how it was started.
///
/// # Errors
/// The folder has no run, or a file cannot be written.
pub fn note_origin(dir: &Path, origin: &RunOrigin) -> Result<(), FolderError> {
    let mut head = read_head(dir)?;
    head.command.clone_from(&origin.command);
    head.target = Some(origin.target.clone());
    write_json(&dir.join(layout::RUN), &head)?;
    for (name, text) in &origin.scenarios {
        if !layout::is_plain(name) {
            return Err(FolderError::Name { name: name.clone() });
        }
        let path = dir.join(layout::SCENARIOS).join(format!("{name}.yaml"));
        if !path.exists() {
            write_whole(&path, text.as_bytes())?;
        }
    }
    Ok(())
}
