//! Histograms as bytes: HdrHistogram's V2 encoding, deflated and in base64, as all its libraries read it.
//!
//! Format: HdrHistogram's `V2 Histogram Encoding`: cookie, payload length, normalizing offset 0, digits, lowest and
//! highest time, ratio 1.0. Then come the counts as zig-zag LEB128 of at most nine bytes; a negative number is a run of
//! empty buckets. All of it is wrapped in `cookie, length, zlib stream`.

use std::io::{Error, ErrorKind, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Decompress, FlushDecompress, Status};

use super::{BUCKET_COUNT, Histogram, VALUE_NS_MAX, bucket_index, rooms};

/// Base cookie 0x1c849303 with the flag of word size 1 (variable length).
const COOKIE: u32 = 0x1c84_9313;
const COOKIE_DEFLATED: u32 = 0x1c84_9314;
const HEADER_BYTES: usize = 40;
const DIGITS: u32 = 3;
/// The stated range if nothing larger was counted: one hour. Readers allocate memory for it.
const STATED_NS_MIN: u64 = 3_600_000_000_000;
/// The maximum inflated size of a payload: each bucket in nine bytes.
const INFLATED_BYTES_MAX: usize = HEADER_BYTES + BUCKET_COUNT * 9;
/// Room for the first inflated bytes: most payloads need less.
const INFLATED_BYTES_LIKELY: usize = 16 << 10;

/// Why bytes are not a histogram of ours.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The sentences say it.
pub enum HistogramDecodeError {
    #[error("not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    #[error("not a deflated V2 histogram (wrong cookie {0:#x})")]
    Cookie(u32),
    #[error("the zlib stream is damaged: {0}")]
    Inflate(Error),
    #[error("{0} significant digits and a lowest time of {1} instead of 3 and 1")]
    Layout(u32, u64),
    #[error("the counts are cut short")]
    Short,
    #[error("more buckets than times can have")]
    TooManyBuckets,
    #[error("the counts overflow")]
    CountOverflow,
    #[error("smallest, largest or total time contradict the counts")]
    Contradiction,
}

impl Histogram {
    /// The deflated V2 encoding in base64, `HISTFAAAA...`.
    pub(crate) fn to_base64(&self) -> String {
        let plain = self.encode();
        let mut deflated = Vec::with_capacity(plain.len() / 2 + 64);
        deflated.extend_from_slice(&COOKIE_DEFLATED.to_be_bytes());
        deflated.extend_from_slice(&[0; 4]);
        let mut encoder = ZlibEncoder::new(&mut deflated, Compression::fast());
        // Writing into memory cannot fail.
        let _ = encoder.write_all(&plain);
        let _ = encoder.finish();
        let length = (deflated.len() - 8) as u32;
        deflated[4..8].copy_from_slice(&length.to_be_bytes());
        STANDARD.encode(&deflated)
    }

    fn encode(&self) -> Vec<u8> {
        let top_ns = self.max_ns().unwrap_or_default().max(STATED_NS_MIN);
        let mut bytes = Vec::with_capacity(HEADER_BYTES + 4 * self.counts_span());
        bytes.extend_from_slice(&COOKIE.to_be_bytes());
        bytes.extend_from_slice(&[0; 8]); // payload length, normalizing offset
        bytes.extend_from_slice(&DIGITS.to_be_bytes());
        bytes.extend_from_slice(&1_u64.to_be_bytes());
        bytes.extend_from_slice(&top_ns.to_be_bytes());
        bytes.extend_from_slice(&1_f64.to_be_bytes());
        self.encode_counts(&mut bytes);
        let length = (bytes.len() - HEADER_BYTES) as u32;
        bytes[4..8].copy_from_slice(&length.to_be_bytes());
        bytes
    }

    fn counts_span(&self) -> usize {
        self.touched().map_or(0, |touched| touched.len())
    }

    fn encode_counts(&self, bytes: &mut Vec<u8>) {
        let Some(touched) = self.touched() else {
            put_signed(bytes, 0); // one empty bucket, as other libraries write it
            return;
        };
        let mut empty = touched.start as i64;
        for count in &self.counts[touched] {
            if *count == 0 {
                empty += 1;
                continue;
            }
            match empty {
                0 => {}
                1 => put_signed(bytes, 0),
                _ => put_signed(bytes, -empty),
            }
            empty = 0;
            put_signed(bytes, i64::try_from(*count).unwrap_or(i64::MAX));
        }
    }

