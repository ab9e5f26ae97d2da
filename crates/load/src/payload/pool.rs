//! The pool of bytes from which values are cut: unique, seeded, and cheap enough for the hot path.
//!
//! A pool of random bytes is made before the run. A producer's values are consecutive pieces of it, with a mix of the
//! record's index written over their first bytes. No two records are equal, as far as their size can distinguish them.
//! They are incompressible: random bytes have 8 bits of entropy each, and the pool repeats only after a mebibyte, which
//! is longer than a batch. Reading the pool sequentially lets the processor prefetch; with random positions, the copy
//! of a 100-byte value took 100 ns, mostly waiting for memory.

use kgauge_scenario::mix;

/// Minimum length before a producer's values repeat.
pub(super) const POOL_BYTES: usize = 1 << 20;

/// The period of the repeating part of compressible values: short enough for the window of every codec, and at most the
/// longest copy of Snappy.
const CHUNK_BYTES: usize = 64;

/// The source of values. Shared by all producers of a flow; immutable.
#[derive(Debug)]
pub(crate) struct PayloadPool {
    bytes: Vec<u8>,
    /// Mask for the start of values: the pool's size, a power of two, minus one.
    mask: usize,
    value_bytes: usize,
    seed: u64,
    letters: bool,
}

/// The parameters of a pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PoolSetup {
    pub(crate) seed: u64,
    /// Size of a value, the mean if they differ.
    pub(crate) value_bytes: usize,
    /// Size of the largest.
    pub(crate) value_bytes_max: usize,
    /// Bytes before it repeats: a power of two.
    pub(crate) pool_bytes: usize,
    /// The share of random bytes; the rest repeats.
    pub(crate) random_part: f64,
    /// Letters A to Z instead of bytes.
    pub(crate) letters: bool,
}

impl PayloadPool {
    /// A pool of random bytes for values of `value_bytes`.
    #[cfg(test)]
    pub(crate) fn new(seed: u64, value_bytes: usize) -> Self {
        Self::of(&PoolSetup {
            seed,
            value_bytes,
            value_bytes_max: value_bytes,
            pool_bytes: POOL_BYTES,
            random_part: 1.0,
            letters: false,
        })
    }

    /// A pool with these parameters.
    pub(crate) fn of(setup: &PoolSetup) -> Self {
        let length = setup.pool_bytes + setup.value_bytes_max;
        let mut bytes = Vec::with_capacity(length + 8);
        let mut state = setup.seed;
        while bytes.len() < length {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            bytes.extend_from_slice(&mix(state).to_le_bytes());
        }
        if setup.letters {
            bytes.iter_mut().for_each(|byte| *byte = letter(*byte));
        }
        if setup.random_part < 1.0 {
            repeat(&mut bytes, setup.seed, setup.random_part);
        }
        Self {
            bytes,
            mask: setup.pool_bytes - 1,
            value_bytes: setup.value_bytes,
            seed: setup.seed,
            letters: setup.letters,
        }
    }

    /// Bytes of the pool from the start of the producer's `n`-th value.
    #[inline]
    pub(super) fn piece(&self, n: u64, bytes: usize) -> &[u8] {
        let start = (n as usize).wrapping_mul(self.value_bytes) & self.mask;
        &self.bytes[start..start + bytes]
    }

    /// Bytes in each value.
    pub(crate) fn value_bytes(&self) -> usize {
        self.value_bytes
    }

    /// Writes the value of record `index` of the flow, the producer's `n`-th, over `to`, which is at most as long as
    /// the largest value.
    #[inline]
    pub(crate) fn fill(&self, index: u64, n: u64, to: &mut [u8]) {
        to.copy_from_slice(self.piece(n, to.len()));
        let mark = mix(self.seed ^ index);
        if self.letters {
            return write_letters(mark, index, to);
        }
        // The mix is a bijection of 64 bits: eight bytes of it distinguish any two records.
        if let Some(first) = to.first_chunk_mut::<8>() {
            *first = mark.to_le_bytes();
        } else {
            let marked = to.len();
            to.copy_from_slice(&index.to_le_bytes()[..marked]);
        }
    }
}

/// One of 26 letters for a random byte.
fn letter(byte: u8) -> u8 {
    b'A' + ((u16::from(byte) * 26) >> 8) as u8
}

/// Makes records distinct in letters: fourteen of them encode any mark of 64 bits; fewer encode as much of the record's
/// index as they can.
fn write_letters(mark: u64, index: u64, to: &mut [u8]) {
    const LETTERS: usize = 14;
    let (mut rest, count) = match to.len() {
        LETTERS.. => (mark, LETTERS),
        fewer => (index, fewer),
    };
    for byte in &mut to[..count] {
        *byte = b'A' + (rest % 26) as u8;
        rest /= 26;
    }
}

/// Leaves the first bytes of each chunk random and makes the rest the same everywhere, so that in total `random_part`
/// of the bytes are random.
///
/// Machine-generated text is similar: variable parts between constant words.
fn repeat(bytes: &mut [u8], seed: u64, random_part: f64) {
    let phrase: Vec<u8> = (0..CHUNK_BYTES as u64)
        .map(|at| b'a' + (mix(seed ^ !at) % 26) as u8)
        .collect();
    let random = CHUNK_BYTES as f64 * random_part.max(0.0);
    for (index, chunk) in bytes.chunks_mut(CHUNK_BYTES).enumerate() {
        // Whole bytes, with the correct sum over all chunks.
        let before = (index as f64 * random) as usize;
        let kept = (((index + 1) as f64 * random) as usize - before).min(chunk.len());
        let length = chunk.len();
        chunk[kept..].copy_from_slice(&phrase[kept..length]);
    }
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
