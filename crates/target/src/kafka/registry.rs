//! Clusters that kgauge started: what is known of them survives kgauge itself,
//! so that nothing is left running for ever, not even after `kill -9`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kgauge_scenario::TargetKind;
use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use super::control_group;
use super::process::LOOK;
use super::process_id::{ProcessId, of_folder};
use crate::log_tail::remove_empty_log;

/// How long processes may take to end before they are killed.
const END_MAX: Duration = Duration::from_secs(5);

/// Larger files are not ours.
const RECORD_BYTES_MAX: u64 = 1 << 20;

/// A cluster that was started, as it stands in its file. No secrets are in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterRecord {
    /// Its name, which is that of its file too.
    pub name: String,
    /// What it is: Apache Kafka, or the embedded cluster.
    #[serde(default = "kafka", skip_serializing_if = "is_kafka")]
    pub kind: TargetKind,
    /// The release.
    pub version: String,
    /// The kgauge that holds it.
    pub kgauge: Option<ProcessId>,
    /// Whether it is to outlive that kgauge.
    pub is_detached: bool,
    /// Where clients connect.
    pub bootstrap_servers: String,
    /// Its processes, by role.
    pub processes: Vec<(String, ProcessId)>,
    /// Its configuration: removed with it.
    pub conf_dir: PathBuf,
    /// Its data: removed with it.
    pub data_dirs: Vec<PathBuf>,
    /// Control groups of the kernel that its processes are in: removed with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub control_groups: Vec<PathBuf>,
    /// Its logs, which stay after a bad end: a folder, or the one file of an embedded cluster.
    pub log_dir: PathBuf,
}

fn kafka() -> TargetKind {
    TargetKind::Kafka
}

fn is_kafka(kind: &TargetKind) -> bool {
    *kind == TargetKind::Kafka
}

/// What has become of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClusterState {
    /// A kgauge that runs holds it.
    Held,
    /// It runs, as it was left on purpose.
    Detached,
    /// It runs, and its kgauge is gone.
    Orphaned,
    /// Nothing of it runs.
    Dead,
}

impl ClusterRecord {
    /// What has become of it.
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

    /// Its processes that run: those in the record, and those that name its folder. The latter
    /// finds what was started just before kgauge was killed.
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

    /// Ends what runs of it, removes its data and forgets it. Its logs go too if that is a good end:
    /// it was left running on purpose, and none of its processes had died since.
    ///
    /// # Errors
    /// When data, logs or record cannot be removed; the processes are gone then all the same.
    pub fn bring_down(&self, state_dir: &Path) -> io::Result<BroughtDown> {
        let processes = self.alive().len();
        let is_whole = self.processes.iter().all(|(_, id)| id.is_alive());
        let is_good = self.is_detached && is_whole;
        // Brokers first: without ZooKeeper or controllers they would not end in good order.
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
            // The folder around them was made for them; one that has something else in it stays.
            let _ = self.log_dir.parent().map(fs::remove_dir);
        }
        forget(state_dir, &self.name)?;
        Ok(BroughtDown {
            processes,
            logs: Some(self.log_dir.clone()).filter(|logs| has_content(logs)),
        })
    }
}

/// The data of clusters that run: a later run may use the folder of one that was killed.
fn data_in_use(state_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let known = clusters(state_dir)?;
    let running = known.into_iter().filter(|one| !one.alive().is_empty());
    Ok(running.flat_map(|one| one.data_dirs).collect())
}

/// What was ended, and what is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BroughtDown {
    /// How many processes ran.
    pub processes: usize,
    /// Logs that stay.
    pub logs: Option<PathBuf>,
}

/// Ends processes, and kills those that do not end in time.
fn end(alive: impl Fn() -> Vec<ProcessId>) {
    for id in alive() {
        id.signal(Signal::TERM);
        // One that was paused does not hear it before it is woken.
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

/// Whether there is such a folder, or a file with something in it.
fn has_content(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.is_dir() || facts.len() > 0)
}

fn remove(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

pub(crate) fn file(state_dir: &Path, name: &str) -> PathBuf {
    state_dir.join(format!("{name}.json"))
}

/// Writes a record, all of it or nothing.
pub(crate) fn keep(state_dir: &Path, record: &ClusterRecord) -> io::Result<()> {
    let path = file(state_dir, &record.name);
    let partial = path.with_extension("json.partial");
    let text = serde_json::to_string_pretty(record).map_err(io::Error::other)?;
    let mut written = fs::File::create(&partial)?;
    written.write_all(text.as_bytes())?;
    written.sync_all()?;
    fs::rename(partial, path)
}

/// Takes a record away.
pub(crate) fn forget(state_dir: &Path, name: &str) -> io::Result<()> {
    match fs::remove_file(file(state_dir, name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// All records, by name. Files that are none are left alone.
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
        // A name that is not the file's own could lead elsewhere.
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
        // Somebody has to reap it, as init would.
        let reaped = std::thread::spawn(move || child.wait().unwrap());
        fs::create_dir(&record.log_dir).unwrap();
        let down = found[0].bring_down(&state).unwrap();
        assert_eq!(down.processes, 1);
        assert_eq!(
            down.logs,
            Some(record.log_dir.clone()),
            "nobody wanted that end"
        );
        assert!(!reaped.join().unwrap().success());
        assert_eq!(record.state(), ClusterState::Dead);
        assert!(!record.conf_dir.exists());
        assert!(clusters(&state).unwrap().is_empty());
    }

    #[test]
    fn who_holds_a_cluster_and_who_left_it_is_told_apart() {
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
