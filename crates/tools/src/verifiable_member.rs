//! The work of the verifiable consumer: heartbeats, rebalances, reading and commits.

use std::time::{Duration, Instant};

use kgauge_client::group::{Beat, ConsumerMember, GroupMember, HeartbeatAnswer, Partitions};
use kgauge_client::{Cluster, Interrupt};

use crate::context::ToolContext;
use crate::failure::ToolFailure;
use crate::record_reader::{ReadRecord, RecordReader};
use crate::verifiable_consumer_args::{OffsetReset, VerifiableConsumerArgs};
use crate::verifiable_events::EventPrinter;

/// How long a broker may wait for records. The member sends heartbeats between responses.
pub(crate) const WAIT: Duration = Duration::from_millis(100);

/// Kafka's default of `auto.commit.interval.ms`.
const COMMIT_INTERVAL: Duration = Duration::from_secs(5);

/// A member, by its protocol.
pub(crate) enum Membership {
    Classic(GroupMember),
    /// KIP-848.
    New(ConsumerMember),
}

impl Membership {
    /// The part that commits and fetches offsets.
    fn offsets(&mut self) -> &mut GroupMember {
        match self {
            Membership::Classic(member) => member,
            Membership::New(member) => member.offsets(),
        }
    }
}

/// A member from its first heartbeat until it leaves.
pub(crate) struct MemberSession<'a> {
    args: &'a VerifiableConsumerArgs,
    events: &'a EventPrinter<'a>,
    member: Membership,
    reader: RecordReader,
    /// Knows where partitions begin and end.
    ends: Cluster,
    consumed: u64,
    committed_at: Instant,
}

