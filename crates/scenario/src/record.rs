//! What the records of a flow look like, as planned: sizes, keys, headers, compressibility.

use serde::{Deserialize, Serialize};

use crate::sizes::SizePlan;

/// What a record of a flow looks like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordPlan {
    /// Size of the value; with `sizes` or `file` the mean, rounded.
    pub value_bytes: u32,
    /// How the sizes differ, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SizePlan>,
    /// The key; none is null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyPlan>,
    /// Headers, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<HeadersPlan>,
    /// The share of records with a null value (tombstones), 0 to 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub null_values: f64,
    /// By how much the flow's codec is to shrink full batches: 1 or none is not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compressibility: Option<f64>,
    /// Values come from a file, unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<RecordFile>,
    /// What values are made of, if not from a file.
    #[serde(default, skip_serializing_if = "Content::is_random")]
    pub content: Content,
}

/// What values are made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// Random bytes, which no codec shrinks.
    #[default]
    Random,
    /// Random letters A to Z, as Kafka's own tools send them since 3.0: 4.7 bits a byte.
    Letters,
    /// The record's number in decimal digits, as `--payload-monotonic` of Kafka's tool has it; sizes
    /// do not count.
    Numbers,
    /// These words, ten digits of the record's number, a colon, and `x` up to the size: what
    /// `--initial-message-id` of Kafka 0.8's tool made.
    Numbered {
        /// The text before the number.
        words: String,
        /// The first record's number.
        first: u64,
    },
}

impl Content {
    fn is_random(&self) -> bool {
        *self == Content::Random
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it so.
fn is_zero(part: &f64) -> bool {
    *part == 0.0
}

/// Keys: as many as there are, and how they are chosen.
///
/// A key is its number in hexadecimal digits, as long as `key_bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyPlan {
    /// Size of each key.
    pub key_bytes: u32,
    /// How many there are; with [`KeyChoice::Sequence`] `None` is one for each record.
    pub keys: Option<u64>,
    /// Which one a record gets.
    pub choice: KeyChoice,
}

/// How a record's key is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyChoice {
    /// Each is as likely as the others.
    Uniform,
    /// The k-th is chosen in proportion to 1 / k^exponent.
    Zipf {
        /// Above 0; 1 is Zipf's own.
        exponent: f64,
    },
    /// One after the other, and from the start.
    Sequence,
}

/// Headers: all alike in size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeadersPlan {
    /// How many each record has, at most [`HeadersPlan::COUNT_MAX`].
    pub count: u32,
    /// Size of each header's key.
    pub key_bytes: u32,
    /// Size of each header's value.
    pub value_bytes: u32,
}

impl HeadersPlan {
    /// The most headers that a record may have.
    pub const COUNT_MAX: u32 = 32;
}

/// A file of values. The plan has its digest, so that a run never uses another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordFile {
    /// Where it is, from the place where kgauge was started.
    pub path: String,
    /// What ends a record.
    pub delimiter: String,
    /// Records in it.
    pub records: u64,
    /// Size of the largest.
    pub value_bytes_max: u32,
    /// [`file_digest`] of all of it.
    pub digest: String,
    /// Each value is one of them at random; otherwise they come in order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_random: bool,
}

impl RecordFile {
    /// The records of a file: the bytes between the delimiters. Nothing behind the last one is
    /// no record.
    pub fn split<'b>(bytes: &'b [u8], delimiter: &str) -> Vec<&'b [u8]> {
        let ends = delimiter.as_bytes();
        let (mut records, mut rest) = (Vec::new(), bytes);
        while !rest.is_empty() {
            let at = match ends {
                [] => None,
                [one] => rest.iter().position(|byte| byte == one),
                _ => rest.windows(ends.len()).position(|window| window == ends),
            };
            let end = at.unwrap_or(rest.len());
            records.push(&rest[..end]);
            rest = &rest[(end + ends.len()).min(rest.len())..];
        }
        records
    }
}

/// 128 bits of FNV-1a: enough to notice that a file has changed, no protection against a forger.
pub fn file_digest(bytes: &[u8]) -> String {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let hash = bytes.iter().fold(BASIS, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(PRIME)
    });
    format!("fnv1a-128:{hash:032x}")
}

impl RecordPlan {
    /// Values of one size, nothing else: null keys, no headers.
    pub fn of_values(value_bytes: u32) -> RecordPlan {
        RecordPlan {
            value_bytes,
            ..RecordPlan::default()
        }
    }

    /// True for null keys, no headers, and a value of one size in every record.
    pub fn is_plain(&self) -> bool {
        self.sizes.is_none()
            && self.key.is_none()
            && self.headers.is_none()
            && self.null_values == 0.0
            && self.file.is_none()
            && matches!(self.content, Content::Random | Content::Letters)
    }

    /// The largest value.
    pub fn value_bytes_max(&self) -> u32 {
        match (&self.file, &self.sizes) {
            (Some(file), _) => file.value_bytes_max,
            (None, Some(sizes)) => sizes.bytes_max(),
            (None, None) => match &self.content {
                // The longest number; with words before it.
                Content::Numbers => 20,
                Content::Numbered { words, .. } => {
                    let least = u32::try_from(words.len()).unwrap_or(u32::MAX);
                    self.value_bytes.max(least.saturating_add(21))
                }
                Content::Random | Content::Letters => self.value_bytes,
            },
        }
    }

    /// The smallest value that is not null; 0 for a file, whose shortest record is unknown.
    pub(crate) fn value_bytes_min(&self) -> u32 {
        match (&self.file, &self.sizes) {
            (Some(_), _) => 0,
            (None, Some(sizes)) => sizes.bytes_min(),
            (None, None) => match self.content {
                Content::Numbers => 1,
                _ => self.value_bytes,
            },
        }
    }

