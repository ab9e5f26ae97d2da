//! The folder of results in the pod of a lead: how long they wait there, and the files that steer the lead.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::run::{RELEASE_FILE, STATUS_FILE, STOP_FILE};

/// How long results wait to be fetched.
const KEEP: Duration = Duration::from_secs(900);

/// How often files are checked.
const POLL: Duration = Duration::from_millis(100);

/// The folder of results in the pod of a lead.
#[derive(Debug, Clone)]
pub struct LeadResults(PathBuf);

impl LeadResults {
    /// The results in this folder.
    pub fn new(dir: &Path) -> Self {
        Self(dir.to_owned())
    }

    /// Waits until somebody asks the run to end.
    pub fn await_stop(&self) {
        while !self.0.join(STOP_FILE).exists() {
            std::thread::sleep(POLL);
        }
    }

    /// Leaves the exit status of the run.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_status(&self, code: u8) -> io::Result<()> {
        fs::write(self.0.join(STATUS_FILE), format!("{code}\n"))
    }

    /// Waits until the results have been fetched, at most 15 minutes. `is_ended` becomes true when nobody can fetch
    /// them any more.
    pub fn await_fetch(&self, is_ended: &AtomicBool) {
        let deadline = Instant::now() + KEEP;
        let is_over = || is_ended.load(Ordering::Relaxed) || self.0.join(RELEASE_FILE).exists();
        while !is_over() && Instant::now() < deadline {
            std::thread::sleep(POLL);
        }
    }

    /// Leaves a file for the lead: [`STOP_FILE`] or [`RELEASE_FILE`].
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn signal(&self, file: &str) -> io::Result<()> {
        fs::write(self.0.join(file), "")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn results_wait_for_their_release_or_the_end_of_the_pod() {
        let dir = tempfile::tempdir().unwrap();
        let results = LeadResults::new(dir.path());
        results.write_status(3).unwrap();
        let status = fs::read_to_string(dir.path().join(STATUS_FILE)).unwrap();
        assert_eq!(status, "3\n");
        results.await_fetch(&AtomicBool::new(true));
        results.signal(RELEASE_FILE).unwrap();
        results.await_fetch(&AtomicBool::new(false));
        results.signal(STOP_FILE).unwrap();
        results.await_stop();
    }
}
