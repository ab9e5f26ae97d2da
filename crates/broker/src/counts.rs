//! What a node counts of itself: requests and where their time went, bytes, replicas, flushes.
//!
//! The node's thread writes, whoever wants reads, at any time and without a lock. So a reading costs the
//! node nothing, and a node that is busy or paused is read like any other; figures that belong
//! together may be one request apart. All counters count from the beginning of the node's life.
//!
//! A node is one thread that reads, carries out and writes, so it has other parts than a broker with
//! pools of threads: docs/decisions/metrics.md says which is which.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kgauge_wire::api::ApiKey;
use serde::{Deserialize, Serialize};

use crate::time::Stopwatch;

/// What a node has counted since its life began. Times are sums over all requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeCounts {
    /// When this life began, milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// Produce requests.
    pub produce: RequestCounts,
    /// Fetches of consumers.
    pub fetch: RequestCounts,
    /// Fetches of followers. They come over channels: all of their time is `remote_ns`.
    pub follower_fetch: RequestCounts,
    /// Time in which the node's thread waited for something to do.
    pub idle_ns: u64,
    /// Bytes of batches that producers brought.
    pub bytes_in: u64,
    /// Bytes of batches that consumers were given.
    pub bytes_out: u64,
    /// Bytes of batches that the node fetched as a follower.
    pub replication_bytes_in: u64,
    /// Bytes of batches that followers were given.
    pub replication_bytes_out: u64,
    /// Records that producers brought.
    pub messages_in: u64,
    /// Partitions that it leads now.
    pub leaders: u64,
    /// Partitions of which it has a replica now.
    pub partitions: u64,
    /// Of those that it leads, how many have a replica that is not in sync.
    pub under_replicated: u64,
    /// Of those that it leads, how many have fewer in sync than `min.insync.replicas`.
    pub under_min_isr: u64,
    /// How often a partition that it leads had fewer replicas in sync than before.
    pub isr_shrinks: u64,
    /// How often one had more.
    pub isr_expands: u64,
    /// Flushes of log files.
    pub flushes: u64,
    /// The time that they took.
    pub flush_ns: u64,
    /// Answers that wait for a watermark now: of produce requests, commits, deletions.
    pub produce_purgatory: u64,
    /// Fetches of consumers that wait for records now.
    pub fetch_purgatory: u64,
}

/// Requests of one kind that were answered, and the sums of the parts of their times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestCounts {
    /// How many.
    pub count: u64,
    /// From when the node's thread knew that the connection had something to say until the thread turned
    /// to it, behind other connections, earlier requests, or a fault that held it back.
    pub request_queue_ns: u64,
    /// In the thread's hands: read, checked, the log written or read, flushed too where that is due.
    pub local_ns: u64,
    /// Waiting for followers, or for records.
    pub remote_ns: u64,
    /// Throttle time that answers asked clients to wait. Not part of the rest: the answer goes at once.
    pub throttle_ns: u64,
    /// The answer waiting: behind earlier ones of its connection, for the thread to be done with the requests
    /// after it, or for a fault that held it back.
    pub response_queue_ns: u64,
    /// From then on until the system had all of the answer.
    pub response_send_ns: u64,
}

impl RequestCounts {
    /// The parts together, from when the node knew of the request until its answer had gone.
    #[must_use]
    pub fn total_ns(&self) -> u64 {
        self.request_queue_ns
            + self.local_ns
            + self.remote_ns
            + self.response_queue_ns
            + self.response_send_ns
    }
}

/// A kind of request that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountedRequest {
    Produce,
    Fetch,
    FollowerFetch,
}

impl CountedRequest {
    /// Of a client's request.
    fn of(api: ApiKey) -> Option<Self> {
        match api {
            ApiKey::Produce => Some(Self::Produce),
            ApiKey::Fetch => Some(Self::Fetch),
            _ => None,
        }
    }
}

/// A part of a request's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestPhase {
    RequestQueue,
    Local,
    Remote,
    ResponseQueue,
    ResponseSend,
}

const PARTS: usize = RequestPhase::ResponseSend as usize + 1;

