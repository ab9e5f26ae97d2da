//! Shapes as planned: a produce flow's rate over time, and what one of them asks for in all.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The slowest rate that can be asked for, records per second: 1 in 1,000 s.
pub const RATE_MIN: f64 = 0.001;
/// The fastest rate that can be asked for, records per second: one a nanosecond.
pub const RATE_MAX: f64 = 1e9;

/// Rates are kept in millionths of a record a second, so that gaps are exact fractions.
const MILLIONTHS: f64 = 1e6;
/// A produce flow's rate over time.
///
/// The time of all but the first three begins with the hold; before it, in the warm-up, the flow
/// has the rate with which its shape begins (a replay of times: none).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Shape {
    /// As fast as the producers' buffers take records: a closed loop, without a schedule.
    Max,
    /// Equal gaps.
    Constant {
        /// Records a second of the whole flow, as in all shapes.
        per_second: f64,
    },
    /// Independent, exponentially distributed gaps: a Poisson process.
    Poisson {
        /// The mean.
        per_second: f64,
    },
    /// From one rate to another in a straight line, then on at that rate.
    Ramp {
        /// At the start.
        from_per_second: f64,
        /// At the end.
        to_per_second: f64,
        /// How long it takes.
        over_ns: u64,
    },
    /// One rate after the other; the last one holds on.
    Step {
        /// At least one.
        steps: Vec<RateStep>,
    },
    /// A sine around a mean, which it begins with, rising.
    Wave {
        /// The mean.
        per_second: f64,
        /// By how much it rises and falls; at most the mean.
        amplitude_per_second: f64,
        /// From crest to crest.
        period_ns: u64,
    },
    /// A rate, and at the end of each period a higher one.
    Burst {
        /// Between bursts.
        per_second: f64,
        /// In a burst.
        burst_per_second: f64,
        /// From the end of one burst to the end of the next.
        every_ns: u64,
        /// How long a burst lasts; less than `every_ns`.
        burst_ns: u64,
    },
    /// A recording. The flow ends with it.
    Replay {
        /// The file that it was read from, as written.
        file: String,
        /// Its contents.
        trace: Trace,
    },
}

/// A rate and how long it holds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// Records a second; may be 0.
    pub per_second: f64,
    /// How long.
    pub length_ns: u64,
}

/// How records come around the rate of their shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Each as soon as the rate, added up over time, has earned it.
    #[default]
    Even,
    /// As a Poisson process with that rate.
    Poisson,
}

impl Arrivals {
    /// True for the value that plans leave out.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it so.
    pub(crate) fn is_even(&self) -> bool {
        *self == Arrivals::Even
    }
}

/// A recorded trace. In a plan it is one text, so that it stays readable and small.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TraceText", into = "TraceText")]
pub enum Trace {
    /// When each record was sent, in ns; never falling.
    Times(Arc<[u64]>),
    /// Records in each second.
    Rates(Arc<[f64]>),
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum TraceText {
    /// Gaps between records in ns, the first from the start.
    GapsNs(String),
    PerSecond(String),
}

impl From<Trace> for TraceText {
    fn from(trace: Trace) -> TraceText {
        match trace {
            Trace::Times(times) => {
                let before = std::iter::once(0).chain(times.iter().copied());
                let gaps = times.iter().zip(before).map(|(time, before)| time - before);
                TraceText::GapsNs(joined(gaps))
            }
            Trace::Rates(rates) => TraceText::PerSecond(joined(rates.iter())),
        }
    }
}

fn joined(numbers: impl Iterator<Item = impl ToString>) -> String {
    let words: Vec<String> = numbers.map(|number| number.to_string()).collect();
    words.join(" ")
}

impl TryFrom<TraceText> for Trace {
    type Error = String;

    fn try_from(text: TraceText) -> Result<Trace, String> {
        let fault = |word: &str| format!("a trace does not hold numbers like `{word}`");
        match text {
            TraceText::GapsNs(text) => {
                let mut at_ns = 0_u64;
                let times = text.split_whitespace().map(|word| {
                    let gap_ns: u64 = word.parse().map_err(|_| fault(word))?;
                    at_ns = at_ns.checked_add(gap_ns).ok_or_else(|| fault(word))?;
                    Ok(at_ns)
                });
                Ok(Trace::Times(times.collect::<Result<_, String>>()?))
            }
            TraceText::PerSecond(text) => {
                let rates = text.split_whitespace().map(|word| {
                    let rate: f64 = word.parse().map_err(|_| fault(word))?;
                    let is_good = rate == 0.0 || Shape::is_rate(rate);
                    is_good.then_some(rate).ok_or_else(|| fault(word))
                });
                Ok(Trace::Rates(rates.collect::<Result<_, String>>()?))
            }
        }
    }
}

impl Shape {
    /// Whether a schedule can keep a rate.
    pub(crate) fn is_rate(per_second: f64) -> bool {
        (RATE_MIN..=RATE_MAX).contains(&per_second)
    }

