//! A connection to one broker: opened, authenticated, and used for one request at a time.

mod api_versions;
mod dial;
mod error;
mod foreign;
mod frame;
mod handshake;
mod old;
mod old_brokers;
mod probe;
mod reply;
mod sasl;

use std::io::Write;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use kgauge_wire::api::ApiKey;
use kgauge_wire::frame::put_request;
use kgauge_wire::messages::Request;

pub use api_versions::ApiVersions;
pub(crate) use error::time_words;
pub use error::{CallError, ConnectError};
pub use foreign::Foreign;
pub use old_brokers::OldBrokers;
pub use reply::Decoded;

use crate::config::{Address, ClientConfig};
use crate::interrupt::Interrupt;
use crate::security::Channel;
use frame::{FrameIoError, Patience};
use handshake::Peer;

/// A session is no longer used from this long before its end.
const SESSION_MARGIN: Duration = Duration::from_secs(1);

/// A blocking connection to a broker whose API versions are known.
///
/// After an error that leaves the stream in an unknown state (a timeout, a wrong correlation id, an invalid frame), it
/// [is broken](Connection::is_broken) and every further call fails.
#[derive(Debug)]
pub struct Connection {
    channel: Channel,
    address: Address,
    peer: SocketAddr,
    api_versions: ApiVersions,
    session_end: Option<Instant>,
    client_id: String,
    request_timeout: Duration,
    response_bytes_max: usize,
    interrupt: Interrupt,
    correlation_id: i32,
    request: Vec<u8>,
    broken: bool,
    used: Instant,
}

impl Connection {
    /// Connects within `socket.connection.setup.timeout.ms`, including the first exchange.
    pub fn connect(address: &Address, config: &ClientConfig) -> Result<Connection, ConnectError> {
        let limit = config.connection_setup_timeout;
        Connection::connect_within(address, config, limit, &Interrupt::new())
    }

    /// Connects within `limit`, unless `interrupt` is raised; later calls observe it too.
    pub fn connect_within(
        address: &Address,
        config: &ClientConfig,
        limit: Duration,
        interrupt: &Interrupt,
    ) -> Result<Connection, ConnectError> {
        let deadline = Instant::now() + limit;
        let open = || Connection::open(address, config, deadline, interrupt);
        let mut connection = open()?;
        if let Some(versions) = config.old_brokers.known(address) {
            return connection.authenticated(versions, config, deadline);
        }
        let recognise = || old::recognise(deadline, || open().ok());
        let answer = match handshake::exchange(&mut connection, deadline, recognise) {
            Ok(Peer::Tells(versions)) => {
                return connection.authenticated(versions, config, deadline);
            }
            Ok(Peer::Old(versions)) => Ok(versions),
            Err(error) => Err(error),
        };
        let (peer, is_tls) = (connection.peer, connection.channel.tls.is_some());
        // The unknown server may serve one connection at a time.
        drop(connection);
        let answer = match answer {
            Err(error @ ConnectError::Closed { .. }) => recognise().ok_or(error),
            other => other,
        };
        match answer {
            Ok(versions) => {
                config.old_brokers.note(address, &versions);
                open()?.authenticated(versions, config, deadline)
            }
            // It is known to use TLS, so that is not the explanation.
            Err(error) if is_tls => Err(error.over_tls()),
            Err(error) => Err(handshake::explain(error, peer, interrupt)),
        }
    }

    /// The same connection with the broker's API versions, authenticated if necessary.
    fn authenticated(
        mut self,
        versions: ApiVersions,
        config: &ClientConfig,
        deadline: Instant,
    ) -> Result<Connection, ConnectError> {
        self.api_versions = versions;
        if let Some(sasl) = &config.security.sasl {
            self.session_end = sasl::authenticate(&mut self, sasl, deadline)?;
        }
        Ok(self)
    }

    /// A connection before its first exchange.
    fn open(
        address: &Address,
        config: &ClientConfig,
        deadline: Instant,
        interrupt: &Interrupt,
    ) -> Result<Connection, ConnectError> {
        let dialled = dial::dial(address, config, deadline, interrupt);
        let (stream, peer) = dialled.inspect_err(|_| config.old_brokers.forget(address))?;
        let channel = Channel::open(stream, address, config, deadline, interrupt)?;
        Ok(Connection {
            channel,
            session_end: None,
            address: address.clone(),
            peer,
            api_versions: ApiVersions::default(),
            client_id: config.client_id.clone(),
            request_timeout: config.request_timeout,
            response_bytes_max: config.response_bytes_max,
            interrupt: interrupt.clone(),
            correlation_id: 0,
            request: Vec::new(),
            broken: false,
            used: Instant::now(),
        })
    }

    /// The broker's address as given.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The broker's API versions.
    pub fn api_versions(&self) -> &ApiVersions {
        &self.api_versions
    }

    /// Whether an error has left the stream in an unknown state, so that no further call can succeed.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// The time since the last exchange began.
    pub fn idle(&self) -> Duration {
        self.used.elapsed()
    }

    /// Whether one more request can succeed on it: it is not broken, and the broker's authentication of this client
    /// lasts until the end of that request. A new connection takes as many exchanges as a new authentication.
    pub(crate) fn is_usable(&self) -> bool {
        let limit = Instant::now() + self.request_timeout.min(SESSION_MARGIN);
        !self.broken && self.session_end.is_none_or(|end| end > limit)
    }

