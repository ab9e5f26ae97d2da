//! Counter-based randomness: a pure function of (seed, index), the same on every machine.

use crate::numeric::ln;

/// A random sequence that can be read at any index.
///
/// It is SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators",
/// OOPSLA 2014), whose state is a plain counter: element `n` costs the same as element 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random {
    seed: u64,
}

/// 2^64 divided by the golden ratio, made odd: the counter's step.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Random {
        Random { seed }
    }

    /// Element `index`: 64 random bits.
    pub fn bits(self, index: u64) -> u64 {
        mix(self
            .seed
            .wrapping_add(index.wrapping_add(1).wrapping_mul(STEP)))
    }

    /// Element `index` as an exponentially distributed number with mean 1, in (0, 36.8).
    ///
    /// It uses nothing but IEEE additions, multiplications and divisions, never the platform's
    /// `ln`: agents on different machines must agree on the schedule to the nanosecond.
    pub fn exponential(self, index: u64) -> f64 {
        // 53 bits, shifted by a half step: uniform in (0, 1), never 0 and never 1.
        const HALF_STEP: f64 = 1.0 / (1u64 << 54) as f64;
        let uniform = (self.bits(index) >> 11) as f64 * (2.0 * HALF_STEP) + HALF_STEP;
        -ln(uniform)
    }
}

/// A seed for one purpose, derived from a seed for many.
///
/// Different `labels` (a repeat's number, a flow's name) give unrelated seeds.
pub fn derive_seed(seed: u64, label: &str) -> u64 {
    // FNV-1a gathers the label; the mixer spreads it.
    let hash = label.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    mix(seed.wrapping_add(mix(hash.wrapping_add(STEP))))
}

/// SplitMix64's finaliser (Stafford's variant 13 of MurmurHash3's): a bijection that scatters 64 bits.
#[inline]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_splitmix64() {
        // The first outputs of SplitMix64 from state 0, as published with the algorithm.
        let random = Random::new(0);
        assert_eq!(random.bits(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.bits(1), 0x6e78_9e6a_a1b9_65f4);
        assert_eq!(random.bits(2), 0x06c4_5d18_8009_454f);
    }

    #[test]
    fn exponentials_have_mean_one_variance_one_and_the_right_tail() {
        let random = Random::new(42);
        let count = 1_000_000;
        let (mut sum, mut squares, mut beyond) = (0.0, 0.0, 0);
        for index in 0..count {
            let value = random.exponential(index);
            assert!(value > 0.0 && value < 36.8);
            sum += value;
            squares += value * value;
            beyond += u32::from(value > 3.0);
        }
        let mean = sum / count as f64;
        assert!((mean - 1.0).abs() < 0.005, "mean {mean}");
        assert!((squares / count as f64 - mean * mean - 1.0).abs() < 0.02);
        // P(X > 3) = e^-3 = 0.049787
        assert!((f64::from(beyond) / count as f64 - 0.049787).abs() < 0.001);
    }

    #[test]
    fn labels_give_unrelated_seeds() {
        let seeds = ["", "a", "b", "repeat 0", "repeat 1"].map(|label| derive_seed(1, label));
        for (i, a) in seeds.iter().enumerate() {
            for b in &seeds[i + 1..] {
                assert!((a ^ b).count_ones() > 10);
            }
        }
        assert_eq!(derive_seed(1, "a"), derive_seed(1, "a"));
        assert_ne!(derive_seed(1, "a"), derive_seed(2, "a"));
    }
}
