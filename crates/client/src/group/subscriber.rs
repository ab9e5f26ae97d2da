//! Members of a group as their leader sees them.

use std::collections::BTreeMap;

/// Partitions of each topic.
pub type Partitions = BTreeMap<String, Vec<i32>>;

/// A member as its leader sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscriber {
    /// The id from the coordinator.
    pub member_id: String,
    /// `group.instance.id` of a static member.
    pub instance_id: Option<String>,
    /// The topics that it wants to read.
    pub topics: Vec<String>,
    /// The partitions that it claims to have, for sticky assignors.
    pub owned: Partitions,
    /// The generation of their assignment; negative if unknown.
    pub generation: i32,
}

pub(super) fn wants(member: &Subscriber, topic: &str) -> bool {
    member.topics.iter().any(|name| name == topic)
}

pub(super) fn give(
    assignments: &mut BTreeMap<String, Partitions>,
    member: &Subscriber,
    topic: &str,
    index: i32,
) {
    if let Some(of_member) = assignments.get_mut(&member.member_id) {
        of_member.entry(topic.to_owned()).or_default().push(index);
    }
}
