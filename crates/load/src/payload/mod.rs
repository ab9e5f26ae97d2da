//! What records hold: keys, values, headers. A pure function of the flow's seed and the record's
//! number; everything that is not cheap happens before the run.

mod calibrate;
mod file;
mod pool;

use kgauge_scenario::{Content, HeadersPlan, KeyTable, RecordPlan, SizeTable};

pub(crate) use calibrate::payload_for;
use file::FileValues;
pub(crate) use pool::mix;
use pool::{PayloadPool, PoolSetup};

/// Why a flow's records cannot be made, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PayloadError(String);

/// The records of one flow. Shared by all its producers; never changes after it is made.
#[derive(Debug)]
pub(crate) struct Payload {
    pool: PayloadPool,
    file: Option<FileValues>,
    sizes: Option<SizeTable>,
    keys: Option<Keys>,
    headers: Option<Headers>,
    content: Content,
    /// A record whose draw is below this has a null value.
    nulls_below: u64,
    is_plain: bool,
    is_filled_in_place: bool,
    seed: u64,
    /// About what a record takes.
    record_bytes: usize,
}

#[derive(Debug)]
struct Keys {
    table: KeyTable,
    bytes: usize,
}

#[derive(Debug)]
struct Headers {
    names: Vec<String>,
    value_bytes: usize,
}

/// A record in the making; used again and again.
#[derive(Debug, Default)]
pub(crate) struct RecordDraft {
    key: Vec<u8>,
    value: Vec<u8>,
    has_key: bool,
    has_value: bool,
    /// Where in the pool the values of its headers begin.
    headers_from: u64,
}

impl RecordDraft {
    /// The key, `None` for null.
    pub(crate) fn key(&self) -> Option<&[u8]> {
        self.has_key.then_some(self.key.as_slice())
    }

    /// The value, to write into.
    pub(crate) fn value_mut(&mut self) -> &mut [u8] {
        &mut self.value
    }

    /// The value, `None` for null.
    pub(crate) fn value(&self) -> Option<&[u8]> {
        self.has_value.then_some(self.value.as_slice())
    }
}

/// A header of a record.
pub(crate) type HeaderBytes<'a> = (&'a str, Option<&'a [u8]>);

impl Payload {
    /// The records of a plan, of whose made bytes `random_part` are random.
    fn new(
        plan: &RecordPlan,
        seed: u64,
        pool_bytes: usize,
        random_part: f64,
    ) -> Result<Self, PayloadError> {
        let file = plan.file.as_ref().map(FileValues::read).transpose()?;
        let value_bytes_max = plan.value_bytes_max() as usize;
        let header_value_bytes = plan
            .headers
            .map_or(0, |headers| headers.value_bytes as usize);
        let pool = PayloadPool::of(&PoolSetup {
            seed,
            value_bytes: plan.value_bytes.max(1) as usize,
            value_bytes_max: value_bytes_max.max(header_value_bytes),
            pool_bytes,
            random_part,
            letters: plan.content == Content::Letters,
        });
        Ok(Self {
            pool,
            file,
            sizes: plan.sizes.as_ref().map(|sizes| SizeTable::new(sizes, seed)),
            keys: plan.key.as_ref().map(|key| Keys {
                table: KeyTable::new(key, seed),
                bytes: key.key_bytes as usize,
            }),
            headers: plan.headers.as_ref().map(Headers::new),
            content: plan.content.clone(),
            nulls_below: (plan.null_values * 18_446_744_073_709_551_616.0) as u64,
            is_plain: plan.is_plain(),
            is_filled_in_place: plan.file.is_none()
                && plan.headers.is_none()
                && plan.null_values == 0.0
                && matches!(plan.content, Content::Random | Content::Letters),
            seed,
            record_bytes: plan.logical_bytes_mean().ceil().max(1.0) as usize,
        })
    }

    /// The records of a plan that asks for no ratio of compression.
    #[cfg(test)]
    pub(crate) fn of_plan(plan: &RecordPlan, seed: u64) -> Self {
        Self::new(plan, seed, pool::POOL_BYTES, 1.0).unwrap()
    }

    /// Whether records are values of one size and nothing else: [`Self::value_bytes`] and
    /// [`Self::fill`] are all that is to be known of them.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Bytes in each value of plain records.
    #[inline]
    pub(crate) fn value_bytes(&self) -> usize {
        self.pool.value_bytes()
    }

    /// About what a record takes, at least 1.
    pub(crate) fn record_bytes(&self) -> usize {
        self.record_bytes
    }

    /// Writes the value of record `number` of the flow, the producer's `n`-th.
    #[inline]
    pub(crate) fn fill(&self, number: u64, n: u64, to: &mut [u8]) {
        self.pool.fill(number, n, to);
    }

    /// Whether each record is a key, or none, and a value that [`Self::fill`] writes.
    #[inline]
    pub(crate) fn is_filled_in_place(&self) -> bool {
        self.is_filled_in_place
    }

