//! Due records: a schedule, evaluated some records ahead.

use kgauge_scenario::Schedule;

/// Records that are evaluated together: they share one reading of the clock.
pub(super) const AHEAD: usize = 64;

/// A schedule, with the times of the next few records.
#[derive(Debug)]
pub(crate) struct ScheduleCursor {
    schedule: Schedule,
    ahead: [u64; AHEAD],
    /// The times from `first` to `end` are available.
    first: usize,
    end: usize,
}

impl ScheduleCursor {
    pub(super) fn new(schedule: Schedule) -> Self {
        Self {
            schedule,
            ahead: [0; AHEAD],
            first: 0,
            end: 0,
        }
    }

    /// When the next record is intended; `u64::MAX` if there is none.
    #[inline]
    pub(super) fn peek_ns(&self) -> u64 {
        match self.ahead[self.first..self.end].first() {
            Some(&intended_ns) => intended_ns,
            None => self.schedule.peek_ns(),
        }
    }

    /// The times of the next records that are intended before `end_ns`, in order: at least one if there is any, at most
    /// [`AHEAD`].
    #[inline]
    pub(super) fn before(&mut self, end_ns: u64) -> &[u64] {
        if self.first == self.end {
            (self.first, self.end) = (0, 0);
            while self.end < AHEAD && self.schedule.peek_ns() < end_ns {
                self.ahead[self.end] = self.schedule.peek_ns();
                self.end += 1;
                self.schedule.advance();
            }
        }
        let at_hand = &self.ahead[self.first..self.end];
        let due = match at_hand.last() {
            Some(&last_ns) if last_ns >= end_ns => at_hand.partition_point(|&at| at < end_ns),
            _ => at_hand.len(),
        };
        &at_hand[..due]
    }

    /// Advances by this many records, at most those that [`ScheduleCursor::before`] returned.
    #[inline]
    pub(super) fn advance(&mut self, records: usize) {
        match self.end - self.first {
            0 if records > 0 => self.schedule.advance(),
            at_hand => self.first += records.min(at_hand),
        }
    }
}

#[cfg(test)]
mod tests {
    use kgauge_scenario::{Pacing, Shape, Stripe};

    use super::*;

    /// One record per microsecond.
    fn due() -> ScheduleCursor {
        let shape = Shape::Constant {
            per_second: 1_000_000.0,
        };
        ScheduleCursor::new(Schedule::new(Pacing::of(&shape), 1, Stripe::WHOLE))
    }

    #[test]
    fn records_come_in_order_however_they_are_taken() {
        let mut due = due();
        let mut taken = Vec::new();
        for (end_ns, count) in [
            (3_500, 2),
            (3_500, 9),
            (200_000, 40),
            (150_000, 200),
            (200_000, 1),
        ] {
            let some: Vec<u64> = due.before(end_ns).iter().copied().take(count).collect();
            due.advance(some.len());
            taken.extend(some);
        }
        let expected: Vec<u64> = (0..taken.len() as u64).map(|n| n * 1_000).collect();
        assert_eq!(taken, expected);
        assert_eq!(due.peek_ns(), taken.len() as u64 * 1_000);
        due.advance(1);
        assert_eq!(due.peek_ns(), taken.len() as u64 * 1_000 + 1_000);
    }

    #[test]
    fn what_is_not_due_is_not_given() {
        let mut due = due();
        assert_eq!(due.before(0), [0; 0]);
        assert_eq!(due.before(1), [0]);
        due.advance(1);
        assert_eq!(due.before(1), [0; 0]);
    }
}
