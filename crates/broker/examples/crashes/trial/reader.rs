//! Reads everything that is there at the end, from the leaders and from the disks.

use std::fs;
use std::path::Path;

use kgauge_client::{ClientConfig, Cluster};
use kgauge_wire::codec::Str;
use kgauge_wire::compress::Decompressor;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::fetch::{FetchPartition, FetchRequest, FetchTopic};
use kgauge_wire::record_batch::batches;

use super::Failure;
use super::ledger::{Ledger, Place};

const FETCH_VERSION: i16 = 12;
const FETCH_BYTES_MAX: i32 = 4 << 20;
/// A batch of 16 KiB, as Kafka's producer makes them, does not inflate to more.
const INFLATED_BYTES_MAX: usize = 16 << 20;

/// Reads a partition from its first record to its end.
pub(super) fn read(
    client: &ClientConfig,
    topic: &str,
    partition: i32,
    ledger: &mut Ledger,
) -> Result<(), Failure> {
    let mut cluster = Cluster::bootstrap(client.clone())?;
    let end = cluster.end_offsets(topic)?;
    let end = end[usize::try_from(partition)?];
    let leader = cluster.leader(topic, partition)?.broker_id;
    let mut connection = cluster.open(leader)?;
    let (mut decompressor, mut scratch) = (Decompressor::new(), Vec::new());
    let mut offset = 0;
    while offset < end {
        let before = offset;
        let reply = connection.call_version(&request(topic, partition, offset), FETCH_VERSION)?;
        let answer = reply.decode()?;
        let response = &answer
            .responses
            .first()
            .ok_or("an answer without topic")?
            .partitions[0];
        let code = ErrorCode::from_i16(response.error_code);
        if !code.is_none() {
            return Err(format!("partition {partition} at offset {offset}: {code}").into());
        }
        for batch in batches(response.records.as_deref().unwrap_or_default()) {
            let batch = batch?;
            batch.validate_crc()?;
            for record in batch.records(&mut decompressor, &mut scratch, INFLATED_BYTES_MAX)? {
                let record = record?;
                if record.offset >= offset {
                    let place = Place {
                        partition,
                        offset: record.offset,
                    };
                    ledger.found(place, record.value.unwrap_or_default());
                    offset = record.offset + 1;
                }
            }
        }
        if offset == before {
            return Err(format!("partition {partition} ends at {offset}, not at {end}").into());
        }
    }
    Ok(())
}

fn request(topic: &str, partition: i32, offset: i64) -> FetchRequest<'_> {
    FetchRequest {
        max_wait_ms: 0,
        min_bytes: 1,
        max_bytes: FETCH_BYTES_MAX,
        topics: vec![FetchTopic {
            topic: Str::Borrowed(topic),
            partitions: vec![FetchPartition {
                partition,
                fetch_offset: offset,
                partition_max_bytes: FETCH_BYTES_MAX,
                ..FetchPartition::default()
            }],
            ..FetchTopic::default()
        }],
        ..FetchRequest::default()
    }
}

/// After the cluster's end: all replicas have the same bytes.
pub(super) fn compare_replicas(
    dir: &Path,
    nodes: u16,
    topic: &str,
    partition: i32,
) -> Result<(), Failure> {
    let log = |node: u16| log_bytes(&dir.join(format!("node-{node}/{topic}-{partition}")));
    let first = log(1)?;
    for node in 2..=nodes {
        if log(node)? != first {
            return Err(format!("partition {partition}: nodes 1 and {node} differ").into());
        }
    }
    Ok(())
}

/// The bytes of all segments, one behind the other.
fn log_bytes(dir: &Path) -> Result<Vec<u8>, Failure> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "log") {
            names.push(path);
        }
    }
    names.sort();
    let mut bytes = Vec::new();
    for name in names {
        bytes.extend(fs::read(name)?);
    }
    Ok(bytes)
}
