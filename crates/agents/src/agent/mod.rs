//! The agent: answers a lead, generates its share of the load, streams what it measures.

mod context;
mod execution;
mod ledger_stream;
mod link;
mod machine_track;
mod order;
mod outgoing;
mod session;

use std::io;
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use kgauge_client::config::Address;
use rustls::ServerConfig;

use crate::channel::{AgentChannel, ChannelError};
use crate::protocol::ProofSide;
use crate::slots::ConnectionSlots;
use crate::tls::{self, AgentTlsError};
use crate::token::AgentToken;

pub(crate) use outgoing::{Outgoing, OutgoingFrames};
pub use session::SessionEnd;

/// The pause before an agent tries again to reach a lead that is not there yet.
const JOIN_PAUSE: Duration = Duration::from_millis(250);

/// Connections at the same time; more are closed at once.
const CONNECTIONS_MAX: usize = 64;

/// How long the run before may take to end. A lead waits a second longer before it takes an agent for lost.
const TURN_MAX: Duration = Duration::from_secs(2);

/// How often that is checked.
const TURN_POLL: Duration = Duration::from_millis(20);

/// How long one attempt to reach a lead may take.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// Why an agent ends.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: String,
        /// The system's message.
        source: io::Error,
    },
    /// The lead cannot be reached.
    #[error("cannot reach the lead at {lead}: {source}")]
    Connect {
        /// Its address.
        lead: Address,
        /// The system's message.
        source: io::Error,
    },
    /// The lead refuses this agent, or this agent the lead.
    #[error("the lead at {lead}: {source}")]
    Refused {
        /// Its address.
        lead: Address,
        /// Why.
        source: ChannelError,
    },
    /// There is no TLS.
    #[error(transparent)]
    Tls(#[from] AgentTlsError),
}

/// An agent that waits for leads.
#[derive(Debug)]
pub struct ListeningAgent {
    listener: TcpListener,
}

impl ListeningAgent {
    /// Listens on an address.
    pub fn bind(address: &str) -> Result<Self, AgentError> {
        let listener = TcpListener::bind(address).map_err(|source| AgentError::Listen {
            address: address.to_owned(),
            source,
        })?;
        Ok(Self { listener })
    }

    /// The address, with the port that the system chose.
    pub fn address(&self) -> Option<std::net::SocketAddr> {
        self.listener.local_addr().ok()
    }

    /// Serves one lead after the other, for ever. A lead that comes during the run of another one is refused: two
    /// loads in one process would disturb each other. `report` gets a line about each.
    pub fn serve(
        self,
        token: &AgentToken,
        report: &(dyn Fn(&str) + Sync),
    ) -> Result<(), AgentError> {
        let service = AgentService {
            config: tls::server()?,
            token,
            report,
            run: Mutex::new(()),
        };
        let slots = ConnectionSlots::new(CONNECTIONS_MAX);
        std::thread::scope(|threads| {
            for socket in self.listener.incoming() {
                let Ok(socket) = socket else {
                    // Out of file descriptors: others will be closed.
                    std::thread::sleep(JOIN_PAUSE);
                    continue;
                };
                let Some(slot) = slots.take() else {
                    continue;
                };
                let service = &service;
                let thread = std::thread::Builder::new().name("agent-session".to_owned());
                let spawned = thread.spawn_scoped(threads, move || {
                    service.serve(socket);
                    drop(slot);
                });
                if let Err(error) = spawned {
                    report(&format!("cannot start a thread: {error}"));
                }
            }
        });
        Ok(())
    }
}

/// What the connections of an agent that listens share.
struct AgentService<'a> {
    config: Arc<ServerConfig>,
    token: &'a AgentToken,
    report: &'a (dyn Fn(&str) + Sync),
    /// Locked during a run.
    run: Mutex<()>,
}

impl AgentService<'_> {
    fn serve(&self, socket: TcpStream) {
        let from = socket.peer_addr();
        let from = from.map_or_else(|_| "a lead".to_owned(), |from| from.to_string());
        let channel = AgentChannel::accepted(socket, &self.config, self.token, ProofSide::Agent);
        let channel = match channel {
            Ok(channel) => channel,
            Err(error) => return (self.report)(&format!("refused {from}: {error}")),
        };
        let Some(_run) = self.await_turn() else {
            session::refuse(channel);
            return (self.report)(&format!("refused {from}: another run uses this agent"));
        };
        (self.report)(&format!("{from} connected"));
        (self.report)(&format!("{from}: {}", session::serve(channel)));
    }

    /// Waits until the run before has ended; `None` if it goes on.
    fn await_turn(&self) -> Option<MutexGuard<'_, ()>> {
        let deadline = Instant::now() + TURN_MAX;
        loop {
            match self.run.try_lock() {
                Ok(turn) => return Some(turn),
                Err(TryLockError::Poisoned(error)) => return Some(error.into_inner()),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return None,
                Err(TryLockError::WouldBlock) => std::thread::sleep(TURN_POLL),
            }
        }
    }
}

/// Joins the run of a lead, which may not be there yet, and serves it to its end.
///
/// # Errors
/// The lead was not there within `patience`, or it and this agent do not fit together.
pub fn join(
    lead: &Address,
    token: &AgentToken,
    patience: Duration,
) -> Result<SessionEnd, AgentError> {
    let deadline = Instant::now() + patience;
    let config = tls::client()?;
    loop {
        let connected = connect(lead).map_err(|source| AgentError::Connect {
            lead: lead.clone(),
            source,
        });
        let socket = match connected {
            Ok(socket) => socket,
            Err(error) if Instant::now() >= deadline => return Err(error),
            Err(_) => {
                std::thread::sleep(JOIN_PAUSE);
                continue;
            }
        };
        return match AgentChannel::connected(socket, &config, token, ProofSide::Agent) {
            Ok(channel) => Ok(session::serve(channel)),
            // Somebody else's port, a lead that ends, or one that many agents join at the same time.
            Err(ChannelError::Closed | ChannelError::Broken(_) | ChannelError::Silent)
                if Instant::now() < deadline =>
            {
                std::thread::sleep(JOIN_PAUSE);
                continue;
            }
            Err(source) => Err(AgentError::Refused {
                lead: lead.clone(),
                source,
            }),
        };
    }
}

/// Connects to the first address of a name that answers.
pub(crate) fn connect(address: &Address) -> io::Result<TcpStream> {
    let found = (address.host.as_str(), address.port).to_socket_addrs()?;
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in found {
        match TcpStream::connect_timeout(&address, CONNECT_MAX) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}
