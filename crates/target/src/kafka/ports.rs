//! Free ports of this machine's loopback.

use std::io;
use std::net::{Ipv4Addr, TcpListener};

/// So many free ports, all different. Kafka must know its ports before it starts, so somebody else
/// may take one in between: then everything is tried again with others.
pub(crate) fn free(count: usize) -> io::Result<Vec<u16>> {
    // All are held until all are known.
    let held: Vec<TcpListener> = (0..count)
        .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
        .collect::<io::Result<_>>()?;
    held.iter()
        .map(|listener| Ok(listener.local_addr()?.port()))
        .collect()
}
