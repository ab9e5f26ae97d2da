//! Processes of a cluster: started in their own process groups, and ended.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::control_group::ControlGroup;
use super::error::KafkaError;
use super::process_id::ProcessId;
use crate::log_tail::log_lines;

/// Polling interval of waits.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

/// Time limit for the kernel to stop all threads of a process.
const STATE_MAX: Duration = Duration::from_secs(5);

/// The kernel's letter for the state of a process: `T` is stopped, `Z` ended.
fn state(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may contain anything.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().next().map(str::to_owned)
}

/// How to start a process, and restart it.
#[derive(Debug, Clone)]
pub(crate) struct ProcessStart {
    /// Its name in messages: `broker 1`.
    pub(crate) role: String,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    /// Its working directory, so that it leaves no files elsewhere.
    pub(crate) dir: PathBuf,
    pub(crate) log_file: PathBuf,
    /// The limits on its memory and CPU time.
    pub(crate) group: Option<ControlGroup>,
    /// Variables of its environment besides kgauge's own.
    pub(crate) environment: Vec<(OsString, OsString)>,
}

/// A process of a cluster. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct KafkaProcess {
    pub(crate) start: ProcessStart,
    child: Child,
    pub(crate) id: ProcessId,
    /// Its end is expected.
    pub(crate) is_stopped: bool,
    pub(crate) is_paused: bool,
    /// It restarts as soon as it has ended.
    pub(crate) is_wanted: bool,
    /// It was restarted, and is not registered yet.
    pub(crate) is_starting: bool,
    /// A fault makes it end, sooner or later.
    pub(crate) is_failing: bool,
    is_detached: bool,
}

impl KafkaProcess {
    /// Starts it in its own process group, so that Ctrl-C in the terminal does not reach it.
    pub(crate) fn start(start: ProcessStart) -> Result<KafkaProcess, KafkaError> {
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&start.log_file)
            .map_err(KafkaError::file(&start.log_file))?;
        let spawned = spawn(&start, log);
        let child = spawned.map_err(|error| KafkaError::Spawn {
            role: start.role.clone(),
            error,
        })?;
        let pid = child.id();
        let mut process = KafkaProcess {
            start,
            child,
            // A process that ended at once has no start time, and cannot be mistaken for another.
            id: ProcessId::of(pid).unwrap_or(ProcessId {
                pid,
                started_ticks: 0,
            }),
            is_stopped: false,
            is_paused: false,
            is_wanted: false,
            is_starting: false,
            is_failing: false,
            is_detached: false,
        };
        if let Some(group) = &process.start.group {
            group.take_in(process.id)?;
        }
        if let Some(mut gate) = process.child.stdin.take() {
            // The log of a process that has already ended has the reason.
            let _ = gate.write_all(b"go\n");
        }
        Ok(process)
    }

    /// Restarts it after its end.
    pub(crate) fn start_again(&mut self) -> Result<(), KafkaError> {
        *self = KafkaProcess::start(self.start.clone())?;
        self.is_starting = true;
        Ok(())
    }

    /// Its exit status; `None` while it runs.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// An error with the last lines of its log, if it ended unexpectedly.
    pub(crate) fn check(&mut self) -> Result<(), KafkaError> {
        self.note_failed();
        if self.is_stopped {
            return Ok(());
        }
        match self.ended() {
            None => Ok(()),
            Some(status) => Err(KafkaError::Ended {
                role: self.start.role.clone(),
                status: words(status),
                log: log_lines(&self.start.log_file),
                log_file: self.start.log_file.clone(),
            }),
        }
    }

    /// Notes whether a fault has made it end.
    pub(crate) fn note_failed(&mut self) {
        if self.is_failing && self.ended().is_some() {
            self.is_stopped = true;
        }
    }

    /// Sends a signal.
    pub(crate) fn signal(&mut self, signal: Signal) {
        // A child that was not waited for keeps its pid, so no other process has it.
        if self.ended().is_none() {
            let _ = kill_process(Pid::from_child(&self.child), signal);
        }
    }

    /// Freezes it, and waits until all of its threads have stopped.
    pub(crate) fn pause(&mut self) {
        self.signal(Signal::STOP);
        self.is_paused = true;
        self.wait_for_state(|state| state == "T");
    }

    /// Resumes it.
    pub(crate) fn resume(&mut self) {
        self.signal(Signal::CONT);
        self.is_paused = false;
        self.wait_for_state(|state| state != "T");
    }

    fn wait_for_state(&self, is_reached: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + STATE_MAX;
        while state(self.id.pid).is_some_and(|state| !is_reached(&state))
            && Instant::now() < deadline
        {
            std::thread::sleep(LOOK);
        }
    }

    /// Waits for its end; false if it is still running when the time is over.
    pub(crate) fn wait(&mut self, deadline: Instant) -> bool {
        while self.ended().is_none() {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(LOOK);
        }
        true
    }

    /// Asks it to end, and kills it if it does not in time. A paused process is resumed first.
    pub(crate) fn end(&mut self, limit: Duration) {
        self.ask_to_end();
        self.wait_or_kill(Instant::now() + limit);
    }

    /// Asks it to end.
    pub(crate) fn ask_to_end(&mut self) {
        self.is_stopped = true;
        self.is_wanted = false;
        self.signal(Signal::TERM);
        if self.is_paused {
            self.is_paused = false;
            self.signal(Signal::CONT);
        }
    }

    /// Waits for its end, and kills it when the time is over.
    pub(crate) fn wait_or_kill(&mut self, deadline: Instant) {
        if !self.wait(deadline) {
            self.kill();
        }
    }

    /// Kills it, and waits for its end.
    pub(crate) fn kill(&mut self) {
        self.is_stopped = true;
        self.is_wanted = false;
        self.is_paused = false;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Keeps it running when this handle is dropped.
    pub(crate) fn detach(&mut self) {
        self.is_detached = true;
    }
}

