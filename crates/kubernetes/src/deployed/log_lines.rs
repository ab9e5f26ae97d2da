//! The lines of a pod's log as they come.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Longer lines are cut; kgauge's own have a few hundred bytes.
const LINE_BYTES_MAX: u64 = 16 * 1024;

/// A running `kubectl logs --follow`. Dropping it ends the process.
pub(super) struct LogLines {
    child: Child,
    lines: Receiver<String>,
}

/// What came within the time.
pub(super) enum LogStep {
    Line(String),
    Nothing,
    /// The pod ended, or the connection broke.
    End,
}

impl LogLines {
    pub(super) fn start(command: &mut Command) -> io::Result<LogLines> {
        let spawned = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = spawned.spawn()?;
        let (sender, lines) = channel();
        if let Some(pipe) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut reader = BufReader::new(pipe);
                while let Some(line) = next_line(&mut reader) {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(LogLines { child, lines })
    }

    pub(super) fn next(&self, within: Duration) -> LogStep {
        match self.lines.recv_timeout(within) {
            Ok(line) => LogStep::Line(line),
            Err(RecvTimeoutError::Timeout) => LogStep::Nothing,
            Err(RecvTimeoutError::Disconnected) => LogStep::End,
        }
    }
}

impl Drop for LogLines {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `None` at the end.
fn next_line(reader: &mut impl BufRead) -> Option<String> {
    let mut bytes = Vec::new();
    let read = reader
        .take(LINE_BYTES_MAX)
        .read_until(b'\n', &mut bytes)
        .ok()?;
    let text = String::from_utf8_lossy(&bytes);
    (read > 0).then(|| text.trim_end_matches(['\n', '\r']).to_owned())
}
