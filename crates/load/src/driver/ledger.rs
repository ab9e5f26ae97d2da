//! Records that were sent to a child and have no outcome yet. Every record has exactly one outcome.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use crate::sync::lock;

/// A record that was fed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FedRecord {
    /// `None` in a closed loop.
    pub(super) intended_ns: Option<u64>,
    /// Key, value and headers.
    pub(super) bytes: u32,
}

/// A compact entry.
#[derive(Debug, Clone, Copy)]
struct Entry {
    intended_ns: u64,
    bytes: u32,
    is_open: bool,
}

const AT_WILL: u64 = u64::MAX;

impl Entry {
    fn fed(self) -> FedRecord {
        FedRecord {
            intended_ns: (self.intended_ns != AT_WILL).then_some(self.intended_ns),
            bytes: self.bytes,
        }
    }
}

/// Shared by feeder and collector; each locks it once per chunk of records.
#[derive(Debug, Default)]
pub(super) struct Ledger(Mutex<OpenEntries>);

/// The entries, starting with the oldest open one.
#[derive(Debug, Default)]
pub(super) struct OpenEntries {
    first: u64,
    entries: VecDeque<Entry>,
}

impl Ledger {
    /// Adds records before they are fed.
    pub(super) fn note(&self, chunk: &[FedRecord]) {
        self.open().entries.extend(chunk.iter().map(|fed| Entry {
            intended_ns: fed.intended_ns.unwrap_or(AT_WILL),
            bytes: fed.bytes,
            is_open: true,
        }));
    }

    /// For a chunk of outcomes.
    pub(super) fn open(&self) -> MutexGuard<'_, OpenEntries> {
        lock(&self.0)
    }
}

impl OpenEntries {
    /// Closes a record's entry; `None` if it has none, or no longer.
    pub(super) fn close(&mut self, index: u64) -> Option<FedRecord> {
        let at = usize::try_from(index.checked_sub(self.first)?).ok()?;
        let entry = self.entries.get_mut(at)?;
        if !std::mem::replace(&mut entry.is_open, false) {
            return None;
        }
        let fed = entry.fed();
        while self.entries.front().is_some_and(|front| !front.is_open) {
            self.entries.pop_front();
            self.first += 1;
        }
        Some(fed)
    }

    /// Closes all open entries; returns their indices as well.
    pub(super) fn close_all(&mut self) -> Vec<(u64, FedRecord)> {
        let entries = (self.first..).zip(self.entries.drain(..));
        let open = entries.filter(|(_, entry)| entry.is_open);
        open.map(|(index, entry)| (index, entry.fed())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_record_ends_once_in_any_order() {
        let ledger = Ledger::default();
        let fed = |intended_ns| FedRecord {
            intended_ns,
            bytes: 10,
        };
        ledger.note(&[fed(Some(5)), fed(None)]);
        ledger.note(&[fed(Some(7))]);
        let mut open = ledger.open();
        assert_eq!(open.close(1), Some(fed(None)));
        assert_eq!(open.close(1), None, "a second outcome");
        assert_eq!(open.close(3), None, "a record that was never fed");
        assert_eq!(open.close(0), Some(fed(Some(5))));
        assert_eq!(open.close(0), None, "after its entry has gone");
        assert_eq!((open.first, open.entries.len()), (2, 1));
        assert_eq!(open.close_all(), [(2, fed(Some(7)))]);
    }
}
