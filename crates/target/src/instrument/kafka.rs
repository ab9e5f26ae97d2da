//! Instructions to brokers of Apache Kafka: their processes are stopped, killed, frozen and started.

use super::{Done, InstructError, Instruction, NodeState, NodeStatus};
use crate::kafka::KafkaTarget;

pub(crate) fn instruct(
    target: &mut KafkaTarget,
    instruction: &Instruction,
) -> Result<Done, InstructError> {
    match instruction {
        Instruction::Stop { node } => target.begin_stop(*node)?,
        Instruction::Kill { node } => target.kill_broker(*node)?,
        Instruction::Restart { node } => target.begin_restart(*node)?,
        Instruction::Pause { node } => target.pause_broker(*node)?,
        Instruction::Resume { node } => target.resume_broker(*node)?,
        Instruction::Heal => target.restore()?,
        Instruction::Look => {
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
        _ => {
            let words = "Apache Kafka brokers can only be stopped, killed, restarted and paused";
            return Err(InstructError::Refused(words.to_owned()));
        }
    }
    Ok(Done::default())
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
