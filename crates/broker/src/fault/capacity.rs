//! A capacity: bytes or records per second, as a link or a disk of that speed would let through. Bytes are those of
//! record batches as they are sent, compressed or not, with their headers; records are counted by these headers.
//!
//! It is a token bucket kept as one number, the moment at which everything that was let in so far
//! has been paid for (Turner's leaky bucket as a virtual schedule, ATM Forum TM 4.0, GCRA). A late
//! timer delays one answer and changes nothing of the schedule, so the rate is exact over any time.
//!
//! A noisy capacity has another rate in each second since the fault began, drawn from the fault's seed.

use kgauge_faults::{CapacityPlan, CapacityUnit};
use kgauge_wire::api::ApiKey;
use kgauge_wire::codec::Reader;
use kgauge_wire::messages::Message;
use kgauge_wire::messages::produce::ProduceRequest;
use kgauge_wire::record_batch::{BatchHeader, HEADER_BYTES};

use crate::ids::NodeId;
use crate::random::SmallRandom;
use crate::storage::FileSlice;

const NS_PER_SECOND: u64 = 1_000_000_000;

/// An amount that takes more seconds than this passes at the mean rate from there on: it is no request.
const NOISY_SECONDS_MAX: u32 = 1_000;

/// How long an amount takes.
fn nanos_of(capacity: &CapacityPlan, amount: u64) -> u64 {
    let per_second = u128::from(capacity.per_second.max(1));
    let ns = u128::from(amount) * u128::from(NS_PER_SECOND) / per_second;
    u64::try_from(ns).unwrap_or(u64::MAX / 4)
}

/// The used part of a capacity.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Bucket {
    /// When everything that was let in has been paid for.
    paid_ns: u64,
    /// When it was set: a noisy capacity counts its seconds from here.
    set_ns: u64,
    /// Where the rates of a noisy capacity come from.
    noise_seed: u64,
}

impl Bucket {
    /// An unused one of a node, for a fault with this seed.
    pub(crate) fn new(set_ns: u64, seed: u64, node: NodeId) -> Self {
        let seed = seed.wrapping_add(u64::from(node.0.unsigned_abs()));
        Self {
            paid_ns: 0,
            set_ns,
            // Neighbouring nodes must not draw each other's numbers a second later.
            noise_seed: SmallRandom::new(seed).next_u64(),
        }
    }

    /// Lets `amount` in at a moment; returns when it has passed.
    pub(crate) fn take(&mut self, capacity: &CapacityPlan, at_ns: u64, amount: u64) -> u64 {
        if amount == 0 {
            return at_ns;
        }
        let begin_ns = self.paid_ns.max(at_ns);
        self.paid_ns = match capacity.noise_millionths {
            0 => begin_ns.saturating_add(nanos_of(capacity, amount)),
            _ => self.noisy_end_ns(capacity, begin_ns, amount),
        };
        let burst_ns = nanos_of(capacity, capacity.burst());
        self.paid_ns.saturating_sub(burst_ns).max(at_ns)
    }

    /// When an amount that begins at a moment has passed, each second at its own rate.
    fn noisy_end_ns(&self, capacity: &CapacityPlan, begin_ns: u64, amount: u64) -> u64 {
        let (mut at_ns, mut left) = (begin_ns, u128::from(amount) * u128::from(NS_PER_SECOND));
        for _ in 0..NOISY_SECONDS_MAX {
            let since_ns = at_ns.saturating_sub(self.set_ns);
            let rate = u128::from(self.rate(capacity, since_ns / NS_PER_SECOND));
            let second_ns = NS_PER_SECOND - since_ns % NS_PER_SECOND;
            let passes = rate * u128::from(second_ns);
            if left <= passes {
                let ns = u64::try_from(left / rate).unwrap_or(u64::MAX);
                return at_ns.saturating_add(ns);
            }
            left -= passes;
            at_ns = at_ns.saturating_add(second_ns);
        }
        let ns = left / u128::from(capacity.per_second.max(1));
        at_ns.saturating_add(u64::try_from(ns).unwrap_or(u64::MAX / 4))
    }

    /// The rate of a second.
    fn rate(&self, capacity: &CapacityPlan, second: u64) -> u64 {
        let bits = SmallRandom::new(self.noise_seed.wrapping_add(second)).next_u64();
        // 53 bits are what a float holds: from 0 to below 1.
        capacity.rate_at((bits >> 11) as f64 / (1u64 << 53) as f64)
    }
}

/// How much a request brings: that of `Produce`. What a `Fetch` takes is known when it is answered.
pub(crate) fn amount_in_frame(
    amount: CapacityUnit,
    api: ApiKey,
    version: i16,
    message: &[u8],
) -> u64 {
    if api != ApiKey::Produce {
        return 0;
    }
    // A request that cannot be read is refused by its handler.
    let Ok(request) = ProduceRequest::decode(&mut Reader::new(message), version) else {
        return 0;
    };
    let partitions = request
        .topic_data
        .iter()
        .flat_map(|topic| &topic.partition_data);
    let batches = partitions.filter_map(|partition| partition.records.as_deref());
    match amount {
        CapacityUnit::Bytes => batches.map(|batches| batches.len() as u64).sum(),
        CapacityUnit::Records => batches.map(records_in).sum(),
    }
}

