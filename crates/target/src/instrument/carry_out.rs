//! The child's side: faults injected into its cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use kgauge_broker::cluster::{ClusterHandle, Endpoint, NodeError};
use kgauge_broker::ids::NodeId;
use kgauge_broker::{Delays, FaultId, InjectedFault};
use kgauge_faults::{CutDirection, CutEnd, DelayPlan, Fault};

use super::{
    Done, FaultCounts, Injection, Instruction, NodeReport, NodeState, NodeStatus, WallClockStall,
};

/// A cluster and its current faults.
#[derive(Debug)]
pub(crate) struct Instrument {
    pub(crate) cluster: ClusterHandle,
    faults: BTreeMap<u64, FaultId>,
    paused: BTreeSet<u16>,
    /// Why nodes are down that a fault has stopped.
    stopped: BTreeMap<u16, String>,
}

fn id(node: u16) -> NodeId {
    NodeId(i32::from(node))
}

fn words(error: impl Display) -> String {
    error.to_string()
}

impl Instrument {
    pub(crate) fn new(cluster: ClusterHandle) -> Self {
        Self {
            cluster,
            faults: BTreeMap::new(),
            paused: BTreeSet::new(),
            stopped: BTreeMap::new(),
        }
    }

    /// Executes an instruction; the error is a message.
    pub(crate) fn carry_out(&mut self, instruction: &Instruction) -> Result<Done, String> {
        match instruction {
            Instruction::Inject(injection) => self.inject(injection),
            Instruction::Lift(injection) => self.lift(injection),
            Instruction::Restore => self.restore().map(|()| Done::default()),
            Instruction::Sample => self.sample(),
            Instruction::Count => Ok(self.count()),
        }
    }

    fn inject(&mut self, injection: &Injection) -> Result<Done, String> {
        if let Fault::Requests { api, times, what } = &injection.fault {
            if self.faults.contains_key(&injection.key) {
                return Err(format!("fault {} already exists", injection.key));
            }
            let fault = InjectedFault::named(api.as_deref(), what.clone(), *times, injection.seed);
            let fault = fault.map_err(words)?;
            let fault_id = self
                .cluster
                .fault(injection.node.map(id), fault)
                .map_err(words)?;
            self.faults.insert(injection.key, fault_id);
            return Ok(Done::default());
        }
        let node = named_node(injection)?;
        let mut done = Done::default();
        match &injection.fault {
            Fault::Requests { .. } => {}
            Fault::Stop => self.down(node, ClusterHandle::stop_node)?,
            Fault::Kill => self.down(node, ClusterHandle::kill_node)?,
            Fault::Crash => {
                self.paused.remove(&node);
                done.lost_bytes = Some(self.cluster.crash_node(id(node)).map_err(words)?);
            }
            Fault::Restart => self.restart(node)?,
            Fault::Pause => {
                if !self.paused.insert(node) {
                    return Err(format!("node {node} is already paused"));
                }
                self.cluster.pause_node(id(node)).map_err(words)?;
            }
            Fault::Cut { direction, end } => {
                for (from, to) in self.links(node, *direction, *end)? {
                    self.cluster.cut(from, to);
                }
            }
            Fault::Flush(_) => return Err(refusal(&injection.fault)),
            Fault::DiskFull { after_bytes } => {
                let result = self.cluster.fill_disk(id(node), *after_bytes);
                result.map_err(words)?;
            }
            Fault::ClockOffset { ahead_ms } => {
                let result = self.cluster.set_clock_ahead(id(node), *ahead_ms);
                result.map_err(words)?;
            }
        }
        Ok(done)
    }

    fn lift(&mut self, injection: &Injection) -> Result<Done, String> {
        if let Fault::Requests { .. } = injection.fault {
            return self.lift_requests(injection.key);
        }
        let node = named_node(injection)?;
        match &injection.fault {
            Fault::Requests { .. } => {}
            Fault::Stop | Fault::Kill | Fault::Crash | Fault::Restart => self.restart(node)?,
            Fault::Pause => {
                if !self.paused.remove(&node) {
                    return Err(format!("node {node} is not paused"));
                }
                self.cluster.resume_node(id(node)).map_err(words)?;
            }
            Fault::Cut { direction, end } => {
                for (from, to) in self.links(node, *direction, *end)? {
                    self.cluster.mend_way(from, to);
                }
            }
            Fault::Flush(_) => {}
            Fault::DiskFull { .. } => self.free_disk(node)?,
            Fault::ClockOffset { .. } => {
                self.cluster.set_clock_ahead(id(node), 0).map_err(words)?;
            }
        }
        Ok(Done::default())
    }

    fn lift_requests(&mut self, key: u64) -> Result<Done, String> {
        let Some(fault) = self.faults.remove(&key) else {
            return Err(format!("there is no fault {key}"));
        };
        let lifted = self.cluster.lift_fault(fault);
        let stalls = lifted.stalls.into_iter().filter_map(|stall| {
            Some(WallClockStall {
                node: u16::try_from(stall.node.0).ok()?,
                begin_unix_ns: stall.begin_unix_ns,
                answers: stall.answers,
            })
        });
        Ok(Done {
            struck: Some(FaultCounts {
                requests: lifted.struck.requests,
                records: Some(lifted.struck.records),
            }),
            stalls: stalls.collect(),
            ..Done::default()
        })
    }

