//! A consumer's connections: losses, replacements and moved leaders; and its lag.

use kgauge_results::Recorder;

use super::consumer::{Consumer, Position};
use crate::broker_link::{BrokerLink, Loss};
use crate::leaders::{ClientSide, Leaders};
use crate::outage::{BrokerLinkState, add_state};
use crate::worker_context::WorkerContext;

impl Consumer {
    /// Records the lag, once per second: the distance of all positions from the end offsets in the last responses.
    pub(crate) fn sample_lag(&mut self, now_ns: u64, recorder: &mut Recorder) {
        let second = Some(now_ns / 1_000_000_000);
        if self.done || self.lag_second == second {
            return;
        }
        self.lag_second = second;
        let behind = |position: &Position| {
            u64::try_from(position.high_watermark.saturating_sub(position.offset)).unwrap_or(0)
        };
        recorder.behind(now_ns, self.positions.iter().map(behind).sum());
    }

    /// The state of the brokers on its links. A broker answers a Fetch when there is data, or when its wait is over.
    pub(crate) fn check_brokers(
        &mut self,
        side: ClientSide,
        now_ns: u64,
        states: &mut Vec<BrokerLinkState>,
    ) {
        let wait_ns = self.flow.settings.fetch_wait_ns_max;
        for (link, in_flight) in self.links.iter_mut().zip(&self.in_flight) {
            let owed_since_ns = in_flight.map(|asked| asked.sent_ns + wait_ns);
            let owed_since_ns = owed_since_ns.filter(|at_ns| *at_ns <= now_ns);
            add_state(states, link.link_state(side, owed_since_ns, now_ns));
        }
    }

    /// Drops connections with an overdue response.
    pub(super) fn expire(&mut self, now_ns: u64, around: &WorkerContext<'_>) {
        for link in 0..self.links.len() {
            let overdue = self.in_flight[link].is_some_and(|asked| {
                now_ns.saturating_sub(asked.sent_ns) >= self.flow.settings.request_timeout_ns
            });
            if overdue {
                self.lose_link(link, &Loss::TimedOut, around);
            }
        }
    }

    pub(super) fn lose_link(&mut self, link: usize, loss: &Loss, around: &WorkerContext<'_>) {
        let (now_ns, broker_id) = (around.clock.now_ns(), self.links[link].broker_id());
        around.incident(now_ns, &self.flow.name, || {
            format!("lost the connection to broker {broker_id}: {loss}")
        });
        self.totals.note_loss(loss);
        self.in_flight[link] = None;
        self.links[link].lost(now_ns, around.registry);
        around.ask_for_leaders();
    }

    /// A requested connection is ready.
    pub(crate) fn on_connected(
        &mut self,
        link: usize,
        channel: kgauge_client::security::Channel,
        version: i16,
        around: &WorkerContext<'_>,
    ) {
        let (now_ns, registry) = (around.clock.now_ns(), around.registry);
        self.links[link].reconnect_or_lose(channel, version, now_ns, registry);
    }

    /// A requested connection could not be made.
    pub(crate) fn on_not_connected(&mut self, link: usize, around: &WorkerContext<'_>) {
        self.links[link].lost(around.clock.now_ns(), around.registry);
        around.ask_for_leaders();
    }

    /// New metadata: partitions may have moved to other brokers, including unknown ones.
    pub(crate) fn on_leaders(&mut self, leaders: &Leaders, around: &WorkerContext<'_>) {
        self.leaders.clone_from(leaders);
        self.find_leaders(around);
    }

    pub(super) fn add_link(&mut self, broker_id: i32, around: &WorkerContext<'_>) -> usize {
        let index = self.links.len();
        self.links.push(BrokerLink::unconnected(
            broker_id,
            around.token(index),
            self.response_bytes_max,
        ));
        self.in_flight.push(None);
        index
    }
}
