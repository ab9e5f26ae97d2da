//! Detects brokers that stopped answering, from workers' links and an additional connection.
//!
//! A waiting link proves little: an ack may wait for a dead follower, and the thread that makes new connections may be
//! busy. A broker whose links wait for a second is therefore contacted over a separate connection. Only a broker that
//! answers nowhere for two seconds is reported.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use kgauge_client::config::Address;
use kgauge_client::{ClientConfig, Connection, Interrupt};
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::leaders::{ClientSide, Leaders};
use crate::sync::lock;

/// A broker is reported after this time. With the intervals of workers (50 ms) and of the runner (100 ms), that is
/// within two seconds.
const OUTAGE_NS: u64 = 1_800_000_000;

/// A broker whose links wait for this long is contacted over a separate connection.
const DOUBT_NS: u64 = 900_000_000;

/// Time limit for a response on the separate connection.
const PROBE_LIMIT: Duration = Duration::from_millis(850);

/// The pause between two requests.
const PROBE_PAUSE: Duration = Duration::from_millis(250);

/// The symptom of an outage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OutageKind {
    /// Connections to the broker were lost, and new ones fail.
    Unconnected,
    /// Nothing arrives over any connection to it, old or new.
    Silent,
    /// Requests get no response, but the broker answers on a new connection: it holds them, perhaps for its disk or its
    /// followers.
    Held,
}

/// A broker that does not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    /// Its node id.
    pub broker: i32,
    /// Its address for clients, `host:port`.
    pub address: String,
    /// When it stopped answering, on the run's clock.
    pub since_ns: u64,
    /// The symptom.
    pub kind: OutageKind,
    /// Partitions of the topics.
    pub partitions: u32,
    /// How many of them have no leader that answers.
    pub partitions_without_leader: u32,
}

/// The start or the end of an outage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum OutageChange {
    /// The broker stopped answering.
    Found {
        /// The outage.
        outage: Outage,
        /// On the run's clock.
        at_ns: u64,
    },
    /// The broker answers again.
    Over {
        /// The outage.
        outage: Outage,
        /// On the run's clock.
        at_ns: u64,
    },
}

/// The state of one broker, as seen by the links of one worker or of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BrokerLinkState {
    pub(crate) side: ClientSide,
    pub(crate) broker: i32,
    /// When bytes from it last arrived, or a connection was made.
    pub(crate) heard_ns: u64,
    /// Since when a link waits for it, and for what.
    pub(crate) waits: Option<(u64, OutageKind)>,
}

impl BrokerLinkState {
    /// Merges two states of the same broker.
    fn with(self, other: &Self) -> Self {
        let waits = [self.waits, other.waits].into_iter().flatten();
        Self {
            heard_ns: self.heard_ns.max(other.heard_ns),
            waits: waits.min_by_key(|(since_ns, _)| *since_ns),
            ..self
        }
    }
}

/// Adds a state to those of other brokers.
pub(crate) fn add_state(states: &mut Vec<BrokerLinkState>, state: BrokerLinkState) {
    let known = states.iter_mut();
    let mut known = known.filter(|one| one.side == state.side && one.broker == state.broker);
    match known.next() {
        Some(one) => *one = one.with(&state),
        None => states.push(state),
    }
}

/// The last known addresses and leaders.
#[derive(Debug, Clone, Default)]
pub(crate) struct Whereabouts {
    pub(crate) addresses: BTreeMap<i32, Address>,
    pub(crate) leaders: Leaders,
}

/// What workers and control threads report about brokers.
#[derive(Debug)]
pub(crate) struct OutageTracker {
    /// One list per worker, replaced at each of its checks.
    states: Vec<Mutex<Vec<BrokerLinkState>>>,
    source: Mutex<Whereabouts>,
    copy: Mutex<Whereabouts>,
    has_outage: AtomicBool,
}

