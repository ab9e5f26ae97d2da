//! The invariants of a consumer group, whatever happens to its members and coordinators.
//!
//! * A partition is owned by one member in a generation.
//! * Generations only rise: whoever asks after a generation was complete gets no assignment of an
//!   older one. (A coordinator that does not know yet that it is none may let members join, as Kafka's
//!   does; it cannot assign.)
//! * An acknowledged commit is never lost: whoever asks later gets this offset, or a later one.
//! * A member of an old generation commits nothing once a newer one is complete.

use std::collections::{BTreeMap, BTreeSet};

use crate::Violation;

/// The observations so far.
#[derive(Debug, Default)]
pub(super) struct GroupChecks {
    /// Who owns a partition in a generation.
    owners: BTreeMap<(i32, i32), String>,
    /// The newest generation in which a member got an assignment.
    newest: i32,
    /// The largest acknowledged offset by partition.
    committed: BTreeMap<i32, i64>,
    commits: u64,
    /// How often a coordinator returned less than it had acked.
    commits_back: u64,
}

impl GroupChecks {
    pub(super) fn newest(&self) -> i32 {
        self.newest
    }

    /// The least offsets that a fetch of offsets must return now.
    pub(super) fn floors(&self) -> BTreeMap<i32, i64> {
        self.committed.clone()
    }

    /// Acknowledged commits.
    pub(super) fn commits(&self) -> u64 {
        self.commits
    }

    /// How often a coordinator returned less than it had acked.
    pub(super) fn commits_back(&self) -> u64 {
        self.commits_back
    }

    /// Generations in which members got an assignment.
    pub(super) fn generations(&self) -> u64 {
        let generations = self.owners.keys().map(|(generation, _)| generation);
        BTreeSet::from_iter(generations).len() as u64
    }

    /// A member got its assignment; it had asked when `newest` was complete.
    pub(super) fn synced(
        &mut self,
        generation: i32,
        newest: i32,
        member: &str,
        owned: &[i32],
    ) -> Result<(), Violation> {
        if generation < newest {
            return broken(format!("generation {generation} follows {newest}"));
        }
        self.newest = self.newest.max(generation);
        for partition in owned {
            let place = (generation, *partition);
            let owner = self
                .owners
                .entry(place)
                .or_insert_with(|| member.to_owned());
            if owner != member {
                let words = format!(
                    "partition {partition} belongs to {owner} and to {member} in generation \
                     {generation}"
                );
                return broken(words);
            }
        }
        Ok(())
    }

    /// A commit was acked that was sent when the generation `newest` was complete.
    pub(super) fn committed(
        &mut self,
        generation: i32,
        newest: i32,
        offsets: &BTreeMap<i32, i64>,
    ) -> Result<(), Violation> {
        if generation < newest {
            return broken(format!(
                "a member of generation {generation} committed in {newest}"
            ));
        }
        self.commits += 1;
        for (partition, offset) in offsets {
            let known = self.committed.entry(*partition).or_insert(*offset);
            *known = (*known).max(*offset);
        }
        Ok(())
    }

    /// A member fetched a committed offset; `floors` was acked when it asked.
    pub(super) fn fetched(
        &mut self,
        partition: i32,
        offset: i64,
        floors: &BTreeMap<i32, i64>,
    ) -> Result<(), Violation> {
        match floors.get(&partition) {
            Some(floor) if offset < *floor => {
                self.commits_back += 1;
                broken(format!(
                    "partition {partition}: offset {floor} was committed, but {offset} was fetched"
                ))
            }
            _ => Ok(()),
        }
    }
}

fn broken(words: String) -> Result<(), Violation> {
    Err(Violation::Group { words })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_owners_and_lost_or_late_commits_are_noticed() {
        let mut checks = GroupChecks::default();
        checks.synced(3, 2, "a", &[0]).unwrap();
        checks.synced(3, 2, "a", &[0]).unwrap();
        checks.synced(3, 3, "b", &[1]).unwrap();
        assert!(checks.synced(3, 3, "b", &[0]).is_err());
        assert!(checks.synced(2, 3, "c", &[]).is_err());
        checks.committed(3, 3, &[(0, 7)].into()).unwrap();
        assert!(checks.committed(2, 3, &[(0, 9)].into()).is_err());
        let floors = checks.floors();
        checks.fetched(0, 7, &floors).unwrap();
        assert!(checks.fetched(0, 6, &floors).is_err());
        checks.fetched(1, -1, &floors).unwrap();
    }
}
