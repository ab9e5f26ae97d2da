//! A consumer as a member of its group: partitions are added and removed.

use super::consumer::{Consumer, FetchedRecords, Position};
use super::group::MemberEvent;
use super::progress::GroupProgress;
use crate::worker_context::WorkerContext;

/// How often a member without partitions checks whether the group is done.
const IDLE_LOOK_NS: u64 = 1_000_000;

impl Consumer {
    /// Handles the messages of its member's thread.
    pub(super) fn handle_events(&mut self, around: &WorkerContext<'_>) {
        while let Some(event) = self
            .subscription
            .as_ref()
            .and_then(|subscription| subscription.next_event())
        {
            let now_ns = around.clock.now_ns();
            match event {
                MemberEvent::Assigned {
                    generation,
                    positions,
                    ..
                } => self.take_over(generation, &positions, now_ns, around),
                MemberEvent::Revoked { why, partitions } => {
                    self.give_up(&why, partitions.as_deref(), now_ns, around);
                }
                MemberEvent::Note(what) => {
                    let name = self.group_name();
                    around.incident(now_ns, self.flow_name(), || format!("{name}: {what}"));
                }
                MemberEvent::Failed(why) => {
                    let name = self.group_name();
                    around.broken(now_ns, self.flow_name(), || format!("{name}: {why}"));
                    self.stop();
                }
            }
        }
    }

    /// Gives up these partitions, or all as in the eager protocol, and confirms that to the member's thread.
    fn give_up(
        &mut self,
        why: &str,
        partitions: Option<&[u32]>,
        now_ns: u64,
        around: &WorkerContext<'_>,
    ) {
        let before = self.positions.len();
        let is_kept = |position: &Position| {
            partitions.is_some_and(|gone| !gone.contains(&position.partition))
        };
        self.positions.retain(is_kept);
        let count = before - self.positions.len();
        let name = self.group_name();
        around.incident(now_ns, self.flow_name(), || match partitions {
            None => format!("{name}: {why}; gave up all partitions ({count})"),
            Some(_) => format!("{name}: {why}; gave up {count} of {before} partitions"),
        });
        if let Some(subscription) = &mut self.subscription {
            subscription.revoked_at_ns = Some(now_ns);
            subscription.release();
        }
    }

    /// Reads these partitions; current ones continue at their positions.
    fn take_over(
        &mut self,
        generation: i32,
        positions: &[(u32, i64)],
        now_ns: u64,
        around: &WorkerContext<'_>,
    ) {
        self.assignment += 1;
        let Some(subscription) = &mut self.subscription else {
            return;
        };
        self.positions
            .retain(|known| positions.iter().any(|(place, _)| *place == known.partition));
        let kept = self.positions.len();
        for &(partition, offset) in positions {
            if self.positions[..kept]
                .iter()
                .any(|known| known.partition == partition)
            {
                continue;
            }
            self.positions.push(Position {
                partition,
                offset,
                high_watermark: offset,
                end: subscription.shared.end(partition),
                leader: None,
                retry_at_ns: 0,
                since: self.assignment,
            });
        }
        let since_ns = subscription.revoked_at_ns.take();
        let (name, count) = (self.group_name(), positions.len());
        if let Some(since_ns) = since_ns {
            let seconds = now_ns.saturating_sub(since_ns) as f64 / 1e9;
            around.incident(now_ns, self.flow_name(), || {
                format!(
                    "{name}: rebalanced in {seconds:.3} s; generation {generation}, \
                     partitions: {count}"
                )
            });
        } else if kept < count {
            let new = count - kept;
            around.incident(now_ns, self.flow_name(), || {
                format!("{name}: generation {generation}, partitions: {count} ({new} new)")
            });
        }
        self.find_leaders(around);
    }

    /// Finds each position's link to its leader, by the latest metadata.
    pub(super) fn find_leaders(&mut self, around: &WorkerContext<'_>) {
        let mut is_unknown = false;
        for index in 0..self.positions.len() {
            let Some(broker_id) = self.leaders.of(self.positions[index].partition) else {
                is_unknown |= self.positions[index].leader.is_none();
                continue;
            };
            let known = self
                .links
                .iter()
                .position(|link| link.broker_id() == broker_id);
            let link = known.unwrap_or_else(|| self.add_link(broker_id, around));
            self.positions[index].leader = Some(link);
        }
        if is_unknown {
            around.ask_for_leaders();
        }
    }

    /// When a member must check again without a message.
    pub(super) fn group_poll_at_ns(&self) -> u64 {
        let idles = self.subscription.as_ref().is_some_and(|subscription| {
            subscription.shared.is_limited() && self.positions.iter().all(Position::is_at_end)
        });
        if idles {
            self.seen_ns + IDLE_LOOK_NS
        } else {
            u64::MAX
        }
    }

    /// Reports a partition's position to the group, if there is one. Returns the offsets that no member has read, if
    /// the group continued behind them.
    pub(super) fn note_read(&self, part: &FetchedRecords, records: u64) -> Option<(i64, i64)> {
        let subscription = self.subscription.as_ref()?;
        let position = &self.positions[part.position];
        subscription.shared.note(GroupProgress {
            consumer: subscription.consumer,
            partition: position.partition,
            from: part.from_offset,
            offset: position.offset,
            records,
        })
    }

    fn group_name(&self) -> String {
        self.subscription
            .as_ref()
            .map_or_else(String::new, |subscription| subscription.name.clone())
    }
}
