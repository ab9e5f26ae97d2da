//! Limits how many connections are served at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A number of slots. One thread takes them; whoever has one gives it back by dropping it.
#[derive(Debug)]
pub(crate) struct ConnectionSlots {
    taken: Arc<AtomicUsize>,
    count: usize,
}

/// A slot that is in use.
#[derive(Debug)]
pub(crate) struct ConnectionSlot(Arc<AtomicUsize>);

impl ConnectionSlots {
    pub(crate) fn new(count: usize) -> Self {
        Self {
            taken: Arc::default(),
            count,
        }
    }

    /// A free slot, if there is one.
    pub(crate) fn take(&self) -> Option<ConnectionSlot> {
        if self.taken.load(Ordering::Acquire) >= self.count {
            return None;
        }
        self.taken.fetch_add(1, Ordering::AcqRel);
        Some(ConnectionSlot(Arc::clone(&self.taken)))
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_can_be_taken_again_after_it_was_given_back() {
        let slots = ConnectionSlots::new(2);
        let (first, second) = (slots.take(), slots.take());
        assert!(first.is_some() && second.is_some() && slots.take().is_none());
        drop(first);
        assert!(slots.take().is_some());
    }
}
