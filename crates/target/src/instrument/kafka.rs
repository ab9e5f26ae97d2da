//! Faults of Apache Kafka brokers, carried out by signals, a preloaded library, a proxy and a false clock.

use kgauge_faults::Fault;

use super::{Done, FaultCounts, InstructError, Instruction, NodeState, NodeStatus};
use crate::kafka::KafkaTarget;

pub(crate) fn instruct(
    target: &mut KafkaTarget,
    instruction: &Instruction,
) -> Result<Done, InstructError> {
    let (injection, is_lifted) = match instruction {
        Instruction::Inject(injection) => (injection, false),
        Instruction::Lift(injection) => (injection, true),
        Instruction::Restore => {
            target.restore()?;
            return Ok(Done::default());
        }
        Instruction::Count => {
            let words = "Apache Kafka reports its counters through its metrics";
            return Err(InstructError::Refused(words.to_owned()));
        }
        Instruction::Sample => {
            let nodes = target.sample()?.into_iter();
            let nodes = nodes.map(|(node, state)| NodeStatus {
                node,
                state,
                words: None,
            });
            return Ok(Done {
                nodes: nodes.collect(),
                ..Done::default()
            });
        }
    };
    if let Fault::Requests { api, times, what } = &injection.fault {
        let equipment = &target.equipment;
        if is_lifted {
            let requests = equipment.lift_requests(injection.key)?;
            return Ok(Done {
                struck: requests.map(|requests| FaultCounts {
                    requests,
                    records: None,
                }),
                ..Done::default()
            });
        }
        let whom = (injection.key, injection.node, injection.seed);
        equipment.inject_requests(whom, (api.as_deref(), *times, what))?;
        return Ok(Done::default());
    }
    let node = injection
        .node
        .ok_or_else(|| InstructError::Refused(format!("\"{}\" needs a node", injection.fault)))?;
    let mut done = Done::default();
    match (&injection.fault, is_lifted) {
        (Fault::Stop, false) => target.begin_stop(node)?,
        (Fault::Kill, false) => target.kill_broker(node)?,
        (Fault::Crash, false) => done.lost_bytes = Some(target.crash_broker(node)?),
        (Fault::Restart, _) | (Fault::Stop | Fault::Kill | Fault::Crash, true) => {
            target.begin_restart(node)?;
        }
        (Fault::Pause, false) => target.pause_broker(node)?,
        (Fault::Pause, true) => target.resume_broker(node)?,
        (Fault::Cut { direction, end }, _) => {
            target.equipment.cut(node, (*direction, *end), is_lifted)?;
        }
        (Fault::Flush(_) | Fault::DiskFull { .. } | Fault::ClockOffset { .. }, false) => {
            target.set_fault(node, &injection.fault)?;
        }
        (Fault::Flush(_) | Fault::DiskFull { .. } | Fault::ClockOffset { .. }, true) => {
            target.lift_fault(node, &injection.fault)?;
        }
        (Fault::Requests { .. }, _) => {}
    }
    Ok(done)
}

impl NodeState {
    /// From what is known of a broker's process.
    pub(crate) fn of_process(is_told_to_stop: bool, has_ended: bool, is_starting: bool) -> Self {
        match (is_told_to_stop, has_ended, is_starting) {
            (true, true, _) => NodeState::Down,
            (true, false, _) => NodeState::Ending,
            (false, _, true) => NodeState::Starting,
            (false, _, false) => NodeState::Up,
        }
    }
}