fn records_in(mut batches: &[u8]) -> u64 {
    let mut records = 0;
    while let Ok(header) = BatchHeader::parse(batches) {
        records += u64::from(header.records());
        let Some(rest) = batches.get(header.batch_bytes()..) else {
            break;
        };
        batches = rest;
    }
    records
}

/// How much of the records an answer takes along. A batch that is cut off at its end counts with its
/// bytes, which are sent, and not with its records, of which the client can read none.
pub(crate) fn amount_in_slices<'s>(
    amount: CapacityUnit,
    slices: impl Iterator<Item = &'s FileSlice>,
) -> u64 {
    match amount {
        CapacityUnit::Bytes => slices.map(|slice| slice.len as u64).sum(),
        CapacityUnit::Records => slices.map(records_in_slice).sum(),
    }
}

fn records_in_slice(slice: &FileSlice) -> u64 {
    let end = slice.offset + slice.len as u64;
    let (mut records, mut at) = (0, slice.offset);
    let mut bytes = [0; HEADER_BYTES];
    while at + HEADER_BYTES as u64 <= end {
        // What cannot be read is noticed when it is sent.
        let Ok(HEADER_BYTES) = slice.file.read_at(&mut bytes, at) else {
            break;
        };
        let Ok(header) = BatchHeader::parse(&bytes) else {
            break;
        };
        at += header.batch_bytes() as u64;
        if at <= end {
            records += u64::from(header.records());
        }
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = NS_PER_SECOND;

    #[test]
    fn what_passes_is_the_rate_and_the_burst_to_the_unit() {
        let capacity = CapacityPlan::bytes(1_000_000);
        assert_eq!(capacity.burst(), 10_000);
        let mut bucket = Bucket::default();
        // A thousand requests of 5,000 B at once: five seconds' worth, less the burst.
        let last = (0..1_000).map(|_| bucket.take(&capacity, SECOND, 5_000));
        let last: Vec<u64> = last.collect();
        assert_eq!(last[..3], [SECOND, SECOND, SECOND + SECOND / 200]);
        assert_eq!(last[999], SECOND + 5 * SECOND - SECOND / 100);
    }

    #[test]
    fn a_rest_fills_the_bucket_to_the_burst_and_no_further() {
        let capacity = CapacityPlan::records(1_000).with_burst(100);
        let mut bucket = Bucket::default();
        assert_eq!(bucket.take(&capacity, SECOND, 100), SECOND);
        assert_eq!(bucket.take(&capacity, SECOND, 1), SECOND + SECOND / 1_000);
        // An hour later there is one burst, not 3,600 seconds' worth.
        let later = 3_600 * SECOND;
        assert_eq!(bucket.take(&capacity, later, 200), later + SECOND / 10);
    }

    #[test]
    fn a_noisy_capacity_has_its_mean_and_other_rates_within_its_noise() {
        let capacity = CapacityPlan::records(1_000)
            .with_burst(0)
            .with_noise(50_000);
        let mut bucket = Bucket::new(7 * SECOND, 3, NodeId(1));
        let mut in_second = vec![0_u32; 2_000];
        loop {
            let passed_ns = bucket.take(&capacity, 7 * SECOND, 1) - 7 * SECOND;
            match in_second.get_mut((passed_ns / SECOND) as usize) {
                Some(records) => *records += 1,
                None => break,
            }
        }
        // A record that ends in the next second counts there.
        assert!(
            in_second
                .iter()
                .all(|records| (949..=1_051).contains(records))
        );
        assert!(in_second.iter().any(|records| *records < 960));
        assert!(in_second.iter().any(|records| *records > 1_040));
        // Uniform within 5 %: a deviation of 29 per second, and of 0.65 in the mean of 2,000.
        let mean = in_second.iter().sum::<u32>() as f64 / 2_000.0;
        assert!((mean - 1_000.0).abs() < 3.0, "{mean}");
        // A long request takes what single records take.
        let (mut one, mut other) = (Bucket::new(0, 3, NodeId(1)), Bucket::new(0, 3, NodeId(1)));
        let long_ns = one.take(&capacity, 0, 5_000);
        let short_ns = (0..5_000).map(|_| other.take(&capacity, 0, 1)).last();
        // Each record is rounded to a nanosecond.
        assert!(long_ns.abs_diff(short_ns.unwrap()) <= 5_000);
        let other_seed = Bucket::new(0, 4, NodeId(1)).take(&capacity, 0, 5_000);
        assert_ne!(other_seed, long_ns);
    }

    #[test]
    fn without_a_burst_everything_takes_its_time() {
        let capacity = CapacityPlan::bytes(1_000).with_burst(0);
        let mut bucket = Bucket::default();
        assert_eq!(
            bucket.take(&capacity, 5 * SECOND, 500),
            5 * SECOND + SECOND / 2
        );
        assert_eq!(bucket.take(&capacity, 5 * SECOND, 0), 5 * SECOND);
    }
}
