//! What a node does by the clock: retention, `flush.ms`, and closing in order.

use super::{Node, Timer};
use crate::ids::PartitionId;
use crate::log::LogError;
use crate::time::Now;

impl Node {
    pub(super) fn start_upkeep(&mut self, now: Now) {
        let retention_ns = now.after_ms(self.settings.log_retention_check_interval_ms);
        self.timers.set(retention_ns, Timer::Retention);
        let expiry_ns = now.after_ms(self.settings.offsets_retention_check_interval_ms);
        self.timers.set(expiry_ns, Timer::OffsetExpiry);
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

    pub(super) fn flush_due(&mut self, id: PartitionId) {
        let Some(replica) = self.replicas.get_mut(&id) else {
            return;
        };
        replica.flush_pending = false;
        if let Err(error) = replica.log.flush() {
            self.log_failed(error);
        }
    }

    /// A log that cannot be trusted any more stops the node. A full disk and a process without file
    /// handles are no reason: they concern one request, and can be cured while the node runs.
    pub(crate) fn log_failed(&mut self, error: LogError) {
        match error {
            LogError::Dead { cause } => self.fatal(cause),
            LogError::Storage(cause) if !cause.is_disk_full() && !cause.is_out_of_handles() => {
                self.fatal(cause);
            }
            _ => {}
        }
    }

    /// Ends in order: flushes and closes every log, so that the next start has nothing to recover.
    /// Gives the first failure.
    pub fn stop(mut self) -> Result<(), LogError> {
        let mut result = Ok(());
        for (_, replica) in self.replicas.drain() {
            result = result.and(replica.log.close());
        }
        result
    }
}
