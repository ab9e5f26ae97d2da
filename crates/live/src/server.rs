//! The server's threads: one that accepts, and one per connection, with a limit.

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::address::Listener;
use crate::http::{self, HttpResponse};
use crate::pages::Pages;
use crate::state::LiveRunState;

/// Connections at a time. A browser has up to six, a scraper one.
const CONNECTIONS_MAX: usize = 48;

/// Starts the server, which ends with the process.
pub(crate) fn start(listener: Listener, run_state: Arc<LiveRunState>) -> std::io::Result<()> {
    let names_loopback = listener.address.ip().is_loopback();
    let pages = Arc::new(Pages::new(run_state));
    let open = Arc::new(AtomicUsize::new(0));
    let accept = move || {
        loop {
            let Ok((stream, _)) = listener.socket.accept() else {
                // Too many open files, or a connection that is gone already: it passes.
                std::thread::sleep(Duration::from_millis(20));
                continue;
            };
            let slot = ConnectionSlot::take(&open);
            let pages = Arc::clone(&pages);
            let serve = move || connection(stream, names_loopback, slot.as_ref(), &pages);
            // Without a thread, the connection closes.
            let _ = std::thread::Builder::new()
                .name("live".to_owned())
                .spawn(serve);
        }
    };
    std::thread::Builder::new()
        .name("live-accept".to_owned())
        .spawn(accept)?;
    Ok(())
}

fn connection(
    mut stream: TcpStream,
    names_loopback: bool,
    slot: Option<&ConnectionSlot>,
    pages: &Pages,
) {
    if slot.is_none() {
        // Refused without reading, so that a client that holds all slots cannot hold this thread as well.
        let _ = stream.set_nonblocking(true);
        let _ = http::refuse(
            &mut stream,
            &HttpResponse::words("503 Service Unavailable", "too many connections"),
        );
        return;
    }
    let _ = stream.set_nodelay(true);
    // What goes wrong here is the client's: it has gone, or is too slow.
    let _ = http::serve(&mut stream, names_loopback, |request| pages.answer(request));
}

/// One of the connections that are served at a time.
struct ConnectionSlot {
    open: Arc<AtomicUsize>,
}

impl ConnectionSlot {
    fn take(open: &Arc<AtomicUsize>) -> Option<Self> {
        let taken = open.fetch_add(1, Ordering::AcqRel);
        let slot = Self {
            open: Arc::clone(open),
        };
        (taken < CONNECTIONS_MAX).then_some(slot)
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::AcqRel);
    }
}
