//! One connection through the proxy: bytes in both directions, or Kafka's requests and responses one by one.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kgauge_faults::DropPoint;

use super::cuts::{ByteDirection, ProxiedRoute};
use super::state::ProxyState;

/// Bytes that are passed on at once.
const CHUNK_BYTES: usize = 64 << 10;

/// Length, API, version and correlation id of a request.
const REQUEST_HEAD_BYTES: usize = 12;

/// Length and correlation id of a response.
const RESPONSE_HEAD_BYTES: usize = 8;

/// Bytes of a frame's length, which it does not count.
const LENGTH_BYTES: usize = 4;

/// The longest request that is held. Kafka refuses those of more than 100 MiB.
const HELD_BYTES_MAX: usize = 128 << 20;

/// How long a connection stays open for the response to a held request whose client has left.
const LINGER: Duration = Duration::from_secs(10);

/// The pause between two looks for that response.
const LINGER_PAUSE: Duration = Duration::from_millis(20);

/// What both directions of a connection know about its requests.
#[derive(Debug, Default)]
struct ExchangeState {
    requests: u64,
    responses: u64,
    /// Correlation ids of requests whose response is replaced by the end of the connection.
    dropped: BTreeSet<[u8; 4]>,
    has_held: bool,
}

/// A connection whose two sockets are open.
struct ProxiedConnection {
    state: Arc<ProxyState>,
    route: ProxiedRoute,
    exchange: Mutex<ExchangeState>,
}

/// Connects to a port on behalf of an accepted connection, and passes on what both sides say until one of them leaves.
pub(super) fn relay(
    state: &Arc<ProxyState>,
    route: ProxiedRoute,
    upstream_port: u16,
    accepted: TcpStream,
) -> io::Result<()> {
    // A connection needs both directions to be made.
    for towards in [ByteDirection::Forward, ByteDirection::Backward] {
        if !state.await_open(route, towards) {
            return Ok(());
        }
    }
    let upstream = TcpStream::connect((Ipv4Addr::LOCALHOST, upstream_port))?;
    accepted.set_nodelay(true)?;
    upstream.set_nodelay(true)?;
    let id = state.keep([accepted.try_clone()?, upstream.try_clone()?]);
    let connection = Arc::new(ProxiedConnection {
        state: Arc::clone(state),
        route,
        exchange: Mutex::default(),
    });
    let (from, to) = (upstream.try_clone()?, accepted.try_clone()?);
    let backward = Arc::clone(&connection);
    let spawned = std::thread::Builder::new()
        .name("proxy-backward".to_owned())
        .spawn(move || {
            // A side that leaves ends the connection, whatever the reason.
            let _ = backward.pass_back(from, to);
            backward.state.close(id);
        });
    if spawned.is_ok() {
        let _ = connection.pass_forward(accepted, upstream);
        connection.linger();
    }
    state.close(id);
    spawned.map(drop)
}

