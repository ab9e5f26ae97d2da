//! Crate `analyze`: from a run folder to figures, findings and comparisons.
//!
//! **Goals.** Every figure has its spread, and no percentile is an average of percentiles. A
//! finding is a typed value with its numbers. The same folder gives the same values, to the last bit.
//!
//! **Non-goals.** No file is written and no sentence is made here: recorded files belong to `results`,
//! texts and number formats to `report`.
//!
//! **Where to start.** [`Summary::of`] summarises a run folder; [`Summary::answers`] answers its questions;
//! [`compare_sides`] compares several; [`Series`] is a trial over time; [`live`] is a repeat in progress.

pub mod answer;
pub mod checkup;
pub mod compare;
pub mod live;
pub mod search;
pub mod sequential;
pub mod series;
pub mod sizing;
pub mod statistics;
pub mod summary;
pub mod tuning;

pub use compare::{Comparison, RunToCompare, compare, compare_sides};
pub use series::Series;
pub use summary::Summary;
