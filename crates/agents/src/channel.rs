//! A connection between lead and agent: TLS over a socket, frames in both directions, one thread. Sending does not
//! wait, so a side that reads nothing keeps nobody from noticing that it is gone.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustls::{ClientConfig, ClientConnection, Connection, ServerConfig, ServerConnection};
use serde::Serialize;

use crate::protocol::{
    AgentFrame, AgentFrameError, AgentMessageError, FRAME_BYTES_MAX, FrameBuffer, FrameKind,
    GREETING_BYTES_MAX, Greeting, HandshakeError, PROOF_BYTES, PROTOCOL_VERSION, ProofSide,
    SESSION_KEY_LABEL, check, encode, encode_frame, proof,
};
use crate::tls;
use crate::token::AgentToken;

/// How long the handshakes of TLS and of the token may take together.
const HANDSHAKE_MAX: Duration = Duration::from_secs(5);

/// How long the other side may accept no bytes before it counts as gone.
const WRITE_MAX: Duration = Duration::from_secs(3);

/// How long the last bytes of a connection may take.
const CLOSE_MAX: Duration = Duration::from_millis(500);

/// With this many bytes in the queue, further frames wait where they are made.
const UNSENT_BYTES_MAX: usize = 1 << 20;

/// Why a connection to an agent or a lead is of no use any more.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// The other side closed the connection.
    #[error("the connection was closed")]
    Closed,
    /// The connection broke, or accepts no bytes.
    #[error("the connection broke: {0}")]
    Broken(io::Error),
    /// TLS failed: the other side does not speak it, or somebody changed bytes.
    #[error("the TLS session failed: {0}")]
    Tls(rustls::Error),
    /// There was no complete handshake in time.
    #[error("no answer within {} s", HANDSHAKE_MAX.as_secs())]
    Silent,
    /// The other side is refused, or refuses this one.
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    /// Bytes that are no frame.
    #[error("the other side broke the agent protocol: {0}")]
    Frame(#[from] AgentFrameError),
    /// A frame that is no message.
    #[error("the other side broke the agent protocol: {0}")]
    Message(#[from] AgentMessageError),
}

/// A connection on which both sides have proved that they know the token.
pub(crate) struct AgentChannel {
    socket: TcpStream,
    tls: Connection,
    frames: FrameBuffer,
    /// Encoded frames. TLS has taken the first `sent` bytes.
    unsent: Vec<u8>,
    sent: usize,
    /// Since when the other side accepts no bytes, if some wait.
    blocked: Option<Instant>,
    /// Why nothing can be sent any more.
    failure: Option<ChannelError>,
    heard: Instant,
    /// The other side has announced that nothing follows.
    is_over: bool,
}

impl AgentChannel {
    /// For the side that connected: it proves first.
    pub(crate) fn connected(
        socket: TcpStream,
        config: &Arc<ClientConfig>,
        token: &AgentToken,
        side: ProofSide,
    ) -> Result<Self, ChannelError> {
        let tls = ClientConnection::new(Arc::clone(config), tls::server_name());
        let mut channel = Self::over(socket, tls.map_err(ChannelError::Tls)?.into())?;
        let deadline = Instant::now() + HANDSHAKE_MAX;
        let key = channel.session_key(deadline)?;
        channel.greet(proof(token, side, &key), deadline)?;
        let greeting = channel.greeting(deadline)?;
        check(token, other(side), &key, &greeting)?;
        channel.frames.allow(FRAME_BYTES_MAX);
        Ok(channel)
    }

    /// For the side that listens.
    pub(crate) fn accepted(
        socket: TcpStream,
        config: &Arc<ServerConfig>,
        token: &AgentToken,
        side: ProofSide,
    ) -> Result<Self, ChannelError> {
        let tls = ServerConnection::new(Arc::clone(config)).map_err(ChannelError::Tls)?;
        let mut channel = Self::over(socket, tls.into())?;
        let deadline = Instant::now() + HANDSHAKE_MAX;
        let key = channel.session_key(deadline)?;
        let greeting = channel.greeting(deadline);
        let is_known =
            greeting.and_then(|greeting| Ok(check(token, other(side), &key, &greeting)?));
        match is_known {
            Ok(()) => channel.greet(proof(token, side, &key), deadline)?,
            Err(error) => {
                // So that the other side can print what is wrong: the version, and a proof that is right for nobody.
                if matches!(error, ChannelError::Handshake(_)) {
                    let _ = channel.greet([0; PROOF_BYTES], deadline);
                    channel.close();
                }
                return Err(error);
            }
        }
        channel.frames.allow(FRAME_BYTES_MAX);
        Ok(channel)
    }

    fn over(socket: TcpStream, tls: Connection) -> Result<Self, ChannelError> {
        socket.set_nodelay(true).map_err(ChannelError::Broken)?;
        let unblocked = socket.set_nonblocking(true);
        unblocked.map_err(ChannelError::Broken)?;
        Ok(Self {
            socket,
            tls,
            frames: FrameBuffer::new(GREETING_BYTES_MAX),
            unsent: Vec::new(),
            sent: 0,
            blocked: None,
            failure: None,
            heard: Instant::now(),
            is_over: false,
        })
    }

    /// Completes the TLS handshake; returns the key that only its two ends have.
    fn session_key(&mut self, deadline: Instant) -> Result<[u8; PROOF_BYTES], ChannelError> {
        while self.tls.is_handshaking() {
            self.pump()?;
            self.await_bytes(left(deadline)?)?;
        }
        self.drain(deadline)?;
        let key = [0; PROOF_BYTES];
        let key = self
            .tls
            .export_keying_material(key, SESSION_KEY_LABEL, None);
        key.map_err(ChannelError::Tls)
    }

    fn greet(&mut self, proof: [u8; PROOF_BYTES], deadline: Instant) -> Result<(), ChannelError> {
        let greeting = Greeting {
            version: PROTOCOL_VERSION,
            proof,
        };
        self.queue(FrameKind::Greeting, &greeting.encode())?;
        self.drain(deadline)
    }

    fn greeting(&mut self, deadline: Instant) -> Result<Greeting, ChannelError> {
        loop {
            if let Some(frame) = self.frames.take()? {
                return Ok(Greeting::decode(&frame)?);
            }
            self.await_bytes(left(deadline)?)?;
        }
    }

    /// Adds a message to what is sent.
    pub(crate) fn queue_message(&mut self, message: &impl Serialize) -> Result<(), ChannelError> {
        self.queue(FrameKind::Message, &encode(message)?)
    }

    /// Adds a frame to what is sent.
    pub(crate) fn queue(&mut self, kind: FrameKind, content: &[u8]) -> Result<(), ChannelError> {
        if self.sent > 0 {
            self.unsent.drain(..self.sent);
            self.sent = 0;
        }
        Ok(encode_frame(kind, content, &mut self.unsent)?)
    }

    /// Whether more frames may be queued.
    pub(crate) fn has_room(&self) -> bool {
        self.unsent.len().saturating_sub(self.sent) < UNSENT_BYTES_MAX
    }

    /// When bytes last arrived.
    pub(crate) fn heard(&self) -> Instant {
        self.heard
    }

    /// Sends what the socket accepts at once. A failure is returned by [`AgentChannel::receive`], after everything that
    /// has arrived.
    pub(crate) fn send_queued(&mut self) {
        if self.failure.is_none() {
            self.failure = self.pump().err();
        }
    }

    /// Sends what the socket accepts at once.
    ///
    /// # Errors
    /// Also if it has accepted nothing for [`WRITE_MAX`].
    fn pump(&mut self) -> Result<(), ChannelError> {
        loop {
            while self.tls.wants_write() {
                match self.tls.write_tls(&mut self.socket) {
                    Ok(0) => return Err(ChannelError::Closed),
                    Ok(_) => self.blocked = None,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        let since = *self.blocked.get_or_insert_with(Instant::now);
                        return match since.elapsed() > WRITE_MAX {
                            true => Err(ChannelError::Broken(io::ErrorKind::TimedOut.into())),
                            false => Ok(()),
                        };
                    }
                    Err(error) => return Err(ChannelError::Broken(error)),
                }
            }
            let rest = self.unsent.get(self.sent..).unwrap_or_default();
            if rest.is_empty() {
                self.unsent.clear();
                self.sent = 0;
                return Ok(());
            }
            // The session takes as much as its buffer has space for.
            let taken = self.tls.writer().write(rest);
            match taken.map_err(ChannelError::Broken)? {
                0 => return Ok(()),
                taken => self.sent += taken,
            }
        }
    }

    /// Waits until the operating system has everything.
    fn drain(&mut self, deadline: Instant) -> Result<(), ChannelError> {
        loop {
            self.pump()?;
            if !self.is_unsent() {
                return Ok(());
            }
            self.poll(PollFlags::OUT, left(deadline)?)?;
        }
    }

    fn is_unsent(&self) -> bool {
        self.sent < self.unsent.len() || self.tls.wants_write()
    }

    /// The next frame; `None` if none is complete within `wait`. Sends what is queued meanwhile.
    pub(crate) fn receive(&mut self, wait: Duration) -> Result<Option<AgentFrame>, ChannelError> {
        self.send_queued();
        if let Some(frame) = self.frames.take()? {
            return Ok(Some(frame));
        }
        match self.failure.take() {
            None => self.await_bytes(wait)?,
            Some(error) if matches!(self.pull(), Ok(true)) => self.failure = Some(error),
            Some(error) => return Err(error),
        }
        Ok(self.frames.take()?)
    }

    /// Reads once, if bytes arrive within `wait`.
    fn await_bytes(&mut self, wait: Duration) -> Result<(), ChannelError> {
        if self.pull()? {
            return Ok(());
        }
        let flags = match self.is_unsent() {
            true => PollFlags::IN | PollFlags::OUT,
            false => PollFlags::IN,
        };
        self.poll(flags, wait)?;
        self.pull()?;
        Ok(())
    }

    fn poll(&self, flags: PollFlags, wait: Duration) -> Result<(), ChannelError> {
        let limit = Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: wait.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(&self.socket, flags)], Some(&limit)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(ChannelError::Broken(error.into())),
        }
    }

    /// Reads once; false if nothing has arrived.
    fn pull(&mut self) -> Result<bool, ChannelError> {
        if self.is_over {
            return Err(ChannelError::Closed);
        }
        match self.tls.read_tls(&mut self.socket) {
            Ok(0) => return Err(ChannelError::Closed),
            Ok(_) => self.heard = Instant::now(),
            Err(error) if is_pause(&error) => return Ok(false),
            Err(error) => return Err(ChannelError::Broken(error)),
        }
        if let Err(error) = self.tls.process_new_packets() {
            // The other side learns why.
            let _ = self.pump();
            return Err(ChannelError::Tls(error));
        }
        let mut plain = [0_u8; 16 * 1024];
        loop {
            match self.tls.reader().read(&mut plain) {
                // What arrived before it is read first.
                Ok(0) => {
                    self.is_over = true;
                    return Ok(true);
                }
                Ok(bytes) => self.frames.push(plain.get(..bytes).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
                Err(error) => return Err(ChannelError::Broken(error)),
            }
        }
    }

    /// Sends what is queued, and announces that nothing follows. Waits for a moment at most.
    pub(crate) fn close(&mut self) {
        let deadline = Instant::now() + CLOSE_MAX;
        if self.drain(deadline).is_ok() {
            self.tls.send_close_notify();
            let _ = self.drain(deadline);
        }
    }
}

