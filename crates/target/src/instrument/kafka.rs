//! Faults of Apache Kafka brokers: their processes are stopped, killed, paused and started.

use kgauge_faults::Fault;

use super::{Done, InstructError, Instruction, NodeState, NodeStatus};
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
        Instruction::Count => return Err(refused()),
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
    let node = injection.node.ok_or_else(refused)?;
    match (&injection.fault, is_lifted) {
        (Fault::Stop, false) => target.begin_stop(node)?,
        (Fault::Kill, false) => target.kill_broker(node)?,
        (Fault::Restart, false) | (Fault::Stop | Fault::Kill, true) => {
            target.begin_restart(node)?
        }
        (Fault::Pause, false) => target.pause_broker(node)?,
        (Fault::Pause, true) => target.resume_broker(node)?,
        _ => return Err(refused()),
    }
    Ok(Done::default())
}

fn refused() -> InstructError {
    let words = "Apache Kafka brokers can only be stopped, killed, restarted and paused";
    InstructError::Refused(words.to_owned())
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
