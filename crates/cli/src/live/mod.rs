//! What a run shows of itself while it goes on: a board that the run writes on, and a server that reads from it.

mod address;
mod ended;
mod http;
mod pages;
mod render;
mod server;
mod snapshot;
mod state;

pub(crate) use snapshot::ProgressSnapshot;
pub(crate) use state::{LiveRunState, RunStep};

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::exit::{ExitStatus, stop};
use crate::interrupt::StopRequests;
use crate::print;

/// How long a run that is over waits for viewers to ask for its report.
const FETCH_MAX: Duration = Duration::from_secs(7);
/// How long it waits for a report that is on its way to a viewer, and where the user wants to stop.
const SEND_MAX: Duration = Duration::from_secs(15);
const SEND_MAX_STOPPING: Duration = Duration::from_secs(2);
/// Who asked so lately still looks: pages that nobody sees ask every five seconds.
const VIEWER: Duration = Duration::from_secs(6);

/// What shows a run: nothing where nobody could see it.
#[derive(Clone, Default)]
pub(crate) struct Live {
    pub(crate) board: Option<Arc<LiveRunState>>,
    serves: bool,
}

impl Live {
    /// Serves at an address, if one is given, and says where.
    pub(crate) fn start(address: Option<&str>, stopping: &StopRequests) -> anyhow::Result<Self> {
        let Some(text) = address else {
            let is_seen = std::io::stderr().is_terminal();
            return Ok(Self {
                board: is_seen.then(|| Arc::new(LiveRunState::new(stopping.clone()))),
                serves: false,
            });
        };
        let listener = address::listen(text).map_err(|words| stop(ExitStatus::BadInput, words))?;
        let board = Arc::new(LiveRunState::new(stopping.clone()));
        let at = listener.address;
        print::message(&format!(
            "kgauge: watch the run at http://{at}/ (metrics for Prometheus: http://{at}/metrics)"
        ));
        if !at.ip().is_loopback() {
            print::message(&format!(
                "kgauge: --serve {text} listens beyond this machine: anyone who can reach it can \
                 watch the run without a password"
            ));
        }
        server::start(listener, Arc::clone(&board))?;
        Ok(Self {
            board: Some(board),
            serves: true,
        })
    }

    /// The board, where a server shows it.
    pub(crate) fn served(&self) -> Option<&Arc<LiveRunState>> {
        self.board.as_ref().filter(|_| self.serves)
    }

    /// The run is over. Whoever still looks gets the time to ask for the final report, and who asked gets the time to
    /// take it; a user who stops the run waits for nobody who has not asked yet.
    pub(crate) fn end(&self, stopping: &StopRequests) {
        let Some(board) = self.served() else { return };
        board.over();
        let over = Instant::now();
        while is_waited_for(board, over.elapsed(), stopping.is_wanted()) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Whether somebody is still waited for so long after the end.
fn is_waited_for(board: &LiveRunState, since: Duration, is_stopping: bool) -> bool {
    match (board.is_sending(), is_stopping) {
        (true, false) => since < SEND_MAX,
        (true, true) => since < SEND_MAX_STOPPING,
        (false, false) => since < FETCH_MAX && board.is_awaited(VIEWER, since),
        (false, true) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether somebody is waited for so many seconds after the end.
    fn waits(board: &LiveRunState, s: u64) -> bool {
        is_waited_for(board, Duration::from_secs(s), false)
    }

    #[test]
    fn a_report_on_its_way_is_waited_for_but_not_for_ever() {
        let board = LiveRunState::new(StopRequests::idle());
        let stops = |s: u64| is_waited_for(&board, Duration::from_secs(s), true);
        assert!(!waits(&board, 0), "nobody looks");
        board.count_request();
        assert!(waits(&board, 1) && waits(&board, 5) && !waits(&board, 8));
        assert!(!stops(0), "who stops waits for no viewer");
        board.sending();
        assert!(waits(&board, 8) && stops(1));
        assert!(!waits(&board, 16) && !stops(3));
    }

    #[test]
    fn every_viewer_gets_the_report() {
        let board = LiveRunState::new(StopRequests::idle());
        board.count_request();
        board.report("the report", "report.html".into(), "<body>a</body>");
        board.mark_over();
        board.mark_over();
        board.sending();
        board.sent();
        assert!(waits(&board, 3), "one of two has it");
        board.sending();
        board.sent();
        // A third one may not have asked again yet.
        assert!(waits(&board, 1) && !waits(&board, 2));
    }

    #[test]
    fn without_a_report_whoever_was_told_is_not_waited_for() {
        let board = LiveRunState::new(StopRequests::idle());
        board.count_request();
        assert!(waits(&board, 3));
        board.mark_over();
        assert!(!waits(&board, 3));
    }
}
