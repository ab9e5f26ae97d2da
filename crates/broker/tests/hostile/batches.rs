//! Batches that lie about themselves get Kafka's errors, and leave the log as it was.

use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::produce::ProduceRequest;
use kgauge_wire::record_batch::crc32c;

use crate::harness::{Client, batch, count, produce_request};
use crate::{is_served, one_node};

/// A change to a batch, after which its checksum is right again.
fn changed(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut batch = batch(3, 50);
    batch[at..at + bytes.len()].copy_from_slice(bytes);
    let crc = crc32c(&batch[21..]);
    batch[17..21].copy_from_slice(&crc.to_be_bytes());
    batch
}

/// Record count and last offset delta, as many bytes and records as before.
fn counted(count: i32, last_delta: i32) -> Vec<u8> {
    let mut batch = changed(57, &count.to_be_bytes());
    batch[23..27].copy_from_slice(&last_delta.to_be_bytes());
    let crc = crc32c(&batch[21..]);
    batch[17..21].copy_from_slice(&crc.to_be_bytes());
    batch
}

fn code_of(client: &mut Client, records: Vec<u8>) -> ErrorCode {
    let request = produce_request("t", 0, 1, records);
    client.send(12, &request);
    let answer = client.receive::<ProduceRequest<'static>>(12);
    let response = &answer.responses[0].partition_responses[0];
    assert!(
        response.error_code == 0 || response.error_message.is_some(),
        "without words"
    );
    ErrorCode::from_i16(response.error_code)
}

#[test]
fn a_batch_that_lies_is_refused_with_kafkas_code() {
    let (_running, address) = one_node();
    let good = batch(3, 50);
    let length = i32::from_be_bytes(good[8..12].try_into().unwrap());
    let mut wrong_crc = good.clone();
    wrong_crc[70] ^= 1;
    let half = good[..good.len() / 2].to_vec();
    let twice = [good.clone(), half.clone()].concat();
    let cases = [
        (
            "bytes that are no longer those of the checksum",
            wrong_crc,
            2,
        ),
        ("half of a batch", half, 2),
        ("a batch and a half", twice, 2),
        ("a length of -1", changed(8, &(-1_i32).to_be_bytes()), 2),
        ("a length of 0", changed(8, &[0; 4]), 2),
        (
            "the largest length",
            changed(8, &i32::MAX.to_be_bytes()),
            10,
        ),
        (
            "one byte too long",
            changed(8, &(length + 1).to_be_bytes()),
            2,
        ),
        (
            "one byte too short",
            changed(8, &(length - 1).to_be_bytes()),
            2,
        ),
        ("format 0", changed(16, &[0]), 43),
        ("format 3", changed(16, &[3]), 2),
        ("codec 7", changed(21, &7_i16.to_be_bytes()), 76),
        ("a control batch", changed(21, &0x20_i16.to_be_bytes()), 87),
        ("no records", counted(0, -1), 87),
        ("minus one record", counted(-1, -2), 87),
        ("a count beside the last offset", counted(3, 7), 87),
        ("more records than there are", counted(4, 3), 87),
        ("a million records more", counted(1_000_003, 1_000_002), 87),
        ("fewer records than there are", counted(2, 1), 87),
        (
            "as many as fit a number",
            counted(i32::MAX, i32::MAX - 1),
            87,
        ),
        (
            "a record longer than its batch",
            changed(61, &[0xfe, 0x7f]),
            87,
        ),
        ("a record of negative length", changed(61, &[0x01]), 87),
        (
            "a first offset that is not 0",
            changed(0, &5_i64.to_be_bytes()),
            87,
        ),
        ("nothing", Vec::new(), 87),
    ];
    let mut client = Client::connect(address);
    for (what, records, code) in cases {
        assert_eq!(code_of(&mut client, records).as_i16(), code, "{what}");
    }
    // Nothing of that is in the log.
    assert_eq!(client.produce("t", 0, good), 0);
    assert_eq!(count(&client.fetch("t", 0, 0)), 3);
    is_served(address);
}

#[test]
fn a_lie_with_acks_0_ends_the_connection() {
    let (_running, address) = one_node();
    let mut client = Client::connect(address);
    client.send(12, &produce_request("t", 0, 0, counted(4, 3)));
    assert!(client.is_closed());
    is_served(address);
}
