//! Gathers the connections of a run's agents, in either direction.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use kgauge_client::Interrupt;
use kgauge_client::config::Address;

use super::error::AgentsError;
use super::parallel::in_parallel;
use crate::agent::connect;
use crate::channel::{AgentChannel, ChannelError};
use crate::protocol::ProofSide;
use crate::slots::ConnectionSlots;
use crate::tls;
use crate::token::AgentToken;

/// Handshakes at the same time; more connections wait.
const HANDSHAKES_MAX: usize = 64;

/// A connection, and where it comes from.
pub(super) type Gathered = (String, AgentChannel);

/// Connects to agents that listen.
pub(super) fn listening(
    addresses: &[Address],
    token: &AgentToken,
    interrupt: &Interrupt,
) -> Result<Vec<Gathered>, AgentsError> {
    let config = tls::client()?;
    let tasks = addresses.iter().map(|address| {
        let (address, config) = (address.clone(), Arc::clone(&config));
        let token = token.clone();
        move || -> Result<Gathered, AgentsError> {
            let socket = connect(&address).map_err(|source| AgentsError::Connect {
                address: address.to_string(),
                source,
            })?;
            let channel = AgentChannel::connected(socket, &config, &token, ProofSide::Lead);
            let channel = channel.map_err(|source| AgentsError::Refused {
                address: address.to_string(),
                source,
            })?;
            Ok((address.to_string(), channel))
        }
    });
    in_parallel(tasks, interrupt)
}

/// A listener for agents that join.
pub(super) struct JoinListener<'a> {
    listener: TcpListener,
    pub(super) address: SocketAddr,
    handshakes: Handshakes<'a>,
    /// Why the last one was refused; empty if none was.
    pub(super) last_refusal: String,
}

impl<'a> JoinListener<'a> {
    pub(super) fn bind(address: &str, token: &'a AgentToken) -> Result<Self, AgentsError> {
        let failed = |source| AgentsError::Listen {
            address: address.to_owned(),
            source,
        };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self {
            listener,
            address,
            handshakes: Handshakes::new(token)?,
            last_refusal: String::new(),
        })
    }

    /// The agents that have joined since the last call. Whoever does not know the token, or speaks another version, is
    /// refused.
    pub(super) fn joined(
        &mut self,
        report: &mut dyn FnMut(&str),
    ) -> Result<Vec<Gathered>, AgentsError> {
        self.handshakes.accept(&self.listener)?;
        let mut joined = Vec::new();
        while let Ok((from, result)) = self.handshakes.results.try_recv() {
            match result {
                Ok(channel) => joined.push((from, channel)),
                Err(error) => {
                    self.last_refusal = format!("refused {from}: {error}");
                    report(&self.last_refusal);
                }
            }
        }
        Ok(joined)
    }
}

type Handshake = (String, Result<AgentChannel, ChannelError>);

/// Handshakes with whoever connects, each in its own thread.
struct Handshakes<'a> {
    token: &'a AgentToken,
    config: Arc<rustls::ServerConfig>,
    slots: ConnectionSlots,
    sender: Sender<Handshake>,
    results: Receiver<Handshake>,
}

impl<'a> Handshakes<'a> {
    fn new(token: &'a AgentToken) -> Result<Self, AgentsError> {
        let (sender, results) = channel();
        Ok(Self {
            token,
            config: tls::server()?,
            slots: ConnectionSlots::new(HANDSHAKES_MAX),
            sender,
            results,
        })
    }

    /// Begins with all connections that wait, as far as there are slots.
    fn accept(&self, listener: &TcpListener) -> Result<(), AgentsError> {
        while let Some(slot) = self.slots.take() {
            let Ok((socket, from)) = listener.accept() else {
                return Ok(());
            };
            let (config, token) = (Arc::clone(&self.config), self.token.clone());
            let sender = self.sender.clone();
            let thread = std::thread::Builder::new().name("agent-handshake".to_owned());
            let spawned = thread.spawn(move || {
                let channel = AgentChannel::accepted(socket, &config, &token, ProofSide::Lead);
                drop(slot);
                // The lead may have stopped waiting.
                let _ = sender.send((from.to_string(), channel));
            });
            spawned.map_err(AgentsError::Thread)?;
        }
        Ok(())
    }
}
