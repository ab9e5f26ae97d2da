//! A client's link to one broker, across all of its connections during a run.

use std::io;
use std::ops::{Deref, DerefMut, Range};

use kgauge_client::security::Channel;
use mio::{Registry, Token};

use crate::leaders::ClientSide;
use crate::link::Link;
use crate::outage::{BrokerLinkState, OutageKind};

/// Kafka's defaults of `reconnect.backoff.ms` and `reconnect.backoff.max.ms`.
const RECONNECT_NS_MIN: u64 = 50_000_000;
const RECONNECT_NS_MAX: u64 = 1_000_000_000;

/// Bytes of a response before its body: the correlation id.
pub(crate) const CORRELATION_BYTES: usize = 4;

/// The state of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// The control thread is connecting.
    Asked,
    /// A new connection is due at this time.
    Lost {
        reconnect_at_ns: u64,
    },
}

/// Why a connection was lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Loss {
    /// The broker closed it.
    #[error("the broker closed it")]
    Closed,
    /// The operating system's error.
    #[error("{0}")]
    System(String),
    /// The broker did not answer in time.
    #[error("no answer within request.timeout.ms")]
    TimedOut,
    /// A response cannot be decoded.
    #[error("{0}")]
    Malformed(String),
    /// The broker refused the request as a whole.
    #[error("{0}")]
    Refused(String),
}

impl Loss {
    /// An answer without a request.
    pub(crate) fn unexpected() -> Self {
        Self::Malformed("it sent an unexpected response".to_owned())
    }

    /// An answer to another request than the oldest one.
    pub(crate) fn out_of_order() -> Self {
        Self::Malformed("it sent responses out of order".to_owned())
    }
}

impl From<io::Error> for Loss {
    fn from(error: io::Error) -> Self {
        Self::System(error.to_string())
    }
}

/// An answer in the buffer of a link.
pub(crate) struct ArrivedAnswer {
    /// Where its bytes are, see [`Link::frame`].
    pub(crate) at: Range<usize>,
    pub(crate) correlation_id: Option<i32>,
}

/// A link, its broker, and the API version that both sides support.
#[derive(Debug)]
pub(crate) struct BrokerLink {
    broker_id: i32,
    link: Link,
    /// Connected before the run, not yet registered with the event loop.
    fresh: Option<Channel>,
    version: i16,
    state: State,
    losses: u32,
    muted_until_ns: u64,
    /// When the last bytes arrived, or the connection was made.
    heard_ns: u64,
    /// Since when the link waits for a response or a connection.
    waits_since_ns: Option<u64>,
}

impl BrokerLink {
    /// A link over a stream that has completed its handshake.
    pub(crate) fn connected(
        broker_id: i32,
        token: Token,
        frame_bytes_max: usize,
        channel: Channel,
        version: i16,
    ) -> Self {
        let link = Link::new(token, frame_bytes_max);
        let fresh = Some(channel);
        Self {
            broker_id,
            link,
            fresh,
            version,
            state: State::Open,
            losses: 0,
            muted_until_ns: 0,
            heard_ns: 0,
            waits_since_ns: None,
        }
    }

    /// A link to a broker that appeared during the run: to be connected at once.
    pub(crate) fn unconnected(broker_id: i32, token: Token, frame_bytes_max: usize) -> Self {
        Self {
            broker_id,
            link: Link::new(token, frame_bytes_max),
            fresh: None,
            version: 0,
            state: State::Lost { reconnect_at_ns: 0 },
            losses: 0,
            muted_until_ns: 0,
            heard_ns: 0,
            waits_since_ns: None,
        }
    }

    /// The broker's id.
    pub(crate) fn broker_id(&self) -> i32 {
        self.broker_id
    }

    /// The version of the client's API that both sides support.
    pub(crate) fn version(&self) -> i16 {
        self.version
    }

    /// Registers a stream from before the run with the event loop.
    pub(crate) fn register(&mut self, registry: &Registry) -> io::Result<()> {
        match self.fresh.take() {
            Some(channel) => self.link.open(channel, registry),
            None => Ok(()),
        }
    }

    /// There is a new connection.
    fn reconnected(
        &mut self,
        channel: Channel,
        version: i16,
        now_ns: u64,
        registry: &Registry,
    ) -> io::Result<()> {
        self.link.open(channel, registry)?;
        (self.heard_ns, self.waits_since_ns) = (now_ns, None);
        self.version = version;
        self.state = State::Open;
        self.losses = 0;
        Ok(())
    }

    /// As [`BrokerLink::reconnected`]; a connection that cannot be used is lost again.
    pub(crate) fn reconnect_or_lose(
        &mut self,
        channel: Channel,
        version: i16,
        now_ns: u64,
        registry: &Registry,
    ) {
        if self
            .reconnected(channel, version, now_ns, registry)
            .is_err()
        {
            self.lost(now_ns, registry);
        }
    }

