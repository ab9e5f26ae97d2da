//! The wait between the loads of a search: what one load left in the page cache must not slow the next one down.
//!
//! Every load has a topic of its own, whose followers have caught up at its end and whose consumers end with it. So
//! only dirty pages carry over, and only those of brokers on this machine are visible.

use std::time::{Duration, Instant};

use crate::observer::Activity;
use crate::session::Session;

/// The longest wait: a machine that always writes never reaches its base.
const WAIT_MAX: Duration = Duration::from_secs(30);
/// How often it is checked.
const PAUSE: Duration = Duration::from_millis(200);
/// Bytes above the base that do not matter.
const ABOVE_BASE_MAX: u64 = 64 << 20;

/// Dirty bytes in this machine's page cache when the search started.
pub(crate) struct DirtyPages {
    base: Option<u64>,
}

impl DirtyPages {
    /// Reads the current value.
    pub(crate) fn now() -> DirtyPages {
        DirtyPages {
            base: dirty_bytes(),
        }
    }

    /// Waits until the brokers of this machine have about as few dirty pages as at the start of the search.
    pub(crate) fn settle(&self, session: &mut Session<'_>) {
        let Some(base) = self.base.filter(|_| !session.target_processes.is_empty()) else {
            return;
        };
        let deadline = Instant::now() + WAIT_MAX;
        while let Some(bytes) = dirty_bytes() {
            let above = bytes.saturating_sub(base);
            let is_over = Instant::now() >= deadline || session.stopping.is_wanted();
            if above <= ABOVE_BASE_MAX || is_over {
                return;
            }
            session.report(&Activity::Settling { bytes: above });
            std::thread::sleep(PAUSE);
        }
    }
}

fn dirty_bytes() -> Option<u64> {
    of_text(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

/// The sum of the lines `Dirty` and `Writeback`.
fn of_text(text: &str) -> Option<u64> {
    let line = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        let (_, rest) = lines.find(|(of, _)| *of == name)?;
        let kib: u64 = rest.split_ascii_whitespace().next()?.parse().ok()?;
        kib.checked_mul(1024)
    };
    line("Dirty")?.checked_add(line("Writeback")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dirty_and_written_back_pages_are_added() {
        let text = "MemTotal: 9 kB\nDirty:   138464 kB\nWriteback:   32 kB\nWritebackTmp: 7 kB\n";
        assert_eq!(of_text(text), Some(138_496 * 1024));
        assert_eq!(of_text("Dirty: 1 kB\n"), None);
    }
}
