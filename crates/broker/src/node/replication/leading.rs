//! What the leader of a partition knows of its followers, and what follows from it: the high
//! watermark and the members of the ISR.

use std::collections::{BTreeMap, VecDeque};

use crate::ids::NodeId;
use crate::image::{NodeImage, PartitionImage};
use crate::time::{NS_PER_MS, Now};

/// A leader's view of one partition.
#[derive(Debug)]
pub(crate) struct LeaderState {
    own: NodeId,
    /// Where the log ended when this node became the leader.
    pub(crate) epoch_start: i64,
    pub(crate) isr: Vec<NodeId>,
    pub(crate) partition_epoch: i32,
    /// `min.insync.replicas`, at most the number of replicas.
    pub(crate) insync_min: usize,
    pub(crate) followers: BTreeMap<NodeId, FollowerProgress>,
    /// An ISR that the controller was asked for and has not decided about.
    proposed: Option<Vec<NodeId>>,
    /// Ends of appends above the high watermark, with their bytes: for fetches that wait for them.
    grown: VecDeque<(i64, u64)>,
}

/// How far one follower is, as its leader knows.
#[derive(Debug, Default)]
pub(crate) struct FollowerProgress {
    /// Where its log ends; `None` until it has reported that in this epoch, with a log that is the
    /// beginning of this one.
    pub(crate) end_offset: Option<i64>,
    /// The log end that it reported, matching or not, and the epoch of its last batch.
    pub(crate) position: Option<(i64, Option<i32>)>,
    /// The life of the node that reported `position`.
    position_epoch: u64,
    pub(crate) log_start_offset: i64,
    /// The life of the node that reported `end_offset`.
    pub(crate) node_epoch: u64,
    /// When it last had everything that the leader had; `None` for not yet in this epoch.
    caught_up_ns: Option<u64>,
    /// When it last reported `end_offset`, and where the leader's log ended then.
    fetched_ns: u64,
    end_at_fetch: i64,
    /// It was sent something that changes its position, and has not reported the new one.
    pub(crate) unreported: bool,
    /// The high watermark and log start that it was last sent.
    pub(crate) sent_offsets: Option<(i64, i64)>,
}

impl FollowerProgress {
    /// Forgets what was reported in an earlier life. The position of the present one stays: it
    /// may not have its answer yet, and will not say it again.
    fn forget_reports(&mut self, life: Option<u64>) {
        let before = std::mem::take(self);
        if before.position.is_some() && life == Some(before.position_epoch) {
            *self = Self {
                position: before.position,
                position_epoch: before.position_epoch,
                unreported: before.unreported,
                sent_offsets: before.sent_offsets,
                ..Self::default()
            };
        }
    }
}

impl LeaderState {
    pub(crate) fn new(
        own: NodeId,
        partition: &PartitionImage,
        nodes: &BTreeMap<NodeId, NodeImage>,
        epoch_start: i64,
        insync_min: i64,
    ) -> Self {
        let mut leading = Self {
            own,
            epoch_start,
            isr: Vec::new(),
            partition_epoch: -1,
            insync_min: 1,
            followers: BTreeMap::new(),
            proposed: None,
            grown: VecDeque::new(),
        };
        leading.follow(partition, nodes, insync_min);
        leading
    }

    /// Takes over what the controller has decided. What followers reported in an earlier life no
    /// longer counts.
    pub(crate) fn follow(
        &mut self,
        partition: &PartitionImage,
        nodes: &BTreeMap<NodeId, NodeImage>,
        insync_min: i64,
    ) {
        let least = usize::try_from(insync_min).unwrap_or(1);
        self.insync_min = least.clamp(1, partition.replicas.len().max(1));
        if partition.partition_epoch > self.partition_epoch {
            self.partition_epoch = partition.partition_epoch;
            self.isr.clone_from(&partition.isr);
            self.proposed = None;
        }
        self.followers
            .retain(|node, _| partition.replicas.contains(node));
        for node in partition.replicas.iter().filter(|node| **node != self.own) {
            let progress = self.followers.entry(*node).or_default();
            let life = nodes.get(node).map(|image| image.epoch);
            if life != Some(progress.node_epoch) {
                progress.forget_reports(life);
            }
        }
    }

