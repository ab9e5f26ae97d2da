//! A driver's process: start, communication, end. Nothing of it outlives its [`DriverChild`].

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kgauge_client::{ClientConfig, Interrupt};
use kgauge_scenario::ProduceFlow;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::error::DriverError;
use super::frames::{self, DriverFrame, FRAME_BYTES_MAX, HEAD_BYTES};
use super::{DriverProgram, settings};
use crate::sync::lock;

/// Limit on the start of a producer: a JVM on a busy machine takes seconds.
const BEGIN_MAX: Duration = Duration::from_secs(60);

/// A child that has finished exits at once; otherwise it is killed.
pub(super) const EXIT_MAX: Duration = Duration::from_secs(3);

/// Interval at which waits check for the end.
const POLL: Duration = Duration::from_millis(50);

/// Pipe capacity, for a reader that is briefly late. Linux's default is 64 KiB, its limit for ordinary users 1 MiB.
const PIPE_BYTES: usize = 1 << 20;

/// Number of stderr lines that are kept.
const LINES_MAX: usize = 12;

/// The setup of a child.
pub(crate) struct DriverSetup<'a> {
    pub(crate) flow: &'a ProduceFlow,
    pub(crate) program: &'a DriverProgram,
    pub(crate) topic: &'a str,
    pub(crate) client: &'a ClientConfig,
}

/// A running child.
pub(crate) struct DriverChild {
    driver: String,
    child: Child,
    stdin: Option<ChildStdin>,
    frames: FrameReader,
    tail: Tail,
    started_ns: i64,
    has_ended: bool,
}

impl DriverChild {
    /// Starts the process and sends its settings.
    pub(crate) fn start(setup: &DriverSetup<'_>) -> Result<Self, DriverError> {
        let driver = setup.flow.driver.to_string();
        let properties = settings::properties(setup.flow, setup.client).map_err(|what| {
            let driver = driver.clone();
            DriverError::Refused { driver, what }
        })?;
        let system = |error: io::Error| DriverError::System {
            driver: driver.clone(),
            error,
        };
        let mut command = Command::new(&setup.program.program);
        command
            .args(&setup.program.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // A process group of its own: Ctrl-C must reach it only through this process, which ends it in order.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let started_ns = monotonic_ns();
        let mut child = command.spawn().map_err(system)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            let _ = child.kill();
            return Err(system(io::Error::other("its pipes are missing")));
        };
        widen(&stdin, &stdout);
        let mut started = Self {
            child,
            stdin: Some(stdin),
            frames: FrameReader::new(stdout),
            tail: Tail::start(stderr).map_err(system)?,
            driver: driver.clone(),
            started_ns,
            has_ended: false,
        };
        let settings = frames::settings(setup.topic, &properties);
        let written = match &mut started.stdin {
            Some(stdin) => stdin.write_all(&settings),
            None => Ok(()),
        };
        // A child that has already ended has printed why.
        match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(system(error)),
            _ => Ok(started),
        }
    }

    /// The process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until its producer is ready; returns the client's name and release.
    pub(crate) fn wait_until_ready(
        &mut self,
        interrupt: &Interrupt,
    ) -> Result<String, DriverError> {
        let driver = self.driver.clone();
        let deadline = Instant::now() + BEGIN_MAX;
        loop {
            if interrupt.is_raised() {
                return Err(DriverError::Interrupted { driver });
            }
            if Instant::now() >= deadline {
                return Err(self.silent(BEGIN_MAX));
            }
            let arrived = self.frames.fill(POLL).map_err(|error| self.system(error))?;
            loop {
                let frame = match self.frames.next() {
                    Ok(Some(frame)) => frame,
                    Ok(None) => break,
                    Err(what) => return Err(DriverError::Nonsense { driver, what }),
                };
                match frame {
                    DriverFrame::Ready { now_ns, client } => {
                        // Its clock must be this machine's: all latencies are differences between both.
                        let here = self.started_ns..=monotonic_ns();
                        if !here.contains(&now_ns) {
                            let what = "its clock is not the machine's monotonic one".to_owned();
                            return Err(DriverError::Nonsense { driver, what });
                        }
                        return Ok(client);
                    }
                    DriverFrame::Refused(what) => {
                        return Err(DriverError::Refused { driver, what });
                    }
                    DriverFrame::Failed(what) => return Err(DriverError::Failed { driver, what }),
                    DriverFrame::Status { .. } | DriverFrame::Words { .. } => {}
                    other => {
                        let what = format!("before the start it sent {other:?}");
                        return Err(DriverError::Nonsense { driver, what });
                    }
                }
            }
            if arrived == PipeRead::End {
                return Err(self.died());
            }
        }
    }

    /// Its standard input, for the feeder.
    pub(super) fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    /// Its standard output.
    pub(super) fn frames(&mut self) -> &mut FrameReader {
        &mut self.frames
    }

    /// It ended unexpectedly.
    pub(super) fn died(&mut self) -> DriverError {
        let status = match self.end(EXIT_MAX) {
            Some(status) => words_of(status),
            None => "it closed its output".to_owned(),
        };
        DriverError::Died {
            driver: self.driver.clone(),
            status,
            last: self.tail.text(),
        }
    }

    /// It stopped answering, and is killed.
    pub(super) fn silent(&mut self, waited: Duration) -> DriverError {
        self.end(Duration::ZERO);
        DriverError::Silent {
            driver: self.driver.clone(),
            waited,
            last: self.tail.text(),
        }
    }

    pub(super) fn nonsense(&self, what: String) -> DriverError {
        DriverError::Nonsense {
            driver: self.driver.clone(),
            what,
        }
    }

    pub(super) fn system(&self, error: io::Error) -> DriverError {
        DriverError::System {
            driver: self.driver.clone(),
            error,
        }
    }

    /// Ends it: kills it if it has not exited after `patience`. Returns its exit status unless it was killed.
    pub(super) fn end(&mut self, patience: Duration) -> Option<ExitStatus> {
        drop(self.stdin.take());
        let deadline = Instant::now() + patience;
        let mut status = None;
        while !self.has_ended {
            match self.child.try_wait() {
                Ok(Some(found)) => {
                    status = Some(found);
                    break;
                }
                Ok(None) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                _ => {
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    break;
                }
            }
        }
        self.has_ended = true;
        self.tail.finish();
        status
    }
}

