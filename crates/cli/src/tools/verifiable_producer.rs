//! `kafka-verifiable-producer`: rising numbers, and a line of JSON for each.

use std::time::Duration;

use kgauge_load::Clock;
use kgauge_scenario::{FlowPlan, ProducerSettings};
use serde_json::{Map, json};

use super::drive::{connect, listen, topic_on_demand};
use super::java::double;
use super::options::{Mistake, Opt, ParsedOptions, Style, Takes, opt};
use super::plain::{Outgoing, SendFailure, TopicWriter, WriterSetup};
use super::properties::{ClientRole, PropertySources};
use super::{ToolCall, ToolFailure, ToolResult, flow};
use crate::exit::ExitStatus;
use crate::print;
use crate::run_ids::unix_ms;

const STYLE: Style = Style::Argparse;

const ABOUT: &str = "Writes rising numbers to a topic and prints JSON about each, as Kafka's \
                     VerifiableProducer does.";

const TABLE: &[Opt] = &[
    opt("help", Takes::Nothing, "this list"),
    opt("topic", Takes::One, "the topic to write to (required)"),
    opt(
        "bootstrap-server",
        Takes::One,
        "2.5+: the brokers (or --broker-list)",
    ),
    opt("broker-list", Takes::One, "to 3.9: the brokers"),
    opt(
        "max-messages",
        Takes::One,
        "how many records, -1: until it is stopped; -1",
    ),
    opt(
        "throughput",
        Takes::One,
        "records a second, -1 for no limit; -1",
    ),
    opt("acks", Takes::One, "-1 or 1; -1"),
    opt("producer.config", Takes::One, "a file of settings"),
    opt("command-config", Takes::One, "4.2+: the same"),
    opt(
        "message-create-time",
        Takes::One,
        "0.11+: the first record's time in ms since 1970; -1: now",
    ),
    opt(
        "value-prefix",
        Takes::One,
        "0.10+: a number that stands before each value, with a dot",
    ),
    opt(
        "repeating-keys",
        Takes::One,
        "1.1+: keys 0, 1, ... up to this number, and again",
    ),
];

/// Records in a batch, at most; few enough that their lines do not come in lumps.
const BATCH_RECORDS: usize = 500;

pub(super) fn run(call: &ToolCall) -> ToolResult {
    let given = call.options(TABLE, STYLE, ABOUT)?;
    let asked = parse_options(&given).map_err(|mistake| call.mistake(TABLE, STYLE, &mistake))?;
    asked.run(given.has("exit-zero-on-failures"))
}

#[derive(Debug)]
struct VerifiableProducerOptions {
    topic: String,
    servers: String,
    records: Option<u64>,
    throughput: i64,
    acks: String,
    file: Option<String>,
    create_time_ms: Option<i64>,
    prefix: Option<String>,
    keys: Option<u64>,
}

fn parse_options(given: &ParsedOptions) -> Result<VerifiableProducerOptions, Mistake> {
    let required = |name: &str, text: Option<&str>| {
        let text = text.map(str::to_owned);
        text.ok_or_else(|| Mistake(format!("argument --{name} is required")))
    };
    let number = |name: &'static str, kind| given.number::<i64>(name, STYLE, kind);
    let not_negative = |number: Option<i64>| number.and_then(|number| u64::try_from(number).ok());
    Ok(VerifiableProducerOptions {
        topic: required("topic", given.text("topic"))?,
        servers: required(
            "bootstrap-server",
            given.first_of(&["bootstrap-server", "broker-list"]),
        )?,
        records: not_negative(number("max-messages", "Integer")?),
        throughput: number("throughput", "Integer")?.unwrap_or(-1),
        acks: number("acks", "Integer")?.unwrap_or(-1).to_string(),
        file: given
            .first_of(&["command-config", "producer.config"])
            .map(str::to_owned),
        create_time_ms: number("message-create-time", "Long")?.filter(|&at_ms| at_ms >= 0),
        prefix: number("value-prefix", "Integer")?.map(|prefix| prefix.to_string()),
        keys: not_negative(number("repeating-keys", "Integer")?).filter(|&keys| keys > 0),
    })
}

