//! A folder with small scenarios, and the program in it.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

pub(crate) const TINY: &str = "\
kgauge: 1
name: tiny
question: Does it work?
topic: {partitions: 2}
flows:
  - name: writers
    kind: produce
    shape: {constant: 800/s}
    record: {size: 100 B}
  - name: readers
    kind: consume
    partitions: all
    from: earliest
stages: {warm-up: 0 s, hold: 1 s}
repeats: 2
goals: [writers.throughput >= 10/s]
";

/// The same by counts, so that a busy machine changes no figure: 800 records are written and read.
pub(crate) const COUNTED: &str = "\
kgauge: 1
name: counted
question: Does it work?
topic: {partitions: 2}
flows:
  - name: writers
    kind: produce
    shape: {constant: 2k/s}
    records: 800
    record: {size: 100 B}
  - name: readers
    kind: consume
    partitions: all
    from: earliest
    records: 800
stages: {warm-up: 0 s, hold: 2 min}
repeats: 1
";

/// A folder for one test, and the program in it.
pub(crate) struct Site {
    pub(crate) dir: tempfile::TempDir,
}

impl Site {
    pub(crate) fn new() -> Self {
        Self::within(&std::env::temp_dir())
    }

    /// In memory if the disk is half full: a checkup generates no load on a disk that is nearly full, and the disk of a
    /// machine that builds may be.
    pub(crate) fn with_free_disk() -> Self {
        let has_space = |dir: &Path| {
            rustix::fs::statvfs(dir).is_ok_and(|stat| {
                let used = stat.f_blocks - stat.f_bfree;
                stat.f_bavail > used && stat.f_bavail * stat.f_frsize > 4 << 30
            })
        };
        let disk = std::env::temp_dir();
        let memory = Path::new("/dev/shm");
        if !has_space(&disk) && has_space(memory) {
            Self::within(memory)
        } else {
            Self::within(&disk)
        }
    }

    fn within(parent: &Path) -> Self {
        let dir = tempfile::tempdir_in(parent).unwrap();
        fs::write(dir.path().join("tiny.yaml"), TINY).unwrap();
        fs::write(dir.path().join("counted.yaml"), COUNTED).unwrap();
        fs::create_dir(dir.path().join("tmp")).unwrap();
        Self { dir }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kgauge"));
        command
            .args(arguments)
            .current_dir(self.dir.path())
            .env_remove("KGAUGE_TARGET")
            .stdin(Stdio::null());
        self.set_folders(&mut command);
        command
    }

    /// Keeps secrets, records of clusters and temporary files of a command within the site.
    pub(crate) fn set_folders(&self, command: &mut Command) {
        command
            .env("TMPDIR", self.path("tmp"))
            .env("XDG_STATE_HOME", self.path("state"));
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }
}

/// A running `kgauge cluster up`. Dropping it ends the process, so that a failed test leaves nothing running.
pub(crate) struct ServingCluster {
    pub(crate) process: Child,
    stdout: BufReader<ChildStdout>,
    pub(crate) servers: String,
}

impl ServingCluster {
    pub(crate) fn start(site: &Site, arguments: &[&str]) -> Self {
        Self::of(site.start(&[&["cluster", "up"], arguments].concat()))
    }

    /// Waits until a process, whose stdout is a pipe, serves.
    pub(crate) fn of(mut process: Child) -> Self {
        let stdout = BufReader::new(process.stdout.take().unwrap());
        let mut cluster = Self {
            process,
            stdout,
            servers: String::new(),
        };
        cluster.servers = cluster.next_value("bootstrap.servers=");
        cluster
    }

    /// The path of its client.properties. Only a secured cluster prints it, once.
    pub(crate) fn properties(&mut self) -> PathBuf {
        self.next_value("client.properties=").into()
    }

    fn next_value(&mut self, name: &str) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let value = line.trim_end().strip_prefix(name);
        value.unwrap_or_else(|| panic!("{line:?}")).to_owned()
    }

    /// Ctrl-C.
    pub(crate) fn interrupt(&self) {
        kill_process(Pid::from_child(&self.process), Signal::INT).unwrap();
    }

    /// Waits for its end. Returns its exit status, and its stderr if that is a pipe.
    pub(crate) fn wait(&mut self) -> (Option<i32>, String) {
        let status = self.process.wait().unwrap();
        let mut stderr = String::new();
        if let Some(pipe) = &mut self.process.stderr {
            pipe.read_to_string(&mut stderr).unwrap();
        }
        (status.code(), stderr)
    }

    /// Ends it by Ctrl-C. Returns its exit status.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.interrupt();
        self.wait().0
    }
}

impl Drop for ServingCluster {
    fn drop(&mut self) {
        if let Ok(None) = self.process.try_wait() {
            let _ = kill_process(Pid::from_child(&self.process), Signal::INT);
            let _ = self.process.wait();
        }
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Checks the exit status of a command. Returns its stderr.
#[track_caller]
pub(crate) fn check_status(output: &Output, status: i32) -> String {
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{stderr}");
    stderr
}

/// Checks that a command ended well. Returns its stdout.
#[track_caller]
pub(crate) fn good(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

pub(crate) fn check_refused(arguments: &[&str], status: i32, words: &[&str]) {
    let site = Site::new();
    let output = site.run(arguments);
    let stderr = text(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(status),
        "{arguments:?}: {stderr}"
    );
    for word in words {
        assert!(
            stderr.contains(word),
            "{arguments:?} does not say {word:?}: {stderr}"
        );
    }
    assert!(
        output.stdout.is_empty(),
        "{arguments:?}: only results belong on stdout"
    );
    assert!(!site.path("kgauge-runs").join("tiny").exists());
}

/// Waits until something holds. Three brokers take their time on a busy machine, and a wait without pauses would take
/// a processor from them.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    /// The pause between two looks.
    const PAUSE: Duration = Duration::from_millis(5);
    let deadline = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < deadline, "still not: {what}");
        std::thread::sleep(PAUSE);
    }
}

/// Waits until a file has something in it.
#[track_caller]
pub(crate) fn wait_for(path: &Path) {
    wait_until(&format!("content of {}", path.display()), || {
        fs::metadata(path).is_ok_and(|facts| facts.len() > 0)
    });
}

pub(crate) fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The values of a file that has one per line.
pub(crate) fn json_lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    let read = |line: &str| serde_json::from_str(line).unwrap();
    text.lines().map(read).collect()
}

/// The events of one kind in a run folder.
pub(crate) fn events(run: &Path, kind: &str) -> Vec<Value> {
    let mut events = json_lines(&run.join("events.jsonl"));
    events.retain(|event| event["event"] == kind);
    events
}

/// All files below a folder; none if it does not exist.
pub(crate) fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// The processes that a process has started and that still run.
pub(crate) fn children(of: u32) -> Vec<i32> {
    let tasks = fs::read_dir(format!("/proc/{of}/task")).unwrap();
    let lists = tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let ids = lists.collect::<Vec<_>>().join(" ");
    ids.split_whitespace()
        .map(|id| id.parse().unwrap())
        .collect()
}