impl Drop for DriverChild {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}

/// A clock that both sides can read.
pub(super) fn monotonic_ns() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + i64::from(now.tv_nsec as i32)
}

/// A short delay of the child should not block its feeder, nor the reverse.
fn widen(stdin: &ChildStdin, stdout: &ChildStdout) {
    #[cfg(target_os = "linux")]
    {
        // Where this is not allowed, the default is enough.
        let _ = rustix::pipe::fcntl_setpipe_size(stdin, PIPE_BYTES);
        let _ = rustix::pipe::fcntl_setpipe_size(stdout, PIPE_BYTES);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (stdin, stdout, PIPE_BYTES);
}

fn words_of(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("signal {signal}");
    }
    match status.code() {
        Some(code) => format!("status {code}"),
        None => status.to_string(),
    }
}

/// The result of reading the pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PipeRead {
    Bytes,
    Nothing,
    End,
}

/// Splits a child's output into frames.
pub(super) struct FrameReader {
    stdout: ChildStdout,
    buffer: Vec<u8>,
    from: usize,
    to: usize,
}

impl FrameReader {
    fn new(stdout: ChildStdout) -> Self {
        // Half of it is always free for the next read: no frame is longer.
        let buffer = vec![0; 2 * (FRAME_BYTES_MAX + HEAD_BYTES)];
        Self {
            stdout,
            buffer,
            from: 0,
            to: 0,
        }
    }

    /// Waits for bytes, at most this long, and reads them.
    pub(super) fn fill(&mut self, wait: Duration) -> io::Result<PipeRead> {
        self.buffer.copy_within(self.from..self.to, 0);
        (self.from, self.to) = (0, self.to - self.from);
        let limit = Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: wait.subsec_nanos().into(),
        };
        let mut waited_for = [PollFd::new(&self.stdout, PollFlags::IN)];
        match poll(&mut waited_for, Some(&limit)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(PipeRead::Nothing),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let read = match self.stdout.read(&mut self.buffer[self.to..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                return Ok(PipeRead::Nothing);
            }
            read => read?,
        };
        self.to += read;
        Ok(match read {
            0 => PipeRead::End,
            _ => PipeRead::Bytes,
        })
    }

    /// The next complete frame.
    pub(super) fn next(&mut self) -> Result<Option<DriverFrame<'_>>, String> {
        let found = frames::read(&self.buffer[self.from..self.to])?;
        Ok(found.map(|(frame, bytes)| {
            self.from += bytes;
            frame
        }))
    }
}

/// The last lines of a child's standard error.
struct Tail {
    lines: Arc<Mutex<VecDeque<String>>>,
    thread: Option<JoinHandle<()>>,
}

impl Tail {
    fn start(stderr: ChildStderr) -> io::Result<Self> {
        /// Longer lines are split.
        const LINE_BYTES_MAX: u64 = 8 << 10;
        let lines = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&lines);
        let read = move || {
            let mut stderr = BufReader::new(stderr);
            let mut line = Vec::new();
            loop {
                line.clear();
                let mut one = (&mut stderr).take(LINE_BYTES_MAX);
                match one.read_until(b'\n', &mut line) {
                    Ok(0) | Err(_) => return,
                    Ok(_) => {}
                }
                let mut kept = lock(&kept);
                if kept.len() == LINES_MAX {
                    kept.pop_front();
                }
                kept.push_back(frames::clean(&line));
            }
        };
        let thread = std::thread::Builder::new().name("driver-words".to_owned());
        Ok(Self {
            lines,
            thread: Some(thread.spawn(read)?),
        })
    }

    /// Waits for the last line. The process has ended.
    fn finish(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    fn text(&self) -> String {
        let lines = lock(&self.lines);
        let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
        lines.join("\n")
    }
}
