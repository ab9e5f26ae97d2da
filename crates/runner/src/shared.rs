//! The target, shared between the run and the thread that injects faults.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use kgauge_client::Cluster;
use kgauge_target::{
    DiskSpace, Done, Instruction, MetricsPlace, NodeReport, Target, TargetError, TargetProcess,
};

/// The pause before another attempt to use a busy target.
const TRY_AGAIN: Duration = Duration::from_millis(1);

/// A target that two threads may use in turn. Between two clusters of a run there is none.
#[derive(Clone)]
pub(crate) struct SharedTarget(Arc<Mutex<Option<Target>>>);

impl SharedTarget {
    pub(crate) fn new(target: Target) -> Self {
        Self(Arc::new(Mutex::new(Some(target))))
    }

    /// No cluster.
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self(Arc::new(Mutex::new(None)))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Target>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Carries out one instruction once no other thread uses the target. The error is a message.
    pub(crate) fn instruct(&self, instruction: &Instruction) -> Result<Done, String> {
        match self.lock().as_mut() {
            Some(target) => {
                let done = target.instruct(instruction);
                done.map_err(|error| error.to_string())
            }
            None => Err("there is no cluster".to_owned()),
        }
    }

    /// The target's processes on this machine.
    pub(crate) fn processes(&self) -> Vec<TargetProcess> {
        self.lock()
            .as_ref()
            .map_or_else(Vec::new, Target::processes)
    }

    /// The disks of its brokers; none between two clusters.
    pub(crate) fn disks(&self, cluster: &mut Cluster) -> Result<Vec<DiskSpace>, TargetError> {
        let target = self.lock();
        target
            .as_ref()
            .map_or(Ok(Vec::new()), |target| target.disks(cluster))
    }

    /// The data folders of each broker of Apache Kafka that kgauge started.
    pub(crate) fn broker_dirs(&self) -> Vec<(i32, Vec<PathBuf>)> {
        self.lock()
            .as_ref()
            .map_or_else(Vec::new, Target::broker_dirs)
    }

    /// The counters of an embedded cluster's nodes, if they answer within `limit`. The limit includes the wait for
    /// another thread that uses the cluster.
    pub(crate) fn counts(&self, limit: Duration) -> Result<Vec<NodeReport>, String> {
        let begin = Instant::now();
        loop {
            let mut target = match self.0.try_lock() {
                Ok(target) => target,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) if begin.elapsed() < limit => {
                    std::thread::sleep(TRY_AGAIN);
                    continue;
                }
                Err(TryLockError::WouldBlock) => {
                    return Err("the cluster was busy with another instruction".to_owned());
                }
            };
            let Some(target) = target.as_mut() else {
                return Err("there is no cluster".to_owned());
            };
            return target.counts(limit.saturating_sub(begin.elapsed()));
        }
    }

    /// Where its brokers provide their metrics, or why they do not.
    pub(crate) fn metrics(&self) -> Result<MetricsPlace, String> {
        match self.lock().as_ref() {
            Some(target) => target.metrics(),
            None => Err("there is no cluster".to_owned()),
        }
    }

    /// The error of a target that is gone, with its fix. None while another thread uses the target.
    pub(crate) fn death(&self) -> Option<String> {
        let mut target = match self.0.try_lock() {
            Ok(target) => target,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let error = target.as_mut()?.check().err()?;
        Some(crate::error::with_fix(&error, error.fix()))
    }

    /// Takes the target out, to end it.
    pub(crate) fn take(&self) -> Option<Target> {
        self.lock().take()
    }

    /// Puts the next one in.
    pub(crate) fn put(&self, target: Target) {
        *self.lock() = Some(target);
    }
}
