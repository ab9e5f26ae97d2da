//! Stops and starts brokers without waiting, so that other faults are on time.

use kgauge_faults::Fault;

use super::cluster::KafkaTarget;
use super::error::KafkaError;
use super::process::KafkaProcess;
use super::ready;
use crate::instrument::NodeState;

impl KafkaTarget {
    /// Stops a broker cleanly.
    pub fn begin_stop(&mut self, id: u16) -> Result<(), KafkaError> {
        self.running(id)?.ask_to_end();
        Ok(())
    }

    /// Starts a broker that has ended; a running one is stopped first and starts when it has ended
    /// ([`KafkaTarget::sample`]).
    pub fn begin_restart(&mut self, id: u16) -> Result<(), KafkaError> {
        let index = self.index(id)?;
        let Some(process) = self.processes.get_mut(index) else {
            return Ok(());
        };
        if !process.is_stopped {
            process.ask_to_end();
        }
        process.is_wanted = true;
        self.start_wanted()
    }

    /// Sets a fault of a broker's flushes, disk or clock.
    pub(crate) fn set_fault(&mut self, id: u16, fault: &Fault) -> Result<(), KafkaError> {
        self.running(id)?.is_failing |= fault.stops_node();
        self.equipment.set(id, fault, false)
    }

    /// Lifts it. A broker that it has stopped, or will stop because it noticed the fault, starts again.
    pub(crate) fn lift_fault(&mut self, id: u16, fault: &Fault) -> Result<(), KafkaError> {
        self.equipment.set(id, fault, true)?;
        let index = self.index(id)?;
        if let Some(process) = self.processes.get_mut(index)
            && fault.stops_node()
        {
            process.is_wanted = true;
        }
        self.start_wanted()
    }

    /// Lifts all faults, resumes frozen brokers and starts those that are down.
    pub(crate) fn restore(&mut self) -> Result<(), KafkaError> {
        self.equipment.restore()?;
        for (node, process) in self.nodes.iter().zip(&mut self.processes) {
            if process.is_paused {
                process.resume();
            }
            process.note_failed();
            process.is_wanted |= node.is_broker && process.is_stopped;
        }
        self.start_wanted()
    }

    /// The state of each broker. Starts brokers that have ended and are due to start again.
    pub fn sample(&mut self) -> Result<Vec<(u16, NodeState)>, KafkaError> {
        self.processes
            .iter_mut()
            .for_each(KafkaProcess::note_failed);
        self.start_wanted()?;
        self.note_registered();
        self.start_those_still_registered()?;
        let brokers = self.nodes.iter().zip(&mut self.processes);
        let brokers = brokers.filter(|(node, _)| node.is_broker);
        let states = brokers.map(|(node, process)| {
            let has_ended = process.ended().is_some();
            let state = NodeState::of_process(process.is_stopped, has_ended, process.is_starting);
            (node.id, state)
        });
        Ok(states.collect())
    }

    fn start_wanted(&mut self) -> Result<(), KafkaError> {
        let mut any = false;
        for (node, process) in self.nodes.iter().zip(&mut self.processes) {
            if process.is_wanted && process.ended().is_some() {
                process.start_again()?;
                self.equipment.note_process(node.id, process.id.pid);
                any = true;
            }
        }
        if any { self.keep_record() } else { Ok(()) }
    }

    /// A broker is registered when it knows all other brokers.
    fn note_registered(&mut self) {
        let modern = self.is_modern();
        let brokers = || self.nodes.iter().zip(&self.processes);
        let awake = |process: &KafkaProcess| !process.is_stopped && !process.is_paused;
        let expected = brokers()
            .filter(|(node, process)| node.is_broker && awake(process))
            .count();
        let registered: Vec<usize> = brokers()
            .enumerate()
            .filter(|(_, (_, process))| process.is_starting && awake(process))
            .filter(|(_, (node, _))| {
                ready::brokers_known_at_once(node.inner_port, modern) >= Some(expected)
            })
            .map(|(index, _)| index)
            .collect();
        for index in registered {
            if let Some(process) = self.processes.get_mut(index) {
                process.is_starting = false;
            }
        }
    }

    /// ZooKeeper keeps a killed broker's registration until its session ends; until then the new broker exits.
    fn start_those_still_registered(&mut self) -> Result<(), KafkaError> {
        let mut any = false;
        let nodes = self.nodes.iter().zip(&mut self.processes);
        for (node, process) in nodes.filter(|(_, one)| one.is_starting) {
            match process.check() {
                Err(error) if is_still_registered(&error) => {
                    process.start_again()?;
                    self.equipment.note_process(node.id, process.id.pid);
                    any = true;
                }
                checked => checked?,
            }
        }
        if any { self.keep_record() } else { Ok(()) }
    }
}

/// Whether a broker exited because ZooKeeper still has the previous one's registration.
fn is_still_registered(error: &KafkaError) -> bool {
    let reasons = ["NodeExists", "already registered", "ZkNodeExistsException"];
    matches!(error, KafkaError::Ended { log, .. } if reasons.iter().any(|reason| log.contains(reason)))
}
