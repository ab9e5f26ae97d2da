//! A folder with small scenarios, and the program in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

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
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("tiny.yaml"), TINY).unwrap();
        fs::write(dir.path().join("counted.yaml"), COUNTED).unwrap();
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
        command
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

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
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

/// Waits until a file has something in it. Three brokers take their time on a busy machine.
pub(crate) fn wait_for(path: &Path) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while fs::metadata(path).map_or(0, |facts| facts.len()) == 0 {
        assert!(
            Instant::now() < deadline,
            "{} does not come",
            path.display()
        );
        std::thread::yield_now();
    }
}

pub(crate) fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
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
