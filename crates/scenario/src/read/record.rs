//! Records: sizes, keys, headers, null values, compressibility, files.

use crate::keys::{
    HEADERS, KEY, KEY_SEQUENCE, KEY_UNIFORM, KEY_ZIPF, RECORD, RECORD_FILE, SIZE, SIZE_LOGNORMAL,
    SIZE_NORMAL, SIZE_UNIFORM, SIZE_WEIGHTED,
};
use crate::reader::{Fields, ValueReader, shorten};
use crate::record::{
    Content, EXPONENT_MAX, EXPONENT_MIN, HeadersPlan, KeyChoice, KeyPlan, RATIO_MAX, RecordFile,
    RecordPlan,
};
use crate::sizes::{SizePlan, SizeTable, WeightedSize};
use crate::tree::YamlNode;
use crate::units::{self, ByteSize};

/// Kafka's arrays and requests are counted in i32.
const VALUE_BYTES_MAX: u64 = i32::MAX as u64;
/// Longer keys and headers than this are payload.
const KEY_BYTES_MAX: u64 = 4_096;
const WEIGHTS_MAX: usize = 1_000;

pub(super) fn record(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<RecordPlan> {
    let fields = reader.map(node, &RECORD)?;
    let key = reader.field(&fields, "key", key);
    let headers = optional(reader, &fields, "headers", headers);
    let null_values = reader.field(&fields, "null-values", |reader, node| {
        reader.quantity(node, "a fraction, such as `0.05` or `5 %`", units::part)
    });
    let compressibility = optional(reader, &fields, "compressibility", |reader, node| {
        number(reader, node, 1.0, RATIO_MAX)
    });
    let values = match (fields.has("file"), fields.has("size")) {
        (true, false) => reader
            .field(&fields, "file", file)
            .map(|(file, bytes)| RecordPlan {
                file: Some(file),
                ..RecordPlan::of_values(bytes)
            }),
        (true, true) => {
            let what = "`size` conflicts with `file`, which sets the sizes";
            reader.problem_at(&fields, "size", what, "remove `size` or `file`");
            None
        }
        (false, true) => reader.field(&fields, "size", size),
        (false, false) => {
            let cure = "add `size`: Size of the value, such as `100 B`";
            if !fields.is_meant("size") {
                reader.problem(node.place, "`size` is missing", cure);
            }
            None
        }
    };
    if fields.has("file") && fields.has("compressibility") {
        let what = "`compressibility` has no effect on records from a file";
        reader.problem_at(&fields, "compressibility", what, "remove it");
    }
    let content = reader.field(&fields, "content", |reader, node| {
        let choices = [("random", false), ("letters", true)];
        reader.choice(node, &choices)
    });
    if content == Some(true) {
        for other in ["file", "compressibility"] {
            if fields.has(other) {
                let what = format!("`content: letters` and `{other}` exclude each other");
                reader.problem_at(&fields, other, what, "remove one of them");
            }
        }
    }
    Some(RecordPlan {
        content: match content? {
            true => Content::Letters,
            false => Content::Random,
        },
        key: key?,
        headers: headers?,
        null_values: null_values?,
        compressibility: compressibility?,
        ..values?
    })
}

/// `Some(None)` for what is not written.
#[allow(clippy::option_option)] // The outer one says whether it could be read.
fn optional<T>(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    name: &str,
    read: impl FnOnce(&mut ValueReader<'_>, &YamlNode) -> Option<T>,
) -> Option<Option<T>> {
    match fields.has(name) {
        true => reader.field(fields, name, read).map(Some),
        false => Some(None),
    }
}

/// One size, or a distribution of sizes.
fn size(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<RecordPlan> {
    if node.as_text().is_some() {
        return bytes(reader, node, VALUE_BYTES_MAX).map(RecordPlan::of_values);
    }
    let fields = reader.map(node, &SIZE)?;
    let name = reader.only(node, &fields)?;
    let sizes = reader.field(&fields, name, |reader, node| match name {
        "uniform" => uniform(reader, node),
        "normal" => normal(reader, node),
        "lognormal" => lognormal(reader, node),
        _ => weighted(reader, node),
    })?;
    let mean = SizeTable::mean_of(&sizes).round() as u32;
    Some(RecordPlan {
        sizes: Some(sizes),
        ..RecordPlan::of_values(mean.max(1))
    })
}

fn bytes(reader: &mut ValueReader<'_>, node: &YamlNode, most: u64) -> Option<u32> {
    let bytes = reader.bytes(node, 1..=most)?;
    u32::try_from(bytes).ok()
}

fn size_field(reader: &mut ValueReader<'_>, fields: &Fields<'_>, name: &str) -> Option<u32> {
    reader.field(fields, name, |reader, node| {
        bytes(reader, node, VALUE_BYTES_MAX)
    })
}

fn uniform(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<SizePlan> {
    let fields = reader.map(node, &SIZE_UNIFORM)?;
    let from = size_field(reader, &fields, "from");
    let to = size_field(reader, &fields, "to");
    let (from, to) = range(reader, &fields, from?, to?)?;
    Some(SizePlan::Uniform { from, to })
}

fn range(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    from: u32,
    to: u32,
) -> Option<(u32, u32)> {
    if from <= to {
        return Some((from, to));
    }
    let what = format!("{} is less than `from`", ByteSize(to.into()));
    reader.problem_at(fields, "to", what, "make it at least `from`");
    None
}

/// The largest size: as written, or else as many times the ones given.
fn largest(reader: &mut ValueReader<'_>, fields: &Fields<'_>, otherwise: u64) -> Option<u32> {
    match fields.has("to") {
        true => size_field(reader, fields, "to"),
        false => u32::try_from(otherwise.min(VALUE_BYTES_MAX)).ok(),
    }
}

fn normal(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<SizePlan> {
    const DEVIATIONS: u64 = 4;
    let fields = reader.map(node, &SIZE_NORMAL)?;
    let mean = size_field(reader, &fields, "mean");
    let deviation = size_field(reader, &fields, "deviation");
    let from = size_field(reader, &fields, "from");
    let (mean, deviation) = (mean?, deviation?);
    let otherwise = u64::from(mean) + DEVIATIONS * u64::from(deviation);
    let to = largest(reader, &fields, otherwise)?;
    let (from, to) = range(reader, &fields, from?, to)?;
    Some(SizePlan::Normal {
        mean: mean.into(),
        deviation: deviation.into(),
        from,
        to,
    })
}

fn lognormal(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<SizePlan> {
    const TIMES: u64 = 10;
    let fields = reader.map(node, &SIZE_LOGNORMAL)?;
    let median = size_field(reader, &fields, "median");
    let p99 = size_field(reader, &fields, "p99");
    let from = size_field(reader, &fields, "from");
    let (median, p99) = (median?, p99?);
    if p99 <= median {
        let what = "`p99` is not above the median";
        reader.problem_at(&fields, "p99", what, "make it more than the median");
        return None;
    }
    let to = largest(reader, &fields, TIMES * u64::from(p99))?;
    let (from, to) = range(reader, &fields, from?, to)?;
    Some(SizePlan::Lognormal {
        median: median.into(),
        p99: p99.into(),
        from,
        to,
    })
}

fn weighted(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<SizePlan> {
    let mut wrong = false;
    let sizes = reader.list(node, |reader, item| {
        let size = reader.map(item, &SIZE_WEIGHTED).and_then(|fields| {
            let bytes = size_field(reader, &fields, "size");
            let weight = reader.field(&fields, "weight", |reader, node| {
                number(reader, node, 0.0, 1e9)
            });
            Some(WeightedSize {
                bytes: bytes?,
                weight: weight?,
            })
        });
        wrong |= size.is_none();
        size
    })?;
    let fault = if sizes.len() > WEIGHTS_MAX {
        "too many sizes"
    } else if !wrong && sizes.iter().all(|size| size.weight == 0.0) {
        "every weight is 0"
    } else {
        return (!wrong && !sizes.is_empty()).then_some(SizePlan::Weighted { sizes });
    };
    let cure = format!("write 1 to {WEIGHTS_MAX} sizes, one of them with a weight above 0");
    reader.problem(node.place, fault, cure);
    None
}

/// `Some(None)` for null keys.
#[allow(clippy::option_option)] // The outer one says whether it could be read.
fn key(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<Option<KeyPlan>> {
    if let Some(text) = node.as_text() {
        if KEY.key(text).is_some() {
            let what = format!("`{text}` needs parameters");
            let cure = format!("write `{{{text}: {{keys: 10k}}}}`");
            reader.problem(node.place, what, cure);
            return None;
        }
        return reader.choice(node, &[("none", None)]);
    }
    let fields = reader.map(node, &KEY)?;
    let name = reader.only(node, &fields)?;
    let table = match name {
        "uniform" => &KEY_UNIFORM,
        "zipf" => &KEY_ZIPF,
        _ => &KEY_SEQUENCE,
    };
    let plan = reader.field(&fields, name, |reader, node| {
        let fields = reader.map(node, table)?;
        let keys = match table.key("keys").map(|key| key.given) {
            Some(crate::keys::KeyDefault::Optional(_)) => optional(reader, &fields, "keys", keys),
            _ => reader.field(&fields, "keys", keys).map(Some),
        };
        let key_bytes = reader.field(&fields, "size", |reader, node| {
            bytes(reader, node, KEY_BYTES_MAX)
        });
        let choice = match name {
            "uniform" => Some(KeyChoice::Uniform),
            "zipf" => reader
                .field(&fields, "exponent", |reader, node| {
                    number(reader, node, EXPONENT_MIN, EXPONENT_MAX)
                })
                .map(|exponent| KeyChoice::Zipf { exponent }),
            _ => Some(KeyChoice::Sequence),
        };
        let (keys, key_bytes) = (keys?, key_bytes?);
        if let (Some(keys), Some(most)) = (keys, KeyPlan::keys_max(key_bytes))
            && keys > most
        {
            let what = format!("{key_bytes} bytes distinguish only {most} keys");
            reader.problem_at(&fields, "size", what, "make the key larger");
            return None;
        }
        Some(KeyPlan {
            key_bytes,
            keys,
            choice: choice?,
        })
    });
    plan.map(Some)
}

fn keys(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<u64> {
    reader.count(node, 1..=super::flow::RECORDS_MAX)
}

fn headers(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<HeadersPlan> {
    let fields = reader.map(node, &HEADERS)?;
    let count = reader.field(&fields, "count", |reader, node| {
        reader.count_u32(node, 1..=HeadersPlan::COUNT_MAX)
    });
    let key_bytes = reader.field(&fields, "key-size", |reader, node| {
        bytes(reader, node, KEY_BYTES_MAX)
    });
    let value_bytes = reader.field(&fields, "value-size", |reader, node| {
        bytes(reader, node, KEY_BYTES_MAX)
    });
    Some(HeadersPlan {
        count: count?,
        key_bytes: key_bytes?,
        value_bytes: value_bytes?,
    })
}

fn file(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<(RecordFile, u32)> {
    if node.as_text().is_some() {
        return found(reader, node, "\n");
    }
    let fields = reader.map(node, &RECORD_FILE)?;
    let delimiter = match fields.get("delimiter") {
        None => "\n".to_owned(),
        // A delimiter may consist of blanks, which a text may not.
        Some(node) => match node.as_text() {
            Some(text) if !text.is_empty() && text.len() <= 64 => text.to_owned(),
            _ => {
                let what = "the delimiter is empty or too long";
                reader.problem_at(&fields, "delimiter", what, "write 1 to 64 bytes");
                return None;
            }
        },
    };
    let at_random = reader.field(&fields, "order", |reader, node| {
        let choices = [("sequence", false), ("random", true)];
        reader.choice(node, &choices)
    });
    let found = reader.field(&fields, "path", |reader, node| {
        found(reader, node, &delimiter)
    });
    let (file, mean) = found?;
    let at_random = at_random?;
    Some((RecordFile { at_random, ..file }, mean))
}

fn found(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
    delimiter: &str,
) -> Option<(RecordFile, u32)> {
    let path = reader.text(node)?;
    match reader.sources.files.records(&path, delimiter) {
        Ok(found) => Some(found),
        Err(why) => {
            let what = format!("cannot use `{}`: {why}", shorten(&path));
            let cure = "write the path of a file of records, relative to the scenario's folder";
            reader.problem(node.place, what, cure);
            None
        }
    }
}

/// A decimal number within limits.
fn number(reader: &mut ValueReader<'_>, node: &YamlNode, low: f64, high: f64) -> Option<f64> {
    let value = reader.quantity(node, "a number, such as `4` or `0.99`", units::number)?;
    if (low..=high).contains(&value) {
        return Some(value);
    }
    let what = format!("{value} is out of range");
    reader.problem(node.place, what, format!("write {low} to {high}"));
    None
}
