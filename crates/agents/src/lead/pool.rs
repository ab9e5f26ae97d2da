//! The agents of a run: connected once, used for all of its repeats.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kgauge_client::Interrupt;

use super::clock_probe::SharedClockTrack;
use super::error::AgentsError;
use super::gather::{GatherContext, Gathered, JoinListener, listening};
use super::launch::LaunchedAgent;
use super::link::{AgentEvent, LeadLink};
use super::ssh::RemoteProgram;
use crate::agent::OutgoingFrames;
use crate::monotonic_clock::MonotonicClock;
use crate::protocol::{AgentMessage, LeadMessage};
use crate::spec::{AgentsLost, AgentsSpec};
use crate::token::AgentToken;

/// Events of all agents that may wait for the run.
const EVENTS_MAX: usize = 1_024;

/// How long processes of this machine may take to join.
const LOCAL_PATIENCE: Duration = Duration::from_secs(30);

/// How long agents on hosts may take, once the program is there.
const SSH_PATIENCE: Duration = Duration::from_secs(60);

/// How long agents that somebody else starts may take.
const JOIN_PATIENCE: Duration = Duration::from_secs(600);

/// How long an agent may take for its first message and its first clock answers.
const HELLO_MAX: Duration = Duration::from_secs(10);

/// Exchanges after which the offset of a clock is good enough to start.
const EXCHANGES_MIN: u64 = 10;

/// The inputs of a pool.
pub struct AgentPoolSetup<'a> {
    /// Which agents.
    pub spec: &'a AgentsSpec,
    /// What happens when one is lost.
    pub lost: AgentsLost,
    /// The secret that they share.
    pub token: &'a AgentToken,
    /// kgauge itself, to start agents with.
    pub program: PathBuf,
    /// The run.
    pub run_id: &'a str,
    /// Raised when the run must stop.
    pub interrupt: &'a Interrupt,
}

/// One agent, as the lead sees it.
pub(super) struct PoolAgent {
    /// In messages and in the report.
    pub(super) name: String,
    pub(super) outgoing: OutgoingFrames,
    pub(super) track: SharedClockTrack,
    /// Load threads of the repeat that is prepared.
    pub(super) threads: u32,
    /// The error of its start.
    pub(super) start_bound_ns: Option<u64>,
    /// Why it is lost.
    pub(super) lost: Option<String>,
    link: Option<JoinHandle<()>>,
}

/// The agents of a run.
pub struct AgentPool {
    pub(super) agents: Vec<PoolAgent>,
    pub(super) events: Receiver<(usize, AgentEvent)>,
    pub(super) clock: MonotonicClock,
    pub(super) lost: AgentsLost,
    pub(super) is_local: bool,
    launched: Vec<LaunchedAgent>,
}

impl AgentPool {
    /// Gathers all agents and learns their clocks. `report` gets a line at least every two seconds.
    pub fn gather(
        setup: &AgentPoolSetup<'_>,
        report: &mut dyn FnMut(&str),
    ) -> Result<Self, AgentsError> {
        let mut launched = Vec::new();
        let mut context = GatherContext {
            token: setup.token,
            interrupt: setup.interrupt,
            report,
        };
        let gathered = match setup.spec {
            AgentsSpec::Local { count } => {
                let listener = JoinListener::bind("127.0.0.1:0")?;
                for number in 0..*count {
                    let started =
                        LaunchedAgent::local(&setup.program, listener.address, setup.token, number);
                    launched.push(started?);
                }
                let count = *count as usize;
                listener.gather(count, LOCAL_PATIENCE, &mut launched, &mut context)?
            }
            AgentsSpec::Listening { addresses } => listening(addresses, setup.token)?,
            AgentsSpec::Joining { count, listen } => {
                let listener = JoinListener::bind(listen)?;
                let words = format!("waiting for {count} agents at {}", listener.address);
                (context.report)(&words);
                listener.gather(*count as usize, JOIN_PATIENCE, &mut [], &mut context)?
            }
            AgentsSpec::Ssh { hosts } => {
                let listener = JoinListener::bind("127.0.0.1:0")?;
                launched = on_hosts(setup, hosts, listener.address)?;
                listener.gather(hosts.len(), SSH_PATIENCE, &mut launched, &mut context)?
            }
            AgentsSpec::Kubernetes { .. } => {
                let kind = setup.spec.to_string();
                return Err(AgentsError::Unsupported { kind });
            }
        };
        Self::welcome(setup, gathered, launched)
    }

