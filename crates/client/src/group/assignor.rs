//! Kafka's own assignors: which member gets which partitions. The group's leader computes it.

use std::collections::BTreeMap;

use super::sticky::{sticky, withhold};
use super::subscriber::{Partitions, Subscriber, give, wants};

/// A `partition.assignment.strategy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assignor {
    /// Each member gets a range of each topic's partitions: `RangeAssignor`.
    Range,
    /// The partitions of all topics in turn: `RoundRobinAssignor`.
    RoundRobin,
    /// Balanced, with few moves from one rebalance to the next: `StickyAssignor`.
    Sticky,
    /// The same, for groups whose members continue to read during a rebalance: `CooperativeStickyAssignor`.
    CooperativeSticky,
}

impl Assignor {
    /// All assignors.
    pub const ALL: [Assignor; 4] = [
        Assignor::Range,
        Assignor::RoundRobin,
        Assignor::Sticky,
        Assignor::CooperativeSticky,
    ];

    /// Whether members that offer only these assignors keep their partitions during a rebalance (KIP-429).
    pub(crate) fn are_cooperative(offered: &[Assignor]) -> bool {
        !offered.is_empty()
            && offered
                .iter()
                .all(|one| *one == Assignor::CooperativeSticky)
    }

    /// Its name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Assignor::Range => "range",
            Assignor::RoundRobin => "roundrobin",
            Assignor::Sticky => "sticky",
            Assignor::CooperativeSticky => "cooperative-sticky",
        }
    }

    /// The assignor with this name.
    pub fn named(name: &str) -> Option<Assignor> {
        Assignor::ALL
            .into_iter()
            .find(|assignor| assignor.name() == name)
    }

    /// Assigns partitions; `partitions` has the partition count of each existing topic. The result contains every
    /// subscriber.
    pub fn assign(
        self,
        subscribers: &[Subscriber],
        partitions: &BTreeMap<String, i32>,
    ) -> BTreeMap<String, Partitions> {
        let mut sorted: Vec<&Subscriber> = subscribers.iter().collect();
        // `MemberInfo.compareTo`: static members first, by instance id; the others by member id.
        sorted.sort_by(|one, other| order(one).cmp(&order(other)));
        sorted.dedup_by(|one, other| one.member_id == other.member_id);
        let mut assignments: BTreeMap<String, Partitions> = sorted
            .iter()
            .map(|member| (member.member_id.clone(), Partitions::new()))
            .collect();
        match self {
            Assignor::Range => range(&sorted, partitions, &mut assignments),
            Assignor::RoundRobin => round_robin(&sorted, partitions, &mut assignments),
            Assignor::Sticky => sticky(&sorted, partitions, &mut assignments),
            Assignor::CooperativeSticky => {
                sticky(&sorted, partitions, &mut assignments);
                withhold(&sorted, &mut assignments);
            }
        }
        assignments
    }
}

fn order(member: &Subscriber) -> (bool, &str) {
    match &member.instance_id {
        Some(instance_id) => (false, instance_id),
        None => (true, &member.member_id),
    }
}

/// n partitions for m members: n / m each, and one more for the first n % m. (Since 3.5, Kafka's also considers
/// members' racks; kgauge's members report none.)
fn range(
    members: &[&Subscriber],
    partitions: &BTreeMap<String, i32>,
    assignments: &mut BTreeMap<String, Partitions>,
) {
    for (topic, &count) in partitions {
        let interested: Vec<&Subscriber> = members
            .iter()
            .copied()
            .filter(|member| wants(member, topic))
            .collect();
        let Some(share) = count.checked_div(interested.len() as i32) else {
            continue;
        };
        let extra = count % interested.len() as i32;
        let mut next = 0;
        for (place, member) in (0..).zip(interested) {
            let end = next + share + i32::from(place < extra);
            (next..end).for_each(|index| give(assignments, member, topic, index));
            next = end;
        }
    }
}

