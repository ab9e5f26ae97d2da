//! Records the outcome of each record, once, in the recorder and the totals.

use kgauge_results::{Recorder, client_code};
use kgauge_scenario::Schedule;

use super::child::monotonic_ns;
use super::frames::{Fate, Outcomes, RecordOutcome};
use super::ledger::{FedRecord, Ledger};
use super::proof::DrivenProof;
use crate::tally::Totals;

/// Destination of the outcomes.
pub(super) struct Accounts<'a> {
    pub(super) recorder: &'a mut Recorder,
    pub(super) totals: &'a mut Totals,
    /// Where outcomes are noted before they are counted, if the flow is verified.
    pub(super) proof: Option<&'a mut DrivenProof>,
    /// CLOCK_MONOTONIC at the run's time 0.
    pub(super) origin_ns: i64,
}

impl Accounts<'_> {
    fn since(&self, at_ns: i64) -> u64 {
        u64::try_from(at_ns.saturating_sub(self.origin_ns)).unwrap_or(0)
    }

    /// An error for an outcome that is impossible.
    pub(super) fn book_all(
        &mut self,
        outcomes: Outcomes<'_>,
        ledger: &Ledger,
    ) -> Result<(), String> {
        let mut open = ledger.open();
        let now_ns = monotonic_ns();
        for outcome in outcomes.iter() {
            let known = outcome
                .filter(|outcome| outcome.end_ns <= now_ns)
                .and_then(|outcome| Some((outcome, open.close(outcome.index)?)));
            let Some((outcome, fed)) = known else {
                return Err(format!(
                    "it reported an impossible record outcome: {outcome:?}"
                ));
            };
            self.book(&outcome, fed);
        }
        Ok(())
    }

    fn book(&mut self, outcome: &RecordOutcome, fed: FedRecord) {
        if let Some(proof) = &mut self.proof {
            proof.note(outcome);
        }
        let (sent_ns, end_ns) = (self.since(outcome.sent_ns), self.since(outcome.end_ns));
        // In a closed loop, a record is scheduled when it is accepted.
        let intended_ns = fed.intended_ns.unwrap_or(sent_ns);
        if outcome.fate == Fate::Untaken {
            return;
        }
        self.totals.scheduled += 1;
        self.recorder.scheduled(intended_ns, 1);
        if outcome.fate == Fate::Skipped {
            self.totals.skipped += 1;
            self.recorder.skipped(intended_ns, 1);
            return;
        }
        if outcome.code != client_code::BUFFER_TIMEOUT {
            self.recorder.sent(sent_ns, 1);
            let under_way_ns = end_ns.saturating_sub(sent_ns);
            self.recorder.in_flight(sent_ns, end_ns, under_way_ns);
        }
        match outcome.fate {
            Fate::Acked => {
                let bytes = u64::from(fed.bytes);
                self.totals.acked += 1;
                self.totals.logical_bytes += bytes;
                self.recorder.acked(intended_ns, sent_ns, end_ns, 1, bytes);
            }
            Fate::Failed => {
                self.totals.failed += 1;
                self.recorder.failed(intended_ns, end_ns, 1, outcome.code);
            }
            Fate::Indeterminate => {
                self.totals.indeterminate += 1;
                self.recorder
                    .indeterminate(intended_ns, end_ns, 1, outcome.code);
            }
            Fate::Skipped | Fate::Untaken => {}
        }
    }

    /// It is unknown how far the child got with it.
    pub(super) fn lose(&mut self, index: u64, fed: FedRecord, now_ns: u64) {
        if let Some(proof) = &mut self.proof {
            proof.note_lost(index);
        }
        let intended_ns = fed.intended_ns.unwrap_or(now_ns);
        self.totals.scheduled += 1;
        self.totals.indeterminate += 1;
        self.recorder.scheduled(intended_ns, 1);
        let code = client_code::STOPPED;
        self.recorder.indeterminate(intended_ns, now_ns, 1, code);
    }

    /// Due records that were never sent to the child.
    pub(super) fn skip_rest(
        &mut self,
        mut schedule: Schedule,
        mut records_left: u64,
        hold_start_ns: u64,
        end_ns: u64,
    ) {
        while records_left > 0 && schedule.peek_ns() < end_ns {
            let intended_ns = schedule.peek_ns();
            schedule.advance();
            self.totals.scheduled += 1;
            self.totals.skipped += 1;
            self.recorder.scheduled(intended_ns, 1);
            self.recorder.skipped(intended_ns, 1);
            if intended_ns >= hold_start_ns {
                records_left -= 1;
            }
        }
    }
}
