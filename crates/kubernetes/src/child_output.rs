//! Runs a child process with limits on its time and output.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use kgauge_client::Interrupt;
use rustix::process::{Pid, Signal, kill_process_group};

/// How often the end of the process is checked.
const POLL: Duration = Duration::from_millis(10);

/// How long the output may stay open after the end of the process, and the process after that of its output: a
/// grandchild may hold it.
const DRAIN_MAX: Duration = Duration::from_secs(2);

/// Messages on stderr beside a stream on stdout.
const MESSAGES_BYTES_MAX: u64 = 1024 * 1024;

/// What a process printed, and how it ended.
#[derive(Debug)]
pub(crate) struct ChildOutput {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// How a process ended whose output was read as it came.
#[derive(Debug)]
pub(crate) struct StreamEnd {
    /// `None` if it went on after its output was read, and was ended.
    pub(crate) status: Option<ExitStatus>,
    pub(crate) stderr: Vec<u8>,
}

/// Why there is no complete output.
#[derive(Debug)]
pub(crate) enum ChildFailure {
    /// It did not start, or its state cannot be read.
    Io(io::Error),
    /// It ran longer than allowed, or printed nothing for too long.
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

/// Runs the command, which has a process group of its own, writes `input` to it, and collects its output.
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

/// Runs the command, which has a process group of its own, and gives its output to `read` as it comes. The output may
/// be larger than memory, and may last as long as bytes arrive within `stall_max`.
pub(crate) fn stream_output<T: Send>(
    command: &mut Command,
    stall_max: Duration,
    interrupt: &Interrupt,
    read: impl FnOnce(&mut dyn Read) -> T + Send,
) -> Result<(T, StreamEnd), ChildFailure> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(ChildFailure::Io)?;
    let stderr = child.stderr.take();
    let stderr = stderr.map(|pipe| read_all(pipe, MESSAGES_BYTES_MAX));
    let mut pipe: Box<dyn Read + Send> = match child.stdout.take() {
        Some(pipe) => Box::new(pipe),
        None => Box::new(io::empty()),
    };
    let count = AtomicU64::new(0);
    let (value, failure) = std::thread::scope(|scope| {
        let count = &count;
        let reader = scope.spawn(move || {
            read(&mut CountedBytes {
                from: &mut pipe,
                count,
            })
        });
        let mut seen = (0, Instant::now());
        let mut failure = None;
        while !reader.is_finished() {
            let bytes = count.load(Ordering::Relaxed);
            if bytes != seen.0 {
                seen = (bytes, Instant::now());
            }
            if failure.is_none() {
                failure = match (interrupt.is_raised(), seen.1.elapsed() >= stall_max) {
                    (true, _) => Some(ChildFailure::Interrupted),
                    (_, true) => Some(ChildFailure::TimedOut),
                    (false, false) => None,
                };
                if failure.is_some() {
                    end(&mut child);
                }
            }
            std::thread::sleep(POLL);
        }
        let value = reader.join();
        let value = value.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (value, failure)
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    let status = wait(&mut child, DRAIN_MAX, interrupt);
    let end = StreamEnd {
        status: status.ok(),
        stderr: received(stderr, MESSAGES_BYTES_MAX)?,
    };
    Ok((value, end))
}

/// Counts what is read.
struct CountedBytes<'a> {
    from: &'a mut dyn Read,
    count: &'a AtomicU64,
}

impl Read for CountedBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.from.read(buffer)?;
        self.count.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
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

/// Waits for the end of the process; ends it after the time, and when the user stops kgauge.
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
    end(child);
    Err(failure)
}

/// Ends a process and those that it started.
pub(crate) fn end(child: &mut Child) {
    if let Ok(None) = child.try_wait() {
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
    let _ = child.wait();
}
