//! Assignments in which members keep their partitions: balanced first, then with as few moves as possible, as Kafka's
//! `StickyAssignor` and `CooperativeStickyAssignor` promise.

use std::collections::{BTreeMap, BTreeSet};

use super::subscriber::{Partitions, Subscriber, give, wants};

/// A topic and one of its partitions.
type TopicAndPartition<'a> = (&'a str, i32);

/// Assigns partitions to members, which are sorted.
pub(super) fn sticky(
    members: &[&Subscriber],
    partitions: &BTreeMap<String, i32>,
    assignments: &mut BTreeMap<String, Partitions>,
) {
    let all: Vec<TopicAndPartition<'_>> = partitions
        .iter()
        .filter(|(topic, _)| members.iter().any(|member| wants(member, topic)))
        .flat_map(|(topic, &count)| (0..count).map(move |index| (topic.as_str(), index)))
        .collect();
    let mut held = claims(members, partitions);
    let is_alike = |topic: &String| {
        let interested = members.iter().filter(|member| wants(member, topic)).count();
        interested == 0 || interested == members.len()
    };
    let alike = partitions.keys().all(is_alike);
    if alike {
        within_quota(&mut held, all.len());
    }
    assign_rest(members, &all, &mut held);
    if !alike {
        while move_one(members, &mut held) {}
    }
    for (member, parts) in members.iter().zip(held) {
        for (topic, index) in parts {
            give(assignments, member, topic, index);
        }
    }
}

/// The valid claims of each member. If two claim the same partition, the later generation wins; with the same
/// generation, neither does.
fn claims<'a>(
    members: &[&Subscriber],
    partitions: &'a BTreeMap<String, i32>,
) -> Vec<BTreeSet<TopicAndPartition<'a>>> {
    let mut best: BTreeMap<TopicAndPartition<'a>, (i32, Option<usize>)> = BTreeMap::new();
    for (place, member) in members.iter().enumerate() {
        let owned: BTreeSet<(&String, i32)> = member
            .owned
            .iter()
            .flat_map(|(topic, indices)| indices.iter().map(move |&index| (topic, index)))
            .collect();
        for (topic, index) in owned {
            let Some((topic, &count)) = partitions.get_key_value(topic) else {
                continue;
            };
            if !(0..count).contains(&index) || !wants(member, topic) {
                continue;
            }
            let mine = (member.generation, Some(place));
            let known = best.entry((topic.as_str(), index)).or_insert(mine);
            if *known != mine && known.0 == member.generation {
                known.1 = None;
            } else if known.0 < member.generation {
                *known = mine;
            }
        }
    }
    let mut held = vec![BTreeSet::new(); members.len()];
    for (part, (_, owner)) in best {
        if let Some(owner) = owner {
            held[owner].insert(part);
        }
    }
    held
}

