//! Kafka's client settings, with Kafka's own rules about which go together.

use super::group::group_settings;
use crate::keys::{CONSUMER_SETTINGS, PARTITIONER, PRODUCER_SETTINGS};
use crate::reader::{Fields, ValueReader};
use crate::settings::{
    Acks, Compression, CompressionCodec, ConsumerSettings, GroupPlan, Partitioner, ProducerSettings,
};
use crate::tree::YamlNode;
use crate::units;

/// Kafka counts sizes and most times in i32.
const INT_MAX: i64 = i32::MAX as i64;
/// 1 TiB: no producer buffers more.
const BUFFER_BYTES_MAX: i64 = 1 << 40;
const NS_PER_MS: u64 = 1_000_000;
/// Kafka's `IDEMPOTENCE` limit: the broker remembers five batches of each producer.
const IN_FLIGHT_IDEMPOTENT_MAX: i64 = 5;

/// Reads producer settings. `varied` says which of the flow's keys `vary` changes.
pub(crate) fn producer_settings(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
    flow: &str,
    varied: &dyn Fn(&str) -> bool,
) -> Option<ProducerSettings> {
    let fields = &reader.map(node, &PRODUCER_SETTINGS)?;
    let acks = acks(reader, fields);
    let batch = bytes(reader, fields, "batch.size", 0, INT_MAX);
    let linger = time(reader, fields, "linger.ms");
    let buffer = bytes(reader, fields, "buffer.memory", 1, BUFFER_BYTES_MAX);
    let block = time(reader, fields, "max.block.ms");
    let in_flight = number(
        reader,
        fields,
        "max.in.flight.requests.per.connection",
        1,
        INT_MAX,
    );
    let request = bytes(reader, fields, "max.request.size", 1, INT_MAX);
    let compression = compression(reader, fields, varied);
    let retries = number(reader, fields, "retries", 0, INT_MAX);
    let backoff = time(reader, fields, "retry.backoff.ms");
    let backoff_max = time(reader, fields, "retry.backoff.max.ms");
    let request_timeout = request_timeout(reader, fields);
    let delivery_timeout = delivery_timeout(reader, fields, linger, request_timeout);
    let partitioner = partitioner(reader, fields);
    let adaptive = reader.field(fields, ADAPTIVE, ValueReader::flag);
    let availability = time(reader, fields, "partitioner.availability.timeout.ms");
    let transactional_id = match fields.has("transactional.id") {
        true => reader
            .field(fields, "transactional.id", ValueReader::text)
            .map(Some),
        false => Some(None),
    };
    let transaction_timeout = time(reader, fields, "transaction.timeout.ms");
    let send_buffer = socket_buffer(reader, fields, "send.buffer.bytes");
    let receive_buffer = socket_buffer(reader, fields, "receive.buffer.bytes");
    let client_id = client_id(reader, fields, flow);
    let metadata_age = time(reader, fields, "metadata.max.age.ms");
    let idempotence = idempotence(reader, fields, acks, retries, in_flight);
    batch_fits(reader, fields, batch, buffer, request);
    Some(ProducerSettings {
        acks: acks?,
        batch_bytes: u32::try_from(batch?).ok()?,
        linger_ns: linger?,
        buffer_bytes: u64::try_from(buffer?).ok()?,
        block_ns_max: block?,
        in_flight_max: u32::try_from(in_flight?).ok()?,
        request_bytes_max: u32::try_from(request?).ok()?,
        compression: compression?,
        idempotence: idempotence?,
        idempotence_asked: fields.has("enable.idempotence"),
        retries: u32::try_from(retries?).ok()?,
        // KIP-580: when it is the larger one, the maximum is used from the first retry on.
        retry_backoff_ns: backoff?.min(backoff_max?),
        retry_backoff_ns_max: backoff_max?,
        delivery_timeout_ns: delivery_timeout?,
        request_timeout_ns: request_timeout?,
        partitioner: partitioner?.0,
        partitioner_ignores_keys: partitioner?.1,
        partitioner_adaptive: adaptive?,
        partitioner_availability_ns: availability?,
        transactional_id: transactional_id?,
        transaction_timeout_ns: transaction_timeout?.max(NS_PER_MS),
        send_buffer_bytes: send_buffer?,
        receive_buffer_bytes: receive_buffer?,
        client_id: client_id?,
        metadata_age_ns_max: metadata_age?,
    })
}

