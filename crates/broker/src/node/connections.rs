//! The clients' connections as the core sees them: requests in order, answers in the same order.
//!
//! Each request takes the next slot of its connection. Slots fill in any order; what has filled at
//! the front is sent. So a fetch that waits holds back the answers after it and nothing else.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;

use kgauge_wire::api::ApiKey;

use super::{ClientSoftware, CloseReason, EncodedResponse, NodeOutput};
use crate::ids::ConnectionId;
use crate::security::{ANONYMOUS, Exchange};

/// Requests of one connection that may wait for their answers; then the server reads no more of it.
pub(crate) const SLOTS_MAX: usize = 64;

/// Bytes of answers that one connection may have behind an answer that waits; then the same.
const BYTES_MAX: usize = 4 << 20;

/// Where an answer belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ticket {
    pub(crate) connection: ConnectionId,
    slot: u64,
}

#[cfg(test)]
impl Ticket {
    /// A ticket of no connection.
    pub(crate) fn for_tests() -> Self {
        Self {
            connection: ConnectionId(0),
            slot: 0,
        }
    }
}

/// What a connection may do. Kafka's order: a TLS and a SASL handshake first, where the listener
/// wants them, then everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionStage {
    /// The TLS handshake goes on: nothing is served.
    Securing,
    /// The client must say by which mechanism it wants to come in.
    Naming,
    /// It must prove who it is, by `SaslAuthenticate`.
    Proving,
    /// The same, by messages without a request around them (`SaslHandshake` version 0).
    ProvingBare,
    /// Every API is served.
    Authenticated,
}

impl ConnectionStage {
    /// Whether a request of this API may be served.
    pub(crate) fn serves(self, api: ApiKey) -> bool {
        match self {
            Self::Securing | Self::ProvingBare => false,
            Self::Naming => matches!(api, ApiKey::ApiVersions | ApiKey::SaslHandshake),
            Self::Proving => api == ApiKey::SaslAuthenticate,
            Self::Authenticated => true,
        }
    }
}

/// What is known of one connection.
#[derive(Debug)]
pub(crate) struct ConnectionState {
    pub(crate) peer: IpAddr,
    pub(crate) stage: ConnectionStage,
    /// Who the client is, in Kafka's form: `User:name`.
    pub(crate) principal: Arc<str>,
    /// The library that it is made of.
    pub(crate) software: ClientSoftware,
    /// How it proves that, while it does.
    pub(crate) exchange: Option<Exchange>,
    /// It is throttled: nothing more is served for now.
    muted: bool,
    /// Slot number of the front of `slots`.
    first: u64,
    slots: VecDeque<Slot>,
    /// Bytes in memory of the answers in `slots`.
    bytes: usize,
}

#[derive(Debug)]
enum Slot {
    Waiting,
    Filled(EncodedResponse),
    /// Answered by silence: acks=0.
    Silent,
}

/// Answers that have left a node, since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct AnswerCounts {
    pub(crate) answers: u64,
    /// Of the parts that lie in memory.
    pub(crate) bytes: u64,
}

/// All connections of a node.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    open: HashMap<ConnectionId, ConnectionState>,
    pub(crate) answered: AnswerCounts,
}

impl Connections {
    pub(crate) fn opened(&mut self, id: ConnectionId, peer: IpAddr, stage: ConnectionStage) {
        let slots = VecDeque::new();
        self.open.insert(
            id,
            ConnectionState {
                peer,
                stage,
                principal: ANONYMOUS.into(),
                software: ClientSoftware::default(),
                exchange: None,
                muted: false,
                first: 0,
                slots,
                bytes: 0,
            },
        );
    }

    /// Forgets a connection. Answers that arrive later are dropped.
    pub(crate) fn closed(&mut self, id: ConnectionId) {
        self.open.remove(&id);
    }

