//! A worker: one thread, one event loop, some producers and consumers.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex};

use kgauge_client::Interrupt;
use kgauge_results::{PaceSeries, Recorder, StageBorders};
use mio::{Events, Token};

use crate::clock::Clock;
use crate::consume::Consumer;
use crate::control::ControlReply;
use crate::counted_clients::CountedClients;
use crate::gauges::Gauges;
use crate::hold_delta::{HoldCpu, HoldSpin};
use crate::incident::Incidents;
use crate::leaders::ClientSide;
use crate::outage::OutageTracker;
use crate::pacing::{EventWaiter, Until, is_timer};
use crate::produce::Producer;
use crate::sync::lock;
use crate::tally::{LiveTotals, Totals};
use crate::worker_context::{ControlSenders, WorkerContext, client_and_link};

/// The token by which the control thread wakes a worker for its replies.
pub(crate) const CONTROL_TOKEN: Token = Token(usize::MAX - 1);

/// How often live totals and stop signals are checked.
const LOOK_NS: u64 = 50_000_000;

/// The default interval at which slices are written.
pub(crate) const TICK_NS: u64 = 1_000_000_000;

/// Time limit of a drain once the user wants to stop: the load must end within a second.
pub(crate) const STOP_NS: u64 = 700_000_000;

/// Sockets handled in one turn.
const EVENTS_MAX: usize = 256;

/// A producer or a consumer.
pub(crate) enum Client {
    Produce(Box<Producer>),
    Consume(Box<Consumer>),
}

/// A client, its flow, and its last reported totals.
pub(crate) struct WorkerMember {
    pub(crate) client: Client,
    pub(crate) flow: usize,
    side: ClientSide,
    last_totals: Totals,
    /// It has its own record count.
    is_limited: bool,
    has_ended: bool,
}

impl WorkerMember {
    pub(crate) fn new(client: Client, flow: usize, is_limited: bool, side: ClientSide) -> Self {
        Self {
            client,
            flow,
            side,
            last_totals: Totals::default(),
            is_limited,
            has_ended: false,
        }
    }

    /// Whether it has its own record count.
    pub(crate) fn is_limited(&self) -> bool {
        self.is_limited
    }

    fn totals(&self) -> Totals {
        match &self.client {
            Client::Produce(producer) => producer.totals(),
            Client::Consume(consumer) => consumer.totals(),
        }
    }

    fn move_hold(&mut self, start_ns: u64, end_ns: u64) {
        match &mut self.client {
            Client::Produce(producer) => producer.move_hold(start_ns, end_ns),
            Client::Consume(consumer) => consumer.move_hold_end(end_ns),
        }
    }

    fn stop_taking(&mut self) {
        match &mut self.client {
            Client::Produce(producer) => producer.stop_taking(),
            Client::Consume(consumer) => consumer.end_hold(),
        }
    }

    fn has_stopped_taking(&self) -> bool {
        match &self.client {
            Client::Produce(producer) => producer.has_stopped_taking(),
            Client::Consume(consumer) => consumer.is_done(),
        }
    }

    fn is_done(&self) -> bool {
        match &self.client {
            Client::Produce(producer) => producer.is_done(),
            Client::Consume(consumer) => consumer.is_done(),
        }
    }

    fn until(&self, clock: &Clock) -> Until {
        match &self.client {
            Client::Produce(producer) => producer.until(clock),
            Client::Consume(consumer) => consumer.until(),
        }
    }
}

