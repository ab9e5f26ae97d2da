//! Statistics over repeats (mean with its interval, spread, two modes), and over time (steadiness); random draws.

#[cfg(test)]
mod coverage;
mod draws;
mod mean;
mod repeats;
mod sequence;
mod spread;
mod steadiness;
mod student;

pub use draws::RandomDraws;
pub use mean::{mean, median, weighted_mean};
pub use repeats::{TOGETHER_MIN, check_repeats, check_repeats_of_logs, trend};
pub use sequence::anytime_interval;
pub use spread::{FigureRatio, Interval, Spread};
pub use steadiness::{Better, Steadiness, SteadinessCheck, check, check_logs, warm_up_end};
pub(crate) use student::{t_95, t_factor};