    /// Whether writes with acks=all may be taken.
    pub(crate) fn has_enough_in_sync(&self) -> bool {
        self.isr.len() >= self.insync_min
    }

    /// Notes an append of this leader that made its log end at `end`.
    pub(crate) fn appended(&mut self, now: Now, end_before: i64, end: i64, bytes: u64) {
        for progress in self.followers.values_mut() {
            if progress.end_offset == Some(end_before) {
                progress.caught_up_ns = Some(now.mono_ns);
            }
        }
        self.grown.push_back((end, bytes));
    }

    /// Takes the bytes that lie below a new high watermark out of those that are waited for.
    pub(crate) fn passed(&mut self, high_watermark: i64) -> u64 {
        let mut bytes = 0;
        while let Some((end, count)) = self.grown.front().copied() {
            if end > high_watermark {
                break;
            }
            bytes += count;
            self.grown.pop_front();
        }
        bytes
    }

    /// Notes the position that a follower reports. It counts for nothing yet: its log may part from
    /// this one below.
    pub(crate) fn positioned(
        &mut self,
        follower: NodeId,
        node_epoch: u64,
        position: (i64, Option<i32>),
    ) {
        if let Some(progress) = self.followers.get_mut(&follower) {
            progress.position = Some(position);
            progress.position_epoch = node_epoch;
            progress.unreported = false;
        }
    }

    /// Notes up to where a follower has what this node has.
    pub(crate) fn reported(
        &mut self,
        now: Now,
        follower: NodeId,
        node_epoch: u64,
        offset: i64,
        log_start_offset: i64,
        log_end: i64,
    ) {
        let Some(progress) = self.followers.get_mut(&follower) else {
            return;
        };
        progress.end_offset = Some(offset);
        progress.log_start_offset = log_start_offset;
        progress.node_epoch = node_epoch;
        // Kafka's rule: it is caught up when it has everything, or had everything that there was
        // when it fetched before.
        if offset >= log_end {
            progress.caught_up_ns = Some(now.mono_ns);
        } else if progress.fetched_ns > 0 && offset >= progress.end_at_fetch {
            progress.caught_up_ns = progress.caught_up_ns.max(Some(progress.fetched_ns));
        }
        progress.fetched_ns = now.mono_ns;
        progress.end_at_fetch = log_end;
    }

    /// The possible high watermark: the smallest end of all members, of those on their
    /// way in, and of followers that keep up and will be members soon. `None` while too few are in
    /// sync, or one has not reported its log end.
    pub(crate) fn watermark(&self, now: Now, log_end: i64, lag_ms: i64) -> Option<i64> {
        if !self.has_enough_in_sync() {
            return None;
        }
        let mut lowest = log_end;
        for (node, progress) in &self.followers {
            if self.counts(*node) {
                lowest = lowest.min(progress.end_offset?);
            } else if let Some(end_offset) = progress.end_offset
                && self.keeps_up(progress, now, log_end, lag_ms)
                && end_offset >= self.epoch_start
            {
                lowest = lowest.min(end_offset);
            }
        }
        Some(lowest)
    }

    /// Whether a node's log counts for the high watermark: the ISR as it is, and as it may be.
    fn counts(&self, node: NodeId) -> bool {
        let proposed = self.proposed.as_ref();
        self.isr.contains(&node) || proposed.is_some_and(|isr| isr.contains(&node))
    }

    fn keeps_up(&self, progress: &FollowerProgress, now: Now, log_end: i64, lag_ms: i64) -> bool {
        let lag_ns = u64::try_from(lag_ms).unwrap_or(0).saturating_mul(NS_PER_MS);
        progress.end_offset == Some(log_end)
            || progress
                .caught_up_ns
                .is_some_and(|at_ns| now.mono_ns.saturating_sub(at_ns) <= lag_ns)
    }

    /// The ISR with a follower that has caught up, if the controller is to be asked for it.
    pub(crate) fn grow(&mut self, follower: NodeId, high_watermark: i64) -> Option<Vec<NodeId>> {
        if self.proposed.is_some() || self.isr.contains(&follower) {
            return None;
        }
        let end_offset = self.followers.get(&follower)?.end_offset?;
        if end_offset < high_watermark.max(self.epoch_start) {
            return None;
        }
        let mut isr = self.isr.clone();
        isr.push(follower);
        self.proposed = Some(isr.clone());
        Some(isr)
    }

