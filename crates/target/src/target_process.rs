//! The processes of a target.

/// A process of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetProcess {
    /// The operating system's number.
    pub pid: u32,
    /// Its role.
    pub role: TargetRole,
}

/// The role of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetRole {
    /// All brokers in one.
    WholeCluster,
    /// The broker with this id.
    Broker(i32),
    /// Another process, by its name: `ZooKeeper`, `controller 4`.
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