impl Drop for KafkaProcess {
    fn drop(&mut self) {
        if !self.is_detached {
            self.kill();
        }
    }
}

/// Waits for a line on its standard input, then becomes the program with the same pid. Without the line it ends.
const GATE: &str = "read -r go && exec \"$0\" \"$@\" </dev/null";

/// A process with a control group waits until it is in it: Java reads its limits only at startup, and derives the
/// number of GC and compiler threads and the heap size from them.
fn spawn(start: &ProcessStart, log: File) -> std::io::Result<Child> {
    let mut command = match &start.group {
        None => {
            let mut command = Command::new(&start.program);
            command.stdin(Stdio::null());
            command
        }
        Some(_) => {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", GATE]).arg(&start.program);
            command.stdin(Stdio::piped());
            command
        }
    };
    command
        .args(&start.arguments)
        .envs(start.environment.iter().cloned())
        .current_dir(&start.dir)
        .stdout(log.try_clone()?)
        .stderr(log)
        .process_group(0)
        .spawn()
}

/// The end of a process, as text.
pub(crate) fn words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "unknown status".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::control_group::Bounds;
    use super::*;

    fn start(dir: &Path, script: &str) -> KafkaProcess {
        KafkaProcess::start(ProcessStart {
            role: "broker 1".to_owned(),
            program: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".into(), script.into()],
            dir: dir.to_owned(),
            log_file: dir.join("log"),
            group: None,
            environment: Vec::new(),
        })
        .unwrap()
    }

    #[test]
    fn an_unexpected_end_is_an_error_with_the_last_log_lines() {
        let dir = tempfile::tempdir().unwrap();
        let mut process = start(dir.path(), "echo ERROR no luck; exit 7");
        assert!(process.wait(Instant::now() + Duration::from_secs(30)));
        let words = process.check().unwrap_err().to_string();
        assert!(words.contains("broker 1 exited (exit status 7)"), "{words}");
        assert!(words.contains("ERROR no luck"), "{words}");
    }

    #[test]
    fn a_process_ends_when_asked_and_is_killed_when_it_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let mut kind = start(dir.path(), "exec sleep 600");
        assert!(kind.id.is_alive());
        kind.end(Duration::from_secs(30));
        assert!(!kind.id.is_alive() && kind.check().is_ok());
        let mut deaf = start(
            dir.path(),
            "trap '' TERM; echo on; while :; do sleep 600; done",
        );
        while fs::read_to_string(dir.path().join("log")).unwrap() != "on\n" {
            std::thread::yield_now();
        }
        deaf.end(Duration::ZERO);
        assert!(!deaf.id.is_alive());
    }

    #[test]
    fn a_program_starts_in_its_control_group_and_its_pid_is_known() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("cgroup");
        fs::create_dir_all(root.join("cpu")).unwrap();
        let bounds = Bounds {
            memory_bytes: None,
            milli_cores: Some(500),
        };
        let group = ControlGroup::named_in(&root, "run-broker-1", bounds);
        group.make().unwrap();
        // It first looks for itself in its group.
        let procs = root.join("cpu/kgauge-run-broker-1/cgroup.procs");
        let script = format!(
            "test \"$(cat {})\" = $$ && echo in || echo out; read -r more || echo closed; exec sleep 600",
            procs.display()
        );
        let mut process = KafkaProcess::start(ProcessStart {
            role: "broker 1".to_owned(),
            program: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".into(), script.into()],
            dir: dir.path().to_owned(),
            log_file: dir.path().join("log"),
            group: Some(group),
            environment: Vec::new(),
        })
        .unwrap();
        let log = || fs::read_to_string(dir.path().join("log")).unwrap();
        while log().lines().count() < 2 {
            std::thread::yield_now();
        }
        assert_eq!(log(), "in\nclosed\n");
        assert!(process.id.is_alive());
        process.end(Duration::from_secs(30));
        assert!(!process.id.is_alive() && process.check().is_ok());
    }

    #[test]
    fn no_program_starts_if_its_control_group_refuses_the_process() {
        let dir = tempfile::tempdir().unwrap();
        let bounds = Bounds {
            memory_bytes: Some(1 << 30),
            milli_cores: None,
        };
        let group = ControlGroup::named_in(&dir.path().join("none"), "x", bounds);
        let started = KafkaProcess::start(ProcessStart {
            role: "broker 1".to_owned(),
            program: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".into(), "echo started".into()],
            dir: dir.path().to_owned(),
            log_file: dir.path().join("log"),
            group: Some(group),
            environment: Vec::new(),
        });
        let words = started.unwrap_err().to_string();
        assert!(words.contains("cgroup.procs"), "{words}");
        assert_eq!(fs::read_to_string(dir.path().join("log")).unwrap(), "");
    }

    #[test]
    fn a_dropped_process_is_gone_and_its_pid_is_not_mistaken() {
        let dir = tempfile::tempdir().unwrap();
        let process = start(dir.path(), "exec sleep 600");
        let id = process.id;
        drop(process);
        assert!(!id.is_alive());
        let own = ProcessId::own().unwrap();
        assert!(own.is_alive());
        let later = ProcessId {
            started_ticks: own.started_ticks + 1,
            ..own
        };
        assert!(!later.is_alive());
    }
}
