//! The scenario of the trials that show what load costs the brokers, with records like those that are to be sized.

use kgauge_wire::compress::Codec;

/// The trials, with words in place of what depends on the records.
const TRIALS: &str = include_str!("trials.yaml");
/// Kafka brokers refuse larger records by default; keys, headers and batches need some bytes too.
pub(super) const RECORD_BYTES_MAX: f64 = 900e3;
/// Twice the readers of the trials, and twice their replicas: answers reach no further.
pub(super) const FAN_OUT_MAX: f64 = 6.0;
pub(super) const REPLICAS_MAX: u32 = 6;
/// Smaller records have no place for what kgauge writes into them.
const RECORD_BYTES_MIN: f64 = 16.0;
/// The larger `batch.size` of the trials.
pub(super) const BATCH_BYTES: f64 = 65_536.0;
/// Bytes per second of the lowest scheduled rate, and the records per second that it may have: fewer have no
/// percentiles.
const LOW_BYTES_PER_S: f64 = 1e6;
const LOW_RECORDS_PER_S: [f64; 2] = [10.0, 10_000.0];
/// The scheduled rates, as multiples of the lowest one.
const SCHEDULED: [(&str, f64); 3] = [("LOW", 1.0), ("MIDDLE", 10.0), ("HIGH", 40.0)];
/// How far a codec compresses the trials' records, if neither a ratio nor a sample is given.
const COMPRESSION_DEFAULT: f64 = 2.0;

/// The text for records of `record` bytes, which the codec compresses by `ratio`.
pub(super) fn text(record: f64, codec: Codec, ratio: Option<f64>) -> String {
    let ratio = ratio.unwrap_or(COMPRESSION_DEFAULT);
    let size = |bytes: f64| format!("{} B", bytes.max(RECORD_BYTES_MIN).round());
    let of_record = match codec {
        Codec::None => size(record),
        _ => format!("{}, compressibility: {:.3}", size(record), ratio.max(1.0)),
    };
    let [least, most] = LOW_RECORDS_PER_S;
    let low = (LOW_BYTES_PER_S / record).clamp(least, most).round();
    let scheduled = SCHEDULED
        .iter()
        .fold(TRIALS.to_owned(), |text, (name, times)| {
            let rate = format!("{{constant: {}/s}}", low * times);
            text.replace(&format!("{{constant: {name}}}"), &rate)
        });
    scheduled
        .replace("{size: RECORD}", &format!("{{size: {of_record}}}"))
        .replace("size: SMALL", &format!("size: {}", size(record / 10.0)))
        .replace(
            "size: LARGE",
            &format!(
                "size: {}",
                size((record * 3.0).min(RECORD_BYTES_MAX).max(record))
            ),
        )
        .replace("type: CODEC", &format!("type: {}", codec.name()))
}

#[cfg(test)]
mod tests {
    use kgauge_scenario::Scenario;

    use super::*;

    #[test]
    fn the_measured_records_are_those_that_are_sized() {
        let plain = text(400e3, Codec::None, None);
        assert!(plain.contains("record: {size: 400000 B}"), "{plain}");
        // 4, 40 and 160 MB/s: ten records per second are the fewest.
        for rate in ["10/s", "100/s", "400/s"] {
            assert!(plain.contains(&format!("constant: {rate}")), "{plain}");
        }
        assert!(plain.contains("record.size: 40000 B") && plain.contains("record.size: 900000 B"));
        assert!(plain.contains("compression.type: none"));
        let packed = text(100.0, Codec::Zstd, Some(3.0));
        assert!(
            packed.contains("{size: 100 B, compressibility: 3.000}"),
            "{packed}"
        );
        assert!(packed.contains("record.size: 16 B") && packed.contains("type: zstd"));
        assert!(packed.contains("constant: 400000/s"), "{packed}");
        for text in [plain, packed] {
            let scenario = Scenario::parse("broker-costs", &text);
            assert!(scenario.is_ok(), "{:?}", scenario.err());
        }
    }
}
