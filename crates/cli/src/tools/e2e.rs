//! `kafka-e2e-latency` and the classes before it: one record at a time, from its send to its return.

use std::time::{Duration, Instant};

use kgauge_client::Cluster;
use kgauge_client::admin::{CreateTopicError, TopicSpec};
use kgauge_client::cluster::Topic;
use kgauge_results::{Histogram, Quantile};
use kgauge_scenario::{FlowPlan, ProducerSettings, Random};
use serde_json::{Map, json};

use super::drive::{all_topics, connect, listen, topic_on_demand};
use super::java::{double, fixed};
use super::options::{Mistake, Opt, ParsedOptions, Style, Takes, opt};
use super::plain::{Outgoing, ReaderSetup, TopicReader, TopicWriter, WriterSetup};
use super::properties::{ClientRole, PropertySources, ToolProperties};
use super::release::ToolRelease;
use super::say::{self, note};
use super::{ToolCall, ToolFailure, ToolResult, flow, options};
use crate::exit::ExitStatus;
use crate::interrupt::StopRequests;
use crate::run_ids::{fresh_number, unix_ms};

const STYLE: Style = Style::Jopt;

const ABOUT: &str = "Measures the way of a record to the cluster and back, one at a time, as Kafka's \
                     EndToEndLatency does.";

const TABLE: &[Opt] = &[
    opt(
        "bootstrap-server",
        Takes::One,
        "4.2+: the brokers (required)",
    ),
    opt("topic", Takes::One, "4.2+: the topic (required)"),
    opt(
        "num-records",
        Takes::One,
        "4.2+: how many records (required)",
    ),
    opt("producer-acks", Takes::One, "4.2+: 1 or all (required)"),
    opt(
        "record-size",
        Takes::One,
        "4.2+: bytes of each value (required)",
    ),
    opt(
        "command-config",
        Takes::Maybe,
        "4.2+: a file of client settings",
    ),
    opt(
        "record-key-size",
        Takes::Maybe,
        "4.2+: bytes of each key; 0: no key",
    ),
    opt(
        "num-headers",
        Takes::Maybe,
        "4.2+: headers of each record; 0",
    ),
    opt(
        "record-header-key-size",
        Takes::Maybe,
        "4.2+: bytes of each header's name; 0",
    ),
    opt(
        "record-header-size",
        Takes::Maybe,
        "4.2+: bytes of each header's value, -1 for null; 0",
    ),
    opt("help", Takes::Nothing, "this list"),
    opt(
        "version",
        Takes::Nothing,
        "the release whose lines are printed",
    ),
];

/// How long a record may stay away.
const RETURN_MAX: Duration = Duration::from_secs(60);

pub(super) fn run(call: &ToolCall) -> ToolResult {
    // Words in an order come from 0.8 to 4.1, and were still taken after that.
    let by_position = options::read(TABLE, STYLE, &call.arguments)
        .ok()
        .filter(|given| !given.words.is_empty() && !given.has("bootstrap-server"));
    let (asked, given) = match by_position {
        Some(given) => {
            let as_of = call.as_of(&given)?;
            let asked = positional(&given.words, as_of, call.name.contains("TestEndToEnd"))?;
            if as_of >= ToolRelease::of(4, 2, 0) {
                say::line(
                    "WARNING: Positional argument usage is deprecated and will be removed in Apache \
                     Kafka 5.0. Please use named arguments instead: --bootstrap-server, --topic, \
                     --num-records, --producer-acks, --record-size, --command-config",
                );
            }
            (asked, given)
        }
        None => {
            let given = call.options(TABLE, STYLE, ABOUT)?;
            let as_of = call.as_of(&given)?;
            let asked = named(&given, as_of);
            (
                asked.map_err(|mistake| call.mistake(TABLE, STYLE, &mistake))?,
                given,
            )
        }
    };
    if !matches!(asked.acks.as_str(), "1" | "all" | "-1") {
        let words = "Invalid value for --producer-acks. Latency testing requires synchronous \
                     acknowledgement. Please use '1' or 'all'.";
        return Err(call.mistake(TABLE, STYLE, &Mistake(words.to_owned())));
    }
    asked.run(given.has("exit-zero-on-failures"))
}

/// What a call asks for.
#[derive(Debug, Clone, PartialEq)]
struct EndToEndOptions {
    servers: String,
    topic: String,
    records: u64,
    acks: String,
    value_bytes: usize,
    file: Option<String>,
    key_bytes: usize,
    headers: usize,
    header_name_bytes: usize,
    /// Below zero: null.
    header_value_bytes: i64,
    as_of: ToolRelease,
    /// The first tool has lines of its own.
    is_first: bool,
}

