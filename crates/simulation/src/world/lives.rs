//! Starts and ends of nodes and controller: in order, paused, or with their process.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{QueuedEvent, SimulatedEvent, World, settings};
use kgauge_broker::controller::{Controller, ToController};
use kgauge_broker::ids::{ConnectionId, NodeId};
use kgauge_broker::image::NodeImage;
use kgauge_broker::node::{BrokerNode, NodeConfig, clean_shutdown};
use kgauge_broker::time::NS_PER_MS;

impl World<'_> {
    /// Starts a node that is down.
    pub(super) fn start(&mut self, id: NodeId) {
        let now = self.now();
        let seed = self.random.next_u64();
        let deviations = self.plan.deviations;
        let Some(slot) = self.slots.get_mut(&id) else {
            return;
        };
        let dir = PathBuf::from("/node");
        let marked = clean_shutdown::take_mark(&slot.storage, &dir);
        let stopped_in_order = marked.unwrap_or(false);
        let config = NodeConfig {
            id,
            reachable: NodeImage {
                host: format!("node-{id}"),
                port: 9092,
                rack: None,
                epoch: 0,
                life: 0,
            },
            dir,
            storage: slot.storage.shared(),
            settings: Arc::new(settings()),
            seed,
            stopped_in_order,
            damaged_logs: BTreeSet::new(),
            security: Arc::default(),
            life: self.lives,
            deviations,
            // One partition, or a few, at a time: what happens between must do no harm.
            turn_work_max: 1 + usize::from(self.plan.seed.is_multiple_of(2)) * 3,
            counters: None,
        };
        self.lives += 1;
        slot.replace(Some(BrokerNode::new(now, config)));
        self.report(&format!(
            "node {id} starts, in order before: {stopped_in_order}"
        ));
        self.checks.started(id);
        // A new disk has no fault; what a start outputs is its registration.
        let _ = self.carry_out(id);
    }

    /// Removes a node, for the caller to stop in order or not.
    pub(super) fn take_down(&mut self, id: NodeId) -> Option<BrokerNode> {
        let slot = self.slots.get_mut(&id)?;
        slot.node.as_ref()?;
        let node = slot.replace(None);
        let gone: Vec<ConnectionId> = self
            .connections
            .iter()
            .filter(|(_, to)| **to == id)
            .map(|(connection, _)| *connection)
            .collect();
        for connection in gone {
            self.connections.remove(&connection);
            let after_ns = self.random.below(2 * NS_PER_MS);
            self.push(
                self.now_ns + after_ns,
                SimulatedEvent::Disconnected(connection),
            );
        }
        node
    }

    /// Stops a node in order.
    pub(super) fn stop(&mut self, id: NodeId) {
        let Some(node) = self.take_down(id) else {
            return;
        };
        self.controller
            .handle(self.now(), id, ToController::Stopped);
        self.carry_out_controller();
        let known = node.may_come_back_in_order();
        let (jobs, failures) = node.stop();
        let closed = known && jobs.into_iter().all(|job| job.run().is_ok()) && failures.is_empty();
        if let Some(slot) = self.slots.get(&id)
            && closed
        {
            // Without the mark it comes back as after a crash.
            let _ = clean_shutdown::leave_mark(&slot.storage, Path::new("/node"));
        }
    }

    /// Resumes a paused node with the events that it missed.
    pub(super) fn resume(&mut self, id: NodeId) {
        let Some(slot) = self.slots.get_mut(&id) else {
            return;
        };
        slot.paused = false;
        // Its timers are late.
        slot.timer_ns = Some(self.now_ns);
        for event in std::mem::take(&mut slot.kept) {
            self.push(self.now_ns, event);
        }
        self.push(self.now_ns, SimulatedEvent::NodeTimer(id));
    }

    /// The controller ends with its process and all messages in flight; then it reads its
    /// journal again.
    pub(super) fn restart_controller(&mut self) -> bool {
        self.queue.retain(|Reverse(QueuedEvent(_, _, event))| {
            !matches!(
                event,
                SimulatedEvent::ToNode(..)
                    | SimulatedEvent::ToController(..)
                    | SimulatedEvent::ControllerTimer
            )
        });
        let seed = self.random.next_u64();
        let dir = Path::new("/controller");
        match Controller::open(
            &self.controller_storage.shared(),
            dir,
            Arc::new(settings()),
            seed,
        ) {
            Ok(controller) => {
                self.controller = controller;
                self.controller_timer_ns = None;
                true
            }
            Err(_) => false,
        }
    }
}
