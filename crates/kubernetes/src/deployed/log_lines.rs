//! The lines of a pod's log as they come.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::child_output::end;
use crate::kubectl::{Kubectl, spoken};
use crate::kubectl_error::KubectlError;

/// Longer lines are cut; kgauge's own have a few hundred bytes.
const LINE_BYTES_MAX: u64 = 16 * 1024;

/// Messages of `kubectl`.
const MESSAGES_BYTES_MAX: u64 = 64 * 1024;

/// A running `kubectl logs --follow`. Dropping it ends the process.
pub(super) struct LogLines {
    child: Child,
    command: String,
    lines: Receiver<String>,
    messages: Receiver<Vec<u8>>,
}

/// What came within the time.
pub(super) enum LogStep {
    Line(String),
    Nothing,
    /// The pod ended, or the connection broke: then with the reason.
    End(Option<KubectlError>),
}

impl LogLines {
    pub(super) fn start(
        kubectl: &Kubectl,
        arguments: &[&str],
        skipped: usize,
    ) -> io::Result<LogLines> {
        let mut command = kubectl.command(arguments);
        let spawned = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = spawned.spawn()?;
        let (sender, lines) = channel();
        if let Some(pipe) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut reader = BufReader::new(pipe);
                let mut index = 0;
                while let Some(line) = next_line(&mut reader) {
                    index += 1;
                    if index > skipped && sender.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        let (sender, messages) = channel();
        if let Some(pipe) = child.stderr.take() {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                let _ = pipe.take(MESSAGES_BYTES_MAX).read_to_end(&mut bytes);
                let _ = sender.send(bytes);
            });
        }
        Ok(LogLines {
            child,
            command: spoken(arguments),
            lines,
            messages,
        })
    }

    pub(super) fn next(&mut self, within: Duration) -> LogStep {
        match self.lines.recv_timeout(within) {
            Ok(line) => LogStep::Line(line),
            Err(RecvTimeoutError::Timeout) => LogStep::Nothing,
            Err(RecvTimeoutError::Disconnected) => LogStep::End(self.failure(within)),
        }
    }

    /// Why `kubectl` ended, if it was no success.
    fn failure(&mut self, within: Duration) -> Option<KubectlError> {
        let messages = self.messages.recv_timeout(within).ok()?;
        let status = self.child.wait().ok()?;
        (!status.success()).then(|| KubectlError::classify(&self.command, &messages))
    }
}

impl Drop for LogLines {
    fn drop(&mut self) {
        end(&mut self.child);
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
