//! The keys of records: sizes, keys, headers, compressibility, files.

use crate::key_definition::{ValueForm, refuse};
use crate::key_map::key_map;
use crate::reader::{Fields, KeyMap, ValueReader};
use crate::record::{
    Content, EXPONENT_MAX, EXPONENT_MIN, HeadersPlan, KeyChoice, KeyPlan, RATIO_MAX, RecordFile,
    RecordPlan,
};
use crate::sizes::{SizePlan, SizeTable, WeightedSize};
use crate::suggest::shorten;
use crate::tree::YamlNode;
use crate::units::ByteSize;
use crate::value_kind::{
    RECORDS_MAX, ValueKind, count, fraction, map, number, size, whole_list, words,
};

/// Kafka's arrays and requests are counted in i32.
const VALUE_BYTES_MAX: u64 = i32::MAX as u64;
/// Longer keys and headers than this are payload.
const KEY_BYTES_MAX: u64 = 4_096;
const WEIGHTS_MAX: usize = 1_000;

key_map! {
    map RecordKeys, "Record" -> RecordPlan, made by record,
    refuses [
        refuse(&["keys", "cardinality"], "it is part of the key: `key: {uniform: {keys: 10k}}`"),
        refuse(
            &["distribution"],
            "it is part of the size: `size: {uniform: {from: 100 B, to: 1 kB}}`",
        ),
        refuse(
            &["value"],
            "`size`, `compressibility` and `null-values` describe values, or `file` provides them",
        ),
    ]
    {
        /// Size of the value, or a distribution of sizes. No default: every figure depends on it. All values differ, so
        /// that compression results stay realistic.
        let size: Option<RecordPlan> = "size" [optional "required without `file`"],
            value_size().map(RecordPlan::of_values).or_map::<Sizes>();
        /// The set of keys and how they are chosen. With a key, Kafka's partitioner chooses the partition from the
        /// key's hash.
        let key: Option<KeyPlan> = "key" ["none"], ValueKind::new(
            ValueForm::Any(vec![ValueForm::Words(vec!["none"]), ValueForm::Map(Keys::KEYS)]),
            key,
        );
        /// Headers of each record. Needs Kafka 0.11.
        let headers: Option<HeadersPlan> = "headers" [optional "no headers"], map::<HeadersKeys>();
        /// The share of records with a null value: tombstones in a compacted topic.
        let null_values: f64 = "null-values" ["0"], fraction();
        /// The factor by which `compression.type` shrinks full batches: 4 means to a quarter. Before the run kgauge
        /// finds the necessary repetition in values, using the flow's codec, level and records. The report shows the
        /// actual factor.
        let compressibility: Option<f64> = "compressibility"
            [optional "random values, which no codec shrinks"], number(1.0..=RATIO_MAX);
        /// The bytes of values: random bytes, or random letters A to Z as in Kafka's own tools since 3.0. Entropy
        /// coding shrinks letters to about 60 %.
        let is_letters: bool = "content" ["random"], words(&[("random", false), ("letters", true)]);
        /// A file with one value per line, used unchanged and in order, then from the start again. Compression profits
        /// if the file repeats.
        let file: Option<RecordPlan> = "file" [optional "generated values"],
            ValueKind::new(ValueForm::File, |reader, node| file_records(reader, node, "\n"))
                .or_map::<FileKeys>();
    }
}

key_map! {
    one_of Sizes, "Size" -> RecordPlan, otherwise ValueReader::not_one_key {
        /// All sizes of a range are equally likely.
        "uniform" => map::<UniformSizes>().map(of_sizes);
        /// The normal distribution.
        "normal" => map::<NormalSizes>().map(of_sizes);
        /// Many small and few large sizes, as is common in applications.
        "lognormal" => map::<LognormalSizes>().map(of_sizes);
        /// A list of sizes with weights.
        "weighted" => weighted().map(of_sizes);
    }
}

key_map! {
    map UniformSizes, "Uniform sizes" -> SizePlan, made by uniform {
        /// The smallest.
        let from: u32 = "from" [required], value_size();
        /// The largest.
        let to: u32 = "to" [required], value_size();
    }
}