    pub(crate) fn get(&self, id: ConnectionId) -> Option<&ConnectionState> {
        self.open.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: ConnectionId) -> Option<&mut ConnectionState> {
        self.open.get_mut(&id)
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether the connection has as many requests waiting as it may, or is throttled.
    pub(crate) fn is_full(&self, id: ConnectionId) -> bool {
        self.open.get(&id).is_some_and(|connection| {
            let full = connection.slots.len() >= SLOTS_MAX || connection.bytes >= BYTES_MAX;
            connection.muted || full
        })
    }

    /// Whether requests wait for their answers.
    pub(crate) fn owes_answers(&self, id: ConnectionId) -> bool {
        let connection = self.open.get(&id);
        connection.is_some_and(|connection| !connection.slots.is_empty())
    }

    /// Serves nothing more of a connection. False when that is so already.
    pub(crate) fn mute(&mut self, id: ConnectionId) -> bool {
        let connection = self.open.get_mut(&id);
        connection.is_some_and(|connection| !std::mem::replace(&mut connection.muted, true))
    }

    /// Serves a connection again. False when it is gone.
    pub(crate) fn unmute(&mut self, id: ConnectionId) -> bool {
        let connection = self.open.get_mut(&id);
        connection.is_some_and(|connection| std::mem::replace(&mut connection.muted, false))
    }

    /// Gives a request its place. `None` for a connection that is gone.
    pub(crate) fn take_slot(&mut self, id: ConnectionId) -> Option<Ticket> {
        let connection = self.open.get_mut(&id)?;
        let slot = connection.first + connection.slots.len() as u64;
        connection.slots.push_back(Slot::Waiting);
        Some(Ticket {
            connection: id,
            slot,
        })
    }

    /// Fills a slot (`None`: with silence) and sends what is ready at the front.
    pub(crate) fn fill(
        &mut self,
        ticket: Ticket,
        response: Option<EncodedResponse>,
        outputs: &mut Vec<NodeOutput>,
    ) {
        let Some(connection) = self.open.get_mut(&ticket.connection) else {
            return;
        };
        let place = ticket.slot.checked_sub(connection.first);
        let place = place.and_then(|place| usize::try_from(place).ok());
        let Some(slot) = place.and_then(|place| connection.slots.get_mut(place)) else {
            return;
        };
        connection.bytes += response.as_ref().map_or(0, EncodedResponse::memory_bytes);
        *slot = response.map_or(Slot::Silent, Slot::Filled);
        while let Some(slot) = connection.slots.pop_front() {
            match slot {
                Slot::Waiting => {
                    connection.slots.push_front(Slot::Waiting);
                    break;
                }
                Slot::Filled(response) => {
                    let bytes = response.memory_bytes();
                    connection.bytes -= bytes;
                    self.answered.answers += 1;
                    self.answered.bytes += bytes as u64;
                    outputs.push(NodeOutput::Respond {
                        connection: ticket.connection,
                        response,
                    });
                }
                Slot::Silent => {}
            }
            connection.first += 1;
        }
    }

    /// Ends a connection from this side.
    pub(crate) fn close(
        &mut self,
        id: ConnectionId,
        reason: CloseReason,
        outputs: &mut Vec<NodeOutput>,
    ) {
        if self.open.remove(&id).is_some() {
            outputs.push(NodeOutput::Close {
                connection: id,
                reason,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const ONE: ConnectionId = ConnectionId(1);

    fn open() -> Connections {
        let mut connections = Connections::default();
        connections.opened(
            ONE,
            Ipv4Addr::LOCALHOST.into(),
            ConnectionStage::Authenticated,
        );
        connections
    }

    fn fill(connections: &mut Connections, ticket: Ticket, byte: u8) -> Vec<Vec<u8>> {
        let mut outputs = Vec::new();
        connections.fill(
            ticket,
            Some(EncodedResponse::from(vec![byte])),
            &mut outputs,
        );
        sent(outputs)
    }

    fn sent(outputs: Vec<NodeOutput>) -> Vec<Vec<u8>> {
        let bytes = |output| match output {
            NodeOutput::Respond { response, .. } => response.to_bytes().unwrap(),
            other => panic!("{other:?}"),
        };
        outputs.into_iter().map(bytes).collect()
    }

    #[test]
    fn answers_leave_in_the_order_of_the_requests() {
        let mut connections = open();
        let tickets: Vec<Ticket> = (0..4)
            .map(|_| connections.take_slot(ONE).unwrap())
            .collect();
        assert!(fill(&mut connections, tickets[2], 2).is_empty());
        assert!(fill(&mut connections, tickets[1], 1).is_empty());
        assert_eq!(fill(&mut connections, tickets[0], 0), [[0], [1], [2]]);
        let next = connections.take_slot(ONE).unwrap();
        assert!(fill(&mut connections, next, 4).is_empty());
        assert_eq!(fill(&mut connections, tickets[3], 3), [[3], [4]]);
    }

    #[test]
    fn silence_takes_its_turn_like_an_answer() {
        let mut connections = open();
        let silent = connections.take_slot(ONE).unwrap();
        let answered = connections.take_slot(ONE).unwrap();
        assert!(fill(&mut connections, answered, 1).is_empty());
        let mut outputs = Vec::new();
        connections.fill(silent, None, &mut outputs);
        assert_eq!(sent(outputs), [[1]]);
    }

    #[test]
    fn an_answer_to_a_connection_that_is_gone_is_dropped() {
        let mut connections = open();
        let ticket = connections.take_slot(ONE).unwrap();
        connections.closed(ONE);
        assert!(fill(&mut connections, ticket, 0).is_empty());
        assert_eq!(connections.take_slot(ONE), None);
    }

    #[test]
    fn a_connection_is_full_at_its_limit() {
        let mut connections = open();
        let tickets: Vec<Ticket> = (0..SLOTS_MAX)
            .map(|_| connections.take_slot(ONE).unwrap())
            .collect();
        assert!(connections.is_full(ONE));
        fill(&mut connections, tickets[0], 0);
        assert!(!connections.is_full(ONE));
    }
}