    /// Takes the payload's buckets into an empty histogram.
    fn decode(&mut self, plain: &[u8]) -> Result<(), HistogramDecodeError> {
        let cookie = read_u32(plain, 0)?;
        if cookie != COOKIE {
            return Err(HistogramDecodeError::Cookie(cookie));
        }
        let (digits, lowest) = (read_u32(plain, 12)?, read_u64(plain, 16)?);
        if digits != DIGITS || lowest != 1 {
            return Err(HistogramDecodeError::Layout(digits, lowest));
        }
        let mut rest = plain
            .get(HEADER_BYTES..)
            .ok_or(HistogramDecodeError::Short)?;
        let mut index = 0_usize;
        let mut bounds: Option<(usize, usize)> = None;
        while !rest.is_empty() {
            let number = take_signed(&mut rest)?;
            if number < 0 {
                let empty = usize::try_from(number.unsigned_abs());
                index = index.saturating_add(empty.unwrap_or(usize::MAX));
                continue;
            }
            if index >= BUCKET_COUNT {
                return Err(HistogramDecodeError::TooManyBuckets);
            }
            if number > 0 {
                if index >= self.counts.len() {
                    self.make_room(rooms(index));
                }
                self.counts[index] = number.unsigned_abs();
                let count = self.count.checked_add(number.unsigned_abs());
                self.count = count.ok_or(HistogramDecodeError::CountOverflow)?;
                bounds = Some((bounds.map_or(index, |(first, _)| first), index));
            }
            index += 1;
        }
        if let Some((first, last)) = bounds {
            self.min_ns = super::bucket_top_ns(first);
            self.span_ns = super::bucket_top_ns(last) - self.min_ns;
        }
        Ok(())
    }

    /// Replaces the buckets' borders by the exact times, if these are possible.
    fn set_exact(&mut self, exact: ExactTimes) -> Result<(), HistogramDecodeError> {
        if self.count == 0 {
            return Ok(());
        }
        let same = |own: u64, given: u64| {
            given <= VALUE_NS_MAX && bucket_index(given) == bucket_index(own)
        };
        let count = u128::from(self.count);
        let sum_low = count * u128::from(exact.min_ns);
        let sum_high = count * u128::from(exact.max_ns);
        if !same(self.min_ns, exact.min_ns)
            || !same(self.top_ns(), exact.max_ns)
            || exact.max_ns < exact.min_ns
            || !(sum_low..=sum_high).contains(&exact.sum_ns)
        {
            return Err(HistogramDecodeError::Contradiction);
        }
        self.min_ns = exact.min_ns;
        self.span_ns = exact.max_ns - exact.min_ns;
        self.max_at_ns = exact.max_at_ns;
        self.sum_ns = exact.sum_ns;
        Ok(())
    }
}

/// Decodes histograms. Its memory is used again for each.
#[derive(Debug)]
pub(crate) struct HistogramDecoder {
    inflate: Decompress,
    deflated: Vec<u8>,
    plain: Vec<u8>,
}

impl HistogramDecoder {
    /// A decoder that has not decoded anything.
    pub(crate) fn new() -> HistogramDecoder {
        HistogramDecoder {
            inflate: Decompress::new(true),
            deflated: Vec::new(),
            plain: Vec::new(),
        }
    }

    /// Decodes what [`Histogram::to_base64`] encoded, or another library with 3 digits from 1 ns, into `histogram`,
    /// which is empty. After an error it is empty too.
    ///
    /// The encoding has only the times' buckets; `exact` provides the rest. Nothing larger than one histogram is
    /// allocated, whatever the bytes claim.
    pub(crate) fn decode(
        &mut self,
        text: &str,
        exact: ExactTimes,
        histogram: &mut Histogram,
    ) -> Result<(), HistogramDecodeError> {
        self.inflate(text)?;
        let decoded = histogram.decode(&self.plain);
        let decoded = decoded.and_then(|()| histogram.set_exact(exact));
        if decoded.is_err() {
            *histogram = Histogram::new();
        }
        decoded
    }

