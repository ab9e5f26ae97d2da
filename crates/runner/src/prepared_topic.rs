//! The topic that a repeat uses, and that the next one may reuse.

use kgauge_results::run::TopicFacts;

use crate::mirror_copy::Copy;

/// The topic of a repeat.
pub(crate) struct PreparedTopic {
    pub(crate) facts: TopicFacts,
    /// The offsets at which the run's own records start in an existing topic.
    pub(crate) earliest: Option<Vec<i64>>,
    /// Its copy on the second cluster.
    pub(crate) copy: Option<Copy>,
}
