//! The faults that are set on a node, and the requests and answers that they hold back.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;

use super::{BrokerNode, CloseReason, EncodedResponse, PendingRequest, Reply, Ticket, Timer};
use crate::counts::RequestPhase;
use crate::fault::{
    Bucket, CapacityUnit, Delays, DropPoint, FaultId, InjectedFault, NodeFaultCounts, RequestFault,
    StallWatch, error_named,
};
use crate::handlers;
use crate::ids::ConnectionId;
use crate::time::Now;

/// A fault and what is left of it.
#[derive(Debug)]
struct Active {
    id: FaultId,
    fault: InjectedFault,
    set_ns: u64,
    /// For [`RequestFault::Delay`].
    delays: Option<Delays>,
    /// For [`RequestFault::Capacity`].
    bucket: Bucket,
}

impl Active {
    fn concerns(&self, api: ApiKey) -> bool {
        self.fault.api.is_none_or(|concerned| concerned == api)
    }

    /// Whether requests wait for it until it is lifted. None waits for a stall that is over: other faults hold what is
    /// held then.
    fn holds(&self, now: Now) -> bool {
        match self.fault.action {
            RequestFault::Stall { length_ns } => self.stall_end_ns(length_ns) > now.mono_ns,
            RequestFault::Capacity(_) => true,
            RequestFault::Delay(_) | RequestFault::Fail { .. } | RequestFault::Drop(_) => false,
        }
    }

    fn stall_end_ns(&self, length_ns: u64) -> u64 {
        self.set_ns + bounded(length_ns)
    }

    /// Counts one request.
    fn count(&mut self) {
        self.fault.times = self.fault.times.map(|times| times.saturating_sub(1));
    }
}

/// Something that waits for its moment.
enum Held {
    /// A request that is not carried out yet.
    Request {
        call: PendingRequest,
        frame: Vec<u8>,
        message_at: usize,
        outcome: DueFault,
    },
    /// An answer that is not sent yet.
    Answer {
        reply: Reply,
        response: EncodedResponse,
    },
}

impl Held {
    fn reply(&self) -> Reply {
        match self {
            Self::Request { call, .. } => call.reply,
            Self::Answer { reply, .. } => *reply,
        }
    }
}

/// A request may hold a password, so its bytes are never shown.
impl fmt::Debug for Held {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Held({:?})", self.reply())
    }
}

/// The requests of one connection that are held back.
#[derive(Debug, Default)]
struct Queue {
    requests: usize,
    /// When the last of them is served.
    last_ns: u64,
}

/// All faults of a node.
#[derive(Debug, Default)]
pub(crate) struct NodeFaults {
    active: Vec<Active>,
    held: BTreeMap<u64, Held>,
    queues: BTreeMap<ConnectionId, Queue>,
    count: u64,
    /// What each fault has struck, until it is lifted: also when it is over before that.
    struck: BTreeMap<FaultId, NodeFaultCounts>,
    /// The stalls that were set and not lifted: when they began, and what was answered since.
    stalls: BTreeMap<FaultId, (Option<ApiKey>, StallWatch)>,
    /// The moment that was given last. Without counters there is no better one for answers.
    now_ns: u64,
    /// The error that every look-up of the request at hand gives.
    pub(crate) forced: Option<ErrorCode>,
    /// Requests whose answers close their connections.
    close_after: BTreeSet<Ticket>,
}

/// What to do with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FaultDecision {
    /// Not before this moment, if there is one.
    pub(crate) until_ns: Option<u64>,
    /// And then this.
    pub(crate) outcome: DueFault,
}

/// What becomes of a request when its time has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DueFault {
    Serve,
    Fail(ErrorCode),
    CloseBefore,
    CloseAfter,
}

impl DueFault {
    fn of(action: &RequestFault) -> Option<Self> {
        match action {
            RequestFault::Fail { error } => error_named(error).map(Self::Fail),
            RequestFault::Drop(DropPoint::Before) => Some(Self::CloseBefore),
            RequestFault::Drop(DropPoint::After) => Some(Self::CloseAfter),
            RequestFault::Delay(_) | RequestFault::Stall { .. } | RequestFault::Capacity(_) => None,
        }
    }
}