    /// The ISR without the followers that fell behind, if there are any and the controller is to be
    /// asked for it.
    pub(crate) fn shrink(&mut self, now: Now, log_end: i64, lag_ms: i64) -> Option<Vec<NodeId>> {
        if self.proposed.is_some() || self.isr.len() <= 1 {
            return None;
        }
        let stays = |node: &NodeId| {
            let progress = self.followers.get(node);
            *node == self.own
                || progress.is_some_and(|progress| self.keeps_up(progress, now, log_end, lag_ms))
        };
        let isr: Vec<NodeId> = self.isr.iter().copied().filter(stays).collect();
        if isr.len() == self.isr.len() {
            return None;
        }
        self.proposed = Some(isr.clone());
        Some(isr)
    }

    /// The controller has refused the ISR that it was asked for.
    pub(crate) fn refused(&mut self) {
        self.proposed = None;
    }

    /// Which life of each member the leader has heard of last; its own is not known here.
    pub(crate) fn epoch_of(&self, node: NodeId) -> Option<u64> {
        self.followers
            .get(&node)
            .map(|progress| progress.node_epoch)
    }

    /// The smallest log start of the replicas that are up.
    pub(crate) fn low_watermark(&self, own_start: i64, is_up: impl Fn(NodeId) -> bool) -> i64 {
        let up = self.followers.iter().filter(|(node, _)| is_up(**node));
        up.map(|(_, progress)| progress.log_start_offset)
            .fold(own_start, i64::min)
    }

