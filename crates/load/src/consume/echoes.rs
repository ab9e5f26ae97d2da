//! A consumer of an echo flow: its records, and when all of them are back.

use kgauge_results::Recorder;

use super::consumer::{Consumer, FetchedRecords};
use crate::worker_context::WorkerContext;

impl Consumer {
    /// The hold ends at another time than announced; an echo flow ends when all records are back.
    pub(crate) fn move_hold_end(&mut self, end_ns: u64) {
        if self.echo.is_none() {
            self.hold_end_ns = end_ns;
        }
    }

    /// The hold is over: reading stops, except for records that an echo flow must still read back.
    pub(crate) fn end_hold(&mut self) {
        match self.echo {
            Some(_) => self.is_draining = true,
            None => self.stop(),
        }
    }

    /// Whether all records of an echo flow are back.
    pub(super) fn has_read_back(&self) -> bool {
        let positions = self.positions.iter().map(|one| (one.partition, one.offset));
        let echo = self.echo.as_ref().filter(|_| self.is_draining);
        echo.is_some_and(|echo| echo.is_complete(positions))
    }

    /// The drain is over: records that are not back are missing.
    pub(crate) fn abandon(&mut self, now_ns: u64, around: &WorkerContext<'_>) {
        let missing = self.echo.as_ref().map_or(0, |echo| echo.missing());
        let is_copy = self.echo.as_ref().is_some_and(|echo| echo.reads_copy());
        // Records that a slow replicator has not copied are a result, not an error of the run.
        if missing > 0 && is_copy {
            around.incident(now_ns, &self.flow.name, || {
                format!(
                    "{missing} acked records were missing from the copy at the end of the drain"
                )
            });
        } else if missing > 0 {
            around.broken(now_ns, &self.flow.name, || {
                format!("{missing} acked records were not read back by the end of the drain")
            });
        }
        self.stop();
    }

    /// Records of an echo flow are back.
    pub(super) fn note_echoes(
        &self,
        part: &FetchedRecords,
        consumed_ns: u64,
        recorder: &mut Recorder,
    ) {
        let partition = self.positions[part.position].partition;
        let Some(echo) = &self.echo else { return };
        if echo.reads_copy() {
            for &(_, intended_ns) in &self.echoes {
                recorder.echoed(intended_ns, consumed_ns, 1);
            }
        } else if echo.is_spread() {
            for &(_, intended_ns) in &self.echoes {
                // Within the error of two clocks, a record may seem to arrive before it was due.
                recorder.echoed(intended_ns.min(consumed_ns), consumed_ns, 1);
            }
        } else if let Some(mut lane) = echo.lane(partition) {
            for &(offset, intended_ns) in &self.echoes {
                recorder.echoed(intended_ns, consumed_ns, 1);
                let known = lane.known(offset);
                if echo.is_transactional() {
                    let since = known.map(|one| (one.acked_ns, one.committed_ns));
                    recorder.commit_waited(since, consumed_ns, 1);
                } else {
                    let acked_ns = known.map(|one| one.acked_ns);
                    recorder.fetch_waited(acked_ns, consumed_ns, 1);
                }
            }
        }
        echo.echoed(self.echoes.len() as u64, consumed_ns);
    }
}
