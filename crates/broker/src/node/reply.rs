//! A request being served, and the way back to who asked.

use kgauge_wire::api::ApiKey;
use kgauge_wire::codec::EncodeError;
use kgauge_wire::frame::put_response;
use kgauge_wire::messages::Message;

use super::{BrokerNode, CloseReason, EncodedResponse, Ticket};
use crate::counts::{RequestPhase, RequestTiming};
use crate::time::Now;

/// A request being served: when it came and where its answer goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PendingRequest {
    pub(crate) now: Now,
    pub(crate) reply: Reply,
}

impl PendingRequest {
    /// The request's version.
    pub(crate) fn version(&self) -> i16 {
        self.reply.version
    }
}

/// Where an answer goes and in which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) ticket: Ticket,
    pub(crate) api: ApiKey,
    pub(crate) version: i16,
    pub(crate) correlation_id: i32,
    /// The way of a request that is counted.
    pub(crate) course: Option<RequestTiming>,
}

impl Reply {
    /// The answer's bytes.
    pub(super) fn encode<'m>(self, message: &impl Message<'m>) -> Result<Vec<u8>, EncodeError> {
        let mut bytes = Vec::with_capacity(128);
        let (api, version) = (self.api, self.version);
        put_response(&mut bytes, api, version, self.correlation_id, message)?;
        Ok(bytes)
    }
}

impl BrokerNode {
    /// Answers a request.
    pub(crate) fn respond<'m>(&mut self, reply: Reply, message: &impl Message<'m>) {
        match reply.encode(message) {
            Ok(bytes) => self.send(reply, EncodedResponse::from(bytes)),
            Err(error) => self.cannot_encode(reply, &error),
        }
    }

    /// Sends an answer that is in its final form.
    pub(crate) fn send(&mut self, reply: Reply, mut response: EncodedResponse) {
        if !self.closes_instead(reply.ticket) {
            response.course = self.goes_on(reply, RequestPhase::ResponseQueue).course;
            self.faults.answered(reply.ticket, self.last_read_ns());
            self.connections
                .fill(reply.ticket, Some(response), &mut self.outputs);
        }
    }

    /// Sends an answer to what was no request.
    pub(crate) fn send_bare(&mut self, ticket: Ticket, response: EncodedResponse) {
        self.connections
            .fill(ticket, Some(response), &mut self.outputs);
    }

    /// Ends a request that gets no answer.
    pub(crate) fn stay_silent(&mut self, reply: Reply) {
        if !self.closes_instead(reply.ticket) {
            self.connections.fill(reply.ticket, None, &mut self.outputs);
            self.silent(reply);
        }
    }

    /// An answer that its version cannot carry is a mistake of ours. The client must not wait for
    /// ever, so its connection goes.
    pub(crate) fn cannot_encode(&mut self, reply: Reply, error: &EncodeError) {
        debug_assert!(false, "{} version {}: {error}", reply.api, reply.version);
        let reason = CloseReason::Malformed(format!("no answer possible: {error}"));
        self.close(reply.ticket.connection, reason);
    }
}
