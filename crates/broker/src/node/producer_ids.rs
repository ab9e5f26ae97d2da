//! Producer ids: blocks of them come from the controller, each is given out once.

use std::collections::VecDeque;

use kgauge_wire::error_code::ErrorCode;

use super::{BrokerNode, ControllerQuestion, Reply};
use crate::controller::{ControllerReply, ControllerRequest, ProducerIdBlock};
use crate::handlers::init_producer_id;
use crate::time::Now;

/// The block at hand and who waits for the next one.
#[derive(Debug, Default)]
pub(super) struct ProducerIds {
    next: i64,
    end: i64,
    waiting: VecDeque<Reply>,
}

impl BrokerNode {
    /// Answers a request for a producer id, now or when the next block is here.
    pub(crate) fn give_producer_id(&mut self, now: Now, reply: Reply) {
        let ids = &mut self.producer_ids;
        if ids.next < ids.end {
            let id = ids.next;
            ids.next += 1;
            init_producer_id::answer(self, reply, Ok(id));
            return;
        }
        ids.waiting.push_back(reply);
        if ids.waiting.len() == 1 {
            self.ask(
                now,
                ControllerRequest::ProducerIds,
                ControllerQuestion::ProducerIds,
            );
        }
    }

    pub(super) fn producer_ids_arrived(&mut self, now: Now, answer: ControllerReply) {
        let waiting = std::mem::take(&mut self.producer_ids.waiting);
        if let ControllerReply::ProducerIds(ProducerIdBlock { first, count }) = answer {
            self.producer_ids.next = first;
            self.producer_ids.end = first + count;
            waiting
                .into_iter()
                .for_each(|reply| self.give_producer_id(now, reply));
        } else {
            for reply in waiting {
                init_producer_id::answer(self, reply, Err(ErrorCode::CoordinatorNotAvailable));
            }
        }
    }
}
