//! The parts of the time of echo flows and transactions.

use super::Recorder;
use crate::slice::TimeKind;

impl Recorder {
    /// Echo flows: the parts of the time of `records` before their ack was read at `acked_ns`: they were accepted at
    /// `sent_ns`, and their request was written at `written_ns`.
    pub fn ack_waited(
        &mut self,
        (intended_ns, sent_ns): (u64, u64),
        written_ns: u64,
        acked_ns: u64,
        records: u64,
    ) {
        let slice = self.at_intended(intended_ns);
        let batch_ns = written_ns.saturating_sub(sent_ns);
        let ack_ns = acked_ns.saturating_sub(written_ns);
        let batch = slice.times_mut(TimeKind::BatchWait);
        batch.record_some(batch_ns, records, intended_ns);
        let ack = slice.times_mut(TimeKind::AckWait);
        ack.record_some(ack_ns, records, intended_ns);
    }

    /// Echo flows: `records` that were acked at `acked_ns` were read back at `consumed_ns`; `None` if they came before
    /// their ack.
    pub fn fetch_waited(&mut self, acked_ns: Option<u64>, consumed_ns: u64, records: u64) {
        let slice = self.at_happened(consumed_ns);
        let wait_ns = acked_ns.map_or(0, |acked_ns| consumed_ns.saturating_sub(acked_ns));
        if acked_ns.is_none() {
            slice.counts.records_echoed_early += records;
        }
        let times = slice.times_mut(TimeKind::FetchWait);
        times.record_some(wait_ns, records, consumed_ns);
    }

    /// Echo flows in transactions: the same of records that were acked and, if anybody has heard of it,
    /// whose transaction had been committed, at these moments. Those that were read before the one or the
    /// other waited no longer than until then.
    pub fn commit_waited(
        &mut self,
        since: Option<(u64, Option<u64>)>,
        consumed_ns: u64,
        records: u64,
    ) {
        let slice = self.at_happened(consumed_ns);
        let (acked_ns, committed_ns) = since.unwrap_or((consumed_ns, None));
        let committed_ns = committed_ns.filter(|&at_ns| at_ns <= consumed_ns);
        if committed_ns.is_none() {
            slice.counts.records_echoed_early += records;
        }
        let seen_ns = committed_ns.unwrap_or(consumed_ns);
        let commit_ns = seen_ns.saturating_sub(acked_ns);
        let commit = slice.times_mut(TimeKind::CommitWait);
        commit.record_some(commit_ns, records, consumed_ns);
        let fetch = slice.times_mut(TimeKind::FetchWait);
        fetch.record_some(consumed_ns - seen_ns, records, consumed_ns);
    }

    /// A transaction was aborted; its number of markers, and of its records that had been acked.
    pub fn aborted(&mut self, at_ns: u64, markers: u64, records: u64) {
        let counts = &mut self.at_happened(at_ns).counts;
        counts.transactions_aborted += 1;
        counts.records_aborted += records;
        counts.transaction_markers += markers;
    }

    /// This many markers may have been written twice.
    pub fn markers_doubted(&mut self, at_ns: u64, markers: u64) {
        self.at_happened(at_ns).counts.markers_doubted += markers;
    }

    /// A transaction was committed at `at_ns` with this number of markers; the commit took `ns`.
    pub fn committed(&mut self, at_ns: u64, ns: u64, markers: u64) {
        let slice = self.at_happened(at_ns);
        slice.counts.transactions += 1;
        slice.counts.transaction_markers += markers;
        slice.times_mut(TimeKind::Commit).record(ns, 1, at_ns);
    }
}
