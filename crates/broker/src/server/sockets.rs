//! The open connections of a node's thread: reading frames, serving them, writing answers.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io;
use std::sync::Arc;

use kgauge_wire::frame::FrameError;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use rustls::ServerConfig;

use super::closing::ClosingConnections;
use super::outbound::{BYTES_HELD_MAX, FlushOutcome, Outbound, RESPONSES_MAX};
use super::transport::{FILE_BUFFER_BYTES, Transport};
use crate::counts::Counters;
use crate::ids::ConnectionId;
use crate::inbound::{Inbound, Spare, frame_in};
use crate::node::{AnswerCounts, BrokerNode, EncodedResponse};
use crate::time::Now;

/// Bytes that one connection may read, and write, before the others have their turn.
const TURN_BYTES: usize = 1 << 20;

/// Size of the buffer into which connections without a partial request read.
const SCRATCH_BYTES: usize = 1 << 20;

/// Encrypted bytes that are read at once. rustls itself would read 4 KiB, a quarter of a record.
const WIRE_BYTES: usize = 64 << 10;

/// Bytes that partly received requests may hold, over all connections. There is always room for two
/// of the largest requests.
const PARTIAL_BYTES_MAX: usize = 256 << 20;

/// One client's connection.
#[derive(Debug)]
struct Socket {
    transport: Transport,
    inbound: Inbound,
    outbound: Outbound,
    /// The core does not know yet that the TLS handshake is done.
    securing: bool,
    /// The client was let in: its requests may be as large as any.
    trusted: bool,
    /// The system may have bytes for us: it reports that only once.
    readable: bool,
    /// The core or the client takes no more requests for now.
    stalled: bool,
    /// The client sends nothing more.
    hung_up: bool,
    /// It is in the queue of those that go on at once.
    queued: bool,
    last_used_ns: u64,
    /// Since when it has waited for its turn.
    ready_ns: u64,
}

/// What the system reports about reading from a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Readable {
    No,
    Yes,
    /// After what can be read there is nothing more.
    ToTheEnd,
}

/// Why a connection ends, seen from here. No response reports it to the client.
#[derive(Debug)]
enum End {
    Closed,
    Broken,
    /// It broke TLS's rules. An alert tells the client.
    Refused,
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::InvalidData => Self::Refused,
            _ => Self::Broken,
        }
    }
}

impl From<FrameError> for End {
    fn from(_: FrameError) -> Self {
        Self::Broken
    }
}

/// All connections of a node's thread.
pub(super) struct Sockets {
    open: HashMap<ConnectionId, Socket>,
    /// Those that can go on without waiting for the system.
    queue: VecDeque<ConnectionId>,
    scratch: Vec<u8>,
    /// Encrypted bytes on their way into `scratch`; empty without TLS.
    wire: Vec<u8>,
    spare: Spare,
    frame_bytes_max: usize,
    /// Set where the listener speaks TLS.
    tls: Option<Arc<ServerConfig>>,
    parting: ClosingConnections,
    counters: Option<Arc<Counters>>,
}

/// What is in the buffers is never shown.
impl fmt::Debug for Sockets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Sockets")
            .field("open", &self.open)
            .field("parting", &self.parting)
            .finish_non_exhaustive()
    }
}

impl Sockets {
    pub(super) fn new(
        frame_bytes_max: usize,
        tls: Option<Arc<ServerConfig>>,
        counters: Option<Arc<Counters>>,
    ) -> Self {
        Self {
            open: HashMap::new(),
            queue: VecDeque::new(),
            scratch: vec![0; SCRATCH_BYTES],
            wire: vec![0; if tls.is_some() { WIRE_BYTES } else { 0 }],
            spare: Spare::default(),
            frame_bytes_max,
            tls,
            parting: ClosingConnections::default(),
            counters,
        }
    }

    /// Takes over a new connection.
    pub(super) fn insert(
        &mut self,
        now: Now,
        registry: &Registry,
        id: ConnectionId,
        token: Token,
        mut stream: TcpStream,
    ) -> io::Result<()> {
        registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        let transport = Transport::new(stream, self.tls.as_ref())?;
        let socket = Socket {
            securing: self.tls.is_some(),
            trusted: false,
            transport,
            inbound: Inbound::default(),
            outbound: Outbound::default(),
            readable: true,
            stalled: false,
            hung_up: false,
            queued: false,
            last_used_ns: now.mono_ns,
            ready_ns: now.mono_ns,
        };
        self.open.insert(id, socket);
        Ok(())
    }

    /// Notes what the system reports about a connection.
    pub(super) fn ready(&mut self, now: Now, id: ConnectionId, readable: Readable) {
        if let Some(socket) = self.open.get_mut(&id) {
            socket.readable |= readable != Readable::No;
            socket.hung_up |= readable == Readable::ToTheEnd;
            if enqueue(&mut self.queue, id, socket) {
                socket.ready_ns = now.mono_ns;
            }
        } else if self.parting.has(id) {
            self.parting
                .go_on(id, &mut self.scratch[..FILE_BUFFER_BYTES]);
        }
    }

