//! Gathers the connections of a run's agents, in either direction.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use kgauge_client::Interrupt;
use kgauge_client::config::Address;

use super::error::AgentsError;
use super::launch::LaunchedAgents;
use super::parallel::in_parallel;
use crate::agent::connect;
use crate::channel::{AgentChannel, ChannelError};
use crate::protocol::ProofSide;
use crate::slots::ConnectionSlots;
use crate::tls;
use crate::token::AgentToken;

/// How often the lead checks for connections, for Ctrl-C, and for processes that ended.
const POLL: Duration = Duration::from_millis(20);

/// How often the user learns who is missing.
const REPORT: Duration = Duration::from_secs(2);

/// Handshakes at the same time; more connections wait.
const HANDSHAKES_MAX: usize = 64;

/// A connection, and where it comes from.
pub(super) type Gathered = (String, AgentChannel);

/// What gathering reports, and when it ends.
pub(super) struct GatherContext<'a> {
    pub(super) token: &'a AgentToken,
    pub(super) interrupt: &'a Interrupt,
    pub(super) report: &'a mut dyn FnMut(&str),
}

/// Connects to agents that listen.
pub(super) fn listening(
    addresses: &[Address],
    context: &GatherContext<'_>,
) -> Result<Vec<Gathered>, AgentsError> {
    let config = tls::client()?;
    let tasks = addresses.iter().map(|address| {
        let (address, config) = (address.clone(), Arc::clone(&config));
        let token = context.token.clone();
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
    in_parallel(tasks, context.interrupt)
}

/// A listener for agents that join.
#[derive(Debug)]
pub(super) struct JoinListener {
    listener: TcpListener,
    pub(super) address: SocketAddr,
}

impl JoinListener {
    pub(super) fn bind(address: &str) -> Result<Self, AgentsError> {
        let failed = |source| AgentsError::Listen {
            address: address.to_owned(),
            source,
        };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }

    /// Waits until `count` agents have joined. Whoever does not know the token, or speaks another version, is refused,
    /// and the wait goes on.
    pub(super) fn gather(
        &self,
        count: usize,
        patience: Duration,
        launched: &mut LaunchedAgents,
        context: &mut GatherContext<'_>,
    ) -> Result<Vec<Gathered>, AgentsError> {
        let handshakes = Handshakes::new(context.token)?;
        let mut joined: Vec<Gathered> = Vec::new();
        let mut last_refusal = String::new();
        let begin = Instant::now();
        let mut next_report = begin + REPORT;
        while joined.len() < count {
            if context.interrupt.is_raised() {
                return Err(AgentsError::Interrupted);
            }
            for agent in &mut launched.0 {
                if let Some(status) = agent.ended() {
                    let name = agent.name.clone();
                    return Err(AgentsError::Ended { name, status });
                }
            }
            handshakes.accept(&self.listener)?;
            while let Ok((from, result)) = handshakes.results.try_recv() {
                match result {
                    Ok(channel) => joined.push((from, channel)),
                    Err(error) => {
                        let words = format!("refused {from}: {error}");
                        (context.report)(&words);
                        last_refusal = format!("\n  {words}");
                    }
                }
            }
            if begin.elapsed() > patience {
                return Err(AgentsError::Missing {
                    joined: joined.len(),
                    count,
                    seconds: patience.as_secs(),
                    last: last_refusal,
                });
            }
            if Instant::now() >= next_report {
                next_report += REPORT;
                let words = format!("waiting for agents: {} of {count} joined", joined.len());
                (context.report)(&words);
            }
            std::thread::sleep(POLL);
        }
        // They may have arrived in the same turn.
        joined.truncate(count);
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
