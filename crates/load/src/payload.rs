//! Record values: unique, seeded, and cheap enough for the hot path.
//!
//! A pool of random bytes is made once, before the run. A producer's values are consecutive pieces of the
//! pool, with the record's index, mixed, written over their first bytes. So no two records are equal (as
//! far as their size can tell them apart), and nothing can be won by compressing them: random bytes have 8
//! bits of entropy a byte, and the pool begins anew only after a mebibyte, further than a batch reaches.
//! Walking through the pool, instead of jumping, lets the processor fetch what comes next: with jumps the
//! copy of a 100-byte value took 100 ns, most of them waiting for memory.

/// Bytes that a producer's values walk through before they come again.
const POOL_BYTES: usize = 1 << 20;

/// Where values are taken from. Shared by all producers of a flow; never changes after it is made.
#[derive(Debug)]
pub(crate) struct PayloadPool {
    bytes: Vec<u8>,
    value_bytes: usize,
    seed: u64,
}

impl PayloadPool {
    /// A pool for values of `value_bytes`.
    pub(crate) fn new(seed: u64, value_bytes: usize) -> Self {
        let mut bytes = Vec::with_capacity(POOL_BYTES + value_bytes + 8);
        let mut state = seed;
        while bytes.len() < POOL_BYTES + value_bytes {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            bytes.extend_from_slice(&mix(state).to_le_bytes());
        }
        Self {
            bytes,
            value_bytes,
            seed,
        }
    }

    /// Bytes in each value.
    pub(crate) fn value_bytes(&self) -> usize {
        self.value_bytes
    }

    /// Writes the value of record `index` of the flow, the producer's `n`-th, over `to`, which must be
    /// [`Self::value_bytes`] long.
    #[inline]
    pub(crate) fn fill(&self, index: u64, n: u64, to: &mut [u8]) {
        let start = (n as usize).wrapping_mul(self.value_bytes) & (POOL_BYTES - 1);
        to.copy_from_slice(&self.bytes[start..start + to.len()]);
        let mark = mix(self.seed ^ index);
        // Mixing is a bijection of 64 bits: eight bytes of it tell any two records apart.
        if let Some(first) = to.first_chunk_mut::<8>() {
            *first = mark.to_le_bytes();
        } else {
            let marked = to.len();
            to.copy_from_slice(&index.to_le_bytes()[..marked]);
        }
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014): a bijection that scatters 64 bits.
#[inline]
pub(crate) fn mix(value: u64) -> u64 {
    let mut z = value;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn value(pool: &PayloadPool, index: u64) -> Vec<u8> {
        let mut to = vec![0; pool.value_bytes()];
        pool.fill(index, index / 3, &mut to);
        to
    }

    #[test]
    fn no_two_records_are_equal() {
        let pool = PayloadPool::new(7, 100);
        let seen: HashSet<Vec<u8>> = (0..20_000).map(|index| value(&pool, index)).collect();
        assert_eq!(seen.len(), 20_000);
    }

    #[test]
    fn small_records_are_told_apart_as_far_as_their_size_allows() {
        let pool = PayloadPool::new(7, 2);
        let seen: HashSet<Vec<u8>> = (0..65_536).map(|index| value(&pool, index)).collect();
        assert_eq!(seen.len(), 65_536);
    }

    #[test]
    fn one_seed_gives_the_same_records_and_another_seed_others() {
        let (one, same, other) = (
            PayloadPool::new(1, 64),
            PayloadPool::new(1, 64),
            PayloadPool::new(2, 64),
        );
        assert_eq!(value(&one, 5), value(&same, 5));
        assert_ne!(value(&one, 5), value(&other, 5));
    }

    #[test]
    fn an_empty_value_is_possible() {
        assert!(value(&PayloadPool::new(1, 0), 9).is_empty());
    }
}