impl EndToEndOptions {
    fn new(servers: &str, topic: &str, records: u64, as_of: ToolRelease) -> EndToEndOptions {
        EndToEndOptions {
            servers: servers.to_owned(),
            topic: topic.to_owned(),
            records,
            acks: "1".to_owned(),
            // What the tools of 0.8 sent: "hello there".
            value_bytes: 11,
            file: None,
            key_bytes: 0,
            headers: 0,
            header_name_bytes: 0,
            header_value_bytes: 0,
            as_of,
            is_first: false,
        }
    }
}

fn named(given: &ParsedOptions, as_of: ToolRelease) -> Result<EndToEndOptions, Mistake> {
    let text = |name: &str| {
        let text = given.text(name).map(str::to_owned);
        text.ok_or_else(|| Mistake(format!("Missing required argument \"[{name}]\"")))
    };
    let number = |name: &str| given.number::<i64>(name, STYLE, "Integer");
    let above_zero = |name: &str, least: i64| -> Result<Option<i64>, Mistake> {
        match number(name)? {
            Some(number) if number < least => {
                Err(Mistake(format!("--{name} must be at least {least}.")))
            }
            number => Ok(number),
        }
    };
    let (servers, topic) = (text("bootstrap-server")?, text("topic")?);
    text("num-records")?;
    let acks = text("producer-acks")?;
    text("record-size")?;
    let size = |name: &str| -> Result<usize, Mistake> {
        let size = above_zero(name, 0)?.unwrap_or(0);
        Ok(usize::try_from(size).unwrap_or(usize::MAX))
    };
    let records = above_zero("num-records", 1)?.unwrap_or(1).unsigned_abs();
    Ok(EndToEndOptions {
        acks,
        value_bytes: size("record-size")?,
        file: given.text("command-config").map(str::to_owned),
        key_bytes: size("record-key-size")?,
        headers: size("num-headers")?,
        header_name_bytes: size("record-header-key-size")?,
        header_value_bytes: above_zero("record-header-size", -1)?.unwrap_or(0),
        ..EndToEndOptions::new(&servers, &topic, records, as_of)
    })
}

/// Words in an order; which one depends on the class and their number.
fn positional(
    words: &[String],
    as_of: ToolRelease,
    is_oldest: bool,
) -> Result<EndToEndOptions, ToolFailure> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |text: &str, what: &str| -> Result<u64, ToolFailure> {
        let number = text.parse().ok().filter(|&number: &u64| number > 0);
        number.ok_or_else(|| ToolFailure::new(format!("Invalid value for {what}: {text:?}")))
    };
    if is_oldest {
        return match words[..] {
            // 0.8.0 and 0.8.1.
            [servers, _zookeeper, records] => Ok(EndToEndOptions {
                is_first: true,
                ..EndToEndOptions::new(servers, "test", number(records, "num_messages")?, as_of)
            }),
            // Between 0.8.1 and 0.8.2: the form of LinkedIn's benchmark.
            [servers, _zookeeper, topic, records] => Ok(EndToEndOptions::new(
                servers,
                topic,
                number(records, "num_messages")?,
                as_of,
            )),
            [servers, _zookeeper, topic, records, _fetch_wait, acks] => Ok(EndToEndOptions {
                acks: acks.to_owned(),
                ..EndToEndOptions::new(servers, topic, number(records, "num_messages")?, as_of)
            }),
            _ => Err(ToolFailure::new(
                "USAGE: java kafka.tools.TestEndToEndLatency broker_list zookeeper_connect topic \
                 num_messages consumer_fetch_max_wait producer_acks",
            )),
        };
    }
    let (servers, topic, records, acks, bytes, file) = match words[..] {
        [servers, topic, records, acks, bytes] => (servers, topic, records, acks, bytes, None),
        [servers, topic, records, acks, bytes, file] => {
            (servers, topic, records, acks, bytes, Some(file.to_owned()))
        }
        _ if as_of >= ToolRelease::of(4, 2, 0) => {
            return Err(ToolFailure::new(format!(
                "Invalid number of arguments. Expected 5 or 6 positional arguments, but got {}. \
                 Usage: bootstrap-server topic num-records producer-acks record-size [optional] \
                 command-config",
                words.len()
            )));
        }
        _ => {
            return Err(ToolFailure::new(
                "USAGE: java org.apache.kafka.tools.EndToEndLatency broker_list topic num_messages \
                 producer_acks message_size_bytes [optional] properties_file",
            ));
        }
    };
    let value_bytes = number(bytes, "record-size")?;
    Ok(EndToEndOptions {
        acks: acks.to_owned(),
        value_bytes: usize::try_from(value_bytes).unwrap_or(usize::MAX),
        file,
        ..EndToEndOptions::new(servers, topic, number(records, "num-records")?, as_of)
    })
}

