//! How much memory the process holds, and has held at most.

use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Tests that measure run one after another.
static ALONE: Mutex<()> = Mutex::new(());

/// A measurement in progress.
pub(crate) struct Memory {
    before: u64,
    _alone: MutexGuard<'static, ()>,
}

impl Memory {
    /// From now on the largest amount counts.
    pub(crate) fn begin() -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        // Sets the peak back to what is held now (proc_pid_clear_refs(5)).
        fs::write("/proc/self/clear_refs", "5").unwrap();
        Self {
            before: peak_bytes(),
            _alone: alone,
        }
    }

    /// Bytes by which the process has grown at most. Other tests of this program grow beside, so
    /// limits are generous.
    pub(crate) fn grown_bytes(&self) -> u64 {
        peak_bytes().saturating_sub(self.before)
    }
}

fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: u64 = line
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    kib * 1024
}
