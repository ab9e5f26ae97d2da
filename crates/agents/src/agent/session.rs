//! One connection of an agent, from the lead's welcome to its end.

use std::fmt;
use std::sync::mpsc::{Receiver, channel};

use kgauge_client::Interrupt;

use super::context::AgentSession;
use super::execution::PreparedRepeat;
use super::link::{AgentLink, LinkEnd};
use super::outgoing::OutgoingFrames;
use crate::channel::AgentChannel;
use crate::monotonic_clock::MonotonicClock;
use crate::protocol::{AgentMessage, LeadMessage, PrepareOrder};

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

/// Serves a lead until the connection ends.
pub(super) fn serve(channel: AgentChannel) -> SessionEnd {
    let clock = MonotonicClock;
    let stop = Interrupt::new();
    let (outgoing, frames) = OutgoingFrames::new();
    let (incoming_sender, incoming) = channel_of_messages();
    let link = AgentLink {
        channel,
        clock,
        outgoing: frames,
        incoming: incoming_sender,
        stop: stop.clone(),
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
        stop,
    };
    session.answer_all();
    drop(session);
    let why = match thread.join() {
        Ok(LinkEnd::Bye) => return SessionEnd::RunOver,
        Ok(LinkEnd::Silent) => "it sent nothing for a second".to_owned(),
        Ok(LinkEnd::Failed(error)) => error.to_string(),
        Err(_) => "a thread of the agent crashed because of a bug in kgauge".to_owned(),
    };
    SessionEnd::LeadLost { why }
}

fn channel_of_messages() -> (std::sync::mpsc::Sender<LeadMessage>, Receiver<LeadMessage>) {
    channel()
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
        while let Ok(message) = self.incoming.recv() {
            match message {
                LeadMessage::Prepare(order) => {
                    // Whatever is left of a repeat before is closed first.
                    drop(prepared.take());
                    self.stop.lower();
                    prepared = self.prepare(*order);
                }
                LeadMessage::Start { at_ns } => {
                    if let Some(repeat) = prepared.take() {
                        repeat.run(self, at_ns);
                    }
                }
                LeadMessage::Stop => prepared = None,
                LeadMessage::Welcome { .. }
                | LeadMessage::ClockProbe { .. }
                | LeadMessage::BeginHold { .. }
                | LeadMessage::EndHold { .. }
                | LeadMessage::Bye => {}
            }
        }
    }

    /// Connects everything; the lead learns how that went.
    fn prepare(&self, order: PrepareOrder) -> Option<PreparedRepeat> {
        let (answer, prepared) = match PreparedRepeat::prepare(self, order) {
            Ok(repeat) => (AgentMessage::Prepared(repeat.facts()), Some(repeat)),
            Err(why) => (AgentMessage::PrepareFailed { why }, None),
        };
        let sent = self.outgoing.message(&answer);
        prepared.filter(|_| sent.is_ok())
    }
}

/// The name of this machine; empty if the system has none.
fn host_name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}