    /// The mean size of values that are not null.
    pub fn value_bytes_mean(&self) -> f64 {
        f64::from(self.value_bytes)
    }

    /// Bytes of a key; 0 for null.
    pub fn key_bytes(&self) -> u32 {
        self.key.map_or(0, |key| key.key_bytes)
    }

    /// Bytes of a record's headers, keys and values.
    pub fn header_bytes(&self) -> u64 {
        self.headers.map_or(0, |headers| {
            let each = u64::from(headers.key_bytes) + u64::from(headers.value_bytes);
            u64::from(headers.count) * each
        })
    }

    /// Mean bytes of key, value and headers.
    pub fn logical_bytes_mean(&self) -> f64 {
        let value = self.value_bytes_mean() * (1.0 - self.null_values);
        value + f64::from(self.key_bytes()) + self.header_bytes() as f64
    }

    /// Why a plan with it could not be run.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let headers_fit = self
            .headers
            .is_none_or(|headers| (1..=HeadersPlan::COUNT_MAX).contains(&headers.count));
        let faults = [
            (
                self.value_bytes == 0 && self.file.is_none(),
                "records of no size",
            ),
            (
                self.file.as_ref().is_some_and(|file| file.records == 0),
                "a file without records",
            ),
            (
                self.sizes.as_ref().is_some_and(|sizes| !sizes.is_sound()),
                "impossible sizes of records",
            ),
            (
                self.key.is_some_and(|key| !key.is_sound()),
                "impossible keys",
            ),
            (!headers_fit, "too many headers"),
            (
                !(0.0..=1.0).contains(&self.null_values),
                "an impossible part of null values",
            ),
            (
                self.compressibility
                    .is_some_and(|ratio| !(1.0..=RATIO_MAX).contains(&ratio)),
                "an impossible compressibility",
            ),
        ];
        faults
            .iter()
            .find(|(is_there, _)| *is_there)
            .map(|(_, fault)| *fault)
    }
}

/// No batch of unique records shrinks by more.
pub(crate) const RATIO_MAX: f64 = 100.0;

impl KeyPlan {
    /// The most hexadecimal digits that a key's number has.
    const DIGITS_MAX: u32 = 16;

    /// The number of different keys of a size; `None` is 2^64.
    pub(crate) fn keys_max(key_bytes: u32) -> Option<u64> {
        match key_bytes >= Self::DIGITS_MAX {
            true => None,
            false => Some(1 << (4 * key_bytes)),
        }
    }

    fn is_sound(&self) -> bool {
        let fits = match (self.keys, Self::keys_max(self.key_bytes)) {
            (Some(0), _) => false,
            (Some(keys), Some(most)) => keys <= most,
            _ => true,
        };
        let choice = match self.choice {
            KeyChoice::Sequence => true,
            KeyChoice::Uniform => self.keys.is_some(),
            KeyChoice::Zipf { exponent } => {
                self.keys.is_some() && (EXPONENT_MIN..=EXPONENT_MAX).contains(&exponent)
            }
        };
        fits && choice && self.key_bytes > 0
    }
}

/// Below the minimum, keys are nearly uniform; above the maximum, nearly all records have one key.
pub(crate) const EXPONENT_MIN: f64 = 0.01;
pub(crate) const EXPONENT_MAX: f64 = 10.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_of_old_reads_as_plain_values() {
        let plan: RecordPlan = serde_json::from_str(r#"{"value_bytes":100}"#).unwrap();
        assert_eq!(plan, RecordPlan::of_values(100));
        assert_eq!(
            serde_json::to_string(&plan).unwrap(),
            r#"{"value_bytes":100}"#
        );
        assert!(plan.is_plain());
    }

    #[test]
    fn logical_bytes_are_key_value_and_headers() {
        let plan = RecordPlan {
            key: Some(KeyPlan {
                key_bytes: 16,
                keys: Some(10),
                choice: KeyChoice::Uniform,
            }),
            headers: Some(HeadersPlan {
                count: 2,
                key_bytes: 4,
                value_bytes: 6,
            }),
            null_values: 0.25,
            ..RecordPlan::of_values(100)
        };
        // 100 * 3/4 + 16 + 2 * 10
        assert_eq!(plan.logical_bytes_mean(), 111.0);
        assert_eq!(plan.fault(), None);
    }

    #[test]
    fn a_file_is_cut_at_its_delimiters() {
        let split = |text: &'static str, delimiter| -> Vec<&'static [u8]> {
            RecordFile::split(text.as_bytes(), delimiter)
        };
        let (one, two): (&[u8], &[u8]) = (b"one", b"two");
        assert_eq!(split("one\ntwo\n", "\n"), [one, two]);
        assert_eq!(split("one\ntwo", "\n"), [one, two]);
        assert_eq!(split("one--two--", "--"), [one, two]);
        assert_eq!(split("one\n\ntwo", "\n"), [one, b"", two]);
        assert_eq!(split("", "\n").len(), 0);
    }

    #[test]
    fn the_digest_is_fnv_1a() {
        // Published test vectors of FNV-1a with 128 bits: "" and "a".
        assert!(file_digest(b"").ends_with("6c62272e07bb014262b821756295c58d"));
        assert!(file_digest(b"a").ends_with("d228cb696f1a8caf78912b704e4a8964"));
    }

    #[test]
    fn keys_must_be_told_apart() {
        assert_eq!(KeyPlan::keys_max(2), Some(256));
        assert_eq!(KeyPlan::keys_max(16), None);
        let keys = |keys| KeyPlan {
            key_bytes: 2,
            keys: Some(keys),
            choice: KeyChoice::Sequence,
        };
        assert!(keys(256).is_sound() && !keys(257).is_sound() && !keys(0).is_sound());
    }
}
