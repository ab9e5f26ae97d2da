//! The agent: answers a lead, generates its share of the load, streams what it measures.

mod context;
mod execution;
mod link;
mod order;
mod outgoing;
mod session;

use std::io;
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kgauge_client::config::Address;

use crate::channel::{AgentChannel, ChannelError};
use crate::protocol::ProofSide;
use crate::tls::{self, AgentTlsError};
use crate::token::AgentToken;

pub(crate) use outgoing::{Outgoing, OutgoingFrames};
pub use session::SessionEnd;

/// The pause before an agent tries again to reach a lead that is not there yet.
const JOIN_PAUSE: Duration = Duration::from_millis(250);

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

    /// Serves one lead after the other, for ever. `report` gets a line about each.
    pub fn serve(
        self,
        token: &AgentToken,
        report: &(dyn Fn(&str) + Sync),
    ) -> Result<(), AgentError> {
        let config = tls::server()?;
        std::thread::scope(|threads| {
            for socket in self.listener.incoming() {
                let Ok(socket) = socket else {
                    // Out of file descriptors: others will be closed.
                    std::thread::sleep(JOIN_PAUSE);
                    continue;
                };
                let config = Arc::clone(&config);
                threads.spawn(move || {
                    let from = socket.peer_addr();
                    let from = from.map_or_else(|_| "a lead".to_owned(), |from| from.to_string());
                    match AgentChannel::accepted(socket, &config, token, ProofSide::Agent) {
                        Ok(channel) => {
                            report(&format!("{from} connected"));
                            report(&format!("{from}: {}", session::serve(channel)));
                        }
                        Err(error) => report(&format!("refused {from}: {error}")),
                    }
                });
            }
        });
        Ok(())
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
            // Somebody else's port, or a lead that ends.
            Err(ChannelError::Closed | ChannelError::Broken(_)) if Instant::now() < deadline => {
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