impl VerifiableProducerOptions {
    fn run(&self, zero_on_failures: bool) -> ToolResult {
        let stopping = listen()?;
        let sources = PropertySources {
            defaults: Vec::new(),
            file: self.file.as_deref(),
            words: &[],
            flags: vec![
                ("bootstrap.servers", self.servers.clone()),
                ("acks", self.acks.clone()),
                ("retries", "0".to_owned()),
                ("enable.idempotence", "false".to_owned()),
            ],
        };
        let properties = sources.read(ClientRole::Producer)?;
        let settings = settings(&properties.flow)?;
        let mut events = Events;
        events.event("startup_complete", "");
        let mut cluster = connect(&properties.client, &stopping.load)?;
        let patience = Duration::from_nanos(settings.block_ns_max);
        let topic = topic_on_demand(&mut cluster, &self.topic, &stopping.load, patience)?;
        let setup = WriterSetup {
            cluster,
            topic: &topic,
            settings: &settings,
        };
        let mut writer = TopicWriter::new(setup).map_err(ToolFailure::refused)?;
        let clock = Clock::start();
        let mut course = SendProgress::default();
        let wanted = self.records.unwrap_or(u64::MAX);
        while course.sent < wanted && !stopping.is_wanted() && print::is_open() {
            let due = self.due(course.sent, wanted, &clock);
            if due == 0 {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            }
            self.batch(&mut writer, &mut events, &mut course, due, &clock);
        }
        let seconds = clock.now_ns() as f64 / 1e9;
        events.event("shutdown_complete", "");
        let average = double(course.acked as f64 / seconds);
        events.event(
            "tool_data",
            &format!(
                ",\"sent\":{},\"acked\":{},\"target_throughput\":{},\"avg_throughput\":{average}",
                course.sent, course.acked, self.throughput
            ),
        );
        let is_short = course.acked < course.sent && !zero_on_failures;
        Ok(match (stopping.is_wanted(), is_short) {
            (true, _) => ExitStatus::Interrupted,
            (false, true) => ExitStatus::Failed,
            (false, false) => ExitStatus::Good,
        })
    }

    /// How many records are due now.
    fn due(&self, sent: u64, wanted: u64, clock: &Clock) -> usize {
        let left = wanted - sent;
        let allowed = match u64::try_from(self.throughput) {
            Err(_) => left,
            // The first is due at once.
            Ok(rate) => {
                let so_far = u128::from(clock.now_ns()) * u128::from(rate) / 1_000_000_000 + 1;
                u64::try_from(so_far)
                    .unwrap_or(u64::MAX)
                    .saturating_sub(sent)
            }
        };
        usize::try_from(allowed.min(left))
            .unwrap_or(usize::MAX)
            .min(BATCH_RECORDS)
    }

    fn batch(
        &self,
        writer: &mut TopicWriter,
        events: &mut Events,
        course: &mut SendProgress,
        due: usize,
        clock: &Clock,
    ) {
        let partitions = writer.partitions().max(1);
        let first = course.sent;
        let now_ms = clock.unix_ms(clock.now_ns());
        let records: Vec<Outgoing> = (first..)
            .take(due)
            .map(|n| self.record(n, now_ms))
            .collect();
        course.sent += due as u64;
        let mut parts: Vec<Vec<Outgoing>> = vec![Vec::new(); partitions as usize];
        for record in records {
            let partition = match &record.key {
                Some(key) => partition_of(key, partitions),
                // Without a key a batch stays together, and the next one goes elsewhere.
                None => (course.batches % u64::from(partitions)) as u32,
            };
            parts[partition as usize].push(record);
        }
        course.batches += 1;
        for (part, partition) in parts.iter().zip(0..).filter(|(part, _)| !part.is_empty()) {
            match writer.send(partition, part) {
                Ok(offset) => {
                    course.acked += part.len() as u64;
                    for (record, offset) in part.iter().zip(offset..) {
                        events.sent(record, &self.topic, partition, offset);
                    }
                }
                Err(failure) => {
                    part.iter()
                        .for_each(|record| events.failed(record, &self.topic, &failure));
                }
            }
        }
    }

    fn record(&self, n: u64, now_ms: i64) -> Outgoing {
        let value = match &self.prefix {
            Some(prefix) => format!("{prefix}.{n}"),
            None => n.to_string(),
        };
        Outgoing {
            key: self.keys.map(|keys| (n % keys).to_string().into_bytes()),
            value: value.into_bytes(),
            headers: Vec::new(),
            timestamp_ms: self
                .create_time_ms
                .map_or(now_ms, |from_ms| from_ms + n.cast_signed()),
        }
    }
}

fn settings(
    flow: &std::collections::BTreeMap<String, String>,
) -> Result<ProducerSettings, ToolFailure> {
    let mut keys = Map::new();
    keys.insert("kind".into(), "produce".into());
    keys.insert("shape".into(), "max".into());
    keys.insert("record".into(), json!({"size": "1 B"}));
    let mut trial = flow::trial(1, keys, flow)?;
    match trial.flows.pop() {
        Some(FlowPlan::Produce(flow)) => Ok(flow.settings),
        _ => Err(ToolFailure::new("the flow does not produce")),
    }
}

/// How far it is.
#[derive(Debug, Default)]
struct SendProgress {
    sent: u64,
    acked: u64,
    batches: u64,
}

/// Lines of JSON, with their fields in the tool's order.
#[derive(Debug, Default)]
pub(super) struct Events;

impl Events {
    /// An event; `more` begins with a comma.
    pub(super) fn event(&mut self, name: &str, more: &str) {
        let at_ms = unix_ms();
        // JSON escapes control characters, and records keep their bytes.
        print::line(&format!(
            "{{\"timestamp\":{at_ms},\"name\":\"{name}\"{more}}}"
        ));
    }

