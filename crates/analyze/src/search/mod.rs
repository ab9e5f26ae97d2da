//! The search for the highest rate that keeps its goals: which load to measure next, and what the loads measured so far
//! say. Pure: rates and windows in, the next step out; the runner makes the load. `windows.rs` judges the windows.
//!
//! The search follows MLRsearch (RFC 9971): it classifies loads by whole windows, reads them in two ways at once
//! ([`ReadingKind`]), starts from what the target did at full speed, and narrows the bracket level by level, each with
//! longer measurements than the one before. `others.rs` has how other tools search.

mod band;
mod classify;
mod loads;
mod next;
mod others;
mod windows;

pub use band::typical_band;
pub use classify::{GoalWindow, LoadClass, Reading};
pub use loads::{CapacityBounds, Load, Loads};
pub use next::{LoadPurpose, Search, SearchSettings, SearchStep, round_rate};
pub use others::{Bisection, bisect, ramping_s};
pub use windows::WindowSums;

/// The two readings of the same windows. How far they are apart is the noise of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadingKind {
    /// Every window keeps the goals.
    Strict,
    /// At least half of the time keeps the goals.
    Typical,
}

impl ReadingKind {
    /// Both, the one with the lower bounds first.
    pub const ALL: [ReadingKind; 2] = [ReadingKind::Strict, ReadingKind::Typical];

    /// The share of the time in which the goals may be broken.
    pub fn exceed(self) -> f64 {
        match self {
            ReadingKind::Strict => 0.0,
            ReadingKind::Typical => 0.5,
        }
    }
}

#[cfg(test)]
mod tests;
