//! What the owner of a cluster should know although the node goes on.

use std::fmt;

use crate::ids::{NodeId, TopicName};

/// Something that a node did or found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The end of a log was cut because its leader does not have it.
    Cut {
        /// The partition's topic.
        topic: TopicName,
        /// Its index.
        index: i32,
        /// Who leads.
        leader: NodeId,
        /// The first offset that was removed.
        from: i64,
        /// The log's end before.
        to: i64,
    },
    /// Segments that an orderly stop left whole are shorter now, or gone. Other replicas have what they
    /// held: the folder was set aside, and the log is fetched again.
    SetAside {
        /// The partition's topic.
        topic: TopicName,
        /// Its index.
        index: i32,
    },
    /// The same, where no other replica has what they held: readers of that part get errors.
    Damaged {
        /// The partition's topic.
        topic: TopicName,
        /// Its index.
        index: i32,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut {
                topic,
                index,
                leader,
                from,
                to,
            } => write!(
                f,
                "{topic}-{index}: truncated {} records (offsets {from} to {}) that the leader, \
                 node {leader}, does not have",
                to - from,
                to - 1
            ),
            Self::SetAside { topic, index } => write!(
                f,
                "{topic}-{index}: segments are damaged; moved the folder aside and fetching the \
                 records from the other replicas"
            ),
            Self::Damaged { topic, index } => write!(
                f,
                "{topic}-{index}: segments are damaged, and no other replica is in sync; reading \
                 them returns CORRUPT_MESSAGE until retention or DeleteRecords removes them"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_names_partition_offsets_and_leader() {
        let cut = Notice::Cut {
            topic: "t".into(),
            index: 3,
            leader: NodeId(2),
            from: 67,
            to: 2000,
        };
        assert_eq!(
            cut.to_string(),
            "t-3: truncated 1933 records (offsets 67 to 1999) that the leader, node 2, does not have"
        );
    }
}