    /// Reads once what the socket has; returns whether it may have more.
    pub(crate) fn receive(&mut self) -> Result<bool, Loss> {
        let arrived = self.link.read()?;
        if arrived.closed {
            Err(Loss::Closed)
        } else {
            Ok(arrived.more)
        }
    }

    /// The next whole answer that has arrived.
    pub(crate) fn next_answer(&mut self) -> Result<Option<ArrivedAnswer>, Loss> {
        let frame = self.link.next_frame();
        let frame = frame.map_err(|error| Loss::Malformed(error.to_string()))?;
        Ok(frame.map(|at| {
            let id = self
                .link
                .frame(at.clone())
                .first_chunk::<CORRELATION_BYTES>();
            ArrivedAnswer {
                correlation_id: id.map(|bytes| i32::from_be_bytes(*bytes)),
                at,
            }
        }))
    }

    /// The connection was lost or could not be made; another is tried after a growing pause.
    pub(crate) fn lost(&mut self, now_ns: u64, registry: &Registry) {
        self.link.close(registry);
        let pause_ns = (RECONNECT_NS_MIN << self.losses.min(5)).min(RECONNECT_NS_MAX);
        self.losses += 1;
        self.waits_since_ns.get_or_insert(now_ns);
        self.state = State::Lost {
            reconnect_at_ns: now_ns + pause_ns,
        };
    }

    /// Whether to request a new connection now; if so, it counts as requested.
    pub(crate) fn take_reconnect(&mut self, now_ns: u64) -> bool {
        let due =
            matches!(self.state, State::Lost { reconnect_at_ns } if reconnect_at_ns <= now_ns);
        if due {
            self.state = State::Asked;
        }
        due
    }

    /// When to request the next connection; never if there is one.
    pub(crate) fn reconnect_at_ns(&self) -> u64 {
        match self.state {
            State::Lost { reconnect_at_ns } => reconnect_at_ns,
            State::Open | State::Asked => u64::MAX,
        }
    }

    /// What the link shows of its broker. `owed_since_ns` is when the oldest unanswered request was sent, if its
    /// response is overdue by then.
    pub(crate) fn link_state(
        &mut self,
        side: ClientSide,
        owed_since_ns: Option<u64>,
        now_ns: u64,
    ) -> BrokerLinkState {
        if self.link.take_heard() {
            self.heard_ns = now_ns;
        }
        let cause = if self.link.is_open() {
            // A broker sends nothing while it throttles.
            let silent_from_ns = self.heard_ns.max(self.muted_until_ns);
            self.waits_since_ns = owed_since_ns.map(|at_ns| at_ns.max(silent_from_ns));
            OutageKind::Silent
        } else {
            OutageKind::Unconnected
        };
        BrokerLinkState {
            side,
            broker: self.broker_id,
            heard_ns: self.heard_ns,
            waits: self.waits_since_ns.map(|at_ns| (at_ns, cause)),
        }
    }

    /// The broker throttled this client (KIP-219): nothing is sent before then.
    pub(crate) fn mute_until(&mut self, until_ns: u64) {
        self.muted_until_ns = until_ns;
    }

    /// Whether a request can be sent now.
    pub(crate) fn is_usable(&self, now_ns: u64) -> bool {
        self.link.is_open() && self.muted_until_ns <= now_ns
    }

    /// When a throttled link can be used: never without a connection, now without a throttle (the link then waits for a
    /// response).
    pub(crate) fn usable_at_ns(&self, now_ns: u64) -> u64 {
        if self.link.is_open() && self.muted_until_ns > now_ns {
            self.muted_until_ns
        } else {
            u64::MAX
        }
    }
}

impl Deref for BrokerLink {
    type Target = Link;

    fn deref(&self) -> &Link {
        &self.link
    }
}

impl DerefMut for BrokerLink {
    fn deref_mut(&mut self) -> &mut Link {
        &mut self.link
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_between_connections_double_up_to_a_second() {
        let poll = mio::Poll::new().unwrap();
        let mut link = BrokerLink::unconnected(1, Token(1), 1_000);
        assert!(link.take_reconnect(0), "a new broker is connected at once");
        let mut pauses = Vec::new();
        for _ in 0..7 {
            link.lost(0, poll.registry());
            pauses.push(link.reconnect_at_ns() / 1_000_000);
            assert!(!link.take_reconnect(link.reconnect_at_ns() - 1));
            assert!(link.take_reconnect(link.reconnect_at_ns()));
            assert!(!link.take_reconnect(u64::MAX), "asked for once");
        }
        assert_eq!(pauses, [50, 100, 200, 400, 800, 1_000, 1_000]);
    }
}