key_map! {
    map NormalSizes, "Normal sizes" -> SizePlan, made by normal {
        /// The mean.
        let mean: u32 = "mean" [required], value_size();
        /// The standard deviation.
        let deviation: u32 = "deviation" [required], value_size();
        /// Smaller sizes are raised to this.
        let from: u32 = "from" ["1 B"], value_size();
        /// Larger sizes are lowered to this.
        let to: Option<u32> = "to" [optional "mean + 4 deviations"], value_size();
    }
}

key_map! {
    map LognormalSizes, "Lognormal sizes" -> SizePlan, made by lognormal {
        /// The median: half are smaller.
        let median: u32 = "median" [required], value_size();
        /// The 99th percentile: 1 % are larger.
        let p99: u32 = "p99" [required], value_size();
        /// Smaller sizes are raised to this.
        let from: u32 = "from" ["1 B"], value_size();
        /// Larger sizes are lowered to this.
        let to: Option<u32> = "to" [optional "10 x `p99`"], value_size();
    }
}

key_map! {
    map WeightedKeys, "Weighted sizes" -> WeightedSize, made by weighted_size {
        /// The size.
        let size: u32 = "size" [required], value_size();
        /// The frequency relative to the other weights.
        let weight: f64 = "weight" ["1"], number(0.0..=1e9);
    }
}

key_map! {
    one_of Keys, "Key" -> Option<KeyPlan>, otherwise ValueReader::not_one_key {
        /// All keys are equally likely.
        "uniform" => map::<UniformKeys>().map(Some);
        /// Few hot and many cold keys: key k is chosen in proportion to 1 / k^exponent.
        "zipf" => map::<ZipfKeys>().map(Some);
        /// Keys in order, then from the start again.
        "sequence" => map::<SequenceKeys>().map(Some);
    }
}

key_map! {
    map UniformKeys, "Uniform keys" -> KeyPlan, made by uniform_keys, shares [KeySize] {
        /// The number of keys.
        let keys: u64 = "keys" [required], count(1..=RECORDS_MAX);
    }
}

key_map! {
    map ZipfKeys, "Zipf keys" -> KeyPlan, made by zipf_keys, shares [KeySize] {
        /// The number of keys.
        let keys: u64 = "keys" [required], count(1..=RECORDS_MAX);
        /// 0.01 to 10. Higher values make the first keys hotter. 0.99 is the default of YCSB.
        let exponent: f64 = "exponent" ["0.99"], number(EXPONENT_MIN..=EXPONENT_MAX);
    }
}

key_map! {
    map SequenceKeys, "Sequence of keys" -> KeyPlan, made by sequence_keys, shares [KeySize] {
        /// The number of keys.
        let keys: Option<u64> = "keys" [optional "a new key per record"], count(1..=RECORDS_MAX);
    }
}

key_map! {
    map KeySize, "Size of keys" -> u32, made by key_size {
        /// Size of each key, which is its number in hexadecimal: n bytes distinguish 16^n keys.
        let size: u32 = "size" ["16 B"], size(1..=KEY_BYTES_MAX);
    }
}

key_map! {
    map HeadersKeys, "Headers" -> HeadersPlan, made by headers {
        /// Headers per record, at most 32.
        let count: u32 = "count" ["1"], count(1..=u64::from(HeadersPlan::COUNT_MAX));
        /// Size of each header's key.
        let key_bytes: u32 = "key-size" ["8 B"], size(1..=KEY_BYTES_MAX);
        /// Size of each header's value. Values differ between records.
        let value_bytes: u32 = "value-size" ["16 B"], size(1..=KEY_BYTES_MAX);
    }
}

key_map! {
    map FileKeys, "File of records" -> RecordPlan, made by file {
        /// The path, relative to the scenario's folder.
        let _path: () = "path" [required], ValueKind::new(ValueForm::File, |_, _| Some(()));
        /// The record separator. YAML needs double quotes for escapes such as `"\n"`.
        let delimiter: String = "delimiter" [absent "end of line", |_| "\n".to_owned()],
            ValueKind::new(ValueForm::Text, delimiter);
        /// In order, then from the start again; or at random.
        let at_random: bool = "order" ["sequence"], words(&[("sequence", false), ("random", true)]);
    }
}