/// State shared by workers and their runner.
pub(crate) struct WorkerShared {
    pub(crate) clock: Clock,
    /// For each flow.
    pub(crate) live: Vec<LiveTotals>,
    /// For each flow.
    pub(crate) gauges: Vec<Gauges>,
    pub(crate) incidents: Incidents,
    /// Raised by Ctrl-C, a dead target, a full disk: stop within a second.
    pub(crate) interrupt: Interrupt,
    /// Which brokers answer.
    pub(crate) brokers: Arc<OutageTracker>,
    /// When the hold starts: at the end of the longest warm-up, or earlier once the load is steady.
    pub(crate) hold_start_ns: AtomicU64,
    /// Whether that may still change.
    pub(crate) is_adaptive: bool,
    /// For each worker and each of its flows the records over time, until the start of the hold is decided.
    pub(crate) paces: Vec<Mutex<Vec<(usize, PaceSeries)>>>,
    /// When the hold ends; lowered when all record counts are complete.
    pub(crate) hold_end_ns: AtomicU64,
    /// Clients whose record count is not complete.
    pub(crate) counts: CountedClients,
    /// Time limit of a drain.
    pub(crate) drain_ns_max: u64,
    /// Interval at which slices are shipped.
    pub(crate) tick_ns: u64,
    /// For each recording thread: the time up to which all samples were shipped.
    pub(crate) shipped_ns: Vec<AtomicU64>,
    /// For each worker: its time spent spinning so far.
    pub(crate) spun_ns: Vec<AtomicU64>,
}

impl WorkerShared {
    /// A thread has shipped all samples up to a time; `u64::MAX`: and will record no more.
    pub(crate) fn note_shipped(&self, thread: usize, at_ns: u64) {
        if let Some(shipped_ns) = self.shipped_ns.get(thread) {
            shipped_ns.store(at_ns, Ordering::Release);
        }
    }
}

/// A worker's last message to its runner: the thread has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Over;

/// The results of a worker.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorkerOutcome {
    /// For each flow.
    pub(crate) totals: Vec<Totals>,
    /// For each flow the records over time.
    pub(crate) paces: Vec<PaceSeries>,
    /// CPU time of the thread within the hold.
    pub(crate) hold_cpu_ns: u64,
    /// The part spent spinning before scheduled sends.
    pub(crate) hold_spun_ns: u64,
    /// For how much of the hold it did not spin, because others waited for processors.
    pub(crate) hold_gave_way_ns: u64,
    /// Records were given up when the drain was over.
    pub(crate) abandoned: bool,
}

/// The setup of a worker.
pub(crate) struct WorkerSetup {
    pub(crate) index: usize,
    pub(crate) shared: Arc<WorkerShared>,
    pub(crate) members: Vec<WorkerMember>,
    /// One for each flow that has a client here.
    pub(crate) recorders: Vec<Option<Recorder>>,
    pub(crate) control: ControlSenders,
    pub(crate) replies: Receiver<ControlReply>,
    pub(crate) completion_sender: Sender<Over>,
    pub(crate) waiter: EventWaiter,
    pub(crate) waker: Arc<mio::Waker>,
}

/// The state of the event loop.
pub(crate) struct Worker {
    setup: WorkerSetup,
    hold_start_seen_ns: u64,
    hold_end_seen_ns: u64,
    drain_end_ns: u64,
    next_look_ns: u64,
    next_tick_ns: u64,
    cpu: HoldCpu,
    spin: HoldSpin,
    outcome: WorkerOutcome,
}

impl Worker {
    /// A worker that has not started.
    pub(crate) fn new(setup: WorkerSetup) -> Self {
        let flows = setup.recorders.len();
        let hold_start_ns = setup.shared.hold_start_ns.load(Ordering::Acquire);
        Self {
            cpu: HoldCpu::new(hold_start_ns),
            spin: HoldSpin::new(hold_start_ns),
            setup,
            hold_start_seen_ns: hold_start_ns,
            hold_end_seen_ns: u64::MAX,
            drain_end_ns: u64::MAX,
            next_look_ns: 0,
            next_tick_ns: 0,
            outcome: WorkerOutcome {
                totals: vec![Totals::default(); flows],
                paces: vec![PaceSeries::default(); flows],
                ..Default::default()
            },
        }
    }

    /// Runs until every client is done.
    pub(crate) fn run(mut self) -> io::Result<WorkerOutcome> {
        let result = self.run_loop();
        // The runner waits for this message, even if the loop failed.
        let _ = self.setup.completion_sender.send(Over);
        result.map(|()| self.finish())
    }

