//! What a repeat finds on the cluster, and what the next one may find again.

use kgauge_results::run::TopicFacts;

use crate::mirror_copy::Copy;

/// The topic of a repeat.
pub(crate) struct PreparedTopic {
    pub(crate) facts: TopicFacts,
    /// Where the run's own records begin in a topic that was there before.
    pub(crate) earliest: Option<Vec<i64>>,
    /// Its copy on the second cluster.
    pub(crate) copy: Option<Copy>,
}
