//! `kafka-verifiable-producer`: writes increasing numbers, and prints a line of JSON for each.

use std::time::Duration;

use kgauge_load::{Clock, partition_for_key};

use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::failure::{ToolFailure, ToolResult, ToolStatus};
use crate::java::double;
use crate::load::{connect, topic_on_demand};
use crate::options::ParsedOptions;
use crate::record_writer::{OutgoingRecord, RecordWriter, WriterSettings};
use crate::verifiable_events::EventPrinter;

/// The maximum number of records per batch, small enough for a steady flow of lines.
const BATCH_RECORDS: u64 = 500;

pub(crate) fn run(call: &ToolCall, context: &ToolContext<'_>) -> ToolResult {
    let given = call.options(context)?;
    let args = VerifiableProducerArgs::new(&given)?;
    args.run(given.has("exit-zero-on-failures"), context)
}

/// The options, checked.
#[derive(Debug)]
struct VerifiableProducerArgs {
    topic: String,
    servers: String,
    records: u64,
    throughput: i64,
    acks: i64,
    file: Option<String>,
    create_time_ms: Option<i64>,
    prefix: Option<i64>,
    keys: Option<u64>,
}

/// The progress of a producer.
#[derive(Debug, Default)]
struct SendProgress {
    sent: u64,
    acked: u64,
    batches: u64,
}

impl VerifiableProducerArgs {
    fn new(given: &ParsedOptions) -> Result<VerifiableProducerArgs, ToolFailure> {
        let number = |name: &str, kind| given.number::<i64>(name, kind);
        let unsigned = |name: &str| -> Result<Option<u64>, ToolFailure> {
            Ok(number(name, "Integer")?.and_then(|number| u64::try_from(number).ok()))
        };
        let servers = ["bootstrap-server", "broker-list"];
        let file = given.first_of(&["command-config", "producer.config"]);
        Ok(VerifiableProducerArgs {
            topic: given.required(&["topic"])?.to_owned(),
            servers: given.required(&servers)?.to_owned(),
            records: unsigned("max-messages")?.unwrap_or(u64::MAX),
            throughput: number("throughput", "Integer")?.unwrap_or(-1),
            acks: number("acks", "Integer")?.unwrap_or(-1),
            file: file.map(str::to_owned),
            create_time_ms: number("message-create-time", "Long")?.filter(|&at_ms| at_ms >= 0),
            prefix: number("value-prefix", "Integer")?,
            keys: unsigned("repeating-keys")?.filter(|&keys| keys > 0),
        })
    }

    fn run(&self, zero_on_failures: bool, context: &ToolContext<'_>) -> ToolResult {
        let (file, acks) = (self.file.as_deref(), self.acks.to_string());
        let settings = ("retries", "0");
        let settings = WriterSettings::read(&self.servers, &acks, file, settings, context)?;
        let WriterSettings { client, producer } = settings;
        let events = EventPrinter::new(&self.topic, context);
        events.print("startup_complete", &[]);
        let mut cluster = connect(&client, context)?;
        let patience = Duration::from_nanos(producer.block_ns_max);
        let topic = topic_on_demand(&mut cluster, &self.topic, patience, context)?;
        let partitions = topic.partitions.len();
        let mut writer = RecordWriter::new(cluster, &self.topic, partitions, &producer)?;
        let (clock, mut progress) = (Clock::start(), SendProgress::default());
        while progress.sent < self.records && !context.wants_end() {
            match self.due(progress.sent, clock.now_ns()) {
                0 => std::thread::sleep(Duration::from_millis(1)),
                due => {
                    let now_ms = clock.unix_ms(clock.now_ns());
                    let records = (progress.sent..).take(due);
                    let records = records.map(|number| self.record(number, now_ms)).collect();
                    send(&mut writer, &events, &mut progress, records);
                }
            }
        }
        let seconds = clock.now_ns() as f64 / 1e9;
        events.print("shutdown_complete", &[]);
        events.print(
            "tool_data",
            &[
                ("sent", progress.sent.to_string()),
                ("acked", progress.acked.to_string()),
                ("target_throughput", self.throughput.to_string()),
                ("avg_throughput", double(progress.acked as f64 / seconds)),
            ],
        );
        let has_failures = progress.acked < progress.sent;
        Ok(ToolStatus::failed_if(has_failures && !zero_on_failures))
    }