/// The way of one request so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestTiming {
    kind: CountedRequest,
    part: RequestPhase,
    since_ns: u64,
    spent_ns: [u64; PARTS],
}

impl RequestTiming {
    fn begin(kind: CountedRequest, part: RequestPhase, at_ns: u64) -> Self {
        Self {
            kind,
            part,
            since_ns: at_ns,
            spent_ns: [0; PARTS],
        }
    }

    /// Another part begins.
    pub(crate) fn go_on(&mut self, part: RequestPhase, at_ns: u64) {
        self.spent_ns[self.part as usize] += at_ns.saturating_sub(self.since_ns);
        (self.part, self.since_ns) = (part, at_ns.max(self.since_ns));
    }
}

/// A counter with one writer: adding is a load and a store, and needs no locked instruction.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self, more: u64) {
        let sum = self.get().wrapping_add(more);
        self.set(sum);
    }

    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Debug, Default)]
struct OfRequests {
    count: Count,
    spent_ns: [Count; PARTS],
    throttle_ns: Count,
}

impl OfRequests {
    fn read(&self) -> RequestCounts {
        let part = |part: RequestPhase| self.spent_ns[part as usize].get();
        RequestCounts {
            count: self.count.get(),
            request_queue_ns: part(RequestPhase::RequestQueue),
            local_ns: part(RequestPhase::Local),
            remote_ns: part(RequestPhase::Remote),
            throttle_ns: self.throttle_ns.get(),
            response_queue_ns: part(RequestPhase::ResponseQueue),
            response_send_ns: part(RequestPhase::ResponseSend),
        }
    }
}

/// The node's replicas by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ReplicaCounts {
    pub(crate) leaders: u64,
    pub(crate) partitions: u64,
    pub(crate) under_replicated: u64,
    pub(crate) under_min_isr: u64,
}

/// A node's counters. Only the node's thread writes, but for flushes, which have a thread of their own.
#[derive(Debug)]
pub struct Counters {
    stopwatch: Arc<dyn Stopwatch>,
    started_unix_ms: u64,
    requests: [OfRequests; 3],
    /// Twice the idle time; while the thread waits, twice the moment less the idle time before, and one.
    /// One number, so that a reader cannot see half of a change.
    idle: AtomicU64,
    pub(crate) bytes_in: Count,
    pub(crate) bytes_out: Count,
    pub(crate) replication_bytes_in: Count,
    pub(crate) replication_bytes_out: Count,
    pub(crate) messages_in: Count,
    leaders: Count,
    partitions: Count,
    under_replicated: Count,
    under_min_isr: Count,
    isr_shrinks: Count,
    isr_expands: Count,
    flushes: AtomicU64,
    flush_ns: AtomicU64,
    pub(crate) produce_purgatory: Count,
    pub(crate) fetch_purgatory: Count,
}

impl Counters {
    /// Counters of a life that begins now. The stopwatch runs as the [`crate::time::Now`]s do that the node gets.
    #[must_use]
    pub fn new(stopwatch: Arc<dyn Stopwatch>, started_unix_ms: u64) -> Self {
        Self {
            stopwatch,
            started_unix_ms,
            requests: Default::default(),
            idle: AtomicU64::new(0),
            bytes_in: Count::default(),
            bytes_out: Count::default(),
            replication_bytes_in: Count::default(),
            replication_bytes_out: Count::default(),
            messages_in: Count::default(),
            leaders: Count::default(),
            partitions: Count::default(),
            under_replicated: Count::default(),
            under_min_isr: Count::default(),
            isr_shrinks: Count::default(),
            isr_expands: Count::default(),
            flushes: AtomicU64::new(0),
            flush_ns: AtomicU64::new(0),
            produce_purgatory: Count::default(),
            fetch_purgatory: Count::default(),
        }
    }

