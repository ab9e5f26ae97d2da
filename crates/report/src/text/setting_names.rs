//! What the settings of a plan are called in a scenario, and their values as they are written there: a plan has
//! `linger_ns` 20,000,000 where a scenario has `linger.ms` 20.

use kgauge_analyze::compare::SettingDifference;
use serde_json::Value;

use crate::format;

/// How Kafka writes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// As it is.
    Plain,
    /// In milliseconds.
    Ms,
}

/// A setting in a plan, and Kafka's key for it.
const KEYS: [(&str, &str, Unit); 33] = [
    ("batch_bytes", "batch.size", Unit::Plain),
    ("linger_ns", "linger.ms", Unit::Ms),
    ("buffer_bytes", "buffer.memory", Unit::Plain),
    ("block_ns_max", "max.block.ms", Unit::Ms),
    (
        "in_flight_max",
        "max.in.flight.requests.per.connection",
        Unit::Plain,
    ),
    ("request_bytes_max", "max.request.size", Unit::Plain),
    ("compression.codec", "compression.type", Unit::Plain),
    ("compression.level", "compression level", Unit::Plain),
    ("idempotence", "enable.idempotence", Unit::Plain),
    ("retry_backoff_ns", "retry.backoff.ms", Unit::Ms),
    ("retry_backoff_ns_max", "retry.backoff.max.ms", Unit::Ms),
    ("delivery_timeout_ns", "delivery.timeout.ms", Unit::Ms),
    ("request_timeout_ns", "request.timeout.ms", Unit::Ms),
    (
        "partitioner_ignores_keys",
        "partitioner.ignore.keys",
        Unit::Plain,
    ),
    (
        "partitioner_adaptive",
        "partitioner.adaptive.partitioning.enable",
        Unit::Plain,
    ),
    (
        "partitioner_availability_ns",
        "partitioner.availability.timeout.ms",
        Unit::Ms,
    ),
    ("transactional_id", "transactional.id", Unit::Plain),
    ("transaction_timeout_ns", "transaction.timeout.ms", Unit::Ms),
    ("send_buffer_bytes", "send.buffer.bytes", Unit::Plain),
    ("receive_buffer_bytes", "receive.buffer.bytes", Unit::Plain),
    ("client_id", "client.id", Unit::Plain),
    ("metadata_age_ns_max", "metadata.max.age.ms", Unit::Ms),
    ("fetch_bytes_min", "fetch.min.bytes", Unit::Plain),
    ("fetch_wait_ns_max", "fetch.max.wait.ms", Unit::Ms),
    ("fetch_bytes_max", "fetch.max.bytes", Unit::Plain),
    (
        "partition_fetch_bytes_max",
        "max.partition.fetch.bytes",
        Unit::Plain,
    ),
    ("check_crcs", "check.crcs", Unit::Plain),
    ("read_committed", "isolation.level", Unit::Plain),
    ("session_timeout_ns", "session.timeout.ms", Unit::Ms),
    ("heartbeat_ns", "heartbeat.interval.ms", Unit::Ms),
    ("rebalance_timeout_ns", "max.poll.interval.ms", Unit::Ms),
    ("instance_id", "group.instance.id", Unit::Plain),
    ("commit_ns", "auto.commit.interval.ms", Unit::Ms),
];

/// `writers.linger.ms 20 in l20, 0 in l0`.
pub(super) fn text(setting: &SettingDifference, ours: &str, theirs: &str) -> String {
    let (name, unit) = name(&setting.path);
    let value = |value: &Value| match unit {
        Unit::Ms => milliseconds(value),
        Unit::Plain => plain(&setting.path, value),
    };
    let (one, other) = (value(&setting.ours), value(&setting.theirs));
    format!("{name} {one} in {ours}, {other} in {theirs}")
}

/// `writers.linger.ms`, and how its values are written.
fn name(path: &str) -> (String, Unit) {
    let path = path.strip_prefix("flows.").unwrap_or(path);
    for part in [".settings.", ".group."] {
        let Some((flow, key)) = path.split_once(part) else {
            continue;
        };
        if let Some((_, name, unit)) = KEYS.iter().find(|(known, ..)| *known == key) {
            return (format!("{flow}.{name}"), *unit);
        }
        return (format!("{flow}.{}", key.replace('_', ".")), Unit::Plain);
    }
    if let Some(key) = path.strip_prefix("topic.config.") {
        return (format!("topic.{key}"), Unit::Plain);
    }
    let path = path.replace(".record.value_bytes", ".record.size");
    let without_unit = ["_ns_max", "_ns", "_bytes", "_per_second"]
        .iter()
        .find_map(|unit| path.strip_suffix(unit));
    let name = without_unit.unwrap_or(&path).replace(".per_second", "");
    (name.replace('_', "-"), Unit::Plain)
}

fn milliseconds(value: &Value) -> String {
    match value.as_f64() {
        Some(ns) => format!("{}", ns / 1e6),
        None => brief(value),
    }
}

fn plain(path: &str, value: &Value) -> String {
    let Some(number) = value.as_f64() else {
        return brief(value);
    };
    if path.ends_with("_ns") || path.ends_with("_ns_max") {
        format::nanoseconds(number)
    } else if path.ends_with("value_bytes") {
        format!("{} B", format::count(number as u64))
    } else if path.ends_with("per_second") {
        format!("{}/s", format::all_digits(number))
    } else {
        brief(value)
    }
}

fn brief(value: &Value) -> String {
    const CHARS_MAX: usize = 40;
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    };
    text.chars().take(CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(path: &str, ours: Value, theirs: Value) -> String {
        let setting = SettingDifference {
            path: path.to_owned(),
            ours,
            theirs,
        };
        text(&setting, "l20", "l0")
    }

    #[test]
    fn a_setting_has_the_name_and_the_unit_that_its_user_writes() {
        assert_eq!(
            words(
                "flows.writers.settings.linger_ns",
                20_000_000.into(),
                0.into()
            ),
            "writers.linger.ms 20 in l20, 0 in l0"
        );
        assert_eq!(
            words(
                "flows.writers.settings.compression.codec",
                "lz4".into(),
                "none".into()
            ),
            "writers.compression.type lz4 in l20, none in l0"
        );
        assert_eq!(
            words("flows.writers.record.value_bytes", 1_000.into(), 100.into()),
            "writers.record.size 1,000 B in l20, 100 B in l0"
        );
        assert_eq!(
            words("stages.hold_ns", 20_000_000_000_u64.into(), Value::Null),
            "stages.hold 20.0 s in l20, none in l0"
        );
        assert_eq!(
            words(
                "flows.writers.shape.constant.per_second",
                5_000.0.into(),
                2_000.0.into()
            ),
            "writers.shape.constant 5,000/s in l20, 2,000/s in l0"
        );
        assert_eq!(
            words("topic.config.retention.ms", "1".into(), "2".into()),
            "topic.retention.ms 1 in l20, 2 in l0"
        );
    }
}
