//! Ends all faults after a repeat, and waits until the cluster has recovered.

use std::time::Duration;

use kgauge_client::cluster::MetadataView;
use kgauge_load::Clock;
use kgauge_results::run::RepeatKey;
use kgauge_target::{Instruction, NodeState};

use super::{FaultThread, Log, NodesReport, over};
use crate::error::RunError;
use crate::processes;
use crate::recovery_wait::RecoveryWait;
use crate::session::Session;

/// How long a cluster may take to recover: a broker of Apache Kafka starts again, and
/// fetches what it missed.
const WHOLE_MAX: Duration = Duration::from_secs(120);

/// The pause between two checks of the cluster.
const LOOK: Duration = Duration::from_millis(50);

/// Where Kafka keeps committed offsets; its replicas count too.
const OFFSETS_TOPIC: &str = "__consumer_offsets";

/// Ends the faults of a repeat. A run that is ending does not wait for recovery.
pub(crate) fn restore(
    session: &mut Session<'_>,
    thread: Option<FaultThread>,
    topic: &str,
    (key, clock): (RepeatKey, Clock),
) -> Result<(), RunError> {
    let Some(thread) = thread else { return Ok(()) };
    let log = Log {
        events: session.folder.events(),
        key,
        clock,
    };
    for lasting in thread.end() {
        let text = format!("{}, with the repeat's end", lasting.text);
        log.note(over(
            text,
            Some(lasting.entry),
            lasting.nodes,
            lasting.report,
        ));
    }
    if session.stopping.is_wanted() || session.death().is_some() {
        return Ok(());
    }
    let mut wait = RecoveryWait::begin();
    // Starting a broker again takes seconds; most clusters are whole at once.
    if let Some(missing) = missing_nodes(session)? {
        wait.report_now(session, &missing);
    }
    let healed = session.target.instruct(&Instruction::Restore);
    healed.map_err(|words| not_whole(&wait, &words))?;
    loop {
        let missing = match missing_nodes(session)? {
            None => missing_replicas(session, topic),
            missing => missing,
        };
        let Some(missing) = missing else { break };
        if session.stopping.is_wanted() {
            return Ok(());
        }
        if wait.elapsed() >= WHOLE_MAX {
            return Err(not_whole(&wait, &missing));
        }
        wait.report(session, &missing);
        std::thread::sleep(LOOK);
    }
    session.target_processes = processes::own(session.target.processes());
    let waited = wait.elapsed().as_secs_f64();
    let text = format!("all nodes are up and all replicas in sync, after {waited:.1} s");
    log.note(over(text, None, Vec::new(), NodesReport::default()));
    Ok(())
}

fn not_whole(wait: &RecoveryWait, words: &str) -> RunError {
    let waited = wait.elapsed().as_secs_f64();
    let words = format!("the cluster has not recovered {waited:.0} s after the faults: {words}");
    RunError::cluster(words)
}

/// Lists the nodes that are down, as text.
fn missing_nodes(session: &Session<'_>) -> Result<Option<String>, RunError> {
    let sample = session.target.instruct(&Instruction::Sample);
    let done = sample.map_err(RunError::cluster)?;
    let down = done.nodes.iter().filter(|node| node.state != NodeState::Up);
    let down: Vec<String> = down.map(|node| node.node.to_string()).collect();
    Ok((!down.is_empty()).then(|| format!("node {} is not up", down.join(" and "))))
}

/// Lists the replicas that are out of sync, as text.
fn missing_replicas(session: &mut Session<'_>, topic: &str) -> Option<String> {
    let nodes = session.nodes;
    match session.cluster.refresh(&[topic, OFFSETS_TOPIC]) {
        Err(error) => Some(error.to_string()),
        Ok(metadata) if metadata.brokers.len() < nodes => {
            let known = metadata.brokers.len();
            Some(format!("{known} of {nodes} nodes are registered"))
        }
        Ok(metadata) => out_of_sync(metadata),
    }
}

fn out_of_sync(metadata: &MetadataView) -> Option<String> {
    for topic in &metadata.topics {
        let behind = topic
            .partitions
            .iter()
            .find(|one| one.leader_id.is_none() || one.isr.len() < one.replicas.len());
        if let Some(partition) = behind {
            return Some(format!(
                "partition {} of {} has {} of {} replicas in sync",
                partition.index,
                topic.name,
                partition.isr.len(),
                partition.replicas.len()
            ));
        }
    }
    None
}
