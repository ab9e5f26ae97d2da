//! What the parts of an agent's session share.

use std::cell::RefCell;
use std::sync::mpsc::Receiver;

use kgauge_client::Interrupt;
use kgauge_load::Ceilings;

use super::outgoing::OutgoingFrames;
use crate::monotonic_clock::MonotonicClock;
use crate::protocol::LeadMessage;

/// One connection of an agent, as its load sees it.
pub(super) struct AgentSession {
    pub(super) clock: MonotonicClock,
    pub(super) outgoing: OutgoingFrames,
    pub(super) incoming: Receiver<LeadRequest>,
    /// What flows do at full speed on this machine, as far as it was measured.
    pub(super) ceilings: RefCell<Ceilings>,
}

/// A message of the lead on its way from the connection to the load.
pub(super) struct LeadRequest {
    pub(super) message: LeadMessage,
    /// The flag of the repeat that was prepared last. It is raised when the lead wants that repeat to end, prepares
    /// another one, or is gone; nobody lowers it. A stop is therefore never lost and never ends a later repeat.
    pub(super) stop: Interrupt,
}
