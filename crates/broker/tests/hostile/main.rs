//! What bad input gets: frames, requests, batches and crowds of clients that no honest program
//! sends, against a cluster in threads over real sockets. After each of them a good client is served.
#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

#[path = "../common/mod.rs"]
mod common;

mod amplified;
mod batches;
mod bomb;
mod crowds;
mod frames;
mod memory;
mod requests;

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use common::{Client, Running, batch, start};
use kgauge_wire::frame::put_request;
use kgauge_wire::messages::Request;

/// A node with the topic "t".
fn one_node() -> (Running, SocketAddr) {
    let running = start(1);
    let address = running.cluster.addresses()[0];
    Client::connect(address).create_topic("t", 1);
    (running, address)
}

/// A well-behaved client produces and reads what it produced.
fn is_served(address: SocketAddr) {
    let mut client = Client::connect(address);
    let offset = client.produce("t", 0, batch(3, 100));
    assert!(!client.fetch("t", 0, offset).is_empty());
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
    // A test that hangs shall fail.
    let limit = Some(Duration::from_secs(60));
    stream.set_read_timeout(limit).unwrap();
    stream
}
