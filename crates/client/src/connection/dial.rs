//! From an address to a connected socket: names resolved, every address tried, time bounded.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, Socket, Type};

use super::error::ConnectError;
use crate::config::{Address, ClientConfig};
use crate::interrupt::{Interrupt, WAIT_SLICE};

/// Connects to the first address of the host that accepts.
///
/// The look-up of the name is the operating system's and keeps its own time limit; `deadline`
/// bounds everything after it.
pub(super) fn dial(
    address: &Address,
    config: &ClientConfig,
    deadline: Instant,
    interrupt: &Interrupt,
) -> Result<(TcpStream, SocketAddr), ConnectError> {
    let start = Instant::now();
    let candidates = resolve(address)?;
    let mut last = None;
    for (index, &candidate) in candidates.iter().enumerate() {
        // A dead first address must leave time for those after it.
        let left = deadline.saturating_duration_since(Instant::now());
        let share = left / u32::try_from(candidates.len() - index).unwrap_or(1);
        match connect(candidate, config, share, interrupt) {
            Ok(stream) => return Ok((stream, candidate)),
            Err(_) if interrupt.is_raised() => {
                return Err(ConnectError::Interrupted {
                    address: address.clone(),
                });
            }
            Err(error) => last = Some((candidate, error)),
        }
    }
    let Some((candidate, error)) = last else {
        return Err(ConnectError::UnknownHost {
            address: address.clone(),
            words: "the name has no address".to_owned(),
        });
    };
    Err(match error.kind() {
        io::ErrorKind::ConnectionRefused => ConnectError::Refused {
            address: address.clone(),
            peer: candidate,
        },
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => ConnectError::TimedOut {
            address: address.clone(),
            peer: candidate,
            waited: start.elapsed(),
        },
        _ => ConnectError::Unreachable {
            address: address.clone(),
            peer: candidate,
            error,
        },
    })
}

fn resolve(address: &Address) -> Result<Vec<SocketAddr>, ConnectError> {
    match (address.host.as_str(), address.port).to_socket_addrs() {
        Ok(found) => {
            let mut candidates: Vec<SocketAddr> = Vec::new();
            for candidate in found {
                if !candidates.contains(&candidate) {
                    candidates.push(candidate);
                }
            }
            Ok(candidates)
        }
        Err(error) => Err(ConnectError::UnknownHost {
            address: address.clone(),
            words: error.to_string(),
        }),
    }
}

fn connect(
    peer: SocketAddr,
    config: &ClientConfig,
    limit: Duration,
    interrupt: &Interrupt,
) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(peer), Type::STREAM, Some(Protocol::TCP))?;
    // Buffers have to be set before connecting: the window scale is agreed in the handshake.
    // A system may refuse a size, in which case its own stays, as in Kafka.
    if let Some(bytes) = config.send_buffer_bytes {
        let _ = socket.set_send_buffer_size(bytes as usize);
    }
    if let Some(bytes) = config.receive_buffer_bytes {
        let _ = socket.set_recv_buffer_size(bytes as usize);
    }
    socket.set_tcp_nodelay(true)?;
    socket.set_keepalive(true)?;
    connect_in_slices(&socket, peer, limit, interrupt)?;
    Ok(socket.into())
}

/// Connects without blocking and waits in slices, so that Ctrl-C is heard.
fn connect_in_slices(
    socket: &Socket,
    peer: SocketAddr,
    limit: Duration,
    interrupt: &Interrupt,
) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};

    let deadline = Instant::now() + limit;
    socket.set_nonblocking(true)?;
    match socket.connect(&peer.into()) {
        Ok(()) => return socket.set_nonblocking(false),
        Err(error)
            if error.raw_os_error() == Some(rustix::io::Errno::INPROGRESS.raw_os_error()) => {}
        Err(error) => return Err(error),
    }
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || interrupt.is_raised() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let slice = left
            .min(WAIT_SLICE)
            .try_into()
            .map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut waiting = [PollFd::new(socket, PollFlags::OUT)];
        match poll(&mut waiting, Some(&slice)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => break,
            Err(error) => return Err(error.into()),
        }
    }
    if let Some(error) = socket.take_error()? {
        return Err(error);
    }
    socket.set_nonblocking(false)
}
