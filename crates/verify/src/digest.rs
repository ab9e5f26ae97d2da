//! Digests of a replica's batches, so that replicas can be compared without keeping them.

use kgauge_scenario::mix;

/// Offsets of a digest.
const DIGEST_OFFSETS: u64 = 1 << 14;

/// What a batch adds to the sum of a consumer's span. Followers have the batch with the same one.
pub fn batch_mark(base_offset: u64, crc: u32) -> u64 {
    mix(mix(base_offset) ^ mix(u64::from(crc) << 32))
}

/// The batches of one replica of a partition: a sum for each range of offsets.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReplicaDigest {
    /// The range of the first sum.
    first: u64,
    sums: Vec<u64>,
}

impl ReplicaDigest {
    /// A digest of batches from an offset on.
    pub fn from(offset: u64) -> Self {
        Self {
            first: offset / DIGEST_OFFSETS,
            sums: Vec::new(),
        }
    }

    /// The replica has this batch.
    pub fn note(&mut self, base_offset: u64, crc: u32, leader_epoch: i32) {
        let Some(at) = (base_offset / DIGEST_OFFSETS).checked_sub(self.first) else {
            return;
        };
        let at = at as usize;
        if at >= self.sums.len() {
            self.sums.resize(at + 1, 0);
        }
        let epoch = u64::from(leader_epoch.unsigned_abs());
        let batch = mix(base_offset) ^ mix(u64::from(crc) << 32 | epoch);
        self.sums[at] = self.sums[at].wrapping_add(mix(batch));
    }

    /// The first offsets of ranges in which the two differ.
    pub fn differing<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = u64> {
        let ranges = self.sums.len().max(other.sums.len());
        let sum = |of: &Self, at: usize| of.sums.get(at).copied().unwrap_or(0);
        let differs = move |at: &usize| sum(self, *at) != sum(other, *at);
        let first = self.first;
        (0..ranges)
            .filter(differs)
            .map(move |at| (first + at as u64) * DIGEST_OFFSETS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(batches: &[(u64, u32, i32)]) -> ReplicaDigest {
        let mut digest = ReplicaDigest::from(DIGEST_OFFSETS + 5);
        for &(offset, crc, epoch) in batches {
            digest.note(offset, crc, epoch);
        }
        digest
    }

    #[test]
    fn another_crc_epoch_or_place_is_a_difference() {
        let base = DIGEST_OFFSETS * 2 + 7;
        let one = digest(&[(DIGEST_OFFSETS + 5, 1, 1), (base, 2, 1)]);
        let of = |batch| digest(&[(DIGEST_OFFSETS + 5, 1, 1), batch]);
        assert_eq!(one.differing(&of((base, 2, 1))).count(), 0);
        for other in [(base, 3, 1), (base, 2, 2), (base + 1, 2, 1)] {
            let other = of(other);
            let differing: Vec<u64> = one.differing(&other).collect();
            assert_eq!(differing, [DIGEST_OFFSETS * 2]);
        }
        let short = digest(&[(DIGEST_OFFSETS + 5, 1, 1)]);
        assert_eq!(short.differing(&one).count(), 1);
    }
}
