//! The agents of a run, which its parts share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kgauge_agents::lead::AgentPool;

/// The agents of a run.
#[derive(Clone)]
pub(crate) struct SharedPool(Arc<Mutex<AgentPool>>);

impl SharedPool {
    pub(crate) fn new(pool: AgentPool) -> Self {
        Self(Arc::new(Mutex::new(pool)))
    }

    /// For one of its users at a time.
    pub(crate) fn lock(&self) -> MutexGuard<'_, AgentPool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
