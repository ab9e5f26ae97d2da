//! The names of processes in charts and notes.

use kgauge_results::run::Subject;

/// What charts call a process, or the machine.
pub(super) fn name_of(subject: &Subject) -> Option<String> {
    match subject {
        Subject::Generator => Some("generator".to_owned()),
        Subject::Target { broker: None } => Some("target".to_owned()),
        Subject::Target { broker: Some(id) } => Some(format!("broker {id}")),
        Subject::Process { name } => Some(name.clone()),
        Subject::Host => Some("machine".to_owned()),
        Subject::GeneratorThread { .. } | Subject::Cluster { .. } | Subject::Flow { .. } => None,
    }
}
