//! Flows with a record count end the hold when the last of them is complete.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The clients of a process whose record count is not complete.
#[derive(Debug)]
pub(crate) struct CountedClients {
    left: AtomicUsize,
    /// When the last one was complete; 0 without any, `u64::MAX` before.
    done_ns: AtomicU64,
    /// With several agents, the lead ends the hold: the counts of all of them have to be complete.
    ends_hold: bool,
}

impl CountedClients {
    pub(crate) fn new(clients: usize, agents: u32) -> Self {
        Self {
            left: AtomicUsize::new(clients),
            done_ns: AtomicU64::new(if clients == 0 { 0 } else { u64::MAX }),
            ends_hold: agents <= 1,
        }
    }

    /// The count of one client is complete. Returns whether that ends the hold.
    pub(crate) fn complete_one(&self, at_ns: u64) -> bool {
        if self.left.fetch_sub(1, Ordering::AcqRel) != 1 {
            return false;
        }
        self.done_ns.store(at_ns, Ordering::Release);
        self.ends_hold
    }

    /// When the last one was complete; 0 without any client that has a count.
    pub(crate) fn done_ns(&self) -> Option<u64> {
        let done_ns = self.done_ns.load(Ordering::Acquire);
        (done_ns != u64::MAX).then_some(done_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_count_ends_the_hold_of_a_process_that_is_alone() {
        let alone = CountedClients::new(2, 1);
        assert!(!alone.complete_one(5));
        assert_eq!(alone.done_ns(), None);
        assert!(alone.complete_one(9));
        assert_eq!(alone.done_ns(), Some(9));
        let one_of_three = CountedClients::new(1, 3);
        assert!(!one_of_three.complete_one(9));
        assert_eq!(one_of_three.done_ns(), Some(9));
        assert_eq!(CountedClients::new(0, 3).done_ns(), Some(0));
    }
}
