//! Clients by the thousand, and clients that ask and never listen.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use kgauge_wire::codec::Str;
use kgauge_wire::messages::metadata::{MetadataRequest, MetadataRequestTopic};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::harness::{Client, fetch_request};
use crate::memory::Memory;
use crate::{exchange, frame, is_served, one_node};

const HALF_OPEN: u64 = 2_000;

/// Room for both ends of so many connections, as far as the system allows; gives how many.
fn make_room(connections: u64) -> u64 {
    let required = 2 * connections + 500;
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(required);
    let current = limit.current.unwrap_or(most).max(required.min(most));
    let raised = Rlimit {
        current: Some(current),
        ..limit
    };
    let _ = setrlimit(Resource::Nofile, raised);
    (current.saturating_sub(500) / 2).min(connections)
}

#[test]
fn two_thousand_half_open_connections_cost_little_and_hinder_nobody() {
    let (_running, address) = one_node();
    let count = make_room(HALF_OPEN);
    let memory = Memory::begin();
    let mut half_open = Vec::new();
    for number in 0..count {
        let mut stream = TcpStream::connect(address).unwrap();
        // Nothing, half a size, and half of a request that claims 90 MiB.
        let fragment = [&[][..], &[0, 0], &[5, 0xa0, 0, 0, 0, 3, 0]][number as usize % 3];
        stream.write_all(fragment).unwrap();
        half_open.push(stream);
        if number % 500 == 0 {
            is_served(address);
        }
    }
    is_served(address);
    let grown = memory.grown_bytes();
    assert!(grown < 100 << 20, "{grown} bytes for {count} connections");
    drop(half_open);
    is_served(address);
}

/// Asks so often and never reads; gives the connection, with as much written as it takes.
fn deaf(address: std::net::SocketAddr, first: &[u8], again: &[u8], times: usize) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(first).unwrap();
    // So long the node may take to read on.
    let patience = Some(Duration::from_millis(500));
    stream.set_write_timeout(patience).unwrap();
    for _ in 0..times {
        if stream.write_all(again).is_err() {
            break;
        }
    }
    stream
}

#[test]
fn clients_that_never_read_their_answers_are_not_asked_for_more() {
    let (_running, address) = one_node();
    // Its description is about 8 KB.
    Client::connect(address).create_topic("wide", 200);
    let all = MetadataRequest {
        topics: None,
        ..MetadataRequest::default()
    };
    let metadata = frame(12, &all);
    let memory = Memory::begin();
    // Without a bound 4 times 20,000 answers of 8 KB would be 640 MB.
    let deaf: Vec<TcpStream> = (0..4)
        .map(|_| deaf(address, &[], &metadata, 20_000))
        .collect();
    is_served(address);
    let grown = memory.grown_bytes();
    assert!(grown < 200 << 20, "{grown} bytes");
    drop(deaf);
    is_served(address);
}

#[test]
fn answers_behind_one_that_waits_are_bounded_too() {
    let (_running, address) = one_node();
    // Waits for records behind the end.
    let mut waiting = fetch_request("t", 0, 0, 30_000);
    waiting.min_bytes = 1 << 20;
    let unknown = |number: i32| MetadataRequestTopic {
        name: Some(Str::Owned(format!("unknown-{number}"))),
        ..MetadataRequestTopic::default()
    };
    let metadata = MetadataRequest {
        topics: Some((0..20_000).map(unknown).collect()),
        allow_auto_topic_creation: false,
        ..MetadataRequest::default()
    };
    let (waiting, metadata) = (frame(12, &waiting), frame(12, &metadata));
    let memory = Memory::begin();
    // Without a bound 10 times 63 answers of 800 KB would be 500 MB.
    let deaf: Vec<TcpStream> = (0..10)
        .map(|_| deaf(address, &waiting, &metadata, 63))
        .collect();
    is_served(address);
    let grown = memory.grown_bytes();
    assert!(grown < 200 << 20, "{grown} bytes");
    drop(deaf);
    is_served(address);
}

#[test]
fn half_sent_requests_of_many_clients_have_one_bound() {
    let (_running, address) = one_node();
    let claimed = 95_i32 << 20;
    let sent = vec![0_u8; 60 << 20];
    let memory = Memory::begin();
    // Without a bound 10 times 60 MiB, and as much room again.
    let half_sent: Vec<TcpStream> = (0..10)
        .map(|_| {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(&claimed.to_be_bytes()).unwrap();
            // The node may close while we still write.
            let _ = stream.write_all(&sent);
            stream
        })
        .collect();
    is_served(address);
    let grown = memory.grown_bytes();
    assert!(grown < 500 << 20, "{grown} bytes");
    drop(half_sent);
    is_served(address);
}

#[test]
fn a_client_that_leaves_while_its_answers_wait_is_closed_at_once() {
    let (_running, address) = one_node();
    let mut waiting = fetch_request("t", 0, 0, 600_000);
    waiting.min_bytes = 1 << 20;
    let waiting = frame(12, &waiting);
    // A connection with 64 requests that wait is no longer read; one with three is.
    for count in [100, 3] {
        assert_eq!(exchange(address, &waiting.repeat(count)), [0; 0]);
    }
    is_served(address);
}
