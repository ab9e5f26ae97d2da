//! The cumulative rate of a shape and its inverse: how many records are due by a moment, and when
//! the n-th is.
//!
//! Counted in grains, of which 10^15 are a record: a rate in millionths of a record a second times
//! nanoseconds. So levels (constant rates) are exact in integers. Ramps have a closed form, waves
//! a bracketed Newton iteration; both are off by less than a nanosecond in a day, and use nothing
//! but what IEEE 754 rounds alike on every machine.

use std::sync::Arc;

use crate::numeric::sin_pi;
use crate::shape::{RateStep, Shape, Trace, rate_millionths};

/// Grains that make a record.
pub(crate) const GRAINS_PER_RECORD: u128 = 1_000_000_000_000_000;

const SECOND_NS: u64 = 1_000_000_000;

/// A shape's course from the start of its flow.
#[derive(Clone, Debug)]
pub(crate) struct ShapeCurve {
    /// The rate of the warm-up, in millionths of a record a second, and its length.
    lead_rate: u64,
    lead_ns: u64,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    Levels(Levels),
    /// Levels that come again and again.
    Cycle {
        levels: Levels,
        every_ns: u64,
        every_grains: u128,
    },
    Ramp(Ramp),
    Wave(Wave),
    Times(Arc<[u64]>),
}

fn step(per_second: f64, length_ns: u64) -> RateStep {
    RateStep {
        per_second,
        length_ns,
    }
}

impl Shape {
    /// The records due before a moment of a flow that begins with this warm-up: exact with even
    /// arrivals, the mean with Poisson arrivals. 0 for full speed.
    pub fn records_before(&self, at_ns: u64, warm_up_ns: u64) -> f64 {
        match ShapeCurve::of(self, warm_up_ns) {
            Some(curve) => curve.grains_before(at_ns) as f64 / GRAINS_PER_RECORD as f64,
            None => 0.0,
        }
    }
}

impl ShapeCurve {
    /// `None` for full speed, which has no schedule.
    pub(crate) fn of(shape: &Shape, warm_up_ns: u64) -> Option<ShapeCurve> {
        let (lead_rate, body) = match shape {
            Shape::Max => return None,
            Shape::Constant { per_second } | Shape::Poisson { per_second } => {
                let rate = rate_millionths(*per_second);
                (rate, Body::Levels(Levels::forever(rate)))
            }
            Shape::Ramp {
                from_per_second,
                to_per_second,
                over_ns,
            } => {
                let ramp = Ramp {
                    from: millionths(*from_per_second),
                    to: millionths(*to_per_second),
                    over_ns: *over_ns,
                };
                (ramp.from, Body::Ramp(ramp))
            }
            Shape::Step { steps } => {
                let last = steps.last().map_or(0.0, |step| step.per_second);
                let levels = Levels::of(steps.iter().copied(), last);
                (levels.first_rate(), Body::Levels(levels))
            }
            Shape::Wave {
                per_second,
                amplitude_per_second,
                period_ns,
            } => {
                let mean = rate_millionths(*per_second);
                let swing = (amplitude_per_second / per_second).clamp(0.0, 1.0);
                let wave = Wave {
                    mean,
                    swing,
                    period_ns: (*period_ns).max(1),
                };
                (mean, Body::Wave(wave))
            }
            Shape::Burst {
                per_second,
                burst_per_second,
                every_ns,
                burst_ns,
            } => {
                let base = step(*per_second, every_ns.saturating_sub(*burst_ns));
                let burst = step(*burst_per_second, *burst_ns);
                let levels = Levels::of([base, burst].into_iter(), 0.0);
                let body = Body::Cycle {
                    every_ns: *every_ns,
                    every_grains: levels.end_grains(),
                    levels,
                };
                (millionths(*per_second), body)
            }
            Shape::Replay { trace, .. } => match trace {
                Trace::Times(times) => (0, Body::Times(Arc::clone(times))),
                Trace::Rates(rates) => {
                    let seconds = rates.iter().map(|&rate| step(rate, SECOND_NS));
                    let levels = Levels::of(seconds, 0.0);
                    (levels.first_rate(), Body::Levels(levels))
                }
            },
        };
        Some(ShapeCurve {
            lead_rate,
            lead_ns: warm_up_ns,
            body,
        })
    }

    fn lead_grains(&self) -> u128 {
        u128::from(self.lead_rate) * u128::from(self.lead_ns)
    }

