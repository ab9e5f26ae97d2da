//! The child's side: instructions carried out on the cluster that it serves.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::time::Duration;

use kgauge_broker::cluster::{ClusterHandle, Endpoint, NodeError};
use kgauge_broker::fault::{api_names, error_names};
use kgauge_broker::ids::NodeId;
use kgauge_broker::{Capacity, Delay, FaultAction, FaultId, InjectedFault};
use kgauge_scenario::{CapacityPlan, CapacityUnit, DelayPlan, DropPoint, RequestFault};

use super::{
    Done, FaultCounts, Instruction, LinkBetween, NodeReport, NodeState, NodeStatus, WallClockStall,
};

/// A cluster, and what was set on it.
#[derive(Debug)]
pub(crate) struct Instrument {
    pub(crate) cluster: ClusterHandle,
    faults: BTreeMap<u64, FaultId>,
    cuts: Vec<LinkBetween>,
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
            cuts: Vec::new(),
            paused: BTreeSet::new(),
            stopped: BTreeMap::new(),
        }
    }

    /// Does it, or says in words why not.
    pub(crate) fn carry_out(&mut self, instruction: &Instruction) -> Result<Done, String> {
        let done = match instruction {
            Instruction::Look => return self.sample(),
            Instruction::Count => return Ok(self.count()),
            Instruction::Heal => self.restore(),
            Instruction::Crash { node } => {
                self.paused.remove(node);
                let lost_bytes = Some(self.cluster.crash_node(id(*node)).map_err(words)?);
                return Ok(Done {
                    lost_bytes,
                    ..Done::default()
                });
            }
            Instruction::Stop { node } => self.down(*node, ClusterHandle::stop_node),
            Instruction::Kill { node } => self.down(*node, ClusterHandle::kill_node),
            Instruction::Restart { node } => self.restart(*node),
            Instruction::Pause { node } => {
                if !self.paused.insert(*node) {
                    return Err(format!("node {node} is already paused"));
                }
                self.cluster.pause_node(id(*node)).map_err(words)
            }
            Instruction::Resume { node } => {
                if !self.paused.remove(node) {
                    return Err(format!("node {node} is not paused"));
                }
                self.cluster.resume_node(id(*node)).map_err(words)
            }
            Instruction::Cut(way) => self.cut(*way),
            Instruction::Mend(way) => self.mend(*way),
            Instruction::SetFault { .. } => self.set_fault(instruction),
            Instruction::LiftFault { key } => match self.faults.remove(key) {
                Some(fault) => {
                    let lifted = self.cluster.lift_fault(fault);
                    let stalls = lifted.stalls.into_iter().filter_map(|stall| {
                        Some(WallClockStall {
                            node: u16::try_from(stall.node.0).ok()?,
                            begin_unix_ns: stall.begin_unix_ns,
                            answers: stall.answers,
                        })
                    });
                    return Ok(Done {
                        struck: Some(FaultCounts {
                            requests: lifted.struck.requests,
                            records: lifted.struck.records,
                        }),
                        stalls: stalls.collect(),
                        ..Done::default()
                    });
                }
                None => Err(format!("there is no fault {key}")),
            },
            Instruction::FillDisk { node, after_bytes } => {
                let filled = self.cluster.fill_disk(id(*node), *after_bytes);
                filled.map_err(words)
            }
            Instruction::FreeDisk { node } => self.free_disk(*node),
            Instruction::SetClock { node, ahead_ms } => {
                let set = self.cluster.set_clock_ahead(id(*node), *ahead_ms);
                set.map_err(words)
            }
        };
        done.map(|()| Done::default())
    }

    /// Takes a node down. One that stands still could not stop in order.
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

    fn place(&self, end: Option<u16>) -> Result<Endpoint, String> {
        let Some(node) = end else {
            return Ok(Endpoint::Controller);
        };
        match self.cluster.node_ids().any(|known| known == id(node)) {
            true => Ok(Endpoint::Node(id(node))),
            false => Err(NodeError::Unknown(id(node)).to_string()),
        }
    }

    fn cut(&mut self, way: LinkBetween) -> Result<(), String> {
        self.cluster.cut(self.place(way.from)?, self.place(way.to)?);
        self.cuts.push(way);
        Ok(())
    }

    fn mend(&mut self, way: LinkBetween) -> Result<(), String> {
        let Some(index) = self.cuts.iter().position(|cut| *cut == way) else {
            return Err("this connection is not cut".to_owned());
        };
        self.cuts.swap_remove(index);
        self.cluster
            .mend_way(self.place(way.from)?, self.place(way.to)?);
        Ok(())
    }

    fn set_fault(&mut self, instruction: &Instruction) -> Result<(), String> {
        let Instruction::SetFault {
            key,
            node,
            api,
            times,
            seed,
            what,
        } = instruction
        else {
            return Err("this does not set a fault".to_owned());
        };
        if self.faults.contains_key(key) {
            return Err(format!("fault {key} already exists"));
        }
        let fault = InjectedFault {
            api: match api {
                Some(name) => Some(named(api_names(), name)?),
                None => None,
            },
            action: action_of(what)?,
            times: *times,
            seed: *seed,
        };
        let set = self.cluster.fault(node.map(id), fault).map_err(words)?;
        self.faults.insert(*key, set);
        Ok(())
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

    /// As after the start, whatever was done.
    fn restore(&mut self) -> Result<(), String> {
        self.note_stopped();
        self.faults.clear();
        self.cluster.clear_faults(None).map_err(words)?;
        self.cuts.clear();
        self.cluster.mend();
        for node in std::mem::take(&mut self.paused) {
            // One that has died meanwhile starts again below.
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
        let look = |node: NodeId| {
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
            nodes: self.cluster.node_ids().map(look).collect(),
            ..Done::default()
        })
    }
}