impl NodeFaults {
    /// Decides about a request, and counts it for the faults that it meets. `amount` returns how much the
    /// request brings.
    pub(crate) fn judge(
        &mut self,
        now: Now,
        api: ApiKey,
        ticket: Ticket,
        amount: impl Fn(CapacityUnit) -> u64,
    ) -> FaultDecision {
        self.now_ns = now.mono_ns;
        // A stall that is over is no longer a fault.
        self.active.retain(|active| match active.fault.action {
            RequestFault::Stall { .. } => active.holds(now),
            _ => active.fault.times != Some(0),
        });
        let mut ready_ns = now.mono_ns;
        let mut delay_ns = 0;
        let mut outcome = None;
        let mut records = None;
        for active in self.active.iter_mut().filter(|fault| fault.concerns(api)) {
            match &active.fault.action {
                RequestFault::Delay(_) => {
                    let drawn = active.delays.as_mut().and_then(Iterator::next);
                    delay_ns += drawn.map_or(0, bounded);
                }
                RequestFault::Stall { length_ns } => {
                    ready_ns = ready_ns.max(active.stall_end_ns(*length_ns));
                }
                RequestFault::Capacity(_) => continue,
                action if outcome.is_none() => outcome = DueFault::of(action),
                _ => continue,
            }
            active.count();
            let struck = self.struck.entry(active.id).or_default();
            struck.requests += 1;
            struck.records += *records.get_or_insert_with(|| amount(CapacityUnit::Records));
        }
        for (stalled, watch) in self.stalls.values_mut() {
            if stalled.is_none_or(|stalled| stalled == api) {
                let records = *records.get_or_insert_with(|| amount(CapacityUnit::Records));
                watch.request(ticket, records);
            }
        }
        let outcome = outcome.unwrap_or(DueFault::Serve);
        if matches!(outcome, DueFault::Serve | DueFault::CloseAfter) {
            ready_ns = self.take(api, ready_ns, amount);
        }
        let mut until_ns = ready_ns + delay_ns;
        let connection = ticket.connection;
        if let Some(queue) = self.queues.get(&connection) {
            until_ns = until_ns.max(queue.last_ns);
        }
        let is_later = until_ns > now.mono_ns || self.queues.contains_key(&connection);
        FaultDecision {
            until_ns: is_later.then_some(until_ns),
            outcome,
        }
    }

    /// Lets an amount through every capacity that applies; returns when it has passed.
    pub(crate) fn take(
        &mut self,
        api: ApiKey,
        at_ns: u64,
        amount: impl Fn(CapacityUnit) -> u64,
    ) -> u64 {
        let mut ready_ns = at_ns;
        for active in self.active.iter_mut().filter(|fault| fault.concerns(api)) {
            if let RequestFault::Capacity(capacity) = &active.fault.action {
                let amount = amount(capacity.unit);
                ready_ns = ready_ns.max(active.bucket.take(capacity, at_ns, amount));
            }
        }
        ready_ns
    }

    /// Records an answer for the stalls that await it.
    pub(super) fn answered(&mut self, ticket: Ticket, at_ns: u64) {
        let at_ns = at_ns.max(self.now_ns);
        for (_, watch) in self.stalls.values_mut() {
            watch.answer(ticket, at_ns);
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
            .retain(|_, held| held.reply().ticket.connection != connection);
        self.queues.remove(&connection);
    }

    /// Whether requests must be checked: not while no fault is set and nothing is held.
    pub(crate) fn are_set(&self) -> bool {
        !self.active.is_empty() || !self.queues.is_empty() || !self.stalls.is_empty()
    }

    fn keep(&mut self, held: Held) -> u64 {
        let id = self.count;
        self.count += 1;
        self.held.insert(id, held);
        id
    }

    /// Takes out what was held, and counts it off its connection's queue.
    fn release(&mut self, id: u64) -> Option<Held> {
        let held = self.held.remove(&id)?;
        let connection = held.reply().ticket.connection;
        if let Held::Request { .. } = held
            && let Some(queue) = self.queues.get_mut(&connection)
        {
            queue.requests -= 1;
            if queue.requests == 0 {
                self.queues.remove(&connection);
            }
        }
        Some(held)
    }
}

/// At most 73 years, so that a sum of a few times does not overflow.
fn bounded(ns: u64) -> u64 {
    ns.min(u64::MAX / 8)
}

impl BrokerNode {
    /// Sets a fault. Faults that were set before come first.
    pub fn set_fault(&mut self, now: Now, id: FaultId, fault: InjectedFault) {
        let delays = match &fault.action {
            RequestFault::Delay(delay) => Some(Delays::of(delay, fault.seed, self.id())),
            _ => None,
        };
        if let RequestFault::Stall { .. } = fault.action {
            let watch = StallWatch::new(now.mono_ns);
            self.faults.stalls.insert(id, (fault.api, watch));
        }
        let bucket = Bucket::new(now.mono_ns, fault.seed, self.id());
        self.faults.active.push(Active {
            id,
            fault,
            set_ns: now.mono_ns,
            delays,
            bucket,
        });
    }

