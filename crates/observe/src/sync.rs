//! Waits and locks of the sampling threads.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Waits until `due_ns` on the run's clock; false if the thread's owner ended it before.
pub(crate) fn wait_until(due_ns: u64, now_ns: &impl Fn() -> u64, stopped: &Receiver<()>) -> bool {
    loop {
        let left = due_ns.saturating_sub(now_ns());
        if left == 0 {
            return true;
        }
        match stopped.recv_timeout(Duration::from_nanos(left)) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}

/// A thread that panicked while it held the lock has left a complete value.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
