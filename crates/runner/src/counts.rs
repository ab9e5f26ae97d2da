//! Counts the records on the brokers before and after a repeat.

use std::time::{Duration, Instant};

use kgauge_client::Cluster;
use kgauge_client::admin::OffsetsError;
use kgauge_load::LoadOutcome;
use kgauge_results::run::{PartitionOffsets, TopicFacts, TopicRecord};

/// The records on the brokers after a load, or why they are unknown. If no broker answers, none is asked.
pub(crate) fn count(
    cluster: &mut Cluster,
    facts: &TopicFacts,
    before: &[i64],
    load: &LoadOutcome,
    may_follow: bool,
) -> (TopicRecord, Option<OffsetsError>) {
    if load.is_target_gone {
        return (topic_record(cluster, facts, before, None), None);
    }
    let totals = || load.flows.iter().map(|flow| flow.totals);
    let markers: u64 = totals().map(|totals| totals.markers).sum();
    let acked = markers + totals().map(|totals| totals.acked).sum::<u64>();
    let patience = match markers > 0 && may_follow && load.outages.is_empty() {
        true => MARKERS_MAX,
        false => Duration::ZERO,
    };
    if !load.outages.is_empty() {
        // Leaders may have moved away from a broker that does not answer. If nobody tells, the next question fails in
        // words.
        let _ = cluster.refresh(&[&facts.name]);
    }
    let after = ends_with_acked(cluster, &facts.name, before, acked, patience);
    let topic = topic_record(cluster, facts, before, after.as_deref().ok());
    (topic, after.err())
}

/// How long kgauge waits for the markers of transactions before it uses the brokers' counts as they are.
const MARKERS_MAX: Duration = Duration::from_secs(10);

/// A topic's end offsets, once they hold what was acked. The ends of the leaders' logs count: with acks=1, the high
/// watermark trails the acks until the followers have the records. The markers of a transaction are written after its
/// coordinator has answered.
fn ends_with_acked(
    cluster: &mut Cluster,
    topic: &str,
    before: &[i64],
    acked: u64,
    patience: Duration,
) -> Result<Vec<i64>, OffsetsError> {
    let deadline = Instant::now() + patience;
    loop {
        let after = ends(cluster, topic)?;
        if written(&after, before) >= acked || Instant::now() >= deadline {
            return Ok(after);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The ends of the leaders' logs, or the high watermarks of brokers that do not report the ends.
pub(crate) fn ends(cluster: &mut Cluster, topic: &str) -> Result<Vec<i64>, OffsetsError> {
    let readable = cluster.end_offsets(topic)?;
    let of_logs = cluster.log_end_offsets(topic).unwrap_or_default();
    let end = |(index, readable): (usize, i64)| match of_logs.get(index) {
        Some(of_log) => readable.max(*of_log),
        None => readable,
    };
    Ok(readable.into_iter().enumerate().map(end).collect())
}

fn written(after: &[i64], before: &[i64]) -> u64 {
    let partitions = after.iter().zip(before);
    let written: i64 = partitions.map(|(end, begin)| end - begin).sum();
    u64::try_from(written).unwrap_or(0)
}

fn topic_record(
    cluster: &mut Cluster,
    facts: &TopicFacts,
    before: &[i64],
    after: Option<&[i64]>,
) -> TopicRecord {
    let partition = |index: usize| PartitionOffsets {
        partition: index as i32,
        leader: cluster
            .known_leader(&facts.name, index as i32)
            .ok()
            .map(|leader| leader.broker_id),
        end_before: before.get(index).copied(),
        end_after: after.and_then(|after| after.get(index).copied()),
    };
    let partitions = (0..facts.partitions as usize).map(partition).collect();
    TopicRecord {
        facts: facts.clone(),
        partitions,
    }
}
