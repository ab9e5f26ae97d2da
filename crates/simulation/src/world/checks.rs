//! The invariants, checked throughout a run and at its end.

use std::collections::{BTreeMap, BTreeSet};

use kgauge_wire::compress::Decompressor;
use kgauge_wire::record_batch::{Batch, batches};

use super::{TOPIC, World};
use crate::Violation;
use kgauge_broker::ids::{NodeId, PartitionId};
use kgauge_broker::image::ClusterImage;
use kgauge_broker::log::{FirstBatch, PartitionLog, ReadRequest};
use kgauge_broker::node::Replica;

/// The record numbers of a client start at its own number times this.
pub(super) const RECORDS_OF_CLIENT: u64 = 1 << 32;

/// The kinds of clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientKind {
    /// acks=all and idempotent.
    Exact,
    /// acks=all.
    All,
    /// acks=1.
    Leader,
    Reader,
}

/// The observations so far.
#[derive(Debug, Default)]
pub(super) struct SimulationChecks {
    /// Record by partition and offset, acked with acks=all.
    acked: BTreeMap<(i32, i64), u64>,
    acked_by_leader: BTreeMap<(i32, i64), u64>,
    /// Record by partition and offset, as a reader got it.
    read: BTreeMap<(i32, i64), u64>,
    /// Who led in an epoch.
    led: BTreeMap<(i32, i32), NodeId>,
    /// High watermarks of the nodes' present lives.
    watermarks: BTreeMap<(NodeId, i32), i64>,
    epochs: BTreeSet<(i32, i32)>,
    lost_by_leader: u64,
    /// Events after which a node was checked.
    events: u64,
    /// The version of the newest image.
    image: u64,
}

/// Numbers of acked records.
pub(super) struct AckedCounts {
    pub(super) all: u64,
    pub(super) by_leader: u64,
    pub(super) lost_by_leader: u64,
}

impl SimulationChecks {
    pub(super) fn counts(&self) -> AckedCounts {
        AckedCounts {
            all: self.acked.len() as u64,
            by_leader: self.acked_by_leader.len() as u64,
            lost_by_leader: self.lost_by_leader,
        }
    }

    pub(super) fn elections(&self) -> u64 {
        self.epochs.len() as u64
    }

    /// A node starts.
    pub(super) fn started(&mut self, node: NodeId) {
        self.watermarks.retain(|(of, _), _| *of != node);
    }

    /// True for a new image.
    pub(super) fn published(&mut self, image: &ClusterImage) -> bool {
        if let Some(topic) = image.topic(TOPIC) {
            for (index, partition) in topic.indexed() {
                self.epochs.insert((index, partition.leader_epoch));
            }
        }
        std::mem::replace(&mut self.image, image.version) != image.version
    }

    pub(super) fn acked(&mut self, kind: ClientKind, place: (i32, i64), first: u64, count: u64) {
        let acked = match kind {
            ClientKind::Leader => &mut self.acked_by_leader,
            _ => &mut self.acked,
        };
        let (partition, offset) = place;
        for (offset, record) in (offset..).zip(first..first + count) {
            acked.insert((partition, offset), record);
        }
    }

    /// A reader got a record.
    pub(super) fn read(
        &mut self,
        partition: i32,
        offset: i64,
        record: u64,
    ) -> Result<(), Violation> {
        match self.read.insert((partition, offset), record) {
            Some(before) if before != record => Err(Violation::Changed {
                partition,
                offset,
                before,
                after: record,
            }),
            _ => Ok(()),
        }
    }
}

/// The records of a batch: offset and number.
pub(super) fn records_of(batch: &Batch<'_>) -> Vec<(i64, u64)> {
    let mut scratch = Vec::new();
    let mut decompressor = Decompressor::new();
    let Ok(records) = batch.records(&mut decompressor, &mut scratch, 1 << 20) else {
        return Vec::new();
    };
    let numbered = records.filter_map(Result::ok).filter_map(|record| {
        // An identity may come before the number.
        let number = *record.value?.last_chunk::<8>()?;
        Some((record.offset, u64::from_be_bytes(number)))
    });
    numbered.collect()
}

