//! The thread of a lead's connection to one agent: clock probes, frames in both directions, silence.

use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError};
use std::time::{Duration, Instant};

use super::clock_probe::{ProbeTimer, SharedClockTrack};
use crate::agent::Outgoing;
use crate::channel::{AgentChannel, ChannelError};
use crate::clock::ClockExchange;
use crate::monotonic_clock::MonotonicClock;
use crate::protocol::{AgentFrame, AgentMessage, FrameKind, LeadMessage, decode};
use crate::silence::SilenceWatch;

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
    /// A chunk of a ledger.
    Ledger(Vec<u8>),
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
    /// What the run has no space for at the moment.
    pub(super) undelivered: Option<AgentEvent>,
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
        let lost = why.map(AgentEvent::Lost);
        // What came before is kept. Nobody takes it once the run is over.
        for event in self.undelivered.take().into_iter().chain(lost) {
            let _ = self.events.send((self.agent, event));
        }
    }

    /// Returns why the agent is lost; nothing if the lead ended the connection.
    fn run_loop(&mut self) -> Result<Option<String>, ChannelError> {
        let mut probes = ProbeTimer::new();
        let mut silence = SilenceWatch::new(SILENCE_MAX, STALLED, Instant::now());
        loop {
            while self.channel.has_room() {
                match self.outgoing.try_recv() {
                    Ok(Outgoing::Frame(kind, content)) => self.channel.queue(kind, &content)?,
                    Ok(Outgoing::End) | Err(TryRecvError::Disconnected) => {
                        self.channel.queue_message(&LeadMessage::Bye)?;
                        return Ok(None);
                    }
                    Err(TryRecvError::Empty) => break,
                }
            }
            let now = Instant::now();
            silence.turn(now);
            if probes.is_due(now) && self.channel.has_room() {
                let sent_ns = self.clock.now_ns();
                let probe = LeadMessage::ClockProbe { sent_ns };
                self.channel.queue_message(&probe)?;
            }
            let wait = POLL.min(probes.left(now));
            match self.deliver() {
                Delivery::Done => {}
                Delivery::Full => {
                    // The run is busy. Nothing is read meanwhile, and probes keep the agent's load alive.
                    silence.excuse(now);
                    self.channel.send_queued();
                    std::thread::sleep(wait);
                    continue;
                }
                Delivery::Nobody => return Ok(None),
            }
            match self.channel.receive(wait)? {
                Some(frame) => {
                    let returned_ns = self.clock.now_ns();
                    self.take(frame, returned_ns)?;
                }
                None if silence.is_over(self.channel.heard(), Instant::now()) => {
                    let seconds = SILENCE_MAX.as_secs();
                    return Ok(Some(format!("it sent nothing for {seconds} s")));
                }
                None => {}
            }
        }
    }

    /// Takes a frame: a clock answer at once, everything else for the run.
    fn take(&mut self, frame: AgentFrame, returned_ns: u64) -> Result<(), ChannelError> {
        self.undelivered = match frame.kind {
            FrameKind::Greeting => None,
            FrameKind::Slices => Some(AgentEvent::Slices(frame.content)),
            FrameKind::Evidence => Some(AgentEvent::Evidence(frame.content)),
            FrameKind::Ledger => Some(AgentEvent::Ledger(frame.content)),
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
                    None
                }
                message => Some(AgentEvent::Message(Box::new(message))),
            },
        };
        Ok(())
    }

    /// Gives the run what it has no space for so far.
    fn deliver(&mut self) -> Delivery {
        let Some(event) = self.undelivered.take() else {
            return Delivery::Done;
        };
        match self.events.try_send((self.agent, event)) {
            Ok(()) => Delivery::Done,
            Err(TrySendError::Full((_, event))) => {
                self.undelivered = Some(event);
                Delivery::Full
            }
            Err(TrySendError::Disconnected(_)) => Delivery::Nobody,
        }
    }
}

/// Whether the run took an event.
enum Delivery {
    /// Nothing waits any more.
    Done,
    /// The run has no space.
    Full,
    /// The run is over.
    Nobody,
}
