//! Counters of a node's work: the core reports when a part of a request's time ends. It uses the
//! moments that it is given, and the stopwatch where a part ends within a call.

use kgauge_wire::api::ApiKey;

use super::replication::ReplicaRole;
use super::{BrokerNode, Reply};
use crate::counts::{CountedRequest, Counters, ReplicaCounts, RequestPhase, RequestTiming};
use crate::quota::QuotaKind;
use crate::time::{NS_PER_MS, Now};

/// The turn of a connection.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// Since when the connection has waited for it.
    ready_ns: Option<u64>,
    /// The last reading of the stopwatch: a request begins when the one before it is done.
    read_ns: u64,
}

impl BrokerNode {
    /// Requests of a connection follow that has waited for its turn since `ready_ns`.
    pub(crate) fn begin_turn(&mut self, ready_ns: u64) {
        self.turn.ready_ns = Some(ready_ns);
    }

    /// A client's request is taken up.
    pub(crate) fn taken(&self, now: Now, api: ApiKey) -> Option<RequestTiming> {
        self.config.counters.as_ref()?;
        let taken_ns = self.begin_ns(now);
        Counters::taken(api, self.turn.ready_ns.unwrap_or(taken_ns), taken_ns)
    }

    /// When the last counted request was done.
    pub(crate) fn last_read_ns(&self) -> u64 {
        self.turn.read_ns
    }

    /// When a request begins that is taken up now: when the last counted one was done, if that was later.
    pub(super) fn begin_ns(&self, now: Now) -> u64 {
        now.mono_ns.max(self.turn.read_ns)
    }

    /// Another part of a request's time begins now.
    pub(crate) fn goes_on(&mut self, mut reply: Reply, part: RequestPhase) -> Reply {
        if let (Some(course), Some(counters)) = (&mut reply.course, &self.config.counters) {
            self.turn.read_ns = counters.now_ns();
            course.go_on(part, self.turn.read_ns);
        }
        reply
    }

    /// A request is done that gets no answer.
    pub(super) fn silent(&mut self, reply: Reply) {
        if let (Some(course), Some(counters)) = (reply.course, &self.config.counters) {
            self.turn.read_ns = counters.now_ns();
            counters.answered(course, self.turn.read_ns);
        }
    }

    /// A follower's fetch is taken up.
    pub(super) fn follower_asked(&self, now: Now) -> Option<RequestTiming> {
        self.config.counters.as_ref()?;
        Some(Counters::follower_asked(self.begin_ns(now)))
    }

    /// A follower has its answer.
    pub(super) fn follower_answered(&mut self, course: Option<RequestTiming>, bytes: u64) {
        if let (Some(course), Some(counters)) = (course, &self.config.counters) {
            self.turn.read_ns = counters.now_ns();
            counters.answered(course, self.turn.read_ns);
            counters.replication_bytes_out.add(bytes);
        }
    }

    /// Counts with the counters, if there are any.
    pub(crate) fn count(&self, with: impl FnOnce(&Counters)) {
        if let Some(counters) = &self.config.counters {
            with(counters);
        }
    }

    /// Counts the throttle time of an answer to a client beyond its quota.
    pub(crate) fn count_throttle(&self, kind: QuotaKind, ms: i32) {
        let kind = match kind {
            QuotaKind::Produce => CountedRequest::Produce,
            QuotaKind::Fetch => CountedRequest::Fetch,
        };
        let ns = u64::try_from(ms).unwrap_or(0) * NS_PER_MS;
        self.count(|counters| counters.throttled(kind, ns));
    }

    /// Counts what waits now, at the end of a round.
    pub(crate) fn count_waiting(&self) {
        if let Some(counters) = &self.config.counters {
            counters.produce_purgatory.set(self.waits.len() as u64);
            counters.fetch_purgatory.set(self.fetches.len() as u64);
        }
    }

    /// The thread has nothing to do from this moment on.
    pub(crate) fn rests(&self, at_ns: u64) {
        self.count(|counters| counters.waits(at_ns));
    }

    /// The thread goes on.
    pub(crate) fn wakes(&self, now: Now) {
        self.count(|counters| counters.works(now.mono_ns));
    }

    /// Counts the replicas, after they have changed.
    pub(super) fn count_replicas(&self) {
        let Some(counters) = &self.config.counters else {
            return;
        };
        let mut counts = ReplicaCounts::default();
        for replica in self.replicas.values() {
            counts.partitions += 1;
            if let ReplicaRole::Leading(leading) = &replica.role {
                counts.leaders += 1;
                let all = leading.followers.len() + 1;
                counts.under_replicated += u64::from(leading.isr.len() < all);
                counts.under_min_isr += u64::from(!leading.has_enough_in_sync());
            }
        }
        counters.set_replicas(counts);
    }
}
