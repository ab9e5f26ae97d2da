//! Which load to measure next.

use super::ReadingKind;
use super::classify::{GoalWindow, LoadClass, Reading};
use super::loads::{CapacityBounds, Loads};

/// Widths and durations get finer in this many levels: the first takes one window per load and four times the width.
const LEVELS: u32 = 3;
/// One step beyond a bound is at most this factor.
const STEP_MAX: f64 = 4.0;
/// The search tries rates suggested by the closed loop and by overload this often, then continues without them.
const SUGGESTED_MAX: usize = 3;
/// A new rate that needs more windows than this gets one first: half of the new rates break, and loads run to
/// their end.
const AT_ONCE_MAX: usize = 2;

/// What a search goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchSettings {
    /// The rate at full speed, where the search begins.
    pub rate_first: f64,
    /// No load goes below.
    pub rate_min: f64,
    /// No load goes beyond: the generator's limit, or the user's.
    pub rate_max: f64,
    /// How close the bounds of a reading have to be, as a share of the upper one.
    pub width: f64,
    /// The length of a window, in seconds.
    pub window_s: f64,
    /// How long the loads at the bounds are measured, in seconds.
    pub duration_s: f64,
    /// How many more windows confirm each end of the strict bracket; 0: none.
    pub confirm_windows: usize,
    /// Whether the lower end is confirmed first: drawn by the caller.
    pub confirms_lower_first: bool,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchStep {
    /// Measure this many windows at a rate.
    Measure {
        /// Records per second.
        rate: f64,
        /// Windows.
        windows: usize,
        /// What they are to decide.
        reading: Reading,
        /// Why.
        purpose: LoadPurpose,
    },
    /// Both brackets are narrow enough, or the limits of the rate keep them from it.
    Done,
}

/// Why a load is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadPurpose {
    /// To find the neighbourhood of the answer.
    Bracket,
    /// To narrow the bracket of a reading.
    Narrow(ReadingKind),
    /// To make sure of an end of the bracket.
    Confirm,
}

/// A search in progress: its settings and the loads so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    settings: SearchSettings,
    loads: Loads,
    confirmed: Vec<f64>,
}

impl Search {
    /// A search without loads.
    pub fn new(settings: SearchSettings) -> Search {
        Search {
            settings,
            loads: Loads::default(),
            confirmed: Vec::new(),
        }
    }

    /// The loads so far.
    pub fn loads(&self) -> &Loads {
        &self.loads
    }

    /// A reading at the final duration.
    pub(crate) fn final_reading(&self, kind: ReadingKind) -> Reading {
        self.reading(kind, LEVELS - 1)
    }

    /// The result of a reading at the final duration.
    pub fn bounds(&self, kind: ReadingKind) -> CapacityBounds {
        self.loads.bounds(&self.final_reading(kind))
    }

    /// The strict bounds so far. Until a load has held for the final duration, the lower one is of the level with the
    /// longest measurements that has one.
    pub fn bounds_so_far(&self) -> CapacityBounds {
        let levels = (0..LEVELS).rev();
        let mut bounds = levels.map(|level| {
            let reading = self.reading(ReadingKind::Strict, level);
            self.loads.bounds(&reading)
        });
        let found = bounds.find(|bounds| bounds.lower.is_some());
        found.unwrap_or_else(|| self.bounds(ReadingKind::Strict))
    }

    /// Takes the windows of a step. Void windows must not be among them.
    pub fn record(&mut self, step: SearchStep, windows: &[GoalWindow], achieved: f64) {
        let SearchStep::Measure { rate, purpose, .. } = step else {
            return;
        };
        let is_confirmation = purpose == LoadPurpose::Confirm;
        self.replay(rate, is_confirmation, windows, achieved);
    }

    /// As [`Search::record`], of a recorded load.
    pub fn replay(
        &mut self,
        rate: f64,
        is_confirmation: bool,
        windows: &[GoalWindow],
        achieved: f64,
    ) {
        if is_confirmation && !windows.is_empty() {
            self.confirmed.push(rate);
        }
        self.loads.add(rate, windows, achieved);
    }

