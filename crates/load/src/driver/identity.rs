//! The identity of a verified record that another client sends.
//!
//! The client chooses a record's partition after the record was made. Identities therefore name no partition, and count
//! the records of all of them.

use kgauge_verify::{Stamp, StampKey};

/// Writes the identity of a driven producer's records.
#[derive(Debug, Clone, Copy)]
pub(super) struct DrivenIdentity {
    key: StampKey,
    producer: u32,
}

impl DrivenIdentity {
    /// Of the producer with this number.
    pub(super) fn new(key: StampKey, producer: u32) -> Self {
        Self { key, producer }
    }

    /// Writes the identity of the flow's record `number`, the producer's `n`-th, over the start of its value.
    #[inline]
    pub(super) fn stamp(self, number: u64, n: u64, value: &mut [u8]) {
        let stamp = Stamp {
            producer: self.producer,
            partition: Stamp::ANY_PARTITION,
            sequence: n,
            number,
        };
        self.key.write(&stamp, value);
    }
}

#[cfg(test)]
mod tests {
    use kgauge_verify::StampReading;

    use super::*;

    #[test]
    fn an_identity_names_no_partition() {
        let key = StampKey::new(1);
        let identity = DrivenIdentity::new(key, 9);
        let mut value = [7; 48];
        identity.stamp(12, 4, &mut value);
        let stamp = Stamp {
            producer: 9,
            partition: Stamp::ANY_PARTITION,
            sequence: 4,
            number: 12,
        };
        assert_eq!(key.read(&value), StampReading::Own(stamp));
        assert_eq!(value[40..], [7; 8]);
    }
}