    /// Starts the connections' threads; waits until every agent has introduced itself and its clock is known.
    fn welcome(
        setup: &AgentPoolSetup<'_>,
        gathered: Vec<Gathered>,
        launched: Vec<LaunchedAgent>,
    ) -> Result<Self, AgentsError> {
        let (events_sender, events) = sync_channel(EVENTS_MAX);
        let mut pool = Self {
            agents: Vec::new(),
            events,
            clock: MonotonicClock,
            lost: setup.lost,
            is_local: setup.spec.is_local(),
            launched,
        };
        let count = u32::try_from(gathered.len()).unwrap_or(u32::MAX);
        for (index, (from, channel)) in (0..).zip(gathered) {
            let agent = pool.add(from, channel, events_sender.clone())?;
            let welcome = LeadMessage::Welcome {
                run_id: setup.run_id.to_owned(),
                index,
                count,
            };
            // A connection that has ended reports itself.
            let _ = agent.outgoing.message(&welcome);
        }
        pool.await_hello(setup.interrupt)?;
        pool.await_clocks(setup.interrupt)?;
        Ok(pool)
    }

    fn add(
        &mut self,
        from: String,
        channel: crate::channel::AgentChannel,
        events: SyncSender<(usize, AgentEvent)>,
    ) -> Result<&PoolAgent, AgentsError> {
        let (outgoing, frames) = OutgoingFrames::new();
        let track = SharedClockTrack::default();
        let link = LeadLink {
            agent: self.agents.len(),
            channel,
            clock: self.clock,
            track: track.clone(),
            outgoing: frames,
            events,
        };
        let thread = std::thread::Builder::new().name("agent-link".to_owned());
        let thread = thread.spawn(move || link.run());
        self.agents.push(PoolAgent {
            name: from,
            outgoing,
            track,
            threads: 0,
            start_bound_ns: None,
            lost: None,
            link: Some(thread.map_err(AgentsError::Thread)?),
        });
        let last = self.agents.last();
        last.ok_or_else(|| AgentsError::Thread(std::io::Error::other("no agent")))
    }

    fn await_hello(&mut self, interrupt: &Interrupt) -> Result<(), AgentsError> {
        let deadline = Instant::now() + HELLO_MAX;
        let mut missing = self.agents.len();
        while missing > 0 {
            let event = self.next_event(deadline, interrupt, "it did not introduce itself")?;
            let (index, AgentEvent::Message(message)) = event else {
                continue;
            };
            let AgentMessage::Hello { host, version, .. } = *message else {
                continue;
            };
            missing -= 1;
            let is_local = self.is_local;
            let Some(agent) = self.agents.get_mut(index) else {
                continue;
            };
            agent.name = match is_local {
                true => format!("agent {index}"),
                false => format!("agent {index} ({}, {})", shown(&host), agent.name),
            };
            if version != env!("CARGO_PKG_VERSION") {
                return Err(AgentsError::Version {
                    name: agent.name.clone(),
                    theirs: shown(&version),
                });
            }
        }
        Ok(())
    }

