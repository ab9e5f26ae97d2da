//! The thread of a lead's connection to one agent: clock probes, frames in both directions, silence.

use std::sync::mpsc::{Receiver, SyncSender, TryRecvError};
use std::time::{Duration, Instant};

use super::clock_probe::{ProbeTimer, SharedClockTrack};
use crate::agent::Outgoing;
use crate::channel::{AgentChannel, ChannelError};
use crate::clock::ClockExchange;
use crate::monotonic_clock::MonotonicClock;
use crate::protocol::{AgentFrame, AgentMessage, FrameKind, LeadMessage, decode};

/// How long frames of other threads may wait while nothing arrives.
const POLL: Duration = Duration::from_millis(20);

/// An agent answers every clock probe. One that sends nothing for this long is lost.
const SILENCE_MAX: Duration = Duration::from_secs(3);

/// A turn that took this long says that the lead did not run, not that the agent was silent.
const STALLED: Duration = Duration::from_secs(1);

/// What the run gets from an agent.
#[derive(Debug)]
pub(super) enum AgentEvent {
    /// A message.
    Message(Box<AgentMessage>),
    /// Lines of slices.
    Slices(Vec<u8>),
    /// Lines of evidence.
    Evidence(Vec<u8>),
    /// The connection is of no use any more.
    Lost(String),
}

/// The lead's side of a connection.
pub(super) struct LeadLink {
    pub(super) agent: usize,
    pub(super) channel: AgentChannel,
    pub(super) clock: MonotonicClock,
    pub(super) track: SharedClockTrack,
    pub(super) outgoing: Receiver<Outgoing>,
    pub(super) events: SyncSender<(usize, AgentEvent)>,
}

impl LeadLink {
    /// Runs until the connection ends.
    pub(super) fn run(mut self) {
        let why = match self.run_loop() {
            Ok(None) => None,
            Ok(Some(why)) => Some(why),
            Err(error) => Some(error.to_string()),
        };
        self.channel.close();
        if let Some(why) = why {
            let _ = self.events.send((self.agent, AgentEvent::Lost(why)));
        }
    }

    /// Returns why the agent is lost; nothing if the lead ended the connection.
    fn run_loop(&mut self) -> Result<Option<String>, ChannelError> {
        let mut probes = ProbeTimer::new();
        let (mut heard, mut turn) = (Instant::now(), Instant::now());
        loop {
            loop {
                match self.outgoing.try_recv() {
                    Ok(Outgoing::Frame(kind, content)) => self.channel.send(kind, &content)?,
                    Ok(Outgoing::End) | Err(TryRecvError::Disconnected) => {
                        self.channel.send_message(&LeadMessage::Bye)?;
                        return Ok(None);
                    }
                    Err(TryRecvError::Empty) => break,
                }
            }
            let now = Instant::now();
            if now.saturating_duration_since(turn) > STALLED {
                heard = now;
            }
            turn = now;
            if probes.is_due(now) {
                let sent_ns = self.clock.now_ns();
                let probe = LeadMessage::ClockProbe { sent_ns };
                self.channel.send_message(&probe)?;
            }
            match self.channel.receive(POLL.min(probes.left(now)))? {
                Some(frame) => {
                    let returned_ns = self.clock.now_ns();
                    heard = Instant::now();
                    if !self.take(frame, returned_ns)? {
                        return Ok(None);
                    }
                }
                None if heard.elapsed() > SILENCE_MAX => {
                    let seconds = SILENCE_MAX.as_secs();
                    return Ok(Some(format!("it sent nothing for {seconds} s")));
                }
                None => {}
            }
        }
    }

    /// False when nobody takes events any more.
    fn take(&self, frame: AgentFrame, returned_ns: u64) -> Result<bool, ChannelError> {
        let event = match frame.kind {
            FrameKind::Greeting => return Ok(true),
            FrameKind::Slices => AgentEvent::Slices(frame.content),
            FrameKind::Evidence => AgentEvent::Evidence(frame.content),
            FrameKind::Message => match decode(&frame.content)? {
                AgentMessage::ClockAnswer {
                    sent_ns,
                    received_ns,
                    answered_ns,
                } => {
                    self.track.add(&ClockExchange {
                        sent_ns,
                        received_ns,
                        answered_ns,
                        returned_ns,
                    });
                    return Ok(true);
                }
                message => AgentEvent::Message(Box::new(message)),
            },
        };
        Ok(self.events.send((self.agent, event)).is_ok())
    }
}
