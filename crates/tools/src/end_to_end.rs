//! `kafka-e2e-latency` and the classes before it: one record at a time, from its send until it is read back.

use std::time::{Duration, Instant};

use kgauge_client::Cluster;
use kgauge_client::admin::{CreateTopicError, TopicSpec};
use kgauge_client::cluster::Topic;
use kgauge_load::Clock;
use kgauge_results::{Histogram, Quantile};
use kgauge_scenario::Random;

use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::failure::{ToolFailure, ToolResult, ToolStatus};
use crate::java::{double, fixed};
use crate::load::{connect, topic_on_demand};
use crate::option_tables::END_TO_END;
use crate::options::{self, ParsedOptions};
use crate::record_reader::{ReaderSettings, RecordReader};
use crate::record_writer::{OutgoingRecord, RecordWriter, WriterSettings};
use crate::release::ToolRelease;

/// How long a record may take.
const RETURN_MAX: Duration = Duration::from_secs(60);

pub(crate) fn run(call: &ToolCall, context: &ToolContext<'_>) -> ToolResult {
    // Positional arguments are those of 0.8 to 4.1. Later releases accept them too.
    let by_position = options::read(&END_TO_END, &call.arguments).ok();
    let given = match by_position.filter(is_by_position) {
        Some(given) => given,
        None => call.options(context)?,
    };
    let as_of = call.release(&given, ToolRelease::NEWEST, context)?;
    let args = EndToEndArgs::new(&given, call, as_of)?;
    if is_by_position(&given) && as_of >= ToolRelease::of(4, 2, 0) {
        context.line(
            "WARNING: Positional argument usage is deprecated and will be removed in Apache \
             Kafka 5.0. Please use named arguments instead: --bootstrap-server, --topic, \
             --num-records, --producer-acks, --record-size, --command-config",
        );
    }
    if !matches!(args.acks.as_str(), "1" | "all" | "-1") {
        return ToolFailure::options(
            "Invalid value for --producer-acks. Latency testing requires synchronous \
             acknowledgement. Please use '1' or 'all'.",
        );
    }
    args.run(given.has("exit-zero-on-failures"), context)
}

fn is_by_position(given: &ParsedOptions) -> bool {
    !given.words.is_empty() && !given.has("bootstrap-server")
}

/// The arguments of a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct EndToEndArgs {
    pub(crate) servers: String,
    pub(crate) topic: String,
    pub(crate) records: u64,
    pub(crate) acks: String,
    pub(crate) value_bytes: usize,
    pub(crate) file: Option<String>,
    pub(crate) key_bytes: usize,
    pub(crate) headers: usize,
    pub(crate) header_name_bytes: usize,
    /// Below zero: null.
    pub(crate) header_value_bytes: i64,
    as_of: ToolRelease,
    /// The first tool prints different lines.
    is_first: bool,
}

impl EndToEndArgs {
    /// The arguments among a call's options, in either form.
    pub(crate) fn new(
        given: &ParsedOptions,
        call: &ToolCall,
        as_of: ToolRelease,
    ) -> Result<EndToEndArgs, ToolFailure> {
        match is_by_position(given) {
            true => {
                let is_oldest = call.name.contains("TestEndToEnd");
                EndToEndArgs::positional(&given.words, as_of, is_oldest)
            }
            false => EndToEndArgs::named(given, as_of),
        }
    }

    fn named(given: &ParsedOptions, as_of: ToolRelease) -> Result<EndToEndArgs, ToolFailure> {
        let at_least = |name: &str, least: i64| match given.number::<i64>(name, "Integer")? {
            Some(number) if number < least => {
                ToolFailure::options(format!("--{name} must be at least {least}."))
            }
            number => Ok(number),
        };
        let size = |name: &str| -> Result<usize, ToolFailure> {
            let size = at_least(name, 0)?.unwrap_or(0);
            Ok(usize::try_from(size).unwrap_or(usize::MAX))
        };
        for name in [
            "bootstrap-server",
            "topic",
            "num-records",
            "producer-acks",
            "record-size",
        ] {
            given.required(&[name])?;
        }
        let text = |name: &str| given.text(name).unwrap_or_default().to_owned();
        Ok(EndToEndArgs {
            servers: text("bootstrap-server"),
            topic: text("topic"),
            records: at_least("num-records", 1)?.unwrap_or(1).unsigned_abs(),
            acks: text("producer-acks"),
            value_bytes: size("record-size")?,
            file: given.text("command-config").map(str::to_owned),
            key_bytes: size("record-key-size")?,
            headers: size("num-headers")?,
            header_name_bytes: size("record-header-key-size")?,
            header_value_bytes: at_least("record-header-size", -1)?.unwrap_or(0),
            as_of,
            is_first: false,
        })
    }

