//! What a node does by the clock: flushes, checkpoints, retention, and closing in order.

use super::disk::DiskJob;
use super::preparing::FOLDER_WORK;
use super::{BrokerNode, NodeOutput, Timer};
use crate::controller::ToController;
use crate::ids::PartitionId;
use crate::image::NodeImage;
use crate::log::{CheckpointDone, CloseJob, FlushDone, LogError};
use crate::time::Now;

/// How often logs are asked whether they want to be flushed.
const FLUSH_CHECK_MS: i64 = 1_000;

/// How often logs write down how far they are, and give back files that nobody used.
const CHECKPOINT_MS: i64 = 60_000;

/// How long requests have the thread to themselves between two shares of such work.
const SWEEP_PAUSE_MS: i64 = 1;

/// Partitions that a periodic pass over all of them has not reached yet.
#[derive(Debug, Default)]
pub(super) struct Sweeps {
    checkpoint: Vec<PartitionId>,
    retention: Vec<PartitionId>,
}

impl BrokerNode {
    pub(super) fn start_upkeep(&mut self, now: Now) {
        let settings = &self.settings;
        for (after_ms, timer) in [
            (FLUSH_CHECK_MS, Timer::FlushCheck),
            (CHECKPOINT_MS, Timer::Checkpoint),
            (settings.log_retention_check_interval_ms, Timer::Retention),
            (
                settings.offsets_retention_check_interval_ms,
                Timer::OffsetExpiry,
            ),
        ] {
            self.timers.set(now.after_ms(after_ms), timer);
        }
        self.start_isr_checks(now);
        self.start_watermark_checkpoints(now);
        let due_ns = now.after_ms(self.settings.broker_heartbeat_interval_ms);
        self.timers.set(due_ns, Timer::Heartbeat);
    }

    /// Tells the controller that the node is there.
    pub(super) fn register(&mut self) {
        let register = ToController::Register {
            reachable: NodeImage {
                rack: self.settings.broker_rack.clone(),
                life: self.config.life,
                ..self.config.reachable.clone()
            },
            stopped_in_order: self.config.stopped_in_order,
        };
        self.outputs.push(NodeOutput::ToController(register));
    }

    /// Tells the controller that the node is alive, and sets the next time.
    pub(super) fn heartbeat(&mut self, now: Now) {
        if self.image.version == 0 {
            // Nothing has come back: the registration may have been lost.
            self.register();
        } else {
            self.outputs
                .push(NodeOutput::ToController(ToController::Heartbeat));
        }
        let due_ns = now.after_ms(self.settings.broker_heartbeat_interval_ms);
        self.timers.set(due_ns, Timer::Heartbeat);
    }

    /// Removes what retention no longer keeps, and sets the next time.
    pub(super) fn retention_due(&mut self, now: Now) {
        let next_ms = self.settings.log_retention_check_interval_ms;
        let rest = std::mem::take(&mut self.sweeps.retention);
        self.sweeps.retention = self.sweep(now, rest, Timer::Retention, next_ms, |node, id| {
            let Some(replica) = node.replicas.get_mut(&id) else {
                return 0;
            };
            // The offsets topic keeps what its coordinator needs; it is trimmed by it alone.
            if &*replica.topic == crate::ids::OFFSETS_TOPIC {
                return 0;
            }
            match replica.log.apply_retention(now.wall_ms) {
                Ok(removed) if removed.is_empty() => 1,
                Ok(removed) => FOLDER_WORK * removed.len(),
                Err(error) => {
                    node.log_failed(error);
                    1
                }
            }
        });
    }

    /// Does something to the logs that have files, one after the other, until the work of a turn is
    /// done. Then it sets the timer: soon for the rest, or for the next time.
    fn sweep(
        &mut self,
        now: Now,
        mut rest: Vec<PartitionId>,
        timer: Timer,
        next_ms: i64,
        each: impl Fn(&mut Self, PartitionId) -> usize,
    ) -> Vec<PartitionId> {
        if rest.is_empty() {
            let written = self
                .replicas
                .values()
                .filter(|replica| !replica.log.is_unwritten());
            rest = written.map(|replica| replica.id).collect();
        }
        let mut work = 0;
        while work < self.config.turn_work_max
            && let Some(id) = rest.pop()
        {
            work += each(self, id);
        }
        let pause_ms = if rest.is_empty() {
            next_ms
        } else {
            SWEEP_PAUSE_MS
        };
        self.timers.set(now.after_ms(pause_ms), timer);
        rest
    }

    /// Flushes the logs that closed a segment since the last look, and sets the next time.
    pub(super) fn check_flushes(&mut self, now: Now) {
        let due = self
            .replicas
            .iter()
            .filter(|(_, replica)| replica.log.flush_due(now.wall_ms));
        let due: Vec<PartitionId> = due.map(|(id, _)| *id).collect();
        due.into_iter().for_each(|id| self.begin_flush(id));
        self.timers
            .set(now.after_ms(FLUSH_CHECK_MS), Timer::FlushCheck);
    }

