//! The processes of a target.

/// A process of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetProcess {
    /// The operating system's number.
    pub pid: u32,
    /// What it is.
    pub role: TargetRole,
}

/// What a process of a target is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetRole {
    /// All brokers in one.
    WholeCluster,
    /// The broker with this id.
    Broker(i32),
    /// Something else, as people call it: `ZooKeeper`, `controller 4`.
    Other(String),
}

impl std::fmt::Display for TargetRole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TargetRole::WholeCluster => f.write_str("embedded cluster"),
            TargetRole::Broker(id) => write!(f, "broker {id}"),
            TargetRole::Other(name) => f.write_str(name),
        }
    }
}