    /// Positional arguments. Their order depends on the class and their number.
    fn positional(
        words: &[String],
        as_of: ToolRelease,
        is_oldest: bool,
    ) -> Result<EndToEndArgs, ToolFailure> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let number = |text: &str, what: &str| -> Result<u64, ToolFailure> {
            let number = text.parse().ok().filter(|&number: &u64| number > 0);
            let wrong = || ToolFailure::Failed(format!("Invalid value for {what}: {text:?}"));
            number.ok_or_else(wrong)
        };
        // The tools of 0.8 sent "hello there".
        let oldest = |servers: &str, topic: &str, records: &str, acks: &str| {
            Ok(EndToEndArgs {
                servers: servers.to_owned(),
                topic: topic.to_owned(),
                records: number(records, "num_messages")?,
                acks: acks.to_owned(),
                value_bytes: 11,
                as_of,
                ..EndToEndArgs::default()
            })
        };
        match (&words[..], is_oldest) {
            // 0.8.0 and 0.8.1.
            ([servers, _zookeeper, records], true) => Ok(EndToEndArgs {
                is_first: true,
                ..oldest(servers, "test", records, "1")?
            }),
            // Between 0.8.1 and 0.8.2: the form of LinkedIn's benchmark.
            ([servers, _zookeeper, topic, records], true) => oldest(servers, topic, records, "1"),
            ([servers, _zookeeper, topic, records, _fetch_wait, acks], true) => {
                oldest(servers, topic, records, acks)
            }
            (_, true) => Err(ToolFailure::of(
                "USAGE: java kafka.tools.TestEndToEndLatency broker_list zookeeper_connect topic \
                 num_messages consumer_fetch_max_wait producer_acks",
            )),
            ([servers, topic, records, acks, bytes, file @ ..], false) if file.len() < 2 => {
                let value_bytes = number(bytes, "record-size")?;
                Ok(EndToEndArgs {
                    servers: (*servers).to_owned(),
                    topic: (*topic).to_owned(),
                    records: number(records, "num-records")?,
                    acks: (*acks).to_owned(),
                    value_bytes: usize::try_from(value_bytes).unwrap_or(usize::MAX),
                    file: file.first().map(|&file| file.to_owned()),
                    as_of,
                    ..EndToEndArgs::default()
                })
            }
            (_, false) if as_of >= ToolRelease::of(4, 2, 0) => Err(ToolFailure::Failed(format!(
                "Invalid number of arguments. Expected 5 or 6 positional arguments, but got {}. \
                 Usage: bootstrap-server topic num-records producer-acks record-size [optional] \
                 command-config",
                words.len()
            ))),
            (_, false) => Err(ToolFailure::of(
                "USAGE: java org.apache.kafka.tools.EndToEndLatency broker_list topic num_messages \
                 producer_acks message_size_bytes [optional] properties_file",
            )),
        }
    }

    fn run(&self, zero_on_failures: bool, context: &ToolContext<'_>) -> ToolResult {
        let file = self.file.as_deref();
        let settings = ("linger.ms", "0");
        let settings = WriterSettings::read(&self.servers, &self.acks, file, settings, context)?;
        let WriterSettings { client, producer } = settings;
        let mut cluster = connect(&client, context)?;
        let topic = self.topic(&mut cluster, context)?;
        let reading = connect(&client, context)?;
        let reader = ReaderSettings {
            // As in Kafka's tool: a broker answers at once, with or without a record.
            wait: Duration::ZERO,
            request_timeout: Duration::from_nanos(producer.request_timeout_ns),
            partition_bytes_max: i32::MAX,
        };
        let partitions = topic.partitions.len();
        let mut trip = RoundTrip {
            reader: RecordReader::new(reading, &self.topic, reader),
            writer: RecordWriter::new(cluster, &self.topic, partitions, &producer)?,
        };
        let mut times = Histogram::new();
        let every = if self.is_first { 10_000 } else { 1_000 };
        let (random, clock) = (Random::new(context.seed), Clock::start());
        for index in 0..self.records {
            if context.wants_end() {
                break;
            }
            let record = self.record(random, index, clock.unix_ms(clock.now_ns()));
            let took = match trip.measure(&record, index) {
                Ok(took) => took,
                Err(failure) if zero_on_failures => {
                    context.note(&failure.to_string());
                    return Ok(ToolStatus::Good);
                }
                Err(failure) => return Err(failure),
            };
            let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
            times.record(ns, 1, index);
            if index % every == 0 {
                context.line(&format!("{index}\t{}", double(ns as f64 / 1e6)));
            }
        }
        self.print_times(&times, context);
        Ok(ToolStatus::Good)
    }

    /// The topic. As in Kafka's tool, it is created if it does not exist.
    fn topic(
        &self,
        cluster: &mut Cluster,
        context: &ToolContext<'_>,
    ) -> Result<Topic, ToolFailure> {
        let known = cluster.all_topics()?;
        let known = known.topic(&self.topic);
        let exists = known.is_some_and(|topic| topic.error.is_none());
        if !exists && self.as_of >= ToolRelease::of(2, 0, 0) {
            context.line(&format!(
                "Topic \"{}\" does not exist. Will create topic with 1 partition(s) and replication \
                 factor = 1",
                self.topic
            ));
            let created = cluster.create_topic(&TopicSpec {
                name: self.topic.clone(),
                partitions: 1,
                replication_factor: 1,
                configs: Vec::new(),
            });
            match created {
                Ok(()) | Err(CreateTopicError::Exists { .. }) => {}
                Err(error) => return Err(ToolFailure::of(error)),
            }
        }
        topic_on_demand(cluster, &self.topic, RETURN_MAX, context)
    }

    fn record(&self, random: Random, index: u64, timestamp_ms: i64) -> OutgoingRecord {
        let letters = |part: u64, count: usize| -> Vec<u8> {
            let from = Random::new(random.bits(index * 64 + part));
            (0..count as u64)
                .map(|at| b'A' + (from.bits(at) % 26) as u8)
                .collect()
        };
        let header = |number: usize| {
            let name = letters(3 + 2 * number as u64, self.header_name_bytes);
            let value = usize::try_from(self.header_value_bytes).ok();
            let value = value.map(|bytes| letters(4 + 2 * number as u64, bytes));
            (String::from_utf8(name).unwrap_or_default(), value)
        };
        OutgoingRecord {
            key: (self.key_bytes > 0).then(|| letters(1, self.key_bytes)),
            value: letters(2, self.value_bytes),
            headers: (0..self.headers).map(header).collect(),
            timestamp_ms,
        }
    }

    fn print_times(&self, times: &Histogram, context: &ToolContext<'_>) {
        for line in total(times, self.as_of, self.is_first) {
            context.line(&line);
        }
        let ms = |quantile| {
            let ns = times.value_ns_at(quantile).unwrap_or(0);
            fixed(ns as f64 / 1e6, 3)
        };
        context.note(&format!(
            "this measures one record at a time, not a cluster under load; more precisely: \
             50th = {} ms, 99th = {} ms, 99.9th = {} ms",
            ms(Quantile::P50),
            ms(Quantile::P99),
            ms(Quantile::P99_9)
        ));
    }
}

