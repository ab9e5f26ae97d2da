//! Taking new connections, also when the process has no file handle left.

use std::io;
use std::net::SocketAddr;

use mio::net::{TcpListener, TcpStream};

/// How long to wait before trying again after the system had no handle left.
pub(super) const RETRY_MS: i64 = 50;

/// What came of one try.
pub(super) enum AcceptOutcome {
    /// A client.
    Connection(TcpStream, SocketAddr),
    /// Nobody waits.
    Nobody,
    /// The system cannot give a connection now: try again later.
    Later,
}

/// Takes the next connection.
pub(super) fn accept(listener: &TcpListener) -> AcceptOutcome {
    loop {
        match listener.accept() {
            Ok((stream, peer)) => {
                // Without it small answers wait for acknowledgements; a socket that refuses is
                // gone.
                let _ = stream.set_nodelay(true);
                return AcceptOutcome::Connection(stream, peer);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return AcceptOutcome::Nobody;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A client that left while it waited.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(_) => return AcceptOutcome::Later,
        }
    }
}