fn record(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    read: RecordKeys,
) -> Option<RecordPlan> {
    if fields.has("file") {
        let conflicts = [
            (
                "size",
                "`size` conflicts with `file`, which sets the sizes",
                "remove `size` or `file`",
            ),
            (
                "compressibility",
                "`compressibility` has no effect on records from a file",
                "remove it",
            ),
        ];
        for (key, what, cure) in conflicts.into_iter().filter(|(key, ..)| fields.has(key)) {
            reader.problem_at(fields, key, what, cure);
        }
    } else if !fields.has("size") && !fields.is_meant("size") {
        let cure = "add `size`: Size of the value, such as `100 B`";
        reader.problem(fields.map_place, "`size` is missing", cure);
    }
    if read.is_letters == Some(true) {
        for other in ["file", "compressibility"]
            .into_iter()
            .filter(|key| fields.has(key))
        {
            let what = format!("`content: letters` and `{other}` exclude each other");
            reader.problem_at(fields, other, what, "remove one of them");
        }
    }
    let values = read.file?.or(read.size?);
    Some(RecordPlan {
        content: match read.is_letters? {
            true => Content::Letters,
            false => Content::Random,
        },
        key: read.key?,
        headers: read.headers?,
        null_values: read.null_values?,
        compressibility: read.compressibility?,
        ..values?
    })
}

fn value_size() -> ValueKind<u32> {
    size(1..=VALUE_BYTES_MAX)
}

fn of_sizes(sizes: SizePlan) -> RecordPlan {
    let mean = SizeTable::mean_of(&sizes).round() as u32;
    RecordPlan {
        sizes: Some(sizes),
        ..RecordPlan::of_values(mean.max(1))
    }
}

fn uniform(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    read: UniformSizes,
) -> Option<SizePlan> {
    let (from, to) = (read.from?, read.to?);
    ascending(reader, fields, from, to)?;
    Some(SizePlan::Uniform { from, to })
}

fn ascending(reader: &mut ValueReader<'_>, fields: &Fields<'_>, from: u32, to: u32) -> Option<()> {
    if from <= to {
        return Some(());
    }
    let what = format!("{} is less than `from`", ByteSize(to.into()));
    reader.problem_at(fields, "to", what, "make it at least `from`");
    None
}

fn normal(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    read: NormalSizes,
) -> Option<SizePlan> {
    const DEVIATIONS: u64 = 4;
    let (mean, deviation, from) = (read.mean?, read.deviation?, read.from?);
    let widest = u64::from(mean) + DEVIATIONS * u64::from(deviation);
    let to = read.to?.unwrap_or(widest.min(VALUE_BYTES_MAX) as u32);
    ascending(reader, fields, from, to)?;
    let (mean, deviation) = (mean.into(), deviation.into());
    Some(SizePlan::Normal {
        mean,
        deviation,
        from,
        to,
    })
}

fn lognormal(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    read: LognormalSizes,
) -> Option<SizePlan> {
    const TIMES: u64 = 10;
    let (median, p99) = (read.median?, read.p99?);
    if p99 <= median {
        let what = "`p99` is not above the median";
        reader.problem_at(fields, "p99", what, "make it more than the median");
        return None;
    }
    let widest = TIMES * u64::from(p99);
    let to = read.to?.unwrap_or(widest.min(VALUE_BYTES_MAX) as u32);
    let from = read.from?;
    ascending(reader, fields, from, to)?;
    let (median, p99) = (median.into(), p99.into());
    Some(SizePlan::Lognormal {
        median,
        p99,
        from,
        to,
    })
}

fn weighted_size(
    _: &mut ValueReader<'_>,
    _: &Fields<'_>,
    read: WeightedKeys,
) -> Option<WeightedSize> {
    Some(WeightedSize {
        bytes: read.size?,
        weight: read.weight?,
    })
}

