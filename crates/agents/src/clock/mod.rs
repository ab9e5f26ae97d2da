//! The offset between two monotonic clocks, with rigorous bounds. Pure: times in, intervals out.
//!
//! Cristian's exchange (Distributed Computing 3, 1989): the lead sends at `t0`, the agent receives at `t1` and answers
//! at `t2`, the lead receives at `t3`. Whatever the delays of the two ways are, the offset θ = agent - lead lies in
//! `[t2 - t3, t1 - t0]`. Intervals of many exchanges are widened by the drift since then and intersected, as in NTP's
//! intersection algorithm (RFC 5905, 11.2.1). If they have no common point, a clock has stepped.

mod drift;
mod exchange;
mod interval;
mod track;

pub use exchange::ClockExchange;
pub use interval::OffsetInterval;
pub use track::{ClockEstimate, ClockTrack};