/// If all want the same topics, nobody may keep more than a fair share: n / m each, and one more for n % m members.
fn within_quota(held: &mut [BTreeSet<TopicAndPartition<'_>>], all: usize) {
    let least = all / held.len().max(1);
    let mut extra = all % held.len().max(1);
    for parts in held {
        let quota = if parts.len() > least && extra > 0 {
            extra -= 1;
            least + 1
        } else {
            least
        };
        while parts.len() > quota {
            parts.pop_last();
        }
    }
}

/// Partitions without an owner go to the member with the fewest, starting with those that the fewest members want.
fn assign_rest<'a>(
    members: &[&Subscriber],
    all: &[TopicAndPartition<'a>],
    held: &mut [BTreeSet<TopicAndPartition<'a>>],
) {
    let has: BTreeSet<TopicAndPartition<'a>> = held.iter().flatten().copied().collect();
    let mut rest: Vec<TopicAndPartition<'a>> = all
        .iter()
        .copied()
        .filter(|part| !has.contains(part))
        .collect();
    let candidates = |topic: &str| members.iter().filter(|member| wants(member, topic)).count();
    rest.sort_by_cached_key(|(topic, _)| candidates(topic));
    for part in rest {
        let wanting = (0..members.len()).filter(|&place| wants(members[place], part.0));
        if let Some(place) = wanting.min_by_key(|&place| held[place].len()) {
            held[place].insert(part);
        }
    }
}

/// Moves one partition from the member with the most to one with at least two fewer, if both want one that the first
/// has.
fn move_one(members: &[&Subscriber], held: &mut [BTreeSet<TopicAndPartition<'_>>]) -> bool {
    let mut by_load: Vec<usize> = (0..held.len()).collect();
    by_load.sort_by_key(|&place| std::cmp::Reverse(held[place].len()));
    for from in by_load {
        let mut best = None;
        for &part in &held[from] {
            let wanting = (0..held.len()).filter(|&place| wants(members[place], part.0));
            let to = wanting.min_by_key(|&place| held[place].len());
            let Some(to) = to.filter(|&to| held[to].len() + 1 < held[from].len()) else {
                continue;
            };
            if best.is_none_or(|(_, known): (_, usize)| held[to].len() < held[known].len()) {
                best = Some((part, to));
            }
        }
        if let Some((part, to)) = best {
            held[from].remove(&part);
            held[to].insert(part);
            return true;
        }
    }
    false
}

/// Cooperative members get no partition that another member still has: they get it in the next rebalance, after that
/// member has given it up (KIP-429).
pub(super) fn withhold(members: &[&Subscriber], assignments: &mut BTreeMap<String, Partitions>) {
    for member in members {
        let Some(given) = assignments.get_mut(&member.member_id) else {
            continue;
        };
        for (topic, indices) in given.iter_mut() {
            let has = |who: &Subscriber, index: &i32| {
                who.owned
                    .get(topic)
                    .is_some_and(|owned| owned.contains(index))
            };
            indices.retain(|index| {
                let mut others = members
                    .iter()
                    .filter(|other| other.member_id != member.member_id);
                has(member, index) || !others.any(|other| has(other, index))
            });
        }
        given.retain(|_, indices| !indices.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::super::assignor::Assignor;
    use super::*;

    fn parts(words: &str) -> Partitions {
        let mut parts = Partitions::new();
        for word in words.split_whitespace() {
            let (topic, index) = word.split_once('-').unwrap();
            let of_topic = parts.entry(topic.to_owned()).or_default();
            of_topic.push(index.parse().unwrap());
        }
        parts
    }

    fn member(id: &str, topics: &str, owned: &str, generation: i32) -> Subscriber {
        Subscriber {
            member_id: id.to_owned(),
            instance_id: None,
            topics: topics.split_whitespace().map(str::to_owned).collect(),
            owned: parts(owned),
            generation,
        }
    }

    fn assign(assignor: Assignor, members: &[Subscriber], topics: &[(&str, i32)]) -> Vec<String> {
        let counts = topics.iter().map(|&(name, n)| (name.to_owned(), n));
        let assignments = assignor.assign(members, &counts.collect());
        let words = assignments.values().map(|given| {
            let words = given.iter().flat_map(|(topic, indices)| {
                indices.iter().map(move |index| format!("{topic}-{index}"))
            });
            words.collect::<Vec<_>>().join(" ")
        });
        words.collect()
    }

    // The two examples in the documentation of Kafka's `StickyAssignor`.

    #[test]
    fn remaining_members_keep_their_partitions_and_share_those_of_the_leaver() {
        let topics = [("t0", 2), ("t1", 2), ("t2", 2), ("t3", 2)];
        let all = "t0 t1 t2 t3";
        let new = ["C0", "C1", "C2"].map(|id| member(id, all, "", -1));
        let first = assign(Assignor::Sticky, &new, &topics);
        assert_eq!(first, ["t0-0 t1-1 t3-0", "t0-1 t2-0 t3-1", "t1-0 t2-1"]);
        let left = [
            member("C0", all, &first[0], 1),
            member("C2", all, &first[2], 1),
        ];
        let second = assign(Assignor::Sticky, &left, &topics);
        assert_eq!(second, ["t0-0 t1-1 t2-0 t3-0", "t0-1 t1-0 t2-1 t3-1"]);
    }

    #[test]
    fn unlike_wishes_are_met_and_nothing_that_can_stay_is_moved() {
        let topics = [("t0", 1), ("t1", 2), ("t2", 3)];
        let new = [
            member("C0", "t0", "", -1),
            member("C1", "t0 t1", "", -1),
            member("C2", "t0 t1 t2", "", -1),
        ];
        let first = assign(Assignor::Sticky, &new, &topics);
        assert_eq!(first, ["t0-0", "t1-0 t1-1", "t2-0 t2-1 t2-2"]);
        let left = [
            member("C1", "t0 t1", &first[1], 1),
            member("C2", "t0 t1 t2", &first[2], 1),
        ];
        // As in the documentation, C1 takes over C0's partitions and keeps its own.
        let second = assign(Assignor::Sticky, &left, &topics);
        assert_eq!(second, ["t0-0 t1-0 t1-1", "t2-0 t2-1 t2-2"]);
    }

    #[test]
    fn a_newcomer_gets_its_part_with_as_few_moves_as_can_be() {
        // 8 for 3 members are 3, 3 and 2: each existing member gives up one, and no more.
        let members = [
            member("a", "t", "t-0 t-2 t-4 t-6", 4),
            member("b", "t", "t-1 t-3 t-5 t-7", 4),
            member("c", "t", "", -1),
        ];
        let assignments = assign(Assignor::Sticky, &members, &[("t", 8)]);
        assert_eq!(assignments, ["t-0 t-2 t-4", "t-1 t-3 t-5", "t-6 t-7"]);
    }

    #[test]
    fn unlike_wishes_move_from_the_fullest_first() {
        // b wants nothing else; 8 partitions of t among a and c, 4 each.
        let members = [
            member("a", "t", "t-0 t-1 t-2 t-3 t-4 t-5 t-6 t-7", 4),
            member("b", "u", "", 4),
            member("c", "t u", "u-0", 4),
        ];
        let assignments = assign(Assignor::Sticky, &members, &[("t", 8), ("u", 1)]);
        let counts: Vec<usize> = assignments.iter().map(|of| of.split(' ').count()).collect();
        assert_eq!(assignments[1], "u-0", "who can have nothing else");
        assert_eq!(counts, [4, 1, 4]);
    }

    #[test]
    fn the_later_generation_is_right_and_equals_are_both_wrong() {
        let members = [
            member("a", "t", "t-0 t-1", 3),
            member("b", "t", "t-1 t-2", 4),
            member("c", "t", "", -1),
        ];
        let assignments = assign(Assignor::Sticky, &members, &[("t", 3)]);
        assert_eq!(assignments, ["t-0", "t-1", "t-2"]);
        let members = [member("a", "t", "t-1", 4), member("b", "t", "t-0 t-1", 4)];
        let assignments = assign(Assignor::Sticky, &members, &[("t", 2)]);
        assert_eq!(assignments, ["t-1", "t-0"]);
    }

    #[test]
    fn claims_on_what_is_not_there_are_nothing() {
        let members = [
            member("a", "t", "t-7 t--1 gone-0 u-0 t-0 t-0", 4),
            member("b", "t", "", 4),
        ];
        let assignments = assign(Assignor::Sticky, &members, &[("t", 2), ("u", 1)]);
        assert_eq!(assignments, ["t-0", "t-1"]);
    }

    #[test]
    fn cooperative_members_wait_for_what_another_has_to_let_go() {
        let members = [
            member("a", "t", "t-0 t-1 t-2 t-3", 1),
            member("b", "t", "", -1),
        ];
        let first = assign(Assignor::CooperativeSticky, &members, &[("t", 5)]);
        // t-3 is meant for b, but a still has it; nobody has t-4.
        assert_eq!(first, ["t-0 t-1 t-2", "t-4"]);
        let members = [
            member("a", "t", &first[0], 2),
            member("b", "t", &first[1], 2),
        ];
        let second = assign(Assignor::CooperativeSticky, &members, &[("t", 5)]);
        assert_eq!(second, ["t-0 t-1 t-2", "t-3 t-4"]);
    }

    #[test]
    fn whatever_members_had_all_is_dealt_out_evenly_and_only_once() {
        // No member's claims can be trusted: a small generator makes many.
        let mut state = 7_u32;
        let mut random = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        for _ in 0..500 {
            let count = random(20) as i32 + 1;
            let members: Vec<Subscriber> = (0..=random(6))
                .map(|number| {
                    let owned: Vec<String> = (0..random(12))
                        .map(|_| format!("t-{}", random(24)))
                        .collect();
                    let generation = random(3) as i32 - 1;
                    member(&format!("m{number}"), "t", &owned.join(" "), generation)
                })
                .collect();
            let assignments = assign(Assignor::Sticky, &members, &[("t", count)]);
            let mut all: Vec<&str> = assignments
                .iter()
                .flat_map(|of| of.split_whitespace())
                .collect();
            let counts: Vec<usize> = assignments
                .iter()
                .map(|of| of.split_whitespace().count())
                .collect();
            assert!(
                counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1,
                "{members:?} {assignments:?}"
            );
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len() as i32, count, "{members:?} {assignments:?}");
        }
    }
}