    /// What was recorded about a stall that is still set.
    pub(crate) fn stall(&self, id: FaultId) -> Option<&StallWatch> {
        self.faults.stalls.get(&id).map(|(_, watch)| watch)
    }

    /// Lifts one fault. What a stall or a capacity held back goes on at once, with everything else
    /// that is held; what a delay holds back keeps its time. Gives what the fault has struck.
    pub fn lift_fault(&mut self, now: Now, id: FaultId) -> NodeFaultCounts {
        let of_id = |active: &mut Active| active.id == id;
        let lifted: Vec<Active> = self.faults.active.extract_if(.., of_id).collect();
        if lifted.iter().any(|fault| fault.holds(now)) {
            self.serve_all_held(now);
        }
        self.faults.stalls.remove(&id);
        self.faults.struck.remove(&id).unwrap_or_default()
    }

    /// Lifts all faults. Whatever is held back goes on at once.
    pub fn clear_faults(&mut self, now: Now) {
        self.faults.active.clear();
        self.faults.struck.clear();
        self.faults.stalls.clear();
        self.serve_all_held(now);
    }

    /// Keeps a request for a later moment.
    pub(crate) fn hold(
        &mut self,
        mut call: PendingRequest,
        outcome: DueFault,
        at_ns: u64,
        frame: &[u8],
        message_at: usize,
    ) {
        if let Some(course) = &mut call.reply.course {
            course.go_on(RequestPhase::RequestQueue, call.now.mono_ns);
        }
        let queue = self.faults.queues.entry(call.reply.ticket.connection);
        let queue = queue.or_default();
        queue.requests += 1;
        queue.last_ns = queue.last_ns.max(at_ns);
        let id = self.faults.keep(Held::Request {
            call,
            frame: frame.to_vec(),
            message_at,
            outcome,
        });
        self.timers.set(at_ns, Timer::Held(id));
    }

    /// Sends an answer when its moment has come.
    pub(crate) fn send_at(
        &mut self,
        now: Now,
        reply: Reply,
        response: EncodedResponse,
        at_ns: u64,
    ) {
        if at_ns <= now.mono_ns {
            return self.send(reply, response);
        }
        let reply = self.goes_on(reply, RequestPhase::ResponseQueue);
        let id = self.faults.keep(Held::Answer { reply, response });
        self.timers.set(at_ns, Timer::Held(id));
    }

    fn serve_all_held(&mut self, now: Now) {
        let ids: Vec<u64> = self.faults.held.keys().copied().collect();
        ids.into_iter().for_each(|id| self.serve_held(now, id));
        self.finish_round(now);
    }

    pub(super) fn serve_held(&mut self, now: Now, id: u64) {
        self.faults.now_ns = now.mono_ns;
        match self.faults.release(id) {
            None => {}
            Some(Held::Answer { reply, response }) => self.send(reply, response),
            Some(Held::Request {
                mut call,
                mut frame,
                message_at,
                outcome,
            }) => {
                let connection = call.reply.ticket.connection;
                call.now = now;
                if let Some(course) = &mut call.reply.course {
                    course.go_on(RequestPhase::Local, self.begin_ns(now));
                }
                let served = handlers::carry_out(self, call, outcome, &mut frame, message_at);
                if let Err(reason) = served {
                    self.close(connection, reason);
                }
            }
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