    /// When the next closing connection runs out of time.
    pub(super) fn parting_due_ns(&self) -> Option<u64> {
        self.parting.due_ns()
    }

    /// Ends closing connections that have run out of time.
    pub(super) fn end_parting(&mut self, now: Now) {
        self.parting.end_due(now);
    }

    /// Whether some connection can go on at once.
    pub(super) fn is_busy(&self) -> bool {
        !self.queue.is_empty()
    }

    /// How many connections have their turn now.
    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Gives the next connection its turn: writes what waits, then reads and serves.
    pub(super) fn turn(&mut self, now: Now, node: &mut BrokerNode) -> Option<ConnectionId> {
        let id = self.queue.pop_front()?;
        let socket = self.open.get_mut(&id)?;
        socket.queued = false;
        socket.last_used_ns = now.mono_ns;
        // What is left for another turn waits from now on.
        node.begin_turn(std::mem::replace(&mut socket.ready_ns, now.mono_ns));
        let counters = self.counters.as_deref();
        match flush(&mut self.queue, id, socket, &mut self.scratch, counters)
            .and_then(|()| self.read_and_serve(now, node, id))
        {
            Ok(()) => {}
            Err(End::Refused) => {
                self.part(now, id);
                node.closed(id);
            }
            Err(End::Closed | End::Broken) => {
                self.remove(id);
                node.closed(id);
            }
        }
        Some(id)
    }

    /// Puts an answer behind those that wait, without writing yet.
    pub(super) fn push(&mut self, id: ConnectionId, response: EncodedResponse) {
        if let Some(socket) = self.open.get_mut(&id) {
            socket.outbound.push(response);
        }
    }

    /// Writes what waits for a connection, and lets it go on if it had to wait for that.
    pub(super) fn flush(&mut self, node: &mut BrokerNode, id: ConnectionId) {
        let Some(socket) = self.open.get_mut(&id) else {
            return;
        };
        socket.outbound.send_from(node.last_read_ns());
        let counters = self.counters.as_deref();
        if flush(&mut self.queue, id, socket, &mut self.scratch, counters).is_err() {
            self.remove(id);
            node.closed(id);
        } else if socket.stalled && !socket.outbound.is_full() && !node.is_full(id) {
            socket.stalled = false;
            if enqueue(&mut self.queue, id, socket) {
                // It was not this thread that it has waited for.
                socket.ready_ns = u64::MAX;
            }
        }
    }

    /// Ends a connection after what can be written of its answers.
    pub(super) fn close(&mut self, id: ConnectionId) {
        if let Some(socket) = self.open.get_mut(&id) {
            // Whatever the client does not take at once is lost with the connection.
            let counters = self.counters.as_deref();
            let _ = flush(&mut self.queue, id, socket, &mut self.scratch, counters);
            socket.transport.shut();
        }
        self.remove(id);
    }

    /// Ends a connection after all of its answers, if the client takes them soon.
    pub(super) fn part(&mut self, now: Now, id: ConnectionId) {
        if let Some(socket) = self.open.remove(&id) {
            socket.inbound.discard(&mut self.spare);
            let buffer = &mut self.scratch[..FILE_BUFFER_BYTES];
            self.parting
                .add(now, id, socket.transport, socket.outbound, buffer);
        }
    }

    /// The connections that nobody has used since a moment.
    pub(super) fn unused_since(&self, before_ns: u64) -> Vec<ConnectionId> {
        let unused = self
            .open
            .iter()
            .filter(|(_, socket)| socket.last_used_ns < before_ns);
        unused.map(|(id, _)| *id).collect()
    }

    fn remove(&mut self, id: ConnectionId) {
        if let Some(socket) = self.open.remove(&id) {
            socket.inbound.discard(&mut self.spare);
        }
    }

