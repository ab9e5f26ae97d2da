//! One connection of an agent, from the lead's welcome to its end.

use std::cell::RefCell;
use std::fmt;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use kgauge_client::Interrupt;

use super::context::{AgentSession, LeadRequest};
use super::execution::PreparedRepeat;
use super::link::{AgentLink, LinkEnd};
use super::outgoing::OutgoingFrames;
use crate::channel::AgentChannel;
use crate::monotonic_clock::MonotonicClock;
use crate::protocol::{AgentMessage, LeadMessage, PrepareOrder};

/// Messages of the lead that may wait. A lead sends a handful per repeat.
const INCOMING_MAX: usize = 64;

/// How long a refused lead may take to end the connection.
const REFUSE_MAX: Duration = Duration::from_secs(1);

/// How the connection with a lead ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionEnd {
    /// The lead ended the run.
    RunOver,
    /// The lead is gone; the load was stopped.
    LeadLost {
        /// In words.
        why: String,
    },
}

impl fmt::Display for SessionEnd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RunOver => formatter.write_str("the run is over"),
            Self::LeadLost { why } => {
                write!(formatter, "lost the lead: {why}; the load was stopped")
            }
        }
    }
}

/// Tells a lead that another one uses the agent.
pub(super) fn refuse(mut channel: AgentChannel) {
    if channel.queue_message(&AgentMessage::Busy).is_ok() {
        // The lead ends the connection once it has the message. Closing it before could cut the message off.
        let deadline = Instant::now() + REFUSE_MAX;
        while Instant::now() < deadline && channel.receive(REFUSE_MAX).is_ok() {}
    }
    channel.close();
}

/// Serves a lead until the connection ends.
pub(super) fn serve(channel: AgentChannel) -> SessionEnd {
    let clock = MonotonicClock;
    let (outgoing, frames) = OutgoingFrames::new();
    let (incoming_sender, incoming) = sync_channel(INCOMING_MAX);
    let link = AgentLink {
        channel,
        clock,
        outgoing: frames,
        incoming: incoming_sender,
        stop: Interrupt::new(),
    };
    let thread = std::thread::Builder::new().name("agent-link".to_owned());
    let thread = match thread.spawn(move || link.run()) {
        Ok(thread) => thread,
        Err(error) => {
            return SessionEnd::LeadLost {
                why: format!("cannot start a thread: {error}"),
            };
        }
    };
    let session = AgentSession {
        clock,
        outgoing,
        incoming,
        ceilings: RefCell::default(),
    };
    session.answer_all();
    drop(session);
    let why = match thread.join() {
        Ok(LinkEnd::Bye) => return SessionEnd::RunOver,
        Ok(LinkEnd::Silent) => "it sent nothing for a second".to_owned(),
        Ok(LinkEnd::Flooded) => "it sent too many messages".to_owned(),
        Ok(LinkEnd::Failed(error)) => error.to_string(),
        Err(_) => "a thread of the agent crashed because of a bug in kgauge".to_owned(),
    };
    SessionEnd::LeadLost { why }
}

impl AgentSession {
    /// Answers until the connection is over.
    fn answer_all(&self) {
        let hello = AgentMessage::Hello {
            host: host_name(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            processors: std::thread::available_parallelism().map_or(1, |all| all.get() as u32),
        };
        if self.outgoing.message(&hello).is_err() {
            return;
        }
        let mut prepared: Option<PreparedRepeat> = None;
        // A message that ended a load and is about the next one.
        let mut next: Option<LeadRequest> = None;
        while let Some(request) = next.take().or_else(|| self.incoming.recv().ok()) {
            match request.message {
                LeadMessage::Prepare { round, order } => {
                    // Whatever is left of a repeat before is closed first.
                    drop(prepared.take());
                    prepared = self.prepare(round, *order, request.stop);
                }
                LeadMessage::Start { at_ns, unix_ms } => {
                    next = self.start(prepared.take(), (at_ns, unix_ms));
                }
                LeadMessage::Stop => prepared = None,
                LeadMessage::Welcome { .. }
                | LeadMessage::ClockProbe { .. }
                | LeadMessage::BeginHold { .. }
                | LeadMessage::EndHold { .. }
                | LeadMessage::ClockShift { .. }
                | LeadMessage::EndEchoes
                | LeadMessage::Bye => {}
            }
        }
    }

    /// Connects everything; the lead learns how that went.
    fn prepare(&self, round: u32, order: PrepareOrder, stop: Interrupt) -> Option<PreparedRepeat> {
        let (answer, prepared) = match PreparedRepeat::prepare(self, order, stop) {
            Ok(repeat) => {
                let facts = repeat.facts();
                (AgentMessage::Prepared { round, facts }, Some(repeat))
            }
            Err(why) => (AgentMessage::PrepareFailed { round, why }, None),
        };
        let sent = self.outgoing.message(&answer);
        prepared.filter(|_| sent.is_ok())
    }

    /// Runs what is prepared. The lead waits for an answer to each start, also if nothing is left to be started.
    /// Returns a message that came too early.
    fn start(&self, prepared: Option<PreparedRepeat>, at: (u64, i64)) -> Option<LeadRequest> {
        match prepared {
            Some(repeat) => repeat.run(self, at),
            None => {
                // A lead that is gone needs no answer.
                let _ = self.outgoing.message(&AgentMessage::NotStarted);
                None
            }
        }
    }
}

/// The name of this machine; empty if the system has none.
fn host_name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}
