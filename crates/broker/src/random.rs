//! Seeded randomness: the same seed gives the same ids and choices.

/// A small generator (`SplitMix64`, Steele, Lea and Flood 2014). Good for spreading, not for
/// secrets.
#[derive(Debug, Clone)]
pub struct SmallRandom {
    state: u64,
}

impl SmallRandom {
    /// A generator whose whole sequence follows from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 to `bound` - 1; 0 when `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // Multiply-shift: the bias of at most bound / 2^64 does not matter for spreading.
        let wide = u128::from(self.next_u64()) * u128::from(bound);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// The bytes of a version 4 UUID (RFC 9562).
    pub fn uuid_bytes(&mut self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.next_u64().to_be_bytes());
        bytes[8..].copy_from_slice(&self.next_u64().to_be_bytes());
        bytes[6] = (bytes[6] & 0x0f) | 0x40;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::SmallRandom;

    #[test]
    fn the_first_numbers_of_seed_zero_are_those_of_the_reference_code() {
        let mut random = SmallRandom::new(0);
        assert_eq!(random.next_u64(), 0xE220_A839_7B1D_CDAF);
        assert_eq!(random.next_u64(), 0x6E78_9E6A_A1B9_65F4);
    }

    #[test]
    fn below_stays_below_and_reaches_every_value() {
        let mut random = SmallRandom::new(7);
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[usize::try_from(random.below(5)).unwrap()] = true;
        }
        assert_eq!(seen, [true; 5]);
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn a_uuid_carries_its_version_and_variant() {
        let bytes = SmallRandom::new(1).uuid_bytes();
        assert_eq!(bytes[6] >> 4, 4);
        assert_eq!(bytes[8] >> 6, 2);
    }
}
