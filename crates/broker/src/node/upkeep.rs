//! What a node does by the clock: flushes, checkpoints, retention, and closing in order.

use super::{Node, Output, Timer};
use crate::controller::ToController;
use crate::ids::PartitionId;
use crate::image::NodeImage;
use crate::log::{CloseJob, FlushDone, LogError};
use crate::time::Now;

/// How often logs are asked whether they want to be flushed.
const FLUSH_CHECK_MS: i64 = 1_000;

/// How often logs write down how far they are, and give back files that nobody used.
const CHECKPOINT_MS: i64 = 60_000;

impl Node {
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
        self.outputs.push(Output::ToController(register));
    }

    /// Tells the controller that the node is alive, and sets the next time.
    pub(super) fn heartbeat(&mut self, now: Now) {
        if self.image.version == 0 {
            // Nothing has come back: the registration may have been lost.
            self.register();
        } else {
            self.outputs
                .push(Output::ToController(ToController::Heartbeat));
        }
        let due_ns = now.after_ms(self.settings.broker_heartbeat_interval_ms);
        self.timers.set(due_ns, Timer::Heartbeat);
    }

    /// Removes what retention no longer keeps, and sets the next time.
    pub(super) fn retention_due(&mut self, now: Now) {
        let mut failures = Vec::new();
        for replica in self.replicas.values_mut() {
            // The offsets topic keeps what its coordinator needs; it is trimmed by it alone.
            if &*replica.topic != crate::ids::OFFSETS_TOPIC
                && let Err(error) = replica.log.apply_retention(now.wall_ms)
            {
                failures.push(error);
            }
        }
        failures
            .into_iter()
            .for_each(|error| self.log_failed(error));
        let due_ns = now.after_ms(self.settings.log_retention_check_interval_ms);
        self.timers.set(due_ns, Timer::Retention);
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
                self.outputs.push(Output::Flush { partition: id, job });
            }
            Err(error) => self.log_failed(error),
        }
    }

    /// A flush was run. What was appended meanwhile is flushed in its own time.
    pub fn flushed(&mut self, now: Now, partition: PartitionId, done: FlushDone) {
        let Some(replica) = self.replicas.get_mut(&partition) else {
            return;
        };
        replica.flushing = false;
        match replica.log.finish_flush(done) {
            Ok(()) if replica.log.flushed_offset() < replica.log.log_end_offset() => {
                self.flush_later(now, partition);
            }
            Ok(()) => {}
            Err(error) => self.log_failed(error),
        }
    }

    /// Lets logs write down how far they are, and give back files that nobody used since the last
    /// time.
    pub(super) fn checkpoint_due(&mut self, now: Now) {
        let mut failures = Vec::new();
        for replica in self.replicas.values_mut() {
            let end = replica.log.log_end_offset();
            let idle = !std::mem::take(&mut replica.read) && replica.end_seen == end;
            replica.end_seen = end;
            let kept = if idle {
                replica.log.close_files()
            } else {
                Ok(())
            };
            failures.extend(kept.and_then(|()| replica.log.checkpoint()).err());
        }
        failures
            .into_iter()
            .for_each(|error| self.log_failed(error));
        self.timers
            .set(now.after_ms(CHECKPOINT_MS), Timer::Checkpoint);
    }

    /// A log that cannot be written any more stops the node, as Kafka does when its only log
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
        for (_, replica) in self.replicas {
            match replica.log.begin_close() {
                Ok(job) => jobs.push(job),
                Err(error) => failures.push(error),
            }
        }
        (jobs, failures)
    }
}