    fn run_loop(&mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENTS_MAX);
        self.for_each(|member, _, around| match &mut member.client {
            Client::Produce(producer) => producer.register(around),
            Client::Consume(consumer) => consumer.register(around),
        })?;
        loop {
            self.note_hold_start();
            self.for_each(|member, recorder, around| {
                match &mut member.client {
                    Client::Produce(producer) => producer.step(recorder, around),
                    Client::Consume(consumer) => consumer.step(around),
                }
                Ok(())
            })?;
            let now_ns = self.setup.shared.clock.now_ns();
            self.cpu.sample(now_ns);
            self.spin.sample(now_ns, &self.setup.waiter);
            self.note_ends(now_ns);
            let hold_end_ns = self.setup.shared.hold_end_ns.load(Ordering::Relaxed);
            if now_ns >= hold_end_ns && self.hold_end_seen_ns == u64::MAX {
                self.end_hold(hold_end_ns, now_ns)?;
            }
            if now_ns >= self.next_look_ns {
                self.poll(now_ns)?;
            }
            if self.setup.members.iter().all(WorkerMember::is_done) {
                return Ok(());
            }
            let until = self.until(now_ns);
            self.setup.waiter.wait(until, &mut events)?;
            self.handle(&events);
        }
    }

    /// The runner may have decided when the hold starts.
    fn note_hold_start(&mut self) {
        let start_ns = self.setup.shared.hold_start_ns.load(Ordering::Acquire);
        if start_ns == self.hold_start_seen_ns {
            return;
        }
        self.hold_start_seen_ns = start_ns;
        let end_ns = self.setup.shared.hold_end_ns.load(Ordering::Acquire);
        let borders = StageBorders::closed(start_ns, end_ns);
        for member in &mut self.setup.members {
            member.move_hold(start_ns, end_ns);
        }
        for recorder in self.setup.recorders.iter_mut().flatten() {
            recorder.move_hold(borders);
        }
        self.cpu.move_start(start_ns);
        self.spin.move_start(start_ns);
    }

    /// Calls `act` for every client that is not done.
    fn for_each(
        &mut self,
        mut act: impl FnMut(&mut WorkerMember, &mut Recorder, &WorkerContext<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        for client in 0..self.setup.members.len() {
            if !self.setup.members[client].is_done() {
                self.with(client, &mut act)?;
            }
        }
        Ok(())
    }

    fn with<R: Default>(
        &mut self,
        client: usize,
        act: impl FnOnce(&mut WorkerMember, &mut Recorder, &WorkerContext<'_>) -> io::Result<R>,
    ) -> io::Result<R> {
        let setup = &mut self.setup;
        let Some(member) = setup.members.get_mut(client) else {
            return Ok(R::default());
        };
        let around = WorkerContext {
            clock: &setup.shared.clock,
            registry: setup.waiter.registry(),
            incidents: &setup.shared.incidents,
            waker: &setup.waker,
            control: setup.control.of(member.side),
            worker: setup.index,
            client,
        };
        match &mut setup.recorders[member.flow] {
            Some(recorder) => act(member, recorder, &around),
            None => Ok(R::default()),
        }
    }

    fn handle(&mut self, events: &Events) {
        for event in events {
            let token = event.token();
            if is_timer(token) {
                continue;
            }
            if token == CONTROL_TOKEN {
                self.take_replies();
                continue;
            }
            let (client, link) = client_and_link(token);
            // Nothing here fails: a lost connection is handled by the client.
            let _ = self.with(client, |member, recorder, around| {
                match &mut member.client {
                    Client::Produce(producer) => producer.on_event(link, recorder, around),
                    Client::Consume(consumer) => consumer.on_event(link, recorder, around),
                }
                Ok(())
            });
        }
    }

    fn take_replies(&mut self) {
        while let Ok(reply) = self.setup.replies.try_recv() {
            match reply {
                ControlReply::Leaders(side, leaders) => {
                    let _ = self.for_each(|member, _, around| {
                        match &mut member.client {
                            _ if member.side != side => {}
                            Client::Produce(producer) => producer.on_leaders(&leaders, around),
                            Client::Consume(consumer) => consumer.on_leaders(&leaders, around),
                        }
                        Ok(())
                    });
                }
                ControlReply::Connected {
                    client,
                    link,
                    channel,
                    produce_version,
                    fetch_version,
                } => {
                    let _ = self.with(client, |member, _, around| {
                        match &mut member.client {
                            Client::Produce(producer) => {
                                producer.on_connected(link, channel, produce_version, around);
                            }
                            Client::Consume(consumer) => {
                                consumer.on_connected(link, channel, fetch_version, around);
                            }
                        }
                        Ok(())
                    });
                }
                ControlReply::NotConnected { client, link } => {
                    let _ = self.with(client, |member, _, around| {
                        match &mut member.client {
                            Client::Produce(producer) => producer.on_not_connected(link, around),
                            Client::Consume(consumer) => consumer.on_not_connected(link, around),
                        }
                        Ok(())
                    });
                }
                ControlReply::ProducerId { client, identity } => {
                    let _ = self.with(client, |member, _, _| {
                        if let Client::Produce(producer) = &mut member.client {
                            producer.on_identity(identity);
                        }
                        Ok(())
                    });
                }
            }
        }
    }

    /// Periodic checks: whether the user wants to stop, and whether slices are due.
    fn poll(&mut self, now_ns: u64) -> io::Result<()> {
        self.next_look_ns = now_ns + LOOK_NS;
        let stop_end_ns = now_ns + self.setup.shared.brokers.patience_ns(STOP_NS);
        if self.setup.shared.interrupt.is_raised() && self.drain_end_ns > stop_end_ns {
            self.setup
                .shared
                .hold_end_ns
                .fetch_min(now_ns, Ordering::Relaxed);
            self.end_hold(now_ns.min(self.hold_end_seen_ns), now_ns)?;
            self.drain_end_ns = stop_end_ns;
        }
        let is_tick = now_ns >= self.next_tick_ns;
        if is_tick {
            self.next_tick_ns = now_ns + self.setup.shared.tick_ns;
        }
        self.report(now_ns, is_tick);
        if now_ns >= self.drain_end_ns {
            self.abandon(now_ns);
        }
        Ok(())
    }

    /// The hold ends when the last record count of all flows is complete. A client without records came to no end.
    fn note_ends(&mut self, now_ns: u64) {
        for member in &mut self.setup.members {
            if member.has_ended || !member.is_limited || !member.has_stopped_taking() {
                continue;
            }
            member.has_ended = true;
            if let Some(recorder) = &mut self.setup.recorders[member.flow]
                && member.totals().has_records()
            {
                recorder.client_done(now_ns);
            }
            let shared = &self.setup.shared;
            let hold_end_ns = now_ns.max(self.hold_start_seen_ns);
            if shared.counts.complete_one(hold_end_ns) {
                shared.hold_end_ns.fetch_min(hold_end_ns, Ordering::Relaxed);
            }
        }
    }

    fn end_hold(&mut self, hold_end_ns: u64, now_ns: u64) -> io::Result<()> {
        self.hold_end_seen_ns = hold_end_ns;
        self.cpu.end();
        self.spin.end(&self.setup.waiter);
        self.drain_end_ns = now_ns.saturating_add(self.setup.shared.drain_ns_max);
        // After a stop, records that were due are no longer sent.
        let is_interrupted = self.setup.shared.interrupt.is_raised();
        self.for_each(|member, recorder, around| {
            match &mut member.client {
                Client::Produce(producer) if !is_interrupted => {
                    producer.end_taking(hold_end_ns, now_ns, recorder, around.clock);
                }
                _ => member.stop_taking(),
            }
            Ok(())
        })?;
        self.report(now_ns, false);
        for recorder in self.setup.recorders.iter_mut().flatten() {
            recorder.close_hold(hold_end_ns);
        }
        Ok(())
    }

    /// Updates live totals, and ships slices with a tick.
    fn report(&mut self, now_ns: u64, is_tick: bool) {
        let setup = &mut self.setup;
        if let Some(spun_ns) = setup.shared.spun_ns.get(setup.index) {
            spun_ns.store(setup.waiter.spun_ns(), Ordering::Relaxed);
        }
        if setup.shared.is_adaptive && now_ns < self.hold_start_seen_ns {
            show_paces(setup);
        }
        for member in &mut setup.members {
            let totals = member.totals();
            setup.shared.live[member.flow].add(&member.last_totals, &totals);
            member.last_totals = totals;
            if let Client::Produce(producer) = &member.client
                && !producer.is_done()
            {
                setup.shared.gauges[member.flow].add(&producer.sample());
            }
            match (&mut member.client, &mut setup.recorders[member.flow]) {
                (Client::Produce(producer), Some(recorder)) => {
                    producer.report_outstanding(now_ns, recorder);
                }
                (Client::Consume(consumer), Some(recorder)) => {
                    consumer.sample_lag(now_ns, recorder);
                }
                (_, None) => {}
            }
        }
        setup.shared.brokers.poll(setup.index, |states| {
            for member in setup.members.iter_mut().filter(|member| !member.is_done()) {
                let side = member.side;
                match &mut member.client {
                    Client::Produce(producer) => producer.check_brokers(side, now_ns, states),
                    Client::Consume(consumer) => consumer.check_brokers(side, now_ns, states),
                }
            }
        });
        if is_tick {
            setup
                .recorders
                .iter_mut()
                .flatten()
                .for_each(Recorder::tick);
            setup.shared.note_shipped(setup.index, now_ns);
        }
    }

    fn abandon(&mut self, now_ns: u64) {
        let mut abandoned = false;
        let _ = self.for_each(|member, recorder, around| {
            match &mut member.client {
                Client::Produce(producer) => producer.abandon(now_ns, recorder),
                Client::Consume(consumer) => consumer.abandon(now_ns, around),
            }
            abandoned = true;
            Ok(())
        });
        self.outcome.abandoned |= abandoned;
    }

    /// The earliest time at which any client, or the worker itself, has something to do.
    fn until(&self, now_ns: u64) -> Until {
        let mut first = Until::Deadline(self.next_look_ns);
        for member in self.setup.members.iter().filter(|member| !member.is_done()) {
            first = first.sooner(member.until(&self.setup.shared.clock));
            if first == Until::Now {
                break;
            }
        }
        match first {
            Until::Deadline(at_ns) | Until::Send(at_ns) if at_ns <= now_ns => Until::Now,
            other => other,
        }
    }

    fn finish(mut self) -> WorkerOutcome {
        self.cpu.end();
        self.spin.end(&self.setup.waiter);
        for member in &mut self.setup.members {
            if let Client::Produce(producer) = &mut member.client {
                producer.leave();
            }
        }
        for client in 0..self.setup.members.len() {
            // Nothing here fails.
            let _ = self.with(client, |member, recorder, around| {
                match &mut member.client {
                    Client::Produce(producer) => {
                        producer.settle_transaction(recorder, around);
                        producer.close_proof(around);
                    }
                    Client::Consume(consumer) => consumer.close_polls(around),
                }
                Ok(())
            });
        }
        let now_ns = self.setup.shared.clock.now_ns();
        self.report(now_ns, true);
        for member in &self.setup.members {
            let totals = &mut self.outcome.totals[member.flow];
            *totals = totals.plus(&member.totals());
        }
        let recorders = self.setup.recorders.into_iter();
        for (recorder, pace) in recorders.zip(&mut self.outcome.paces) {
            if let Some(recorder) = recorder {
                *pace = recorder.finish();
            }
        }
        let shared = &self.setup.shared;
        shared.note_shipped(self.setup.index, u64::MAX);
        self.outcome.hold_cpu_ns = self.cpu.hold_ns();
        (self.outcome.hold_spun_ns, self.outcome.hold_gave_way_ns) = self.spin.hold_ns();
        self.outcome
    }
}

/// Publishes the records so far for the runner.
fn show_paces(setup: &WorkerSetup) {
    let Some(shown) = setup.shared.paces.get(setup.index) else {
        return;
    };
    let mut shown = lock(shown);
    let recorders = setup.recorders.iter().enumerate();
    let paces = recorders.filter_map(|(flow, recorder)| Some((flow, recorder.as_ref()?.pace())));
    for (position, (flow, pace)) in paces.enumerate() {
        match shown.get_mut(position) {
            Some((_, known)) => known.clone_from(pace),
            None => shown.push((flow, pace.clone())),
        }
    }
}
