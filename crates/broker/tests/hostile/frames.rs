//! Frames that lie about their size, come in crumbs, or ask for what nobody serves.

use std::io::{ErrorKind, Write};
use std::time::Duration;

use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::api_versions::{ApiVersionsRequest, ApiVersionsResponse};
use kgauge_wire::messages::metadata::MetadataRequest;

use crate::harness::Client;
use crate::{connect, exchange, frame, is_served, one_node};

/// `socket.request.max.bytes`
const REQUEST_BYTES_MAX: i32 = 104_857_600;

#[test]
fn a_size_that_cannot_be_true_closes_the_connection() {
    let (_running, address) = one_node();
    for size in [0, -1, i32::MIN, i32::MAX, REQUEST_BYTES_MAX + 1] {
        let mut client = Client::connect(address);
        client.stream.write_all(&size.to_be_bytes()).unwrap();
        assert!(client.is_closed(), "size {size}");
    }
    is_served(address);
}

#[test]
fn the_largest_size_is_waited_for() {
    let (_running, address) = one_node();
    let mut stream = connect(address);
    stream.write_all(&REQUEST_BYTES_MAX.to_be_bytes()).unwrap();
    stream.write_all(&[0; 100]).unwrap();
    // The node has read it all once another client, whose bytes came later, is served.
    is_served(address);
    let short = Some(Duration::from_millis(1));
    stream.set_read_timeout(short).unwrap();
    let waiting = std::io::Read::read(&mut stream, &mut [0]).unwrap_err();
    assert_eq!(waiting.kind(), ErrorKind::WouldBlock);
}

#[test]
fn a_request_that_comes_byte_by_byte_is_answered() {
    let (_running, address) = one_node();
    let mut client = Client::connect(address);
    let all = MetadataRequest {
        topics: None,
        ..MetadataRequest::default()
    };
    for byte in frame(12, &all) {
        client.stream.write_all(&[byte]).unwrap();
    }
    let answer = client.receive::<MetadataRequest<'static>>(12);
    assert_eq!(answer.topics[0].name.as_deref(), Some("t"));
}

#[test]
fn what_is_not_served_closes_the_connection() {
    let (_running, address) = one_node();
    // An unknown key, one below all, one of brokers among themselves, one of transactions; then
    // versions beyond and below those that are served.
    let keys = [
        (1_000, 0),
        (-1, 0),
        (4, 0),
        (24, 3),
        (3, 99),
        (3, -1),
        (0, 2),
        (1, 3),
    ];
    for (key, version) in keys {
        let mut bytes = frame(0, &MetadataRequest::default());
        bytes[4..6].copy_from_slice(&i16::to_be_bytes(key));
        bytes[6..8].copy_from_slice(&i16::to_be_bytes(version));
        let mut client = Client::connect(address);
        client.stream.write_all(&bytes).unwrap();
        assert!(client.is_closed(), "key {key}, version {version}");
    }
    is_served(address);
}

#[test]
fn api_versions_of_the_future_is_answered_in_its_first_version() {
    let (_running, address) = one_node();
    for version in [5, 99, i16::MAX] {
        let mut bytes = frame(3, &ApiVersionsRequest::default());
        bytes[6..8].copy_from_slice(&version.to_be_bytes());
        let mut client = Client::connect(address);
        client.stream.write_all(&bytes).unwrap();
        let answer: ApiVersionsResponse = client.receive::<ApiVersionsRequest<'static>>(0);
        assert_eq!(answer.error_code, ErrorCode::UnsupportedVersion.as_i16());
        let served = answer
            .api_keys
            .iter()
            .find(|api| api.api_key == 18)
            .unwrap();
        assert_eq!((served.min_version, served.max_version), (0, 4));
        // The client steps down on the same connection.
        assert_eq!(client.ask(4, &ApiVersionsRequest::default()).error_code, 0);
    }
}

#[test]
fn a_request_cut_anywhere_is_answered_or_closes_its_connection() {
    let (_running, address) = one_node();
    let whole = frame(
        12,
        &crate::harness::produce_request("t", 0, 1, crate::batch(2, 30)),
    );
    for len in 4..whole.len() {
        // As if that were all of it, and as if the rest were lost.
        let mut cut = whole[..len].to_vec();
        cut[..4].copy_from_slice(&i32::try_from(len - 4).unwrap().to_be_bytes());
        exchange(address, &cut);
        assert_eq!(exchange(address, &whole[..len]), [0; 0]);
    }
    is_served(address);
}

#[test]
fn a_header_that_lies_about_its_client_id_closes_the_connection() {
    let (_running, address) = one_node();
    for length in [i16::MAX, -2, i16::MIN] {
        let mut bytes = frame(12, &MetadataRequest::default());
        bytes[12..14].copy_from_slice(&length.to_be_bytes());
        let mut client = Client::connect(address);
        client.stream.write_all(&bytes).unwrap();
        assert!(client.is_closed(), "client id of {length} bytes");
    }
    is_served(address);
}
