//! CPU time of child processes that have ended, as Linux adds it up for their parent.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// User and system time of all children that were waited for so far, with all their threads. Its
/// clock ticks every 10 ms.
pub(super) fn of_ended_children() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat");
    let stat = stat.context("CPU times of children are read from /proc, so only on Linux")?;
    let ticks = children_ticks(&stat).context("/proc/self/stat has changed its form")?;
    let per_second = rustix::param::clock_ticks_per_second();
    let nanos = u128::from(ticks) * 1_000_000_000 / u128::from(per_second.max(1));
    Ok(Duration::from_nanos(u64::try_from(nanos)?))
}

/// Fields 16 and 17, `cutime` and `cstime` (proc_pid_stat(5)); field 2, the program's name in
/// brackets, may hold anything.
fn children_ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(16 - 3);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(ticks()? + ticks()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_counted_from_behind_the_name() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 100 200 0 0 11 12 130 40 20 0 1 0 99 0 0";
        assert_eq!(children_ticks(stat), Some(170));
        assert_eq!(children_ticks("7 (a) S 1"), None);
    }
}
