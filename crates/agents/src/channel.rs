//! A connection between lead and agent: TLS over a socket, frames in both directions, one thread.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

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
pub(crate) const HANDSHAKE_MAX: Duration = Duration::from_secs(5);

/// How long the other side may accept no bytes before it counts as gone.
const WRITE_MAX: Duration = Duration::from_secs(3);

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
    /// Reused for every frame that is sent.
    encoded: Vec<u8>,
    wait: Option<Duration>,
    /// The other side said that nothing follows.
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
        channel.greet(token, side, &key)?;
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
            Ok(()) => channel.greet(token, side, &key)?,
            Err(error) => {
                // So that the other side can print what is wrong: the version, without a proof.
                if matches!(error, ChannelError::Handshake(_)) {
                    channel.refuse();
                }
                return Err(error);
            }
        }
        channel.frames.allow(FRAME_BYTES_MAX);
        Ok(channel)
    }

    fn over(socket: TcpStream, tls: Connection) -> Result<Self, ChannelError> {
        socket.set_nodelay(true).map_err(ChannelError::Broken)?;
        let limited = socket.set_write_timeout(Some(WRITE_MAX));
        limited.map_err(ChannelError::Broken)?;
        Ok(Self {
            socket,
            tls,
            frames: FrameBuffer::new(GREETING_BYTES_MAX),
            encoded: Vec::new(),
            wait: None,
            is_over: false,
        })
    }

    /// Completes the TLS handshake; returns the key that only its two ends have.
    fn session_key(&mut self, deadline: Instant) -> Result<[u8; PROOF_BYTES], ChannelError> {
        while self.tls.is_handshaking() {
            self.flush()?;
            if !self.tls.is_handshaking() {
                break;
            }
            self.pull(left(deadline)?)?;
        }
        self.flush()?;
        let key = [0; PROOF_BYTES];
        let key = self
            .tls
            .export_keying_material(key, SESSION_KEY_LABEL, None);
        key.map_err(ChannelError::Tls)
    }

    fn greet(
        &mut self,
        token: &AgentToken,
        side: ProofSide,
        key: &[u8],
    ) -> Result<(), ChannelError> {
        let greeting = Greeting {
            version: PROTOCOL_VERSION,
            proof: proof(token, side, key),
        };
        self.send(FrameKind::Greeting, &greeting.encode())
    }

    /// A greeting whose proof is right for nobody.
    fn refuse(&mut self) {
        let greeting = Greeting {
            version: PROTOCOL_VERSION,
            proof: [0; PROOF_BYTES],
        };
        let _ = self.send(FrameKind::Greeting, &greeting.encode());
        self.tls.send_close_notify();
        let _ = self.flush();
    }

    fn greeting(&mut self, deadline: Instant) -> Result<Greeting, ChannelError> {
        loop {
            if let Some(frame) = self.frames.take()? {
                return Ok(Greeting::decode(&frame)?);
            }
            self.pull(left(deadline)?)?;
        }
    }

    /// Sends a message.
    pub(crate) fn send_message(&mut self, message: &impl Serialize) -> Result<(), ChannelError> {
        self.send(FrameKind::Message, &encode(message)?)
    }

    /// Sends a frame; returns when the operating system has it.
    pub(crate) fn send(&mut self, kind: FrameKind, content: &[u8]) -> Result<(), ChannelError> {
        self.encoded.clear();
        encode_frame(kind, content, &mut self.encoded)?;
        let encoded = std::mem::take(&mut self.encoded);
        let mut rest = encoded.as_slice();
        while !rest.is_empty() {
            // The session takes as much as its buffer has room for.
            let taken = self
                .tls
                .writer()
                .write(rest)
                .map_err(ChannelError::Broken)?;
            rest = rest.get(taken..).unwrap_or_default();
            self.flush()?;
        }
        self.encoded = encoded;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut self.socket) {
                Ok(0) => return Err(ChannelError::Closed),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(ChannelError::Broken(error)),
            }
        }
        Ok(())
    }

    /// The next frame; `None` if none is complete within `wait`.
    pub(crate) fn receive(&mut self, wait: Duration) -> Result<Option<AgentFrame>, ChannelError> {
        if let Some(frame) = self.frames.take()? {
            return Ok(Some(frame));
        }
        self.pull(wait)?;
        Ok(self.frames.take()?)
    }

    /// Reads once from the socket, if bytes arrive within `wait`.
    fn pull(&mut self, wait: Duration) -> Result<(), ChannelError> {
        if self.is_over {
            return Err(ChannelError::Closed);
        }
        // Zero would wait for ever.
        let wait = Some(wait.max(Duration::from_millis(1)));
        if self.wait != wait {
            let set = self.socket.set_read_timeout(wait);
            set.map_err(ChannelError::Broken)?;
            self.wait = wait;
        }
        match self.tls.read_tls(&mut self.socket) {
            Ok(0) => return Err(ChannelError::Closed),
            Ok(_) => {}
            Err(error) if is_pause(&error) => return Ok(()),
            Err(error) => return Err(ChannelError::Broken(error)),
        }
        if let Err(error) = self.tls.process_new_packets() {
            // The other side learns why.
            let _ = self.flush();
            return Err(ChannelError::Tls(error));
        }
        let mut plain = [0_u8; 16 * 1024];
        loop {
            match self.tls.reader().read(&mut plain) {
                // What arrived before it is read first.
                Ok(0) => {
                    self.is_over = true;
                    return Ok(());
                }
                Ok(bytes) => self.frames.push(plain.get(..bytes).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(ChannelError::Broken(error)),
            }
        }
    }

    /// Says that nothing follows.
    pub(crate) fn close(&mut self) {
        self.tls.send_close_notify();
        let _ = self.flush();
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
            agent.send(FrameKind::Slices, &lines).unwrap();
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
        lead.send(FrameKind::Message, b"{}").unwrap();
        let answer = loop {
            if let Some(frame) = agent.receive(Duration::from_secs(5)).unwrap() {
                break frame;
            }
        };
        assert_eq!(answer.content, b"{}");
        lead.close();
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
        lead.send(FrameKind::Greeting, &old.encode()).unwrap();
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
    fn foreign_bytes_end_the_connection_at_once() {
        let (mut connected, accepted) = sockets();
        connected.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let (server, token) = (tls::server().unwrap(), AgentToken::random().unwrap());
        let refused = AgentChannel::accepted(accepted, &server, &token, ProofSide::Agent);
        assert!(matches!(refused.err().unwrap(), ChannelError::Tls(_)));
    }
}
