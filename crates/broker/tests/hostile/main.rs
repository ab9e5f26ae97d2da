//! What bad input gets: frames, requests, batches and crowds of clients that no honest program
//! sends, against a cluster in threads over real sockets. After each of them a good client is served.
#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

#[path = "../harness/mod.rs"]
mod harness;

mod amplified;
mod batches;
mod bomb;
mod crowds;
mod frames;
mod memory;
mod requests;

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use harness::{Client, Running, batch, fetch_request, produce_request, start};
use kgauge_wire::frame::put_request;
use kgauge_wire::messages::Request;

/// Kafka's NOT_LEADER_OR_FOLLOWER.
const NOT_LED: i16 = 6;

/// A node with the topic "t".
fn one_node() -> (Running, SocketAddr) {
    let running = start(1);
    let address = running.cluster.addresses()[0];
    Client::connect(address).create_topic("t", 1);
    (running, address)
}

/// A well-behaved client produces and reads what it produced. On a busy machine the node may have been
/// silent for so long that it had to be elected again; good clients try again then.
fn is_served(address: SocketAddr) {
    let mut client = Client::connect(address);
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let request = produce_request("t", 0, 1, batch(3, 100));
        let produced = client.ask(12, &request);
        let produced = &produced.responses[0].partition_responses[0];
        let fetched = client.ask(12, &fetch_request("t", 0, produced.base_offset.max(0), 0));
        let fetched = &fetched.responses[0].partitions[0];
        let not_led = [produced.error_code, fetched.error_code].contains(&NOT_LED);
        if not_led && Instant::now() < until {
            continue;
        }
        assert_eq!((produced.error_code, fetched.error_code), (0, 0));
        assert!(!fetched.records.as_deref().unwrap_or_default().is_empty());
        return;
    }
}

/// A request's whole frame.
fn frame<'a, R: Request<'a>>(version: i16, request: &R) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_request(&mut bytes, version, 7, Some("hostile"), request).unwrap();
    bytes
}

/// Sends bytes and says that nothing follows; gives all that comes back until the node closes.
fn exchange(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = connect(address);
    // The node may close while we still write.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(error) => assert_ne!(error.kind(), ErrorKind::WouldBlock, "not closed"),
    }
    answer
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    // A test that hangs must fail.
    let limit = Some(Duration::from_secs(60));
    stream.set_read_timeout(limit).unwrap();
    stream
}
