//! One node and its controller, fed with the bytes of several clients by a fuzzer.
//!
//! Bytes come in pieces of any size and are assembled as in the server; answers are collected.
//! Time passes only on request.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kgauge_broker::controller::{Controller, ControllerOutput};
use kgauge_broker::ids::{ConnectionId, NodeId};
use kgauge_broker::image::NodeImage;
use kgauge_broker::inbound::{Inbound, Spare};
use kgauge_broker::node::{BrokerNode, Deviations, NodeConfig, NodeOutput, TURN_WORK_MAX};
use kgauge_broker::settings::ConfigMap;
use kgauge_broker::storage::{MemoryStorage, Operation, StorageError};
use kgauge_broker::time::{NS_PER_MS, Now};

const NODE: NodeId = NodeId(1);

/// The only node of a cluster.
pub struct SingleNodeHarness {
    node: BrokerNode,
    controller: Controller,
    now: Now,
    connections: BTreeMap<ConnectionId, Client>,
    opened: u64,
    spare: Spare,
}

/// Requests are not shown: they may hold passwords.
impl fmt::Debug for SingleNodeHarness {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SingleNodeHarness")
            .field("now", &self.now)
            .field("connections", &self.connections.len())
            .finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Client {
    inbound: Inbound,
    answers: Vec<u8>,
}

impl SingleNodeHarness {
    /// A serving node on a disk in memory.
    pub fn new() -> Result<Self, StorageError> {
        let storage = MemoryStorage::new();
        let settings = Arc::new(ConfigMap::new());
        let dir = Path::new("/c");
        let opened = Controller::open(&storage.shared(), dir, Arc::clone(&settings), 3);
        let controller = opened.map_err(|error| {
            let source = std::io::Error::other(error.to_string());
            StorageError::new(Operation::Read, dir, source)
        })?;
        let now = Now {
            mono_ns: NS_PER_MS,
            wall_ms: 1_700_000_000_000,
        };
        let config = NodeConfig {
            id: NODE,
            reachable: NodeImage {
                host: "here".to_owned(),
                port: 9092,
                rack: None,
                epoch: 0,
                life: 0,
            },
            dir: PathBuf::from("/n"),
            storage: storage.shared(),
            settings,
            seed: 5,
            stopped_in_order: true,
            damaged_logs: BTreeSet::new(),
            life: 1,
            deviations: Deviations::default(),
            turn_work_max: TURN_WORK_MAX,
            security: Arc::default(),
            counters: None,
        };
        let mut harness = Self {
            node: BrokerNode::new(now, config),
            controller,
            now,
            connections: BTreeMap::new(),
            opened: 0,
            spare: Spare::default(),
        };
        harness.settle()?;
        Ok(harness)
    }

    /// A client connects.
    pub fn connect(&mut self) -> ConnectionId {
        let id = ConnectionId(self.opened);
        self.opened += 1;
        self.connections.insert(id, Client::default());
        self.node.opened(self.now, id, Ipv4Addr::LOCALHOST.into());
        id
    }

    /// A client disconnects, even while it waits for answers.
    pub fn disconnect(&mut self, id: ConnectionId) -> Result<(), StorageError> {
        if let Some(client) = self.connections.remove(&id) {
            client.inbound.discard(&mut self.spare);
            self.node.closed(id);
        }
        self.settle()
    }

    /// Whether the node has not closed the connection.
    #[must_use]
    pub fn is_open(&self, id: ConnectionId) -> bool {
        self.connections.contains_key(&id)
    }

    /// Receives bytes of a client: any part of its requests. An error stops the node.
    pub fn receive(&mut self, id: ConnectionId, bytes: &[u8]) -> Result<(), StorageError> {
        if let Some(client) = self.connections.get_mut(&id) {
            client.inbound.keep(bytes, &mut self.spare);
        }
        self.serve(id)?;
        self.settle()
    }

    /// The answers since the last call.
    pub fn take_answers(&mut self, id: ConnectionId) -> Vec<u8> {
        let client = self.connections.get_mut(&id);
        client
            .map(|client| std::mem::take(&mut client.answers))
            .unwrap_or_default()
    }

