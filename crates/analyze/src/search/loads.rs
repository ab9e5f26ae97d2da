//! The loads that were measured, and the bounds that follow from them.

use schemars::JsonSchema;
use serde::Serialize;

use super::classify::{GoalWindow, LoadClass, Reading};

/// One rate and its windows.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Records per second that were offered.
    pub rate: f64,
    /// What its windows showed, in the order in which they were measured. Void windows are not among them.
    pub windows: Vec<GoalWindow>,
    /// Records per second that the target acked in the last of them.
    pub achieved: f64,
}

// The relevant lower and upper bound of RFC 9971.
/// Two loads: the goals hold at one and not at the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct CapacityBounds {
    /// The highest load below `upper` at which the goals hold, in records per second; null if there is none.
    pub lower: Option<f64>,
    /// The lowest load at which they do not; null if there is none.
    pub upper: Option<f64>,
}

impl CapacityBounds {
    /// Whether both bounds exist and are no further apart than this share of the upper one.
    pub(crate) fn is_within(&self, width: f64) -> bool {
        // Rates are rounded to four digits, so that a bracket of exactly the width may come out a little wider.
        const ROUNDING: f64 = 2e-4;
        match (self.lower, self.upper) {
            (Some(lower), Some(upper)) => 1.0 - lower / upper <= width + ROUNDING,
            (None, _) | (_, None) => false,
        }
    }

    /// Whether both bounds exist, and the rate is neither below nor above them.
    pub fn contains(&self, rate: f64) -> bool {
        self.lower.is_some_and(|lower| lower <= rate)
            && self.upper.is_some_and(|upper| rate <= upper)
    }
}

/// All loads of a search, by rising rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loads(Vec<Load>);

impl Loads {
    /// Adds windows at a rate.
    pub fn add(&mut self, rate: f64, windows: &[GoalWindow], achieved: f64) {
        match self.0.binary_search_by(|load| load.rate.total_cmp(&rate)) {
            Ok(index) => {
                let load = &mut self.0[index];
                load.windows.extend_from_slice(windows);
                load.achieved = achieved;
            }
            Err(index) => {
                let windows = windows.to_vec();
                let load = Load {
                    rate,
                    windows,
                    achieved,
                };
                self.0.insert(index, load);
            }
        }
    }

    /// The load at a rate.
    pub fn at(&self, rate: f64) -> Option<&Load> {
        self.0.iter().find(|load| load.rate == rate)
    }

    /// The windows at a rate; none if it was not measured.
    pub fn windows(&self, rate: f64) -> &[GoalWindow] {
        self.at(rate).map_or(&[], |load| &load.windows)
    }

    /// All of them, by rising rate.
    pub fn iter(&self) -> std::slice::Iter<'_, Load> {
        self.0.iter()
    }

    /// Rates of one class, rising.
    pub(super) fn of_class(&self, reading: &Reading, class: LoadClass) -> Vec<f64> {
        let of_class = |load: &&Load| reading.classify(&load.windows) == class;
        let loads = self.0.iter().filter(of_class);
        loads.map(|load| load.rate).collect()
    }

    /// The relevant bounds. A load that held above one that broke is ignored: the target is not better at a higher
    /// rate, it had a good moment.
    pub fn bounds(&self, reading: &Reading) -> CapacityBounds {
        let upper = self.of_class(reading, LoadClass::Upper).first().copied();
        let lowers = self.of_class(reading, LoadClass::Lower);
        let is_below = |rate: &f64| upper.is_none_or(|upper| *rate < upper);
        let lower = lowers.into_iter().rfind(is_below);
        CapacityBounds { lower, upper }
    }
}