    /// Reads the payload of `text` into `plain`.
    fn inflate(&mut self, text: &str) -> Result<(), HistogramDecodeError> {
        self.deflated.clear();
        STANDARD.decode_vec(text, &mut self.deflated)?;
        let cookie = read_u32(&self.deflated, 0)?;
        if cookie != COOKIE_DEFLATED {
            return Err(HistogramDecodeError::Cookie(cookie));
        }
        let mut rest = self.deflated.get(8..).ok_or(HistogramDecodeError::Short)?;
        let plain = &mut self.plain;
        plain.clear();
        self.inflate.reset(true);
        while plain.len() < INFLATED_BYTES_MAX {
            let more = plain.len().max(INFLATED_BYTES_LIKELY);
            plain.reserve_exact(more.min(INFLATED_BYTES_MAX - plain.len()));
            let before = (self.inflate.total_in(), plain.len());
            let status = self
                .inflate
                .decompress_vec(rest, plain, FlushDecompress::None)
                .map_err(|error| HistogramDecodeError::Inflate(error.into()))?;
            let taken = self.inflate.total_in() - before.0;
            rest = &rest[taken as usize..];
            if status == Status::StreamEnd {
                break;
            }
            if taken == 0 && plain.len() == before.1 {
                return Err(HistogramDecodeError::Inflate(
                    ErrorKind::UnexpectedEof.into(),
                ));
            }
        }
        Ok(())
    }
}

impl Default for HistogramDecoder {
    fn default() -> HistogramDecoder {
        HistogramDecoder::new()
    }
}

/// What the bucket counts of a histogram do not contain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExactTimes {
    /// Smallest time.
    pub min_ns: u64,
    /// Largest time.
    pub max_ns: u64,
    /// When the largest one occurred.
    pub max_at_ns: u64,
    /// Sum of all times.
    pub sum_ns: u128,
}

