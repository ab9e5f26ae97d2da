//! Operations that are tried again: with growing pauses, bounded in attempts and in time.

use std::time::Instant;

use super::Cluster;
use super::error::{ClusterError, Next};
use crate::backoff::Backoff;

/// An attempt that failed, and whether another one makes sense.
#[derive(Debug)]
pub(crate) struct Failed<E> {
    pub(crate) error: E,
    pub(crate) next: Next,
}

impl<E: From<ClusterError>> From<ClusterError> for Failed<E> {
    fn from(error: ClusterError) -> Failed<E> {
        Failed {
            next: error.next(),
            error: error.into(),
        }
    }
}

/// The attempts of one operation.
#[derive(Debug)]
pub(crate) struct Retry {
    pub(crate) deadline: Instant,
    backoff: Backoff,
    retries: u32,
}

impl Cluster {
    /// Begins an operation.
    pub(crate) fn retry(&self) -> Retry {
        Retry {
            deadline: self.deadline(),
            backoff: Backoff::new(self.config.retry_backoff, self.config.retry_backoff_max),
            retries: self.config.retries,
        }
    }

    /// Tries `attempt` until it works, gives up, or runs out of attempts or time. The error is
    /// that of the last attempt, also after an interrupt.
    pub(crate) fn retrying<T, E>(
        &mut self,
        attempt: impl FnMut(&mut Cluster, Instant) -> Result<T, Failed<E>>,
    ) -> Result<T, E> {
        self.retrying_until(self.deadline(), attempt)
    }

    /// The same as a part of an operation that ends at `deadline`.
    pub(crate) fn retrying_until<T, E>(
        &mut self,
        deadline: Instant,
        mut attempt: impl FnMut(&mut Cluster, Instant) -> Result<T, Failed<E>>,
    ) -> Result<T, E> {
        let mut retry = Retry {
            deadline,
            ..self.retry()
        };
        loop {
            let failed = match attempt(self, retry.deadline) {
                Ok(done) => return Ok(done),
                Err(failed) => failed,
            };
            if failed.next == Next::GiveUp || !self.pause(&mut retry) {
                return Err(failed.error);
            }
            if failed.next == Next::Refresh {
                // Failing here is no answer to the caller's question: the next attempt tells.
                let _ = self.refresh_once(retry.deadline);
            }
        }
    }

    /// Waits for the next attempt; `false` if there is none.
    pub(crate) fn pause(&self, retry: &mut Retry) -> bool {
        let over = retry.backoff.attempts() >= retry.retries || Instant::now() >= retry.deadline;
        if over || self.interrupt.is_raised() {
            return false;
        }
        let pause = retry.backoff.pause();
        self.interrupt.sleep(pause, retry.deadline);
        Instant::now() < retry.deadline
    }
}
