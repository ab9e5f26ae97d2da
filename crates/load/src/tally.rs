//! Running totals of a client, for progress and for the final sum.

use std::sync::atomic::{AtomicU64, Ordering};

use kgauge_results::run::ConnectionRecord;
use serde::{Deserialize, Serialize};

use crate::broker_link::Loss;

/// The outcomes of records so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Records that were due, or that a closed loop accepted.
    pub scheduled: u64,
    /// Records that a broker has acked (with acks=0: that were written to the socket).
    pub acked: u64,
    /// Records that are certainly not in the log.
    pub failed: u64,
    /// Records whose outcome is unknown.
    pub indeterminate: u64,
    /// Records that were too late to be sent.
    pub skipped: u64,
    /// Records read.
    pub consumed: u64,
    /// Key and value bytes acked or read.
    pub logical_bytes: u64,
    /// Transaction markers in the partitions; each takes an offset.
    pub markers: u64,
    /// Totals of the connections.
    pub connections: ConnectionRecord,
}

impl Totals {
    /// Whether there was a record to send, or one was read.
    pub(crate) fn has_records(&self) -> bool {
        self.scheduled > 0 || self.consumed > 0
    }

    /// Adds each field to its counterpart. Reports of other processes may contain anything, so nothing overflows.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let sum = |of: fn(&Self) -> u64| of(self).saturating_add(of(other));
        Self {
            scheduled: sum(|totals| totals.scheduled),
            acked: sum(|totals| totals.acked),
            failed: sum(|totals| totals.failed),
            indeterminate: sum(|totals| totals.indeterminate),
            skipped: sum(|totals| totals.skipped),
            consumed: sum(|totals| totals.consumed),
            logical_bytes: sum(|totals| totals.logical_bytes),
            markers: sum(|totals| totals.markers),
            connections: self.connections.plus(other.connections),
        }
    }

    /// A connection was lost.
    pub(crate) fn note_loss(&mut self, loss: &Loss) {
        self.connections.lost += 1;
        match loss {
            Loss::TimedOut => self.connections.timed_out += 1,
            Loss::Malformed(_) => self.connections.malformed += 1,
            Loss::Closed | Loss::System(_) | Loss::Refused(_) => {}
        }
    }
}

/// Totals of one flow that other threads may read during the run.
#[derive(Debug, Default)]
pub(crate) struct LiveTotals {
    acked: AtomicU64,
    failed: AtomicU64,
    skipped: AtomicU64,
    consumed: AtomicU64,
    logical_bytes: AtomicU64,
}

impl LiveTotals {
    /// Adds the change since `before`.
    pub(crate) fn add(&self, before: &Totals, now: &Totals) {
        let add = |to: &AtomicU64, part: u64| to.fetch_add(part, Ordering::Relaxed);
        add(&self.acked, now.acked - before.acked);
        add(
            &self.failed,
            now.failed + now.indeterminate - before.failed - before.indeterminate,
        );
        add(&self.skipped, now.skipped - before.skipped);
        add(&self.consumed, now.consumed - before.consumed);
        add(
            &self.logical_bytes,
            now.logical_bytes - before.logical_bytes,
        );
    }

    /// The totals as of about a tenth of a second ago. Failed includes indeterminate ones.
    pub(crate) fn totals(&self) -> Totals {
        Totals {
            acked: self.acked.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            skipped: self.skipped.load(Ordering::Relaxed),
            consumed: self.consumed.load(Ordering::Relaxed),
            logical_bytes: self.logical_bytes.load(Ordering::Relaxed),
            ..Totals::default()
        }
    }
}