impl ProxiedConnection {
    fn exchange<R>(&self, with: impl FnOnce(&mut ExchangeState) -> R) -> R {
        with(&mut self.exchange.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn pass_forward(&self, from: TcpStream, to: TcpStream) -> io::Result<()> {
        match self.route {
            ProxiedRoute::Client { broker } => self.pass_requests(broker, from, to),
            ProxiedRoute::Peer { .. }
            | ProxiedRoute::Controller { .. }
            | ProxiedRoute::ZooKeeper { .. } => self.pass_bytes(ByteDirection::Forward, from, to),
        }
    }

    fn pass_back(&self, from: TcpStream, to: TcpStream) -> io::Result<()> {
        match self.route {
            ProxiedRoute::Client { .. } => self.pass_responses(from, to),
            ProxiedRoute::Peer { .. }
            | ProxiedRoute::Controller { .. }
            | ProxiedRoute::ZooKeeper { .. } => self.pass_bytes(ByteDirection::Backward, from, to),
        }
    }

    fn pass_bytes(
        &self,
        towards: ByteDirection,
        mut from: TcpStream,
        mut to: TcpStream,
    ) -> io::Result<()> {
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let bytes = from.read(&mut chunk)?;
            if bytes == 0 || !self.state.await_open(self.route, towards) {
                return Ok(());
            }
            to.write_all(&chunk[..bytes])?;
        }
    }

    fn pass_requests(
        &self,
        broker: u16,
        mut from: impl Read,
        mut to: impl Write,
    ) -> io::Result<()> {
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let mut head = [0; REQUEST_HEAD_BYTES];
            from.read_exact(&mut head)?;
            let rest = bytes_after(&head)?;
            let [_, _, _, _, high, low, _, _, correlation @ ..] = head;
            let order = self.state.order(broker, i16::from_be_bytes([high, low]));
            if order.drop == Some(DropPoint::Before) {
                return Err(ErrorKind::ConnectionAborted.into());
            }
            self.exchange(|exchange| {
                exchange.requests += 1;
                exchange.has_held |= order.hold_until.is_some();
                if order.drop == Some(DropPoint::After) {
                    exchange.dropped.insert(correlation);
                }
            });
            let Some(until) = order.hold_until else {
                if !self.state.await_open(self.route, ByteDirection::Forward) {
                    return Ok(());
                }
                to.write_all(&head)?;
                copy(rest, &mut chunk, &mut from, &mut to)?;
                continue;
            };
            // It arrives even if its client does not wait for it.
            let mut held = vec![0; rest];
            from.read_exact(&mut held)?;
            let may_pass = self.state.sleep_until(until)
                && self.state.await_open(self.route, ByteDirection::Forward);
            if !may_pass {
                return Ok(());
            }
            to.write_all(&head)?;
            to.write_all(&held)?;
        }
    }

    fn pass_responses(&self, mut from: impl Read, mut to: impl Write) -> io::Result<()> {
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let mut head = [0; RESPONSE_HEAD_BYTES];
            from.read_exact(&mut head)?;
            let rest = bytes_after(&head)?;
            let [_, _, _, _, correlation @ ..] = head;
            let is_dropped = self.exchange(|exchange| {
                exchange.responses += 1;
                exchange.dropped.remove(&correlation)
            });
            if is_dropped || !self.state.await_open(self.route, ByteDirection::Backward) {
                return Ok(());
            }
            to.write_all(&head)?;
            copy(rest, &mut chunk, &mut from, &mut to)?;
        }
    }

    /// Keeps the connection to the broker until it has answered a held request. Kafka may drop requests of a closed
    /// one.
    fn linger(&self) {
        let deadline = Instant::now() + LINGER;
        let is_awaited = || self.exchange(|one| one.has_held && one.responses < one.requests);
        while is_awaited() && Instant::now() < deadline {
            let next = Instant::now() + LINGER_PAUSE;
            if !self.state.sleep_until(next) {
                return;
            }
        }
    }
}

/// The bytes of a frame behind its head.
fn bytes_after(head: &[u8]) -> io::Result<usize> {
    let length = head.first_chunk::<LENGTH_BYTES>().copied();
    let length = length.map_or(0, u32::from_be_bytes) as usize;
    let rest = (LENGTH_BYTES + length).checked_sub(head.len());
    rest.filter(|rest| *rest <= HELD_BYTES_MAX)
        .ok_or_else(|| ErrorKind::InvalidData.into())
}

