//! Opening a log: creating it, finding it as it was closed, or recovering it after a crash.

use std::path::Path;
use std::sync::Arc;

use kgauge_wire::codec::Uuid;

use super::checkpoint::StoredCheckpoint;
use super::epochs::LeaderEpochs;
use super::facts::SegmentFacts;
use super::metadata_file::begin_topic_id;
use super::names::{LOG, SNAPSHOT, parse_file};
use super::producers::ProducerStates;
use super::recent::RecentBatches;
use super::segment::Segment;
use super::state_file::LogState;
use super::{LogConfig, LogError, PartitionLog, epoch_file};
use crate::storage::{EntryKind, Storage};

impl PartitionLog {
    /// Opens the log in a folder, creating both if need be.
    ///
    /// A log that was closed in order is opened by a look at its end. Any other is recovered: from
    /// the segment that holds the last flush on, every batch is read and checked, the log is cut
    /// before the first one that is not whole, and indexes, producer states and leader epochs are
    /// rebuilt. The high watermark begins at the log's start; the owner knows better.
    pub fn open(
        storage: Arc<dyn Storage>,
        dir: &Path,
        config: LogConfig,
        now_ms: i64,
    ) -> Result<Self, LogError> {
        storage.create_dir_all(dir)?;
        let state = LogState::read(&*storage, dir)?;
        let has_state = state.is_some();
        let known = state.unwrap_or_default();
        let epochs = epoch_file::read(&*storage, dir)?.unwrap_or_default();
        let FoundFiles {
            segments,
            snapshots,
        } = inspect(&*storage, dir, &known.segments, now_ms)?;
        let mut log = Self {
            segments,
            log_start_offset: known.log_start_offset,
            recovery_point: known.recovery_point,
            stored: StoredCheckpoint {
                state: known.clone(),
                epochs: epochs.entries().to_vec(),
            },
            epochs,
            snapshots,
            ..Self::without_segments(storage, dir, config, now_ms)
        };
        if log.segments.is_empty() {
            log.begin_empty(now_ms)?;
        } else if has_state && log.lost_its_beginning() {
            log.restart_at(known.log_start_offset, now_ms)?;
        } else {
            log.remove_segments_below_start()?;
            if !log.open_closed(&known, now_ms)? {
                log.recover(now_ms)?;
            }
        }
        log.bound(now_ms)?;
        Ok(log)
    }

    /// A log without records that has neither folder nor files: they come with its first record, so
    /// that a partition which nobody writes to costs no disk. The caller knows that no such folder
    /// exists.
    #[must_use]
    pub fn unwritten(
        storage: Arc<dyn Storage>,
        dir: &Path,
        config: LogConfig,
        topic_id: Uuid,
        now_ms: i64,
    ) -> Self {
        Self {
            segments: vec![Segment::existing(0, 0, now_ms)],
            unwritten: Some(topic_id),
            ..Self::without_segments(storage, dir, config, now_ms)
        }
    }

    /// What all new logs have in common; a segment must be added.
    fn without_segments(
        storage: Arc<dyn Storage>,
        dir: &Path,
        config: LogConfig,
        now_ms: i64,
    ) -> Self {
        Self {
            storage,
            dir: dir.to_path_buf(),
            config,
            segments: Vec::new(),
            log_start_offset: 0,
            next_offset: 0,
            high_watermark: 0,
            recovery_point: 0,
            epochs: LeaderEpochs::default(),
            producers: ProducerStates::default(),
            snapshots: Vec::new(),
            unflushed_records: 0,
            unflushed_since_ms: now_ms,
            names_changed: 1,
            names_flushed: 0,
            dir_name_unflushed: true,
            unwritten: None,
            id_unflushed: false,
            cuts: 0,
            stored: StoredCheckpoint::default(),
            state_writes: Arc::default(),
            recent: RecentBatches::default(),
            recovery: None,
            dead: None,
        }
    }

    /// Makes the folder and the files of a log that has none.
    pub(super) fn begin_files(&mut self) -> Result<(), LogError> {
        let Some(topic_id) = self.unwritten else {
            return Ok(());
        };
        self.storage.create_dir_all(&self.dir)?;
        // First: what holds records tells whose they are, also after the process was killed.
        begin_topic_id(&*self.storage, &self.dir, topic_id)?;
        self.id_unflushed = true;
        let (place, segment) = self.active();
        segment.create_file(place)?;
        self.unwritten = None;
        Ok(())
    }