/// All batches of a log below an offset, as bytes.
pub(super) fn content(log: &mut PartitionLog, below: i64) -> Vec<u8> {
    let mut all = Vec::new();
    let mut offset = log.log_start_offset();
    while offset < below.min(log.log_end_offset()) {
        let request = ReadRequest {
            offset,
            bytes_max: 1 << 30,
            upper_bound_offset: below,
            first_batch: FirstBatch::Whole,
        };
        let Ok(read) = log.read(&request) else { break };
        let Some(bytes) = read.slice.and_then(|slice| slice.bytes().ok()) else {
            break;
        };
        let Some(Ok(last)) = batches(&bytes).last() else {
            break;
        };
        offset = last.header.next_offset();
        all.extend_from_slice(&bytes);
    }
    all
}

impl World<'_> {
    /// A running node's copy of a partition.
    pub(super) fn replica_mut(
        &mut self,
        id: NodeId,
        partition: &PartitionId,
    ) -> Option<&mut Replica> {
        let node = self.slots.get_mut(&id)?.node.as_mut()?;
        node.replica_mut(partition)
    }

    /// Checks a node after an event.
    pub(super) fn check(&mut self, id: NodeId) -> Result<(), Violation> {
        self.checks.events += 1;
        for index in 0..self.plan.partitions {
            let Some(partition) = self.partition_id(index) else {
                return Ok(());
            };
            let Some(replica) = self.replica_mut(id, &partition) else {
                continue;
            };
            let (epoch, leads) = (replica.leader_epoch, replica.leads());
            let after = replica.log.high_watermark();
            if leads {
                let first = *self.checks.led.entry((index, epoch)).or_insert(id);
                if first != id {
                    return Err(Violation::TwoLeaders {
                        partition: index,
                        epoch,
                        first,
                        second: id,
                    });
                }
            }
            let before = self.checks.watermarks.insert((id, index), after);
            if let Some(before) = before.filter(|before| *before > after) {
                return Err(Violation::WatermarkFell {
                    partition: index,
                    node: id,
                    before,
                    after,
                });
            }
        }
        if self.checks.events.is_multiple_of(512) {
            self.compare()?;
        }
        Ok(())
    }

    /// Compares all replicas that are up, below the smaller of two high watermarks.
    fn compare(&mut self) -> Result<(), Violation> {
        for index in 0..self.plan.partitions {
            let Some(partition) = self.partition_id(index) else {
                continue;
            };
            let mut first: Option<(NodeId, i64, Vec<u8>)> = None;
            for id in self.node_ids() {
                let Some(replica) = self.replica_mut(id, &partition) else {
                    continue;
                };
                let below = replica.log.high_watermark();
                let bytes = content(&mut replica.log, below);
                let Some((other, other_below, others)) = &first else {
                    first = Some((id, below, bytes));
                    continue;
                };
                let common = below.min(*other_below);
                if let Some(offset) = first_difference(&bytes, others, common) {
                    return Err(Violation::Unequal {
                        partition: index,
                        first: *other,
                        second: id,
                        offset,
                    });
                }
                if below > *other_below {
                    first = Some((id, below, bytes));
                }
            }
        }
        Ok(())
    }

    /// Whether all nodes are up, equal and in every ISR, and all clients are done.
    pub(super) fn is_at_rest(&self) -> bool {
        self.unrest().is_empty()
    }

    /// Why the cluster is not idle.
    pub(super) fn unrest(&self) -> String {
        let image = self.controller.image();
        let Some(topic) = image.topic(TOPIC) else {
            return "there is no topic".to_owned();
        };
        for (index, partition) in topic.indexed() {
            if partition.isr.len() < partition.replicas.len() || partition.leader.is_none() {
                return format!(
                    "partition {index}: {partition:?}; {}",
                    self.replicas_of(index)
                );
            }
            let mut ends = BTreeSet::new();
            for node in &partition.replicas {
                let id = self.partition_id(index);
                let node = self.slots.get(node).and_then(|slot| slot.node.as_ref());
                let replica = node.and_then(|node| node.replica(&id?));
                let log = replica.map(|replica| &replica.log);
                ends.extend(log.map(|log| (log.log_end_offset(), log.high_watermark())));
            }
            if ends.len() != 1 || ends.iter().any(|(end, high)| end != high) {
                return format!("partition {index}: ends and high watermarks {ends:?}");
            }
        }
        let unrest = self.clients.unrest().or_else(|| self.members.unrest());
        unrest.unwrap_or_default()
    }

    /// The state of a partition on all nodes.
    fn replicas_of(&self, index: i32) -> String {
        let id = self.partition_id(index);
        let mut words = String::new();
        for (node, slot) in &self.slots {
            let up = slot.node.as_ref();
            if let Some(replica) = id.and_then(|id| up?.replica(&id)) {
                let log = &replica.log;
                words += &format!(
                    "node {node}: end {}, high watermark {}, epochs {:?}, leads: {}\n",
                    log.log_end_offset(),
                    log.high_watermark(),
                    log.leader_epochs(),
                    replica.leads()
                );
            }
        }
        words
    }

    /// Checks everything at the end.
    pub(super) fn check_end(&mut self) -> Result<(), Violation> {
        self.compare()?;
        for index in 0..self.plan.partitions {
            let Some(partition) = self.partition_id(index) else {
                continue;
            };
            let mut found = BTreeMap::new();
            for id in self.node_ids() {
                let Some(replica) = self.replica_mut(id, &partition) else {
                    continue;
                };
                let end = replica.log.log_end_offset();
                let bytes = content(&mut replica.log, end);
                found = dense(index, id, &bytes)?;
            }
            self.check_acked(index, &found)?;
            check_once(index, &found)?;
        }
        Ok(())
    }

    fn check_acked(&mut self, index: i32, found: &BTreeMap<i64, u64>) -> Result<(), Violation> {
        let range = (index, i64::MIN)..=(index, i64::MAX);
        for ((partition, offset), record) in self.checks.acked.range(range.clone()) {
            if found.get(offset) != Some(record) {
                return Err(Violation::Lost {
                    partition: *partition,
                    record: *record,
                    offset: *offset,
                });
            }
        }
        let by_leader = self.checks.acked_by_leader.range(range.clone());
        let lost = by_leader.filter(|((_, offset), record)| found.get(offset) != Some(*record));
        self.checks.lost_by_leader += lost.count() as u64;
        for ((partition, offset), before) in self.checks.read.range(range) {
            if found.get(offset) != Some(before) {
                return Err(Violation::Changed {
                    partition: *partition,
                    offset: *offset,
                    before: *before,
                    after: found.get(offset).copied().unwrap_or(u64::MAX),
                });
            }
        }
        Ok(())
    }
}