    /// A follower in the ISR that can serve a reader at `offset` and that `is_eligible`; of several
    /// the one with the highest log end.
    pub(crate) fn reader_replica(
        &self,
        offset: i64,
        is_eligible: impl Fn(NodeId) -> bool,
    ) -> Option<NodeId> {
        self.followers
            .iter()
            .filter(|(node, progress)| {
                let end = progress.end_offset.unwrap_or(-1);
                self.isr.contains(node)
                    && (progress.log_start_offset..=end).contains(&offset)
                    && is_eligible(**node)
            })
            .max_by_key(|(_, progress)| progress.end_offset)
            .map(|(node, _)| *node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAG_MS: i64 = 10;

    fn at(ms: u64) -> Now {
        Now {
            mono_ns: ms * NS_PER_MS,
            wall_ms: 0,
        }
    }

    fn nodes() -> BTreeMap<NodeId, NodeImage> {
        let image = |node| {
            let image = NodeImage {
                host: String::new(),
                port: 0,
                rack: None,
                epoch: 1,
                life: 0,
            };
            (NodeId(node), image)
        };
        (1..=3).map(image).collect()
    }

    fn leading(insync_min: i64) -> LeaderState {
        let partition = PartitionImage::new(vec![NodeId(1), NodeId(2), NodeId(3)]);
        LeaderState::new(NodeId(1), &partition, &nodes(), 100, insync_min)
    }

    fn report(leading: &mut LeaderState, ms: u64, node: i32, offset: i64, log_end: i64) {
        leading.reported(at(ms), NodeId(node), 1, offset, 0, log_end);
    }

    #[test]
    fn the_watermark_is_the_smallest_end_of_the_isr_once_all_have_spoken() {
        let mut leading = leading(1);
        assert_eq!(leading.watermark(at(1), 120, LAG_MS), None);
        report(&mut leading, 1, 2, 110, 120);
        assert_eq!(leading.watermark(at(1), 120, LAG_MS), None, "3 is silent");
        report(&mut leading, 1, 3, 115, 120);
        assert_eq!(leading.watermark(at(1), 120, LAG_MS), Some(110));
    }

    #[test]
    fn it_rests_while_too_few_are_in_sync() {
        let mut leading = leading(2);
        report(&mut leading, 1, 2, 120, 120);
        report(&mut leading, 1, 3, 120, 120);
        let alone = PartitionImage {
            isr: vec![NodeId(1)],
            partition_epoch: 1,
            ..PartitionImage::new(vec![NodeId(1), NodeId(2), NodeId(3)])
        };
        leading.follow(&alone, &nodes(), 2);
        assert_eq!(leading.watermark(at(2), 120, LAG_MS), None);
        assert!(!leading.has_enough_in_sync());
    }

    #[test]
    fn who_does_not_keep_up_is_proposed_to_leave_and_counts_until_decided() {
        let mut leading = leading(1);
        report(&mut leading, 1, 2, 120, 120);
        report(&mut leading, 1, 3, 120, 120);
        leading.appended(at(2), 120, 130, 10);
        report(&mut leading, 3, 2, 130, 130);
        assert_eq!(leading.shrink(at(12), 130, LAG_MS), None, "10 ms behind");
        let isr = leading.shrink(at(13), 130, LAG_MS);
        assert_eq!(isr, Some(vec![NodeId(1), NodeId(2)]));
        assert_eq!(leading.watermark(at(13), 130, LAG_MS), Some(120));
        assert_eq!(leading.shrink(at(14), 130, LAG_MS), None, "asked already");
        leading.refused();
        assert!(leading.shrink(at(15), 130, LAG_MS).is_some());
    }

    #[test]
    fn who_has_reached_the_watermark_and_the_epochs_start_is_proposed_to_join() {
        let mut leading = leading(1);
        let alone = PartitionImage {
            isr: vec![NodeId(1)],
            partition_epoch: 1,
            ..PartitionImage::new(vec![NodeId(1), NodeId(2), NodeId(3)])
        };
        leading.follow(&alone, &nodes(), 1);
        report(&mut leading, 1, 2, 90, 120);
        assert_eq!(leading.grow(NodeId(2), 80), None, "below the epoch's start");
        report(&mut leading, 2, 2, 110, 120);
        assert_eq!(leading.grow(NodeId(2), 115), None, "below the watermark");
        assert_eq!(
            leading.grow(NodeId(2), 110),
            Some(vec![NodeId(1), NodeId(2)])
        );
        // On its way in, it counts.
        assert_eq!(leading.watermark(at(50), 120, LAG_MS), Some(110));
    }

    #[test]
    fn what_a_follower_reported_before_it_crashed_is_forgotten() {
        let mut leading = leading(1);
        report(&mut leading, 1, 2, 120, 120);
        let mut nodes = nodes();
        if let Some(node) = nodes.get_mut(&NodeId(2)) {
            node.epoch = 9;
        }
        let partition = PartitionImage {
            isr: vec![NodeId(1), NodeId(3)],
            partition_epoch: 1,
            ..PartitionImage::new(vec![NodeId(1), NodeId(2), NodeId(3)])
        };
        leading.follow(&partition, &nodes, 1);
        report(&mut leading, 2, 3, 130, 130);
        assert_eq!(leading.watermark(at(2), 130, LAG_MS), Some(130));
    }

    #[test]
    fn where_a_follower_stands_outlives_an_image_that_comes_before_its_answer() {
        let mut leading = leading(1);
        // Its log parts from the leader's, so that it has reported nothing yet.
        leading.positioned(NodeId(2), 1, (130, Some(0)));
        let moved = PartitionImage {
            partition_epoch: 1,
            ..PartitionImage::new(vec![NodeId(1), NodeId(2), NodeId(3)])
        };
        leading.follow(&moved, &nodes(), 1);
        assert_eq!(leading.followers[&NodeId(2)].position, Some((130, Some(0))));
        assert_eq!(leading.epoch_of(NodeId(2)), Some(0));
        let mut nodes = nodes();
        if let Some(node) = nodes.get_mut(&NodeId(2)) {
            node.epoch = 9;
        }
        leading.follow(&moved, &nodes, 1);
        assert_eq!(leading.followers[&NodeId(2)].position, None);
    }

    #[test]
    fn bytes_are_passed_with_the_watermark() {
        let mut leading = leading(1);
        leading.appended(at(1), 100, 110, 7);
        leading.appended(at(1), 110, 120, 8);
        assert_eq!(leading.passed(109), 0);
        assert_eq!(leading.passed(115), 7);
        assert_eq!(leading.passed(120), 8);
    }
}