    /// The highest rate that it asks for; `None` for full speed. A trace of times counts by its
    /// fullest second.
    pub fn per_second_max(&self) -> Option<f64> {
        Some(match self {
            Shape::Max => return None,
            Shape::Constant { per_second } | Shape::Poisson { per_second } => *per_second,
            Shape::Ramp {
                from_per_second,
                to_per_second,
                ..
            } => from_per_second.max(*to_per_second),
            Shape::Step { steps } => steps.iter().map(|step| step.per_second).fold(0.0, f64::max),
            Shape::Wave {
                per_second,
                amplitude_per_second,
                ..
            } => per_second + amplitude_per_second,
            Shape::Burst {
                per_second,
                burst_per_second,
                ..
            } => per_second.max(*burst_per_second),
            Shape::Replay { trace, .. } => trace.per_second_max(),
        })
    }

    /// Why a plan with it could not be run.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let good = Shape::is_rate;
        let good_or_none = |rate: f64| rate == 0.0 || good(rate);
        let sound = match self {
            Shape::Max => true,
            Shape::Constant { per_second } | Shape::Poisson { per_second } => good(*per_second),
            Shape::Ramp {
                from_per_second,
                to_per_second,
                over_ns,
            } => {
                good_or_none(*from_per_second)
                    && good_or_none(*to_per_second)
                    && from_per_second + to_per_second > 0.0
                    && *over_ns > 0
            }
            Shape::Step { steps } => {
                let each = |step: &RateStep| good_or_none(step.per_second) && step.length_ns > 0;
                steps.iter().all(each) && steps.iter().any(|step| step.per_second > 0.0)
            }
            Shape::Wave {
                per_second,
                amplitude_per_second,
                period_ns,
            } => {
                let swings = good_or_none(*amplitude_per_second);
                good(*per_second) && swings && amplitude_per_second <= per_second && *period_ns > 0
            }
            Shape::Burst {
                per_second,
                burst_per_second,
                every_ns,
                burst_ns,
            } => {
                let fits = 0 < *burst_ns && burst_ns < every_ns;
                good_or_none(*per_second) && good(*burst_per_second) && fits
            }
            Shape::Replay { trace, .. } => !trace.is_empty(),
        };
        (!sound).then_some("an impossible rate")
    }
}

pub(crate) fn rate_millionths(per_second: f64) -> u64 {
    // NaN stays NaN through clamp and becomes 0 by the cast; nothing may divide by that.
    ((per_second.clamp(RATE_MIN, RATE_MAX) * MILLIONTHS).round() as u64).max(1)
}

impl Trace {
    /// How many records it asks for.
    pub fn records(&self) -> u64 {
        match self {
            Trace::Times(times) => times.len() as u64,
            // The record that the last second would complete is still within it.
            Trace::Rates(rates) => rates.iter().sum::<f64>().ceil() as u64,
        }
    }

    fn is_empty(&self) -> bool {
        self.records() == 0
    }

    fn per_second_max(&self) -> f64 {
        match self {
            Trace::Times(times) => {
                const SECOND_NS: u64 = 1_000_000_000;
                let (mut most, mut first) = (0, 0);
                for (index, at_ns) in times.iter().enumerate() {
                    while at_ns - times[first] >= SECOND_NS {
                        first += 1;
                    }
                    most = most.max(index + 1 - first);
                }
                most as f64
            }
            Trace::Rates(rates) => rates.iter().copied().fold(0.0, f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_in_a_plan_reads_back_as_it_was() {
        let times = Trace::Times([0, 5, 5, 1_000_000_007].into());
        let text = serde_json::to_string(&times).unwrap();
        assert_eq!(text, r#"{"gaps-ns":"0 5 0 1000000002"}"#);
        assert_eq!(serde_json::from_str::<Trace>(&text).unwrap(), times);
        let rates = Trace::Rates([0.0, 0.1, 250.5].into());
        let text = serde_json::to_string(&rates).unwrap();
        assert_eq!(text, r#"{"per-second":"0 0.1 250.5"}"#);
        assert_eq!(serde_json::from_str::<Trace>(&text).unwrap(), rates);
        for bad in [
            r#"{"gaps-ns":"1 -2"}"#,
            r#"{"per-second":"NaN"}"#,
            r#"{"gaps-ns":"18446744073709551615 1"}"#,
        ] {
            assert!(serde_json::from_str::<Trace>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_fullest_second_of_a_trace_may_begin_anywhere() {
        // Three of them lie within a second around the border between the first two.
        let ms = |ms: u64| ms * 1_000_000;
        let times = Trace::Times([ms(0), ms(900), ms(1_000), ms(1_899), ms(3_000)].into());
        assert_eq!(times.per_second_max(), 3.0);
        assert_eq!((times.records(), times.is_empty()), (5, false));
    }
}
