//! Threads that ask every node every 10 ms, and a load on some partitions.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use kgauge_broker::ClusterHandle;
use kgauge_broker::ids::NodeId;

use crate::ask::{Asker, Failure};

const EVERY: Duration = Duration::from_millis(10);

/// Partitions that one request of the load writes to.
const PARTITIONS_PER_REQUEST: usize = 50;

/// One thread a node.
pub(crate) struct Probes {
    threads: Vec<JoinHandle<Result<(), Failure>>>,
    over: Arc<AtomicBool>,
    longest_ns: Arc<AtomicU64>,
}

impl Probes {
    /// Begins to write to a topic of which every node leads a partition.
    pub(crate) fn start(cluster: &ClusterHandle, topic: &'static str) -> Result<Self, Failure> {
        let over = Arc::new(AtomicBool::new(false));
        let longest_ns = Arc::new(AtomicU64::new(0));
        let mut threads = Vec::new();
        for (address, led) in led(cluster, topic, i32::MAX)? {
            let (over, longest_ns) = (Arc::clone(&over), Arc::clone(&longest_ns));
            threads.push(thread::spawn(move || {
                let mut asker = Asker::connect(address)?;
                while !over.load(Ordering::Acquire) {
                    let begin = Instant::now();
                    asker.produce(topic, &led[..1])?;
                    let took_ns = u64::try_from(begin.elapsed().as_nanos())?;
                    longest_ns.fetch_max(took_ns, Ordering::AcqRel);
                    thread::sleep(EVERY.saturating_sub(begin.elapsed()));
                }
                Ok(())
            }));
        }
        Ok(Self {
            threads,
            over,
            longest_ns,
        })
    }

    /// The longest wait since the last call.
    pub(crate) fn longest(&self) -> Duration {
        Duration::from_nanos(self.longest_ns.swap(0, Ordering::AcqRel))
    }

    /// Ends them. A probe that failed has waited for ever.
    pub(crate) fn stop(self) -> Duration {
        self.over.store(true, Ordering::Release);
        let mut failed = false;
        for thread in self.threads {
            failed |= !matches!(thread.join(), Ok(Ok(())));
        }
        if failed {
            return Duration::MAX;
        }
        Duration::from_nanos(self.longest_ns.load(Ordering::Acquire))
    }
}

/// Writes to the first partitions of a topic for a while, twenty times a second to some of each node.
pub(crate) fn load(
    cluster: &ClusterHandle,
    topic: &'static str,
    partitions: i32,
    time: Duration,
) -> Result<(), Failure> {
    let until = Instant::now() + time;
    let mut threads = Vec::new();
    for (address, led) in led(cluster, topic, partitions)? {
        threads.push(thread::spawn(move || {
            let mut asker = Asker::connect(address)?;
            for some in led.chunks(PARTITIONS_PER_REQUEST).cycle() {
                if Instant::now() >= until {
                    break;
                }
                asker.produce(topic, some)?;
                thread::sleep(Duration::from_millis(50));
            }
            Ok::<(), Failure>(())
        }));
    }
    for thread in threads {
        thread.join().map_err(|_| "the load panicked")??;
    }
    Ok(())
}

/// Each node's address and the first partitions that it leads.
fn led(
    cluster: &ClusterHandle,
    topic: &str,
    partitions: i32,
) -> Result<Vec<(SocketAddr, Vec<i32>)>, Failure> {
    let image = cluster.image()?;
    let topic = image.topic(topic).ok_or("the topic is gone")?;
    let nodes = (1..).zip(cluster.addresses());
    Ok(nodes
        .map(|(node, address)| {
            let led = topic.indexed().filter(|(index, partition)| {
                *index < partitions && partition.leader == Some(NodeId(node))
            });
            (*address, led.map(|(index, _)| index).collect())
        })
        .collect())
}