    /// The links that a cut closes, each in one direction.
    fn links(
        &self,
        node: u16,
        direction: CutDirection,
        end: CutEnd,
    ) -> Result<Vec<(Endpoint, Endpoint)>, String> {
        let own = self.endpoint(node)?;
        let nodes = self.cluster.node_ids().filter(|other| *other != id(node));
        let nodes = nodes.map(Endpoint::Node);
        let ends: Vec<Endpoint> = match end {
            CutEnd::Node(other) => vec![self.endpoint(other)?],
            CutEnd::Controller => vec![Endpoint::Controller],
            CutEnd::Nodes => nodes.collect(),
            CutEnd::Others => nodes.chain([Endpoint::Controller]).collect(),
            CutEnd::Clients => return Err(refusal(&Fault::Cut { direction, end })),
        };
        let of_end = |end: Endpoint| match direction {
            CutDirection::With => vec![(own, end), (end, own)],
            CutDirection::To => vec![(own, end)],
            CutDirection::From => vec![(end, own)],
        };
        Ok(ends.into_iter().flat_map(of_end).collect())
    }

    fn endpoint(&self, node: u16) -> Result<Endpoint, String> {
        if self.cluster.node_ids().any(|known| known == id(node)) {
            Ok(Endpoint::Node(id(node)))
        } else {
            Err(NodeError::Unknown(id(node)).to_string())
        }
    }

    /// Takes a node down. A paused one could not shut down cleanly.
    fn down(
        &mut self,
        node: u16,
        how: impl FnOnce(&mut ClusterHandle, NodeId) -> Result<(), NodeError>,
    ) -> Result<(), String> {
        if self.paused.remove(&node) {
            self.cluster.resume_node(id(node)).map_err(words)?;
        }
        how(&mut self.cluster, id(node)).map_err(words)
    }

    fn restart(&mut self, node: u16) -> Result<(), String> {
        if self.cluster.is_up(id(node)) {
            self.down(node, ClusterHandle::stop_node)?;
        }
        self.stopped.remove(&node);
        self.cluster.restart_node(id(node)).map_err(words)
    }

    fn free_disk(&mut self, node: u16) -> Result<(), String> {
        self.cluster.free_disk(id(node)).map_err(words)?;
        self.note_stopped();
        if self.stopped.remove(&node).is_some() && !self.cluster.is_up(id(node)) {
            self.cluster.restart_node(id(node)).map_err(words)?;
        }
        Ok(())
    }

    fn note_stopped(&mut self) {
        for failure in self.cluster.stopped_by_fault() {
            let node = failure.node.and_then(|node| u16::try_from(node.0).ok());
            if let Some(node) = node {
                self.stopped.insert(node, failure.words);
            }
        }
    }

    /// Lifts everything and starts what is down.
    fn restore(&mut self) -> Result<(), String> {
        self.note_stopped();
        self.faults.clear();
        self.cluster.clear_faults(None).map_err(words)?;
        self.cluster.mend();
        for node in std::mem::take(&mut self.paused) {
            // A node that has died since then starts again below.
            let _ = self.cluster.resume_node(id(node));
        }
        let nodes: Vec<NodeId> = self.cluster.node_ids().collect();
        for node in nodes {
            self.cluster.set_clock_ahead(node, 0).map_err(words)?;
            self.cluster.free_disk(node).map_err(words)?;
            if !self.cluster.is_up(node) {
                self.cluster.restart_node(node).map_err(words)?;
            }
        }
        self.stopped.clear();
        Ok(())
    }

    fn sample(&mut self) -> Result<Done, String> {
        self.note_stopped();
        let image = self.cluster.image().map_err(words)?;
        let status = |node: NodeId| {
            let number = u16::try_from(node.0).unwrap_or(0);
            let state = match (self.cluster.is_up(node), image.nodes.contains_key(&node)) {
                (true, true) => NodeState::Up,
                (true, false) => NodeState::Starting,
                (false, _) => NodeState::Down,
            };
            NodeStatus {
                node: number,
                state,
                words: self.stopped.get(&number).cloned(),
            }
        };
        Ok(Done {
            nodes: self.cluster.node_ids().map(status).collect(),
            ..Done::default()
        })
    }

    /// Each node's counters, without waiting for a node.
    fn count(&self) -> Done {
        let report = |node: NodeId| {
            let number = u16::try_from(node.0).unwrap_or(0);
            let counts = if self.paused.contains(&number) {
                Err("it stands still".to_owned())
            } else {
                self.cluster.counts(node).map_err(words)
            };
            NodeReport {
                node: number,
                counts,
            }
        };
        Done {
            counts: self.cluster.node_ids().map(report).collect(),
            ..Done::default()
        }
    }
}

/// Why a fault cannot be set, where nobody has refused it before.
fn refusal(fault: &Fault) -> String {
    let why = fault.check_embedded().err().unwrap_or_default();
    format!("\"{fault}\": {why}")
}

fn named_node(injection: &Injection) -> Result<u16, String> {
    let node = injection.node;
    node.ok_or_else(|| format!("\"{}\" needs a node", injection.fault))
}

/// The delays, in nanoseconds, that a node of the embedded cluster draws one after the other for the affected requests.
/// The seed of the [`Injection`] determines each of them.
pub fn delays_drawn(delay: &DelayPlan, seed: u64, node: u16) -> impl Iterator<Item = u64> {
    Delays::of(delay, seed, id(node))
}

#[cfg(test)]
mod tests {
    use kgauge_broker::fault::{api_names, error_names};
    use kgauge_scenario::{ERROR_NAMES, FAULT_APIS, TRANSACTION_APIS};

    #[test]
    fn scenarios_know_the_apis_that_are_served_and_no_others() {
        let served: Vec<String> = api_names().map(|(name, _)| name).collect();
        let (own, transactions) = FAULT_APIS.split_at(served.len());
        assert_eq!(served, own);
        assert_eq!(transactions, TRANSACTION_APIS);
    }

    #[test]
    fn scenarios_know_the_errors_of_the_protocol() {
        let known: Vec<&str> = error_names().map(|(name, _)| name).collect();
        assert_eq!(known, ERROR_NAMES);
    }
}
