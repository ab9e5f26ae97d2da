//! The partitions of all topics of a load, numbered consecutively, so that code that counts by partition need not
//! distinguish topics.

use std::collections::HashMap;

/// One or several topics with consecutively numbered partitions; that number is a partition's place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Topics {
    names: Vec<String>,
    /// For each topic the place of its first partition.
    firsts: Vec<u32>,
    by_name: HashMap<String, usize>,
}

impl Topics {
    /// The topics in order, each with its number of partitions.
    pub(crate) fn new(counted: impl IntoIterator<Item = (String, usize)>) -> Topics {
        let mut topics = Topics::default();
        let mut next = 0;
        for (name, count) in counted {
            topics.by_name.insert(name.clone(), topics.names.len());
            topics.names.push(name);
            topics.firsts.push(next);
            next += u32::try_from(count).unwrap_or(u32::MAX);
        }
        topics
    }

    /// A single topic with any number of partitions.
    #[cfg(test)]
    pub(crate) fn one(name: &str) -> Topics {
        Topics::new([(name.to_owned(), 0)])
    }

    /// All names.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The place of a topic's partition; `None` for an unknown one. Partitions that the last topic got later have
    /// higher places.
    pub(crate) fn place(&self, topic: &str, partition: i32) -> Option<u32> {
        let index = match self.names.as_slice() {
            [only] => (only == topic).then_some(0),
            _ => self.by_name.get(topic).copied(),
        }?;
        let place = self.firsts[index].checked_add(u32::try_from(partition).ok()?)?;
        let end = self.firsts.get(index + 1);
        end.is_none_or(|&end| place < end).then_some(place)
    }

    /// The topic's index and the partition at a place.
    pub(crate) fn at(&self, place: u32) -> (usize, u32) {
        let index = self.firsts.partition_point(|&first| first <= place);
        let index = index.saturating_sub(1);
        (index, place - self.firsts.get(index).copied().unwrap_or(0))
    }

    /// The topic's name and the partition at a place, as in the protocol.
    pub(crate) fn of(&self, place: u32) -> (&str, i32) {
        let (index, partition) = self.at(place);
        let name = self.names.get(index).map_or("", String::as_str);
        (name, i32::try_from(partition).unwrap_or(i32::MAX))
    }

    /// A partition for messages: with one topic, its number is enough.
    pub(crate) fn describe(&self, place: u32) -> String {
        match self.of(place) {
            (_, partition) if self.names.len() == 1 => format!("partition {partition}"),
            (topic, partition) => format!("partition {topic}-{partition}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Topics {
        let counted = [("b", 2), ("a", 3), ("c", 1)];
        Topics::new(counted.map(|(name, count)| (name.to_owned(), count)))
    }

    #[test]
    fn every_partition_has_its_own_place() {
        let topics = three();
        let row = ["b-0", "b-1", "a-0", "a-1", "a-2", "c-0"];
        for (place, name) in (0..).zip(row) {
            let (topic, partition) = topics.of(place);
            assert_eq!(format!("{topic}-{partition}"), name);
            assert_eq!(topics.place(topic, partition), Some(place));
            assert_eq!(topics.describe(place), format!("partition {name}"));
        }
    }

    #[test]
    fn what_is_not_in_the_row_has_no_place() {
        let topics = three();
        assert_eq!(topics.place("b", 2), None, "there stands a-0");
        assert_eq!(topics.place("b", -1), None);
        assert_eq!(topics.place("d", 0), None);
        assert_eq!(topics.place("c", 1), Some(6), "made later");
    }

    #[test]
    fn a_single_topics_places_are_its_partitions() {
        let topics = Topics::one("t");
        assert_eq!(topics.place("t", 7), Some(7));
        assert_eq!(topics.place("u", 7), None);
        assert_eq!(topics.describe(7), "partition 7");
    }
}