fn other(side: ProofSide) -> ProofSide {
    match side {
        ProofSide::Lead => ProofSide::Agent,
        ProofSide::Agent => ProofSide::Lead,
    }
}

fn left(deadline: Instant) -> Result<Duration, ChannelError> {
    let left = deadline.saturating_duration_since(Instant::now());
    match left.is_zero() {
        true => Err(ChannelError::Silent),
        false => Ok(left),
    }
}

fn is_pause(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn sockets() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connected = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (connected, listener.accept().unwrap().0)
    }

    type Ended = Result<AgentChannel, ChannelError>;

    /// A lead that connects to an agent, each with its token.
    fn pair(lead: AgentToken, agent: AgentToken) -> (Ended, Ended) {
        let (connected, accepted) = sockets();
        let server = tls::server().unwrap();
        let agent = std::thread::spawn(move || {
            AgentChannel::accepted(accepted, &server, &agent, ProofSide::Agent)
        });
        let client = tls::client().unwrap();
        let lead = AgentChannel::connected(connected, &client, &lead, ProofSide::Lead);
        (lead, agent.join().unwrap())
    }

    #[test]
    fn large_frames_pass_in_both_directions() {
        let token = AgentToken::random().unwrap();
        let (lead, agent) = pair(token.clone(), token);
        let (mut lead, mut agent) = (lead.unwrap(), agent.unwrap());
        let lines = vec![b'x'; 3 << 20];
        let expected = lines.clone();
        let sender = std::thread::spawn(move || {
            agent.queue(FrameKind::Slices, &lines).unwrap();
            assert!(!agent.has_room());
            agent
                .drain(Instant::now() + Duration::from_secs(30))
                .unwrap();
            agent
        });
        let frame = loop {
            if let Some(frame) = lead.receive(Duration::from_secs(5)).unwrap() {
                break frame;
            }
        };
        assert_eq!(frame.kind, FrameKind::Slices);
        assert!(frame.content == expected);
        let mut agent = sender.join().unwrap();
        lead.queue(FrameKind::Message, b"{}").unwrap();
        lead.close();
        let answer = loop {
            if let Some(frame) = agent.receive(Duration::from_secs(5)).unwrap() {
                break frame;
            }
        };
        assert_eq!(answer.content, b"{}");
        let closed = loop {
            match agent.receive(Duration::from_secs(5)) {
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        assert!(matches!(closed, ChannelError::Closed));
    }

    #[test]
    fn both_sides_name_a_wrong_token() {
        let (lead, agent) = pair(AgentToken::random().unwrap(), AgentToken::random().unwrap());
        for refused in [lead.err().unwrap(), agent.err().unwrap()] {
            let is_token = matches!(refused, ChannelError::Handshake(HandshakeError::Token));
            assert!(is_token, "{refused}");
        }
    }

    #[test]
    fn an_older_lead_is_refused_and_learns_both_versions() {
        let (connected, accepted) = sockets();
        let (server, token) = (tls::server().unwrap(), AgentToken::random().unwrap());
        let own = token.clone();
        let agent = std::thread::spawn(move || {
            AgentChannel::accepted(accepted, &server, &own, ProofSide::Agent).err()
        });
        let session = ClientConnection::new(tls::client().unwrap(), tls::server_name());
        let mut lead = AgentChannel::over(connected, session.unwrap().into()).unwrap();
        let deadline = Instant::now() + HANDSHAKE_MAX;
        let key = lead.session_key(deadline).unwrap();
        let old = Greeting {
            version: 0,
            proof: proof(&token, ProofSide::Lead, &key),
        };
        lead.queue(FrameKind::Greeting, &old.encode()).unwrap();
        lead.drain(deadline).unwrap();
        let answer = lead.greeting(deadline).unwrap();
        assert_eq!(answer.version, PROTOCOL_VERSION);
        let refused = agent.join().unwrap().unwrap();
        let expected = HandshakeError::Version { theirs: 0 };
        assert!(
            matches!(refused, ChannelError::Handshake(error) if error == expected),
            "{refused}"
        );
    }

    #[test]
    fn a_side_that_reads_nothing_still_reaches_the_other_one() {
        let token = AgentToken::random().unwrap();
        let (lead, agent) = pair(token.clone(), token);
        let (mut lead, mut agent) = (lead.unwrap(), agent.unwrap());
        // More than two sockets buffer: nobody reads it.
        let lines = vec![b'x'; 11 << 20];
        agent.queue(FrameKind::Slices, &lines).unwrap();
        agent.send_queued();
        assert!(agent.is_unsent());
        lead.queue_message(&"probe").unwrap();
        lead.send_queued();
        let probe = loop {
            if let Some(frame) = agent.receive(Duration::from_millis(100)).unwrap() {
                break frame;
            }
        };
        assert_eq!(probe.content, b"\"probe\"");
    }

    #[test]
    fn what_arrived_before_a_connection_broke_is_read() {
        let token = AgentToken::random().unwrap();
        let (lead, agent) = pair(token.clone(), token);
        let (mut lead, mut agent) = (lead.unwrap(), agent.unwrap());
        agent.queue_message(&"last words").unwrap();
        agent
            .drain(Instant::now() + Duration::from_secs(30))
            .unwrap();
        lead.failure = Some(ChannelError::Broken(io::ErrorKind::BrokenPipe.into()));
        drop(agent);
        let mut frames = Vec::new();
        let error = loop {
            match lead.receive(Duration::from_secs(5)) {
                Ok(frame) => frames.extend(frame),
                Err(error) => break error,
            }
        };
        assert_eq!(frames.len(), 1);
        assert_eq!(frames[0].content, b"\"last words\"");
        assert!(matches!(error, ChannelError::Broken(_)), "{error}");
    }

    #[test]
    fn foreign_bytes_end_the_connection_at_once() {
        let (mut connected, accepted) = sockets();
        connected.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let (server, token) = (tls::server().unwrap(), AgentToken::random().unwrap());
        let refused = AgentChannel::accepted(accepted, &server, &token, ProofSide::Agent);
        assert!(matches!(refused.err().unwrap(), ChannelError::Tls(_)));
    }
}