    /// When this number of grains is due, in ns since the start of the flow; `u64::MAX` if never.
    pub(crate) fn time_of(&self, grains: u128) -> u64 {
        let lead_grains = self.lead_grains();
        if grains < lead_grains {
            // Only a rate above 0 makes grains.
            return saturate(grains / u128::from(self.lead_rate.max(1)));
        }
        self.lead_ns
            .saturating_add(self.body.time_of(grains - lead_grains))
    }

    /// How many grains are there at a moment.
    pub(crate) fn grains_before(&self, at_ns: u64) -> u128 {
        let lead_ns = at_ns.min(self.lead_ns);
        let lead = u128::from(self.lead_rate) * u128::from(lead_ns);
        lead + self.body.grains_before(at_ns - lead_ns)
    }
}

impl Body {
    fn time_of(&self, grains: u128) -> u64 {
        match self {
            Body::Levels(levels) => levels.time_of(grains),
            Body::Cycle {
                levels,
                every_ns,
                every_grains,
            } => {
                if *every_grains == 0 {
                    return u64::MAX;
                }
                let (turns, rest) = (grains / every_grains, grains % every_grains);
                let start = saturate(turns.saturating_mul(u128::from(*every_ns)));
                start.saturating_add(levels.time_of(rest))
            }
            Body::Ramp(ramp) => ramp.time_of(grains),
            Body::Wave(wave) => wave.time_of(grains),
            Body::Times(times) => usize::try_from(grains / GRAINS_PER_RECORD)
                .ok()
                .and_then(|index| times.get(index).copied())
                .unwrap_or(u64::MAX),
        }
    }

    fn grains_before(&self, at_ns: u64) -> u128 {
        match self {
            Body::Levels(levels) => levels.grains_before(at_ns),
            Body::Cycle {
                levels,
                every_ns,
                every_grains,
            } => {
                let turns = u128::from(at_ns / every_ns.max(&1));
                turns * every_grains + levels.grains_before(at_ns % every_ns.max(&1))
            }
            Body::Ramp(ramp) => ramp.grains_before(at_ns),
            Body::Wave(wave) => wave.grains_before(at_ns),
            Body::Times(times) => {
                times.partition_point(|time| *time < at_ns) as u128 * GRAINS_PER_RECORD
            }
        }
    }
}

/// Constant rates, one after the other.
#[derive(Clone, Debug)]
struct Levels(Vec<Level>);

#[derive(Clone, Copy, Debug)]
struct Level {
    start_ns: u64,
    start_grains: u128,
    /// Millionths of a record a second.
    rate: u64,
}

impl Levels {
    fn forever(rate: u64) -> Levels {
        Levels(vec![Level {
            start_ns: 0,
            start_grains: 0,
            rate,
        }])
    }

    /// The steps, and then `last` for ever.
    fn of(steps: impl Iterator<Item = RateStep>, last: f64) -> Levels {
        let mut levels = Vec::new();
        let (mut start_ns, mut start_grains) = (0_u64, 0);
        for step in steps {
            let rate = millionths(step.per_second);
            levels.push(Level {
                start_ns,
                start_grains,
                rate,
            });
            start_ns = start_ns.saturating_add(step.length_ns);
            start_grains += u128::from(rate) * u128::from(step.length_ns);
        }
        levels.push(Level {
            start_ns,
            start_grains,
            rate: millionths(last),
        });
        Levels(levels)
    }

    fn first_rate(&self) -> u64 {
        self.0.first().map_or(0, |level| level.rate)
    }

    fn end_grains(&self) -> u128 {
        self.0.last().map_or(0, |level| level.start_grains)
    }

    /// What is due exactly when a pause begins comes after it: in a pause nothing is sent.
    fn time_of(&self, grains: u128) -> u64 {
        let above = self.0.partition_point(|level| level.start_grains <= grains);
        match above.checked_sub(1).map(|index| self.0[index]) {
            Some(level) if level.rate > 0 => {
                let within = (grains - level.start_grains) / u128::from(level.rate);
                level.start_ns.saturating_add(saturate(within))
            }
            _ => u64::MAX,
        }
    }

    fn grains_before(&self, at_ns: u64) -> u128 {
        let above = self.0.partition_point(|level| level.start_ns <= at_ns);
        above.checked_sub(1).map_or(0, |index| {
            let level = self.0[index];
            level.start_grains + u128::from(level.rate) * u128::from(at_ns - level.start_ns)
        })
    }
}

