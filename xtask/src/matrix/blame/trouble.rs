//! How troubles are made: signals to brokers, a network that goes down, programs that take the processors.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::{available_parallelism, sleep};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};

use super::super::within_words;
use super::cells::Disturbance;
use crate::kafka::ChildProcess;

/// How long brokers are paused, and networks are down.
const PAUSE: Duration = Duration::from_millis(2_500);
/// A slow broker works and is paused in turns of these lengths.
const WORK: Duration = Duration::from_millis(10);
const REST: Duration = Duration::from_millis(190);
/// What a control group gives kgauge of each tenth of a second, in microseconds: 3 % of a processor.
const GROUP_US: &str = "3000";
/// Programs for each processor, so that the load gets a small part of it.
const HOGS_PER_CPU: usize = 3;

/// What is set up around a run.
pub(super) struct PreparedTrouble {
    place: Disturbance,
    group: Option<Group>,
}

impl PreparedTrouble {
    pub(super) fn of(place: Disturbance) -> Result<PreparedTrouble> {
        let group = match place {
            Disturbance::Group => Some(Group::new()?),
            _ => None,
        };
        Ok(PreparedTrouble { place, group })
    }

    /// The command where it is to run.
    pub(super) fn around(&self, command: &Command) -> Command {
        match self.place {
            Disturbance::CutOff => {
                let script = "ip link set lo up && exec \"$@\"";
                within_words(&["unshare", "--net", "sh", "-c", script, "sh"], command)
            }
            Disturbance::Nice => within_words(&["nice", "-n", "19"], command),
            Disturbance::Pinned => within_words(&["taskset", "-c", "0"], command),
            Disturbance::Group => {
                let file = self
                    .group
                    .as_ref()
                    .map(|group| group.0.join("cgroup.procs"));
                let file = file.unwrap_or_default().display().to_string();
                let script = "echo $$ > \"$1\" && shift && exec \"$@\"";
                within_words(&["sh", "-c", script, "sh", &file], command)
            }
            Disturbance::Quiet
            | Disturbance::Dead
            | Disturbance::Paused
            | Disturbance::Slow
            | Disturbance::Neighbours => within_words(&["env"], command),
        }
    }
}

/// A control group with little time; removed when it is dropped, after its last process has ended.
struct Group(PathBuf);

impl Group {
    fn new() -> Result<Group> {
        let name = format!("kgauge-matrix-{}", std::process::id());
        // Version 1 of control groups has a separate hierarchy for the CPU.
        let (parent, file, limit) = if Path::new("/sys/fs/cgroup/cpu").is_dir() {
            (
                "/sys/fs/cgroup/cpu",
                "cpu.cfs_quota_us",
                GROUP_US.to_owned(),
            )
        } else {
            ("/sys/fs/cgroup", "cpu.max", format!("{GROUP_US} 100000"))
        };
        let group = Group(Path::new(parent).join(name));
        fs::create_dir_all(&group.0)?;
        fs::write(group.0.join(file), limit).context("a control group takes no limit")?;
        Ok(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// Why a trouble cannot be made here.
pub(super) fn why_not(place: Disturbance) -> Option<String> {
    let fails = |words: &[&str]| {
        let mut command = within_words(words, &Command::new("true"));
        let tried = command.stdin(Stdio::null()).stderr(Stdio::null()).status();
        !tried.is_ok_and(|status| status.success())
    };
    match place {
        Disturbance::CutOff if fails(&["unshare", "--net", "nsenter", "--version"]) => {
            Some("a separate network needs root, unshare and nsenter".to_owned())
        }
        Disturbance::Pinned if fails(&["taskset", "-c", "0"]) => {
            Some("it needs taskset".to_owned())
        }
        Disturbance::Group => Group::new().err().map(|error| format!("{error:#}")),
        _ => None,
    }
}

fn signal(pids: &[u32], signal: Signal) -> Result<()> {
    ensure!(!pids.is_empty(), "there are no brokers");
    for pid in pids {
        let pid = i32::try_from(*pid).ok().and_then(Pid::from_raw);
        // One that has ended meanwhile needs no signal.
        let _ = kill_process(pid.context("no process id")?, signal);
    }
    Ok(())
}

pub(super) fn kill(brokers: &[u32]) -> Result<()> {
    signal(brokers, Signal::KILL)
}

pub(super) fn pause(brokers: &[u32]) -> Result<()> {
    signal(brokers, Signal::STOP)?;
    sleep(PAUSE);
    signal(brokers, Signal::CONT)
}

/// Brokers that rest most of the time, until something is over.
pub(super) fn slow_down(brokers: &[u32], is_over: impl Fn() -> Result<bool>) -> Result<()> {
    while !is_over()? {
        signal(brokers, Signal::STOP)?;
        sleep(REST);
        signal(brokers, Signal::CONT)?;
        sleep(WORK);
    }
    Ok(())
}

/// Takes the network of a process down for a while.
pub(super) fn cut_off(pid: u32) -> Result<()> {
    let pid = pid.to_string();
    for (word, then) in [("down", PAUSE), ("up", Duration::ZERO)] {
        let words = ["-t", &pid, "-n", "ip", "link", "set", "lo", word];
        let status = Command::new("nsenter").args(words).status()?;
        ensure!(status.success(), "the network does not go {word}");
        sleep(then);
    }
    Ok(())
}

/// A program that uses all that it gets for as long as a process exists, however that ends.
fn hog(owner: u32) -> Command {
    const LOOP: &str = "while kill -0 \"$1\" 2>/dev/null; do \
                            i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; \
                        done";
    let mut hog = Command::new("sh");
    hog.args(["-c", LOOP, "sh", &owner.to_string()]);
    hog
}

/// Programs that use all that they get; they end when this is dropped, and with this process.
pub(super) struct Hogs {
    _running: Vec<ChildProcess>,
}

impl Hogs {
    pub(super) fn everywhere() -> Result<Hogs> {
        let processors = available_parallelism().map_or(1, usize::from);
        Hogs::of(HOGS_PER_CPU * processors, &["env"])
    }

    /// On the first processor alone.
    pub(super) fn on_first() -> Result<Hogs> {
        Hogs::of(HOGS_PER_CPU, &["taskset", "-c", "0"])
    }

    fn of(count: usize, before: &[&str]) -> Result<Hogs> {
        let one = |_| {
            let hog = hog(std::process::id());
            ChildProcess::start(
                "a program that takes a processor",
                &mut within_words(before, &hog),
            )
        };
        let running = (0..count).map(one).collect::<Result<_>>()?;
        Ok(Hogs { _running: running })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hog_ends_with_its_owner() {
        let mut owner = Command::new("true").spawn().unwrap();
        owner.wait().unwrap();
        assert!(hog(owner.id()).status().unwrap().success());
    }
}
