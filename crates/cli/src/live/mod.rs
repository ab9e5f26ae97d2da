//! What a run shows of itself while it goes on: a board that the run writes on, and a server that reads from it.

mod address;
mod board;
mod http;
mod look;
mod pages;
mod render;
mod server;
mod suspect;

pub(crate) use board::{Board, Place};
pub(crate) use look::Seen;

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::exit::{ExitStatus, stop};
use crate::interrupt::Stopping;

/// How long a run that is over waits for viewers to fetch its report.
const FETCH_MAX: Duration = Duration::from_secs(7);
/// Who asked so lately still looks: pages that nobody sees ask every five seconds.
const VIEWER: Duration = Duration::from_secs(6);

/// What shows a run: nothing where nobody could see it.
#[derive(Clone, Default)]
pub(crate) struct Live {
    pub(crate) board: Option<Arc<Board>>,
    serves: bool,
}

impl Live {
    /// Serves at an address, if one is given, and says where.
    #[allow(clippy::print_stderr)]
    pub(crate) fn start(address: Option<&str>, stopping: &Stopping) -> anyhow::Result<Self> {
        let Some(text) = address else {
            let is_seen = std::io::stderr().is_terminal();
            return Ok(Self {
                board: is_seen.then(|| Arc::new(Board::new(stopping.clone()))),
                serves: false,
            });
        };
        let listener = address::listen(text).map_err(|words| stop(ExitStatus::BadInput, words))?;
        let board = Arc::new(Board::new(stopping.clone()));
        let at = listener.address;
        eprintln!(
            "kgauge: watch the run at http://{at}/ (metrics for Prometheus: http://{at}/metrics)"
        );
        if !at.ip().is_loopback() {
            eprintln!(
                "kgauge: --serve {text} is not only for this machine: whoever reaches it can watch the run, without a password"
            );
        }
        server::start(listener, Arc::clone(&board))?;
        Ok(Self {
            board: Some(board),
            serves: true,
        })
    }

    /// The board, where a server shows it.
    pub(crate) fn served(&self) -> Option<&Arc<Board>> {
        self.board.as_ref().filter(|_| self.serves)
    }

    /// The run is over. Whoever still looks gets the time to fetch the final report; a user who stops the run waits for
    /// nobody.
    pub(crate) fn end(&self, stopping: &Stopping) {
        let Some(board) = self.served() else { return };
        board.over();
        let deadline = Instant::now() + FETCH_MAX;
        while !stopping.is_wanted() && board.is_awaited(VIEWER) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