/// From one rate to another, in millionths of a record a second.
#[derive(Clone, Copy, Debug)]
struct Ramp {
    from: u64,
    to: u64,
    over_ns: u64,
}

impl Ramp {
    fn end_grains(&self) -> u128 {
        (u128::from(self.from) + u128::from(self.to)) * u128::from(self.over_ns) / 2
    }

    /// The root of `from * t + (to - from) / (2 over) * t^2 = grains`, in the form that does not
    /// subtract two nearly equal numbers.
    fn time_of(&self, grains: u128) -> u64 {
        let end_grains = self.end_grains();
        if grains >= end_grains {
            let beyond = (grains - end_grains).checked_div(u128::from(self.to));
            return beyond.map_or(u64::MAX, |ns| self.over_ns.saturating_add(saturate(ns)));
        }
        if grains == 0 {
            return 0;
        }
        let from = self.from as f64;
        let slope = (self.to as f64 - from) / self.over_ns as f64;
        let grains = grains as f64;
        let root = (from * from + 2.0 * slope * grains).max(0.0).sqrt();
        ((2.0 * grains / (from + root)).round() as u64).min(self.over_ns)
    }

    fn grains_before(&self, at_ns: u64) -> u128 {
        if at_ns >= self.over_ns {
            return self.end_grains() + u128::from(self.to) * u128::from(at_ns - self.over_ns);
        }
        let (at, over) = (at_ns as f64, self.over_ns as f64);
        let slope = (self.to as f64 - self.from as f64) / over;
        (self.from as f64 * at + slope * at * at / 2.0).max(0.0) as u128
    }
}

/// A sine around a mean. Over a period the sine adds up to nothing.
#[derive(Clone, Copy, Debug)]
struct Wave {
    /// Millionths of a record a second.
    mean: u64,
    /// Amplitude by mean, 0 to 1.
    swing: f64,
    period_ns: u64,
}

impl Wave {
    fn period_grains(&self) -> u128 {
        u128::from(self.mean) * u128::from(self.period_ns)
    }

    /// The part of a period's records that is due in a part of the period: the integral of
    /// `1 + swing * sin(2 pi x)`, which is `x + swing / pi * sin(pi x)^2`.
    fn done(&self, part: f64) -> f64 {
        let sine = sin_pi(part);
        part + self.swing / std::f64::consts::PI * sine * sine
    }

    /// The inverse of [`Wave::done`]: Newton's steps, halving where one would leave the bracket.
    fn part_of(&self, target: f64) -> f64 {
        const STEPS_MAX: u32 = 100;
        let (mut low, mut high, mut part) = (0.0_f64, 1.0_f64, target);
        for _ in 0..STEPS_MAX {
            let error = self.done(part) - target;
            if error == 0.0 {
                break;
            }
            if error > 0.0 {
                high = part;
            } else {
                low = part;
            }
            // sin(2 pi x) = 2 sin(pi x) cos(pi x); cos(pi x) = sin(pi (1/2 - x)).
            let cosine = match part <= 0.5 {
                true => sin_pi(0.5 - part),
                false => -sin_pi(part - 0.5),
            };
            let slope = 1.0 + 2.0 * self.swing * sin_pi(part) * cosine;
            let newton = part - error / slope;
            let next = if newton > low && newton < high {
                newton
            } else {
                low + (high - low) / 2.0
            };
            if next == part {
                break;
            }
            part = next;
        }
        part
    }

    fn time_of(&self, grains: u128) -> u64 {
        let period = self.period_grains();
        let (turns, rest) = (grains / period, grains % period);
        let start = saturate(turns.saturating_mul(u128::from(self.period_ns)));
        let part = self.part_of(rest as f64 / period as f64);
        start.saturating_add((part * self.period_ns as f64).round() as u64)
    }

    fn grains_before(&self, at_ns: u64) -> u128 {
        let turns = u128::from(at_ns / self.period_ns);
        let part = (at_ns % self.period_ns) as f64 / self.period_ns as f64;
        let within = self.done(part) * self.period_grains() as f64;
        turns * self.period_grains() + within as u128
    }
}

/// As [`rate_millionths`], but a rate of 0 stays 0.
fn millionths(per_second: f64) -> u64 {
    match per_second > 0.0 {
        true => rate_millionths(per_second),
        false => 0,
    }
}

fn saturate(ns: u128) -> u64 {
    u64::try_from(ns).unwrap_or(u64::MAX)
}