impl OutageTracker {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            states: (0..workers).map(|_| Mutex::default()).collect(),
            source: Mutex::default(),
            copy: Mutex::default(),
            has_outage: AtomicBool::new(false),
        }
    }

    /// How long waiting makes sense: not at all if a broker does not answer.
    pub(crate) fn patience_ns(&self, usual_ns: u64) -> u64 {
        if self.has_outage.load(Ordering::Relaxed) {
            0
        } else {
            usual_ns
        }
    }

    /// A worker reports its links: `each` adds their states.
    pub(crate) fn poll(&self, worker: usize, each: impl FnOnce(&mut Vec<BrokerLinkState>)) {
        if let Some(states) = self.states.get(worker) {
            let mut states = lock(states);
            states.clear();
            each(&mut states);
        }
    }

    /// A control thread has new metadata.
    pub(crate) fn note(&self, side: ClientSide, whereabouts: Whereabouts) {
        *lock(self.of(side)) = whereabouts;
    }

    fn of(&self, side: ClientSide) -> &Mutex<Whereabouts> {
        match side {
            ClientSide::Source => &self.source,
            ClientSide::Copy => &self.copy,
        }
    }

    fn all_states(&self) -> Vec<BrokerLinkState> {
        let mut all = Vec::new();
        for states in &self.states {
            lock(states)
                .iter()
                .for_each(|state| add_state(&mut all, *state));
        }
        all
    }
}

/// Detects outages from the reports of workers, and contacts brokers itself.
#[derive(Debug)]
pub(crate) struct OutageWatch {
    clock: Clock,
    outages: Arc<OutageTracker>,
    /// How to reach the clusters.
    source: ClientConfig,
    copy: Option<ClientConfig>,
    probes: BTreeMap<(ClientSide, i32), Probe>,
    /// Current outages.
    current: BTreeMap<(ClientSide, i32), Outage>,
}

impl OutageWatch {
    pub(crate) fn new(
        clock: Clock,
        outages: Arc<OutageTracker>,
        (source, copy): (ClientConfig, Option<ClientConfig>),
    ) -> Self {
        Self {
            clock,
            outages,
            source,
            copy,
            probes: BTreeMap::new(),
            current: BTreeMap::new(),
        }
    }

    /// Checks all brokers; returns the changes since the last check.
    pub(crate) fn poll(&mut self, now_ns: u64) -> Vec<OutageChange> {
        let (mut changes, mut found) = (Vec::new(), Vec::new());
        let states = self.outages.all_states();
        for state in &states {
            let key = (state.side, state.broker);
            let seen = self.judge(state, now_ns);
            let known = self
                .current
                .get(&key)
                .map(|known| (known.since_ns, known.kind));
            match (seen, known) {
                (None, None) => {}
                (Some((_, kind)), Some((_, known))) if kind == known => {}
                (None, Some((since_ns, _))) => {
                    let at_ns = state.heard_ns.max(self.probed_ns(key)).max(since_ns);
                    let outage = self.current.remove(&key);
                    changes.extend(outage.map(|outage| OutageChange::Over { outage, at_ns }));
                }
                (Some((since_ns, kind)), _) => {
                    let address = self.address(key);
                    let outage = Outage {
                        broker: state.broker,
                        address: address.map_or_else(String::new, |at| at.to_string()),
                        since_ns,
                        kind,
                        partitions: 0,
                        partitions_without_leader: 0,
                    };
                    self.current.insert(key, outage);
                    found.push(key);
                }
            }
            let waits_since_ns = state.waits.map(|(at_ns, _)| at_ns.max(state.heard_ns));
            self.probe(key, waits_since_ns, now_ns);
        }
        // A broker without remaining clients does not matter.
        self.probes.retain(|key, _| {
            let mut states = states.iter();
            states.any(|state| (state.side, state.broker) == *key)
        });
        self.count_leaders();
        let found = found.iter().filter_map(|key| self.current.get(key));
        changes.extend(found.map(|outage| OutageChange::Found {
            outage: outage.clone(),
            at_ns: now_ns,
        }));
        let has_outage = !self.current.is_empty();
        self.outages.has_outage.store(has_outage, Ordering::Relaxed);
        changes
    }