/// Reads consumer settings, and those of a group's members, which `without_group` mean nothing.
pub(crate) fn consumer_settings(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
    flow: &str,
    without_group: bool,
) -> Option<(ConsumerSettings, GroupPlan)> {
    let fields = &reader.map(node, &CONSUMER_SETTINGS)?;
    let group = group_settings(reader, fields, without_group);
    let fetch_min = bytes(reader, fields, "fetch.min.bytes", 0, INT_MAX);
    let wait = time(reader, fields, "fetch.max.wait.ms");
    let fetch_max = bytes(reader, fields, "fetch.max.bytes", 0, INT_MAX);
    let partition_max = bytes(reader, fields, "max.partition.fetch.bytes", 0, INT_MAX);
    let check_crcs = reader.field(fields, "check.crcs", ValueReader::flag);
    let read_committed = reader.field(fields, "isolation.level", |reader, node| {
        let choices = [("read_uncommitted", false), ("read_committed", true)];
        reader.choice(node, &choices)
    });
    number(reader, fields, "max.poll.records", 1, INT_MAX)?;
    let request_timeout = request_timeout(reader, fields);
    let receive_buffer = socket_buffer(reader, fields, "receive.buffer.bytes");
    let send_buffer = socket_buffer(reader, fields, "send.buffer.bytes");
    let client_id = client_id(reader, fields, flow);
    if let (Some(wait), Some(timeout)) = (wait, request_timeout)
        && wait >= timeout
    {
        let what = "`fetch.max.wait.ms` is not less than `request.timeout.ms`";
        let cure = "make `fetch.max.wait.ms` smaller than `request.timeout.ms`";
        reader.problem_at(fields, "fetch.max.wait.ms", what, cure);
    }
    if let (Some(min), Some(max)) = (fetch_min, fetch_max)
        && min > max
    {
        let what = "`fetch.min.bytes` is more than `fetch.max.bytes`";
        let cure = "make it smaller; the broker would wait for more than it may send";
        reader.problem_at(fields, "fetch.min.bytes", what, cure);
    }
    let settings = ConsumerSettings {
        fetch_bytes_min: u32::try_from(fetch_min?).ok()?,
        fetch_wait_ns_max: wait?,
        fetch_bytes_max: u32::try_from(fetch_max?).ok()?,
        partition_fetch_bytes_max: u32::try_from(partition_max?).ok()?,
        check_crcs: check_crcs?,
        read_committed: read_committed?,
        request_timeout_ns: request_timeout?,
        receive_buffer_bytes: receive_buffer?,
        send_buffer_bytes: send_buffer?,
        client_id: client_id?,
    };
    Some((settings, group?))
}

const ADAPTIVE: &str = "partitioner.adaptive.partitioning.enable";

/// The partitioner, by kgauge's word or Kafka's class, and whether it ignores keys.
fn partitioner(reader: &mut ValueReader<'_>, fields: &Fields<'_>) -> Option<(Partitioner, bool)> {
    let ignores_keys = reader.field(fields, "partitioner.ignore.keys", ValueReader::flag)?;
    let word = reader.field(fields, "partitioner", partitioner_word)?;
    if !fields.has("partitioner.class") {
        return Some((word, ignores_keys));
    }
    if fields.has("partitioner") {
        let what = "`partitioner` and `partitioner.class` exclude each other";
        reader.problem_at(fields, "partitioner.class", what, "remove one of them");
        return None;
    }
    reader.field(fields, "partitioner.class", |reader, node| {
        let class = reader.scalar(node, "a Kafka class")?;
        match class.rsplit('.').next() {
            Some("RoundRobinPartitioner") => Some((Partitioner::RoundRobin, ignores_keys)),
            Some("DefaultPartitioner") => Some((Partitioner::Sticky, ignores_keys)),
            Some("UniformStickyPartitioner") => Some((Partitioner::Sticky, true)),
            _ => {
                let what = format!("`{}` cannot be loaded", crate::reader::shorten(class));
                let cure = "kgauge cannot load Java classes: write `RoundRobinPartitioner`, or \
                    remove it for Kafka's built-in partitioner";
                reader.problem(node.place, what, cure);
                None
            }
        }
    })
}

