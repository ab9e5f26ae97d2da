//! When a stall really began, and when the node answered the requests that followed.
//!
//! A node records both itself, so that a reader can derive each record's wait from the stall that took place instead of
//! the one that was planned: on a busy machine they differ by milliseconds.

use std::collections::BTreeMap;

use crate::ids::NodeId;
use crate::node::Ticket;

/// Answers recorded per stall. Working off what a stall has piled up takes a few large requests.
const ANSWERS_MAX: usize = 256;

/// A stall as one node carried it out. Times are nanoseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StallRecord {
    /// The node.
    pub node: NodeId,
    /// When the node began to hold requests.
    pub begin_unix_ns: u64,
    /// The first answers to requests that came during and after the stall, in order: when each was sent, and how many
    /// records its request carried.
    pub answers: Vec<(u64, u64)>,
}

/// The record of a stall while it is written, on the node's monotonic clock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StallWatch {
    begin_ns: u64,
    /// Records of requests that have no answer yet.
    unanswered: BTreeMap<Ticket, u64>,
    answers: Vec<(u64, u64)>,
}

impl StallWatch {
    pub(crate) fn new(begin_ns: u64) -> Self {
        Self {
            begin_ns,
            ..Self::default()
        }
    }

    /// A request of the stalled API came.
    pub(crate) fn request(&mut self, ticket: Ticket, records: u64) {
        if self.answers.len() < ANSWERS_MAX {
            self.unanswered.insert(ticket, records);
        }
    }

    /// An answer is on its way.
    pub(crate) fn answer(&mut self, ticket: Ticket, at_ns: u64) {
        let Some(records) = self.unanswered.remove(&ticket) else {
            return;
        };
        self.answers.push((at_ns, records));
        if self.answers.len() >= ANSWERS_MAX {
            self.unanswered.clear();
        }
    }

    /// The record in wall-clock time. `unix_ns` converts a reading of the node's monotonic clock.
    pub(crate) fn record(&self, node: NodeId, unix_ns: impl Fn(u64) -> u64) -> StallRecord {
        let answers = self.answers.iter();
        StallRecord {
            node,
            begin_unix_ns: unix_ns(self.begin_ns),
            answers: answers
                .map(|(at_ns, records)| (unix_ns(*at_ns), *records))
                .collect(),
        }
    }
}