    pub(crate) fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    /// Sends a SASL message without a request around it; returns the response, or `None` without one.
    pub(crate) fn exchange_bare(&mut self, message: &[u8], deadline: Instant) -> Option<Vec<u8>> {
        let patience = Patience {
            deadline,
            interrupt: &self.interrupt,
        };
        let size = u32::try_from(message.len()).ok()?;
        let framed = zeroize::Zeroizing::new([&size.to_be_bytes(), message].concat());
        let answer = frame::write_all(&mut self.channel, &framed, patience)
            .and_then(|()| frame::read_bare(&mut self.channel, self.response_bytes_max, patience));
        self.broken = answer.is_err();
        answer.ok()
    }

    /// Replaces the interrupt flag of later calls.
    pub fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.interrupt = interrupt;
    }

    /// Sends `request` in the highest common version, and waits at most `request.timeout.ms` for its response.
    pub fn call<'a, R: Request<'a>>(&mut self, request: &R) -> Result<Decoded<R>, CallError> {
        self.call_between(request, R::VERSIONS, self.request_timeout)
    }

    /// The highest common version of `api` within `versions`, for requests whose content depends on it.
    pub fn version(&self, api: ApiKey, versions: RangeInclusive<i16>) -> Result<i16, CallError> {
        let ours = (*versions.start(), *versions.end());
        self.api_versions
            .highest_common(api, versions)
            .ok_or_else(|| CallError::Unsupported {
                broker: self.address.clone(),
                api,
                theirs: self.api_versions.range(api),
                ours,
            })
    }

    /// Sends `request` in exactly this version.
    pub fn call_version<'a, R: Request<'a>>(
        &mut self,
        request: &R,
        version: i16,
    ) -> Result<Decoded<R>, CallError> {
        self.call_between(request, version..=version, self.request_timeout)
    }

    /// Sends `request` in the highest common version within `versions`, and waits at most `limit`.
    pub fn call_between<'a, R: Request<'a>>(
        &mut self,
        request: &R,
        versions: RangeInclusive<i16>,
        limit: Duration,
    ) -> Result<Decoded<R>, CallError> {
        let version = self.version(R::KEY, versions)?;
        let start = Instant::now();
        let deadline = start + limit;
        let body = self
            .exchange(request, version, deadline)
            .map_err(|failure| {
                failure.into_call_error(
                    &self.address,
                    R::KEY,
                    version,
                    start.elapsed(),
                    self.response_bytes_max,
                )
            })?;
        let reply = Decoded::new(body, version, self.address.clone());
        if reply.correlation_id() != self.correlation_id {
            self.broken = true;
            return Err(CallError::Correlation {
                broker: self.address.clone(),
                api: R::KEY,
                expected: self.correlation_id,
                received: reply.correlation_id(),
            });
        }
        Ok(reply)
    }

    /// The socket, blocking and without timeouts, for the caller's own event loop. It has no unread bytes.
    pub fn into_channel(self) -> std::io::Result<Channel> {
        let mut channel = self.channel;
        channel.flush()?;
        channel.set_read_timeout(None)?;
        channel.set_write_timeout(None)?;
        Ok(channel)
    }

    /// Sends one frame and receives one. The caller must check the response's correlation id.
    fn exchange<'a, R: Request<'a>>(
        &mut self,
        request: &R,
        version: i16,
        deadline: Instant,
    ) -> Result<Vec<u8>, Failure> {
        self.send(request, version, deadline)?;
        self.receive(deadline)
    }

    fn send<'a, R: Request<'a>>(
        &mut self,
        request: &R,
        version: i16,
        deadline: Instant,
    ) -> Result<(), Failure> {
        if self.broken {
            return Err(Failure::Frame(FrameIoError::Closed {
                received: Vec::new(),
            }));
        }
        self.used = Instant::now();
        self.correlation_id = next_id(self.correlation_id);
        self.request.clear();
        put_request(
            &mut self.request,
            version,
            self.correlation_id,
            Some(&self.client_id),
            request,
        )
        .map_err(Failure::Encode)?;
        let patience = Patience {
            deadline,
            interrupt: &self.interrupt,
        };
        let sent = frame::write_all(&mut self.channel, &self.request, patience);
        self.broken = sent.is_err();
        sent.map_err(Failure::Frame)
    }

    /// The next frame. After a timeout without a single byte, it can be waited for again.
    fn receive(&mut self, deadline: Instant) -> Result<Vec<u8>, Failure> {
        let patience = Patience {
            deadline,
            interrupt: &self.interrupt,
        };
        let answer = frame::read_frame(&mut self.channel, self.response_bytes_max, patience);
        self.broken = answer.is_err();
        answer.map_err(Failure::Frame)
    }
}

/// Correlation ids count from 1 and stay positive.
fn next_id(id: i32) -> i32 {
    id.checked_add(1).unwrap_or(1)
}

/// Errors of an exchange, before the request is known.
enum Failure {
    Encode(kgauge_wire::codec::EncodeError),
    Frame(FrameIoError),
}

impl Failure {
    fn into_call_error(
        self,
        broker: &Address,
        api: ApiKey,
        version: i16,
        waited: Duration,
        bytes_max: usize,
    ) -> CallError {
        let broker = broker.clone();
        match self {
            Failure::Encode(error) => CallError::Encode {
                broker,
                api,
                version,
                error,
            },
            Failure::Frame(FrameIoError::Closed { .. }) => CallError::Closed { broker, api },
            Failure::Frame(FrameIoError::TimedOut { .. }) => CallError::TimedOut {
                broker,
                api,
                waited,
            },
            Failure::Frame(FrameIoError::Length { length, .. }) => CallError::Length {
                broker,
                api,
                bytes: length,
                bytes_max,
            },
            Failure::Frame(FrameIoError::Interrupted) => CallError::Interrupted { broker, api },
            Failure::Frame(FrameIoError::Io(error)) => CallError::Io { broker, api, error },
        }
    }
}
