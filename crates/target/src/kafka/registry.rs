//! Records of clusters that kgauge started. They outlive kgauge, so that nothing keeps running forever, not even after
//! `kill -9`.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kgauge_scenario::TargetKind;
use kgauge_scenario::format::plural;
use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use super::control_group;
use super::process::LOOK;
use super::process_id::{ProcessId, of_folder};
use crate::log_tail::remove_empty_log;

/// Time limit for processes to end before they are killed.
const END_MAX: Duration = Duration::from_secs(5);

/// Larger files are not ours.
const RECORD_BYTES_MAX: u64 = 1 << 20;

/// The record of a cluster, without secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterRecord {
    /// Its name, also that of its file.
    pub name: String,
    /// Apache Kafka, or the embedded cluster.
    #[serde(default = "kafka", skip_serializing_if = "is_kafka")]
    pub kind: TargetKind,
    /// The release.
    pub version: String,
    /// The kgauge process that uses it.
    pub kgauge: Option<ProcessId>,
    /// Whether it outlives that process.
    pub is_detached: bool,
    /// Bootstrap addresses.
    pub bootstrap_servers: String,
    /// Its processes, by role.
    pub processes: Vec<(String, ProcessId)>,
    /// Its configuration: removed with it.
    pub conf_dir: PathBuf,
    /// Its data: removed with it.
    pub data_dirs: Vec<PathBuf>,
    /// Control groups of its processes: removed with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub control_groups: Vec<PathBuf>,
    /// Its logs, which stay after a failure: a folder, or the single file of an embedded cluster.
    pub log_dir: PathBuf,
}

fn kafka() -> TargetKind {
    TargetKind::Kafka
}

fn is_kafka(kind: &TargetKind) -> bool {
    *kind == TargetKind::Kafka
}

/// The state of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClusterState {
    /// A running kgauge uses it.
    Held,
    /// It is running detached.
    Detached,
    /// It is running, and its kgauge has ended.
    Orphaned,
    /// None of its processes is running.
    Dead,
}

impl fmt::Display for ClusterRecord {
    /// Three lines, without a line break at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state() {
            ClusterState::Held => "used by a running kgauge",
            ClusterState::Detached => "detached",
            ClusterState::Orphaned => "left behind by a kgauge that has exited",
            ClusterState::Dead => "killed; files of it are left",
        };
        let processes = plural(self.alive().len() as u64, "process", "processes");
        write!(
            f,
            "{}  {}, {processes}, {state}\n  bootstrap.servers={}\n  logs in {}",
            self.name,
            self.release(),
            self.bootstrap_servers,
            self.log_dir.display()
        )
    }
}

impl ClusterRecord {
    /// What runs, as text: `Apache Kafka 4.3.1`.
    pub fn release(&self) -> String {
        match self.kind == TargetKind::Embedded {
            true => "embedded, not Apache Kafka".to_owned(),
            false => self.kind.name(Some(&self.version)),
        }
    }

    /// The state of the cluster.
    pub fn state(&self) -> ClusterState {
        if !self.is_detached && self.kgauge.is_some_and(ProcessId::is_alive) {
            ClusterState::Held
        } else if self.alive().is_empty() {
            ClusterState::Dead
        } else if self.is_detached {
            ClusterState::Detached
        } else {
            ClusterState::Orphaned
        }
    }

    /// Its running processes: those in the record, and those whose command line contains its folder. The latter were
    /// started just before kgauge was killed.
    pub fn alive(&self) -> Vec<ProcessId> {
        let known = self.processes.iter().map(|(_, id)| *id);
        let mut alive: Vec<ProcessId> = known.filter(|id| id.is_alive()).collect();
        for id in of_folder(&self.conf_dir) {
            if !alive.contains(&id) {
                alive.push(id);
            }
        }
        alive
    }

