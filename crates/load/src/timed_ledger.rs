//! A ledger that notes the time, and writes what it has every second.

use kgauge_verify::{BatchEntry, CLOCK_MS, LedgerEntry, LedgerWriter};

use crate::ledgers::LedgerSink;

/// How often the ledger is written, at the latest.
const FLUSH_MS: u64 = 1_000;

/// The ledger of a verified client.
#[derive(Debug)]
pub(crate) struct TimedLedger {
    ledger: LedgerWriter<Box<dyn LedgerSink>>,
    clocked_ms: u64,
    flushed_ms: u64,
}

impl TimedLedger {
    /// The ledger of the client with this number.
    pub(crate) fn new(sink: Box<dyn LedgerSink>, number: u32) -> Self {
        Self {
            ledger: LedgerWriter::new(sink, number),
            clocked_ms: 0,
            flushed_ms: 0,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, entry: LedgerEntry) {
        self.ledger.push(entry);
    }

    #[inline]
    pub(crate) fn push_batch(&mut self, batch: BatchEntry) {
        self.ledger.push_batch(batch);
    }

    /// Whether [`TimedLedger::tick`] notes this time, in milliseconds since 1970.
    #[inline]
    pub(crate) fn is_clock_due(&self, unix_ms: u64) -> bool {
        unix_ms.saturating_sub(self.clocked_ms) >= CLOCK_MS
    }

    /// Follows the time, in milliseconds since 1970.
    pub(crate) fn tick(&mut self, unix_ms: u64) {
        if self.is_clock_due(unix_ms) {
            self.clocked_ms = unix_ms;
            self.ledger.push(LedgerEntry::Clock(unix_ms));
        }
        if unix_ms.saturating_sub(self.flushed_ms) >= FLUSH_MS {
            self.flushed_ms = unix_ms;
            self.ledger.flush();
        }
    }

    /// Writes what was collected.
    pub(crate) fn flush(&mut self) {
        self.ledger.flush();
    }

    /// Nothing more comes.
    ///
    /// # Errors
    /// The first failure to write, if any.
    pub(crate) fn close(&mut self) -> std::io::Result<()> {
        self.ledger.close()
    }
}
