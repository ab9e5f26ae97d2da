//! Faults of requests, clocks and disks: set on nodes that run, kept for those that come back.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Instant;

use super::{ClusterFailure, ClusterHandle, NodeError};
use crate::fault::{FaultError, FaultId, InjectedFault, LiftedFault, RequestFault};
use crate::ids::NodeId;
use crate::server::{FaultOrder, NodeCommand, NodeHandle};
use crate::storage::Fill;

/// The current faults: a node that starts again has them too.
#[derive(Debug, Default)]
pub(super) struct ActiveFaults {
    faults: Mutex<BTreeMap<FaultId, ActiveFault>>,
    count: AtomicU64,
    clocks_ahead_ms: Mutex<BTreeMap<NodeId, i64>>,
    fills: Mutex<BTreeMap<NodeId, Arc<Fill>>>,
}

#[derive(Debug)]
struct ActiveFault {
    /// `None`: all.
    node: Option<NodeId>,
    fault: InjectedFault,
    since: Instant,
}

impl ActiveFaults {
    pub(super) fn fill(&self, node: NodeId) -> Arc<Fill> {
        Arc::clone(locked(&self.fills).entry(node).or_default())
    }

    pub(super) fn fills(&self, node: NodeId) -> bool {
        self.fill(node).is_set()
    }

    pub(super) fn clock_ahead_ms(&self, node: NodeId) -> i64 {
        let ahead = locked(&self.clocks_ahead_ms);
        ahead.get(&node).copied().unwrap_or(0)
    }

    /// Sets the current faults on a node that starts.
    pub(super) fn repeat(&self, node: NodeId, inbox: &NodeHandle) {
        for (id, active) in &*locked(&self.faults) {
            if active.node.is_some_and(|other| other != node) {
                continue;
            }
            let mut fault = active.fault.clone();
            if let RequestFault::Stall { length_ns } = &mut fault.action {
                let passed_ns = active.since.elapsed().as_nanos();
                *length_ns = length_ns.saturating_sub(u64::try_from(passed_ns).unwrap_or(u64::MAX));
            }
            // It is done before the first request is served; nobody has to wait for it.
            let (done, _) = mpsc::channel();
            inbox.send(NodeCommand::Fault(FaultOrder::Set(*id, fault), done));
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ClusterHandle {
    /// Sets a fault on one node, or (`None`) on all. It holds when this returns; a node that is down
    /// has it when it starts again.
    pub fn fault(&self, node: Option<NodeId>, fault: InjectedFault) -> Result<FaultId, FaultError> {
        fault.check()?;
        self.known_or_all(node)?;
        let faults = &self.wires.faults;
        let id = FaultId(faults.count.fetch_add(1, Ordering::Relaxed));
        let active = ActiveFault {
            node,
            fault: fault.clone(),
            since: Instant::now(),
        };
        locked(&faults.faults).insert(id, active);
        self.send_faults(node, &FaultOrder::Set(id, fault));
        Ok(id)
    }

    /// Lifts a fault wherever it was set, and gives what the nodes that are up recorded about it: what
    /// a node had counted before it died is not in it. One that was lifted already is no error.
    pub fn lift_fault(&self, id: FaultId) -> LiftedFault {
        let lifted = locked(&self.wires.faults.faults).remove(&id);
        lifted.map_or_else(LiftedFault::default, |lifted| {
            self.send_faults(lifted.node, &FaultOrder::Lift(id))
        })
    }

    /// Lifts all faults of one node, or (`None`) of all.
    pub fn clear_faults(&self, node: Option<NodeId>) -> Result<(), FaultError> {
        self.known_or_all(node)?;
        locked(&self.wires.faults.faults).retain(|_, active| node.is_some() && active.node != node);
        self.send_faults(node, &FaultOrder::Clear);
        Ok(())
    }

    /// Sets a node's wall clock this many milliseconds ahead of the system's, or (negative) behind it;
    /// 0 sets it right. Timestamps of records that the node dates, retention and committed offsets
    /// follow it; time that is measured does not.
    pub fn set_clock_ahead(&self, node: NodeId, ms: i64) -> Result<(), NodeError> {
        self.known(node)?;
        locked(&self.wires.faults.clocks_ahead_ms).insert(node, ms);
        self.send_faults(Some(node), &FaultOrder::ClockAhead(ms));
        Ok(())
    }

    /// Makes a node's disk full after this many more bytes. The node stops then, as Kafka does when
    /// its only log directory is offline, and a node that starts again on a full disk stops again.
    pub fn fill_disk(&self, node: NodeId, after_bytes: u64) -> Result<(), NodeError> {
        self.known(node)?;
        self.wires.faults.fill(node).full_after(after_bytes);
        Ok(())
    }

    /// Makes room on a node's disk. A node that had stopped is started by
    /// [`ClusterHandle::restart_node`].
    pub fn free_disk(&mut self, node: NodeId) -> Result<(), NodeError> {
        self.known(node)?;
        // What the full disk has stopped until now is its doing.
        self.check_failures();
        self.wires.faults.fill(node).lift();
        Ok(())
    }

    /// The nodes that stopped since the last call because their disks were filled on command.
    pub fn stopped_by_fault(&mut self) -> Vec<ClusterFailure> {
        self.check_failures();
        std::mem::take(&mut self.stopped)
    }

    fn known_or_all(&self, node: Option<NodeId>) -> Result<(), FaultError> {
        match node.filter(|node| !self.nodes.contains_key(node)) {
            Some(unknown) => Err(FaultError::NoNode(unknown)),
            None => Ok(()),
        }
    }

    /// Tells the nodes that are up, and waits until they have it. One that ends meanwhile does not
    /// need it. Gives what the nodes recorded about a fault that is lifted.
    fn send_faults(&self, node: Option<NodeId>, order: &FaultOrder) -> LiftedFault {
        let mut all = LiftedFault::default();
        for (id, running) in &self.nodes {
            if node.is_none_or(|node| node == *id) && running.is_up() {
                let (done, wait) = mpsc::channel();
                running.inbox.send(NodeCommand::Fault(order.clone(), done));
                let lifted = wait.recv().unwrap_or_default();
                all.struck = all.struck.plus(lifted.struck);
                all.stalls.extend(lifted.stalls);
            }
        }
        all
    }
}
