//! What the windows of one load say about it: a lower bound, an upper bound, or undecided (RFC 9971, MLRsearch).
//!
//! The RFC calls a window a trial, a window that broke a goal a high-loss trial, and one that kept it a low-loss trial.

/// One reading of the goals: how many of a load's windows may break them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The share of the time, from 0 to below 1, in which the goals may be broken ("exceed ratio"). With 0, every
    /// window has to keep them.
    pub exceed: f64,
    /// A window of at least this length is a full one, in seconds ("final trial duration").
    pub window_s: f64,
    /// How long a load has to be measured, in seconds ("duration sum").
    pub duration_s: f64,
}

/// A span at one load that kept the goals or broke one of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GoalWindow {
    /// Its length in seconds.
    pub duration_s: f64,
    /// It kept all goals.
    pub kept: bool,
}

/// What a load is, by its windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadClass {
    /// The goals hold at this load, whatever the missing time would bring.
    Lower,
    /// The goals do not hold at this load, whatever the missing time would bring.
    Upper,
    /// More windows are needed.
    Undecided,
}

impl Reading {
    /// Classifies a load by its windows.
    ///
    /// This is the RFC's procedure: short windows that broke the goals count as far as short windows that kept them do
    /// not make up for them; short windows that kept the goals never speak for a load; time that is missing from
    /// `duration_s` is taken as the opposite of each claim.
    pub fn classify(&self, windows: &[GoalWindow]) -> LoadClass {
        let sums = DurationSums::of(windows, self.window_s);
        let balance = self.exceed / (1.0 - self.exceed);
        let short_excess = (sums.short_broken - sums.short_kept * balance).max(0.0);
        let broken = sums.full_broken + short_excess;
        let whole = (sums.full_kept + broken).max(self.duration_s);
        let allowed = whole * self.exceed;
        if broken > allowed {
            LoadClass::Upper
        } else if whole - sums.full_kept <= allowed {
            LoadClass::Lower
        } else {
            LoadClass::Undecided
        }
    }

    /// How many more full windows decide a load if all of them keep (`kept`) or break the goals; 0 if it is decided.
    pub fn windows_missing(&self, windows: &[GoalWindow], kept: bool) -> usize {
        let mut all = windows.to_vec();
        let next = GoalWindow {
            duration_s: self.window_s,
            kept,
        };
        // Windows that all end alike decide a load after the duration sum and the time spent so far at the latest.
        let most = (self.duration_s / self.window_s).ceil() as usize + 2 * windows.len() + 1;
        (0..most)
            .find(|_| {
                let decided = self.classify(&all) != LoadClass::Undecided;
                all.push(next);
                decided
            })
            .unwrap_or(most)
    }
}

/// Seconds of the four kinds of windows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct DurationSums {
    full_kept: f64,
    full_broken: f64,
    short_kept: f64,
    short_broken: f64,
}

