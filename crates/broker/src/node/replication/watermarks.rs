//! High watermarks that outlive a restart: Kafka's `replication-offset-checkpoint`.
//!
//! A text file: the version (0), the number of lines, then topic, partition and offset of each. It
//! is rewritten from time to time and when the node stops, and never flushed. After a crash it may be
//! behind or missing; that costs nothing but time, for nothing is ever truncated to a high watermark.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use super::super::{BrokerNode, Timer};
use crate::ids::TopicName;
use crate::storage::{Storage, StorageError, read_whole, replace_file_unflushed};
use crate::time::Now;

const NAME: &str = "replication-offset-checkpoint";

/// High watermarks by topic and partition.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Watermarks {
    known: BTreeMap<TopicName, BTreeMap<i32, i64>>,
}

impl Watermarks {
    /// Reads a node's file. One that is not there, or is not understood, knows nothing.
    pub(crate) fn read(storage: &dyn Storage, dir: &Path) -> Result<Self, StorageError> {
        let bytes = read_whole(storage, &dir.join(NAME))?.unwrap_or_default();
        let text = String::from_utf8(bytes).unwrap_or_default();
        Ok(Self::parse(&text).unwrap_or_default())
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix('\n')?.lines();
        if lines.next()? != "0" {
            return None;
        }
        let count: usize = lines.next()?.parse().ok()?;
        let mut read = Self::default();
        for line in lines {
            let mut words = line.split(' ');
            let (topic, index) = (words.next()?, words.next()?.parse().ok()?);
            let offset = words.next()?.parse().ok()?;
            read.put(&topic.into(), index, offset);
        }
        (read.len() == count).then_some(read)
    }

    fn put(&mut self, topic: &TopicName, index: i32, offset: i64) {
        let known = match self.known.get_mut(topic) {
            Some(known) => known,
            None => self.known.entry(Arc::clone(topic)).or_default(),
        };
        known.insert(index, offset);
    }

    fn len(&self) -> usize {
        self.known.values().map(BTreeMap::len).sum()
    }

    fn text(&self) -> String {
        let mut text = format!("0\n{}\n", self.len());
        for (topic, partitions) in &self.known {
            for (index, offset) in partitions {
                // Writing to a String cannot fail.
                let _ = writeln!(text, "{topic} {index} {offset}");
            }
        }
        text
    }

    pub(crate) fn get(&self, topic: &str, index: i32) -> Option<i64> {
        self.known.get(topic)?.get(&index).copied()
    }
}

impl BrokerNode {
    pub(in crate::node) fn start_watermark_checkpoints(&mut self, now: Now) {
        let every_ms = self.settings.replica_high_watermark_checkpoint_interval_ms;
        self.timers.set(now.after_ms(every_ms), Timer::Watermarks);
    }

    /// Writes the high watermarks down, and sets the next time.
    pub(in crate::node) fn watermarks_due(&mut self, now: Now) {
        if let Err(error) = self.store_watermarks()
            && !error.is_disk_full()
            && !error.is_out_of_handles()
        {
            self.fatal(error);
        }
        self.start_watermark_checkpoints(now);
    }

    /// Writes the high watermarks down, if they have changed. Partitions without other replicas need
    /// none: their log's end is it.
    pub(in crate::node) fn store_watermarks(&mut self) -> Result<(), StorageError> {
        let mut current = Watermarks::default();
        for replica in self
            .replicas
            .values()
            .filter(|replica| replica.is_replicated)
        {
            current.put(
                &replica.topic,
                replica.id.index,
                replica.log.high_watermark(),
            );
        }
        if current == self.watermarks {
            return Ok(());
        }
        let path = self.config.dir.join(NAME);
        let text = current.text();
        replace_file_unflushed(&*self.config.storage, &path, text.as_bytes())?;
        self.watermarks = current;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_kafkas_and_is_read_again() {
        let text = "0\n2\na 0 17\na-b 12 0\n";
        let read = Watermarks::parse(text).unwrap();
        assert_eq!((read.get("a", 0), read.get("a-b", 12)), (Some(17), Some(0)));
        assert_eq!(read.get("a", 1), None);
        assert_eq!(read.text(), text);
    }

    #[test]
    fn a_file_that_is_cut_off_knows_nothing() {
        let text = "0\n2\na 0 17\nb 1 5\n";
        for cut in 0..text.len() {
            assert_eq!(Watermarks::parse(&text[..cut]), None, "{cut}");
        }
    }
}