    /// The combined state of the links and the separate connection: since when the broker does not answer, and the
    /// symptom.
    fn judge(&self, state: &BrokerLinkState, now_ns: u64) -> Option<(u64, OutageKind)> {
        let (waits_ns, kind) = state.waits?;
        let since_ns = waits_ns.max(state.heard_ns);
        let quiet_ns = since_ns.max(self.probed_ns((state.side, state.broker)));
        let is_old = |at_ns: u64| now_ns.saturating_sub(at_ns) >= OUTAGE_NS;
        match kind {
            _ if is_old(quiet_ns) => Some((quiet_ns, kind)),
            OutageKind::Silent | OutageKind::Held if is_old(since_ns) => {
                Some((since_ns, OutageKind::Held))
            }
            // It has waited for less than two seconds, or the control thread is busy elsewhere.
            OutageKind::Silent | OutageKind::Held | OutageKind::Unconnected => None,
        }
    }

    /// Current outages.
    pub(crate) fn current(&self) -> Vec<Outage> {
        self.current.values().cloned().collect()
    }

    /// Whether no partition of the topics has a leader that answers.
    pub(crate) fn is_total(&self) -> bool {
        let (all, without) = self.leaderless(ClientSide::Source);
        all > 0 && all == without && !self.current.is_empty()
    }

    /// A leader counts if it answers, so this runs after all brokers were checked.
    fn count_leaders(&mut self) {
        for side in [ClientSide::Source, ClientSide::Copy] {
            let (partitions, without_leader) = self.leaderless(side);
            let of_side = self.current.iter_mut().filter(|(key, _)| key.0 == side);
            for (_, outage) in of_side {
                outage.partitions = partitions;
                outage.partitions_without_leader = without_leader;
            }
        }
    }

    /// Partitions of a cluster, and those without a leader that answers.
    fn leaderless(&self, side: ClientSide) -> (u32, u32) {
        let whereabouts = lock(self.outages.of(side));
        let leaders = &whereabouts.leaders.0;
        let is_gone = |leader: &&Option<i32>| {
            let outage = leader.map(|broker| self.current.get(&(side, broker)));
            outage.is_none_or(|outage| outage.is_some_and(|one| one.kind != OutageKind::Held))
        };
        let gone = leaders.iter().filter(is_gone).count();
        (leaders.len() as u32, gone as u32)
    }

    fn address(&self, (side, broker): (ClientSide, i32)) -> Option<Address> {
        lock(self.outages.of(side)).addresses.get(&broker).cloned()
    }

    /// Time of the last response on the separate connection; 0 without one.
    fn probed_ns(&self, key: (ClientSide, i32)) -> u64 {
        let probe = self.probes.get(&key);
        probe.map_or(0, |probe| probe.answered_ns.load(Ordering::Acquire))
    }

    /// Starts contacting a suspected broker, and stops when it is no longer suspected.
    fn probe(&mut self, key: (ClientSide, i32), waits_since_ns: Option<u64>, now_ns: u64) {
        let in_doubt = waits_since_ns.is_some_and(|at_ns| now_ns.saturating_sub(at_ns) >= DOUBT_NS);
        match (in_doubt, self.probes.contains_key(&key)) {
            (true, false) => {
                let config = match (key.0, &self.copy) {
                    (ClientSide::Copy, Some(copy)) => copy.clone(),
                    (ClientSide::Copy, None) | (ClientSide::Source, _) => self.source.clone(),
                };
                if let Some(address) = self.address(key)
                    && let Ok(probe) = Probe::start(address, config, self.clock)
                {
                    self.probes.insert(key, probe);
                }
            }
            (false, true) => drop(self.probes.remove(&key)),
            (true, true) | (false, false) => {}
        }
    }
}

/// A thread that contacts one broker repeatedly.
#[derive(Debug)]
struct Probe {
    answered_ns: Arc<AtomicU64>,
    stop: Interrupt,
    thread: Option<JoinHandle<()>>,
}

