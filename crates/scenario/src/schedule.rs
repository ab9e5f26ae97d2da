//! The schedule: when record n of a flow should be sent. A pure function; nobody waits here.
//!
//! ```text
//! constant   0    1    2    3    4    5    6    7      n * 1e9 / rate
//! Poisson      0 1      2   3 4       5 6         7    sum of exponential gaps
//! ramp       0           1      2    3   4   5  6  7 8  the inverse of the rate added up over time
//! stripe 1 of 3   |              |              |      every third record, from 1
//! ```

use serde::{Deserialize, Serialize};

use crate::curve::{GRAINS_PER_RECORD, ShapeCurve};
use crate::random::Random;
use crate::shape::{Arrivals, Shape, rate_millionths};

/// Nanoseconds a second times millionths: the gap between records is this divided by the rate.
const NS_MILLIONTHS: u64 = 1_000_000_000_000_000;

/// One producer's part of a flow: `index` of `count` takes records index, index + count, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stripe {
    /// From 0, below `count`.
    pub index: u32,
    /// At least 1.
    pub count: u32,
}

impl Stripe {
    /// The only stripe: the whole flow.
    pub const WHOLE: Stripe = Stripe { index: 0, count: 1 };

    /// How many of the flow's first `records` fall to this stripe. Over all stripes they add up.
    pub fn records_of(self, records: u64) -> u64 {
        let (index, count) = (u64::from(self.index), u64::from(self.count.max(1)));
        records / count + u64::from(index < records % count)
    }

    /// The flow-wide number of this stripe's record `n` (from 0).
    #[inline]
    pub fn record_number(self, n: u64) -> u64 {
        n.saturating_mul(u64::from(self.count))
            .saturating_add(u64::from(self.index))
    }
}

/// A cursor over the intended times of one stripe, in ns since the flow's start.
///
/// Times never decrease. The stripes of one flow interleave to exactly the whole flow's schedule.
#[derive(Clone, Debug)]
pub struct Schedule {
    course: RateCourse,
    /// Intended time of the next record.
    next_ns: u64,
}

#[derive(Clone, Debug)]
enum RateCourse {
    /// No schedule: every record is due at once.
    Max,
    Constant(Constant),
    Poisson(Poisson),
    Curve(Box<ShapedPace>),
}

/// A rate that changes: the inverse of its sum over time.
#[derive(Clone, Debug)]
struct ShapedPace {
    curve: ShapeCurve,
    stripe: Stripe,
    /// The flow-wide number of the cursor's record.
    number: u64,
    /// With Poisson arrivals: where the gaps come from, and how much of the sum the records up to
    /// the cursor's have used.
    random: Option<Random>,
    spent: u128,
}

impl ShapedPace {
    /// Advances by `count` records of the whole flow; returns when that record is due.
    fn skip(&mut self, count: u64) -> u64 {
        let number = self.number.saturating_add(count);
        self.spent = match self.random {
            None => u128::from(number) * GRAINS_PER_RECORD,
            Some(random) => (self.number..number).fold(self.spent, |spent, number| {
                // Below 37 * 10^15; a unit-rate Poisson process runs in the records' own time.
                spent + (random.exponential(number) * GRAINS_PER_RECORD as f64) as u128
            }),
        };
        self.number = number;
        self.curve.time_of(self.spent)
    }

    /// With Poisson arrivals the first record has a gap before it, too.
    fn first(&mut self) -> u64 {
        let gap = u64::from(self.random.is_some());
        self.skip(u64::from(self.stripe.index) + gap)
    }
}

/// What a schedule is made of.
#[derive(Clone, Copy, Debug)]
pub struct Pacing<'a> {
    /// The rate over time.
    pub shape: &'a Shape,
    /// How records come around it.
    pub arrivals: Arrivals,
    /// The time before a changing rate begins to change.
    pub warm_up_ns: u64,
}

impl<'a> Pacing<'a> {
    /// A shape from the start of its flow, with even arrivals.
    pub fn of(shape: &'a Shape) -> Pacing<'a> {
        Pacing {
            shape,
            arrivals: Arrivals::Even,
            warm_up_ns: 0,
        }
    }
}

/// Equal gaps, kept as quotient and remainder so that nothing drifts.
#[derive(Clone, Debug)]
struct Constant {
    rate_millionths: u64,
    stripe: Stripe,
    /// The stripe's gap is `step_ns + step_rest / rate_millionths` ns.
    step_ns: u64,
    step_rest: u64,
    /// What `next_ns` leaves out, in the same fraction.
    rest: u64,
}

/// Exponential gaps, summed as whole ns and 2^-32 ns.
#[derive(Clone, Debug)]
struct Poisson {
    random: Random,
    gap_ns_mean: f64,
    stripe: Stripe,
    /// The flow-wide number of the next record of this stripe.
    number: u64,
    /// What `next_ns` leaves out, in 2^-32 ns.
    rest: u64,
}

impl Schedule {
    /// The schedule of one stripe of a flow.
    ///
    /// Equal `pace` and `seed` give equal times on every machine. A rate outside
    /// [`crate::RATE_MIN`]..=[`crate::RATE_MAX`] is brought to the nearer end; the parser refuses it before.
    pub fn new(pace: Pacing<'_>, seed: u64, stripe: Stripe) -> Schedule {
        let stripe = Stripe {
            index: stripe.index,
            count: stripe.count.max(1),
        };
        let is_poisson = pace.arrivals == Arrivals::Poisson;
        match pace.shape {
            Shape::Constant { per_second } if !is_poisson => {
                Schedule::constant(*per_second, stripe)
            }
            Shape::Constant { per_second } | Shape::Poisson { per_second } => {
                Schedule::poisson(*per_second, seed, stripe)
            }
            shape => match ShapeCurve::of(shape, pace.warm_up_ns) {
                Some(curve) => {
                    let random = is_poisson.then(|| Random::new(seed));
                    Schedule::shaped(curve, random, stripe)
                }
                None => Schedule {
                    course: RateCourse::Max,
                    next_ns: 0,
                },
            },
        }
    }