    fn sent(&mut self, record: &Outgoing, topic: &str, partition: u32, offset: i64) {
        let more = sent(record, topic, partition, offset);
        self.event("producer_send_success", &more);
    }

    fn failed(&mut self, record: &Outgoing, topic: &str, failure: &SendFailure) {
        let more = format!(
            ",\"key\":{},\"value\":{},\"topic\":{},\"exception\":{},\"message\":{}",
            text(record.key.as_deref()),
            text(Some(&record.value)),
            text(Some(topic.as_bytes())),
            text(Some(failure.exception.as_bytes())),
            text(Some(failure.message.as_bytes())),
        );
        self.event("producer_send_error", &more);
    }
}

fn sent(record: &Outgoing, topic: &str, partition: u32, offset: i64) -> String {
    format!(
        ",\"key\":{},\"value\":{},\"offset\":{offset},\"topic\":{},\"partition\":{partition}",
        text(record.key.as_deref()),
        text(Some(&record.value)),
        text(Some(topic.as_bytes())),
    )
}

/// A JSON string of bytes, or null.
pub(super) fn text(bytes: Option<&[u8]>) -> String {
    let text = bytes.map(String::from_utf8_lossy);
    serde_json::to_string(&text).unwrap_or_else(|_| "null".to_owned())
}

/// The partition of a key, as Kafka's producer chooses it.
fn partition_of(key: &[u8], partitions: u32) -> u32 {
    (murmur2(key).cast_unsigned() & 0x7fff_ffff) % partitions
}

/// MurmurHash2 by Austin Appleby with the seed that Kafka uses, in 32 bits.
fn murmur2(bytes: &[u8]) -> i32 {
    const SEED: u32 = 0x9747_b28c;
    const M: u32 = 0x5bd1_e995;
    let mut hash = SEED ^ bytes.len() as u32;
    let mut words = bytes.chunks_exact(4);
    for word in &mut words {
        let word = word
            .iter()
            .rev()
            .fold(0_u32, |sum, &byte| (sum << 8) | u32::from(byte));
        let word = word.wrapping_mul(M);
        let word = (word ^ (word >> 24)).wrapping_mul(M);
        hash = hash.wrapping_mul(M) ^ word;
    }
    let rest = words.remainder();
    if !rest.is_empty() {
        hash ^= rest
            .iter()
            .rev()
            .fold(0_u32, |sum, &byte| (sum << 8) | u32::from(byte));
        hash = hash.wrapping_mul(M);
    }
    hash = (hash ^ (hash >> 13)).wrapping_mul(M);
    (hash ^ (hash >> 15)).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requested(line: &str) -> Result<VerifiableProducerOptions, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let given =
            super::super::options::read(TABLE, STYLE, &words).map_err(|mistake| mistake.0)?;
        super::parse_options(&given).map_err(|mistake| mistake.0)
    }

    #[test]
    fn keys_go_where_kafkas_producer_sends_them() {
        // From the tests of Kafka's own `Utils.murmur2`.
        for (key, hash) in [
            ("21", -973_932_308),
            ("foobar", -790_332_482),
            ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            (
                "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8",
                -58_897_971,
            ),
            ("abc", 479_470_107),
        ] {
            assert_eq!(murmur2(key.as_bytes()), hash, "{key}");
        }
        assert_eq!(partition_of(b"abc", 6), 479_470_107 % 6);
    }

    #[test]
    fn a_record_reads_as_4_3_1_printed_it() {
        let asked =
            requested("--topic v --bootstrap-server a:1 --value-prefix 7 --repeating-keys 2")
                .unwrap();
        assert_eq!(
            sent(&asked.record(1, 0), "v", 0, 6),
            ",\"key\":\"1\",\"value\":\"7.1\",\"offset\":6,\"topic\":\"v\",\"partition\":0"
        );
        let plain = self::requested("--topic v --broker-list a:1").unwrap();
        assert_eq!(
            sent(&plain.record(3, 0), "v", 0, 3),
            ",\"key\":null,\"value\":\"3\",\"offset\":3,\"topic\":\"v\",\"partition\":0"
        );
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(
            requested("--topic v").unwrap_err(),
            "argument --bootstrap-server is required"
        );
        assert_eq!(
            requested("--bootstrap-server a:1").unwrap_err(),
            "argument --topic is required"
        );
    }

    #[test]
    fn a_throughput_lets_so_many_go_and_no_more() {
        let slow = requested("--topic v --bootstrap-server a:1 --throughput 0").unwrap();
        assert_eq!(slow.due(0, 10, &Clock::start()), 1);
        assert_eq!(slow.due(1, 10, &Clock::start()), 0);
        let fast = requested("--topic v --bootstrap-server a:1").unwrap();
        assert_eq!(fast.due(7, 10, &Clock::start()), 3);
    }
}
