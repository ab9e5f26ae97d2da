//! What the parts of an agent's session share.

use std::sync::mpsc::Receiver;

use kgauge_client::Interrupt;

use super::outgoing::OutgoingFrames;
use crate::monotonic_clock::MonotonicClock;
use crate::protocol::LeadMessage;

/// One connection of an agent, as its load sees it.
pub(super) struct AgentSession {
    pub(super) clock: MonotonicClock,
    pub(super) outgoing: OutgoingFrames,
    pub(super) incoming: Receiver<LeadMessage>,
    /// Raised when the lead wants the load to end, or is gone.
    pub(super) stop: Interrupt,
}
