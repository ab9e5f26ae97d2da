//! The agents of a run: connected once, used for all of its repeats.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kgauge_client::Interrupt;

use super::clock_probe::SharedClockTrack;
use super::error::AgentsError;
use super::gather::{JoinListener, listening};
use super::launch::{LaunchedAgent, LaunchedAgents};
use super::link::{AgentEvent, LeadLink};
use super::parallel::in_parallel;
use super::ssh::RemoteProgram;
use crate::agent::OutgoingFrames;
use crate::channel::AgentChannel;
use crate::monotonic_clock::MonotonicClock;
use crate::protocol::{AgentMessage, LeadMessage};
use crate::spec::{AgentsLost, AgentsSpec};
use crate::token::AgentToken;

/// Where the threads of connections leave what agents send, by the index of the agent.
pub(super) type EventSender = SyncSender<(usize, AgentEvent)>;

/// Events of all agents that may wait for the run.
const EVENTS_MAX: usize = 1_024;

/// How long processes of this machine may take to join.
const LOCAL_PATIENCE: Duration = Duration::from_secs(30);

/// How long agents on hosts may take, once the program is there.
const SSH_PATIENCE: Duration = Duration::from_secs(60);

/// How long agents that somebody else starts may take.
const JOIN_PATIENCE: Duration = Duration::from_secs(600);

/// How often Ctrl-C is noticed during waits.
const POLL: Duration = Duration::from_millis(50);

/// How often the lead checks for agents that join, and for processes that ended.
const JOIN_POLL: Duration = Duration::from_millis(20);

/// How often the user learns who is missing.
const REPORT: Duration = Duration::from_secs(2);

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

/// Agents that join by themselves.
struct AwaitedAgents<'a> {
    listener: JoinListener<'a>,
    count: usize,
    patience: Duration,
}

/// One agent, as the lead sees it.
pub(super) struct PoolAgent {
    /// In messages and in the report.
    pub(super) name: String,
    pub(super) outgoing: OutgoingFrames,
    pub(super) track: SharedClockTrack,
    /// Load threads of the repeat that is prepared.
    pub(super) threads: u32,
    /// Its clock when the start was agreed.
    pub(super) start: Option<StartClock>,
    /// Why it is lost.
    pub(super) lost: Option<String>,
    /// Its first message has arrived.
    is_known: bool,
    link: Option<JoinHandle<()>>,
}

/// An agent's clock when the start of a repeat was agreed.
#[derive(Debug, Clone, Copy)]
pub(super) struct StartClock {
    /// The offset that the start was converted with.
    pub(super) offset_ns: i64,
    /// The error of the start.
    pub(super) bound_ns: u64,
    /// How often the clock had stepped.
    pub(super) steps: u32,
}

/// The agents of a run.
pub struct AgentPool {
    pub(super) agents: Vec<PoolAgent>,
    pub(super) events: Receiver<(usize, AgentEvent)>,
    pub(super) clock: MonotonicClock,
    pub(super) lost: AgentsLost,
    pub(super) is_local: bool,
    /// Numbers the preparations of repeats.
    pub(super) round: u32,
    launched: LaunchedAgents,
}

