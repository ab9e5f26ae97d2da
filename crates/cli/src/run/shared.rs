//! The target, shared between the run and the thread that breaks it on purpose.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use kgauge_target::Target;

/// A target that two threads may use in turn.
#[derive(Clone)]
pub(crate) struct SharedTarget(Arc<Mutex<Target>>);

impl SharedTarget {
    pub(crate) fn new(target: Target) -> Self {
        Self(Arc::new(Mutex::new(target)))
    }

    /// The target, once nobody else uses it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Target> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The target, if nobody else uses it just now.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, Target>> {
        match self.0.try_lock() {
            Ok(target) => Some(target),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The target alone, when everybody else has done with it.
    pub(crate) fn into_inner(self) -> Option<Target> {
        let mutex = Arc::try_unwrap(self.0).ok()?;
        Some(mutex.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}
