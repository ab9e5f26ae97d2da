//! Tuning: which settings to try, in which order to measure them, and what the measurements say. Pure: the runner
//! measures, and asks [`next_move`] after each measurement.
//!
//! 1. The settings in force are measured, and the bottleneck decides which settings of the [`table`] are tried.
//! 2. A screening ([`design`]) finds those that may help ([`screened`]).
//! 3. At most eight combinations of these [`race`] against the settings in force.
//! 4. The winner is measured again beside the settings in force, twice: only this proof makes a recommendation.

mod candidates;
pub mod design;
mod effects;
mod procedure;
mod race;
pub mod table;

#[cfg(test)]
mod tests;

pub use candidates::{InForce, choose, fit_to_budget};
pub use effects::{ScreenedEffect, screened};
pub use procedure::{Progress, TuneMove, next_move, proof_gains};
pub use race::{CANDIDATES_MAX, RaceCandidate, RaceExit, RaceState, kept, race, sign};
