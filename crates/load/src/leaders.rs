//! Who leads the partitions, and on which of the two clusters.

/// The cluster of a client's topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ClientSide {
    /// The cluster under load.
    Source,
    /// The cluster that a replicator copies to.
    Copy,
}

/// The leaders of all partitions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Leaders(pub(crate) Vec<Option<i32>>);

impl Leaders {
    /// The leader of a partition, if there is one.
    pub(crate) fn of(&self, partition: u32) -> Option<i32> {
        self.0.get(partition as usize).copied().flatten()
    }
}