/// Members take turns; one that does not want a topic is skipped.
fn round_robin(
    members: &[&Subscriber],
    partitions: &BTreeMap<String, i32>,
    assignments: &mut BTreeMap<String, Partitions>,
) {
    let mut turn = 0;
    for (topic, &count) in partitions {
        if !members.iter().any(|member| wants(member, topic)) {
            continue;
        }
        for index in 0..count {
            while !wants(members[turn % members.len()], topic) {
                turn += 1;
            }
            give(assignments, members[turn % members.len()], topic, index);
            turn += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(id: &str, topics: &[&str]) -> Subscriber {
        Subscriber {
            member_id: id.to_owned(),
            instance_id: None,
            topics: topics.iter().map(|&topic| topic.to_owned()).collect(),
            owned: Partitions::new(),
            generation: -1,
        }
    }

    fn counts(topics: &[(&str, i32)]) -> BTreeMap<String, i32> {
        topics
            .iter()
            .map(|&(name, n)| (name.to_owned(), n))
            .collect()
    }

    fn of(assignments: &BTreeMap<String, Partitions>, id: &str) -> Vec<String> {
        let words = |(topic, indices): (&String, &Vec<i32>)| format!("{topic}{indices:?}");
        assignments[id].iter().map(words).collect()
    }

    // The two examples in the documentation of Kafka's assignors.

    #[test]
    fn range_deals_neighbours_and_the_rest_to_the_first() {
        let members = [member("C1", &["t0", "t1"]), member("C0", &["t0", "t1"])];
        let assignments = Assignor::Range.assign(&members, &counts(&[("t0", 3), ("t1", 3)]));
        assert_eq!(of(&assignments, "C0"), ["t0[0, 1]", "t1[0, 1]"]);
        assert_eq!(of(&assignments, "C1"), ["t0[2]", "t1[2]"]);
        let three = ["a", "b", "c"].map(|id| member(id, &["t"]));
        let assignments = Assignor::Range.assign(&three, &counts(&[("t", 6)]));
        assert_eq!(of(&assignments, "b"), ["t[2, 3]"]);
        let assignments = Assignor::Range.assign(&three, &counts(&[("t", 2)]));
        assert_eq!(of(&assignments, "c"), [""; 0]);
    }

    #[test]
    fn round_robin_goes_on_from_topic_to_topic() {
        let members = [member("C0", &["t0", "t1"]), member("C1", &["t0", "t1"])];
        let assignments = Assignor::RoundRobin.assign(&members, &counts(&[("t0", 3), ("t1", 3)]));
        assert_eq!(of(&assignments, "C0"), ["t0[0, 2]", "t1[1]"]);
        assert_eq!(of(&assignments, "C1"), ["t0[1]", "t1[0, 2]"]);
    }

    #[test]
    fn round_robin_skips_members_that_do_not_want_a_topic() {
        let members = [
            member("C0", &["t0"]),
            member("C1", &["t0", "t1"]),
            member("C2", &["t0", "t1", "t2"]),
        ];
        let topics = counts(&[("t0", 1), ("t1", 2), ("t2", 3)]);
        let assignments = Assignor::RoundRobin.assign(&members, &topics);
        assert_eq!(of(&assignments, "C0"), ["t0[0]"]);
        assert_eq!(of(&assignments, "C1"), ["t1[0]"]);
        assert_eq!(of(&assignments, "C2"), ["t1[1]", "t2[0, 1, 2]"]);
    }

    #[test]
    fn static_members_come_first_and_unknown_topics_are_left_out() {
        let mut fixed = member("z", &["t", "missing"]);
        fixed.instance_id = Some("zz".to_owned());
        let members = [member("a", &["t"]), fixed];
        for assignor in [Assignor::Range, Assignor::RoundRobin] {
            let assignments = assignor.assign(&members, &counts(&[("t", 1), ("unwanted", 4)]));
            assert_eq!(of(&assignments, "z"), ["t[0]"]);
            assert_eq!(of(&assignments, "a"), [""; 0]);
        }
    }
}
