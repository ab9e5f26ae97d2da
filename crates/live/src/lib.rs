//! A run in progress: on a terminal, in a browser and for Prometheus.
//!
//! Goals: the run writes into [`LiveRunState`] without waiting for viewers; a server reads from it, and renders pages
//! only when a viewer asks. Figures and bottleneck come from the same rules as those of the report.
//!
//! Non-goals: this crate does not print, and does not decide when a run ends. The page's markup is made by `report`.
//!
//! Where to start: `observer.rs` (what a run reports), `state.rs` (what is known), `pages.rs` (which path has which
//! text), `server.rs` (threads and sockets), `terminal.rs` (messages and the progress line).

mod ab_side;
mod address;
mod ended;
mod frame;
mod http;
mod load_line;
mod observer;
mod pages;
mod render;
mod server;
mod snapshot;
mod state;
mod step_label;
mod terminal;

pub use ab_side::AbSideObserver;
pub use state::LiveRunState;
pub use terminal::{RunTerminal, TerminalLine, TerminalObserver};

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kgauge_runner::StopRequests;

/// How long a run that is over waits for viewers to ask for its report.
const FETCH_MAX: Duration = Duration::from_secs(7);
/// How long it waits for a report that is on its way to a viewer, also when the user wants to stop.
const SEND_MAX: Duration = Duration::from_secs(15);
const SEND_MAX_STOPPING: Duration = Duration::from_secs(2);
/// A viewer that polled within this time is still open: hidden pages poll every five seconds.
const VIEWER: Duration = Duration::from_secs(6);

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The address cannot be used.
    #[error("{0}")]
    Address(String),
    /// The system refuses a thread.
    #[error("cannot start the server of the live page: {0}")]
    Thread(#[from] std::io::Error),
}

/// Serves a run in progress.
#[derive(Clone)]
pub struct LiveServer {
    /// The state that the run updates.
    pub state: Arc<LiveRunState>,
    /// Its address, with the real port.
    pub address: SocketAddr,
}

impl LiveServer {
    /// Serves at `HOST:PORT`, or at a port of the loopback; port 0 takes a free one.
    pub fn start(address: &str, stopping: &StopRequests) -> Result<Self, LiveError> {
        let listener = address::listen(address).map_err(LiveError::Address)?;
        let state = Arc::new(LiveRunState::new(stopping.clone()));
        let address = listener.address;
        server::start(listener, Arc::clone(&state))?;
        Ok(Self { state, address })
    }

    /// The run is over. Viewers get the time to ask for the final report and to load it. A user who stops the run waits
    /// only for reports that are on their way.
    pub fn end(&self, stopping: &StopRequests) {
        self.state.over();
        let over = Instant::now();
        while is_waited_for(&self.state, over.elapsed(), stopping.is_wanted()) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Whether the server still waits for a viewer, `since` after the end.
fn is_waited_for(state: &LiveRunState, since: Duration, is_stopping: bool) -> bool {
    match (state.is_sending(), is_stopping) {
        (true, false) => since < SEND_MAX,
        (true, true) => since < SEND_MAX_STOPPING,
        (false, false) => since < FETCH_MAX && state.is_awaited(VIEWER, since),
        (false, true) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the server still waits this many seconds after the end.
    fn waits(run_state: &LiveRunState, s: u64) -> bool {
        is_waited_for(run_state, Duration::from_secs(s), false)
    }

    #[test]
    fn a_report_on_its_way_is_waited_for_but_not_for_ever() {
        let run_state = LiveRunState::new(StopRequests::idle());
        let stops = |s: u64| is_waited_for(&run_state, Duration::from_secs(s), true);
        assert!(!waits(&run_state, 0), "no viewer");
        run_state.count_request();
        assert!(waits(&run_state, 1) && waits(&run_state, 5) && !waits(&run_state, 8));
        assert!(!stops(0), "a user who stops waits for no viewer");
        run_state.sending();
        assert!(waits(&run_state, 8) && stops(1));
        assert!(!waits(&run_state, 16) && !stops(3));
    }

    #[test]
    fn every_viewer_gets_the_report() {
        let run_state = LiveRunState::new(StopRequests::idle());
        run_state.count_request();
        run_state.report("the report", "report.html".into(), "<body>a</body>");
        run_state.mark_over();
        run_state.mark_over();
        run_state.sending();
        run_state.sent();
        assert!(waits(&run_state, 3), "one of two has it");
        run_state.sending();
        run_state.sent();
        // A third one may not have asked again yet.
        assert!(waits(&run_state, 1) && !waits(&run_state, 2));
    }

    #[test]
    fn without_a_report_a_viewer_who_knows_of_the_end_is_not_waited_for() {
        let run_state = LiveRunState::new(StopRequests::idle());
        run_state.count_request();
        assert!(waits(&run_state, 3));
        run_state.mark_over();
        assert!(!waits(&run_state, 3));
    }
}
