//! The command that printed a line, if the text contains it.

/// Settings of a command line of `kafka-producer-perf-test`, from the text before a line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Context {
    /// The command's line in the text, from 1.
    pub line: usize,
    /// `--num-records`.
    pub records: Option<u64>,
    /// `--record-size`.
    pub record_bytes: Option<u64>,
    /// `--throughput`; -1 is no limit.
    pub throughput: Option<f64>,
    /// `buffer.memory`.
    pub buffer_bytes: Option<u64>,
    /// `batch.size`.
    pub batch_bytes: Option<u64>,
    /// `compression.type`, unless it is `none`.
    pub codec: Option<String>,
    /// Records come from a file.
    pub has_payload_file: bool,
}

/// Reads a command from a line of text; `None` if there is none.
pub(crate) fn command(text: &str, line: usize) -> Option<Context> {
    let old = text.contains("ProducerPerformance");
    if !text.contains("kafka-producer-perf-test") && !old {
        return None;
    }
    let words: Vec<&str> = text
        .split(|one: char| one.is_whitespace() || matches!(one, '"' | '\'' | '`'))
        .filter(|word| !word.is_empty())
        .collect();
    let option = |name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1).copied()
    };
    let setting = |name: &str| {
        let mut found = words.iter().filter_map(|word| word.split_once('='));
        found.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let mut context = Context {
        line,
        records: option("--num-records").and_then(|value| value.parse().ok()),
        record_bytes: option("--record-size").and_then(|value| value.parse().ok()),
        throughput: option("--throughput").and_then(|value| value.parse().ok()),
        buffer_bytes: setting("buffer.memory").and_then(|value| value.parse().ok()),
        batch_bytes: setting("batch.size").and_then(|value| value.parse().ok()),
        codec: setting("compression.type")
            .filter(|value| *value != "none")
            .map(str::to_owned),
        has_payload_file: option("--payload-file").is_some(),
    };
    if old {
        // The arguments are topic, records, record bytes and limit.
        let at = words
            .iter()
            .position(|word| word.ends_with("ProducerPerformance"));
        let place = |n: usize| words.get(at? + n).copied();
        context.records = place(2).and_then(|value| value.parse().ok());
        context.record_bytes = place(3).and_then(|value| value.parse().ok());
        context.throughput = place(4).and_then(|value| value.parse().ok());
    }
    let is_one = context.records.is_some() || context.record_bytes.is_some();
    is_one.then_some(context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_both_ages_are_read() {
        let text = "  \"cmd\": \"kafka-producer-perf-test --topic t --num-records 10000000 --record-size 250 \
                    --throughput 1000000 --producer-props acks=1 buffer.memory=67108864 compression.type=lz4 \
                    batch.size=100000 linger.ms=10\",";
        let found = command(text, 7).unwrap();
        assert_eq!(
            (found.line, found.records, found.record_bytes),
            (7, Some(10_000_000), Some(250))
        );
        assert_eq!(found.throughput, Some(1e6));
        assert_eq!(
            (found.buffer_bytes, found.batch_bytes),
            (Some(67_108_864), Some(100_000))
        );
        assert_eq!(found.codec.as_deref(), Some("lz4"));
        let old = "bin/kafka-run-class.sh org.apache.kafka.clients.tools.ProducerPerformance test7 50000000 100 -1 \
                   acks=1 bootstrap.servers=s:9092 buffer.memory=67108864 batch.size=8196";
        let found = command(old, 1).unwrap();
        assert_eq!(
            (found.records, found.record_bytes, found.throughput),
            (Some(50_000_000), Some(100), Some(-1.0))
        );
        assert_eq!(found.codec, None);
        assert_eq!(command("use kafka-producer-perf-test, a tool", 1), None);
    }
}
