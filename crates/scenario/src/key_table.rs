//! Which key a record has: a pure function of seed and record number.

use crate::numeric::{exp, ln, pow};
use crate::random::{Random, derive_seed};
use crate::record::{KeyChoice, KeyPlan};

/// Chooses keys by their numbers, 0 to `keys` - 1. Made before a run; reading it costs nanoseconds.
#[derive(Clone, Debug)]
pub struct KeyTable {
    keys: u64,
    random: Random,
    choice: Choice,
}

#[derive(Clone, Debug)]
enum Choice {
    Sequence,
    Uniform,
    Zipf(Box<Zipf>),
}

impl KeyTable {
    /// The table of a flow's seed.
    pub fn new(plan: &KeyPlan, seed: u64) -> KeyTable {
        let keys = plan.keys.or(KeyPlan::keys_max(plan.key_bytes));
        let keys = keys.unwrap_or(u64::MAX).max(1);
        KeyTable {
            keys,
            random: Random::new(derive_seed(seed, "keys")),
            choice: match plan.choice {
                KeyChoice::Sequence => Choice::Sequence,
                KeyChoice::Uniform => Choice::Uniform,
                KeyChoice::Zipf { exponent } => Choice::Zipf(Box::new(Zipf::new(keys, exponent))),
            },
        }
    }

    /// The key of the flow's record `number`.
    #[inline]
    pub fn key_of(&self, number: u64) -> u64 {
        match &self.choice {
            Choice::Sequence => number % self.keys,
            Choice::Uniform => below(self.random.bits(number), self.keys),
            Choice::Zipf(zipf) => zipf.draw(self.random, number),
        }
    }
}

/// 64 random bits as a number below `end`: the high half of a product.
fn below(bits: u64, end: u64) -> u64 {
    ((u128::from(bits) * u128::from(end)) >> 64) as u64
}

/// Zipf's distribution: the first keys by an alias table, the others, which are many and cold, by
/// the inverse of the integral of x^-exponent.
///
/// From 2^14 on the integral over a unit around k differs from k^-exponent by less than
/// exponent^2 / (24 k^2) of it: 4e-10 for an exponent of 1.
#[derive(Clone, Debug)]
struct Zipf {
    /// For each slot: below which coin the slot's own key is drawn, and which one otherwise.
    slots: Vec<(u32, u32)>,
    tail: Option<Tail>,
}

#[derive(Clone, Copy, Debug)]
struct Tail {
    exponent: f64,
    from: f64,
    to: f64,
    keys: u64,
}

const HEAD: u64 = 1 << 14;

impl Zipf {
    fn new(keys: u64, exponent: f64) -> Zipf {
        let head = keys.min(HEAD);
        let mut weights: Vec<f64> = (1..=head).map(|k| pow(k as f64, -exponent)).collect();
        let tail = (keys > head).then_some(Tail {
            exponent,
            from: head as f64 + 0.5,
            to: keys as f64 + 0.5,
            keys,
        });
        weights.extend(tail.map(|tail| tail.weight()));
        Zipf {
            slots: alias(&weights),
            tail,
        }
    }

    #[inline]
    fn draw(&self, random: Random, number: u64) -> u64 {
        let bits = random.bits(number);
        let slot = ((bits >> 32) * self.slots.len() as u64) >> 32;
        let (border, other) = self.slots[slot as usize];
        let key = if (bits as u32) < border {
            slot
        } else {
            u64::from(other)
        };
        match &self.tail {
            Some(tail) if key == HEAD => tail.draw(random.bits(!number)),
            _ => key,
        }
    }
}

impl Tail {
    /// 0 when the integral is a logarithm.
    fn power(&self) -> f64 {
        let power = 1.0 - self.exponent;
        if power.abs() < 1e-9 { 0.0 } else { power }
    }

    fn weight(&self) -> f64 {
        let power = self.power();
        if power == 0.0 {
            return ln(self.to / self.from);
        }
        (pow(self.to, power) - pow(self.from, power)) / power
    }

    fn draw(&self, bits: u64) -> u64 {
        let part = (bits >> 11) as f64 / (1_u64 << 53) as f64;
        let power = self.power();
        let at = if power == 0.0 {
            self.from * exp(part * ln(self.to / self.from))
        } else {
            let (from, to) = (pow(self.from, power), pow(self.to, power));
            pow(from + part * (to - from), 1.0 / power)
        };
        // Ranks count from 1, keys from 0.
        (at.round() as u64 - 1).clamp(HEAD, self.keys - 1)
    }
}

