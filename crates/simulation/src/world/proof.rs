//! The simulation judged by `kgauge-verify`: identities in records, ledgers of acks, a check of the logs at the end.

use std::collections::{BTreeMap, BTreeSet};

use kgauge_broker::ids::NodeId;
use kgauge_results::run::Anomaly;
use kgauge_verify::{
    BatchEntry, BatchFate, ConsumerPolls, LedgerEntry, LedgerKind, LedgerReader, LedgerWriter,
    PartitionCheck, PartitionOutcomes, ReadExtent, ReadSpan, STAMP_BYTES, Stamp, StampKey,
    TransactionFate, batch_mark, producer_number, torn_transactions,
};
use kgauge_wire::compress::Decompressor;
use kgauge_wire::record_batch::batches;

use super::checks::{ClientKind, content};
use super::{TOPIC, World};

/// An anomaly that was found in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoundAnomaly {
    /// The class.
    pub anomaly: Anomaly,
    /// The client's settings forbid it.
    pub is_forbidden: bool,
    /// Affected records.
    pub count: u64,
}

/// The result of a verified run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedOutcome {
    /// What was found.
    pub anomalies: Vec<FoundAnomaly>,
    /// Injected faults.
    pub faults: u64,
    /// Acked records.
    pub acked: u64,
}

/// Acked batches of a transaction.
const TRANSACTION_BATCHES: u32 = 2;

/// The ledger of a producer.
#[derive(Debug)]
struct ClientLedger {
    bytes: Vec<u8>,
    kind: LedgerKind,
    /// Batches of the open transaction.
    open_batches: u32,
}

/// What the clients of a verified run know.
#[derive(Debug, Default)]
pub(super) struct ClientProof {
    ledgers: BTreeMap<usize, ClientLedger>,
    /// What readers log.
    polls: Vec<LedgerEntry>,
}

/// The key of all runs.
fn key() -> StampKey {
    StampKey::new(1)
}

fn stamp(client: usize, partition: i32, record: u64) -> Stamp {
    Stamp {
        producer: producer_number(client, 0),
        partition: partition.unsigned_abs(),
        sequence: record,
        number: record,
    }
}

/// The value of a client's record: its identity, and its number in the simulation.
pub(super) fn value(client: usize, partition: i32, record: u64, number: [u8; 8]) -> Vec<u8> {
    let mut value = vec![0; STAMP_BYTES];
    key().write(&stamp(client, partition, record), &mut value);
    value.extend_from_slice(&number);
    value
}

impl ClientProof {
    /// A batch was acked at an offset, or refused for certain.
    pub(super) fn answered(
        &mut self,
        (client, client_kind, partition): (usize, ClientKind, i32),
        (first, count): (u64, u64),
        offset: Option<i64>,
    ) {
        let number = producer_number(client, 0);
        let ledger = self.ledgers.entry(client).or_insert_with(|| ClientLedger {
            bytes: LedgerWriter::new(Vec::new(), number).into_inner(),
            kind: match client_kind {
                ClientKind::Exact => LedgerKind::Transactional,
                _ => LedgerKind::Plain,
            },
            open_batches: 0,
        });
        let batch = LedgerEntry::Batch(BatchEntry {
            fate: match offset {
                Some(_) => BatchFate::Acked,
                None => BatchFate::Failed,
            },
            partition: partition.unsigned_abs(),
            sequence: first,
            count: u32::try_from(count).unwrap_or(0),
            offset: offset.and_then(|offset| u64::try_from(offset).ok()),
        });
        ledger.bytes.extend_from_slice(&batch.to_bytes());
        ledger.open_batches += 1;
        let is_transactional = ledger.kind == LedgerKind::Transactional;
        if is_transactional && ledger.open_batches == TRANSACTION_BATCHES {
            let end = LedgerEntry::TransactionEnd(TransactionFate::Committed);
            ledger.bytes.extend_from_slice(&end.to_bytes());
            ledger.open_batches = 0;
        }
    }