    /// Ends its processes, removes its data and its record. Its logs are removed too if it was detached and none of its
    /// processes had failed.
    ///
    /// # Errors
    /// If data, logs or record cannot be removed; the processes have ended nevertheless.
    pub fn bring_down(&self, state_dir: &Path) -> io::Result<BroughtDown> {
        let processes = self.alive().len();
        let is_whole = self.processes.iter().all(|(_, id)| id.is_alive());
        let is_good = self.is_detached && is_whole;
        // Brokers first: without ZooKeeper or controllers they would not end in order.
        let known = self.processes.iter();
        let brokers: Vec<ProcessId> = known
            .filter(|(role, _)| role.starts_with("broker"))
            .map(|(_, id)| *id)
            .collect();
        end(|| brokers.iter().copied().filter(|id| id.is_alive()).collect());
        end(|| self.alive());
        let in_use = data_in_use(state_dir)?;
        let is_left = |dir: &&PathBuf| !in_use.contains(dir);
        for dir in self
            .data_dirs
            .iter()
            .filter(is_left)
            .chain([&self.conf_dir])
        {
            remove(dir)?;
        }
        for dir in &self.control_groups {
            control_group::remove(dir);
        }
        if self.kind == TargetKind::Embedded {
            remove_empty_log(&self.log_dir);
        } else if is_good {
            remove(&self.log_dir)?;
            // Removes the folder around them, unless it contains something else.
            let _ = self.log_dir.parent().map(fs::remove_dir);
        }
        forget(state_dir, &self.name)?;
        Ok(BroughtDown {
            processes,
            logs: Some(self.log_dir.clone()).filter(|logs| has_content(logs)),
        })
    }
}

/// The data folders of running clusters: a later run may use the folder of a killed one.
fn data_in_use(state_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let known = clusters(state_dir)?;
    let running = known.into_iter().filter(|one| !one.alive().is_empty());
    Ok(running.flat_map(|one| one.data_dirs).collect())
}

/// The result of ending a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BroughtDown {
    /// Number of processes that were running.
    pub processes: usize,
    /// Logs that remain.
    pub logs: Option<PathBuf>,
}

/// Ends processes, and kills those that do not end in time.
fn end(alive: impl Fn() -> Vec<ProcessId>) {
    for id in alive() {
        id.signal(Signal::TERM);
        // A paused process must be resumed to receive the signal.
        id.signal(Signal::CONT);
    }
    let deadline = Instant::now() + END_MAX;
    while !alive().is_empty() && Instant::now() < deadline {
        std::thread::sleep(LOOK);
    }
    for id in alive() {
        id.signal(Signal::KILL);
    }
    while !alive().is_empty() && Instant::now() < deadline + END_MAX {
        std::thread::sleep(LOOK);
    }
}

/// Whether the folder exists, or the file is not empty.
fn has_content(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.is_dir() || facts.len() > 0)
}

