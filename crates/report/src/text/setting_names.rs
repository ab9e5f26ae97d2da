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

/// A setting as its user writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SettingText {
    pub(crate) name: String,
    /// With the default where it differs from that: `20 (default 5)`.
    pub(crate) value: String,
    /// Whether it differs from its default.
    pub(crate) is_changed: bool,
}

/// `writers.linger.ms`, `20 (default 5)`. A default of null is none.
pub(crate) fn setting(path: &str, value: &Value, default: &Value) -> SettingText {
    let (name, unit) = name(path);
    let is_changed = !default.is_null() && default != value;
    let own = in_unit(path, unit, value);
    SettingText {
        name,
        value: match is_changed {
            true => format!("{own} (default {})", in_unit(path, unit, default)),
            false => own,
        },
        is_changed,
    }
}

/// `writers.linger.ms 20 in l20, 0 in l0`.
pub(super) fn text(setting: &SettingDifference, ours: &str, theirs: &str) -> String {
    let (name, unit) = name(&setting.path);
    let value = |value: &Value| in_unit(&setting.path, unit, value);
    let (one, other) = (value(&setting.ours), value(&setting.theirs));
    format!("{name} {one} in {ours}, {other} in {theirs}")
}

fn in_unit(path: &str, unit: Unit, value: &Value) -> String {
    match unit {
        Unit::Ms => milliseconds(value),
        Unit::Plain => plain(path, value),
    }
}

/// `writers.linger.ms`, and how its values are written.
fn name(path: &str) -> (String, Unit) {
    let path = path.strip_prefix("flows.").unwrap_or(path);
    for part in [".consumer_settings.", ".settings.", ".group."] {
        let Some((flow, key)) = path.split_once(part) else {
            continue;
        };
        let flow = flow.strip_suffix(".produce").unwrap_or(flow);
        if let Some((_, name, unit)) = KEYS.iter().find(|(known, ..)| *known == key) {
            return (format!("{flow}.{name}"), *unit);
        }
        return (format!("{flow}.{}", key.replace('_', ".")), Unit::Plain);
    }
    if let Some(key) = path.strip_prefix("topic.config.") {
        return (format!("topic.{key}"), Unit::Plain);
    }
    let path = path
        .replace(".record.value_bytes", ".record.size")
        .replace("stages.warm_up_ns_max", "stages.warm_up_limit");
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
        return match value.as_str().filter(|_| path.ends_with("settings.acks")) {
            Some("leader") => "1".to_owned(),
            Some("none") => "0".to_owned(),
            _ => brief(value),
        };
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
    fn what_differs_from_the_default_says_so() {
        let shown = |path, value: Value, default: Value| {
            let one = setting(path, &value, &default);
            (format!("{} {}", one.name, one.value), one.is_changed)
        };
        let linger = "orders.produce.settings.linger_ns";
        assert_eq!(
            shown(linger, 20_000_000.into(), 5_000_000.into()),
            ("orders.linger.ms 20 (default 5)".to_owned(), true)
        );
        assert_eq!(
            shown(linger, 5_000_000.into(), 5_000_000.into()),
            ("orders.linger.ms 5".to_owned(), false)
        );
        assert_eq!(
            shown(
                "orders.consumer_settings.fetch_bytes_min",
                1.into(),
                Value::Null
            ),
            ("orders.fetch.min.bytes 1".to_owned(), false)
        );
        assert_eq!(
            shown("stages.hold_ns", 2_000_000_000_u64.into(), Value::Null),
            ("stages.hold 2.00 s".to_owned(), false)
        );
        assert_eq!(
            shown(
                "stages.warm_up_ns_max",
                2_000_000_000_u64.into(),
                Value::Null
            ),
            ("stages.warm-up-limit 2.00 s".to_owned(), false)
        );
        assert_eq!(
            shown("w.settings.acks", "leader".into(), "all".into()),
            ("w.acks 1 (default all)".to_owned(), true)
        );
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