    fn shaped(curve: ShapeCurve, random: Option<Random>, stripe: Stripe) -> Schedule {
        let mut shaped = Box::new(ShapedPace {
            curve,
            stripe,
            number: 0,
            random,
            spent: 0,
        });
        let next_ns = shaped.first();
        Schedule {
            course: RateCourse::Curve(shaped),
            next_ns,
        }
    }

    fn constant(per_second: f64, stripe: Stripe) -> Schedule {
        let rate_millionths = rate_millionths(per_second);
        // The step of a stripe: count * 1e15 / rate, as a quotient and a remainder.
        let step = u128::from(stripe.count) * u128::from(NS_MILLIONTHS);
        let mut constant = Constant {
            rate_millionths,
            stripe,
            step_ns: saturate(step / u128::from(rate_millionths)),
            step_rest: (step % u128::from(rate_millionths)) as u64,
            rest: 0,
        };
        let first = u128::from(stripe.index) * u128::from(NS_MILLIONTHS);
        constant.rest = (first % u128::from(rate_millionths)) as u64;
        let next_ns = saturate(first / u128::from(rate_millionths));
        Schedule {
            course: RateCourse::Constant(constant),
            next_ns,
        }
    }

    fn poisson(per_second: f64, seed: u64, stripe: Stripe) -> Schedule {
        let gap_ns_mean = NS_MILLIONTHS as f64 / rate_millionths(per_second) as f64;
        let number = 0;
        let random = Random::new(seed);
        let mut poisson = Poisson {
            random,
            gap_ns_mean,
            stripe,
            number,
            rest: 0,
        };
        let next_ns = poisson.skip(0, u64::from(stripe.index) + 1);
        Schedule {
            course: RateCourse::Poisson(poisson),
            next_ns,
        }
    }

    /// True when there is no schedule ([`Shape::Max`]): intended is whenever a record is sent.
    pub fn is_closed_loop(&self) -> bool {
        matches!(self.course, RateCourse::Max)
    }

    /// When the stripe's next record should be sent. Always 0 with [`Shape::Max`]; `u64::MAX`
    /// when there is no next one, because a rate has fallen to 0 for good or a trace is over.
    pub fn peek_ns(&self) -> u64 {
        self.next_ns
    }

    /// Goes on to the stripe's next record.
    pub fn advance(&mut self) {
        match &mut self.course {
            RateCourse::Max => {}
            RateCourse::Constant(constant) => {
                self.next_ns = self.next_ns.saturating_add(constant.step_ns);
                constant.rest += constant.step_rest;
                if constant.rest >= constant.rate_millionths {
                    constant.rest -= constant.rate_millionths;
                    self.next_ns = self.next_ns.saturating_add(1);
                }
            }
            RateCourse::Poisson(poisson) => {
                self.next_ns = poisson.skip(self.next_ns, u64::from(poisson.stripe.count));
            }
            RateCourse::Curve(shaped) => self.next_ns = shaped.skip(u64::from(shaped.stripe.count)),
        }
    }

    /// The intended time of the stripe's record `n`, wherever the cursor is.
    ///
    /// Costs the same for every `n` with even arrivals; with Poisson gaps it adds up all
    /// `n * count` of them, so it is for tests and drawings, not for the hot path.
    pub fn intended_ns(&self, n: u64) -> u64 {
        match &self.course {
            RateCourse::Max => 0,
            RateCourse::Constant(constant) => {
                let number = u128::from(constant.stripe.record_number(n));
                let ns = number * u128::from(NS_MILLIONTHS) / u128::from(constant.rate_millionths);
                saturate(ns)
            }
            RateCourse::Poisson(poisson) => {
                let mut fresh = Poisson {
                    number: 0,
                    rest: 0,
                    ..poisson.clone()
                };
                fresh.skip(0, poisson.stripe.record_number(n).saturating_add(1))
            }
            RateCourse::Curve(shaped) => {
                let mut fresh = ShapedPace {
                    number: 0,
                    spent: 0,
                    ..(**shaped).clone()
                };
                let gap = u64::from(fresh.random.is_some());
                fresh.skip(shaped.stripe.record_number(n).saturating_add(gap))
            }
        }
    }
}

impl Poisson {
    /// Adds the gaps of the next `count` records of the whole flow to `ns`.
    fn skip(&mut self, mut ns: u64, count: u64) -> u64 {
        const FRACTION: f64 = (1u64 << 32) as f64;
        for number in self.number..self.number.saturating_add(count) {
            let gap_ns = self.random.exponential(number) * self.gap_ns_mean;
            let whole_ns = gap_ns as u64;
            self.rest += ((gap_ns - whole_ns as f64) * FRACTION) as u64;
            ns = ns.saturating_add(whole_ns).saturating_add(self.rest >> 32);
            self.rest &= (1 << 32) - 1;
        }
        self.number = self.number.saturating_add(count);
        ns
    }
}

fn saturate(ns: u128) -> u64 {
    u64::try_from(ns).unwrap_or(u64::MAX)
}