fn weighted() -> ValueKind<SizePlan> {
    whole_list(map::<WeightedKeys>()).then(|reader, place, sizes| {
        let what = if sizes.len() > WEIGHTS_MAX {
            "too many sizes"
        } else if sizes.iter().all(|size| size.weight == 0.0) {
            "every weight is 0"
        } else {
            return Some(SizePlan::Weighted { sizes });
        };
        let cure = format!("write 1 to {WEIGHTS_MAX} sizes, one of them with a weight above 0");
        reader.refuse(place, what, cure)
    })
}

/// `Some(None)` for null keys.
#[allow(
    clippy::option_option,
    reason = "the outer one tells whether the value is right"
)]
fn key(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<Option<KeyPlan>> {
    let Some(text) = node.as_text() else {
        return Keys::read_map(reader, node);
    };
    if Keys::KEYS.key(text).is_some() {
        let what = format!("`{text}` needs parameters");
        let cure = format!("write `{{{text}: {{keys: 10k}}}}`");
        return reader.refuse(node.place, what, cure);
    }
    reader.choice(node, &[("none", None)])
}

fn key_size(_: &mut ValueReader<'_>, _: &Fields<'_>, read: KeySize) -> Option<u32> {
    read.size
}

fn uniform_keys(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    read: UniformKeys,
) -> Option<KeyPlan> {
    key_plan(
        reader,
        fields,
        read.keys.map(Some),
        Some(KeyChoice::Uniform),
    )
}

fn zipf_keys(reader: &mut ValueReader<'_>, fields: &Fields<'_>, read: ZipfKeys) -> Option<KeyPlan> {
    let choice = read.exponent.map(|exponent| KeyChoice::Zipf { exponent });
    key_plan(reader, fields, read.keys.map(Some), choice)
}

fn sequence_keys(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    read: SequenceKeys,
) -> Option<KeyPlan> {
    key_plan(reader, fields, read.keys, Some(KeyChoice::Sequence))
}

#[allow(
    clippy::option_option,
    reason = "the outer one tells whether the value is right"
)]
fn key_plan(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    keys: Option<Option<u64>>,
    choice: Option<KeyChoice>,
) -> Option<KeyPlan> {
    let key_bytes = KeySize::read_keys(reader, fields)?;
    let keys = keys?;
    if let (Some(keys), Some(most)) = (keys, KeyPlan::keys_max(key_bytes))
        && keys > most
    {
        let what = format!("{key_bytes} bytes distinguish only {most} keys");
        reader.problem_at(fields, "size", what, "make the key larger");
        return None;
    }
    let choice = choice?;
    Some(KeyPlan {
        key_bytes,
        keys,
        choice,
    })
}

fn headers(_: &mut ValueReader<'_>, _: &Fields<'_>, read: HeadersKeys) -> Option<HeadersPlan> {
    Some(HeadersPlan {
        count: read.count?,
        key_bytes: read.key_bytes?,
        value_bytes: read.value_bytes?,
    })
}

/// A delimiter may consist of blanks, which a text may not.
fn delimiter(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<String> {
    match node.as_text() {
        Some(text) if !text.is_empty() && text.len() <= 64 => Some(text.to_owned()),
        _ => reader.refuse(
            node.place,
            "the delimiter is empty or too long",
            "write 1 to 64 bytes",
        ),
    }
}

fn file(reader: &mut ValueReader<'_>, fields: &Fields<'_>, read: FileKeys) -> Option<RecordPlan> {
    let (delimiter, at_random) = (read.delimiter?, read.at_random);
    let plan = reader.field(fields, "path", |reader, node| {
        file_records(reader, node, &delimiter)
    })?;
    let file = plan.file.map(|file| RecordFile {
        at_random: at_random.unwrap_or_default(),
        ..file
    });
    at_random.map(|_| RecordPlan { file, ..plan })
}

fn file_records(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
    delimiter: &str,
) -> Option<RecordPlan> {
    let path = reader.text(node)?;
    match reader.sources.files.records(&path, delimiter) {
        Ok((file, mean)) => Some(RecordPlan {
            file: Some(file),
            ..RecordPlan::of_values(mean)
        }),
        Err(why) => {
            let what = format!("cannot use `{}`: {why}", shorten(&path));
            let cure = "write the path of a file of records, relative to the scenario's folder";
            reader.refuse(node.place, what, cure)
        }
    }
}