impl EndToEndOptions {
    fn run(&self, zero_on_failures: bool) -> ToolResult {
        let stopping = listen()?;
        let sources = PropertySources {
            defaults: Vec::new(),
            file: self.file.as_deref(),
            words: &[],
            flags: vec![
                ("bootstrap.servers", self.servers.clone()),
                ("acks", self.acks.clone()),
                ("linger.ms", "0".to_owned()),
                ("enable.idempotence", "false".to_owned()),
            ],
        };
        let properties = sources.read(ClientRole::Producer)?;
        let settings = settings(&properties)?;
        let mut cluster = connect(&properties.client, &stopping.load)?;
        let topic = self.topic(&mut cluster, &stopping)?;
        let reading = connect(&properties.client, &stopping.load)?;
        let mut trip = Trip {
            reader: TopicReader::new(ReaderSetup {
                cluster: reading,
                topic: self.topic.clone(),
                // As in Kafka's tool: a broker answers at once, with or without a record.
                wait: Duration::ZERO,
                request_timeout: Duration::from_nanos(settings.request_timeout_ns),
                partition_bytes_max: u32::MAX >> 1,
            }),
            writer: TopicWriter::new(WriterSetup {
                cluster,
                topic: &topic,
                settings: &settings,
            })
            .map_err(ToolFailure::new)?,
        };
        let mut times = Histogram::new();
        let every = if self.is_first { 10_000 } else { 1_000 };
        let random = Random::new(fresh_number());
        for index in 0..self.records {
            if stopping.is_wanted() || !say::is_open() {
                break;
            }
            let record = self.record(random, index);
            let took = match trip.there_and_back(&record, index) {
                Ok(took) => took,
                Err(words) if zero_on_failures => {
                    note(&words);
                    return Ok(ExitStatus::Good);
                }
                Err(words) => return Err(ToolFailure::new(words)),
            };
            let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
            times.record(ns, 1, index);
            if index % every == 0 {
                say::line(&format!("{index}\t{}", double(ns as f64 / 1e6)));
            }
        }
        self.print_times(&times);
        Ok(match stopping.is_wanted() {
            true => ExitStatus::Interrupted,
            false => ExitStatus::Good,
        })
    }

