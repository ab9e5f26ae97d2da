//! The identity of a record, at the start of its value.

use kgauge_scenario::{IDENTITY_BYTES, mix};

/// Bytes of a stamp.
pub const STAMP_BYTES: usize = IDENTITY_BYTES as usize;

/// The first bytes of every stamp.
const MAGIC: [u8; 4] = *b"kgv1";

/// Who wrote a record, and which of the writer's records it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The producer, unique within a repeat.
    pub producer: u32,
    /// The partition that it was written to, or [`Stamp::ANY_PARTITION`].
    pub partition: u32,
    /// Its position among the producer's records of that partition, without gaps from 0; among all that the client was
    /// given, if that chooses partitions.
    pub sequence: u64,
    /// Its number in its flow, from which its contents follow.
    pub number: u64,
}

impl Stamp {
    /// Stands for the partition of a record whose client chooses it.
    pub const ANY_PARTITION: u32 = u32::MAX;
}

/// What a stamp's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StampReading {
    /// A record of this repeat.
    Own(Stamp),
    /// A record that kgauge wrote in another run or repeat.
    OtherRun,
    /// A stamp of this repeat whose check does not hold.
    Broken,
    /// Not written by kgauge with a stamp.
    Unstamped,
}

/// The key of a repeat: stamps of other repeats do not pass its check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StampKey(u64);

impl StampKey {
    /// The key that follows from the seed of a repeat, which no other repeat has.
    pub fn new(seed: u64) -> Self {
        Self(mix(seed ^ 0x7665_7269_6679_2121))
    }

    /// Names the repeat in stamps.
    fn tag(self) -> u32 {
        (mix(self.0) >> 32) as u32
    }

    /// The keyed check of a stamp: any change of a field changes it, but for one in 2^64.
    fn check(self, stamp: &Stamp) -> u64 {
        let place = u64::from(stamp.producer) << 32 | u64::from(stamp.partition);
        let first = mix(self.0 ^ place);
        mix(mix(first ^ stamp.sequence) ^ stamp.number.rotate_left(17))
    }

    /// Writes a stamp over the start of a value. A value that is too short stays as it is.
    #[inline]
    pub fn write(self, stamp: &Stamp, value: &mut [u8]) {
        let Some(to) = value.first_chunk_mut::<STAMP_BYTES>() else {
            return;
        };
        to[..4].copy_from_slice(&MAGIC);
        to[4..8].copy_from_slice(&self.tag().to_le_bytes());
        to[8..12].copy_from_slice(&stamp.producer.to_le_bytes());
        to[12..16].copy_from_slice(&stamp.partition.to_le_bytes());
        to[16..24].copy_from_slice(&stamp.sequence.to_le_bytes());
        to[24..32].copy_from_slice(&stamp.number.to_le_bytes());
        to[32..40].copy_from_slice(&self.check(stamp).to_le_bytes());
    }

    /// Reads the stamp at the start of a value.
    #[inline]
    pub fn read(self, value: &[u8]) -> StampReading {
        let Some(from) = value.first_chunk::<STAMP_BYTES>() else {
            return StampReading::Unstamped;
        };
        let (Some(tag), Some(producer), Some(partition)) =
            (word32(from, 4), word32(from, 8), word32(from, 12))
        else {
            return StampReading::Unstamped;
        };
        let (Some(sequence), Some(number), Some(check)) =
            (word64(from, 16), word64(from, 24), word64(from, 32))
        else {
            return StampReading::Unstamped;
        };
        if from[..4] != MAGIC {
            return StampReading::Unstamped;
        }
        if tag != self.tag() {
            return StampReading::OtherRun;
        }
        let stamp = Stamp {
            producer,
            partition,
            sequence,
            number,
        };
        match check == self.check(&stamp) {
            true => StampReading::Own(stamp),
            false => StampReading::Broken,
        }
    }
}

#[inline]
fn word32(from: &[u8; STAMP_BYTES], at: usize) -> Option<u32> {
    let bytes = from.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*bytes))
}

#[inline]
fn word64(from: &[u8; STAMP_BYTES], at: usize) -> Option<u64> {
    let bytes = from.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp {
        producer: 3,
        partition: 7,
        sequence: 11,
        number: 1 << 40,
    };

    #[test]
    fn a_stamp_is_read_as_it_was_written() {
        let key = StampKey::new(1);
        let mut value = [9; 64];
        key.write(&STAMP, &mut value);
        assert_eq!(key.read(&value), StampReading::Own(STAMP));
        assert_eq!(value[STAMP_BYTES..], [9; 24]);
        assert_eq!(StampKey::new(2).read(&value), StampReading::OtherRun);
    }

    #[test]
    fn any_changed_byte_is_found() {
        let key = StampKey::new(1);
        let mut value = [0; STAMP_BYTES];
        key.write(&STAMP, &mut value);
        for at in 0..STAMP_BYTES {
            let mut changed = value;
            changed[at] ^= 1;
            let expected = match at {
                0..4 => StampReading::Unstamped,
                4..8 => StampReading::OtherRun,
                _ => StampReading::Broken,
            };
            assert_eq!(key.read(&changed), expected, "byte {at}");
        }
    }

    #[test]
    fn a_short_value_has_no_stamp() {
        let key = StampKey::new(1);
        let mut short = [5; STAMP_BYTES - 1];
        key.write(&STAMP, &mut short);
        assert_eq!(short, [5; STAMP_BYTES - 1]);
        assert_eq!(key.read(&short), StampReading::Unstamped);
    }
}
