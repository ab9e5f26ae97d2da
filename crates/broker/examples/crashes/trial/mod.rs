//! One trial: three nodes, producers, a node that crashes again and again, and the reckoning.

mod crasher;
mod lane;
mod ledger;
mod outside;
mod reader;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use kgauge_broker::{ClusterConfig, EmbeddedCluster};
use kgauge_client::admin::TopicSpec;
use kgauge_client::{ClientConfig, Cluster as Client};

pub(crate) use crasher::Crashes;
use lane::Lane;
use ledger::{Ledger, Note};
pub(crate) use ledger::{Promise, Reckoning};
use outside::Outside;

/// What may go wrong with the trial itself.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

const NODES: u16 = 3;
const TOPIC: &str = "crashes";

/// Small enough that a crash finds closed segments, which are flushed, and one that is not.
const SEGMENT_BYTES: &str = "4194304";

/// How long producers may take to send again what was not acknowledged when the crashes end.
const DRAIN_MAX: Duration = Duration::from_secs(120);

/// Which acknowledgement producers wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Acks {
    /// Of all in-sync replicas, at least two. Producers are idempotent.
    All,
    /// Of the leader alone.
    Leader,
}

impl Acks {
    /// As Kafka writes it.
    pub(crate) fn number(self) -> i16 {
        match self {
            Self::All => -1,
            Self::Leader => 1,
        }
    }
}

/// What is to be done.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Chooses nodes, gaps and downtimes.
    pub(crate) seed: u64,
    /// How long nodes crash.
    pub(crate) time: Duration,
    /// What producers wait for.
    pub(crate) acks: Acks,
    /// Partitions of the topic.
    pub(crate) partitions: i32,
    /// Producers of our own, or how many times the outside program is started.
    pub(crate) producers: u32,
    /// Records a second of all our producers together.
    pub(crate) records_per_second: u32,
    /// Milliseconds for which the whole cluster is left alone before the next crash.
    pub(crate) gap_ms: std::ops::Range<u64>,
    /// Milliseconds for which a crashed node stays down.
    pub(crate) down_ms: std::ops::Range<u64>,
    /// A program that produces instead of ours and tells what was acknowledged as Kafka's
    /// verifiable producer does; `{servers}`, `{topic}`, `{acks}` and `{number}` are filled in.
    pub(crate) outside: Option<Vec<String>>,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The crashes.
    pub(crate) crashes: Crashes,
    /// Records acknowledged, found, lost, doubled.
    pub(crate) reckoning: Reckoning,
}

/// Runs a trial on an empty folder.
pub(crate) fn run(plan: &Plan, dir: &Path, tell: &mut dyn FnMut(&str)) -> Result<Outcome, Failure> {
    let mut cluster = EmbeddedCluster::start(config(plan, dir))?;
    let servers = cluster.bootstrap_servers();
    let client = ClientConfig::from_servers(&servers)?;
    let mut admin = Client::bootstrap(client.clone())?;
    admin.create_topic(&TopicSpec {
        name: TOPIC.to_owned(),
        partitions: plan.partitions,
        replication_factor: NODES as i16,
        configs: vec![
            ("min.insync.replicas".to_owned(), "2".to_owned()),
            ("segment.bytes".to_owned(), SEGMENT_BYTES.to_owned()),
        ],
    })?;

    let ending = AtomicBool::new(false);
    let (notes, receiver) = mpsc::channel();
    let mut ledger = Ledger::new(plan.partitions);
    let crashes = thread::scope(|scope| -> Result<Crashes, Failure> {
        // However this ends, the producers must not be waited for in vain.
        let _end = Ending(&ending);
        let mut producers = Vec::new();
        match &plan.outside {
            None => {
                for lane in lanes(plan, &client, &mut admin)? {
                    let (notes, ending) = (notes.clone(), &ending);
                    producers.push(scope.spawn(move || lane.run(&notes, ending)));
                }
            }
            Some(words) => {
                for number in 0..plan.producers {
                    let outside = Outside::start(words, &servers, plan.acks, number)?;
                    let (notes, ending) = (notes.clone(), &ending);
                    producers.push(scope.spawn(move || outside.run(&notes, ending)));
                }
            }
        }
        drop(notes);
        let crashes = crasher::run(plan, &mut cluster, tell)?;
        ending.store(true, Ordering::Release);
        let until = Instant::now() + DRAIN_MAX;
        // The notes end when the last producer has ended.
        while let Ok(note) = receiver.recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            ledger.note(note);
        }
        for producer in producers {
            if !producer.is_finished() && Instant::now() >= until {
                return Err("producers did not end: what they sent was never acknowledged".into());
            }
            producer.join().map_err(|_| "a producer panicked")??;
        }
        Ok(crashes)
    })?;

    crasher::wait_until_whole(&cluster)?;
    tell("everything is in sync again; reading");
    drop(admin);
    for partition in 0..plan.partitions {
        reader::read(&client, TOPIC, partition, &mut ledger)?;
    }
    if let Some(failure) = cluster.failures().first() {
        return Err(failure.clone().into());
    }
    cluster.stop()?;
    for partition in 0..plan.partitions {
        reader::compare_replicas(dir, NODES, TOPIC, partition)?;
    }
    Ok(Outcome {
        crashes,
        reckoning: ledger.reckon(),
    })
}

fn config(plan: &Plan, dir: &Path) -> ClusterConfig {
    let mut config = ClusterConfig::new(dir).with_nodes(NODES);
    config.seed = plan.seed;
    [
        // Short, so that most crashes are noticed before the node is back, and some are not.
        ("broker.session.timeout.ms", "1000"),
        ("broker.heartbeat.interval.ms", "200"),
        ("replica.lag.time.max.ms", "2000"),
        // Leaders come back to the nodes that crash.
        ("leader.imbalance.check.interval.seconds", "3"),
    ]
    .into_iter()
    .fold(config, |config, (name, value)| {
        config.with_setting(name, value)
    })
}

fn lanes(plan: &Plan, client: &ClientConfig, admin: &mut Client) -> Result<Vec<Lane>, Failure> {
    let mut lanes = Vec::new();
    let count = plan.producers * plan.partitions.unsigned_abs();
    for producer in 0..plan.producers {
        let identity = match plan.acks {
            Acks::All => Some(admin.init_producer_id()?),
            Acks::Leader => None,
        };
        for partition in 0..plan.partitions {
            lanes.push(Lane {
                stream: producer * plan.partitions.unsigned_abs() + partition.unsigned_abs(),
                topic: TOPIC,
                partition,
                acks: plan.acks,
                identity,
                client: client.clone(),
                records_per_second: plan.records_per_second.div_ceil(count),
                seed: plan.seed,
            });
        }
    }
    Ok(lanes)
}

/// Tells the producers to end when it goes.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The notes of a producer while it runs.
type Notes = mpsc::Sender<Note>;
