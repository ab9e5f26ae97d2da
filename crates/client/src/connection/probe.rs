//! Probes a port that closed the connection or kept silent: does it answer a TLS or an HTTP greeting? Both are common
//! mistakes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::foreign::{Foreign, PREVIEW_BYTES_MAX};
use crate::interrupt::{Interrupt, WAIT_SLICE};

/// Time limit per greeting: a running server answers at once.
const PROBE_TIMEOUT: Duration = Duration::from_millis(500);

const HTTP_GREETING: &[u8] = b"GET / HTTP/1.0\r\n\r\n";

/// A complete TLS 1.2 ClientHello without extensions (RFC 5246, section 7.4.1.2). Whether the server accepts it or not,
/// its response is a TLS record.
#[rustfmt::skip]
const TLS_GREETING: &[u8] = &[
    0x16, 0x03, 0x01, 0x00, 0x31, // record: handshake, 49 bytes
    0x01, 0x00, 0x00, 0x2d, // ClientHello, 45 bytes
    0x03, 0x03, // TLS 1.2
    0x6b, 0x67, 0x61, 0x75, 0x67, 0x65, 0x20, 0x6c, 0x6f, 0x6f, 0x6b, 0x73, 0x20, 0x77, 0x68, 0x6f,
    0x20, 0x6c, 0x69, 0x73, 0x74, 0x65, 0x6e, 0x73, 0x20, 0x6f, 0x6e, 0x20, 0x68, 0x65, 0x72, 0x65,
    0x00, // no session
    0x00, 0x06, 0xc0, 0x2f, 0xc0, 0x2b, 0x00, 0x2f, // three common cipher suites
    0x01, 0x00, // no compression
];

/// What answers on the port, and the first bytes of its response; `None` if unknown.
pub(super) fn second_look(peer: SocketAddr, interrupt: &Interrupt) -> Option<(Foreign, Vec<u8>)> {
    for (greeting, expected) in [(TLS_GREETING, Foreign::Tls), (HTTP_GREETING, Foreign::Http)] {
        if interrupt.is_raised() {
            return None;
        }
        let received = greet(peer, greeting, interrupt).unwrap_or_default();
        let foreign = Foreign::recognise(&received);
        if foreign == expected || (foreign != Foreign::Bytes && foreign != Foreign::Text) {
            return Some((foreign, received));
        }
    }
    None
}

fn greet(peer: SocketAddr, greeting: &[u8], interrupt: &Interrupt) -> std::io::Result<Vec<u8>> {
    let deadline = Instant::now() + PROBE_TIMEOUT;
    let mut stream = TcpStream::connect_timeout(&peer, PROBE_TIMEOUT)?;
    stream.set_write_timeout(Some(WAIT_SLICE))?;
    stream.set_read_timeout(Some(WAIT_SLICE))?;
    stream.write_all(greeting)?;
    let mut received = [0; PREVIEW_BYTES_MAX];
    while Instant::now() < deadline && !interrupt.is_raised() {
        match stream.read(&mut received) {
            Ok(count) => return Ok(received[..count].to_vec()),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Vec::new())
}
