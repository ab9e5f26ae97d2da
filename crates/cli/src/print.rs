//! The only code that writes to stdout and stderr.
//!
//! Nothing here panics or ends the process. A reader that closes stdout early (`| head`) is no error. Any other
//! failure on stdout is reported once, when the command ends. A message that stderr does not take is lost.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use indicatif::ProgressBar;
use kgauge_report::printable;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

/// Whether stdout still takes anything.
enum Stdout {
    Open,
    /// Its reader closed it.
    Closed,
    /// It cannot be written.
    Failed(io::Error),
}

static STDOUT: Mutex<Stdout> = Mutex::new(Stdout::Open);

/// The line at the bottom of the terminal that is drawn again and again; messages go above it.
static STATUS: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// From now on messages go above this line; `None`: there is no such line any more.
pub(crate) fn set_status(bar: Option<ProgressBar>) -> Option<ProgressBar> {
    let mut status = STATUS.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut *status, bar)
}

/// Writes a result to stdout exactly as it is. After a failure nothing more is written.
pub(crate) fn result(text: &str) {
    let mut state = STDOUT.lock().unwrap_or_else(PoisonError::into_inner);
    if !matches!(*state, Stdout::Open) {
        return;
    }
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => *state = Stdout::Closed,
        Err(error) => *state = Stdout::Failed(error),
    }
}

/// From now on results are not printed: somebody else reads them from files.
pub(crate) fn close() {
    *STDOUT.lock().unwrap_or_else(PoisonError::into_inner) = Stdout::Closed;
}

/// Stdout for a stream of bytes that another kgauge reads.
pub(crate) fn stdout_stream() -> impl Write {
    io::stdout().lock()
}

/// Writes a line to stdout.
pub(crate) fn line(text: &str) {
    result(&format!("{text}\n"));
}

/// Writes a value to stdout for other programs.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    line(&serde_json::to_string_pretty(value).context("cannot write JSON")?);
    Ok(())
}

/// Whether stdout takes anything.
pub(crate) fn is_open() -> bool {
    let state = STDOUT.lock().unwrap_or_else(PoisonError::into_inner);
    matches!(*state, Stdout::Open)
}

/// Writes a message to stderr, ending with a line break. Control characters never reach the terminal: parts of a
/// message may come from brokers or from files.
pub(crate) fn message(words: &str) {
    to_stderr(&format!("{words}\n"));
}

/// Writes a message of kgauge's own to stderr.
pub(crate) fn remark(words: &str) {
    message(&format!("kgauge: {words}"));
}

/// Writes a question to stderr. The answer follows on the same line, which nothing else may draw.
pub(crate) fn question(words: &str) {
    if let Some(status) = set_status(None) {
        status.finish_and_clear();
    }
    to_stderr(words);
}

fn to_stderr(text: &str) {
    let status = STATUS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    let write = || {
        // One call, so that lines of several threads do not mix.
        let _ = io::stderr().lock().write_all(printable(text).as_bytes());
    };
    match status {
        Some(status) => status.suspend(write),
        None => write(),
    }
}

/// Writes a message to stderr only if that does not block: for the thread that receives signals, which must be
/// ready for the next one even if nobody reads stderr.
pub(crate) fn message_if_ready(words: &str) {
    let stderr = io::stderr();
    let mut ready = [PollFd::new(&stderr, PollFlags::OUT)];
    let ready = poll(&mut ready, Some(&Timespec::default())).is_ok_and(|count| count > 0);
    if ready {
        // The lock may be held by a thread that waits for the reader.
        let _ = rustix::io::write(&stderr, printable(&format!("{words}\n")).as_bytes());
    }
}

/// Whether stdout took everything, or was closed by its reader. Says on stderr why not.
pub(crate) fn was_written() -> bool {
    let state = STDOUT.lock().unwrap_or_else(PoisonError::into_inner);
    match &*state {
        Stdout::Open | Stdout::Closed => true,
        Stdout::Failed(error) => {
            message(&format!("kgauge: error: cannot write to stdout: {error}"));
            false
        }
    }
}