    /// A reader that expected one offset got another one.
    pub(super) fn polled(&mut self, partition: i32, expected: i64, offset: i64) {
        if offset != expected {
            self.polls.push(LedgerEntry::Poll {
                partition: partition.unsigned_abs(),
                expected: expected.unsigned_abs(),
                offset: offset.unsigned_abs(),
            });
        }
        // The next record may be at any later offset.
        self.polls.push(LedgerEntry::Read(ReadSpan {
            partition: partition.unsigned_abs(),
            from: offset.unsigned_abs(),
            end: offset.unsigned_abs() + 1,
            hidden: 0,
        }));
    }

    /// The record that was just read is the first of this batch.
    pub(super) fn note_batch(&mut self, base_offset: i64, crc: u32) {
        let mark = batch_mark(base_offset.unsigned_abs(), crc);
        self.polls.push(LedgerEntry::BatchSum(mark));
    }

    /// What the reader of a partition has seen.
    fn polls(&self, partition: i32) -> ConsumerPolls {
        let mut bytes = LedgerWriter::new(Vec::new(), 0).into_inner();
        for entry in &self.polls {
            bytes.extend_from_slice(&entry.to_bytes());
        }
        let mut log = LedgerReader::new(bytes.as_slice()).expect("it was just written");
        let polls = ConsumerPolls::read(&mut log, partition.unsigned_abs(), Some(0));
        polls.expect("it was just written")
    }

    /// The outcomes of a partition's records.
    fn outcomes(&self, partition: i32) -> PartitionOutcomes {
        let mut outcomes = PartitionOutcomes::new(partition.unsigned_abs());
        for ledger in self.ledgers.values() {
            let mut reader = ledger.reader();
            outcomes
                .add(&mut reader, ledger.kind)
                .expect("it was just written");
        }
        outcomes
    }

    /// Transactions of which only some records are lost.
    fn torn(&self, lost: &BTreeMap<(u32, u32), u64>) -> u64 {
        let ledgers = self.ledgers.values();
        let ledgers = ledgers.filter(|ledger| ledger.kind == LedgerKind::Transactional);
        let torn = ledgers.map(|ledger| {
            let torn = torn_transactions(&mut ledger.reader(), lost);
            torn.expect("it was just written")
        });
        torn.sum()
    }
}

impl ClientLedger {
    fn reader(&self) -> LedgerReader<&[u8]> {
        LedgerReader::new(self.bytes.as_slice()).expect("it was just written")
    }
}

/// What was found so far.
#[derive(Debug, Default)]
struct RunVerdict {
    found: BTreeMap<(Anomaly, bool), u64>,
    acked: u64,
    /// Lost records by producer and transaction.
    lost: BTreeMap<(u32, u32), u64>,
}

impl RunVerdict {
    /// Adds anomalies that no setting permits.
    fn add_forbidden(&mut self, anomaly: Anomaly, count: u64) {
        if count > 0 {
            *self.found.entry((anomaly, true)).or_default() += count;
        }
    }
}

