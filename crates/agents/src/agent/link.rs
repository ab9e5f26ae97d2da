//! The thread of an agent's connection: answers clock probes at once, and ends the load when the lead is gone.

use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError};
use std::time::{Duration, Instant};

use kgauge_client::Interrupt;

use super::context::LeadRequest;
use super::outgoing::Outgoing;
use crate::channel::{AgentChannel, ChannelError};
use crate::monotonic_clock::MonotonicClock;
use crate::protocol::{AgentMessage, FrameKind, LeadMessage, decode};
use crate::silence::SilenceWatch;

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
    /// The lead ended the run.
    Bye,
    /// The lead sent nothing for too long.
    Silent,
    /// The lead sends messages that nobody takes.
    Flooded,
    /// The connection failed.
    Failed(ChannelError),
}

/// An agent's side of a connection.
pub(super) struct AgentLink {
    pub(super) channel: AgentChannel,
    pub(super) clock: MonotonicClock,
    pub(super) outgoing: Receiver<Outgoing>,
    pub(super) incoming: SyncSender<LeadRequest>,
    /// Ends the repeat that was prepared last.
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
        let mut silence = SilenceWatch::new(SILENCE_MAX, STALLED, Instant::now());
        loop {
            while self.channel.has_room() {
                match self.outgoing.try_recv() {
                    Ok(Outgoing::Frame(kind, content)) => self.channel.queue(kind, &content)?,
                    Ok(Outgoing::End) => return Ok(LinkEnd::Bye),
                    Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                }
            }
            silence.turn(Instant::now());
            match self.channel.receive(POLL)? {
                Some(frame) => {
                    let received_ns = self.clock.now_ns();
                    if frame.kind != FrameKind::Message {
                        continue;
                    }
                    match decode(&frame.content)? {
                        LeadMessage::ClockProbe { sent_ns } => self.answer(sent_ns, received_ns)?,
                        LeadMessage::Bye => return Ok(LinkEnd::Bye),
                        message => {
                            if !self.pass_on(message) {
                                return Ok(LinkEnd::Flooded);
                            }
                        }
                    }
                }
                None if silence.is_over(self.channel.heard(), Instant::now()) => {
                    return Ok(LinkEnd::Silent);
                }
                None => {}
            }
        }
    }

    fn answer(&mut self, sent_ns: u64, received_ns: u64) -> Result<(), ChannelError> {
        self.channel.queue_message(&AgentMessage::ClockAnswer {
            sent_ns,
            received_ns,
            answered_ns: self.clock.now_ns(),
        })?;
        self.channel.send_queued();
        Ok(())
    }

    /// Gives a message to the session; false if too many wait. This thread alone raises flags, in the order of the
    /// lead's messages.
    fn pass_on(&mut self, message: LeadMessage) -> bool {
        match message {
            LeadMessage::Prepare { .. } => {
                self.stop.raise();
                self.stop = Interrupt::new();
            }
            LeadMessage::Stop => self.stop.raise(),
            _ => {}
        }
        let stop = self.stop.clone();
        let given = self.incoming.try_send(LeadRequest { message, stop });
        // Nobody receives once the session has ended.
        !matches!(given, Err(TrySendError::Full(_)))
    }
}