    /// What was counted so far.
    #[must_use]
    pub fn read(&self) -> NodeCounts {
        let [produce, fetch, follower_fetch] = &self.requests;
        NodeCounts {
            started_unix_ms: self.started_unix_ms,
            produce: produce.read(),
            fetch: fetch.read(),
            follower_fetch: follower_fetch.read(),
            idle_ns: self.idle_ns(),
            bytes_in: self.bytes_in.get(),
            bytes_out: self.bytes_out.get(),
            replication_bytes_in: self.replication_bytes_in.get(),
            replication_bytes_out: self.replication_bytes_out.get(),
            messages_in: self.messages_in.get(),
            leaders: self.leaders.get(),
            partitions: self.partitions.get(),
            under_replicated: self.under_replicated.get(),
            under_min_isr: self.under_min_isr.get(),
            isr_shrinks: self.isr_shrinks.get(),
            isr_expands: self.isr_expands.get(),
            flushes: self.flushes.load(Ordering::Relaxed),
            flush_ns: self.flush_ns.load(Ordering::Relaxed),
            produce_purgatory: self.produce_purgatory.get(),
            fetch_purgatory: self.fetch_purgatory.get(),
        }
    }

    pub(crate) fn now_ns(&self) -> u64 {
        self.stopwatch.mono_ns()
    }

    /// A client's request is taken up; it has waited since `ready_ns`. `None` when its kind is not counted.
    pub(crate) fn taken(api: ApiKey, ready_ns: u64, taken_ns: u64) -> Option<RequestTiming> {
        let mut course = RequestTiming::begin(
            CountedRequest::of(api)?,
            RequestPhase::RequestQueue,
            ready_ns.min(taken_ns),
        );
        course.go_on(RequestPhase::Local, taken_ns);
        Some(course)
    }

    /// A follower's fetch is taken up.
    pub(crate) fn follower_asked(at_ns: u64) -> RequestTiming {
        RequestTiming::begin(CountedRequest::FollowerFetch, RequestPhase::Remote, at_ns)
    }

    /// The end of a request's way.
    pub(crate) fn answered(&self, mut course: RequestTiming, at_ns: u64) {
        let part = course.part;
        course.go_on(part, at_ns);
        let requests = &self.requests[course.kind as usize];
        requests.count.add(1);
        for (sum, spent_ns) in requests.spent_ns.iter().zip(course.spent_ns) {
            if spent_ns > 0 {
                sum.add(spent_ns);
            }
        }
    }

    /// Counts the throttle time of an answer.
    pub(crate) fn throttled(&self, kind: CountedRequest, ns: u64) {
        self.requests[kind as usize].throttle_ns.add(ns);
    }

    /// The thread begins to wait.
    pub(crate) fn waits(&self, at_ns: u64) {
        let idle_ns = self.idle.load(Ordering::Relaxed) >> 1;
        let busy_ns = at_ns.saturating_sub(idle_ns);
        self.idle.store(busy_ns << 1 | 1, Ordering::Relaxed);
    }

    /// The thread goes on. It may not have waited.
    pub(crate) fn works(&self, at_ns: u64) {
        let known = self.idle.load(Ordering::Relaxed);
        if known & 1 == 1 {
            let idle_ns = at_ns.saturating_sub(known >> 1);
            self.idle.store(idle_ns << 1, Ordering::Relaxed);
        }
    }

    fn idle_ns(&self) -> u64 {
        match self.idle.load(Ordering::Relaxed) {
            waits if waits & 1 == 1 => self.now_ns().saturating_sub(waits >> 1),
            idle => idle >> 1,
        }
    }

    /// A log file was flushed, on whatever thread.
    pub(crate) fn flushed(&self, ns: u64) {
        self.flushes.fetch_add(1, Ordering::Relaxed);
        self.flush_ns.fetch_add(ns, Ordering::Relaxed);
    }

    /// The replicas in sync of a partition that is led here are others than before, or as many.
    pub(crate) fn isr_became(&self, before: usize, after: usize) {
        if after < before {
            self.isr_shrinks.add(1);
        } else if after > before {
            self.isr_expands.add(1);
        }
    }

    pub(crate) fn set_replicas(&self, counts: ReplicaCounts) {
        self.leaders.set(counts.leaders);
        self.partitions.set(counts.partitions);
        self.under_replicated.set(counts.under_replicated);
        self.under_min_isr.set(counts.under_min_isr);
    }
}

#[cfg(test)]
#[path = "counts/tests.rs"]
mod tests;