impl World<'_> {
    /// Runs, and checks the logs of all replicas.
    pub(in super::super) fn run_verified(mut self) -> VerifiedOutcome {
        // What the simulation itself finds is not of interest here.
        let _ = self.live();
        let mut verdict = RunVerdict::default();
        for partition in 0..self.plan.partitions {
            self.verify(partition, &mut verdict);
        }
        let proof = self.clients.proof.as_ref();
        let torn = proof.map_or(0, |proof| proof.torn(&verdict.lost));
        verdict.add_forbidden(Anomaly::TornTransaction, torn);
        let back = self.members.checks.commits_back();
        verdict.add_forbidden(Anomaly::CommittedOffsetBack, back);
        let anomalies = verdict.found.into_iter();
        let anomaly = |((anomaly, is_forbidden), count)| FoundAnomaly {
            anomaly,
            is_forbidden,
            count,
        };
        VerifiedOutcome {
            anomalies: anomalies.map(anomaly).collect(),
            faults: self.faults.count,
            acked: verdict.acked,
        }
    }

    fn verify(&mut self, partition: i32, run: &mut RunVerdict) {
        let Some(proof) = &mut self.clients.proof else {
            return;
        };
        let outcomes = proof.outcomes(partition);
        let polls = proof.polls(partition);
        let mut check = PartitionCheck::new(key(), outcomes, vec![polls]);
        let image = self.controller.image();
        let of_topic = image
            .topic(TOPIC)
            .and_then(|topic| topic.partition(partition));
        let Some(leader) = of_topic.and_then(|partition| partition.leader) else {
            return;
        };
        let logs = self.logs(partition);
        let Some((_, log)) = logs.iter().find(|(node, _)| *node == leader) else {
            return;
        };
        let mut end = 0;
        let (mut decompressor, mut scratch) = (Decompressor::new(), Vec::new());
        for batch in batches(log).filter_map(Result::ok) {
            scratch.clear();
            let header = &batch.header;
            check.note_batch(header.base_offset.unsigned_abs(), header.crc);
            let Ok(records) = batch.records(&mut decompressor, &mut scratch, 1 << 20) else {
                continue;
            };
            for record in records.filter_map(Result::ok) {
                let number = record.value.and_then(|value| value.last_chunk::<8>());
                check.note(record.offset.unsigned_abs(), record.value, |stamp| {
                    number.is_some_and(|number| {
                        u64::from_be_bytes(*number) & u64::from(u32::MAX) == stamp.number
                    })
                });
            }
            end = batch.header.next_offset().unsigned_abs();
        }
        let verdict = check.finish(ReadExtent {
            log_start: 0,
            read_end: end,
            is_complete: true,
        });
        for ((anomaly, client), tally) in &verdict.anomalies {
            let kind = client.map(|client| self.clients.role(client).0);
            let key = (*anomaly, is_forbidden(*anomaly, kind));
            *run.found.entry(key).or_default() += tally.count;
        }
        run.acked += verdict.acked;
        for (&transaction, &records) in &verdict.lost_by_transaction {
            *run.lost.entry(transaction).or_default() += records;
        }
        run.add_forbidden(Anomaly::DivergentReplicas, differing_batches(&logs));
    }

    /// The log of each replica that is up.
    fn logs(&mut self, partition: i32) -> Vec<(NodeId, Vec<u8>)> {
        let Some(id) = self.partition_id(partition) else {
            return Vec::new();
        };
        let mut logs = Vec::new();
        for node in self.node_ids() {
            if let Some(replica) = self.replica_mut(node, &id) {
                let below = replica.log.high_watermark();
                logs.push((node, content(&mut replica.log, below)));
            }
        }
        logs
    }
}

/// Base offsets at which replicas have different batches.
fn differing_batches(logs: &[(NodeId, Vec<u8>)]) -> u64 {
    let mut places: BTreeMap<i64, BTreeSet<(u32, i32)>> = BTreeMap::new();
    let common = logs.iter().map(|(_, log)| {
        let last = batches(log).filter_map(Result::ok).last();
        last.map_or(0, |batch| batch.header.next_offset())
    });
    let common = common.min().unwrap_or(0);
    for (_, log) in logs {
        for batch in batches(log).filter_map(Result::ok) {
            let header = &batch.header;
            if header.base_offset < common {
                let at = places.entry(header.base_offset).or_default();
                at.insert((header.crc, header.leader_epoch));
            }
        }
    }
    places.values().filter(|batches| batches.len() > 1).count() as u64
}

/// Whether the settings of a client forbid an anomaly: the rules of [`kgauge_verify::is_permitted`] for two of three
/// replicas in sync.
fn is_forbidden(anomaly: Anomaly, kind: Option<ClientKind>) -> bool {
    let is_exact = kind == Some(ClientKind::Exact);
    let by_leader = kind == Some(ClientKind::Leader);
    match anomaly {
        Anomaly::Duplicate | Anomaly::NonmonotonicSend | Anomaly::InconsistentOffsets => is_exact,
        Anomaly::LostWrite => !by_leader,
        _ => true,
    }
}
