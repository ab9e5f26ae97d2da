//! What happens to requests: delays, stalls, errors, closed connections, a limited rate.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::amounts::{ByteSize, Time, in_largest_unit};

/// What is wrong with requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestFault {
    /// They are served later.
    Delay(DelayPlan),
    /// They are held until this time has passed since the start of the fault, then served.
    Stall {
        /// How long.
        length_ns: u64,
    },
    /// They are answered with this error, by Kafka's name.
    Fail {
        /// Such as `NOT_LEADER_OR_FOLLOWER`.
        error: String,
    },
    /// Their connection is closed.
    Drop(DropPoint),
    /// Records pass no faster than this. Clients are not notified; their responses are late.
    Capacity(CapacityPlan),
}

/// When the connection of a request is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropPoint {
    /// Before the request is carried out.
    Before,
    /// When it was carried out, instead of an answer.
    After,
}

/// How long requests are delayed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DelayPlan {
    /// Always the same, in ns.
    Constant(u64),
    /// Between two times, each equally likely.
    Uniform {
        /// The minimum.
        low_ns: u64,
        /// The maximum.
        high_ns: u64,
    },
    /// Exponentially distributed.
    Exponential {
        /// The mean.
        mean_ns: u64,
    },
    /// (Parts in a million, delay), both rising, from 0 to 1,000,000; straight lines between.
    Quantiles(Vec<(u32, u64)>),
}

/// How many bytes or records pass per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapacityPlan {
    /// What is counted.
    pub unit: CapacityUnit,
    /// The amount per second; at least 1.
    pub per_second: u64,
    /// The amount that passes at once after idle time; `None`: the amount of 10 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<u64>,
    /// Each second has a rate drawn evenly between this many millionths below and above `per_second`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub noise_millionths: u32,
}

/// What a capacity counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityUnit {
    /// Bytes of record batches.
    Bytes,
    /// Records.
    Records,
}

impl RequestFault {
    /// A stall of this length.
    pub fn stall(length: Duration) -> RequestFault {
        let length_ns = nanos(length);
        RequestFault::Stall { length_ns }
    }

    /// A failure with Kafka's error of this name.
    pub fn fail(error: &str) -> RequestFault {
        let error = error.to_owned();
        RequestFault::Fail { error }
    }
}

impl From<Duration> for DelayPlan {
    fn from(length: Duration) -> DelayPlan {
        DelayPlan::Constant(nanos(length))
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(value: &u32) -> bool {
    *value == 0
}

fn nanos(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}

/// The parts of the whole in [`DelayPlan::Quantiles`].
const WHOLE: u32 = 1_000_000;

impl DelayPlan {
    /// Whether its numbers form a distribution.
    pub fn is_sound(&self) -> bool {
        match self {
            DelayPlan::Constant(_) | DelayPlan::Exponential { .. } => true,
            DelayPlan::Uniform { low_ns, high_ns } => low_ns <= high_ns,
            DelayPlan::Quantiles(points) => {
                let ends = points.first().map(|(part, _)| *part) == Some(0)
                    && points.last().map(|(part, _)| *part) == Some(WHOLE);
                ends && points.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1)
            }
        }
    }

    /// The delay in ns that a share of all requests (from 0 to below 1) does not exceed: the inverse of the
    /// distribution function.
    pub fn quantile_ns(&self, share: f64) -> u64 {
        let between = |low_ns: u64, high_ns: u64, share: f64| {
            low_ns + (high_ns.saturating_sub(low_ns) as f64 * share) as u64
        };
        match self {
            DelayPlan::Constant(ns) => *ns,
            DelayPlan::Uniform { low_ns, high_ns } => between(*low_ns, *high_ns, share),
            // -ln(1 - u), u in [0, 1): at most 36.8 means.
            DelayPlan::Exponential { mean_ns } => (*mean_ns as f64 * -(-share).ln_1p()) as u64,
            DelayPlan::Quantiles(points) => {
                let at = share * f64::from(WHOLE);
                let above = points.iter().position(|(part, _)| f64::from(*part) > at);
                let pair = above.and_then(|above| points.get(above.checked_sub(1)?..=above));
                let Some([(low, low_ns), (high, high_ns)]) = pair else {
                    return points.last().map_or(0, |(_, ns)| *ns);
                };
                let share = (at - f64::from(*low)) / f64::from(high - low);
                between(*low_ns, *high_ns, share)
            }
        }
    }
}

impl CapacityPlan {
    /// The default burst is the amount of 10 ms: a rate measured over a second exceeds the capacity by at most 1 %, and
    /// a single request, which a loaded node would not notice, is not held back.
    const BURSTS_PER_SECOND: u64 = 100;