    /// Lets time pass, timer by timer.
    pub fn pass_ms(&mut self, ms: u32) -> Result<(), StorageError> {
        let end = Now {
            mono_ns: self.now.mono_ns + u64::from(ms) * NS_PER_MS,
            wall_ms: self.now.wall_ms + i64::from(ms),
        };
        while let Some(next_ns) = self.node.next_timer().filter(|next| *next <= end.mono_ns) {
            self.now.mono_ns = self.now.mono_ns.max(next_ns);
            let left_ms = (end.mono_ns - self.now.mono_ns) / NS_PER_MS;
            self.now.wall_ms = end.wall_ms - i64::try_from(left_ms).unwrap_or(0);
            self.node.tick(self.now);
            self.settle()?;
        }
        self.now = end;
        Ok(())
    }

    /// Serves the whole requests of a client, as long as the node takes them.
    fn serve(&mut self, id: ConnectionId) -> Result<(), StorageError> {
        let bytes_max = self.node.request_bytes_max();
        while let Some(client) = self.connections.get_mut(&id) {
            let frame = match client.inbound.frame(bytes_max) {
                Ok(frame) => frame.filter(|_| !self.node.is_full(id)),
                Err(_) => return self.disconnect(id),
            };
            let Some(frame) = frame else {
                client.inbound.release(&mut self.spare);
                return Ok(());
            };
            self.node
                .request(self.now, id, client.inbound.payload(frame.clone()));
            client.inbound.served(&frame);
            self.carry_out()?;
        }
        Ok(())
    }

    /// Delivers messages until there are none.
    fn settle(&mut self) -> Result<(), StorageError> {
        while self.carry_out()? {}
        Ok(())
    }

    /// Carries out the outputs of node and controller. False if there were none.
    fn carry_out(&mut self) -> Result<bool, StorageError> {
        let mut any = false;
        let mut resumed = Vec::new();
        for output in self.node.outputs().collect::<Vec<_>>() {
            any = true;
            match output {
                NodeOutput::Respond {
                    connection,
                    response,
                } => {
                    let bytes = response.to_bytes()?;
                    if let Some(client) = self.connections.get_mut(&connection) {
                        client.answers.extend(bytes);
                    }
                    resumed.push(connection);
                }
                NodeOutput::Close { connection, .. } => {
                    self.connections.remove(&connection);
                }
                NodeOutput::ToController(message) => {
                    self.controller.handle(self.now, NODE, message);
                }
                NodeOutput::Disk(job) => {
                    self.node.disk_done(self.now, job.run());
                }
                NodeOutput::Resume { connection } => resumed.push(connection),
                // There is no other node.
                NodeOutput::Notice(_) | NodeOutput::ToPeer { .. } => {}
                NodeOutput::Fatal(error) => return Err(error),
            }
        }
        for output in self.controller.outputs().collect::<Vec<_>>() {
            any = true;
            match output {
                ControllerOutput::Send(NODE, message) => self.node.controller(self.now, message),
                ControllerOutput::Fatal(error) => return Err(error),
                _ => {}
            }
        }
        for id in resumed {
            let waits = self.connections.get(&id);
            if waits.is_some_and(|client| !client.inbound.is_empty()) {
                self.serve(id)?;
            }
        }
        Ok(any)
    }
}

#[cfg(test)]
mod tests {
    use kgauge_wire::frame::put_request;
    use kgauge_wire::messages::api_versions::ApiVersionsRequest;

    use super::*;

    #[test]
    fn requests_in_pieces_are_answered_and_garbage_closes_only_its_connection() {
        let mut harness = SingleNodeHarness::new().unwrap();
        let (good, bad) = (harness.connect(), harness.connect());
        let mut frame = Vec::new();
        put_request(&mut frame, 3, 9, None, &ApiVersionsRequest::default()).unwrap();
        for byte in &frame {
            assert_eq!(harness.take_answers(good), [0; 0]);
            harness.receive(good, &[*byte]).unwrap();
        }
        harness.receive(bad, &[0xff; 9]).unwrap();
        assert!(harness.is_open(good) && !harness.is_open(bad));
        let answer = harness.take_answers(good);
        // Correlation id, no error.
        assert_eq!(answer[4..10], [0, 0, 0, 9, 0, 0]);
    }

    #[test]
    fn more_requests_than_may_wait_are_all_served() {
        let mut harness = SingleNodeHarness::new().unwrap();
        let id = harness.connect();
        let mut frame = Vec::new();
        for _ in 0..500 {
            put_request(&mut frame, 3, 9, None, &ApiVersionsRequest::default()).unwrap();
        }
        harness.receive(id, &frame).unwrap();
        let answers = harness.take_answers(id);
        let size = u32::from_be_bytes(*answers.first_chunk().unwrap()) as usize + 4;
        assert_eq!(answers.len(), 500 * size);
    }
}
