//! A batch of some kilobytes that inflates to gigabytes.

use kgauge_wire::codec::Str;
use kgauge_wire::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic,
};
use kgauge_wire::record_batch::crc32c;

use crate::harness::{Client, batch, produce_request};
use crate::memory::Memory;
use crate::{is_served, one_node};

/// Blocks of 128 KiB each: 4 GiB together.
const BLOCKS: u32 = 32_768;

/// A zstd frame (RFC 8878) of blocks that repeat one byte: four bytes for 128 KiB.
fn zstd_of_zeros() -> Vec<u8> {
    // The magic number; no checksum, no content size; a window of 128 KiB.
    let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
    for block in 1..=BLOCKS {
        // Whether it is the last, type 1 (repeated), size; then the byte.
        let header = u32::from(block == BLOCKS) | 1 << 1 | (128 << 10) << 3;
        bytes.extend(&header.to_le_bytes()[..3]);
        bytes.push(0);
    }
    bytes
}

/// The header of a batch of one record around other content.
fn bomb() -> Vec<u8> {
    let mut bytes = batch(1, 10);
    bytes.truncate(61);
    bytes.extend(zstd_of_zeros());
    let length = i32::try_from(bytes.len() - 12).unwrap();
    bytes[8..12].copy_from_slice(&length.to_be_bytes());
    // Attributes: zstd.
    bytes[21..23].copy_from_slice(&4_i16.to_be_bytes());
    let crc = crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    bytes
}

fn offset_at(client: &mut Client, timestamp: i64) -> (i16, i64) {
    let partition = ListOffsetsPartition {
        timestamp,
        ..ListOffsetsPartition::default()
    };
    let request = ListOffsetsRequest {
        topics: vec![ListOffsetsTopic {
            name: Str::Borrowed("t"),
            partitions: vec![partition],
        }],
        ..ListOffsetsRequest::default()
    };
    let answer = client.ask(7, &request);
    let partition = &answer.topics[0].partitions[0];
    (partition.error_code, partition.offset)
}

#[test]
fn a_batch_that_inflates_to_gigabytes_is_never_inflated() {
    let (running, address) = one_node();
    let mut client = Client::connect(address);
    let bomb = bomb();
    assert!(bomb.len() < 200 << 10);
    let memory = Memory::begin();
    assert_eq!(client.produce("t", 0, batch(2, 10)), 0);
    assert_eq!(client.produce("t", 0, bomb.clone()), 2);
    assert_eq!(client.produce("t", 0, batch(2, 10)), 3);
    // The first record at a time: one whose batch can be read, and one in the bomb.
    assert_eq!(offset_at(&mut client, 0), (0, 0));
    let last_ms = i64::MAX;
    assert_eq!(offset_at(&mut client, last_ms), (0, -1));
    let timestamp = i64::from_be_bytes(bomb[35..43].try_into().unwrap());
    let (code, offset) = offset_at(&mut client, timestamp);
    assert_eq!(code, 0);
    assert!((0..=2).contains(&offset), "{offset}");
    assert_eq!(offset_at(&mut client, -3).0, 0);
    assert_eq!(client.fetch("t", 0, 2)[61..bomb.len()], bomb[61..]);
    assert!(memory.grown_bytes() < 300 << 20, "{}", memory.grown_bytes());
    is_served(address);
    // Nor at the next start, after a crash.
    let dir = running.dir;
    drop(running.cluster);
    std::fs::remove_file(dir.path().join("node-1/.kafka_cleanshutdown")).ok();
    let config = kgauge_broker::ClusterConfig::new(dir.path());
    let cluster = kgauge_broker::EmbeddedCluster::start(config).unwrap();
    is_served(cluster.addresses()[0]);
    assert!(memory.grown_bytes() < 300 << 20);
}

#[test]
fn a_topic_that_looks_into_batches_inflates_one_up_to_a_bound() {
    const MESSAGE_TOO_LARGE: i16 = 10;
    let (running, address) = one_node();
    let mut client = Client::connect(address);
    let memory = Memory::begin();
    for (name, value) in [
        ("compression.type", "uncompressed"),
        ("cleanup.policy", "compact"),
    ] {
        client.set_topic_config("t", name, value);
        let answer = client.ask(12, &produce_request("t", 0, 1, bomb()));
        let response = &answer.responses[0].partition_responses[0];
        assert_eq!(
            response.error_code, MESSAGE_TOO_LARGE,
            "{:?}",
            response.error_message
        );
        assert!(memory.grown_bytes() < 300 << 20, "{}", memory.grown_bytes());
    }
    client.set_topic_config("t", "cleanup.policy", "delete");
    is_served(address);
    drop(running);
}
