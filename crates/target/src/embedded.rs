//! The parent's side of an embedded cluster: a child process of the same binary.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use kgauge_client::{ClientConfig, Interrupt};
use rustix::event::{PollFd, PollFlags, poll};
use serde::Serialize;

use crate::embedded_error::EmbeddedError;
use crate::embedded_record::EmbeddedRecord;
use crate::embedded_spec::{EmbeddedSetup, EmbeddedSpec};
use crate::instrument::{Done, InstructError, Instruction, NodeReport};
use crate::kafka::SecurityKind;
use crate::log_tail::log_tail;
use crate::messages::{ClusterOrder, ClusterReply, ClusterRequest, DataAtEnd, LINE_BYTES_MAX};
use crate::security::private::PrivateDir;
use crate::security::{EmbeddedSecurity, client_settings};

/// The longest uninterruptible wait.
const WAIT_SLICE: Duration = Duration::from_millis(100);

/// A running embedded cluster. Dropping it stops and reaps the child.
#[derive(Debug)]
pub struct EmbeddedTarget {
    child: Option<Child>,
    output: ChildStdout,
    pid: u32,
    config: ClientConfig,
    spec: EmbeddedSpec,
    data_dir: PathBuf,
    keep_data: bool,
    log_file: PathBuf,
    time_limit: Duration,
    secured: Option<SecuredParts>,
    record: Option<EmbeddedRecord>,
    /// Number of instructions sent to it.
    requests: u64,
    /// Messages from it that were not read yet.
    unread: Vec<u8>,
    /// A request for counters that was not answered in time.
    owed: Option<u64>,
}

/// The additional state of a secured cluster.
#[derive(Debug)]
struct SecuredParts {
    security: EmbeddedSecurity,
    /// For other clients; written when the addresses are known.
    client_properties: Option<PathBuf>,
    dir: PrivateDir,
}

impl SecuredParts {
    fn make(
        spec: &EmbeddedSpec,
        setup: &EmbeddedSetup,
    ) -> Result<Option<SecuredParts>, EmbeddedError> {
        if spec.security == SecurityKind::Plaintext {
            return Ok(None);
        }
        let file = |error| EmbeddedError::File {
            path: setup.private_dir.clone(),
            error,
        };
        let path = std::path::absolute(&setup.private_dir).map_err(file)?;
        let dir = PrivateDir::make(&path).map_err(file)?;
        let security = EmbeddedSecurity::make(spec.security, dir.path())
            .map_err(|words| EmbeddedError::Security { words })?;
        Ok(Some(SecuredParts {
            security,
            client_properties: None,
            dir,
        }))
    }

    /// Writes the clients' settings for these addresses.
    fn connection_settings(&mut self, servers: &str) -> Result<ClientConfig, EmbeddedError> {
        let dir = self.dir.path();
        let file = client_settings::write(dir, servers, &self.security.client_settings).map_err(
            |error| EmbeddedError::File {
                path: dir.to_owned(),
                error,
            },
        )?;
        let config = ClientConfig::from_properties_file(&file).map_err(EmbeddedError::Addresses)?;
        self.client_properties = Some(file);
        Ok(config)
    }
}