    /// What to do next. The strict bracket comes first: windows that confirm its ends decide most of the typical one.
    pub fn next_step(&self) -> SearchStep {
        if let Some(rate) = self.suggested_rate() {
            return self.measure(rate, ReadingKind::Strict, 0, LoadPurpose::Bracket);
        }
        self.narrowing(ReadingKind::Strict)
            .or_else(|| self.confirmation())
            .or_else(|| self.narrowing(ReadingKind::Typical))
            .unwrap_or(SearchStep::Done)
    }

    /// What narrows the bracket of a reading, level by level; `None` if it is narrow enough.
    fn narrowing(&self, kind: ReadingKind) -> Option<SearchStep> {
        (0..LEVELS).find_map(|level| {
            let rate = self.narrowing_rate(kind, level)?;
            Some(self.measure(rate, kind, level, LoadPurpose::Narrow(kind)))
        })
    }

    fn measure(
        &self,
        rate: f64,
        kind: ReadingKind,
        level: u32,
        purpose: LoadPurpose,
    ) -> SearchStep {
        let reading = self.reading(kind, level);
        let measured = self.loads.windows(rate);
        let missing = reading.windows_missing(measured, true).max(1);
        SearchStep::Measure {
            rate,
            windows: match measured.is_empty() && missing > AT_ONCE_MAX {
                true => 1,
                false => missing,
            },
            reading,
            purpose,
        }
    }

    /// A reading at a level: durations grow from one window to the whole in equal factors.
    fn reading(&self, kind: ReadingKind, level: u32) -> Reading {
        let SearchSettings {
            window_s,
            duration_s,
            ..
        } = self.settings;
        let growth = (duration_s / window_s).max(1.0);
        let part = f64::from(level) / f64::from(LEVELS - 1);
        let windows = growth.powf(part).round();
        Reading {
            exceed: kind.exceed(),
            window_s,
            duration_s: window_s * windows,
        }
    }

    fn width(&self, level: u32) -> f64 {
        let doublings = (LEVELS - 1 - level).cast_signed();
        (self.settings.width * 2f64.powi(doublings)).min(0.5)
    }

    /// The first loads: full speed, then what the target did when it got more than it can take.
    fn suggested_rate(&self) -> Option<f64> {
        let first = self.limited(self.settings.rate_first);
        let measured = self.loads.iter().count();
        let Some(lowest) = self.loads.iter().next() else {
            return Some(first);
        };
        let strict = self.reading(ReadingKind::Strict, 0);
        let is_broken = strict.classify(&lowest.windows) == LoadClass::Upper;
        let suggested = self.limited(lowest.achieved);
        let is_lower = suggested < lowest.rate * (1.0 - self.settings.width / 2.0);
        (measured < SUGGESTED_MAX && is_broken && is_lower).then_some(suggested)
    }

    /// The next rate for one reading at one level; `None` if its bracket is as narrow as the level asks for.
    fn narrowing_rate(&self, kind: ReadingKind, level: u32) -> Option<f64> {
        let reading = self.reading(kind, level);
        let bounds = self.loads.bounds(&reading);
        if bounds.is_within(self.width(level)) {
            return None;
        }
        let is_inside = |rate: &f64| {
            bounds.lower.is_none_or(|lower| *rate > lower)
                && bounds.upper.is_none_or(|upper| *rate < upper)
        };
        let mut undecided = self.loads.of_class(&reading, LoadClass::Undecided);
        undecided.retain(is_inside);
        match (bounds.lower, bounds.upper) {
            (Some(lower), Some(upper)) => {
                let middle = self.split(lower, upper, level);
                Some(nearest(&undecided, middle).unwrap_or(middle))
            }
            // What the level before took for the bound is measured longer first.
            (Some(lower), None) => {
                let above = undecided.first().copied();
                above.or_else(|| self.rate_above(lower, &reading, level))
            }
            (None, Some(upper)) => {
                let below = undecided.last().copied();
                below.or_else(|| self.rate_below(upper, &reading, level))
            }
            (None, None) => undecided.last().copied(),
        }
    }