impl AgentPool {
    /// Gathers all agents and learns their clocks. `report` gets a line at least every two seconds.
    pub fn gather(
        setup: &AgentPoolSetup<'_>,
        report: &mut dyn FnMut(&str),
    ) -> Result<Self, AgentsError> {
        let (sender, events) = sync_channel(EVENTS_MAX);
        let mut pool = Self {
            agents: Vec::new(),
            events,
            clock: MonotonicClock,
            lost: setup.lost,
            is_local: setup.spec.is_local(),
            round: 0,
            launched: LaunchedAgents::default(),
        };
        pool.connect(setup, &sender, report)?;
        let count = pool.count();
        for (index, agent) in (0..).zip(&pool.agents) {
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

    /// Starts, awaits or calls all agents. Each has a thread as soon as it is there, so that both sides notice if the
    /// other one leaves while others are awaited.
    fn connect(
        &mut self,
        setup: &AgentPoolSetup<'_>,
        events: &EventSender,
        report: &mut dyn FnMut(&str),
    ) -> Result<(), AgentsError> {
        let local = || JoinListener::bind("127.0.0.1:0", setup.token);
        let (listener, count, patience) = match setup.spec {
            AgentsSpec::Local { count } => {
                let listener = local()?;
                for number in 0..*count {
                    let started =
                        LaunchedAgent::local(&setup.program, listener.address, setup.token, number);
                    self.launched.0.push(started?);
                }
                (listener, *count as usize, LOCAL_PATIENCE)
            }
            AgentsSpec::Listening { addresses } => {
                for (address, channel) in listening(addresses, setup.token, setup.interrupt)? {
                    self.add(address, channel, events)?;
                }
                return Ok(());
            }
            AgentsSpec::Joining { count, listen } => {
                let listener = JoinListener::bind(listen, setup.token)?;
                report(&format!(
                    "waiting for {count} agents at {}",
                    listener.address
                ));
                (listener, *count as usize, JOIN_PATIENCE)
            }
            AgentsSpec::Ssh { hosts } => {
                let listener = local()?;
                self.launched = on_hosts(setup, hosts, listener.address)?;
                (listener, hosts.len(), SSH_PATIENCE)
            }
            AgentsSpec::Kubernetes { .. } => {
                let kind = setup.spec.to_string();
                return Err(AgentsError::Unsupported { kind });
            }
        };
        let awaited = AwaitedAgents {
            listener,
            count,
            patience,
        };
        self.await_joined(awaited, setup.interrupt, events, report)
    }

    /// Waits until `count` agents are there. If one leaves meanwhile, another may take its place.
    fn await_joined(
        &mut self,
        mut awaited: AwaitedAgents<'_>,
        interrupt: &Interrupt,
        events: &EventSender,
        report: &mut dyn FnMut(&str),
    ) -> Result<(), AgentsError> {
        let begin = Instant::now();
        let mut next_report = begin + REPORT;
        loop {
            if interrupt.is_raised() {
                return Err(AgentsError::Interrupted);
            }
            self.check_launched()?;
            for (from, channel) in awaited.listener.joined(report)? {
                // More than `count` may arrive in the same turn.
                if self.present() < awaited.count {
                    self.add(from, channel, events)?;
                }
            }
            self.take_arrivals(report)?;
            let joined = self.present();
            if joined == awaited.count {
                return Ok(());
            }
            if begin.elapsed() > awaited.patience {
                return Err(AgentsError::Missing {
                    joined,
                    count: awaited.count,
                    seconds: awaited.patience.as_secs(),
                    last: match awaited.listener.last_refusal.as_str() {
                        "" => String::new(),
                        refusal => format!("\n  {refusal}"),
                    },
                });
            }
            if Instant::now() >= next_report {
                next_report += REPORT;
                let count = awaited.count;
                report(&format!("waiting for agents: {joined} of {count} joined"));
            }
            std::thread::sleep(JOIN_POLL);
        }
    }

    /// Starts the thread of a connection. An agent that left before makes place.
    fn add(
        &mut self,
        from: String,
        channel: AgentChannel,
        events: &EventSender,
    ) -> Result<(), AgentsError> {
        let free = self.agents.iter().position(|agent| agent.lost.is_some());
        let index = free.unwrap_or(self.agents.len());
        let (outgoing, frames) = OutgoingFrames::new();
        let track = SharedClockTrack::default();
        let link = LeadLink {
            agent: index,
            channel,
            clock: self.clock,
            track: track.clone(),
            outgoing: frames,
            events: events.clone(),
            undelivered: None,
        };
        let thread = std::thread::Builder::new().name("agent-link".to_owned());
        let thread = thread.spawn(move || link.run());
        let agent = PoolAgent {
            name: from,
            outgoing,
            track,
            threads: 0,
            start: None,
            lost: None,
            is_known: false,
            link: Some(thread.map_err(AgentsError::Thread)?),
        };
        match self.agents.get_mut(index) {
            Some(place) => *place = agent,
            None => self.agents.push(agent),
        }
        Ok(())
    }

    /// The number of agents that are there.
    fn present(&self) -> usize {
        let present = self.agents.iter().filter(|agent| agent.lost.is_none());
        present.count()
    }

    /// An error if a process that the lead started has ended.
    fn check_launched(&mut self) -> Result<(), AgentsError> {
        for agent in &mut self.launched.0 {
            if let Some(status) = agent.ended() {
                let name = agent.name.clone();
                return Err(AgentsError::Ended { name, status });
            }
        }
        Ok(())
    }

    /// Notes what agents said while others are awaited, and reports each that left.
    fn take_arrivals(&mut self, report: &mut dyn FnMut(&str)) -> Result<(), AgentsError> {
        while let Ok((index, event)) = self.events.try_recv() {
            match event {
                AgentEvent::Lost(why) => {
                    report(&format!("{} left: {why}", self.name(index)));
                    let _ = self.lose(index, why);
                }
                AgentEvent::Message(message) => self.take_hello(index, *message)?,
                AgentEvent::Slices(_) | AgentEvent::Evidence(_) | AgentEvent::Ledger(_) => {}
            }
        }
        Ok(())
    }

    fn await_hello(&mut self, interrupt: &Interrupt) -> Result<(), AgentsError> {
        let deadline = Instant::now() + HELLO_MAX;
        while let Some(missing) = self.agents.iter().position(|agent| !agent.is_known) {
            let Some((index, event)) = self.next_event(deadline, interrupt)? else {
                let why = "it did not introduce itself".to_owned();
                return Err(self.lose(missing, why));
            };
            match event {
                AgentEvent::Lost(why) => return Err(self.lose(index, why)),
                AgentEvent::Message(message) => self.take_hello(index, *message)?,
                AgentEvent::Slices(_) | AgentEvent::Evidence(_) | AgentEvent::Ledger(_) => {}
            }
        }
        Ok(())
    }

    /// Takes an agent's first message.
    fn take_hello(&mut self, index: usize, message: AgentMessage) -> Result<(), AgentsError> {
        let is_local = self.is_local;
        let Some(agent) = self.agents.get_mut(index).filter(|agent| !agent.is_known) else {
            return Ok(());
        };
        match message {
            AgentMessage::Busy => Err(AgentsError::Busy {
                name: agent.name.clone(),
            }),
            AgentMessage::Hello { host, version, .. } => {
                agent.is_known = true;
                agent.name = match is_local {
                    true => format!("agent {index}"),
                    false => format!("agent {index} ({}, {})", shown(&host), agent.name),
                };
                match version == env!("CARGO_PKG_VERSION") {
                    true => Ok(()),
                    false => Err(AgentsError::Version {
                        name: agent.name.clone(),
                        theirs: shown(&version),
                    }),
                }
            }
            _ => Ok(()),
        }
    }

    fn await_clocks(&mut self, interrupt: &Interrupt) -> Result<(), AgentsError> {
        let deadline = Instant::now() + HELLO_MAX;
        let is_unknown = |agent: &PoolAgent| agent.track.lock().exchanges() < EXCHANGES_MIN;
        while let Some(slowest) = self.agents.iter().position(is_unknown) {
            if interrupt.is_raised() {
                return Err(AgentsError::Interrupted);
            }
            if Instant::now() >= deadline {
                let why = "it did not answer clock probes".to_owned();
                return Err(self.lose(slowest, why));
            }
            let event = self.events.recv_timeout(Duration::from_millis(5));
            if let Ok((index, AgentEvent::Lost(why))) = event {
                return Err(self.lose(index, why));
            }
        }
        Ok(())
    }

    /// The next event of any agent; `None` at the deadline.
    pub(super) fn next_event(
        &mut self,
        deadline: Instant,
        interrupt: &Interrupt,
    ) -> Result<Option<(usize, AgentEvent)>, AgentsError> {
        loop {
            if interrupt.is_raised() {
                return Err(AgentsError::Interrupted);
            }
            match self.events.recv_timeout(POLL) {
                Ok(event) => return Ok(Some(event)),
                Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }

    /// Notes the loss of an agent. If it is still there, its load ends.
    pub(super) fn lose(&mut self, index: usize, why: String) -> AgentsError {
        if let Some(agent) = self.agents.get_mut(index) {
            agent.lost = Some(why.clone());
            agent.outgoing.end();
        }
        let name = self.name(index);
        AgentsError::Lost { name, why }
    }

    /// The name of an agent, for messages.
    pub(super) fn name(&self, index: usize) -> String {
        let agent = self.agents.get(index);
        agent.map_or_else(|| "an agent".to_owned(), |agent| agent.name.clone())
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
            true => self.launched.0.iter().map(LaunchedAgent::pid).collect(),
            false => Vec::new(),
        }
    }

    /// Ends the load of all agents, or lets them forget what they have prepared. Stopping again changes nothing.
    pub fn stop(&self) {
        self.send_all(&LeadMessage::Stop);
    }

    /// Sends a message to every agent that is connected.
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
) -> Result<LaunchedAgents, AgentsError> {
    let program = RemoteProgram::of(&setup.program)?;
    let tasks = hosts.iter().enumerate().map(|(number, host)| {
        let (program, host) = (program.clone(), host.clone());
        let (token, interrupt) = (setup.token.clone(), setup.interrupt.clone());
        move || program.start((number, &host), lead, &token, &interrupt)
    });
    Ok(LaunchedAgents(in_parallel(tasks, setup.interrupt)?))
}

/// A text of another machine, for messages: short and without control characters.
fn shown(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_control())
        .take(64)
        .collect()
}

#[cfg(test)]
impl AgentPool {
    /// Agents without connections, and where their events come from.
    pub(super) fn unconnected(names: &[&str]) -> (Self, EventSender) {
        let (sender, events) = sync_channel(EVENTS_MAX);
        let agents = names.iter().map(|name| PoolAgent {
            name: (*name).to_owned(),
            // Nobody takes what is sent.
            outgoing: OutgoingFrames::new().0,
            track: SharedClockTrack::default(),
            threads: 0,
            start: None,
            lost: None,
            is_known: false,
            link: None,
        });
        let pool = Self {
            agents: agents.collect(),
            events,
            clock: MonotonicClock,
            lost: AgentsLost::Fail,
            is_local: false,
            round: 0,
            launched: LaunchedAgents::default(),
        };
        (pool, sender)
    }
}

#[cfg(test)]
mod tests;