fn copy(
    mut left: usize,
    chunk: &mut [u8],
    from: &mut impl Read,
    to: &mut impl Write,
) -> io::Result<()> {
    while left > 0 {
        let part = left.min(chunk.len());
        let bytes = from.read(&mut chunk[..part])?;
        if bytes == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        to.write_all(&chunk[..bytes])?;
        left -= bytes;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use kgauge_faults::{DelayPlan, RequestFault};

    use super::super::rules::RuleSetup;
    use super::*;

    fn frame(api: i16, correlation: u8, rest: &[u8]) -> Vec<u8> {
        let mut body = api.to_be_bytes().to_vec();
        body.extend([0, 1, 0, 0, 0, correlation]);
        body.extend(rest);
        let mut frame = u32::try_from(body.len()).unwrap().to_be_bytes().to_vec();
        frame.extend(body);
        frame
    }

    fn response(correlation: u8) -> Vec<u8> {
        vec![0, 0, 0, 5, 0, 0, 0, correlation, 9]
    }

    fn connection() -> ProxiedConnection {
        ProxiedConnection {
            state: Arc::default(),
            route: ProxiedRoute::Client { broker: 1 },
            exchange: Mutex::default(),
        }
    }

    fn rule<'a>(api: &'a str, what: &'a RequestFault) -> RuleSetup<'a> {
        RuleSetup {
            key: 1,
            node: None,
            api: Some(api),
            times: Some(1),
            what,
            seed: 0,
        }
    }

    fn set(connection: &ProxiedConnection, rule: &RuleSetup<'_>) {
        let insert = |rules: &mut super::super::rules::RequestRules| {
            rules.insert(rule, Instant::now()).unwrap();
        };
        connection.state.change_requests(insert);
    }

    #[test]
    fn requests_and_responses_pass_unchanged() {
        let connection = connection();
        let sent = [frame(0, 1, &[7; 200_000]), frame(3, 2, b"")].concat();
        let mut passed = Vec::new();
        let end = connection.pass_requests(1, sent.as_slice(), &mut passed);
        assert_eq!(end.unwrap_err().kind(), ErrorKind::UnexpectedEof);
        assert!(passed == sent);
        let answers = [response(1), response(2)].concat();
        let mut passed = Vec::new();
        assert!(
            connection
                .pass_responses(answers.as_slice(), &mut passed)
                .is_err()
        );
        assert_eq!(passed, answers);
    }

    #[test]
    fn a_held_request_arrives_although_its_client_has_left() {
        let connection = connection();
        let hold = RequestFault::Delay(DelayPlan::Constant(30_000_000));
        set(&connection, &rule("end-txn", &hold));
        let start = Instant::now();
        let sent = frame(26, 1, b"commit");
        let mut passed = Vec::new();
        let _ = connection.pass_requests(1, sent.as_slice(), &mut passed);
        assert_eq!(passed, sent);
        assert!(start.elapsed() >= Duration::from_millis(30));
        assert!(connection.exchange(|one| one.has_held && one.responses < one.requests));
    }

    #[test]
    fn a_dropped_request_ends_the_connection_before_or_after_it_was_served() {
        let sent = [frame(0, 1, b"a"), frame(0, 2, b"b")].concat();
        let before = RequestFault::Drop(DropPoint::Before);
        let first = connection();
        set(&first, &rule("produce", &before));
        let mut passed = Vec::new();
        let end = first.pass_requests(1, sent.as_slice(), &mut passed);
        assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionAborted);
        assert!(passed.is_empty());
        let after = RequestFault::Drop(DropPoint::After);
        let second = connection();
        set(&second, &rule("produce", &after));
        let _ = second.pass_requests(1, sent.as_slice(), &mut passed);
        assert_eq!(passed, sent);
        let mut answered = Vec::new();
        let answers = [response(1), response(2)].concat();
        second
            .pass_responses(answers.as_slice(), &mut answered)
            .unwrap();
        assert!(answered.is_empty());
    }

    #[test]
    fn a_frame_that_is_shorter_than_its_head_is_an_error() {
        assert!(bytes_after(&[0, 0, 0, 3, 0, 0, 0, 0]).is_err());
        assert!(bytes_after(&[255, 255, 255, 255, 0, 0, 0, 0]).is_err());
        assert_eq!(bytes_after(&[0, 0, 0, 9, 0, 0, 0, 0]).unwrap(), 5);
    }
}