    /// Reads and serves until nothing is there, the connection's turn is over, or it must wait.
    fn read_and_serve(
        &mut self,
        now: Now,
        node: &mut BrokerNode,
        id: ConnectionId,
    ) -> Result<(), End> {
        let mut left = TURN_BYTES;
        let before = node.answered();
        loop {
            let Some(socket) = self.open.get_mut(&id) else {
                return Ok(());
            };
            let most = self.frame_bytes_max;
            loop {
                let max = limit(node, id, &mut socket.trusted, most);
                let Some(frame) = socket.inbound.frame(max)? else {
                    break;
                };
                if is_stalled(node, id, socket) {
                    return stay(node, id, socket);
                }
                if is_answered_enough(node, before) {
                    enqueue(&mut self.queue, id, socket);
                    return Ok(());
                }
                node.request(now, id, socket.inbound.payload(frame.clone()));
                socket.inbound.served(&frame);
            }
            socket.inbound.release(&mut self.spare);
            if is_stalled(node, id, socket) {
                return stay(node, id, socket);
            }
            if !socket.readable {
                return Ok(());
            }
            if left == 0 {
                enqueue(&mut self.queue, id, socket);
                return Ok(());
            }
            let whole = socket.inbound.is_empty();
            let buffer = if whole {
                &mut self.scratch[..]
            } else {
                let max = limit(node, id, &mut socket.trusted, most);
                socket.inbound.room(max, &mut self.spare)?
            };
            let read = socket.transport.read(buffer, &mut self.wire);
            if socket.securing && !socket.transport.is_handshaking() {
                socket.securing = false;
                let subject = socket.transport.peer_subject()?;
                node.secured(id, subject.as_deref());
            }
            let count = match read {
                Ok(0) => return Err(End::Closed),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    socket.readable = false;
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            left = left.saturating_sub(count);
            if whole {
                let bytes = &mut self.scratch[..count];
                let served = serve_all(now, node, id, socket, bytes, most, before)?;
                let rest = &self.scratch[served..count];
                if !rest.is_empty() {
                    socket.inbound.keep(rest, &mut self.spare);
                }
            } else {
                socket.inbound.filled(count);
            }
            self.end_largest(node, id)?;
        }
    }

    /// Keeps the memory of partly received requests within its bound: the connection that holds most of
    /// it ends. A client that sends whole requests of a usual size never holds the most.
    fn end_largest(&mut self, node: &mut BrokerNode, current: ConnectionId) -> Result<(), End> {
        let bytes_max = PARTIAL_BYTES_MAX.max(self.frame_bytes_max.saturating_mul(2));
        while self.spare.lent_bytes() > bytes_max {
            let largest = self.open.iter().max_by_key(|(id, socket)| {
                let bytes = socket.inbound.buffer_bytes();
                (bytes, **id)
            });
            match largest.map(|(id, _)| *id) {
                Some(id) if id != current => {
                    self.remove(id);
                    node.closed(id);
                }
                _ => return Err(End::Closed),
            }
        }
        Ok(())
    }
}

/// What becomes of a connection of which no more requests may be served for now: one whose client has
/// left will take none of the answers that wait, so it ends.
fn stay(node: &BrokerNode, id: ConnectionId, socket: &Socket) -> Result<(), End> {
    let waits = !socket.outbound.is_empty() || node.owes_answers(id);
    if socket.hung_up && waits {
        return Err(End::Closed);
    }
    Ok(())
}

/// Serves the whole frames at the start of `bytes` and gives where they end.
fn serve_all(
    now: Now,
    node: &mut BrokerNode,
    id: ConnectionId,
    socket: &mut Socket,
    bytes: &mut [u8],
    frame_bytes_max: usize,
    before: AnswerCounts,
) -> Result<usize, End> {
    let mut start = 0;
    loop {
        let max = limit(node, id, &mut socket.trusted, frame_bytes_max);
        let Some(frame) = frame_in(&bytes[start..], max)? else {
            break;
        };
        if is_stalled(node, id, socket) || is_answered_enough(node, before) {
            break;
        }
        let end = start + frame.end;
        node.request(now, id, &mut bytes[start + frame.start..end]);
        start = end;
    }
    Ok(start)
}

/// The largest request that may come now.
fn limit(node: &BrokerNode, id: ConnectionId, trusted: &mut bool, most: usize) -> usize {
    if *trusted {
        return most;
    }
    *trusted = node.is_let_in(id);
    node.frame_bytes_max(id)
}

/// Whether no more requests of a connection may be served for now.
fn is_stalled(node: &BrokerNode, id: ConnectionId, socket: &mut Socket) -> bool {
    socket.stalled = socket.outbound.is_full() || node.is_full(id);
    socket.stalled
}

/// Whether so many answers have come of a turn that they must reach their connection first. Until then
/// nobody knows whether the client takes them, and small requests may want large answers.
fn is_answered_enough(node: &BrokerNode, before: AnswerCounts) -> bool {
    let now = node.answered();
    now.answers - before.answers >= RESPONSES_MAX as u64
        || now.bytes - before.bytes >= BYTES_HELD_MAX as u64
}

fn flush(
    queue: &mut VecDeque<ConnectionId>,
    id: ConnectionId,
    socket: &mut Socket,
    scratch: &mut [u8],
    counters: Option<&Counters>,
) -> Result<(), End> {
    if socket.outbound.is_empty() && !socket.transport.wants_write() {
        return Ok(());
    }
    let buffer = &mut scratch[..FILE_BUFFER_BYTES];
    let flushed = socket
        .outbound
        .flush(&mut socket.transport, buffer, TURN_BYTES)?;
    if let Some(counters) = counters {
        count_gone(&mut socket.outbound, counters);
    }
    if flushed == FlushOutcome::Turn {
        enqueue(queue, id, socket);
    }
    Ok(())
}

/// Counts the requests whose answers have gone.
fn count_gone(outbound: &mut Outbound, counters: &Counters) {
    let mut gone = outbound.gone().peekable();
    if gone.peek().is_some() {
        let now_ns = counters.now_ns();
        gone.for_each(|course| counters.answered(course, now_ns));
    }
}

/// Gives a connection a turn. False when it has one to come.
fn enqueue(queue: &mut VecDeque<ConnectionId>, id: ConnectionId, socket: &mut Socket) -> bool {
    let is_new = !std::mem::replace(&mut socket.queued, true);
    if is_new {
        queue.push_back(id);
    }
    is_new
}
