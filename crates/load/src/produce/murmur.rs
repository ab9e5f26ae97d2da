//! Kafka's key hash: 32-bit MurmurHash2 with the seed and the byte order of `Utils.murmur2`.

use kgauge_scenario::{Partitioner, ProducerSettings};

/// Whether a record's key determines its partition.
pub(super) fn follows_keys(settings: &ProducerSettings) -> bool {
    settings.partitioner == Partitioner::Sticky && !settings.partitioner_ignores_keys
}

/// The partition of a key: the hash without its sign, modulo the number of partitions
/// (`BuiltInPartitioner.partitionForKey`).
#[inline]
pub fn partition_for_key(key: &[u8], partitions: u32) -> u32 {
    (murmur2(key) & 0x7fff_ffff) % partitions.max(1)
}

#[inline]
fn murmur2(data: &[u8]) -> u32 {
    const SEED: u32 = 0x9747_b28c;
    const M: u32 = 0x5bd1_e995;
    const R: u32 = 24;
    let mut hash = SEED ^ data.len() as u32;
    let (words, rest) = data.as_chunks::<4>();
    for word in words {
        let mut k = u32::from_le_bytes(*word).wrapping_mul(M);
        k ^= k >> R;
        hash = hash.wrapping_mul(M) ^ k.wrapping_mul(M);
    }
    if !rest.is_empty() {
        for (index, byte) in rest.iter().enumerate() {
            hash ^= u32::from(*byte) << (8 * index);
        }
        hash = hash.wrapping_mul(M);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    hash ^ (hash >> 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_kafkas_own_tests() {
        for (key, hash) in [
            ("21", -973_932_308),
            ("foobar", -790_332_482),
            ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            (
                "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8",
                -58_897_971,
            ),
            ("abc", 479_470_107),
        ] {
            assert_eq!(murmur2(key.as_bytes()) as i32, hash, "{key}");
        }
    }

    #[test]
    fn the_sign_is_cut_off_before_the_modulo() {
        // -973,932,308 without its sign bit is 1,173,551,340; modulo 100 that is 40.
        assert_eq!(partition_for_key(b"21", 100), 40);
        assert_eq!(partition_for_key(b"abc", 100), 7);
    }
}
