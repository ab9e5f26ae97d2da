//! What a client may use of its worker: the clock, the poll, the way to the clerks.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use mio::{Registry, Token};

use crate::clock::Clock;
use crate::control::{ClientSide, ControlRequest};
use crate::incident::{Incident, Incidents};
use crate::worker::token;

/// What a client may use of its worker.
pub(crate) struct WorkerContext<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) registry: &'a Registry,
    pub(crate) incidents: &'a Incidents,
    /// What wakes this worker.
    pub(crate) waker: &'a Arc<mio::Waker>,
    /// Of the cluster that the client is on.
    pub(crate) clerk: &'a Sender<ControlRequest>,
    pub(crate) worker: usize,
    pub(crate) client: usize,
}

impl WorkerContext<'_> {
    /// Says that something went wrong that the client can live with.
    pub(crate) fn incident(&self, at_ns: u64, flow: &str, what: impl FnOnce() -> String) {
        self.incidents
            .note(Incident::new(at_ns, flow, what(), false));
    }

    /// Says that something went wrong that makes the run's result bad.
    pub(crate) fn broken(&self, at_ns: u64, flow: &str, what: impl FnOnce() -> String) {
        self.incidents
            .note(Incident::new(at_ns, flow, what(), true));
    }

    /// Wants to know who leads the partitions now.
    pub(crate) fn ask_for_leaders(&self) {
        self.ask(ControlRequest::Leaders {
            worker: self.worker,
        });
    }

    /// Wants a new connection for a link.
    pub(crate) fn ask_to_connect(&self, link: usize, broker_id: i32) {
        self.ask(ControlRequest::Connect {
            worker: self.worker,
            client: self.client,
            link,
            broker_id,
        });
    }

    /// Wants a new producer id.
    pub(crate) fn ask_for_producer_id(&self) {
        self.ask(ControlRequest::ProducerId {
            worker: self.worker,
            client: self.client,
        });
    }

    /// The token of one of the client's links.
    pub(crate) fn token(&self, link: usize) -> Token {
        token(self.client, link)
    }

    fn ask(&self, ask: ControlRequest) {
        // A clerk that is gone has been stopped: the run is over, and so is this client soon.
        let _ = self.clerk.send(ask);
    }
}

/// The ways to the clerks.
#[derive(Debug, Clone)]
pub(crate) struct ControlSenders {
    pub(crate) source: Sender<ControlRequest>,
    /// Of the copy's cluster, if there is one.
    pub(crate) copy: Option<Sender<ControlRequest>>,
}

impl ControlSenders {
    /// The one of a cluster.
    pub(crate) fn of(&self, side: ClientSide) -> &Sender<ControlRequest> {
        match (side, &self.copy) {
            (ClientSide::Copy, Some(copy)) => copy,
            _ => &self.source,
        }
    }

    /// The run is over.
    pub(crate) fn stop(&self) {
        for clerk in [Some(&self.source), self.copy.as_ref()]
            .into_iter()
            .flatten()
        {
            let _ = clerk.send(ControlRequest::Stop);
        }
    }
}