    /// The number of records that are due and fit a batch. The first one is due at once.
    fn due(&self, sent: u64, now_ns: u64) -> usize {
        let due = match u64::try_from(self.throughput) {
            Err(_) => u64::MAX,
            Ok(rate) => {
                let all = u128::from(now_ns) * u128::from(rate) / 1_000_000_000 + 1;
                u64::try_from(all).unwrap_or(u64::MAX).saturating_sub(sent)
            }
        };
        due.min(self.records - sent).min(BATCH_RECORDS) as usize
    }

    fn record(&self, number: u64, now_ms: i64) -> OutgoingRecord {
        let value = match &self.prefix {
            Some(prefix) => format!("{prefix}.{number}"),
            None => number.to_string(),
        };
        let from_ms = |from_ms: i64| from_ms + number.cast_signed();
        OutgoingRecord {
            key: self
                .keys
                .map(|keys| (number % keys).to_string().into_bytes()),
            value: value.into_bytes(),
            headers: Vec::new(),
            timestamp_ms: self.create_time_ms.map_or(now_ms, from_ms),
        }
    }
}

/// Sends records, a batch per partition, and prints their events.
fn send(
    writer: &mut RecordWriter<'_>,
    events: &EventPrinter<'_>,
    progress: &mut SendProgress,
    records: Vec<OutgoingRecord>,
) {
    let partitions = writer.partitions;
    // Records without a key stay together; the next batch goes to the next partition.
    let sticky = (progress.batches % u64::from(partitions)) as u32;
    progress.batches += 1;
    progress.sent += records.len() as u64;
    let mut batches = vec![Vec::new(); partitions as usize];
    for record in records {
        let key = record.key.as_deref();
        let partition = key.map_or(sticky, |key| partition_for_key(key, partitions));
        batches[partition as usize].push(record);
    }
    for (batch, partition) in batches.iter().zip(0..) {
        if batch.is_empty() {
            continue;
        }
        match writer.send(partition, batch) {
            Ok(offset) => {
                progress.acked += batch.len() as u64;
                for (record, offset) in batch.iter().zip(offset..) {
                    events.sent(record, partition, offset);
                }
            }
            Err(error) => batch
                .iter()
                .for_each(|record| events.failed(record, &error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::option_tables::VERIFIABLE_PRODUCER;
    use crate::options;

    fn args(line: &str) -> Result<VerifiableProducerArgs, ToolFailure> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        VerifiableProducerArgs::new(&options::read(&VERIFIABLE_PRODUCER, &words)?)
    }

    #[test]
    fn values_and_keys_are_numbers() {
        let line = "--topic v --bootstrap-server a:1 --value-prefix 7 --repeating-keys 2";
        let record = args(line).unwrap().record(1, 0);
        assert_eq!(record.key.as_deref(), Some(&b"1"[..]));
        assert_eq!(record.value, b"7.1");
        let record = args("--topic v --broker-list a:1").unwrap().record(3, 9);
        assert_eq!((record.key, record.timestamp_ms), (None, 9));
        assert_eq!(record.value, b"3");
    }

    #[test]
    fn a_missing_option_is_named() {
        for (line, wording) in [
            ("--topic v", "argument --bootstrap-server is required"),
            ("--bootstrap-server a:1", "argument --topic is required"),
        ] {
            assert_eq!(args(line).unwrap_err().to_string(), wording);
        }
    }

    #[test]
    fn the_throughput_limits_the_number_of_due_records() {
        let line = "--topic v --bootstrap-server a:1 --max-messages 10";
        let slow = args(&format!("{line} --throughput 0")).unwrap();
        assert_eq!((slow.due(0, 0), slow.due(1, 0)), (1, 0));
        let fast = args(line).unwrap();
        assert_eq!(fast.due(7, 0), 3);
    }
}
