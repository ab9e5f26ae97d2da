//! Runs a child process with limits on its time and output.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use kgauge_client::Interrupt;

/// How often the end of the process is checked.
const POLL: Duration = Duration::from_millis(10);

/// How long the output may stay open after the end of the process: a grandchild may hold it.
const DRAIN_MAX: Duration = Duration::from_secs(2);

/// What a process printed, and how it ended.
#[derive(Debug)]
pub(crate) struct ChildOutput {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// Why there is no complete output.
#[derive(Debug)]
pub(crate) enum ChildFailure {
    /// It did not start, or its state cannot be read.
    Io(io::Error),
    /// It ran longer than allowed.
    TimedOut,
    /// It printed more than allowed.
    TooLong,
    /// The user stopped kgauge.
    Interrupted,
}

/// Limits of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChildLimits {
    pub(crate) duration: Duration,
    pub(crate) bytes: u64,
}

/// Runs the command, writes `input` to it, and collects its output.
pub(crate) fn collect_output(
    command: &mut Command,
    input: Option<Vec<u8>>,
    limits: ChildLimits,
    interrupt: &Interrupt,
) -> Result<ChildOutput, ChildFailure> {
    let stdin = match input {
        Some(_) => Stdio::piped(),
        None => Stdio::null(),
    };
    command
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(ChildFailure::Io)?;
    if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
        // A child that ends early closes the pipe; its own message says why.
        std::thread::spawn(move || drop(pipe.write_all(&input)));
    }
    let stdout = child.stdout.take().map(|pipe| read_all(pipe, limits.bytes));
    let stderr = child.stderr.take().map(|pipe| read_all(pipe, limits.bytes));
    let status = wait(&mut child, limits.duration, interrupt)?;
    Ok(ChildOutput {
        status,
        stdout: received(stdout, limits.bytes)?,
        stderr: received(stderr, limits.bytes)?,
    })
}

fn read_all(pipe: impl Read + Send + 'static, bytes_max: u64) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut pipe = pipe.take(bytes_max + 1);
        let _ = pipe.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
        // The child must not wait for a full pipe.
        let _ = io::copy(&mut pipe.into_inner(), &mut io::sink());
    });
    receiver
}

fn received(from: Option<Receiver<Vec<u8>>>, bytes_max: u64) -> Result<Vec<u8>, ChildFailure> {
    let bytes = from.and_then(|receiver| receiver.recv_timeout(DRAIN_MAX).ok());
    let bytes = bytes.unwrap_or_default();
    match bytes.len() as u64 > bytes_max {
        true => Err(ChildFailure::TooLong),
        false => Ok(bytes),
    }
}

fn wait(
    child: &mut Child,
    duration_max: Duration,
    interrupt: &Interrupt,
) -> Result<ExitStatus, ChildFailure> {
    let deadline = Instant::now() + duration_max;
    let failure = loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if interrupt.is_raised() => break ChildFailure::Interrupted,
            Ok(None) if Instant::now() >= deadline => break ChildFailure::TimedOut,
            Ok(None) => std::thread::sleep(POLL),
            Err(error) => break ChildFailure::Io(error),
        }
    };
    let _ = child.kill();
    let _ = child.wait();
    Err(failure)
}
