//! The thread of an agent's connection: answers clock probes at once, and ends the load when the lead is gone.

use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::{Duration, Instant};

use kgauge_client::Interrupt;

use super::outgoing::Outgoing;
use crate::channel::{AgentChannel, ChannelError};
use crate::monotonic_clock::MonotonicClock;
use crate::protocol::{AgentMessage, FrameKind, LeadMessage, decode};

/// How long frames of other threads may wait while nothing arrives.
const POLL: Duration = Duration::from_millis(20);

/// A lead sends a clock probe ten times per second. Without any byte for this long it is gone: the load has to stop
/// within a second.
const SILENCE_MAX: Duration = Duration::from_millis(900);

/// A turn that took this long says that this process did not run, not that the lead was silent.
const STALLED: Duration = Duration::from_millis(300);

/// Why a connection ended.
#[derive(Debug)]
pub(super) enum LinkEnd {
    /// The lead said that the run is over.
    Bye,
    /// The lead sent nothing for too long.
    Silent,
    /// The connection failed.
    Failed(ChannelError),
}

/// An agent's side of a connection.
pub(super) struct AgentLink {
    pub(super) channel: AgentChannel,
    pub(super) clock: MonotonicClock,
    pub(super) outgoing: Receiver<Outgoing>,
    pub(super) incoming: Sender<LeadMessage>,
    /// Ends the load.
    pub(super) stop: Interrupt,
}

impl AgentLink {
    /// Runs until the connection ends. Whatever the reason is, no load goes on.
    pub(super) fn run(mut self) -> LinkEnd {
        let end = match self.run_loop() {
            Ok(end) => end,
            Err(error) => LinkEnd::Failed(error),
        };
        self.stop.raise();
        self.channel.close();
        end
    }

    fn run_loop(&mut self) -> Result<LinkEnd, ChannelError> {
        let mut heard = Instant::now();
        let mut turn = Instant::now();
        loop {
            loop {
                match self.outgoing.try_recv() {
                    Ok(Outgoing::Frame(kind, content)) => self.channel.send(kind, &content)?,
                    Ok(Outgoing::End) => return Ok(LinkEnd::Bye),
                    Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                }
            }
            let now = Instant::now();
            if now.saturating_duration_since(turn) > STALLED {
                heard = now;
            }
            turn = now;
            match self.channel.receive(POLL)? {
                Some(frame) => {
                    let received_ns = self.clock.now_ns();
                    heard = Instant::now();
                    if frame.kind != FrameKind::Message {
                        continue;
                    }
                    match decode(&frame.content)? {
                        LeadMessage::ClockProbe { sent_ns } => self.answer(sent_ns, received_ns)?,
                        LeadMessage::Bye => return Ok(LinkEnd::Bye),
                        message => {
                            if message == LeadMessage::Stop {
                                self.stop.raise();
                            }
                            // Nobody receives once the session has ended.
                            let _ = self.incoming.send(message);
                        }
                    }
                }
                None if heard.elapsed() > SILENCE_MAX => return Ok(LinkEnd::Silent),
                None => {}
            }
        }
    }

    fn answer(&mut self, sent_ns: u64, received_ns: u64) -> Result<(), ChannelError> {
        self.channel.send_message(&AgentMessage::ClockAnswer {
            sent_ns,
            received_ns,
            answered_ns: self.clock.now_ns(),
        })
    }
}
