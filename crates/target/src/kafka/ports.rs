//! Free loopback ports of this machine.

use std::io;
use std::net::{Ipv4Addr, TcpListener};

/// This many distinct free ports. Kafka must know its ports before it starts, so another program may take one in
/// between; then the start is repeated with others.
pub(crate) fn free(count: usize) -> io::Result<Vec<u16>> {
    // All are held until all are known.
    let held: Vec<TcpListener> = (0..count)
        .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
        .collect::<io::Result<_>>()?;
    held.iter()
        .map(|listener| Ok(listener.local_addr()?.port()))
        .collect()
}
