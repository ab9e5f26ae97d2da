//! Other programs that use the processors: all processes of the machine in the first and last sample of a repeat.
//!
//! Two samples take some milliseconds in total, outside the hold. Only names are recorded, because command lines may
//! contain secrets. In a container, processes outside it are not visible.

use std::collections::{BTreeMap, BTreeSet};

use kgauge_results::run::{OtherProgramsSample, ProgramUse};

use crate::process::ProcessStat;

/// The number of programs that are named.
const NAMED_MAX: usize = 5;
/// Programs that used less of one processor are not named.
const NAMED_PART: f64 = 0.01;
/// The parent of all kernel threads.
const KERNEL: u32 = 2;

/// The first sample, and the processes that take part in the measurement.
#[derive(Debug)]
pub(crate) struct Programs {
    own: u32,
    targets: BTreeSet<u32>,
    first: ProcessTable,
    first_ns: u64,
    tick_ns: u64,
}

/// All processes at one moment, by number.
type ProcessTable = BTreeMap<u32, Entry>;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    name: String,
    parent: u32,
    /// Its own, and that of children that ended.
    ticks: u64,
    start_ticks: u64,
}

/// The party to which a process belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// This process, and the watched processes of the target.
    Watched,
    /// A process that kgauge started.
    Started,
    Kernel,
    Other,
}

impl Programs {
    /// Takes the first sample.
    pub(crate) fn first(targets: impl Iterator<Item = u32>, at_ns: u64) -> Programs {
        Programs {
            own: std::process::id(),
            targets: targets.collect(),
            first: sample(),
            first_ns: at_ns,
            tick_ns: 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1),
        }
    }

    /// Takes the last sample; `None` if processes are not visible.
    pub(crate) fn last(&self, at_ns: u64) -> Option<OtherProgramsSample> {
        let now = sample();
        let span_ns = at_ns.saturating_sub(self.first_ns);
        (!now.is_empty() && span_ns > 0).then(|| self.between(&now, span_ns))
    }

    fn between(&self, now: &ProcessTable, span_ns: u64) -> OtherProgramsSample {
        let ended = self.ended(now);
        let mut sample = OtherProgramsSample {
            span_ns,
            ..OtherProgramsSample::default()
        };
        let mut by_name = BTreeMap::<&str, u64>::new();
        for (pid, entry) in now {
            let before = self.first.get(pid);
            let before = before.filter(|before| before.start_ticks == entry.start_ticks);
            // A parent inherits what its children had used before the first sample.
            let known = before.map_or(0, |before| before.ticks);
            let known = known.saturating_add(ended.get(pid).copied().unwrap_or(0));
            let ticks = entry.ticks.saturating_sub(known);
            let cpu_ns = ticks.saturating_mul(self.tick_ns);
            match self.owner(*pid, now) {
                Owner::Other => {
                    sample.others_ns = sample.others_ns.saturating_add(cpu_ns);
                    *by_name.entry(&entry.name).or_default() += cpu_ns;
                }
                Owner::Started => sample.started_ns = sample.started_ns.saturating_add(cpu_ns),
                Owner::Watched if self.targets.contains(pid) => {
                    sample.started_ns = sample.started_ns.saturating_add(cpu_ns);
                }
                Owner::Watched | Owner::Kernel => {}
            }
        }
        let worth = |cpu_ns: &u64| *cpu_ns as f64 >= NAMED_PART * span_ns as f64;
        let named = by_name.into_iter().filter(|(_, cpu_ns)| worth(cpu_ns));
        sample.programs = named
            .map(|(name, cpu_ns)| ProgramUse {
                name: name.to_owned(),
                cpu_ns,
            })
            .collect();
        sample
            .programs
            .sort_by_key(|program| std::cmp::Reverse(program.cpu_ns));
        sample.programs.truncate(NAMED_MAX);
        sample
    }

    /// CPU time before the first sample of processes that ended since, by parent.
    fn ended(&self, now: &ProcessTable) -> BTreeMap<u32, u64> {
        let mut ended = BTreeMap::new();
        for (pid, before) in &self.first {
            let is_there = now
                .get(pid)
                .is_some_and(|entry| entry.start_ticks == before.start_ticks);
            if !is_there {
                *ended.entry(before.parent).or_default() += before.ticks;
            }
        }
        ended
    }

    fn owner(&self, pid: u32, now: &ProcessTable) -> Owner {
        if pid == self.own || self.targets.contains(&pid) {
            return Owner::Watched;
        }
        let mut at = pid;
        // A chain of parents is at most as long as the number of processes.
        for _ in 0..now.len() {
            if at == KERNEL {
                return Owner::Kernel;
            }
            match now.get(&at) {
                Some(entry) if entry.parent == self.own => return Owner::Started,
                Some(entry) if entry.parent != 0 => at = entry.parent,
                _ => break,
            }
        }
        Owner::Other
    }
}

