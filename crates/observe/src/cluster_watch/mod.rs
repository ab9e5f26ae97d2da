//! A thread that watches over a whole cluster while loads run: its health, and how fast each broker answers.
//!
//! It has its own connections, and no load waits for it.

mod handlers;
mod round_trips;

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_results::run::{BrokerRoundTrips, ClusterCensus, Evidence, HealthStop};

use crate::census::{PartitionHealth, health};
use crate::sync::{lock, wait_until};
use handlers::IdleHandlers;
use round_trips::RoundTrips;

/// How often each broker gets the smallest request.
const EVERY_NS: u64 = 100_000_000;
/// How long a broker may take for it.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// How often the partitions of the cluster are read, at least.
const PARTITIONS_EVERY: Duration = Duration::from_secs(1);
/// Reading them takes at most this part of the time: a large cluster is read less often.
const PARTITIONS_TIME_PART: u32 = 20;
/// How often the disks are read.
const DISKS_EVERY: Duration = Duration::from_secs(10);
/// A worse state counts when it is seen this often in a row: new topics take a moment to get their leaders.
const WORSE_MIN: u32 = 3;

/// When a cluster is no longer healthy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HealthLimits {
    /// Request handlers wait for requests for at least this share of their time.
    pub idle_part_min: f64,
    /// File systems of logs are used to at most this share.
    pub disk_part_max: f64,
}

impl HealthLimits {
    /// 10 % idle, and disks filled to 85 %.
    pub const DEFAULT: HealthLimits = HealthLimits {
        idle_part_min: 0.10,
        disk_part_max: 0.85,
    };

    /// The first disk that is fuller than it may be.
    pub fn full_disk(&self, census: &ClusterCensus) -> Option<HealthStop> {
        census.brokers.iter().find_map(|broker| {
            broker.log_dirs.iter().find_map(|dir| {
                let used_part = dir.used_part()?;
                (used_part > self.disk_part_max).then(|| HealthStop::DiskFull {
                    broker: broker.id,
                    path: dir.path.clone(),
                    used_part,
                })
            })
        })
    }
}

/// The running thread. Dropping it stops it.
#[derive(Debug)]
pub struct ClusterWatch {
    state: Arc<Mutex<WatchState>>,
    thread: Option<JoinHandle<()>>,
    /// Dropped to stop the thread.
    stop: Option<Sender<()>>,
    interrupt: Interrupt,
}

/// What the thread and its owner share.
#[derive(Debug)]
struct WatchState {
    limits: Option<HealthLimits>,
    /// The trial whose load runs.
    trial: Option<u32>,
    round_trips: RoundTrips,
    handlers: IdleHandlers,
    stop: Option<HealthStop>,
}

impl WatchState {
    /// The first sign of bad health is the one that counts.
    fn note(&mut self, stop: HealthStop) {
        self.stop.get_or_insert(stop);
    }
}

/// Takes the evidence of a load, on any thread.
#[derive(Debug, Clone)]
pub struct HealthTap(Arc<Mutex<WatchState>>);

impl HealthTap {
    /// Looks for the request handlers' idle time.
    pub fn note(&self, evidence: &Evidence) {
        let mut state = lock(&self.0);
        let Some(limits) = state.limits.filter(|_| state.trial.is_some()) else {
            return;
        };
        let busy = state.handlers.add(evidence, limits.idle_part_min);
        if let Some((broker, idle_part)) = busy {
            state.note(HealthStop::HandlersBusy { broker, idle_part });
        }
    }
}

impl ClusterWatch {
    /// Starts watching. Without `limits`, it only measures how fast brokers answer. `before` is the cluster before any
    /// load: what was wrong then is no sign.
    pub fn start(
        client: ClientConfig,
        limits: Option<HealthLimits>,
        before: &ClusterCensus,
    ) -> std::io::Result<ClusterWatch> {
        let state = Arc::new(Mutex::new(WatchState {
            limits,
            trial: None,
            round_trips: RoundTrips::default(),
            handlers: IdleHandlers::default(),
            stop: None,
        }));
        let (stop, stopped) = channel::<()>();
        let interrupt = Interrupt::new();
        let mut poller = HealthPoller {
            state: Arc::clone(&state),
            client,
            interrupt: interrupt.clone(),
            cluster: None,
            before: PartitionHealth {
                offline: before.offline,
                under_replicated: before.under_replicated,
            },
            offline_seen: 0,
            under_replicated_seen: 0,
            partitions_due: Instant::now(),
            disks_due: Instant::now(),
        };
        let thread = std::thread::Builder::new()
            .name("health".to_owned())
            .spawn(move || poller.run(&stopped))?;
        Ok(ClusterWatch {
            state,
            thread: Some(thread),
            stop: Some(stop),
            interrupt,
        })
    }