/// Walker's alias table, by Vose's method: each slot is as likely as the others.
fn alias(weights: &[f64]) -> Vec<(u32, u32)> {
    let all: f64 = weights.iter().sum();
    let count = weights.len();
    let mut parts: Vec<f64> = weights
        .iter()
        .map(|weight| weight * count as f64 / all)
        .collect();
    let mut slots: Vec<(u32, u32)> = (0..count as u32).map(|own| (u32::MAX, own)).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..count).partition(|&slot| parts[slot] < 1.0);
    while let (Some(&giver), Some(taker)) = (large.last(), small.pop()) {
        slots[taker] = ((parts[taker] * 4_294_967_296.0) as u32, giver as u32);
        parts[giver] -= 1.0 - parts[taker];
        if parts[giver] < 1.0 {
            large.pop();
            small.push(giver);
        }
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(keys: Option<u64>, choice: KeyChoice) -> KeyTable {
        let plan = KeyPlan {
            key_bytes: 16,
            keys,
            choice,
        };
        KeyTable::new(&plan, 7)
    }

    /// How often each of the first keys comes among `draws` records.
    fn counted(table: &KeyTable, draws: u64, keys: usize) -> Vec<f64> {
        let mut counts = vec![0.0; keys];
        for number in 0..draws {
            let key = table.key_of(number) as usize;
            if let Some(count) = counts.get_mut(key) {
                *count += 1.0;
            }
        }
        counts
    }

    #[test]
    fn a_sequence_counts_and_begins_again() {
        let table = table(Some(3), KeyChoice::Sequence);
        let keys: Vec<u64> = (0..7).map(|number| table.key_of(number)).collect();
        assert_eq!(keys, [0, 1, 2, 0, 1, 2, 0]);
        let unique = super::tests::table(None, KeyChoice::Sequence);
        assert_eq!(unique.key_of(1 << 50), 1 << 50);
    }

    #[test]
    fn uniform_keys_come_equally_often() {
        let counts = counted(&table(Some(10), KeyChoice::Uniform), 100_000, 10);
        // 10,000 each; 5 standard deviations are 5 * sqrt(100,000 * 0.1 * 0.9) = 474.
        assert!(
            counts.iter().all(|count| (count - 10_000.0).abs() < 474.0),
            "{counts:?}"
        );
    }

    #[test]
    fn zipf_keys_come_in_proportion_to_their_rank() {
        // With exponent 1 and 1,000 keys the k-th has 1 / (k * 7.48547) of all.
        let draws = 200_000;
        let table = table(Some(1_000), KeyChoice::Zipf { exponent: 1.0 });
        let counts = counted(&table, draws, 1_000);
        for rank in [1, 2, 3, 10, 100, 1_000] {
            let expected = draws as f64 / (rank as f64 * 7.485_470_860_550_345);
            let off = (counts[rank - 1] - expected).abs();
            assert!(
                off < 5.0 * expected.sqrt(),
                "rank {rank}: {off} off {expected}"
            );
        }
        assert_eq!(counts.iter().sum::<f64>(), draws as f64);
    }

    #[test]
    fn the_tail_of_a_great_many_keys_is_as_heavy_as_it_should_be() {
        // The generalised harmonic number of 10^6 with exponent 0.5 is 2 * 1000 + zeta(1/2)
        // + 1 / 2000 = 1998.54; that of 2^14 is 2 * 128 - 1.46035 + 1 / 256 = 254.544.
        let table = table(Some(1_000_000), KeyChoice::Zipf { exponent: 0.5 });
        let draws = 100_000_u64;
        let tail: Vec<u64> = (0..draws)
            .map(|number| table.key_of(number))
            .filter(|key| *key >= HEAD)
            .collect();
        let part = tail.len() as f64 / draws as f64;
        assert!((part - (1.0 - 254.544 / 1_998.54)).abs() < 0.006, "{part}");
        assert!(tail.iter().all(|key| *key < 1_000_000));
        // Half of the tail's weight lies below the square of the mean of the ends' roots:
        // ((128 + 1000) / 2)^2 = 318,096.
        let below = tail.iter().filter(|key| **key < 318_096).count() as f64;
        assert!((below / tail.len() as f64 - 0.5).abs() < 0.01);
    }

    #[test]
    fn one_seed_gives_the_same_keys() {
        let zipf = || table(Some(1 << 40), KeyChoice::Zipf { exponent: 0.99 });
        let (one, same) = (zipf(), zipf());
        assert!((0..10_000).all(|number| one.key_of(number) == same.key_of(number)));
    }
}
