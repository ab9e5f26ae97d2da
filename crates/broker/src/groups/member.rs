//! One member of a group, as the coordinator knows it.

/// What a client reports about itself when it joins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Introduction {
    /// The id it was given; empty at first.
    pub(crate) member_id: String,
    /// Its own lasting name (KIP-345), if it has one.
    pub(crate) instance_id: Option<String>,
    pub(crate) client_id: String,
    pub(crate) client_host: String,
    pub(crate) session_timeout_ms: i32,
    pub(crate) rebalance_timeout_ms: i32,
    /// Kind of group, such as `consumer`.
    pub(crate) protocol_type: String,
    /// Ways to assign that it knows, the preferred first, each with its metadata.
    pub(crate) protocols: Vec<(String, Vec<u8>)>,
}

/// One member. `W` names who waits for an answer.
#[derive(Debug, Clone)]
pub(crate) struct ConsumerGroupMember<W> {
    pub(crate) id: String,
    pub(crate) instance_id: Option<String>,
    pub(crate) client_id: String,
    pub(crate) client_host: String,
    pub(crate) session_timeout_ms: i32,
    pub(crate) rebalance_timeout_ms: i32,
    pub(crate) protocols: Vec<(String, Vec<u8>)>,
    pub(crate) assignment: Vec<u8>,
    /// When its silence ends its membership, unless it waits for an answer.
    pub(crate) session_ends_ns: u64,
    /// Its place in the order of joining.
    pub(crate) order: u64,
    /// Waits for the others to join.
    pub(crate) join: Option<W>,
    /// Waits for the leader's assignment.
    pub(crate) sync: Option<W>,
}

impl<W> ConsumerGroupMember<W> {
    /// The metadata for one way to assign.
    pub(crate) fn metadata(&self, protocol: &str) -> &[u8] {
        let found = self.protocols.iter().find(|(name, _)| name == protocol);
        found.map_or(&[], |(_, metadata)| metadata)
    }

    /// Whether it knows a way to assign.
    pub(crate) fn knows(&self, protocol: &str) -> bool {
        self.protocols.iter().any(|(name, _)| name == protocol)
    }

    /// Whether it waits for an answer: then its silence is ours.
    pub(crate) fn is_waiting(&self) -> bool {
        self.join.is_some() || self.sync.is_some()
    }
}
