//! Connections that get a last word: an answer, an alert. Closing at once would lose it when more
//! bytes of the client are on their way, for the system then breaks the connection off. So they are
//! shut on our side first, and what comes is dropped until the client goes too, or time is over.

use std::collections::{HashMap, VecDeque};
use std::io;

use super::outbound::{FlushOutcome, Outbound};
use super::transport::Transport;
use crate::ids::ConnectionId;
use crate::time::Now;

/// How long a client may take to hear its last word.
const PARTING_MS: i64 = 1_000;

/// Connections that may wait for that; the oldest goes when there are more.
const PARTING_MAX: usize = 1024;

/// Bytes that are dropped of one connection before it is broken off.
const DROPPED_BYTES_MAX: usize = 1 << 20;

/// What is dropped in one go.
const BUFFER_BYTES: usize = 16 << 10;

/// One of them.
#[derive(Debug)]
struct ClosingConnection {
    transport: Transport,
    outbound: Outbound,
    shut: bool,
    dropped_bytes: usize,
}

/// All of them, the oldest first.
#[derive(Debug, Default)]
pub(super) struct ClosingConnections {
    open: HashMap<ConnectionId, ClosingConnection>,
    due: VecDeque<(u64, ConnectionId)>,
}

impl ClosingConnections {
    /// Takes over a connection with what it still has to hear.
    pub(super) fn add(
        &mut self,
        now: Now,
        id: ConnectionId,
        transport: Transport,
        outbound: Outbound,
        buffer: &mut [u8],
    ) {
        let parted = ClosingConnection {
            transport,
            outbound,
            shut: false,
            dropped_bytes: 0,
        };
        self.open.insert(id, parted);
        self.due.push_back((now.after_ms(PARTING_MS), id));
        self.go_on(id, buffer);
        while self.open.len() > PARTING_MAX
            && let Some((_, oldest)) = self.due.pop_front()
        {
            self.open.remove(&oldest);
        }
    }

    /// Whether the connection is one of them.
    pub(super) fn has(&self, id: ConnectionId) -> bool {
        self.open.contains_key(&id)
    }

    /// Does what can be done for a connection of which the system has news.
    pub(super) fn go_on(&mut self, id: ConnectionId, buffer: &mut [u8]) {
        if let Some(parted) = self.open.get_mut(&id)
            && parted.go_on(buffer).is_err()
        {
            self.open.remove(&id);
        }
    }

    /// When the oldest has had its time.
    pub(super) fn due_ns(&self) -> Option<u64> {
        self.due.front().map(|(due_ns, _)| *due_ns)
    }

    /// Ends those that have had their time.
    pub(super) fn end_due(&mut self, now: Now) {
        while let Some((due_ns, id)) = self.due.front()
            && *due_ns <= now.mono_ns
        {
            self.open.remove(id);
            self.due.pop_front();
        }
    }
}

impl ClosingConnection {
    /// An error when nothing is left to do.
    fn go_on(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        if !self.shut {
            if self
                .outbound
                .flush(&mut self.transport, buffer, usize::MAX)?
                != FlushOutcome::All
            {
                return Ok(());
            }
            self.transport.shut();
            self.shut = true;
        }
        let most = buffer.len().min(BUFFER_BYTES);
        loop {
            match self.transport.discard(&mut buffer[..most]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.dropped_bytes += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if self.dropped_bytes > DROPPED_BYTES_MAX {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    }
}