/// Removes a folder, if there is one.
pub(crate) fn remove(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

pub(crate) fn file(state_dir: &Path, name: &str) -> PathBuf {
    state_dir.join(format!("{name}.json"))
}

/// Writes a record atomically.
pub(crate) fn keep(state_dir: &Path, record: &ClusterRecord) -> io::Result<()> {
    let path = file(state_dir, &record.name);
    let partial = path.with_extension("json.partial");
    let text = serde_json::to_string_pretty(record).map_err(io::Error::other)?;
    let mut written = fs::File::create(&partial)?;
    written.write_all(text.as_bytes())?;
    written.sync_all()?;
    fs::rename(partial, path)
}

/// Removes a record.
pub(crate) fn forget(state_dir: &Path, name: &str) -> io::Result<()> {
    match fs::remove_file(file(state_dir, name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// All records, by name. Other files are ignored.
pub fn clusters(state_dir: &Path) -> io::Result<Vec<ClusterRecord>> {
    let entries = match fs::read_dir(state_dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut records = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let is_small = fs::metadata(&path).is_ok_and(|facts| facts.len() <= RECORD_BYTES_MAX);
        let is_record = path.extension().is_some_and(|ending| ending == "json");
        if !is_record || !is_small {
            continue;
        }
        let read = fs::read(&path).ok();
        let record = read.and_then(|bytes| serde_json::from_slice::<ClusterRecord>(&bytes).ok());
        // A name that differs from the file's could point elsewhere.
        records.extend(record.filter(|record| file(state_dir, &record.name) == path));
    }
    records.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(records)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("600").spawn().unwrap()
    }

    fn record(dir: &Path, kgauge: Option<ProcessId>, child: &Child) -> ClusterRecord {
        let id = ProcessId::of(child.id()).unwrap();
        let conf_dir = dir.join("conf");
        fs::create_dir_all(conf_dir.join("x")).unwrap();
        ClusterRecord {
            name: "one".to_owned(),
            kind: TargetKind::Kafka,
            version: "4.3.1".to_owned(),
            kgauge,
            is_detached: false,
            bootstrap_servers: "127.0.0.1:1".to_owned(),
            processes: vec![("broker 1".to_owned(), id)],
            conf_dir,
            data_dirs: vec![dir.join("data")],
            control_groups: Vec::new(),
            log_dir: dir.join("log"),
        }
    }

    #[test]
    fn what_a_killed_kgauge_left_is_found_and_brought_down() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        fs::create_dir(&state).unwrap();
        let mut child = sleeper();
        let record = record(dir.path(), None, &child);
        keep(&state, &record).unwrap();
        fs::write(state.join("other.json"), "{}").unwrap();
        let found = clusters(&state).unwrap();
        assert_eq!(found, std::slice::from_ref(&record));
        assert_eq!(found[0].state(), ClusterState::Orphaned);
        // Reaps it, as init would.
        let reaped = std::thread::spawn(move || child.wait().unwrap());
        fs::create_dir(&record.log_dir).unwrap();
        let down = found[0].bring_down(&state).unwrap();
        assert_eq!(down.processes, 1);
        assert_eq!(
            down.logs,
            Some(record.log_dir.clone()),
            "the logs of an orphaned cluster are kept"
        );
        assert!(!reaped.join().unwrap().success());
        assert_eq!(record.state(), ClusterState::Dead);
        assert!(!record.conf_dir.exists());
        assert!(clusters(&state).unwrap().is_empty());
    }

    #[test]
    fn held_detached_and_dead_clusters_are_distinguished() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = sleeper();
        let mut record = record(dir.path(), ProcessId::own(), &child);
        assert_eq!(record.state(), ClusterState::Held);
        record.is_detached = true;
        assert_eq!(record.state(), ClusterState::Detached);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(record.state(), ClusterState::Dead);
    }

    #[test]
    fn a_record_under_another_s_name_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = sleeper();
        let record = record(dir.path(), None, &child);
        let text = serde_json::to_string(&record).unwrap();
        fs::write(dir.path().join("two.json"), text).unwrap();
        assert!(clusters(dir.path()).unwrap().is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn logs_go_after_a_good_end_and_stay_when_a_process_had_died() {
        for dies in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let state = dir.path().join("state");
            fs::create_dir(&state).unwrap();
            let mut child = sleeper();
            let mut record = record(dir.path(), None, &child);
            record.is_detached = true;
            record.log_dir = dir.path().join("work/target-logs");
            fs::create_dir_all(&record.log_dir).unwrap();
            fs::write(record.log_dir.join("broker-1.log"), "words").unwrap();
            keep(&state, &record).unwrap();
            if dies {
                child.kill().unwrap();
                child.wait().unwrap();
            }
            let reaped = std::thread::spawn(move || child.wait());
            let down = record.bring_down(&state).unwrap();
            reaped.join().unwrap().unwrap();
            assert_eq!(down.logs.is_some(), dies);
            assert_eq!(dir.path().join("work").exists(), dies);
        }
    }
}
