//! The faults that are set on a node, and the requests that they hold back.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;

use super::{Call, CloseReason, Node, Ticket, Timer};
use crate::fault::{Fault, FaultAction};
use crate::handlers;
use crate::ids::ConnectionId;
use crate::time::Now;

/// A fault and what is left of it.
#[derive(Debug)]
struct Active {
    fault: Fault,
    set_ns: u64,
}

/// A request that is held back.
struct Held {
    call: Call,
    frame: Vec<u8>,
    message_at: usize,
}

/// A request may hold a password, so its bytes are never shown.
impl fmt::Debug for Held {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Held({:?})", self.call.reply)
    }
}

/// All faults of a node.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    active: Vec<Active>,
    held: BTreeMap<u64, Held>,
    count: u64,
    /// The error that every look-up of the request at hand gives.
    pub(crate) forced: Option<ErrorCode>,
    /// Requests whose answers close their connections.
    close_after: BTreeSet<Ticket>,
}

/// What to do with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Serve,
    /// Serve it at this moment.
    HoldUntil(u64),
    Fail(ErrorCode),
    CloseBefore,
    CloseAfter,
}

impl Faults {
    /// Decides about a request; counts what the fault is for.
    pub(crate) fn judge(&mut self, now: Now, api: ApiKey) -> Verdict {
        // A stall that is over is no fault any more.
        self.active.retain(|active| match active.fault.action {
            FaultAction::Stall(length) => active.set_ns + nanos(length) > now.mono_ns,
            _ => active.fault.times != Some(0),
        });
        let concerns = |active: &&mut Active| {
            active.fault.api.is_none_or(|concerned| concerned == api)
                && active.fault.times != Some(0)
        };
        let Some(active) = self.active.iter_mut().find(concerns) else {
            return Verdict::Serve;
        };
        active.fault.times = active.fault.times.map(|times| times - 1);
        match active.fault.action {
            FaultAction::Delay(length) => Verdict::HoldUntil(now.mono_ns + nanos(length)),
            FaultAction::Stall(length) => Verdict::HoldUntil(active.set_ns + nanos(length)),
            FaultAction::Fail(code) => Verdict::Fail(code),
            FaultAction::CloseBefore => Verdict::CloseBefore,
            FaultAction::CloseAfter => Verdict::CloseAfter,
        }
    }

    /// Lets the answer to a request close its connection.
    pub(crate) fn close_after(&mut self, ticket: Ticket) {
        self.close_after.insert(ticket);
    }

    /// Forgets the requests of a connection that is gone.
    pub(super) fn forget(&mut self, connection: ConnectionId) {
        self.close_after
            .retain(|ticket| ticket.connection != connection);
        self.held
            .retain(|_, held| held.call.reply.ticket.connection != connection);
    }

    /// Whether any fault was ever set: without one a request is not looked at twice.
    pub(crate) fn are_set(&self) -> bool {
        !self.active.is_empty()
    }
}

fn nanos(length: std::time::Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX / 2)
}

impl Node {
    /// Sets a fault. Faults that were set before come first.
    pub fn set_fault(&mut self, now: Now, fault: Fault) {
        self.faults.active.push(Active {
            fault,
            set_ns: now.mono_ns,
        });
    }

    /// Lifts all faults. Requests that are held back are served in their time.
    pub fn clear_faults(&mut self) {
        self.faults.active.clear();
    }

    /// Keeps a request for a later moment.
    pub(crate) fn hold(&mut self, call: Call, at_ns: u64, frame: &[u8], message_at: usize) {
        let id = self.faults.count;
        self.faults.count += 1;
        let frame = frame.to_vec();
        self.faults.held.insert(
            id,
            Held {
                call,
                frame,
                message_at,
            },
        );
        self.timers.set(at_ns, Timer::Held(id));
    }

    pub(super) fn serve_held(&mut self, now: Now, id: u64) {
        let Some(mut held) = self.faults.held.remove(&id) else {
            return;
        };
        let connection = held.call.reply.ticket.connection;
        let call = Call { now, ..held.call };
        let served = handlers::carry_out(self, call, &mut held.frame, held.message_at);
        if let Err(reason) = served {
            self.close(connection, reason);
        }
    }

    /// Whether an answer is to be withheld and its connection closed instead.
    pub(super) fn closes_instead(&mut self, ticket: Ticket) -> bool {
        if !self.faults.close_after.remove(&ticket) {
            return false;
        }
        self.close(ticket.connection, CloseReason::Fault);
        true
    }
}