/// All visible processes; none without `/proc`.
fn sample() -> ProcessTable {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return ProcessTable::new();
    };
    let processes = entries.flatten().filter_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        // A process may end between the two calls.
        let text = std::fs::read(entry.path().join("stat")).ok()?;
        let text = String::from_utf8_lossy(&text);
        let stat = ProcessStat::parse(&text)?;
        let own_ticks = stat.user_ticks.saturating_add(stat.system_ticks);
        let entry = Entry {
            name: stat.name.to_owned(),
            parent: stat.parent,
            ticks: own_ticks.saturating_add(stat.children_ticks),
            start_ticks: stat.start_ticks,
        };
        Some((pid, entry))
    });
    processes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, parent: u32, ticks: u64, start_ticks: u64) -> Entry {
        Entry {
            name: name.to_owned(),
            parent,
            ticks,
            start_ticks,
        }
    }

    fn programs(first: &[(u32, Entry)]) -> Programs {
        Programs {
            own: 50,
            targets: [70].into(),
            first: first.iter().cloned().collect(),
            first_ns: 0,
            tick_ns: 10_000_000,
        }
    }

    #[test]
    fn other_programs_are_named_and_those_that_take_part_are_not() {
        let before = [
            (1, entry("init", 0, 10, 0)),
            (2, entry("kthreadd", 0, 10, 0)),
            (9, entry("kworker", 2, 10, 0)),
            (30, entry("rustc", 1, 100, 5)),
            (50, entry("kgauge", 1, 100, 6)),
            (60, entry("java", 50, 100, 7)),
            (70, entry("kgauge", 1, 100, 7)),
        ];
        let mut now: ProcessTable = before.iter().cloned().collect();
        let mut used = |pid: u32, ticks: u64| now.get_mut(&pid).unwrap().ticks += ticks;
        for (pid, ticks) in [(9, 900), (30, 300), (50, 900), (60, 40), (70, 50)] {
            used(pid, ticks);
        }
        // Started since: another process of that name, a restarted broker, one with little CPU time.
        now.insert(31, entry("rustc", 30, 50, 90));
        now.insert(61, entry("java", 50, 20, 91));
        now.insert(32, entry("cron", 1, 1, 91));
        let sample = programs(&before).between(&now, 4_000_000_000);
        assert_eq!(sample.others_ns, 3_510_000_000);
        assert_eq!(sample.started_ns, 1_100_000_000);
        let rustc = ProgramUse {
            name: "rustc".to_owned(),
            cpu_ns: 3_500_000_000,
        };
        assert_eq!(sample.programs, [rustc]);
    }

    #[test]
    fn what_a_child_used_before_is_not_its_parents_when_it_ends() {
        let before = [
            (20, entry("cargo", 1, 10, 1)),
            (21, entry("rustc", 20, 5_000, 2)),
        ];
        // The child ended after 100 more ticks, and another process got its number.
        let mut now = ProcessTable::new();
        now.insert(20, entry("cargo", 1, 10 + 5_100, 1));
        now.insert(21, entry("sh", 1, 7, 99));
        let sample = programs(&before).between(&now, 1_000_000_000);
        assert_eq!(sample.others_ns, 1_070_000_000);
        assert_eq!(sample.programs[0].name, "cargo");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_machine_shows_processes() {
        let programs = Programs::first(std::iter::empty(), 0);
        assert!(programs.first.contains_key(&std::process::id()));
        assert!(programs.last(1_000_000_000).is_some());
    }
}
