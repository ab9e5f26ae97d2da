//! Operations with retries: growing pauses, limited in number and in time.

use std::time::Instant;

use super::Cluster;
use super::error::{ClusterError, Next};
use crate::backoff::Backoff;

/// A failed attempt, and whether another one makes sense.
#[derive(Debug)]
pub(crate) struct FailedAttempt<E> {
    pub(crate) error: E,
    pub(crate) next: Next,
}

impl<E: From<ClusterError>> From<ClusterError> for FailedAttempt<E> {
    fn from(error: ClusterError) -> FailedAttempt<E> {
        FailedAttempt {
            next: error.next(),
            error: error.into(),
        }
    }
}

impl<E: OperationError> FailedAttempt<E> {
    pub(crate) fn of(error: E) -> FailedAttempt<E> {
        FailedAttempt {
            next: error.next(),
            error,
        }
    }
}

/// An operation's error, which may be a problem on the way to the cluster.
pub(crate) trait OperationError {
    /// That problem, if it is one.
    fn cluster_error(&mut self) -> Option<&mut ClusterError>;

    /// Whether another attempt makes sense.
    fn next(&self) -> Next;
}

impl OperationError for ClusterError {
    fn cluster_error(&mut self) -> Option<&mut ClusterError> {
        Some(self)
    }

    fn next(&self) -> Next {
        ClusterError::next(self)
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
    /// Starts an operation.
    pub(crate) fn retry(&self) -> Retry {
        Retry {
            deadline: self.deadline(),
            backoff: Backoff::new(self.config.retry_backoff, self.config.retry_backoff_max),
            retries: self.config.retries,
        }
    }

    /// Repeats `attempt` until it succeeds, gives up, or runs out of attempts or time. The error is that of the last
    /// attempt, also after an interrupt. If time ran out on the way to the cluster, it names the `operation` and the
    /// first error: the last attempt is often cut short, so its error means nothing.
    pub(crate) fn retrying<T, E: OperationError>(
        &mut self,
        operation: &'static str,
        attempt: impl FnMut(&mut Cluster, Instant) -> Result<T, FailedAttempt<E>>,
    ) -> Result<T, E> {
        self.retrying_until(operation, self.deadline(), attempt)
    }

    /// The same within an operation that ends at `deadline`.
    pub(crate) fn retrying_until<T, E: OperationError>(
        &mut self,
        operation: &'static str,
        deadline: Instant,
        mut attempt: impl FnMut(&mut Cluster, Instant) -> Result<T, FailedAttempt<E>>,
    ) -> Result<T, E> {
        let start = Instant::now();
        let mut first = None;
        let mut retry = Retry {
            deadline,
            ..self.retry()
        };
        loop {
            let failed = match attempt(self, retry.deadline) {
                Ok(done) => return Ok(done),
                Err(failed) => failed,
            };
            if failed.next == Next::GiveUp {
                return Err(failed.error);
            }
            if !self.pause(&mut retry) {
                let mut last = failed.error;
                if Instant::now() >= retry.deadline && !self.interrupt.is_raised() {
                    let first = first.as_mut().and_then(E::cluster_error);
                    name_first(&mut last, first, operation, start);
                }
                return Err(last);
            }
            first.get_or_insert(failed.error);
            if failed.next == Next::Refresh {
                // Failing here does not answer the caller's request: the next attempt does.
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

/// Time ran out: the first error of the operation replaces the last.
fn name_first<E: OperationError>(
    last: &mut E,
    first: Option<&mut ClusterError>,
    operation: &'static str,
    start: Instant,
) {
    let Some(last) = last.cluster_error() else {
        return;
    };
    let first = match first {
        Some(first) => std::mem::replace(first, ClusterError::Interrupted),
        None => std::mem::replace(last, ClusterError::Interrupted),
    };
    let first = match first {
        // A part of the operation ran out of time; the caller knows the whole operation.
        ClusterError::GaveUp { first, .. } => first,
        first => Box::new(first),
    };
    *last = ClusterError::GaveUp {
        operation,
        waited: start.elapsed(),
        first,
    };
}