    /// The topic; one that is not there is made, as the tool does it.
    fn topic(&self, cluster: &mut Cluster, stopping: &StopRequests) -> Result<Topic, ToolFailure> {
        let known = all_topics(cluster)?;
        let is_there = known
            .topic(&self.topic)
            .is_some_and(|topic| topic.error.is_none());
        if !is_there && self.as_of >= ToolRelease::of(2, 0, 0) {
            say::line(&format!(
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
                Err(error) => return Err(ToolFailure::new(error)),
            }
        }
        topic_on_demand(cluster, &self.topic, &stopping.load, RETURN_MAX)
    }

    fn record(&self, random: Random, index: u64) -> Outgoing {
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
        Outgoing {
            key: (self.key_bytes > 0).then(|| letters(1, self.key_bytes)),
            value: letters(2, self.value_bytes),
            headers: (0..self.headers).map(header).collect(),
            timestamp_ms: i64::try_from(unix_ms()).unwrap_or(i64::MAX),
        }
    }

    fn print_times(&self, times: &Histogram) {
        for line in total(times, self.as_of, self.is_first) {
            say::line(&line);
        }
        let in_full = [
            ("50th", Quantile::P50),
            ("99th", Quantile::P99),
            ("99.9th", Quantile::P99_9),
        ]
        .map(|(name, quantile)| {
            let ns = times.value_ns_at(quantile).unwrap_or(0);
            format!("{name} = {} ms", fixed(ns as f64 / 1e6, 3))
        });
        note(&format!(
            "one record at a time, so nothing is said about a cluster under load; in full: {}",
            in_full.join(", ")
        ));
    }
}

/// The lines at the end.
fn total(times: &Histogram, as_of: ToolRelease, is_first: bool) -> Vec<String> {
    let mean_ms = times.mean_ns().map_or(f64::NAN, |ns| ns / 1e6);
    if is_first {
        return vec![format!("Avg latency: {}ms", double(mean_ms))];
    }
    // Element `(int)(n * p)` of the sorted times, cut to whole milliseconds.
    let at = |part: f64| {
        let rank = (times.count() as f64 * part) as u64 + 1;
        times.value_ns_at_rank(rank).unwrap_or(0) / 1_000_000
    };
    let mut lines = vec![format!("Avg latency: {} ms", fixed(mean_ms, 4))];
    // The Scala tool ended this line twice.
    if as_of < ToolRelease::of(3, 5, 0) {
        lines.push(String::new());
    }
    lines.push(format!(
        "Percentiles: 50th = {}, 99th = {}, 99.9th = {}",
        at(0.5),
        at(0.99),
        at(0.999)
    ));
    lines
}

fn settings(properties: &ToolProperties) -> Result<ProducerSettings, ToolFailure> {
    let mut keys = Map::new();
    keys.insert("kind".into(), "produce".into());
    keys.insert("shape".into(), "max".into());
    keys.insert("record".into(), json!({"size": "1 B"}));
    let mut trial = flow::trial(1, keys, &properties.flow)?;
    match trial.flows.pop() {
        Some(FlowPlan::Produce(flow)) => Ok(flow.settings),
        _ => Err(ToolFailure::new("the flow does not produce")),
    }
}

/// Who sends and who waits.
struct Trip {
    writer: TopicWriter,
    reader: TopicReader,
}

impl Trip {
    fn there_and_back(&mut self, record: &Outgoing, index: u64) -> Result<Duration, String> {
        let partition = (index % u64::from(self.writer.partitions().max(1))) as u32;
        let begin = Instant::now();
        let sent = self.writer.send(partition, std::slice::from_ref(record));
        let offset =
            sent.map_err(|failure| format!("{}: {}", failure.exception, failure.message))?;
        // The consumer of Kafka's tool stands at the end; so does this one.
        self.reader.assign([(partition, offset)]);
        loop {
            let taken = self.reader.poll()?;
            if let Some(back) = taken.iter().find(|taken| taken.offset == offset) {
                if back.value.as_deref() != Some(&record.value) {
                    return Err(format!(
                        "The message read at offset {offset} is not the one sent"
                    ));
                }
                return Ok(begin.elapsed());
            }
            if begin.elapsed() > RETURN_MAX {
                let limit_ms = RETURN_MAX.as_millis();
                return Err(format!(
                    "poll() timed out before finding a result (timeout:[{limit_ms}ms])"
                ));
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

    fn positional(line: &str, is_oldest: bool) -> Result<EndToEndOptions, String> {
        super::positional(&words(line), ToolRelease::NEWEST, is_oldest).map_err(|error| error.words)
    }

    #[test]
    fn every_generation_of_words_is_understood() {
        // LinkedIn's benchmark of 2014.
        let asked = positional("b:9092 z:2181 test 5000", true).unwrap();
        assert_eq!(
            (asked.topic.as_str(), asked.records, asked.acks.as_str()),
            ("test", 5000, "1")
        );
        let asked = positional("b:9092 z:2181 5000", true).unwrap();
        assert!(asked.is_first && asked.topic == "test");
        let asked = positional("b:9092 z:2181 t 5000 100 -1", true).unwrap();
        assert_eq!((asked.topic.as_str(), asked.acks.as_str()), ("t", "-1"));
        let asked = positional("b:9092 t 5000 all 100 client.properties", false).unwrap();
        assert_eq!((asked.acks.as_str(), asked.value_bytes), ("all", 100));
        assert_eq!(asked.file.as_deref(), Some("client.properties"));
    }

    #[test]
    fn too_few_words_are_told_as_4_3_1_tells_it() {
        assert_eq!(
            positional("b:9092 e2e 100", false).unwrap_err(),
            "Invalid number of arguments. Expected 5 or 6 positional arguments, but got 3. Usage: \
             bootstrap-server topic num-records producer-acks record-size [optional] command-config"
        );
        assert!(
            positional("b:9092", true)
                .unwrap_err()
                .starts_with("USAGE: java")
        );
    }

    #[test]
    fn names_say_it_too() {
        let read = |line: &str| {
            let given = options::read(TABLE, STYLE, &words(line)).unwrap();
            named(&given, ToolRelease::NEWEST).map_err(|mistake| mistake.0)
        };
        let line = "--bootstrap-server b:1 --topic t --num-records 10 --producer-acks all \
                    --record-size 5 --record-key-size 3 --num-headers 2 --record-header-size -1";
        let asked = read(line).unwrap();
        assert_eq!(
            (asked.key_bytes, asked.headers, asked.header_value_bytes),
            (3, 2, -1)
        );
        let record = asked.record(Random::new(1), 0);
        assert_eq!(record.key.map(|key| key.len()), Some(3));
        assert_eq!(
            record.headers,
            [(String::new(), None), (String::new(), None)]
        );
        assert_eq!(
            read("--topic t").unwrap_err(),
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
