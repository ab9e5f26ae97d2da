//! A proxy in front of each listener of a cluster, for cuts of the network and for requests that are late.
//!
//! Brokers and clients know only its ports. Bytes that a cut stops are kept, as a network's lost packets are sent again
//! until the connection ends; connections that are opened meanwhile wait. A request that is held is passed on even if
//! its client has left.

mod cuts;
mod owner;
mod relay;
mod rules;
mod state;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub(crate) use cuts::{CutRule, ProxiedRoute};
use relay::relay;
pub(crate) use rules::RuleSetup;
use state::ProxyState;

/// The pause after a connection could not be accepted: there are too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// All listeners of one cluster's proxy. Dropping it closes them and every connection.
#[derive(Debug, Default)]
pub(crate) struct ProxyNetwork {
    state: Arc<ProxyState>,
    threads: Vec<(u16, JoinHandle<()>)>,
}

impl ProxyNetwork {
    /// Listens for connections of a route, and passes them on to a port; returns the port that others use. The sender
    /// of routes between nodes is looked up with each connection.
    pub(crate) fn listen(&mut self, route: ProxiedRoute, upstream: u16) -> io::Result<u16> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let state = Arc::clone(&self.state);
        let thread = std::thread::Builder::new()
            .name(format!("proxy-{port}"))
            .spawn(move || accept(&state, &listener, route, (port, upstream)))?;
        self.threads.push((port, thread));
        Ok(port)
    }

    /// A node runs in this process from now on.
    pub(crate) fn note_process(&self, node: u16, pid: u32) {
        self.state.note_process(node, pid);
    }

    /// Cuts a node off.
    pub(crate) fn cut(&self, rule: CutRule) {
        self.state.change_cuts(|cuts| cuts.push(rule));
    }

    /// Mends a cut.
    pub(crate) fn mend(&self, rule: CutRule) {
        self.state.change_cuts(|cuts| {
            if let Some(at) = cuts.iter().position(|cut| *cut == rule) {
                cuts.remove(at);
            }
        });
    }

    /// Sets a fault of requests.
    ///
    /// # Errors
    /// A message: the fault cannot be set here.
    pub(crate) fn inject(&self, setup: &RuleSetup<'_>) -> Result<(), String> {
        self.state
            .change_requests(|rules| rules.insert(setup, Instant::now()))
    }

    /// Lifts a fault of requests; returns the number of requests that it affected. Held requests stay held.
    pub(crate) fn lift(&self, key: u64) -> Option<u64> {
        self.state.change_requests(|rules| rules.remove(key))
    }

    /// Lifts everything.
    pub(crate) fn restore(&self) {
        self.state.change_cuts(Vec::clear);
        self.state.change_requests(|rules| rules.clear());
    }
}

impl Drop for ProxyNetwork {
    fn drop(&mut self) {
        self.state.end();
        for (port, thread) in self.threads.drain(..) {
            // A last connection ends the wait for one.
            let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, port));
            let _ = thread.join();
        }
    }
}

fn accept(
    state: &Arc<ProxyState>,
    listener: &TcpListener,
    route: ProxiedRoute,
    (port, upstream): (u16, u16),
) {
    while !state.is_over() {
        match listener.accept() {
            Ok(_) if state.is_over() => return,
            Ok((accepted, peer)) => {
                let state = Arc::clone(state);
                let connection = move || {
                    let route = with_owner(&state, route, peer, port);
                    // The broker may be down: then the connection is closed, as it would be refused.
                    let _ = relay(&state, route, upstream, accepted);
                };
                let thread = std::thread::Builder::new().name("proxy-forward".to_owned());
                let _ = thread.spawn(connection);
            }
            Err(_) => std::thread::sleep(ACCEPT_PAUSE),
        }
    }
}

/// The route with the node that has connected.
fn with_owner(
    state: &ProxyState,
    route: ProxiedRoute,
    peer: SocketAddr,
    port: u16,
) -> ProxiedRoute {
    match route {
        ProxiedRoute::Peer { from: None, to } => {
            let from = state.owner(peer, port);
            ProxiedRoute::Peer { from, to }
        }
        ProxiedRoute::Controller { from: None, to } => {
            let from = state.owner(peer, port);
            ProxiedRoute::Controller { from, to }
        }
        known => known,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use kgauge_faults::{CutDirection, CutEnd};

    use super::*;

    const RULE: CutRule = CutRule {
        node: 1,
        direction: CutDirection::To,
        end: CutEnd::Clients,
    };

    /// A broker that answers every request with its correlation id, and the port of its proxy.
    fn echoing(network: &mut ProxyNetwork) -> u16 {
        let broker = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let upstream = broker.local_addr().unwrap().port();
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = broker.accept() {
                std::thread::spawn(move || {
                    let mut request = [0; 12];
                    while stream.read_exact(&mut request).is_ok() {
                        let mut answer = [0, 0, 0, 4, 0, 0, 0, 0];
                        answer[4..].copy_from_slice(&request[8..]);
                        let _ = stream.write_all(&answer);
                    }
                });
            }
        });
        let route = ProxiedRoute::Client { broker: 1 };
        network.listen(route, upstream).unwrap()
    }

    fn request(correlation: u8) -> [u8; 12] {
        [0, 0, 0, 8, 0, 3, 0, 1, 0, 0, 0, correlation]
    }

    fn connect(port: u16) -> TcpStream {
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap()
    }

    #[test]
    fn what_a_cut_stops_arrives_when_it_is_mended() {
        let mut network = ProxyNetwork::default();
        let mut client = connect(echoing(&mut network));
        let mut answer = [0; 8];
        client.write_all(&request(1)).unwrap();
        client.read_exact(&mut answer).unwrap();
        assert_eq!(answer[7], 1);
        network.cut(RULE);
        client.write_all(&request(2)).unwrap();
        client
            .set_read_timeout(Some(Duration::from_millis(100)))
            .unwrap();
        assert!(client.read_exact(&mut answer).is_err(), "it is cut off");
        network.mend(RULE);
        client.set_read_timeout(None).unwrap();
        client.read_exact(&mut answer).unwrap();
        assert_eq!(answer[7], 2);
    }

    #[test]
    fn the_end_closes_every_connection_also_those_that_wait() {
        let mut network = ProxyNetwork::default();
        let port = echoing(&mut network);
        let mut open = connect(port);
        open.write_all(&request(1)).unwrap();
        open.read_exact(&mut [0; 8]).unwrap();
        network.cut(RULE);
        let mut waiting = connect(port);
        waiting.write_all(&request(2)).unwrap();
        drop(network);
        for client in [&mut open, &mut waiting] {
            let end = client.read(&mut [0; 8]);
            assert!(matches!(end, Ok(0) | Err(_)), "{end:?}");
        }
        assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
    }
}