impl Probe {
    fn start(address: Address, config: ClientConfig, clock: Clock) -> std::io::Result<Self> {
        let (answered_ns, stop) = (Arc::new(AtomicU64::new(0)), Interrupt::new());
        let (answered, stopped) = (Arc::clone(&answered_ns), stop.clone());
        let ask = move || {
            while !stopped.is_raised() {
                // It requests the API versions, which any running broker answers at once.
                let connection =
                    Connection::connect_within(&address, &config, PROBE_LIMIT, &stopped);
                if connection.is_ok() {
                    answered.store(clock.now_ns(), Ordering::Release);
                }
                drop(connection);
                std::thread::park_timeout(PROBE_PAUSE);
            }
        };
        let thread = std::thread::Builder::new().name("load-probe".to_owned());
        Ok(Self {
            answered_ns,
            stop,
            thread: Some(thread.spawn(ask)?),
        })
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.stop.raise();
        if let Some(thread) = self.thread.take() {
            // It ends within a tenth of a second, so nobody waits for it.
            thread.thread().unpark();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    /// Three brokers that lead two partitions each, without separate connections.
    fn watched() -> (Arc<OutageTracker>, OutageWatch) {
        let outages = Arc::new(OutageTracker::new(2));
        let leaders = Leaders([1, 2, 3, 1, 2, 3].map(Some).to_vec());
        outages.note(
            ClientSide::Source,
            Whereabouts {
                addresses: BTreeMap::new(),
                leaders,
            },
        );
        let config = ClientConfig::from_servers("localhost:9092").unwrap();
        let watch = OutageWatch::new(Clock::start(), Arc::clone(&outages), (config, None));
        (outages, watch)
    }

    fn see(
        outages: &OutageTracker,
        worker: usize,
        broker: i32,
        heard_s: u64,
        waits_s: Option<u64>,
    ) {
        outages.poll(worker, |states| {
            let waits = waits_s.map(|at_s| (at_s * SECOND_NS, OutageKind::Silent));
            add_state(
                states,
                BrokerLinkState {
                    side: ClientSide::Source,
                    broker,
                    heard_ns: heard_s * SECOND_NS,
                    waits,
                },
            );
        });
    }

    #[test]
    fn a_broker_that_owes_answers_is_reported_within_two_seconds_and_once() {
        let (outages, mut watch) = watched();
        see(&outages, 0, 2, 4, Some(5));
        assert_eq!(watch.poll(6 * SECOND_NS), []);
        let changes = watch.poll(6_900_000_000);
        let [OutageChange::Found { outage, at_ns }] = changes.as_slice() else {
            panic!("{changes:?}");
        };
        assert_eq!((outage.broker, outage.since_ns), (2, 5 * SECOND_NS));
        assert_eq!(*at_ns, 6_900_000_000);
        let leaders = (outage.partitions, outage.partitions_without_leader);
        assert_eq!(leaders, (6, 2), "it led two of six");
        assert_eq!(watch.poll(60 * SECOND_NS), []);
        assert!(!watch.is_total());
        assert_eq!(outages.patience_ns(7), 0);
        see(&outages, 0, 2, 61, None);
        let changes = watch.poll(62 * SECOND_NS);
        let [OutageChange::Over { outage, at_ns }] = changes.as_slice() else {
            panic!("{changes:?}");
        };
        assert_eq!((outage.broker, *at_ns), (2, 61 * SECOND_NS));
        assert!(watch.current().is_empty());
        assert_eq!(outages.patience_ns(7), 7);
    }

    #[test]
    fn what_one_client_hears_clears_the_broker_for_all() {
        let (outages, mut watch) = watched();
        see(&outages, 0, 1, 1, Some(2));
        see(&outages, 1, 1, 9, None);
        assert_eq!(watch.poll(10 * SECOND_NS), []);
        assert_eq!(
            watch.poll(11 * SECOND_NS).len(),
            1,
            "nothing came for two seconds"
        );
    }

    #[test]
    fn the_target_is_gone_when_no_partition_has_a_leader_that_answers() {
        let (outages, mut watch) = watched();
        outages.poll(0, |states| {
            for broker in 1..=3 {
                add_state(
                    states,
                    BrokerLinkState {
                        side: ClientSide::Source,
                        broker,
                        heard_ns: 0,
                        waits: Some((SECOND_NS, OutageKind::Unconnected)),
                    },
                );
            }
        });
        assert_eq!(watch.poll(4 * SECOND_NS).len(), 3);
        assert!(watch.is_total());
        let all = watch.current();
        assert!(all.iter().all(|one| one.partitions_without_leader == 6));
    }
}
