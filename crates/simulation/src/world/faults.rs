//! What goes wrong, and when: drawn from the seed, within what the settings promise to survive.

use super::{SimulatedEvent, World};
use kgauge_broker::ids::NodeId;
use kgauge_broker::storage::Crash;
use kgauge_broker::time::NS_PER_MS;

/// Faults so far.
#[derive(Debug, Default)]
pub(super) struct SimulatedFaults {
    pub(super) count: u64,
    ended: bool,
}

impl World<'_> {
    /// Injects or lifts a fault, and schedules the next change.
    pub(super) fn next_fault(&mut self) {
        if self.faults.ended {
            return;
        }
        let nodes = self.node_ids();
        let node = nodes[self.random.below(nodes.len() as u64) as usize];
        let other = nodes[self.random.below(nodes.len() as u64) as usize];
        match self.random.below(12) {
            0..=2 => self.crash(node),
            3 | 4 => self.restart_all_down(),
            5 => {
                let slot = &self.slots[&node];
                if slot.node.is_some() && !slot.paused {
                    self.faults.count += 1;
                    self.report(&format!("node {node} stops in order"));
                    self.stop(node);
                }
            }
            6 => self.pause(node),
            7 => self.resume_all(),
            8 => self.cut(Some(node), Some(other).filter(|other| *other != node)),
            9 => self.cut(None, Some(node)),
            10 => {
                self.report("mending the network");
                self.cuts.clear();
            }
            _ => self.restart_cluster(),
        }
        let after_ns = (20 + self.random.below(500)) * NS_PER_MS;
        self.push(self.now_ns + after_ns, SimulatedEvent::Fault);
    }

    /// A node crashes: with its machine (what was not flushed is lost or torn) or with its process.
    fn crash(&mut self, node: NodeId) {
        if self.slots[&node].node.is_none() {
            return self.start(node);
        }
        let seed = self.random.next_u64();
        let kind = match self.random.below(4) {
            0 => Crash::KeepEverything,
            1 => Crash::LoseUnflushed,
            2 => Crash::TearLastWrite {
                bytes_kept: self.random.below(100) as usize,
            },
            _ => Crash::Random { seed },
        };
        if !self.survives_loss(node) {
            return;
        }
        self.faults.count += 1;
        self.report(&format!("node {node} crashes: {kind:?}"));
        drop(self.take_down(node));
        if let Some(slot) = self.slots.get_mut(&node) {
            slot.storage.crash(kind);
            // A killed process loses nothing, but the controller cannot know that: it counts as a loss.
            slot.lossy = true;
        }
        if self.random.below(3) == 0 {
            // Restarts before the controller notices.
            self.start(node);
        }
    }

    /// Whether another node still has everything that was acknowledged: `min.insync.replicas` promises
    /// that for one crash at a time. With two replicas in sync, a second crash before the controller
    /// knows of the first could lose a record on both.
    fn survives_loss(&self, node: NodeId) -> bool {
        if self.slots.values().any(|slot| slot.lossy) {
            return false;
        }
        let image = self.controller.image();
        let mut partitions = image.topics.values().flat_map(|topic| &topic.partitions);
        partitions.all(|partition| {
            let mut have = partition.isr.iter().chain(&partition.elr);
            have.any(|other| *other != node && !self.slots[other].lossy)
        })
    }

    /// Whether the last leader of every partition has everything: then it may lead again after all
    /// were killed.
    fn all_are_led(&self) -> bool {
        let image = self.controller.image();
        let mut partitions = image.topics.values().flat_map(|topic| &topic.partitions);
        partitions.all(|partition| {
            let slot = partition.leader.and_then(|node| self.slots.get(&node));
            slot.is_some_and(|slot| slot.node.is_some() && !slot.lossy)
        })
    }

    fn restart_all_down(&mut self) {
        let down = self.slots.iter().filter(|(_, slot)| slot.node.is_none());
        let down: Vec<NodeId> = down.map(|(id, _)| *id).collect();
        down.into_iter().for_each(|node| self.start(node));
    }

    fn pause(&mut self, node: NodeId) {
        if let Some(slot) = self.slots.get_mut(&node)
            && slot.node.is_some()
        {
            slot.paused = true;
            self.faults.count += 1;
            self.report(&format!("node {node} freezes"));
        }
    }

    fn resume_all(&mut self) {
        let paused = self.slots.iter().filter(|(_, slot)| slot.paused);
        let paused: Vec<NodeId> = paused.map(|(id, _)| *id).collect();
        for node in paused {
            self.report(&format!("node {node} goes on"));
            self.resume(node);
        }
    }

    fn cut(&mut self, from: Option<NodeId>, to: Option<NodeId>) {
        self.faults.count += 1;
        let both = self.random.below(2) == 0;
        self.report(&format!("cut from {from:?} to {to:?}, both ways: {both}"));
        self.cuts.insert((from, to));
        if both {
            self.cuts.insert((to, from));
        }
    }

    /// Everything stops, in order or as a killed process, and starts again with the controller.
    fn restart_cluster(&mut self) {
        if self.random.below(4) > 0 {
            return;
        }
        let in_order = self.random.below(2) == 0;
        if !in_order && !self.all_are_led() {
            return;
        }
        self.faults.count += 1;
        self.report(&format!("the cluster restarts, in order: {in_order}"));
        for node in self.node_ids() {
            if self.slots[&node].paused {
                self.resume(node);
            }
            if in_order {
                self.stop(node);
            } else {
                drop(self.take_down(node));
                if let Some(slot) = self.slots.get_mut(&node) {
                    slot.storage.crash(Crash::KeepEverything);
                }
            }
        }
        if self.restart_controller() {
            self.restart_all_down();
        }
    }

    /// Lifts every fault.
    pub(super) fn mend(&mut self) {
        self.faults.ended = true;
        self.cuts.clear();
        self.resume_all();
        self.restart_all_down();
    }
}