fn partitioner_word(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<Partitioner> {
    if node.as_text().is_some() {
        let choices = [
            ("sticky", Partitioner::Sticky),
            ("round-robin", Partitioner::RoundRobin),
        ];
        return reader.choice(node, &choices);
    }
    let fields = reader.map(node, &PARTITIONER)?;
    let name = reader.only(node, &fields)?;
    let number = reader.field(&fields, name, |reader, node| {
        reader.count_u32(node, 0..=i32::MAX as u32)
    })?;
    Some(match name {
        "broker" => Partitioner::Broker(i32::try_from(number).ok()?),
        _ => Partitioner::Partition(number),
    })
}

fn acks(reader: &mut ValueReader<'_>, fields: &Fields<'_>) -> Option<Acks> {
    let choices = [
        ("all", Acks::All),
        ("-1", Acks::All),
        ("1", Acks::Leader),
        ("0", Acks::None),
    ];
    reader.field(fields, "acks", |reader, node| reader.choice(node, &choices))
}

/// Kafka's rules (`ProducerConfig.postProcessAndValidateIdempotenceConfigs` of 4.3.1): asked for
/// and impossible is an error; not asked for and impossible switches it off, except that too many
/// requests in flight are an error even then.
fn idempotence(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    acks: Option<Acks>,
    retries: Option<i64>,
    in_flight: Option<i64>,
) -> Option<bool> {
    let asked = fields.has("enable.idempotence");
    let wanted = match asked {
        true => reader.field(fields, "enable.idempotence", ValueReader::flag)?,
        false => true,
    };
    if !wanted {
        return Some(false);
    }
    let mut conflict = |key: &str, what: &str, cure: &str| {
        reader.problem_at(fields, key, what, cure);
    };
    if in_flight? > IN_FLIGHT_IDEMPOTENT_MAX {
        conflict(
            "max.in.flight.requests.per.connection",
            "an idempotent producer may have at most 5 requests in flight",
            "write at most 5, or `enable.idempotence: false` (Kafka requires this even with acks \
             1)",
        );
    }
    if asked && acks? != Acks::All {
        conflict(
            "acks",
            "an idempotent producer needs `acks: all`",
            "write `acks: all`, or remove `enable.idempotence`",
        );
    }
    if asked && retries? == 0 {
        conflict(
            "retries",
            "an idempotent producer needs retries",
            "remove `retries`, or remove `enable.idempotence`",
        );
    }
    Some(acks? == Acks::All && retries? > 0)
}

fn compression(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    varied: &dyn Fn(&str) -> bool,
) -> Option<Compression> {
    let codec = reader.field(fields, "compression.type", |reader, node| {
        let choices = CompressionCodec::ALL.map(|codec| (codec.name(), codec));
        reader.choice(node, &choices)
    });
    let mut level = None;
    for (key, owner, low, high) in [
        ("compression.gzip.level", CompressionCodec::Gzip, 1, 9),
        ("compression.lz4.level", CompressionCodec::Lz4, 9, 9),
        (
            "compression.zstd.level",
            CompressionCodec::Zstd,
            -131_072,
            22,
        ),
    ] {
        let value = reader.field(fields, key, |reader, node| {
            let default = owner == CompressionCodec::Gzip && node.as_text() == Some("-1");
            if default {
                Some(-1)
            } else if owner == CompressionCodec::Lz4 && node.as_text() != Some("9") {
                let what = "only level 9, LZ4's fast compressor, is available";
                let cure = "write 9; Kafka uses LZ4's slow compressor for all other levels";
                reader.problem(node.place, what, cure);
                None
            } else {
                integer(reader, node, low, high)
            }
        });
        let chosen = codec.is_none_or(|codec| codec == owner);
        if chosen {
            level = value.and_then(|value| i32::try_from(value).ok());
        } else if fields.has(key) && !varied("settings.compression.type") {
            let what = format!("`{key}` has no effect with another codec");
            let cure = "choose the codec with `compression.type`, or remove the level";
            reader.problem_at(fields, key, what, cure);
        }
    }
    let codec = codec?;
    let has_levels = !matches!(codec, CompressionCodec::None | CompressionCodec::Snappy);
    Some(Compression {
        codec,
        level: level.filter(|_| has_levels),
    })
}

/// `KafkaProducer.configureDeliveryTimeout`: too short is an error when it was written, and is
/// raised when it was not.
fn delivery_timeout(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    linger: Option<u64>,
    request_timeout: Option<u64>,
) -> Option<u64> {
    const DEFAULT_NS: u64 = 120_000 * NS_PER_MS;
    let least = linger? + request_timeout?;
    if !fields.has("delivery.timeout.ms") {
        return Some(DEFAULT_NS.max(least));
    }
    let value = time(reader, fields, "delivery.timeout.ms")?;
    if value < least {
        let what = "`delivery.timeout.ms` is less than `linger.ms` + `request.timeout.ms`";
        let cure = format!(
            "write at least {}, or shorten the others",
            least / NS_PER_MS
        );
        reader.problem_at(fields, "delivery.timeout.ms", what, cure);
    }
    Some(value)
}

/// A batch must fit its buffer and its request, or every send would fail.
fn batch_fits(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    batch: Option<i64>,
    buffer: Option<i64>,
    request: Option<i64>,
) {
    let Some(batch) = batch else { return };
    for (limit, key) in [(buffer, "buffer.memory"), (request, "max.request.size")] {
        if limit.is_some_and(|limit| batch > limit) {
            let what = format!("`batch.size` is more than `{key}`");
            let key_written = if fields.has("batch.size") {
                "batch.size"
            } else {
                key
            };
            let cure = format!("make `batch.size` smaller or `{key}` larger");
            reader.problem_at(fields, key_written, what, cure);
        }
    }
}

fn request_timeout(reader: &mut ValueReader<'_>, fields: &Fields<'_>) -> Option<u64> {
    let value = time(reader, fields, "request.timeout.ms")?;
    if value == 0 {
        let cure = "write at least 1; with 0 every request fails at once";
        reader.problem_at(fields, "request.timeout.ms", "the time is 0", cure);
        return None;
    }
    Some(value)
}

fn client_id(reader: &mut ValueReader<'_>, fields: &Fields<'_>, flow: &str) -> Option<String> {
    match fields.has("client.id") {
        true => reader.field(fields, "client.id", ValueReader::text),
        false => Some(format!("kgauge-{flow}")),
    }
}

/// `Some(None)` for -1: what the operating system has.
#[allow(clippy::option_option)] // The outer one says whether it could be read.
fn socket_buffer(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    key: &str,
) -> Option<Option<u32>> {
    let value = bytes(reader, fields, key, -1, INT_MAX)?;
    Some(u32::try_from(value).ok())
}

fn number(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    key: &str,
    low: i64,
    high: i64,
) -> Option<i64> {
    reader.field(fields, key, |reader, node| integer(reader, node, low, high))
}

/// A whole number of bytes, or a size with unit.
fn bytes(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    key: &str,
    low: i64,
    high: i64,
) -> Option<i64> {
    reader.field(fields, key, |reader, node| {
        let with_unit = node.as_text().and_then(|text| units::bytes(text).ok());
        match with_unit.map(i64::try_from) {
            Some(Ok(value)) => integer_within(reader, node, value, low, high),
            _ => integer(reader, node, low, high),
        }
    })
}

/// A whole number of milliseconds, or a time with unit, in ns.
pub(super) fn time(reader: &mut ValueReader<'_>, fields: &Fields<'_>, key: &str) -> Option<u64> {
    reader.field(fields, key, |reader, node| {
        let with_unit = node.as_text().and_then(|text| units::time_ns(text).ok());
        let ms = match with_unit {
            Some(ns) if ns % NS_PER_MS != 0 => {
                let what = format!("`{key}` is in whole milliseconds");
                reader.problem(node.place, what, "write whole milliseconds");
                return None;
            }
            Some(ns) => {
                let ms = i64::try_from(ns / NS_PER_MS).unwrap_or(i64::MAX);
                integer_within(reader, node, ms, 0, INT_MAX)?
            }
            None => integer(reader, node, 0, INT_MAX)?,
        };
        u64::try_from(ms).ok().map(|ms| ms * NS_PER_MS)
    })
}

fn integer(reader: &mut ValueReader<'_>, node: &YamlNode, low: i64, high: i64) -> Option<i64> {
    let text = reader.scalar(node, "a whole number")?;
    let Ok(value) = text.parse::<i64>() else {
        let what = format!("`{}` is not a whole number", crate::reader::shorten(text));
        reader.problem(node.place, what, "write only digits, in Kafka's unit");
        return None;
    };
    integer_within(reader, node, value, low, high)
}

fn integer_within(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
    value: i64,
    low: i64,
    high: i64,
) -> Option<i64> {
    if (low..=high).contains(&value) {
        return Some(value);
    }
    reader.problem(
        node.place,
        format!("{value} is out of range"),
        format!("write {low} to {high}"),
    );
    None
}