    fn await_clocks(&mut self, interrupt: &Interrupt) -> Result<(), AgentsError> {
        let deadline = Instant::now() + HELLO_MAX;
        while let Some(agent) = self
            .agents
            .iter()
            .find(|agent| agent.track.lock().exchanges() < EXCHANGES_MIN)
        {
            if interrupt.is_raised() {
                return Err(AgentsError::Interrupted);
            }
            if Instant::now() >= deadline {
                return Err(AgentsError::Lost {
                    name: agent.name.clone(),
                    why: "it did not answer clock probes".to_owned(),
                });
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// The next event of any agent. The loss of one is an error.
    pub(super) fn next_event(
        &mut self,
        deadline: Instant,
        interrupt: &Interrupt,
        silence: &str,
    ) -> Result<(usize, AgentEvent), AgentsError> {
        loop {
            if interrupt.is_raised() {
                return Err(AgentsError::Interrupted);
            }
            match self.events.recv_timeout(Duration::from_millis(50)) {
                Ok((index, AgentEvent::Lost(why))) => return Err(self.lose(index, why)),
                Ok(event) => return Ok(event),
                Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let name = "an agent".to_owned();
                    let why = silence.to_owned();
                    return Err(AgentsError::Lost { name, why });
                }
            }
        }
    }

    /// Notes the loss of an agent.
    pub(super) fn lose(&mut self, index: usize, why: String) -> AgentsError {
        let name = match self.agents.get_mut(index) {
            Some(agent) => {
                agent.lost = Some(why.clone());
                agent.name.clone()
            }
            None => "an agent".to_owned(),
        };
        AgentsError::Lost { name, why }
    }

    /// The number of agents, lost ones included.
    pub fn count(&self) -> u32 {
        u32::try_from(self.agents.len()).unwrap_or(u32::MAX)
    }

    /// Whether all of them run on this machine.
    pub fn is_local(&self) -> bool {
        self.is_local
    }

    /// Whether an agent is lost without which no load can go on.
    pub fn is_broken(&self) -> bool {
        let is_lost = |agent: &PoolAgent| agent.lost.is_some();
        match self.lost {
            AgentsLost::Fail => self.agents.iter().any(is_lost),
            AgentsLost::Tolerate => self.agents.iter().all(is_lost),
        }
    }

    /// The processes that were started on this machine.
    pub fn pids(&self) -> Vec<u32> {
        match self.is_local {
            true => self.launched.iter().map(LaunchedAgent::pid).collect(),
            false => Vec::new(),
        }
    }

    /// Sends a message to every agent that is there.
    pub(super) fn send_all(&self, message: &LeadMessage) {
        for agent in self.agents.iter().filter(|agent| agent.lost.is_none()) {
            // The thread of a connection that has ended reports that.
            let _ = agent.outgoing.message(message);
        }
    }
}

impl Drop for AgentPool {
    /// The agents learn that the run is over; processes that the lead started end.
    fn drop(&mut self) {
        for agent in &self.agents {
            agent.outgoing.end();
        }
        // A thread that waits to deliver an event goes on once nobody takes it.
        let (_, nothing) = sync_channel(1);
        drop(std::mem::replace(&mut self.events, nothing));
        for agent in &mut self.agents {
            if let Some(link) = agent.link.take() {
                let _ = link.join();
            }
        }
    }
}

/// Starts an agent on each host, all at the same time.
fn on_hosts(
    setup: &AgentPoolSetup<'_>,
    hosts: &[String],
    lead: std::net::SocketAddr,
) -> Result<Vec<LaunchedAgent>, AgentsError> {
    let program = RemoteProgram::of(&setup.program)?;
    let started: Vec<_> = std::thread::scope(|threads| {
        let starting = hosts.iter().map(|host| {
            let program = &program;
            threads.spawn(move || program.start(host, lead, setup.token))
        });
        let starting: Vec<_> = starting.collect();
        starting.into_iter().map(|thread| thread.join()).collect()
    });
    let panicked = |_| AgentsError::Thread(std::io::Error::other("a thread crashed"));
    let each = started.into_iter();
    each.map(|one| one.map_err(panicked).and_then(|one| one))
        .collect()
}

/// A text of another machine, for messages: short and without control characters.
fn shown(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_control())
        .take(64)
        .collect()
}
