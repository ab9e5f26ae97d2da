//! The CPU time of a process in nanoseconds.
//!
//! `/proc/pid/stat` counts it in ticks, usually of 10 ms; some loads use less than that in total. The process's CPU
//! clock (clock_getcpuclockid(3)) is exact and includes threads that ended, but does not split user mode and kernel.
//! The ticks determine the split.

use std::cell::Cell;

/// The CPU clock of one process.
#[derive(Debug)]
pub(crate) struct ProcessClock {
    #[cfg(target_os = "linux")]
    clock: Option<nix::time::ClockId>,
    /// The result of the last call of [`split`](Self::split).
    last: Cell<Split>,
}

/// CPU time in user mode and in the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
}

impl ProcessClock {
    /// The clock of the process of that number.
    pub(crate) fn of(pid: u32) -> Self {
        #[cfg(not(target_os = "linux"))]
        let _ = pid;
        Self {
            #[cfg(target_os = "linux")]
            clock: i32::try_from(pid)
                .ok()
                .map(nix::unistd::Pid::from_raw)
                .and_then(|pid| nix::time::clock_getcpuclockid(pid).ok()),
            last: Cell::default(),
        }
    }

    /// The CPU time so far, split by the ticks. Neither part ever decreases.
    pub(crate) fn split(&self, ticks: Split) -> Split {
        let total_ns = self.now_ns().unwrap_or(ticks.total_ns());
        let split = self.last.get().grown_to(total_ns, ticks);
        self.last.set(split);
        split
    }

    #[cfg(target_os = "linux")]
    fn now_ns(&self) -> Option<u64> {
        let time = nix::time::clock_gettime(self.clock?).ok()?;
        let seconds = u64::try_from(time.tv_sec()).ok()?;
        let ns = u64::try_from(time.tv_nsec()).ok()?;
        Some(seconds.saturating_mul(1_000_000_000).saturating_add(ns))
    }

    #[cfg(not(target_os = "linux"))]
    fn now_ns(&self) -> Option<u64> {
        None
    }
}

impl Split {
    fn total_ns(self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }

    /// A total, divided as other counters say as far as both parts can grow.
    fn grown_to(self, total_ns: u64, ticks: Split) -> Split {
        let total_ns = total_ns.max(self.total_ns());
        let ticks_ns = u128::from(ticks.user_ns) + u128::from(ticks.system_ns);
        // Before the first tick the split is unknown; processes mostly run in user mode.
        let user_ns = (u128::from(total_ns) * u128::from(ticks.user_ns))
            .checked_div(ticks_ns)
            .map_or(total_ns, |ns| u64::try_from(ns).unwrap_or(u64::MAX));
        let user_ns = user_ns.clamp(self.user_ns, total_ns - self.system_ns);
        Split {
            user_ns,
            system_ns: total_ns - user_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn split(user_ms: u64, system_ms: u64) -> Split {
        Split {
            user_ns: user_ms * MS,
            system_ns: system_ms * MS,
        }
    }

    #[test]
    fn a_total_is_divided_as_the_ticks_are_and_nothing_shrinks() {
        let none = Split::default();
        // 12 ms, of which the ticks counted 10 in the kernel.
        assert_eq!(none.grown_to(12 * MS, split(0, 10)), split(0, 12));
        assert_eq!(none.grown_to(36 * MS, split(20, 10)), split(24, 12));
        // No tick yet.
        assert_eq!(none.grown_to(3 * MS, none), split(3, 0));
        // An even split would reduce the user part, so the increase belongs to the kernel.
        assert_eq!(
            split(24, 12).grown_to(40 * MS, split(20, 20)),
            split(24, 16)
        );
        // The reverse.
        assert_eq!(split(4, 20).grown_to(30 * MS, split(20, 0)), split(10, 20));
        // If the clock fails, the ticks remain, which lag behind it.
        assert_eq!(
            split(24, 12).grown_to(30 * MS, split(20, 10)),
            split(24, 12)
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn it_is_exact_where_ticks_are_not() {
        let clock = ProcessClock::of(std::process::id());
        for _ in 0..100 {
            let before_ns = crate::cpu_clock::process_cpu_ns();
            let split = clock.split(Split::default());
            let after_ns = crate::cpu_clock::process_cpu_ns();
            assert!((before_ns..=after_ns).contains(&split.total_ns()));
        }
    }
}