impl<'a> MemberSession<'a> {
    pub(crate) fn new(
        args: &'a VerifiableConsumerArgs,
        events: &'a EventPrinter<'a>,
        member: Membership,
        reader: RecordReader,
        ends: Cluster,
    ) -> MemberSession<'a> {
        MemberSession {
            args,
            events,
            member,
            reader,
            ends,
            consumed: 0,
            committed_at: Instant::now(),
        }
    }

    /// Reads until it has enough records or the user stops it.
    pub(crate) fn consume(&mut self, context: &ToolContext<'_>) -> Result<(), ToolFailure> {
        if let Membership::Classic(_) = self.member {
            self.join()?;
        }
        let mut beat_at = Instant::now();
        while !context.wants_end() {
            if Instant::now() >= beat_at {
                beat_at = Instant::now() + self.beat()?;
                continue;
            }
            if self.reader.positions.is_empty() {
                std::thread::sleep(WAIT.min(beat_at.saturating_duration_since(Instant::now())));
                continue;
            }
            let records = self.reader.poll()?;
            if !records.is_empty() && self.take(records) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Sends a heartbeat and does what the coordinator wants. Returns the time until the next one.
    fn beat(&mut self) -> Result<Duration, ToolFailure> {
        match &mut self.member {
            Membership::Classic(member) => {
                let beat = member.heartbeat().map_err(ToolFailure::of)?;
                let is_cooperative = member.is_cooperative();
                match beat {
                    Beat::Stable | Beat::Unsure => {}
                    Beat::Rebalance if is_cooperative => {
                        self.commit_automatically();
                        self.join()?;
                    }
                    Beat::Rebalance | Beat::Lost(_) => {
                        self.revoke_all();
                        self.join()?;
                    }
                }
                Ok(self.args.group.heartbeat_interval)
            }
            Membership::New(member) => {
                let answer = member.heartbeat();
                let pause = member.interval();
                let with_fix = |error: kgauge_client::group::GroupError| {
                    ToolFailure::Failed(format!("{error}; {}", error.fix()))
                };
                match answer.map_err(with_fix)? {
                    HeartbeatAnswer::Stable => return Ok(pause),
                    HeartbeatAnswer::Unsure => return Ok(pause.min(WAIT)),
                    HeartbeatAnswer::Lost(_) => self.revoke_all(),
                    HeartbeatAnswer::Assigned(partitions) => {
                        self.change_to(&partitions)?;
                        if let Membership::New(member) = &mut self.member {
                            member.acknowledge(&partitions);
                        }
                    }
                }
                Ok(Duration::ZERO)
            }
        }
    }

    /// Joins, and again as long as it has to give up partitions.
    fn join(&mut self) -> Result<(), ToolFailure> {
        while let Membership::Classic(member) = &mut self.member {
            let assignment = member.join().map_err(ToolFailure::of)?;
            if assignment.has_lost && !self.reader.positions.is_empty() {
                self.revoke_all();
            }
            if !self.change_to(&assignment.partitions)? {
                break;
            }
        }
        Ok(())
    }

    /// Gives up all other partitions and starts to read the new ones. Returns whether it gave up any.
    fn change_to(&mut self, assigned: &Partitions) -> Result<bool, ToolFailure> {
        let assigned = assigned.get(&self.args.topic).into_iter().flatten();
        let assigned: Vec<u32> = assigned.map(|partition| partition.unsigned_abs()).collect();
        let mut positions = self.reader.positions.clone();
        let revoked: Vec<u32> = positions
            .keys()
            .copied()
            .filter(|partition| !assigned.contains(partition))
            .collect();
        if !revoked.is_empty() {
            self.commit_automatically();
            self.events.partitions("partitions_revoked", &revoked);
        }
        let new: Vec<u32> = assigned
            .iter()
            .copied()
            .filter(|partition| !positions.contains_key(partition))
            .collect();
        self.events.partitions("partitions_assigned", &new);
        let signed: Vec<i32> = new
            .iter()
            .map(|partition| partition.cast_signed())
            .collect();
        let offsets = self.member.offsets();
        let committed = offsets.committed(&self.args.topic, &signed);
        positions.retain(|partition, _| assigned.contains(partition));
        for (partition, committed) in new.into_iter().zip(committed.map_err(ToolFailure::of)?) {
            let offset = match committed {
                Some(offset) => offset,
                None => self.start(partition)?,
            };
            positions.insert(partition, offset);
        }
        self.reader.positions = positions;
        Ok(!revoked.is_empty())
    }

    /// The first offset to read without a committed one.
    fn start(&mut self, partition: u32) -> Result<i64, ToolFailure> {
        let topic = &self.args.topic;
        let offsets = match self.args.reset {
            OffsetReset::Earliest => self.ends.earliest_offsets(topic),
            OffsetReset::Latest => self.ends.end_offsets(topic),
            OffsetReset::None => {
                return Err(ToolFailure::Failed(format!(
                    "Undefined offset with no reset policy for partitions: [{topic}-{partition}]"
                )));
            }
        };
        let offsets = offsets.map_err(ToolFailure::of)?;
        Ok(offsets.get(partition as usize).copied().unwrap_or(0))
    }

    /// Counts and prints records. Returns whether they are enough.
    fn take(&mut self, mut records: Vec<ReadRecord>) -> bool {
        if let Some(max_records) = self.args.records {
            let left = usize::try_from(max_records - self.consumed).unwrap_or(usize::MAX);
            for extra in records.iter().skip(left).rev() {
                self.reader.positions.insert(extra.partition, extra.offset);
            }
            records.truncate(left);
        }
        self.consumed += records.len() as u64;
        if self.args.is_verbose {
            for record in &records {
                self.events.read(record);
            }
        }
        self.events.consumed(&records);
        if !self.args.has_auto_commit {
            self.commit(true);
        } else if self.committed_at.elapsed() >= COMMIT_INTERVAL {
            self.commit(false);
        }
        self.args
            .records
            .is_some_and(|max_records| self.consumed >= max_records)
    }

    /// Commits with `enable.auto.commit`, before partitions go.
    fn commit_automatically(&mut self) {
        if self.args.has_auto_commit {
            self.commit(false);
        }
    }

    fn commit(&mut self, is_printed: bool) {
        self.committed_at = Instant::now();
        let positions = &self.reader.positions;
        if positions.is_empty() {
            return;
        }
        let offsets: Vec<(i32, i64)> = positions
            .iter()
            .map(|(&partition, &offset)| (partition.cast_signed(), offset))
            .collect();
        let done = self.member.offsets().commit(&self.args.topic, &offsets);
        if is_printed {
            let error = done.err().map(|error| error.to_string());
            self.events.committed(positions, error.as_deref());
        }
    }

    fn revoke_all(&mut self) {
        let partitions: Vec<u32> = self.reader.positions.keys().copied().collect();
        self.events.partitions("partitions_revoked", &partitions);
        self.reader.positions.clear();
    }

    /// Leaves the group; `interrupt` ends the wait for responses.
    pub(crate) fn leave(&mut self, interrupt: &Interrupt) {
        self.member.offsets().set_interrupt(interrupt);
        self.commit_automatically();
        if !self.reader.positions.is_empty() {
            self.revoke_all();
        }
        // If the group no longer exists, the member has left it.
        let _ = match &mut self.member {
            Membership::Classic(member) => member.leave(),
            // Like Kafka's: a static member may return.
            Membership::New(member) => member.leave(true),
        };
    }
}