impl DurationSums {
    fn of(windows: &[GoalWindow], full_s: f64) -> DurationSums {
        let mut sums = DurationSums::default();
        for window in windows {
            let sum = match (window.duration_s >= full_s, window.kept) {
                (true, true) => &mut sums.full_kept,
                (true, false) => &mut sums.full_broken,
                (false, true) => &mut sums.short_kept,
                (false, false) => &mut sums.short_broken,
            };
            *sum += window.duration_s;
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(kept: &[bool]) -> Vec<GoalWindow> {
        let window = |kept: &bool| GoalWindow {
            duration_s: 10.0,
            kept: *kept,
        };
        kept.iter().map(window).collect()
    }

    const STRICT: Reading = Reading {
        exceed: 0.0,
        window_s: 10.0,
        duration_s: 30.0,
    };
    const TYPICAL: Reading = Reading {
        exceed: 0.5,
        ..STRICT
    };

    #[test]
    fn a_strict_reading_takes_no_broken_window() {
        let cases: [(&[bool], LoadClass); 5] = [
            (&[], LoadClass::Undecided),
            (&[true, true], LoadClass::Undecided),
            (&[true, true, true], LoadClass::Lower),
            (&[false], LoadClass::Upper),
            (&[true, true, true, false], LoadClass::Upper),
        ];
        for (kept, class) in cases {
            assert_eq!(STRICT.classify(&windows(kept)), class, "{kept:?}");
        }
    }

    #[test]
    fn a_typical_reading_is_decided_by_the_larger_half() {
        let cases: [(&[bool], LoadClass); 5] = [
            (&[true], LoadClass::Undecided),
            (&[true, true], LoadClass::Lower),
            (&[false, false], LoadClass::Upper),
            (&[true, false], LoadClass::Undecided),
            // Four windows: two broken ones are not more than half.
            (&[true, false, false, true], LoadClass::Lower),
        ];
        for (kept, class) in cases {
            assert_eq!(TYPICAL.classify(&windows(kept)), class, "{kept:?}");
        }
    }

    #[test]
    fn short_windows_accuse_but_never_acquit() {
        let short = |kept| GoalWindow {
            duration_s: 1.0,
            kept,
        };
        assert_eq!(STRICT.classify(&[short(true); 60]), LoadClass::Undecided);
        assert_eq!(STRICT.classify(&[short(false)]), LoadClass::Upper);
        // As many kept as broken: nothing is left over.
        let balanced = [short(true), short(false)].repeat(30);
        assert_eq!(TYPICAL.classify(&balanced), LoadClass::Undecided);
        assert_eq!(TYPICAL.classify(&[short(false); 16]), LoadClass::Upper);
    }

    /// A trial of the RFC's example: its length in seconds, and the loss ratio in percent.
    type ExampleTrial = (f64, f64);

    /// A goal of the RFC's example: how many percent may be lost, and the reading.
    fn example_goal(loss: f64, exceed: f64, window_s: f64, duration_s: f64) -> (f64, Reading) {
        let reading = Reading {
            exceed,
            window_s,
            duration_s,
        };
        (loss, reading)
    }

    #[test]
    fn the_worked_example_of_the_rfc_has_its_classes() {
        use LoadClass::{Lower, Undecided, Upper};
        // RFC 9971, appendix C: RFC 2544, TST 009, "1s final", "20% exceed".
        let goals = [
            example_goal(0.0, 0.0, 60.0, 60.0),
            example_goal(0.0, 0.5, 60.0, 120.0),
            example_goal(0.5, 0.5, 1.0, 120.0),
            example_goal(0.5, 0.2, 60.0, 60.0),
        ];
        // What each point in time adds, and the classes after it. For the fourth goal, the tables of points 5 and 6
        // print "Lower Bound" below exceed ratios of 42.857 % and 27.273 %, which are above 20 %: the RFC's procedure
        // and the package MLRsearch give an upper bound.
        let points: [(usize, ExampleTrial, [LoadClass; 4]); 6] = [
            (59, (1.0, 0.0), [Undecided; 4]),
            (1, (1.0, 1.0), [Upper, Undecided, Undecided, Undecided]),
            (59, (1.0, 1.0), [Upper, Undecided, Undecided, Upper]),
            (1, (1.0, 0.0), [Upper, Undecided, Lower, Upper]),
            (1, (60.0, 0.1), [Upper, Undecided, Lower, Upper]),
            (1, (60.0, 0.0), [Upper, Lower, Lower, Upper]),
        ];
        let mut trials: Vec<ExampleTrial> = Vec::new();
        for (number, (count, trial, classes)) in points.into_iter().enumerate() {
            trials.extend(std::iter::repeat_n(trial, count));
            let found = goals.map(|(loss_max, reading)| {
                let window = |(duration_s, loss): &ExampleTrial| GoalWindow {
                    duration_s: *duration_s,
                    kept: *loss <= loss_max,
                };
                reading.classify(&trials.iter().map(window).collect::<Vec<_>>())
            });
            assert_eq!(found, classes, "point {}", number + 1);
        }
    }

    #[test]
    fn the_number_of_missing_windows_is_that_of_the_shortest_way() {
        assert_eq!(STRICT.windows_missing(&[], true), 3);
        assert_eq!(STRICT.windows_missing(&[], false), 1);
        assert_eq!(STRICT.windows_missing(&windows(&[true, true]), true), 1);
        assert_eq!(TYPICAL.windows_missing(&[], true), 2);
        assert_eq!(TYPICAL.windows_missing(&windows(&[true, false]), true), 1);
        assert_eq!(TYPICAL.windows_missing(&windows(&[true, true]), true), 0);
    }
}
