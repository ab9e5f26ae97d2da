//! Tuning: which settings to try, in which order to measure them, and what the measurements say. Pure: the runner
//! measures, and asks [`next_move`] after each measurement.
//!
//! 1. The settings in force are measured, and the bottleneck decides which settings of the [`table`] are tried.
//! 2. A screening ([`design`]) finds those that may help ([`screened`]).
//! 3. At most eight combinations of these [`race`] against the settings in force.
//! 4. The winner is measured again beside the settings in force, twice: only this proof makes a recommendation.
//!
//! Conditions that the load of the scenario does not show are judged at a second load, before and after the race.

mod budget;
mod candidates;
mod conditions;
pub mod design;
mod effects;
mod in_force;
mod procedure;
mod race;
pub mod table;

#[cfg(test)]
mod tests;

pub use budget::{REPEATS_MIN, fit_to_budget};
pub use candidates::{ChangedTrial, choose};
pub use conditions::of_winner;
pub(crate) use conditions::{condition_status, condition_values};
pub use effects::{ScreenedEffect, screened};
pub use in_force::InForce;
pub(crate) use procedure::{OTHER_BLOCKS, judge_proof};
pub use procedure::{Progress, TuneMove, next_move, to_resume};
pub use race::{CANDIDATES_MAX, RaceCandidate, RaceExit, RaceState, race, sign};