impl EmbeddedTarget {
    /// Starts a child and waits until all of its nodes are ready.
    pub fn start(
        spec: &EmbeddedSpec,
        setup: &EmbeddedSetup,
        interrupt: &Interrupt,
    ) -> Result<EmbeddedTarget, EmbeddedError> {
        let start = Instant::now();
        make_parent(&setup.log_file)?;
        let secured = SecuredParts::make(spec, setup)?;
        make_data_dir(setup)?;
        let mut child = spawn(setup).inspect_err(|_| {
            if !setup.keep_data {
                let _ = fs::remove_dir(&setup.data_dir);
            }
        })?;
        let pid = child.id();
        let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            let _ = child.kill();
            let _ = child.wait();
            return Err(EmbeddedError::pipe(io::ErrorKind::BrokenPipe.into(), ""));
        };
        let record = EmbeddedRecord::keep(setup, pid);
        let about = (secured.as_ref(), record.as_ref());
        let sent = write_order(&mut input, spec, setup, about);
        child.stdin = Some(input);
        // From here on, dropping the target ends and reaps the child.
        let mut target = EmbeddedTarget {
            child: Some(child),
            output,
            pid,
            config: ClientConfig::new(Vec::new()),
            spec: spec.clone(),
            data_dir: setup.data_dir.clone(),
            keep_data: setup.keep_data,
            log_file: setup.log_file.clone(),
            time_limit: setup.time_limit,
            secured,
            record,
            requests: 0,
            unread: Vec::new(),
            owed: None,
        };
        // If a child ended before it read its order, its answer or exit status has the reason.
        if let Err(error) = sent
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            return Err(EmbeddedError::pipe(error, &target.log_tail()));
        }
        let line = target.read_line(start + setup.time_limit, start, interrupt)?;
        target.config = target.understand(&line)?;
        if let Some(record) = &mut target.record {
            record.serves(&target.config.servers());
        }
        Ok(target)
    }

    /// How to connect to it.
    pub fn config(&self) -> &ClientConfig {
        &self.config
    }

    /// The child's process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Its spec.
    pub fn spec(&self) -> &EmbeddedSpec {
        &self.spec
    }

    /// A file for other clients, if they need more than the addresses. It is removed with the cluster.
    pub fn client_properties(&self) -> Option<&Path> {
        self.secured.as_ref()?.client_properties.as_deref()
    }

    /// Its data folder.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Its log file.
    pub fn log_file(&self) -> &Path {
        &self.log_file
    }

    /// The last lines of its log.
    pub(crate) fn log_tail(&self) -> String {
        log_tail(&self.log_file)
    }

    /// Whether it still runs; if not, how it ended.
    pub fn check(&mut self) -> Result<(), EmbeddedError> {
        let ended = match self.child.as_mut().map(Child::try_wait) {
            Some(Ok(Some(status))) => words(status),
            Some(_) => return Ok(()),
            None => "it was stopped".to_owned(),
        };
        Err(EmbeddedError::Ended {
            status: ended,
            log: self.log_tail(),
        })
    }

    /// Ends the cluster, waits for the child, and makes sure that temporary data is removed. A child that does not end
    /// in time is killed.
    pub fn stop(mut self) -> Result<(), EmbeddedError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), EmbeddedError> {
        let Some(mut child) = self.child.take() else {
            return Ok(());
        };
        let start = Instant::now();
        drop(child.stdin.take());
        let ended_itself = self.wait_for_end(start + self.time_limit);
        if !ended_itself {
            let _ = child.kill();
        }
        let status = child.wait();
        let removed = self.remove_data();
        if let (Ok(()), Some(record)) = (&removed, self.record.take()) {
            record.forget();
        }
        if !ended_itself {
            return Err(EmbeddedError::Killed {
                waited: start.elapsed(),
            });
        }
        match status {
            Ok(status) if status.success() => removed,
            Ok(status) => Err(EmbeddedError::Ended {
                status: words(status),
                log: self.log_tail(),
            }),
            Err(error) => Err(EmbeddedError::Pipe {
                error,
                log: self.log_tail(),
            }),
        }
    }

    /// The child removes its data itself; after a crash the parent does.
    fn remove_data(&self) -> Result<(), EmbeddedError> {
        if self.keep_data {
            return Ok(());
        }
        match fs::remove_dir_all(&self.data_dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(EmbeddedError::DataLeft {
                path: self.data_dir.clone(),
                error,
            }),
            _ => Ok(()),
        }
    }

    /// Waits until the child's output closes, which it does when the child ends.
    fn wait_for_end(&mut self, deadline: Instant) -> bool {
        let mut scrap = [0u8; 512];
        while let Ok(readable) = wait_readable(&self.output, deadline) {
            if readable && matches!(self.output.read(&mut scrap), Ok(0) | Err(_)) {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
        }
        false
    }

    fn read_line(
        &mut self,
        deadline: Instant,
        start: Instant,
        interrupt: &Interrupt,
    ) -> Result<String, EmbeddedError> {
        let mut bytes = [0u8; 4096];
        loop {
            let end = self.unread.iter().position(|byte| *byte == b'\n');
            if end.is_some() || self.unread.len() > LINE_BYTES_MAX {
                let end = end.map_or(self.unread.len(), |end| end + 1);
                let line: Vec<u8> = self.unread.drain(..end).collect();
                return Ok(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            if interrupt.is_raised() {
                return Err(EmbeddedError::Interrupted);
            }
            if Instant::now() >= deadline {
                let waited = start.elapsed();
                return Err(EmbeddedError::TimedOut {
                    waited,
                    log: self.log_tail(),
                });
            }
            let slice = deadline.min(Instant::now() + WAIT_SLICE);
            if !wait_readable(&self.output, slice)
                .map_err(|error| EmbeddedError::pipe(error, ""))?
            {
                continue;
            }
            match self.output.read(&mut bytes) {
                Ok(0) => return Err(self.ended_early()),
                Ok(count) => self.unread.extend_from_slice(&bytes[..count]),
                Err(error) => return Err(EmbeddedError::pipe(error, &self.log_tail())),
            }
        }
    }

    fn understand(&mut self, line: &str) -> Result<ClientConfig, EmbeddedError> {
        match serde_json::from_str(line) {
            Ok(ClusterReply::Ready { bootstrap_servers }) => match &mut self.secured {
                Some(secured) => secured.connection_settings(&bootstrap_servers),
                None => {
                    ClientConfig::from_servers(&bootstrap_servers).map_err(EmbeddedError::Addresses)
                }
            },
            Ok(ClusterReply::Failed { words }) => Err(EmbeddedError::Refused { words }),
            _ => Err(self.nonsense(line)),
        }
    }

    fn nonsense(&self, line: &str) -> EmbeddedError {
        let beginning: String = line.chars().take(200).collect();
        EmbeddedError::Nonsense {
            line: beginning.escape_debug().to_string(),
            log: self.log_tail(),
        }
    }

    /// Sends an instruction to the cluster, and waits for its outcome.
    pub(crate) fn instruct(&mut self, instruction: &Instruction) -> Result<Done, InstructError> {
        let number = self.send(instruction.clone())?;
        self.answer_to(number, self.time_limit)
    }

    fn answer_to(&mut self, number: u64, limit: Duration) -> Result<Done, InstructError> {
        let start = Instant::now();
        loop {
            let line = self.read_line(start + limit, start, &Interrupt::new())?;
            match serde_json::from_str(&line) {
                Ok(ClusterReply::Done { number: of, done }) if of == number => return Ok(done),
                // An answer to an earlier request.
                Ok(ClusterReply::Done { number: of, .. }) if self.owed == Some(of) => {
                    self.owed = None
                }
                Ok(ClusterReply::Refused { words, .. }) => {
                    return Err(InstructError::Refused(words));
                }
                _ => return Err(self.nonsense(&line).into()),
            }
        }
    }

    /// The counters of its nodes, if it answers within `limit`. A cluster gets a new request only after it has answered
    /// the previous one.
    ///
    /// # Errors
    /// The reason, as text.
    pub fn counts(&mut self, limit: Duration) -> Result<Vec<NodeReport>, String> {
        let begin = Instant::now();
        let describe = |error: InstructError| match error {
            InstructError::Embedded(EmbeddedError::TimedOut { .. }) => {
                format!("no answer within {} ms", limit.as_millis())
            }
            InstructError::Embedded(EmbeddedError::Ended { .. } | EmbeddedError::Pipe { .. }) => {
                "the embedded cluster has exited".to_owned()
            }
            error => error.to_string(),
        };
        if let Some(owed) = self.owed {
            self.answer_to(owed, limit).map_err(describe)?;
            self.owed = None;
        }
        let sent = self.send(Instruction::Count);
        let number = sent.map_err(|error| describe(error.into()))?;
        self.owed = Some(number);
        let done = self.answer_to(number, limit.saturating_sub(begin.elapsed()));
        // A busy cluster gets the same request again.
        if !matches!(
            &done,
            Err(InstructError::Embedded(EmbeddedError::TimedOut { .. }))
        ) {
            self.owed = None;
        }
        done.map(|done| done.counts).map_err(describe)
    }

    /// Sends a request; returns its number.
    fn send(&mut self, instruction: Instruction) -> Result<u64, EmbeddedError> {
        self.requests += 1;
        let number = self.requests;
        let request = ClusterRequest {
            number,
            instruction,
        };
        let input = self.child.as_mut().and_then(|child| child.stdin.as_mut());
        let written = match input {
            Some(input) => write_line(input, &request),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        match written {
            Ok(()) => Ok(number),
            Err(error) => {
                // The log of a child that has ended has the reason.
                self.check()?;
                Err(EmbeddedError::pipe(error, &self.log_tail()))
            }
        }
    }

    fn ended_early(&mut self) -> EmbeddedError {
        let status = self.child.as_mut().map(Child::wait);
        let status = match status {
            Some(Ok(status)) => words(status),
            _ => "unknown status".to_owned(),
        };
        EmbeddedError::Ended {
            status,
            log: self.log_tail(),
        }
    }
}

impl Drop for EmbeddedTarget {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

fn make_parent(path: &Path) -> Result<(), EmbeddedError> {
    let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    else {
        return Ok(());
    };
    fs::create_dir_all(parent).map_err(|error| EmbeddedError::File {
        path: parent.to_owned(),
        error,
    })
}

/// Only a directory that was created here may be removed at the end.
fn make_data_dir(setup: &EmbeddedSetup) -> Result<(), EmbeddedError> {
    make_parent(&setup.data_dir)?;
    if setup.keep_data {
        return Ok(());
    }
    fs::create_dir(&setup.data_dir).map_err(|error| EmbeddedError::File {
        path: setup.data_dir.clone(),
        error,
    })
}

fn spawn(setup: &EmbeddedSetup) -> Result<Child, EmbeddedError> {
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&setup.log_file);
    let log = log.map_err(|error| EmbeddedError::File {
        path: setup.log_file.clone(),
        error,
    })?;
    Command::new(&setup.command.program)
        .args(&setup.command.arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log)
        // Ctrl-C goes to the terminal's whole group; only the parent decides about the child.
        .process_group(0)
        .spawn()
        .map_err(|error| EmbeddedError::Spawn {
            program: setup.command.program.clone(),
            error,
        })
}

fn write_order(
    input: &mut impl Write,
    spec: &EmbeddedSpec,
    setup: &EmbeddedSetup,
    (secured, record): (Option<&SecuredParts>, Option<&EmbeddedRecord>),
) -> io::Result<()> {
    let order = ClusterOrder {
        nodes: spec.nodes,
        settings: spec.settings.clone(),
        data_dir: std::path::absolute(&setup.data_dir)?,
        data: if setup.keep_data {
            DataAtEnd::Keep
        } else {
            DataAtEnd::Remove
        },
        file_reuse: setup.file_reuse,
        listening: spec.listening.clone(),
        seed: setup.seed,
        node_settings: spec.node_settings.clone(),
        listeners: secured.map(|secured| secured.security.listeners.clone()),
        without_counts: !spec.metrics,
        private_dir: secured.map(|secured| secured.dir.path().to_owned()),
        record: record.map(EmbeddedRecord::file),
        log_file: std::path::absolute(&setup.log_file).ok(),
    };
    write_line(input, &order)
}

fn write_line(input: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    input.write_all(&line)
}

/// Whether bytes, or the end, can be read before `deadline`.
fn wait_readable(output: &ChildStdout, deadline: Instant) -> io::Result<bool> {
    let left = deadline.saturating_duration_since(Instant::now());
    let left = left.try_into().map_err(|_| io::ErrorKind::InvalidInput)?;
    match poll(&mut [PollFd::new(output, PollFlags::IN)], Some(&left)) {
        Ok(count) => Ok(count > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// `exit status: 4` or `signal: 9 (SIGKILL)`.
fn words(status: ExitStatus) -> String {
    status.to_string()
}