    /// Bytes of the value of a record that is filled in place.
    #[inline]
    pub(crate) fn value_bytes_of(&self, number: u64) -> usize {
        match &self.sizes {
            Some(sizes) => sizes.bytes_of(number) as usize,
            None => self.value_bytes(),
        }
    }

    /// Bytes of key and value, if each record has both, of one size, and is filled in place.
    pub(crate) fn sizes_in_place(&self) -> Option<(usize, usize)> {
        let keys = self.keys.as_ref().filter(|_| self.sizes.is_none())?;
        self.is_filled_in_place
            .then_some((keys.bytes, self.value_bytes()))
    }

    /// Writes the key of record `number` of the flow, if there are any.
    #[inline]
    pub(crate) fn write_key(&self, number: u64, to: &mut [u8]) {
        if let Some(keys) = &self.keys {
            write_hex(keys.table.key_of(number), to);
        }
    }

    /// Makes the key of record `number` of the flow.
    #[inline]
    pub(crate) fn make_key(&self, number: u64, draft: &mut RecordDraft) {
        draft.has_key = self.keys.is_some();
        if let Some(keys) = &self.keys {
            if draft.key.len() != keys.bytes {
                draft.key.resize(keys.bytes, b'0');
            }
            self.write_key(number, &mut draft.key);
        }
    }

    /// Makes record `number` of the flow, the producer's `n`-th.
    pub(crate) fn make(&self, number: u64, n: u64, draft: &mut RecordDraft) {
        // Three draws of one mixer, told apart by constants without meaning.
        const NULLS: u64 = 0x6e75_6c6c_7661_6c73;
        const HEADERS: u64 = 0x6865_6164_6572_7321;
        self.make_key(number, draft);
        draft.has_value = mix(self.seed ^ number ^ NULLS) >= self.nulls_below;
        draft.headers_from = mix(self.seed ^ number ^ HEADERS);
        if !draft.has_value {
            return;
        }
        if let Some(file) = &self.file {
            draft.value.clear();
            draft.value.extend_from_slice(file.value(number, self.seed));
            return;
        }
        let bytes = self.value_bytes_of(number);
        match &self.content {
            Content::Random | Content::Letters => {}
            Content::Numbers => {
                draft.value.clear();
                return write_number(&mut draft.value, number, 1);
            }
            Content::Numbered { words, first } => {
                draft.value.clear();
                draft.value.extend_from_slice(words.as_bytes());
                write_number(&mut draft.value, first.wrapping_add(number), 10);
                draft.value.push(b':');
                let bytes = bytes.max(draft.value.len());
                return draft.value.resize(bytes, b'x');
            }
        }
        draft.value.resize(bytes, 0);
        self.pool.fill(number, n, &mut draft.value);
    }

    /// The headers of a record that was made, in a list for the most that there can be.
    #[inline]
    pub(crate) fn headers<'a>(
        &'a self,
        draft: &RecordDraft,
        list: &'a mut [HeaderBytes<'a>],
    ) -> &'a [HeaderBytes<'a>] {
        let Some(headers) = &self.headers else {
            return &[];
        };
        let count = headers.names.len().min(list.len());
        for (index, (slot, name)) in list.iter_mut().zip(&headers.names).enumerate() {
            let from = draft.headers_from.wrapping_add(index as u64);
            *slot = (name, Some(self.pool.piece(from, headers.value_bytes)));
        }
        &list[..count]
    }

    /// Whether there are headers at all.
    #[inline]
    pub(crate) fn has_headers(&self) -> bool {
        self.headers.is_some()
    }
}

impl Headers {
    /// Each has a name of its own, as far as the names' size allows.
    fn new(plan: &HeadersPlan) -> Self {
        let name = |number: u32| {
            let mut name = vec![b'h'; plan.key_bytes as usize];
            if let Some((_, digits)) = name.split_first_mut() {
                write_hex(number.into(), digits);
            }
            String::from_utf8_lossy(&name).into_owned()
        };
        Self {
            names: (1..=plan.count).map(name).collect(),
            value_bytes: plan.value_bytes as usize,
        }
    }
}

/// Appends a number in decimal digits, at least so many.
fn write_number(to: &mut Vec<u8>, mut number: u64, digits: usize) {
    let start = to.len();
    while number > 0 || to.len() - start < digits {
        to.push(b'0' + (number % 10) as u8);
        number /= 10;
    }
    to[start..].reverse();
}

/// Writes a number in hexadecimal digits, with zeros before it; what does not fit is cut off.
#[inline]
fn write_hex(number: u64, to: &mut [u8]) {
    if let Ok(to) = <&mut [u8; 8]>::try_from(&mut *to) {
        *to = hex_digits(number as u32);
        return;
    }
    let mut digits = [0; 16];
    digits[..8].copy_from_slice(&hex_digits((number >> 32) as u32));
    digits[8..].copy_from_slice(&hex_digits(number as u32));
    let own = to.len().min(digits.len());
    let from = to.len() - own;
    to[..from].fill(b'0');
    to[from..].copy_from_slice(&digits[digits.len() - own..]);
}

