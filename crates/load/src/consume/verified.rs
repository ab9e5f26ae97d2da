//! A verified consumer: what it gets, and its end.

use kgauge_wire::record_batch::BatchTally;

use super::consumer::{Consumer, FetchedRecords, Position};
use super::polls::{PollLog, PolledRecords};
use crate::worker_context::WorkerContext;

impl Consumer {
    /// Notes what a verified consumer got in a response, with the bytes of its batches.
    pub(super) fn note_polled(
        polls: &mut Option<PollLog>,
        position: &Position,
        part: &FetchedRecords,
        found: &BatchTally,
        bytes: &[u8],
        unix_ms: i64,
    ) {
        if let Some(polls) = polls {
            polls.note_read(&PolledRecords {
                partition: position.partition,
                from: part.from_offset,
                end: position.offset,
                records: found.records,
                bytes,
                unix_ms: u64::try_from(unix_ms).unwrap_or(0),
            });
        }
    }

    /// The log of polls is written.
    pub(super) fn tick_polls(&mut self, now_ns: u64, around: &WorkerContext<'_>) {
        if let Some(polls) = &mut self.polls {
            let unix_ms = around.clock.shared_unix_ms(now_ns);
            polls.tick(u64::try_from(unix_ms).unwrap_or(0));
        }
    }

    /// Nothing more comes: the log of polls is complete.
    pub(crate) fn close_polls(&mut self, around: &WorkerContext<'_>) {
        if let Some(mut polls) = self.polls.take()
            && let Err(error) = polls.close()
        {
            let at_ns = around.clock.now_ns();
            around.broken(at_ns, &self.flow.name, || {
                format!("cannot write the log of polls: {error}; what it lacks is not checked")
            });
        }
    }
}