/// Zig-zag, then seven bits per byte from the lowest; a ninth byte has the last eight bits.
fn put_signed(bytes: &mut Vec<u8>, number: i64) {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    for _ in 0..8 {
        if rest < 0x80 {
            bytes.push(rest as u8);
            return;
        }
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

fn take_signed(bytes: &mut &[u8]) -> Result<i64, HistogramDecodeError> {
    let mut value = 0_u64;
    for position in 0..9 {
        let (byte, rest) = bytes.split_first().ok_or(HistogramDecodeError::Short)?;
        *bytes = rest;
        let last = position == 8;
        let bits = if last { *byte } else { byte & 0x7f };
        value |= u64::from(bits) << (7 * position);
        if last || byte & 0x80 == 0 {
            break;
        }
    }
    Ok((value >> 1) as i64 ^ -((value & 1) as i64))
}

fn read_u32(bytes: &[u8], at: usize) -> Result<u32, HistogramDecodeError> {
    let field = bytes.get(at..).and_then(|rest| rest.first_chunk());
    field
        .map(|four| u32::from_be_bytes(*four))
        .ok_or(HistogramDecodeError::Short)
}

fn read_u64(bytes: &[u8], at: usize) -> Result<u64, HistogramDecodeError> {
    let field = bytes.get(at..).and_then(|rest| rest.first_chunk());
    field
        .map(|eight| u64::from_be_bytes(*eight))
        .ok_or(HistogramDecodeError::Short)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
    use proptest::prelude::*;

    use super::*;

    fn exact(times: &Histogram) -> ExactTimes {
        ExactTimes {
            min_ns: times.min_ns().unwrap_or_default(),
            max_ns: times.max_ns().unwrap_or_default(),
            max_at_ns: times.max_at_ns().unwrap_or_default(),
            sum_ns: times.sum_ns(),
        }
    }

    fn histogram_of(samples: &[(u64, u64)]) -> Histogram {
        let mut times = Histogram::new();
        for (value_ns, records) in samples {
            times.record(*value_ns, *records, *value_ns / 2);
        }
        times
    }

    fn decoded(text: &str, exact: ExactTimes) -> Result<Histogram, HistogramDecodeError> {
        let mut times = Histogram::new();
        let decoded = HistogramDecoder::new().decode(text, exact, &mut times);
        assert!(decoded.is_ok() || times == Histogram::new());
        decoded.map(|()| times)
    }

    fn samples() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let value = prop_oneof![0..3_000_u64, 0..10_000_000_000_u64, 0..=VALUE_NS_MAX];
        prop::collection::vec((value, 1..1_000_000_u64), 0..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_written_is_read_again(samples in samples()) {
            let times = histogram_of(&samples);
            let read = decoded(&times.to_base64(), exact(&times)).unwrap();
            prop_assert_eq!(read, times);
        }

        #[test]
        fn hdr_histogram_reads_the_same_counts(samples in samples()) {
            let times = histogram_of(&samples);
            let bytes = STANDARD.decode(times.to_base64()).unwrap();
            let mut deserializer = Deserializer::new();
            let theirs = deserializer
                .deserialize::<u64, _>(&mut Cursor::new(bytes))
                .unwrap();
            prop_assert_eq!(theirs.len(), times.count());
            let buckets = theirs.iter_recorded();
            let buckets = buckets.map(|step| (step.value_iterated_to(), step.count_at_value()));
            prop_assert!(buckets.eq(times.buckets()));
        }

        #[test]
        fn what_hdr_histogram_writes_is_read(samples in samples()) {
            let mut theirs =
                hdrhistogram::Histogram::<u64>::new_with_bounds(1, VALUE_NS_MAX, 3).unwrap();
            for (value_ns, records) in &samples {
                theirs.record_n(*value_ns, *records).unwrap();
            }
            let times = histogram_of(&samples);
            let mut bytes = Vec::new();
            V2DeflateSerializer::new().serialize(&theirs, &mut bytes).unwrap();
            let read = decoded(&STANDARD.encode(bytes), exact(&times)).unwrap();
            prop_assert_eq!(read, times);
        }

        #[test]
        fn any_bytes_give_an_error_or_a_histogram(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            deflate in any::<bool>(),
        ) {
            let mut plain = Histogram::new().encode();
            plain.truncate(HEADER_BYTES);
            plain.extend_from_slice(&bytes);
            let mut deflated = COOKIE_DEFLATED.to_be_bytes().to_vec();
            deflated.extend_from_slice(&[0; 4]);
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&plain).unwrap();
            deflated.extend(encoder.finish().unwrap());
            let text = STANDARD.encode(if deflate { deflated } else { bytes });
            let nothing = ExactTimes { min_ns: 0, max_ns: 0, max_at_ns: 0, sum_ns: 0 };
            let _ = decoded(&text, nothing);
        }
    }

    #[test]
    fn the_payload_looks_like_everybody_s() {
        assert!(histogram_of(&[(5, 1)]).to_base64().starts_with("HISTFAAAA"));
    }

    #[test]
    fn exact_times_that_contradict_the_counts_are_refused() {
        let times = histogram_of(&[(5, 2), (9_000_000, 1)]);
        let text = times.to_base64();
        for lie in [
            ExactTimes {
                min_ns: 6,
                ..exact(&times)
            },
            ExactTimes {
                max_ns: u64::MAX,
                ..exact(&times)
            },
            ExactTimes {
                sum_ns: 14,
                ..exact(&times)
            },
            ExactTimes {
                sum_ns: u128::MAX,
                ..exact(&times)
            },
        ] {
            let error = decoded(&text, lie).unwrap_err();
            assert!(
                matches!(error, HistogramDecodeError::Contradiction),
                "{lie:?}"
            );
        }
    }

    #[test]
    fn a_bomb_does_not_inflate_beyond_one_histogram() {
        let mut deflated = COOKIE_DEFLATED.to_be_bytes().to_vec();
        deflated.extend_from_slice(&[0; 4]);
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        let mut plain = Histogram::new().encode();
        plain.truncate(HEADER_BYTES);
        encoder.write_all(&plain).unwrap();
        for _ in 0..64 {
            encoder.write_all(&[2; 1 << 20]).unwrap();
        }
        deflated.extend(encoder.finish().unwrap());
        let nothing = ExactTimes {
            min_ns: 0,
            max_ns: 0,
            max_at_ns: 0,
            sum_ns: 0,
        };
        let error = decoded(&STANDARD.encode(deflated), nothing).unwrap_err();
        assert!(
            matches!(error, HistogramDecodeError::TooManyBuckets),
            "{error}"
        );
    }
}
