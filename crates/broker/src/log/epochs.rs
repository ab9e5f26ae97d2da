//! Which leader epoch began at which offset: what a follower and its leader compare to find where
//! their logs part.

/// The start of a leader epoch in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpochStart {
    /// The leader's epoch.
    pub epoch: i32,
    /// The first offset that was appended in it.
    pub start_offset: i64,
}

/// Answer to "where does this epoch end", as `OffsetForLeaderEpoch` gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpochEnd {
    /// The largest known epoch at or below the one that was asked for.
    pub epoch: i32,
    /// The offset after its last record.
    pub end_offset: i64,
}

/// The epochs of one log; both fields rise from entry to entry.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct LeaderEpochs {
    entries: Vec<EpochStart>,
}

impl LeaderEpochs {
    /// Takes over entries read from a file. `None` when they do not rise.
    #[must_use]
    pub fn from_entries(entries: Vec<EpochStart>) -> Option<Self> {
        let rises = |pair: &[EpochStart]| {
            pair[0].epoch < pair[1].epoch && pair[0].start_offset < pair[1].start_offset
        };
        entries.windows(2).all(rises).then_some(Self { entries })
    }

    /// The entries, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[EpochStart] {
        &self.entries
    }

    /// The newest epoch.
    #[must_use]
    pub fn latest(&self) -> Option<EpochStart> {
        self.entries.last().copied()
    }

    /// Notes that `epoch` begins at `start_offset`. An epoch that is known already, or older than
    /// one that is, changes nothing: within an epoch each append says the same. Entries that begin
    /// at or after the offset are replaced, for an epoch in which nothing was appended has no
    /// offsets of its own.
    pub fn assign(&mut self, epoch: i32, start_offset: i64) {
        if epoch < 0 || self.latest().is_some_and(|latest| epoch <= latest.epoch) {
            return;
        }
        let keep = self
            .entries
            .partition_point(|entry| entry.start_offset < start_offset);
        self.entries.truncate(keep);
        self.entries.push(EpochStart {
            epoch,
            start_offset,
        });
    }

    /// Where an epoch ends, with Kafka's rules: the newest one at the log's end; one that is
    /// unknown but older than the newest as the one before it does; one newer than all, or any when
    /// there are none, nowhere (`None`).
    #[must_use]
    pub fn end_offset(&self, epoch: i32, log_end_offset: i64) -> Option<EpochEnd> {
        let latest = self.latest()?;
        if epoch == latest.epoch {
            return Some(EpochEnd {
                epoch,
                end_offset: log_end_offset,
            });
        }
        let higher = self.entries.partition_point(|entry| entry.epoch <= epoch);
        let end_offset = self.entries.get(higher)?.start_offset;
        // Older than all that are known: it ended before the log begins.
        let floor = higher
            .checked_sub(1)
            .map_or(epoch, |index| self.entries[index].epoch);
        (epoch >= 0).then_some(EpochEnd {
            epoch: floor,
            end_offset,
        })
    }

    /// The epoch in which an offset was appended.
    #[must_use]
    pub fn epoch_of(&self, offset: i64) -> Option<i32> {
        let after = self
            .entries
            .partition_point(|entry| entry.start_offset <= offset);
        after.checked_sub(1).map(|index| self.entries[index].epoch)
    }

    /// The log was cut: entries at or after its new end are forgotten.
    pub fn truncate_from_end(&mut self, end_offset: i64) {
        let keep = self
            .entries
            .partition_point(|entry| entry.start_offset < end_offset);
        self.entries.truncate(keep);
    }

    /// The log's start moved up: older entries are forgotten, and the one that holds the start
    /// begins there.
    pub fn truncate_from_start(&mut self, start_offset: i64) {
        let after = self
            .entries
            .partition_point(|entry| entry.start_offset <= start_offset);
        let Some(holder) = after.checked_sub(1) else {
            return;
        };
        if self.entries[holder].start_offset == start_offset && holder == 0 {
            return;
        }
        self.entries.drain(..holder);
        self.entries[0].start_offset = start_offset;
    }

    /// Forgets all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// The entries that a restart needs: those in which something was appended. The epoch of a leader
    /// that has appended nothing is forgotten when the log is opened, for the next leader's begins at
    /// the same offset; so it costs no write.
    #[must_use]
    pub fn with_records(&self, log_end_offset: i64) -> &[EpochStart] {
        let end = self
            .entries
            .partition_point(|entry| entry.start_offset < log_end_offset);
        &self.entries[..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epochs(pairs: &[(i32, i64)]) -> LeaderEpochs {
        let mut epochs = LeaderEpochs::default();
        for &(epoch, start) in pairs {
            epochs.assign(epoch, start);
        }
        epochs
    }

    fn starts(epochs: &LeaderEpochs) -> Vec<(i32, i64)> {
        epochs
            .entries()
            .iter()
            .map(|entry| (entry.epoch, entry.start_offset))
            .collect()
    }

    #[test]
    fn only_a_newer_epoch_makes_an_entry() {
        assert_eq!(
            starts(&epochs(&[(1, 0), (1, 5), (0, 7), (3, 9), (-1, 10)])),
            [(1, 0), (3, 9)]
        );
    }

    #[test]
    fn an_epoch_without_appends_is_replaced_by_the_next() {
        assert_eq!(starts(&epochs(&[(1, 0), (2, 9), (3, 9)])), [(1, 0), (3, 9)]);
    }

    #[test]
    fn end_offsets_follow_kafkas_rules() {
        let epochs = epochs(&[(2, 10), (4, 20), (7, 35)]);
        let end = |epoch| {
            epochs
                .end_offset(epoch, 50)
                .map(|end| (end.epoch, end.end_offset))
        };
        assert_eq!(end(7), Some((7, 50)), "the newest ends at the log's end");
        assert_eq!(end(4), Some((4, 35)));
        assert_eq!(
            end(5),
            Some((4, 35)),
            "an unknown one ends where the one before does"
        );
        assert_eq!(end(2), Some((2, 20)));
        assert_eq!(
            end(1),
            Some((1, 10)),
            "older than all: it ended before the log begins"
        );
        assert_eq!(end(8), None, "newer than all");
        assert_eq!(end(-1), None);
        assert_eq!(LeaderEpochs::default().end_offset(0, 50), None);
    }

    #[test]
    fn an_epoch_without_records_is_not_kept() {
        let epochs = epochs(&[(2, 10), (4, 20), (7, 35)]);
        assert_eq!(epochs.with_records(36), epochs.entries());
        assert_eq!(epochs.with_records(35), &epochs.entries()[..2]);
        assert_eq!(epochs.with_records(10), []);
    }

    #[test]
    fn an_offset_knows_its_epoch() {
        let epochs = epochs(&[(2, 10), (4, 20)]);
        assert_eq!(epochs.epoch_of(9), None);
        assert_eq!(epochs.epoch_of(10), Some(2));
        assert_eq!(epochs.epoch_of(19), Some(2));
        assert_eq!(epochs.epoch_of(1000), Some(4));
    }

    #[test]
    fn cutting_at_either_end_keeps_the_entry_that_holds_the_border() {
        let mut from_end = epochs(&[(2, 10), (4, 20), (7, 35)]);
        from_end.truncate_from_end(20);
        assert_eq!(starts(&from_end), [(2, 10)]);
        let mut from_start = epochs(&[(2, 10), (4, 20), (7, 35)]);
        from_start.truncate_from_start(25);
        assert_eq!(starts(&from_start), [(4, 25), (7, 35)]);
        from_start.truncate_from_start(25);
        from_start.truncate_from_start(3);
        assert_eq!(starts(&from_start), [(4, 25), (7, 35)]);
    }
}
