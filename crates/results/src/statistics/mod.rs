//! Statistics over repeats: mean with its interval, spread, and whether there are two modes.

mod spread;
mod student;

pub use spread::{Interval, Spread};
pub use student::t_95;
