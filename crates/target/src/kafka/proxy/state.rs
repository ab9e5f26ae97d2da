//! What all connections of a proxy share: the cuts, the faults of requests, the end.

use std::collections::BTreeMap;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::cuts::{ByteDirection, CutRule, ProxiedRoute};
use super::owner::owner;
use super::rules::{RequestOrder, RequestRules};

/// How long the process of a connection may be unknown: one that has just started, or a socket that the kernel does not
/// list yet.
const OWNER_TIME_MAX: Duration = Duration::from_millis(300);

/// The pause between two looks for it.
const OWNER_PAUSE: Duration = Duration::from_millis(10);

/// What all connections share.
#[derive(Debug, Default)]
pub(super) struct ProxyState {
    cuts: Mutex<Vec<CutRule>>,
    /// Cuts were set or mended, or the end has come.
    changed: Condvar,
    has_cuts: AtomicBool,
    requests: Mutex<RequestRules>,
    has_requests: AtomicBool,
    is_over: AtomicBool,
    /// The process of each node.
    pids: Mutex<BTreeMap<u16, u32>>,
    /// Both sockets of each connection.
    sockets: Mutex<BTreeMap<u64, [TcpStream; 2]>>,
    connections: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ProxyState {
    /// A node runs in this process from now on.
    pub(super) fn note_process(&self, node: u16, pid: u32) {
        lock(&self.pids).insert(node, pid);
    }

    /// The node that has opened a connection; `None`: another process.
    pub(super) fn owner(&self, peer: SocketAddr, port: u16) -> Option<u16> {
        let deadline = Instant::now() + OWNER_TIME_MAX;
        loop {
            let pids: Vec<(u16, u32)> = lock(&self.pids)
                .iter()
                .map(|(node, pid)| (*node, *pid))
                .collect();
            let found = owner(&pids, peer, port);
            if found.is_some() || Instant::now() >= deadline || self.is_over() {
                return found;
            }
            std::thread::sleep(OWNER_PAUSE);
        }
    }

    /// Changes the cuts.
    pub(super) fn change_cuts(&self, change: impl FnOnce(&mut Vec<CutRule>)) {
        let mut cuts = lock(&self.cuts);
        change(&mut cuts);
        self.has_cuts.store(!cuts.is_empty(), Ordering::Release);
        self.changed.notify_all();
    }

    /// Changes the faults of requests.
    pub(super) fn change_requests<R>(&self, change: impl FnOnce(&mut RequestRules) -> R) -> R {
        let mut requests = lock(&self.requests);
        let changed = change(&mut requests);
        self.has_requests
            .store(!requests.is_empty(), Ordering::Release);
        changed
    }

    /// Waits until bytes may pass; false when the end has come.
    pub(super) fn await_open(&self, route: ProxiedRoute, towards: ByteDirection) -> bool {
        if !self.has_cuts.load(Ordering::Acquire) {
            return !self.is_over();
        }
        let is_cut = |cuts: &Vec<CutRule>| cuts.iter().any(|cut| cut.stops(route, towards));
        let mut cuts = lock(&self.cuts);
        while is_cut(&cuts) && !self.is_over() {
            cuts = self
                .changed
                .wait(cuts)
                .unwrap_or_else(PoisonError::into_inner);
        }
        !self.is_over()
    }

    /// What happens to a request that arrives now.
    pub(super) fn order(&self, broker: u16, api: i16) -> RequestOrder {
        match self.has_requests.load(Ordering::Acquire) {
            true => lock(&self.requests).order(broker, api, Instant::now()),
            false => RequestOrder::default(),
        }
    }

    /// Waits until a time; false when the end has come before.
    pub(super) fn sleep_until(&self, until: Instant) -> bool {
        let mut cuts = lock(&self.cuts);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.is_over() {
                return !self.is_over();
            }
            let waited = self.changed.wait_timeout(cuts, left);
            cuts = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Keeps the sockets of a connection, so that the end closes them.
    pub(super) fn keep(&self, sockets: [TcpStream; 2]) -> u64 {
        let id = self.connections.fetch_add(1, Ordering::Relaxed);
        lock(&self.sockets).insert(id, sockets);
        if self.is_over() {
            self.close(id);
        }
        id
    }

    /// Closes a connection in both directions.
    pub(super) fn close(&self, id: u64) {
        let sockets = lock(&self.sockets).remove(&id);
        for socket in sockets.into_iter().flatten() {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    /// Whether the end has come.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// The end: every connection is closed, and nobody waits any longer.
    pub(super) fn end(&self) {
        let cuts = lock(&self.cuts);
        self.is_over.store(true, Ordering::Release);
        self.changed.notify_all();
        drop(cuts);
        let ids: Vec<u64> = lock(&self.sockets).keys().copied().collect();
        ids.into_iter().for_each(|id| self.close(id));
    }
}