    /// Bytes per second, with the default burst.
    pub fn bytes(per_second: u64) -> CapacityPlan {
        CapacityPlan {
            unit: CapacityUnit::Bytes,
            per_second,
            burst: None,
            noise_millionths: 0,
        }
    }

    /// Records per second, with the default burst.
    pub fn records(per_second: u64) -> CapacityPlan {
        CapacityPlan {
            unit: CapacityUnit::Records,
            ..CapacityPlan::bytes(per_second)
        }
    }

    /// The same with another burst. With 0 every request takes its time, even a single one.
    #[must_use]
    pub fn with_burst(self, burst: u64) -> CapacityPlan {
        let burst = Some(burst);
        CapacityPlan { burst, ..self }
    }

    /// The same with a rate that varies from second to second.
    #[must_use]
    pub fn with_noise(self, noise_millionths: u32) -> CapacityPlan {
        CapacityPlan {
            noise_millionths,
            ..self
        }
    }

    /// The rate of a second whose random number is `share`, from 0 to below 1; at least 1.
    pub fn rate_at(&self, share: f64) -> u64 {
        let noise = f64::from(self.noise_millionths) / f64::from(WHOLE);
        let rate = self.per_second as f64 * (1.0 + noise * (2.0 * share - 1.0));
        (rate.round() as u64).max(1)
    }

    /// The amount that passes at once after idle time.
    pub fn burst(&self) -> u64 {
        self.burst
            .unwrap_or(self.per_second / Self::BURSTS_PER_SECOND)
    }
}

impl fmt::Display for RequestFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestFault::Delay(delay) => write!(f, "delayed by {delay}"),
            RequestFault::Stall { length_ns } => write!(f, "stalled for {}", Time(*length_ns)),
            RequestFault::Fail { error } => write!(f, "fail with {error}"),
            RequestFault::Drop(DropPoint::Before) => write!(f, "dropped before they are served"),
            RequestFault::Drop(DropPoint::After) => write!(f, "dropped after they were served"),
            RequestFault::Capacity(capacity) => {
                match capacity.unit {
                    CapacityUnit::Bytes => {
                        write!(f, "capped at {}/s", decimal_bytes(capacity.per_second))?;
                    }
                    CapacityUnit::Records => write!(f, "capped at {}/s", capacity.per_second)?,
                }
                match (capacity.burst, capacity.unit) {
                    (None, _) => Ok(()),
                    (Some(burst), CapacityUnit::Bytes) => {
                        write!(f, ", bursts of {}", ByteSize(burst))
                    }
                    (Some(burst), CapacityUnit::Records) => write!(f, ", bursts of {burst}"),
                }?;
                match capacity.noise_millionths {
                    0 => Ok(()),
                    noise => {
                        let percent = f64::from(noise) / 1e4;
                        write!(f, ", ±{percent} % from second to second")
                    }
                }
            }
        }
    }
}

/// Rates are written with decimal units.
fn decimal_bytes(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match in_largest_unit(bytes, &units) {
        Some((count, unit)) => format!("{count} {unit}"),
        None => ByteSize(bytes).to_string(),
    }
}

impl fmt::Display for DelayPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DelayPlan::Constant(ns) => write!(f, "{}", Time(*ns)),
            DelayPlan::Uniform { low_ns, high_ns } => {
                write!(f, "{} to {} (uniform)", Time(*low_ns), Time(*high_ns))
            }
            DelayPlan::Exponential { mean_ns } => {
                write!(f, "{} on average (exponential)", Time(*mean_ns))
            }
            DelayPlan::Quantiles(points) => {
                write!(f, "quantiles")?;
                for (index, (part, ns)) in points.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    let percent = f64::from(*part) / 10_000.0;
                    write!(f, "{comma} p{percent} {}", Time(*ns))?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_that_is_no_distribution_is_unsound() {
        let reversed = DelayPlan::Uniform {
            low_ns: 2,
            high_ns: 1,
        };
        assert!(!reversed.is_sound());
        for points in [
            vec![],
            vec![(1, 1), (1_000_000, 1)],
            vec![(0, 1), (999_999, 1)],
            vec![(0, 2), (1_000_000, 1)],
            vec![(0, 1), (0, 1), (1_000_000, 1)],
        ] {
            let delay = DelayPlan::Quantiles(points);
            assert!(!delay.is_sound(), "{delay:?}");
        }
    }
}