    /// Sees to it that what was just appended is flushed in `flush.ms`.
    pub(crate) fn flush_later(&mut self, now: Now, id: PartitionId) {
        let Some(replica) = self.replicas.get_mut(&id) else {
            return;
        };
        if let Some(flush_ms) = replica.log.config().flush_ms
            && !replica.flush_pending
        {
            replica.flush_pending = true;
            self.timers.set(now.after_ms(flush_ms), Timer::Flush(id));
        }
    }

    /// Has a log flushed away from this thread, unless that is going on already.
    pub(super) fn begin_flush(&mut self, id: PartitionId) {
        let Some(replica) = self.replicas.get_mut(&id) else {
            return;
        };
        replica.flush_pending = false;
        if replica.flushing {
            return;
        }
        match replica.log.begin_flush() {
            Ok(None) => {}
            Ok(Some(job)) => {
                replica.flushing = true;
                self.outputs.push(NodeOutput::Disk(DiskJob::Flush(id, job)));
            }
            Err(error) => self.log_failed(error),
        }
    }

    /// A flush was run. What was appended meanwhile is flushed in its own time.
    pub(super) fn flushed(
        &mut self,
        now: Now,
        partition: PartitionId,
        done: FlushDone,
    ) -> Result<(), LogError> {
        let Some(replica) = self.replicas.get_mut(&partition) else {
            return Ok(());
        };
        replica.flushing = false;
        replica.log.finish_flush(done)?;
        if replica.log.flushed_offset() < replica.log.log_end_offset() {
            self.flush_later(now, partition);
        }
        Ok(())
    }

    /// Lets logs write down how far they are, and give back files that nobody used since the last
    /// time.
    pub(super) fn checkpoint_due(&mut self, now: Now) {
        let rest = std::mem::take(&mut self.sweeps.checkpoint);
        let timer = Timer::Checkpoint;
        self.sweeps.checkpoint = self.sweep(now, rest, timer, CHECKPOINT_MS, |node, id| {
            node.checkpoint(id).unwrap_or_else(|error| {
                node.log_failed(error);
                1
            })
        });
    }

    /// Gives the work that it was.
    fn checkpoint(&mut self, id: PartitionId) -> Result<usize, LogError> {
        let Some(replica) = self.replicas.get_mut(&id) else {
            return Ok(0);
        };
        let end = replica.log.log_end_offset();
        let idle = !std::mem::take(&mut replica.read) && replica.end_seen == end;
        replica.end_seen = end;
        let mut work = 1;
        if idle && replica.log.is_open() {
            replica.log.close_files()?;
            work = FOLDER_WORK;
        }
        if !replica.checkpointing
            && let Some(job) = replica.log.begin_checkpoint()?
        {
            replica.checkpointing = true;
            self.outputs
                .push(NodeOutput::Disk(DiskJob::Checkpoint(id, job)));
            work = FOLDER_WORK;
        }
        Ok(work)
    }

    /// A checkpoint was written.
    pub(super) fn checkpointed(
        &mut self,
        id: PartitionId,
        done: CheckpointDone,
    ) -> Result<(), LogError> {
        let Some(replica) = self.replicas.get_mut(&id) else {
            return Ok(());
        };
        replica.checkpointing = false;
        replica.log.finish_checkpoint(done)
    }

    /// A log that can no longer be written stops the node, as Kafka does when its only log
    /// directory is offline: of a full disk too (docs/decisions/full-disk.md). A process without file
    /// handles is no reason: that concerns one request, and can be cured while the node runs.
    pub(crate) fn log_failed(&mut self, error: LogError) {
        match error {
            LogError::Dead { cause } => self.fatal(cause),
            LogError::Storage(cause) if !cause.is_out_of_handles() => {
                self.fatal(cause);
            }
            _ => {}
        }
    }

    /// Whether a node that stops in order may say so when it comes back. One that crashed before and
    /// was never heard of since must not: nobody knows of the crash yet.
    #[must_use]
    pub fn may_come_back_in_order(&self) -> bool {
        self.image.version > 0 || self.config.stopped_in_order
    }

    /// Ends in order. When the jobs have run, in any order and on any threads, every log is flushed
    /// and closed, and the next start has nothing to recover. Also gives the logs that failed.
    #[must_use]
    pub fn stop(mut self) -> (Vec<CloseJob>, Vec<LogError>) {
        let (mut jobs, mut failures) = (Vec::new(), Vec::new());
        failures.extend(self.store_watermarks().err().map(LogError::from));
        failures.extend(self.end_leaving().err());
        for (_, replica) in self.replicas {
            match replica.log.begin_close() {
                Ok(job) => jobs.extend(job),
                Err(error) => failures.push(error),
            }
        }
        (jobs, failures)
    }
}
