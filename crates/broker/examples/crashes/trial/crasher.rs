//! Crashes one node after another, each when all replicas are in sync again.

use std::thread;
use std::time::{Duration, Instant};

use kgauge_broker::ClusterHandle;
use kgauge_broker::ids::NodeId;
use kgauge_broker::random::SmallRandom;

use super::{Failure, NODES, Plan, TOPIC};

/// A cluster that is not whole after so long never will be.
const WHOLE_MAX: Duration = Duration::from_secs(120);

/// What was done to the nodes.
#[derive(Debug, Default)]
pub(crate) struct Crashes {
    /// How often a node crashed.
    pub(crate) count: u64,
    /// How many partitions had the crashed node as their leader, all crashes together.
    pub(crate) leaders: u64,
    /// How often the node was back before anybody had missed it.
    pub(crate) unnoticed: u64,
    /// Bytes of logs that were not flushed, and so were lost.
    pub(crate) bytes_lost: u64,
    /// The time in which some replica was not in sync.
    pub(crate) not_whole: Duration,
    /// From the first crash to the last node's return.
    pub(crate) time: Duration,
}

/// Crashes and restarts nodes until the plan's time is over.
pub(super) fn run(
    plan: &Plan,
    cluster: &mut ClusterHandle,
    tell: &mut dyn FnMut(&str),
) -> Result<Crashes, Failure> {
    let mut random = SmallRandom::new(plan.seed);
    let mut crashes = Crashes::default();
    let start = Instant::now();
    while start.elapsed() < plan.time {
        wait_until_whole(cluster)?;
        pause(&mut random, &plan.gap_ms);
        // The nodes have been silent or not in the gap; what counts is now.
        wait_until_whole(cluster)?;
        let node = NodeId(1 + i32::try_from(random.below(u64::from(NODES)))?);
        let led = led_by(cluster, node)?;
        let life = life(cluster, node)?;
        let down = Instant::now();
        let lost = cluster.crash_node(node)?;
        pause(&mut random, &plan.down_ms);
        let noticed = self::life(cluster, node)? != life;
        cluster.restart_node(node)?;
        let back = down.elapsed();
        wait_until_whole(cluster)?;
        crashes.count += 1;
        crashes.leaders += led;
        crashes.unnoticed += u64::from(!noticed);
        crashes.bytes_lost += lost;
        crashes.not_whole += down.elapsed();
        tell(&format!(
            "{:6.1} s: node {node} crashed as leader of {led}, {lost} bytes lost, back after \
             {:.2} s, all in sync after {:.2} s",
            down.duration_since(start).as_secs_f64(),
            back.as_secs_f64(),
            down.elapsed().as_secs_f64(),
        ));
        if let Some(failure) = cluster.failures().first() {
            return Err(failure.clone().into());
        }
    }
    crashes.time = start.elapsed();
    Ok(crashes)
}

fn pause(random: &mut SmallRandom, ms: &std::ops::Range<u64>) {
    let ms = ms.start + random.below(ms.end - ms.start);
    thread::sleep(Duration::from_millis(ms));
}

fn led_by(cluster: &ClusterHandle, node: NodeId) -> Result<u64, Failure> {
    let image = cluster.image()?;
    let topic = image.topic(TOPIC).ok_or("the topic is gone")?;
    let led = topic.partitions.iter();
    Ok(led.filter(|known| known.leader == Some(node)).count() as u64)
}

/// Which life of the node the controller knows of.
fn life(cluster: &ClusterHandle, node: NodeId) -> Result<Option<u64>, Failure> {
    let image = cluster.image()?;
    Ok(image.nodes.get(&node).map(|node| node.epoch))
}

/// Waits until every partition has a leader and all of its replicas are in sync.
pub(super) fn wait_until_whole(cluster: &ClusterHandle) -> Result<(), Failure> {
    let until = Instant::now() + WHOLE_MAX;
    loop {
        let image = cluster.image()?;
        let topic = image.topic(TOPIC).ok_or("the topic is gone")?;
        let torn = topic.partitions.iter().find(|partition| {
            partition.leader.is_none() || partition.isr.len() < usize::from(NODES)
        });
        let Some(torn) = torn else {
            return Ok(());
        };
        if Instant::now() >= until {
            return Err(format!("a partition stays out of sync: {torn:?}").into());
        }
        thread::sleep(Duration::from_millis(5));
    }
}
