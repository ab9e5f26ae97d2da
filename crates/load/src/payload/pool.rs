//! The pool of bytes that values are cut from: unique, seeded, and cheap enough for the hot path.
//!
//! A pool of random bytes is made once, before the run. A producer's values are consecutive pieces of the
//! pool, with the record's index, mixed, written over their first bytes. So no two records are equal (as
//! far as their size can tell them apart), and nothing can be won by compressing them: random bytes have 8
//! bits of entropy a byte, and the pool begins anew only after a mebibyte, further than a batch reaches.
//! Walking through the pool, instead of jumping, lets the processor fetch what comes next: with jumps the
//! copy of a 100-byte value took 100 ns, most of them waiting for memory.

/// Bytes that a producer's values walk through before they come again, at least.
pub(super) const POOL_BYTES: usize = 1 << 20;

/// What repeats in compressible values comes again after so many bytes: near enough for the window
/// of every codec, and no longer than the longest copy that Snappy knows.
const CHUNK_BYTES: usize = 64;

/// Where values are taken from. Shared by all producers of a flow; never changes after it is made.
#[derive(Debug)]
pub(crate) struct PayloadPool {
    bytes: Vec<u8>,
    /// Start of values within the pool: its size, a power of two, less one.
    mask: usize,
    value_bytes: usize,
    seed: u64,
    letters: bool,
}

/// What a pool is made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PoolSetup {
    pub(crate) seed: u64,
    /// Size of a value, the mean if they differ.
    pub(crate) value_bytes: usize,
    /// Size of the largest.
    pub(crate) value_bytes_max: usize,
    /// Bytes before it begins again: a power of two.
    pub(crate) pool_bytes: usize,
    /// The part of the bytes that is random; the rest repeats.
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

    /// A pool as it is asked for.
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

    /// Bytes of the pool from where the producer's `n`-th value begins.
    #[inline]
    pub(super) fn piece(&self, n: u64, bytes: usize) -> &[u8] {
        let start = (n as usize).wrapping_mul(self.value_bytes) & self.mask;
        &self.bytes[start..start + bytes]
    }

    /// Bytes in each value.
    pub(crate) fn value_bytes(&self) -> usize {
        self.value_bytes
    }

    /// Writes the value of record `index` of the flow, the producer's `n`-th, over `to`, which is at most
    /// as long as the largest value.
    #[inline]
    pub(crate) fn fill(&self, index: u64, n: u64, to: &mut [u8]) {
        to.copy_from_slice(self.piece(n, to.len()));
        let mark = mix(self.seed ^ index);
        if self.letters {
            return write_letters(mark, index, to);
        }
        // Mixing is a bijection of 64 bits: eight bytes of it tell any two records apart.
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

/// Tells records apart in letters: fourteen of them hold any mark of 64 bits, fewer as much of the
/// record's index as they can.
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

/// Leaves the first bytes of each chunk random and makes the rest the same everywhere, so that in all
/// `random_part` of the bytes are random.
///
/// That is how text of machines looks: what changes stands between words that do not.
fn repeat(bytes: &mut [u8], seed: u64, random_part: f64) {
    let phrase: Vec<u8> = (0..CHUNK_BYTES as u64)
        .map(|at| b'a' + (mix(seed ^ !at) % 26) as u8)
        .collect();
    let random = CHUNK_BYTES as f64 * random_part.max(0.0);
    for (index, chunk) in bytes.chunks_mut(CHUNK_BYTES).enumerate() {
        // Whole bytes, whose sum over all chunks is right.
        let before = (index as f64 * random) as usize;
        let kept = (((index + 1) as f64 * random) as usize - before).min(chunk.len());
        let length = chunk.len();
        chunk[kept..].copy_from_slice(&phrase[kept..length]);
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
