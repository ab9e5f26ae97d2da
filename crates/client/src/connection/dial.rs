//! Connects to an address: resolves the name and tries every address, in limited time.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, Socket, Type};

use super::error::ConnectError;
use crate::config::{Address, ClientConfig};
use crate::interrupt::{Interrupt, WAIT_SLICE};

/// Connects to the host's first address that accepts.
pub(super) fn dial(
    address: &Address,
    config: &ClientConfig,
    deadline: Instant,
    interrupt: &Interrupt,
) -> Result<(TcpStream, SocketAddr), ConnectError> {
    let start = Instant::now();
    if start >= deadline {
        return Err(ConnectError::NoTime {
            address: address.clone(),
        });
    }
    let candidates = resolve(address, deadline, interrupt)?;
    let mut last = None;
    for (index, &candidate) in candidates.iter().enumerate() {
        // A dead first address must leave time for the others.
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

/// The host's addresses, each once.
fn resolve(
    address: &Address,
    deadline: Instant,
    interrupt: &Interrupt,
) -> Result<Vec<SocketAddr>, ConnectError> {
    if let Ok(ip) = address.host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, address.port)]);
    }
    let name = (address.host.clone(), address.port);
    let look_up = move || Ok(name.to_socket_addrs()?.collect());
    let found = resolve_until(look_up, deadline, interrupt);
    let found = found.map_err(|error| match error {
        Some(error) => ConnectError::UnknownHost {
            address: address.clone(),
            words: error.to_string(),
        },
        None => ConnectError::Interrupted {
            address: address.clone(),
        },
    })?;
    let mut candidates: Vec<SocketAddr> = Vec::new();
    for candidate in found {
        if !candidates.contains(&candidate) {
            candidates.push(candidate);
        }
    }
    Ok(candidates)
}

/// Resolves a name. The operating system does that, with its own time limits, and it cannot be cancelled. A separate
/// thread therefore waits for it. The thread is abandoned when the time is over or, with `None` as the error, when the
/// flag is raised.
fn resolve_until(
    look_up: impl FnOnce() -> io::Result<Vec<SocketAddr>> + Send + 'static,
    deadline: Instant,
    interrupt: &Interrupt,
) -> Result<Vec<SocketAddr>, Option<io::Error>> {
    let (sender, found) = channel();
    let asking = std::thread::Builder::new().name("names".to_owned());
    // The receiver may have given up.
    let asked = asking.spawn(move || drop(sender.send(look_up())));
    asked.map_err(Some)?;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match found.recv_timeout(left.min(WAIT_SLICE)) {
            Ok(found) => return found.map_err(Some),
            Err(_) if interrupt.is_raised() => return Err(None),
            Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
            Err(_) => {
                let words = "the name lookup timed out";
                return Err(Some(io::Error::new(io::ErrorKind::TimedOut, words)));
            }
        }
    }
}

fn connect(
    peer: SocketAddr,
    config: &ClientConfig,
    limit: Duration,
    interrupt: &Interrupt,
) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(peer), Type::STREAM, Some(Protocol::TCP))?;
    // Buffers must be set before connecting: the handshake negotiates the window scale. A system may refuse a size and
    // keep its own, as in Kafka.
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

/// Connects without blocking and waits in slices, so that an interrupt is noticed.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_up_that_hangs_is_left_to_itself() {
        // It answers after the end of the test.
        let (_held, never) = channel::<()>();
        let hangs = move || {
            let _ = never.recv();
            Ok(Vec::new())
        };
        let interrupt = Interrupt::new();
        interrupt.raise();
        let far = Instant::now() + Duration::from_secs(600);
        assert!(resolve_until(hangs, far, &interrupt).unwrap_err().is_none());
        let (_held, never) = channel::<()>();
        let hangs = move || {
            let _ = never.recv();
            Ok(Vec::new())
        };
        let late = resolve_until(hangs, Instant::now(), &Interrupt::new());
        let error = late.unwrap_err().unwrap();
        assert_eq!(error.to_string(), "the name lookup timed out");
    }

    #[test]
    fn names_and_addresses_are_found() {
        let found = |host: &str| {
            let address = Address {
                host: host.to_owned(),
                port: 9_092,
            };
            let far = Instant::now() + Duration::from_secs(600);
            resolve(&address, far, &Interrupt::new())
        };
        assert_eq!(found("::1").unwrap(), ["[::1]:9092".parse().unwrap()]);
        assert_eq!(
            found("127.0.0.2").unwrap(),
            ["127.0.0.2:9092".parse().unwrap()]
        );
        let local = found("localhost").unwrap();
        assert!(local.iter().all(|one| one.ip().is_loopback()), "{local:?}");
    }
}