/// The eight digits of a number, all at once: each of its four-bit parts is moved to a byte of its own.
#[inline]
fn hex_digits(number: u32) -> [u8; 8] {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let mut parts = u64::from(number);
    parts = (parts << 16 | parts) & 0x0000_ffff_0000_ffff;
    parts = (parts << 8 | parts) & 0x00ff_00ff_00ff_00ff;
    parts = (parts << 4 | parts) & 0x0f0f_0f0f_0f0f_0f0f;
    // A part of ten or more reaches bit 4 when six are added; it is a letter, 39 behind the digit's place.
    let letters = ((parts + ONES * 6) >> 4) & ONES;
    let digits = parts + ONES * u64::from(b'0') + letters * u64::from(b'a' - b'9' - 1);
    digits.to_be_bytes()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kgauge_scenario::{KeyChoice, KeyPlan, SizePlan, WeightedSize};

    use super::*;

    fn rich() -> RecordPlan {
        let size = |bytes, weight| WeightedSize { bytes, weight };
        RecordPlan {
            sizes: Some(SizePlan::Weighted {
                sizes: vec![size(50, 1.0), size(150, 1.0)],
            }),
            key: Some(KeyPlan {
                key_bytes: 4,
                keys: Some(300),
                choice: KeyChoice::Sequence,
            }),
            headers: Some(HeadersPlan {
                count: 2,
                key_bytes: 3,
                value_bytes: 5,
            }),
            null_values: 0.25,
            ..RecordPlan::of_values(100)
        }
    }

    type Whole = (Option<Vec<u8>>, Option<Vec<u8>>, Vec<(String, Vec<u8>)>);

    fn made(payload: &Payload, number: u64) -> Whole {
        let mut draft = RecordDraft::default();
        payload.make(number, number, &mut draft);
        let mut list = [("", None); HeadersPlan::COUNT_MAX as usize];
        let headers = payload.headers(&draft, &mut list);
        let headers = headers.iter().map(|(name, value)| {
            let value = value.unwrap_or_default().to_vec();
            ((*name).to_owned(), value)
        });
        let owned = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
        (owned(draft.key()), owned(draft.value()), headers.collect())
    }

    #[test]
    fn records_are_as_planned() {
        let payload = Payload::of_plan(&rich(), 7);
        let mut sizes: BTreeMap<Option<usize>, u32> = BTreeMap::new();
        for number in 0..40_000 {
            let (_, value, _) = made(&payload, number);
            *sizes.entry(value.map(|value| value.len())).or_default() += 1;
        }
        // A quarter is null, the rest has one of two sizes; 5 deviations of 10,000 are 433.
        let counts: Vec<u32> = sizes.values().copied().collect();
        assert_eq!(
            sizes.keys().copied().collect::<Vec<_>>(),
            [None, Some(50), Some(150)]
        );
        assert!(counts[0].abs_diff(10_000) < 433, "{counts:?}");
        assert!(counts[1].abs_diff(15_000) < 500, "{counts:?}");
        let (key, _, headers) = made(&payload, 299);
        assert_eq!(key.as_deref(), Some(b"012b".as_slice()));
        assert_eq!(made(&payload, 300).0.as_deref(), Some(b"0000".as_slice()));
        let names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["h01", "h02"]);
        assert!(headers.iter().all(|(_, value)| value.len() == 5));
        assert_ne!(headers[0].1, headers[1].1);
    }

    #[test]
    fn one_seed_gives_the_same_records_and_another_seed_others() {
        let (one, same, other) = (
            Payload::of_plan(&rich(), 1),
            Payload::of_plan(&rich(), 1),
            Payload::of_plan(&rich(), 2),
        );
        let all = |payload: &Payload| (0..500).map(|n| made(payload, n)).collect::<Vec<_>>();
        assert_eq!(all(&one), all(&same));
        assert_ne!(all(&one), all(&other));
    }

    #[test]
    fn values_may_be_letters_or_numbers() {
        let made = |content: Content, bytes, number| {
            let plan = RecordPlan {
                content,
                ..RecordPlan::of_values(bytes)
            };
            made(&Payload::of_plan(&plan, 3), number).1.unwrap()
        };
        for bytes in [1, 5, 14, 40] {
            let letters = made(Content::Letters, bytes, 77);
            assert!(letters.iter().all(u8::is_ascii_uppercase), "{letters:?}");
            assert_ne!(letters, made(Content::Letters, bytes, 78));
        }
        assert_eq!(made(Content::Numbers, 1, 0), b"0");
        assert_eq!(made(Content::Numbers, 1, 1_234), b"1234");
        let numbered = Content::Numbered {
            words: "MessageID:".to_owned(),
            first: 5,
        };
        assert_eq!(made(numbered.clone(), 25, 2), b"MessageID:0000000007:xxxx");
        assert_eq!(made(numbered, 3, 2), b"MessageID:0000000007:");
    }

    #[test]
    fn numbers_are_written_in_hexadecimal() {
        let mut six = [b'x'; 6];
        write_hex(0xbeef, &mut six);
        assert_eq!(&six, b"00beef");
        let mut two = [b'x'; 2];
        write_hex(0xbeef, &mut two);
        assert_eq!(&two, b"ef");
    }
}
