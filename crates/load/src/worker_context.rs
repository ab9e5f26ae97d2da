//! The parts of a worker that its clients may use: clock, poll, and channels to the control threads.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use mio::{Registry, Token};

use crate::clock::Clock;
use crate::control::ControlRequest;
use crate::incident::{Incident, Incidents};
use crate::leaders::ClientSide;

/// Maximum number of connections of a client: a token is the client's index times this, plus the link's.
const LINKS_MAX: usize = 1 << 20;

/// The parts of a worker that its clients may use.
pub(crate) struct WorkerContext<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) registry: &'a Registry,
    pub(crate) incidents: &'a Incidents,
    /// Wakes this worker.
    pub(crate) waker: &'a Arc<mio::Waker>,
    /// For the client's cluster.
    pub(crate) control: &'a Sender<ControlRequest>,
    pub(crate) worker: usize,
    pub(crate) client: usize,
}

impl WorkerContext<'_> {
    /// Reports a problem that the client can handle.
    pub(crate) fn incident(&self, at_ns: u64, flow: &str, what: impl FnOnce() -> String) {
        self.incidents
            .note(Incident::new(at_ns, flow, what(), false));
    }

    /// Reports a problem that makes the run's result bad.
    pub(crate) fn broken(&self, at_ns: u64, flow: &str, what: impl FnOnce() -> String) {
        self.incidents
            .note(Incident::new(at_ns, flow, what(), true));
    }

    /// Requests the current leaders.
    pub(crate) fn ask_for_leaders(&self) {
        self.ask(ControlRequest::Leaders {
            worker: self.worker,
        });
    }

    /// Requests a new connection for a link.
    pub(crate) fn ask_to_connect(&self, link: usize, broker_id: i32) {
        self.ask(ControlRequest::Connect {
            worker: self.worker,
            client: self.client,
            link,
            broker_id,
        });
    }

    /// Requests a new producer id.
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

    fn ask(&self, request: ControlRequest) {
        // A stopped control thread means that the run is over, and soon this client.
        let _ = self.control.send(request);
    }
}

/// The token of a client's link.
pub(crate) fn token(client: usize, link: usize) -> Token {
    Token(client * LINKS_MAX + link)
}

/// The client and the link of a token.
pub(crate) fn client_and_link(token: Token) -> (usize, usize) {
    (token.0 / LINKS_MAX, token.0 % LINKS_MAX)
}

/// The channels to the control threads.
#[derive(Debug, Clone)]
pub(crate) struct ControlSenders {
    pub(crate) source: Sender<ControlRequest>,
    /// Of the copy's cluster, if there is one.
    pub(crate) copy: Option<Sender<ControlRequest>>,
}

impl ControlSenders {
    /// The channel for a cluster.
    pub(crate) fn of(&self, side: ClientSide) -> &Sender<ControlRequest> {
        match (side, &self.copy) {
            (ClientSide::Copy, Some(copy)) => copy,
            _ => &self.source,
        }
    }

    /// The run is over.
    pub(crate) fn stop(&self) {
        for control in [Some(&self.source), self.copy.as_ref()]
            .into_iter()
            .flatten()
        {
            let _ = control.send(ControlRequest::Stop);
        }
    }
}