    /// Where to cut a bracket: in the logarithm of the rate, so that the part below is a power of two of the width. No
    /// other cut needs fewer loads in the worst case.
    fn split(&self, lower: f64, upper: f64, level: u32) -> f64 {
        let width_ln = -(1.0 - self.width(level)).ln();
        let gap_ln = (upper / lower).ln();
        let halvings = (gap_ln / width_ln).log2().ceil().max(1.0);
        let below = width_ln * 2f64.powf(halvings - 1.0);
        let rate = self.limited(lower * below.exp());
        if rate > lower && rate < upper {
            rate
        } else {
            (lower * upper).sqrt()
        }
    }

    /// A rate beyond the highest that held; further beyond with each one that held.
    fn rate_above(&self, lower: f64, reading: &Reading, level: u32) -> Option<f64> {
        let lowers = self.loads.of_class(reading, LoadClass::Lower);
        let before = lowers.iter().rev().nth(1);
        let rate = self.limited(lower * self.step(before.map(|before| lower / before), level));
        (rate > lower).then_some(rate)
    }

    /// A rate below the lowest that broke the goals; further below with each one that broke them.
    fn rate_below(&self, upper: f64, reading: &Reading, level: u32) -> Option<f64> {
        let uppers = self.loads.of_class(reading, LoadClass::Upper);
        let before = uppers.get(1);
        let rate = self.limited(upper / self.step(before.map(|before| before / upper), level));
        (rate < upper).then_some(rate)
    }

    /// The factor of a step beyond a bound: the level's width, then the square of the step before.
    fn step(&self, before: Option<f64>, level: u32) -> f64 {
        let least = 1.0 / (1.0 - self.width(level));
        before.map_or(least, |factor| (factor * factor).clamp(least, STEP_MAX))
    }

    /// Within the limits, and rounded.
    fn limited(&self, rate: f64) -> f64 {
        let SearchSettings {
            rate_min, rate_max, ..
        } = self.settings;
        round_rate(rate).clamp(rate_min, rate_max.max(rate_min))
    }

    /// The end of the strict bracket that is still to be confirmed.
    fn confirmation(&self) -> Option<SearchStep> {
        let CapacityBounds { lower, upper } = self.bounds(ReadingKind::Strict);
        let ends = match self.settings.confirms_lower_first {
            true => [lower, upper],
            false => [upper, lower],
        };
        let windows = self.settings.confirm_windows;
        let mut ends = ends.into_iter().flatten();
        let rate = ends.find(|end| windows > 0 && !self.confirmed.contains(end))?;
        let measured = self.loads.windows(rate).len() + windows;
        // One broken window refutes the lower end. The upper end is broken already: how often shows what it is worth.
        let kind = match Some(rate) == lower {
            true => ReadingKind::Strict,
            false => ReadingKind::Typical,
        };
        Some(SearchStep::Measure {
            rate,
            windows,
            reading: Reading {
                duration_s: measured as f64 * self.settings.window_s,
                ..self.reading(kind, LEVELS - 1)
            },
            purpose: LoadPurpose::Confirm,
        })
    }
}

/// A rate with four digits: nobody offers 411,873.4 records per second.
pub fn round_rate(rate: f64) -> f64 {
    let rate = rate.max(f64::MIN_POSITIVE);
    let unit = 10f64.powf(rate.log10().floor() - 3.0);
    (rate / unit).round() * unit
}

fn nearest(rates: &[f64], to: f64) -> Option<f64> {
    let distance = |rate: &f64| (rate / to).ln().abs();
    let rates = rates.iter().copied();
    rates.min_by(|one, other| distance(one).total_cmp(&distance(other)))
}
