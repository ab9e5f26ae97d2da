//! Locks that survive the panic of another thread.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A thread that panicked while it held the lock has left a complete value.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