    /// A load of this trial begins, or loads have ended.
    pub fn set_trial(&self, trial: Option<u32>) {
        let mut state = lock(&self.state);
        state.trial = trial;
        // The clock of the evidence starts again with each load.
        state.handlers = IdleHandlers::default();
    }

    /// Why no load may go on, if so.
    pub fn stop_cause(&self) -> Option<HealthStop> {
        lock(&self.state).stop.clone()
    }

    /// Forgets a sign that was acted on.
    pub fn forget_stop(&self) {
        lock(&self.state).stop = None;
    }

    /// Takes the evidence of loads.
    pub fn tap(&self) -> HealthTap {
        HealthTap(Arc::clone(&self.state))
    }

    /// How fast brokers have answered so far.
    pub fn round_trips(&self) -> Vec<BrokerRoundTrips> {
        lock(&self.state).round_trips.summary()
    }

    /// Ends the thread. A request in progress is cancelled, which takes a tenth of a second.
    pub fn end(&mut self) {
        self.interrupt.raise();
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing more to add.
            let _ = thread.join();
        }
    }
}

impl Drop for ClusterWatch {
    fn drop(&mut self) {
        self.end();
    }
}

/// The thread's own state.
struct HealthPoller {
    state: Arc<Mutex<WatchState>>,
    client: ClientConfig,
    interrupt: Interrupt,
    cluster: Option<Cluster>,
    before: PartitionHealth,
    /// How often in a row there were more of them than before.
    offline_seen: u32,
    under_replicated_seen: u32,
    partitions_due: Instant,
    disks_due: Instant,
}

impl HealthPoller {
    fn run(&mut self, stopped: &Receiver<()>) {
        let start = Instant::now();
        let now_ns = move || u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        loop {
            self.poll();
            let due_ns = (now_ns() / EVERY_NS + 1).saturating_mul(EVERY_NS);
            if !wait_until(due_ns, &now_ns, stopped) || self.interrupt.is_raised() {
                return;
            }
        }
    }

    /// Asks nothing between loads: what is created and deleted then is no sign.
    fn poll(&mut self) {
        let (trial, limits) = {
            let state = lock(&self.state);
            (state.trial, state.limits)
        };
        let Some(trial) = trial else {
            (self.offline_seen, self.under_replicated_seen) = (0, 0);
            return;
        };
        if self.cluster.is_none() {
            let found = Cluster::bootstrap_until(self.client.clone(), self.interrupt.clone());
            self.cluster = found.ok();
        }
        let Some(cluster) = &mut self.cluster else {
            return;
        };
        // Brokers that do not answer are the business of the load, which sees them first.
        cluster.set_time_limit(Some(ANSWER_MAX));
        for broker in broker_ids(cluster) {
            let answer = cluster.round_trip(broker, ANSWER_MAX);
            if self.interrupt.is_raised() {
                return;
            }
            let mut state = lock(&self.state);
            state.round_trips.add(trial, broker, answer.ok());
        }
        if let Some(limits) = limits {
            self.poll_partitions();
            self.poll_disks(limits);
        }
    }

    fn poll_partitions(&mut self) {
        let start = Instant::now();
        let Some(cluster) = self
            .cluster
            .as_mut()
            .filter(|_| start >= self.partitions_due)
        else {
            return;
        };
        let found = cluster.all_topics();
        let rest = start.elapsed() * PARTITIONS_TIME_PART;
        self.partitions_due = Instant::now() + rest.max(PARTITIONS_EVERY);
        let Ok(found) = found else {
            return;
        };
        if let Some(stop) = self.judge(health(&found.topics)) {
            lock(&self.state).note(stop);
        }
    }