impl Instrument {
    /// What each node has counted. Nobody waits for a node.
    fn count(&self) -> Done {
        let told = |node: NodeId| {
            let number = u16::try_from(node.0).unwrap_or(0);
            let told = match self.paused.contains(&number) {
                true => Err("it stands still".to_owned()),
                false => self.cluster.counts(node).map_err(words),
            };
            NodeReport { node: number, told }
        };
        Done {
            counts: self.cluster.node_ids().map(told).collect(),
            ..Done::default()
        }
    }
}

fn named<N: AsRef<str>, T>(mut all: impl Iterator<Item = (N, T)>, name: &str) -> Result<T, String> {
    let found = all.find(|(known, _)| known.as_ref() == name);
    found
        .map(|(_, value)| value)
        .ok_or_else(|| format!("unknown name {name}"))
}

fn action_of(what: &RequestFault) -> Result<FaultAction, String> {
    Ok(match what {
        RequestFault::Delay(delay) => FaultAction::Delay(delay_of(delay)),
        RequestFault::Stall { length_ns } => FaultAction::Stall(Duration::from_nanos(*length_ns)),
        RequestFault::Fail { error } => FaultAction::Fail(named(error_names(), error)?),
        RequestFault::Drop(DropPoint::Before) => FaultAction::CloseBefore,
        RequestFault::Drop(DropPoint::After) => FaultAction::CloseAfter,
        RequestFault::Capacity(capacity) => FaultAction::Capacity(capacity_of(capacity)),
    })
}

fn delay_of(delay: &DelayPlan) -> Delay {
    let time = Duration::from_nanos;
    match delay {
        DelayPlan::Constant(ns) => Delay::Constant(time(*ns)),
        DelayPlan::Uniform { low_ns, high_ns } => Delay::Uniform {
            low: time(*low_ns),
            high: time(*high_ns),
        },
        DelayPlan::Exponential { mean_ns } => Delay::Exponential {
            mean: time(*mean_ns),
        },
        DelayPlan::Quantiles(points) => {
            let points = points.iter().map(|(part, ns)| (*part, time(*ns)));
            Delay::Quantiles(points.collect())
        }
    }
}

/// The delays, in nanoseconds, that a node of the embedded cluster draws one after the other for the
/// requests that a delay strikes: who knows the seed of [`Instruction::SetFault`] knows each of them.
pub fn delays_drawn(delay: &DelayPlan, seed: u64, node: u16) -> impl Iterator<Item = u64> {
    let drawn = delay_of(delay).draws(seed, id(node));
    drawn.map(|delay| u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX))
}

fn capacity_of(plan: &CapacityPlan) -> Capacity {
    let capacity = match plan.unit {
        CapacityUnit::Bytes => Capacity::bytes(plan.per_second),
        CapacityUnit::Records => Capacity::records(plan.per_second),
    };
    match plan.burst {
        Some(burst) => capacity.with_burst(burst),
        None => capacity,
    }
}

#[cfg(test)]
mod tests {
    use kgauge_scenario::{ERROR_NAMES, FAULT_APIS};

    use super::*;

    #[test]
    fn scenarios_know_the_apis_that_are_served_and_no_others() {
        let served: Vec<String> = api_names().map(|(name, _)| name).collect();
        assert_eq!(served, FAULT_APIS);
    }

    #[test]
    fn scenarios_know_the_errors_of_the_protocol() {
        let known: Vec<&str> = error_names().map(|(name, _)| name).collect();
        assert_eq!(known, ERROR_NAMES);
        let error = "NO_SUCH_ERROR".to_owned();
        assert!(action_of(&RequestFault::Fail { error }).is_err());
    }
}
