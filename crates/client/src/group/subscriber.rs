//! Members of a group as their leader sees them.

use std::collections::BTreeMap;

/// Partitions of each topic.
pub type Partitions = BTreeMap<String, Vec<i32>>;

/// A member as its leader sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscriber {
    /// The id that the coordinator gave.
    pub member_id: String,
    /// `group.instance.id` of a static member.
    pub instance_id: Option<String>,
    /// What it wants to read.
    pub topics: Vec<String>,
    /// What it says it has, for the assignors that leave it there.
    pub owned: Partitions,
    /// The generation in which it got that; below 0 where it does not know.
    pub generation: i32,
}

pub(super) fn wants(member: &Subscriber, topic: &str) -> bool {
    member.topics.iter().any(|name| name == topic)
}

pub(super) fn give(
    dealt: &mut BTreeMap<String, Partitions>,
    member: &Subscriber,
    topic: &str,
    index: i32,
) {
    if let Some(of_member) = dealt.get_mut(&member.member_id) {
        of_member.entry(topic.to_owned()).or_default().push(index);
    }
}