    /// Whether the partitions have been worse than before for long enough.
    fn judge(&mut self, now: PartitionHealth) -> Option<HealthStop> {
        let before = self.before;
        let seen = |is_worse: bool, seen: u32| if is_worse { seen + 1 } else { 0 };
        self.offline_seen = seen(now.offline > before.offline, self.offline_seen);
        let is_worse = now.under_replicated > before.under_replicated;
        self.under_replicated_seen = seen(is_worse, self.under_replicated_seen);
        if self.offline_seen >= WORSE_MIN {
            return Some(HealthStop::Offline {
                partitions: now.offline,
                before: before.offline,
            });
        }
        (self.under_replicated_seen >= WORSE_MIN).then_some(HealthStop::UnderReplicated {
            partitions: now.under_replicated,
            before: before.under_replicated,
        })
    }

    fn poll_disks(&mut self, limits: HealthLimits) {
        if Instant::now() < self.disks_due {
            return;
        }
        let Some(cluster) = &mut self.cluster else {
            return;
        };
        let mut census = ClusterCensus::default();
        for id in broker_ids(cluster) {
            // No topic: only the file systems are of interest.
            if let Ok(dirs) = cluster.describe_log_dirs(id, Some(&[])) {
                census.brokers.push(crate::census::broker_of(id, &dirs));
            }
        }
        self.disks_due = Instant::now() + DISKS_EVERY;
        if let Some(stop) = limits.full_disk(&census) {
            lock(&self.state).note(stop);
        }
    }
}

fn broker_ids(cluster: &Cluster) -> Vec<i32> {
    let brokers = cluster.metadata().brokers.iter();
    brokers.map(|broker| broker.id).collect()
}

#[cfg(test)]
mod tests {
    use kgauge_results::run::{BrokerCensus, LogDirCensus};

    use super::*;

    fn poller(before: PartitionHealth) -> HealthPoller {
        HealthPoller {
            state: Arc::new(Mutex::new(WatchState {
                limits: Some(HealthLimits::DEFAULT),
                trial: Some(0),
                round_trips: RoundTrips::default(),
                handlers: IdleHandlers::default(),
                stop: None,
            })),
            client: ClientConfig::new(Vec::new()),
            interrupt: Interrupt::new(),
            cluster: None,
            before,
            offline_seen: 0,
            under_replicated_seen: 0,
            partitions_due: Instant::now(),
            disks_due: Instant::now(),
        }
    }

    #[test]
    fn only_what_is_worse_than_before_for_three_samples_counts() {
        let health = |offline, under_replicated| PartitionHealth {
            offline,
            under_replicated,
        };
        let mut poller = poller(health(0, 2));
        for now in [health(0, 2), health(0, 3), health(0, 3), health(0, 2)] {
            assert_eq!(poller.judge(now), None);
        }
        assert_eq!(poller.judge(health(0, 4)), None);
        assert_eq!(poller.judge(health(0, 4)), None);
        let expected = HealthStop::UnderReplicated {
            partitions: 5,
            before: 2,
        };
        assert_eq!(poller.judge(health(0, 5)), Some(expected));
    }

    #[test]
    fn a_disk_above_the_limit_is_named() {
        let dir = |path: &str, usable| LogDirCensus {
            path: path.to_owned(),
            total_bytes: Some(1_000),
            usable_bytes: usable,
            ..LogDirCensus::default()
        };
        let mut census = ClusterCensus {
            brokers: vec![BrokerCensus {
                id: 4,
                log_dirs: vec![dir("/a", Some(150)), dir("/b", None)],
                ..BrokerCensus::default()
            }],
            ..ClusterCensus::default()
        };
        assert_eq!(HealthLimits::DEFAULT.full_disk(&census), None);
        census.brokers[0].log_dirs[1].usable_bytes = Some(149);
        let Some(HealthStop::DiskFull { broker, path, .. }) =
            HealthLimits::DEFAULT.full_disk(&census)
        else {
            panic!("{census:?}");
        };
        assert_eq!((broker, path.as_str()), (4, "/b"));
    }
}