/// The base offset of the first batch below `common` that two logs do not share.
fn first_difference(one: &[u8], other: &[u8], common: i64) -> Option<i64> {
    let (mut ours, mut theirs) = (batches(one), batches(other));
    loop {
        let ours = ours.next().and_then(Result::ok);
        let theirs = theirs.next().and_then(Result::ok);
        let (Some(ours), Some(theirs)) = (ours, theirs) else {
            return None;
        };
        let (a, b) = (&ours.header, &theirs.header);
        if a.base_offset >= common || b.base_offset >= common {
            return None;
        }
        if (a.base_offset, a.crc, a.leader_epoch) != (b.base_offset, b.crc, b.leader_epoch) {
            return Some(a.base_offset.min(b.base_offset));
        }
    }
}

/// The records of a whole log, whose offsets must be dense.
fn dense(index: i32, node: NodeId, bytes: &[u8]) -> Result<BTreeMap<i64, u64>, Violation> {
    let mut found = BTreeMap::new();
    let mut expected = 0;
    for batch in batches(bytes) {
        let Ok(batch) = batch else { break };
        for (offset, record) in records_of(&batch) {
            if offset != expected {
                return Err(Violation::Gap {
                    partition: index,
                    node,
                    expected,
                    found: offset,
                });
            }
            expected += 1;
            found.insert(offset, record);
        }
    }
    Ok(found)
}

/// Checks that records of an idempotent producer occur once and in order.
fn check_once(index: i32, found: &BTreeMap<i64, u64>) -> Result<(), Violation> {
    let mut last: BTreeMap<u64, u64> = BTreeMap::new();
    for record in found.values() {
        let client = record / RECORDS_OF_CLIENT;
        // The first of each four clients is the idempotent one.
        if !client.is_multiple_of(4) {
            continue;
        }
        if let Some(before) = last.insert(client, *record)
            && *record != before + 1
        {
            return Err(Violation::Repeated {
                partition: index,
                record: *record,
                before,
            });
        }
    }
    Ok(())
}
