//! How long before a scheduled time a sleep must end, learned from how late sleeps end on this machine.
//!
//! A timer fires some microseconds late on bare metal, and 30 to 200 in a virtual machine, whose hypervisor must wake
//! the core first. The margin follows the lateness that one sleep in [`ONE_LATER_IN`] exceeds: it grows by a step if a
//! sleep ended later, and shrinks by that fraction of a step if not. The thread spins for the margin, so it is limited.

/// The initial value.
const START_NS: u64 = 30_000;
/// The minimum.
const NS_MIN: u64 = 5_000;
/// The maximum if every core has a load thread: longer spinning would take time from a broker on the same machine.
const CROWDED_NS_MAX: u64 = 30_000;
/// The maximum if there is a spare core.
const NS_MAX: u64 = 200_000;
/// The step by which it grows.
const STEP_NS: u64 = 4_096;
/// One sleep in this many may end later than the margin.
const ONE_LATER_IN: u64 = 64;
/// A sleep that ended this late was delayed by other programs: no margin helps against them.
const HELD_UP_NS: u64 = 500_000;

/// The margin of one thread.
#[derive(Debug)]
pub(super) struct Margin {
    ns: u64,
    ns_max: u64,
}

impl Margin {
    /// The margin of a thread; depends on whether there is a spare core.
    pub(super) fn new(has_free_core: bool) -> Self {
        let ns_max = if has_free_core {
            NS_MAX
        } else {
            CROWDED_NS_MAX
        };
        Self {
            ns: START_NS,
            ns_max,
        }
    }

    /// How long before a scheduled time to wake up.
    pub(super) fn ns(&self) -> u64 {
        self.ns
    }

    /// A sleep ended this long after its set time.
    pub(super) fn slept(&mut self, late_ns: u64) {
        if late_ns >= HELD_UP_NS {
            return;
        }
        if late_ns > self.ns {
            self.ns = (self.ns + STEP_NS).min(self.ns_max);
        } else {
            self.shrink();
        }
    }

    /// The time was too close for a sleep. Without this, a margin that leaves no time for sleeps would never learn that
    /// they have improved.
    pub(super) fn stayed_awake(&mut self) {
        self.shrink();
    }

    fn shrink(&mut self) {
        self.ns = self.ns.saturating_sub(STEP_NS / ONE_LATER_IN).max(NS_MIN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The margin after this many sleeps with alternating lateness.
    fn after(sleeps: usize, late_ns: &[u64], has_free_core: bool) -> u64 {
        let mut margin = Margin::new(has_free_core);
        for &late_ns in late_ns.iter().cycle().take(sleeps) {
            margin.slept(late_ns);
        }
        margin.ns()
    }

    #[test]
    fn it_follows_what_nearly_all_sleeps_keep_to() {
        // All end 90 us late: the margin is within a step of that.
        let steady = after(2_000, &[90_000], true);
        assert!(steady.abs_diff(90_000) <= STEP_NS, "{steady}");
        // One in 20 is 120 us late, which is more than one in 64: those count.
        let mut mixed = [40_000; 20];
        mixed[7] = 120_000;
        let mixed = after(20_000, &mixed, true);
        assert!(mixed.abs_diff(120_000) <= 2 * STEP_NS, "{mixed}");
        // One in 500 is ignored: between two of them the margin shrinks by 499 / 64 steps.
        let mut rare = [20_000; 500];
        rare[7] = 120_000;
        let rare = after(100_000, &rare, true);
        assert!(rare <= 20_000 + 2 * STEP_NS, "{rare}");
    }

    #[test]
    fn it_stays_within_its_bounds() {
        assert_eq!(after(1_000, &[400_000], true), NS_MAX);
        assert_eq!(after(1_000, &[400_000], false), CROWDED_NS_MAX);
        assert_eq!(after(1_000, &[0], true), NS_MIN);
        // Delays by other programs are not the timer's lateness.
        assert_eq!(after(1_000, &[3_000_000], true), START_NS);
    }

    #[test]
    fn it_shrinks_where_nothing_sleeps() {
        let mut margin = Margin::new(true);
        for _ in 0..1_000 {
            margin.stayed_awake();
        }
        assert_eq!(margin.ns(), NS_MIN);
    }
}