/// The lines at the end.
fn total(times: &Histogram, as_of: ToolRelease, is_first: bool) -> Vec<String> {
    let mean_ms = times.mean_ns().map_or(f64::NAN, |ns| ns / 1e6);
    if is_first {
        return vec![format!("Avg latency: {}ms", double(mean_ms))];
    }
    // Element `(int)(n * p)` of the sorted times, truncated to milliseconds.
    let at = |part: f64| {
        let rank = (times.count() as f64 * part) as u64 + 1;
        times.value_ns_at_rank(rank).unwrap_or(0) / 1_000_000
    };
    let mut lines = vec![format!("Avg latency: {} ms", fixed(mean_ms, 4))];
    // The Scala tool ended this line twice.
    if as_of < ToolRelease::of(3, 5, 0) {
        lines.push(String::new());
    }
    let (p50, p99, p99_9) = (at(0.5), at(0.99), at(0.999));
    lines.push(format!(
        "Percentiles: 50th = {p50}, 99th = {p99}, 99.9th = {p99_9}"
    ));
    lines
}

/// The two ends of a record's way.
struct RoundTrip<'a> {
    writer: RecordWriter<'a>,
    reader: RecordReader,
}

impl RoundTrip<'_> {
    fn measure(&mut self, record: &OutgoingRecord, index: u64) -> Result<Duration, ToolFailure> {
        let partition = (index % u64::from(self.writer.partitions)) as u32;
        let start = Instant::now();
        let sent = self.writer.send(partition, std::slice::from_ref(record));
        let offset = sent.map_err(ToolFailure::of)?;
        // Like the consumer of Kafka's tool, the reader waits at the end of the partition.
        self.reader.positions = [(partition, offset)].into();
        loop {
            let records = self.reader.poll()?;
            if let Some(back) = records.iter().find(|record| record.offset == offset) {
                if back.value.as_deref() != Some(&record.value) {
                    return Err(ToolFailure::Failed(format!(
                        "The message read at offset {offset} is not the one sent"
                    )));
                }
                return Ok(start.elapsed());
            }
            if start.elapsed() > RETURN_MAX {
                let limit_ms = RETURN_MAX.as_millis();
                return Err(ToolFailure::Failed(format!(
                    "poll() timed out before finding a result (timeout:[{limit_ms}ms])"
                )));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn positional(line: &str, is_oldest: bool) -> Result<EndToEndArgs, ToolFailure> {
        EndToEndArgs::positional(&words(line), ToolRelease::NEWEST, is_oldest)
    }

    #[test]
    fn the_positional_arguments_of_all_releases_are_understood() {
        // LinkedIn's benchmark of 2014.
        let args = positional("b:9092 z:2181 test 5000", true).unwrap();
        assert_eq!(
            (args.topic.as_str(), args.records, args.acks.as_str()),
            ("test", 5000, "1")
        );
        let args = positional("b:9092 z:2181 5000", true).unwrap();
        assert!(args.is_first && args.topic == "test");
        let args = positional("b:9092 z:2181 t 5000 100 -1", true).unwrap();
        assert_eq!((args.topic.as_str(), args.acks.as_str()), ("t", "-1"));
        let args = positional("b:9092 t 5000 all 100 client.properties", false).unwrap();
        assert_eq!((args.acks.as_str(), args.value_bytes), ("all", 100));
        assert_eq!(args.file.as_deref(), Some("client.properties"));
    }

    #[test]
    fn too_few_arguments_print_the_error_of_4_3_1() {
        assert_eq!(
            positional("b:9092 e2e 100", false).unwrap_err().to_string(),
            "Invalid number of arguments. Expected 5 or 6 positional arguments, but got 3. Usage: \
             bootstrap-server topic num-records producer-acks record-size [optional] command-config"
        );
        let usage = positional("b:9092", true).unwrap_err().to_string();
        assert!(usage.starts_with("USAGE: java"), "{usage}");
    }

    #[test]
    fn named_options_set_keys_and_headers() {
        let read = |line: &str| {
            let given = options::read(&END_TO_END, &words(line)).unwrap();
            EndToEndArgs::named(&given, ToolRelease::NEWEST)
        };
        let line = "--bootstrap-server b:1 --topic t --num-records 10 --producer-acks all \
                    --record-size 5 --record-key-size 3 --num-headers 2 --record-header-size -1";
        let args = read(line).unwrap();
        assert_eq!(
            (args.key_bytes, args.headers, args.header_value_bytes),
            (3, 2, -1)
        );
        let record = args.record(Random::new(1), 0, 0);
        assert_eq!(record.key.map(|key| key.len()), Some(3));
        let empty = (String::new(), None);
        assert_eq!(record.headers, [empty.clone(), empty]);
        assert_eq!(
            read("--topic t").unwrap_err().to_string(),
            "Missing required argument \"[bootstrap-server]\""
        );
    }

    #[test]
    fn the_total_reads_as_in_its_release() {
        let mut times = Histogram::new();
        (1..=1000).for_each(|ms| times.record(ms * 1_000_000 + 999, 1, 0));
        let newest = total(&times, ToolRelease::NEWEST, false);
        assert_eq!(newest[0], "Avg latency: 500.5010 ms");
        assert_eq!(
            newest[1],
            "Percentiles: 50th = 501, 99th = 991, 99.9th = 1000"
        );
        let old = total(&times, ToolRelease::of(3, 4, 1), false);
        assert_eq!((old.len(), old[1].as_str()), (3, ""));
        assert!(total(&times, ToolRelease::of(0, 8, 1), true)[0].ends_with("ms"));
    }
}