    /// True when nothing was flushed since the log's start and the segment that began there is
    /// gone: what is left follows a loss.
    fn lost_its_beginning(&self) -> bool {
        self.recovery_point <= self.log_start_offset
            && self.segments[0].base_offset > self.log_start_offset
    }

    /// A log without segments: a new one.
    fn begin_empty(&mut self, now_ms: i64) -> Result<(), LogError> {
        let base_offset = self.log_start_offset;
        let (place, segments) = self.parts();
        let mut segment = Segment::create(place, base_offset, now_ms)?;
        // Ten thousand new partitions shall not hold ten thousand files.
        segment.close_files();
        segments.push(segment);
        if self.remove_all_snapshots()? {
            self.storage.sync_dir(&self.dir)?;
        }
        self.next_offset = base_offset;
        self.recovery_point = base_offset;
        self.epochs.clear();
        Ok(())
    }

    /// Opens a log that was closed in order and not touched since. False when that is not so.
    fn open_closed(&mut self, state: &LogState, now_ms: i64) -> Result<bool, LogError> {
        let Some(closed) = state.closed else {
            return Ok(false);
        };
        let (place, active) = self.active();
        if active.base_offset != closed.segment_base || active.bytes != closed.segment_bytes {
            return Ok(false);
        }
        match active.summary(place) {
            Ok(summary) if summary.next_offset == closed.end_offset => {}
            Ok(_) | Err(LogError::Corrupt(_)) => return Ok(false),
            Err(error) => return Err(error),
        }
        active.close_files();
        self.next_offset = closed.end_offset;
        self.names_flushed = self.names_changed;
        self.dir_name_unflushed = false;
        if self.remove_stray_snapshots()? {
            self.storage.sync_dir(&self.dir)?;
        }
        if closed.producers > 0 {
            self.rebuild_producers(now_ms)?;
        }
        Ok(true)
    }

    /// Brings start, end and what depends on them together.
    fn bound(&mut self, now_ms: i64) -> Result<(), LogError> {
        self.log_start_offset = self.log_start_offset.max(self.segments[0].base_offset);
        if self.log_start_offset > self.next_offset {
            // All that a crash left was deleted before: go on where the deletion ended.
            self.restart_at(self.log_start_offset, now_ms)?;
        }
        self.epochs.truncate_from_end(self.next_offset);
        self.epochs.truncate_from_start(self.log_start_offset);
        self.high_watermark = self.log_start_offset;
        Ok(())
    }
}

/// What is in a log's folder.
struct FoundFiles {
    /// Oldest first.
    segments: Vec<Segment>,
    /// Lowest first.
    snapshots: Vec<i64>,
}

/// Looks into a log's folder. What a crash left of files in the making is removed.
fn inspect(
    storage: &dyn Storage,
    dir: &Path,
    known: &[SegmentFacts],
    now_ms: i64,
) -> Result<FoundFiles, LogError> {
    let (mut segments, mut snapshots) = (Vec::new(), Vec::new());
    // Twenty digits sort by name as by number.
    for entry in storage.list(dir)? {
        let unfinished = [".tmp", ".deleted", ".cleaned", ".swap"];
        if entry.kind == EntryKind::File && unfinished.iter().any(|end| entry.name.ends_with(end)) {
            storage.remove_file(&dir.join(&entry.name))?;
            continue;
        }
        match parse_file(&entry.name) {
            Some((base_offset, LOG)) => {
                let mut segment = Segment::existing(base_offset, entry.len, now_ms);
                let index = known.binary_search_by_key(&base_offset, |facts| facts.base_offset);
                let facts = index.ok().map(|index| known[index]);
                segment.facts = facts.filter(|facts| facts.bytes == segment.bytes);
                segments.push(segment);
            }
            Some((at, SNAPSHOT)) => snapshots.push(at),
            _ => {}
        }
    }
    Ok(FoundFiles {
        segments,
        snapshots,
    })
}
