//! `kafka-consumer-perf-test` and `kafka-simple-consumer-perf-test`, 0.8 to 4.3.1.

use std::time::Duration;

use kgauge_client::Cluster;
use kgauge_client::cluster::Topic;
use kgauge_load::{Clock, LoadOutcome, Totals};
use kgauge_scenario::{ConsumeEnd, FlowPlan, StartOffset, Trial};
use kgauge_wire::api::ApiKey;
use serde_json::{Map, Value, json};

use super::consumer_rows::{Columns, ReadProgress, gave_up, metric_rows, total};
use super::consumer_watch::ReadWatch;
use super::drive::{Drive, all_topics, connect, listen};
use super::include::Include;
use super::java::{DATE_FORMAT, DatePattern};
use super::options::{Mistake, Opt, ParsedOptions, Style, Takes, opt};
use super::producer_lines::metrics;
use super::properties::{ClientRole, PropertySources, ToolProperties, servers_for_zookeeper};
use super::release::ToolRelease;
use super::say::{self, note};
use super::{ToolCall, ToolFailure, ToolResult, flow, names};
use crate::exit::ExitStatus;
use crate::run_ids::{fresh_number, unix_ms};

const STYLE: Style = Style::Jopt;

const ABOUT: &str = "Reads a topic and prints throughput, as Kafka's ConsumerPerformance does.";

const TABLE: &[Opt] = &[
    opt("topic", Takes::One, "the topic to read (or --include)"),
    opt(
        "include",
        Takes::One,
        "4.2+: a regular expression; the topics that it fits are read together",
    ),
    opt(
        "num-records",
        Takes::One,
        "4.2+: how many records (or --messages)",
    ),
    opt("messages", Takes::One, "the same, before 4.2"),
    opt("bootstrap-server", Takes::One, "2.5+: the brokers"),
    opt("broker-list", Takes::One, "0.9 to 3.9: the brokers"),
    opt(
        "zookeeper",
        Takes::One,
        "to 1.1: the brokers are those in KGAUGE_BOOTSTRAP_SERVERS",
    ),
    opt(
        "server",
        Takes::One,
        "simple consumer: a broker, kafka://host:port",
    ),
    opt(
        "partition",
        Takes::One,
        "simple consumer: has no effect, all partitions are read",
    ),
    opt("clientId", Takes::One, "simple consumer: client.id"),
    opt(
        "group",
        Takes::One,
        "the group; without it one of its own that commits nothing",
    ),
    opt(
        "fetch-size",
        Takes::One,
        "max.partition.fetch.bytes; 1048576",
    ),
    opt(
        "socket-buffer-size",
        Takes::One,
        "receive.buffer.bytes; 2097152",
    ),
    opt(
        "from-latest",
        Takes::Nothing,
        "begin at the end where the group has no offset",
    ),
    opt(
        "timeout",
        Takes::Maybe,
        "2.0+: milliseconds without a record before it gives up; 10000",
    ),
    opt(
        "threads",
        Takes::One,
        "with --zookeeper consumers, 10; without it no effect, as since 3.0",
    ),
    opt("num-fetch-threads", Takes::One, "no effect"),
    opt("new-consumer", Takes::Nothing, "no effect"),
    opt("consumer.config", Takes::One, "0.9+: a file of settings"),
    opt("command-config", Takes::One, "4.2+: the same"),
    opt(
        "command-property",
        Takes::One,
        "4.2+: a setting, key=value; may be given again",
    ),
    opt(
        "reporting-interval",
        Takes::One,
        "milliseconds between rows (before 0.10.1 records); 5000",
    ),
    opt(
        "show-detailed-stats",
        Takes::Nothing,
        "a row for every interval instead of one at the end",
    ),
    opt(
        "date-format",
        Takes::One,
        "a pattern of Java's SimpleDateFormat",
    ),
    opt("hide-header", Takes::Nothing, "no header"),
    opt(
        "print-metrics",
        Takes::Nothing,
        "0.11+: a table of figures at the end",
    ),
    opt("message-size", Takes::One, "to 0.11: no effect, as there"),
    opt("batch-size", Takes::One, "to 0.11: no effect, as there"),
    opt(
        "compression-codec",
        Takes::One,
        "to 0.11: no effect, as there",
    ),
    opt("help", Takes::Nothing, "this list"),
    opt(
        "version",
        Takes::Nothing,
        "the release whose lines are printed",
    ),
];

pub(super) fn run(call: &ToolCall) -> ToolResult {
    let given = call.options(TABLE, STYLE, ABOUT)?;
    let is_simple = call.named.tool == names::KafkaTool::SimpleConsumer;
    let newest = match (given.has("zookeeper"), is_simple) {
        (_, true) => ToolRelease::of(0, 11, 0),
        (true, false) => ToolRelease::of(1, 1, 1),
        (false, false) => ToolRelease::NEWEST,
    };
    let as_of = call.as_of_at_most(&given, newest)?;
    let typed =
        typed(&given, as_of, is_simple).map_err(|mistake| call.mistake(TABLE, STYLE, &mistake))?;
    typed.run(&given)
}

/// What was typed, checked.
#[derive(Debug)]
pub(super) struct ConsumerArgs {
    wanted: ReadQuery,
    pub(super) records: u64,
    consumers: u32,
    pub(super) interval_ms: u64,
    pub(super) timeout_ms: u64,
    pub(super) columns: Columns,
    pub(super) is_detailed: bool,
    pub(super) dates: DatePattern,
    pub(super) as_of: ToolRelease,
    /// Nobody uses a group: the simple consumer.
    is_groupless: bool,
}

/// What to read.
#[derive(Debug, Clone)]
enum ReadQuery {
    Topic(String),
    Matching(String),
}

/// What is there of it.
struct FoundPartitions {
    topic: String,
    also: Vec<String>,
    /// Of all topics together.
    partitions: u32,
}

fn exactly_one<'a>(given: &'a ParsedOptions, names: [&str; 2]) -> Result<&'a str, Mistake> {
    match names.map(|name| given.text(name)) {
        [Some(text), None] | [None, Some(text)] => Ok(text),
        _ => Err(Mistake(format!(
            "Exactly one of the following arguments is required: [{}], [{}]",
            names[0], names[1]
        ))),
    }
}

fn missing<T>(name: &str) -> Result<T, Mistake> {
    Err(Mistake(format!("Missing required argument \"[{name}]\"")))
}

fn typed(
    given: &ParsedOptions,
    as_of: ToolRelease,
    is_simple: bool,
) -> Result<ConsumerArgs, Mistake> {
    let is_4_2 = as_of >= ToolRelease::of(4, 2, 0);
    if is_4_2 {
        exactly_one(given, ["topic", "include"])?;
    }
    let wanted = match (given.text("topic"), given.text("include")) {
        (Some(topic), _) => ReadQuery::Topic(topic.to_owned()),
        (None, Some(pattern)) => ReadQuery::Matching(pattern.to_owned()),
        (None, None) => return missing("topic"),
    };
    let number = |name: &str| given.number::<u64>(name, STYLE, "Long");
    let records = match is_4_2 {
        true => {
            exactly_one(given, ["messages", "num-records"])?;
            number("num-records")?.or(number("messages")?)
        }
        false => number("messages")?.or(number("num-records")?),
    };
    // 0.8 to 1.x read on until nothing came any more.
    let records = match records {
        Some(records) => records,
        None if as_of < ToolRelease::of(2, 0, 0) => u64::MAX >> 1,
        None => return missing("messages"),
    };
    let servers = ["bootstrap-server", "broker-list", "zookeeper", "server"];
    if !servers.iter().any(|name| given.has(name)) {
        return missing(match as_of {
            of if of >= ToolRelease::of(2, 5, 0) => "bootstrap-server",
            of if of >= ToolRelease::of(2, 0, 0) => "broker-list",
            _ => "zookeeper",
        });
    }
    let is_old = given.has("zookeeper");
    let fetch_bytes = given.number::<u32>("fetch-size", STYLE, "Integer")?;
    let consumers = match number("threads")? {
        Some(threads) if is_old => u32::try_from(threads.max(1)).unwrap_or(u32::MAX),
        None if is_old => 10,
        _ => 1,
    };
    // The consumer of 0.8 gave up after consumer.timeout.ms, which the tool set to 5,000.
    let timeout_ms = match (number("timeout")?, is_old) {
        (Some(timeout_ms), _) => timeout_ms,
        (None, true) => 5_000,
        (None, false) => 10_000,
    };
    let pattern = given.text("date-format").unwrap_or(DATE_FORMAT);
    Ok(ConsumerArgs {
        wanted,
        records,
        consumers,
        interval_ms: number("reporting-interval")?.unwrap_or(5_000),
        timeout_ms,
        columns: match is_simple {
            true => Columns::FetchSize(fetch_bytes.unwrap_or(1 << 20)),
            false => Columns::of(as_of, is_old, fetch_bytes.unwrap_or(1 << 20)),
        },
        is_detailed: given.has("show-detailed-stats"),
        dates: DatePattern::parse(pattern).map_err(Mistake)?,
        as_of,
        is_groupless: is_simple,
    })
}

fn properties(given: &ParsedOptions) -> Result<ToolProperties, String> {
    let servers = match given.first_of(&["bootstrap-server", "broker-list", "server"]) {
        Some(servers) => servers.trim_start_matches("kafka://").to_owned(),
        None => servers_for_zookeeper()?,
    };
    let mut defaults = vec![
        ("client.id", "perf-consumer-client".to_owned()),
        ("max.partition.fetch.bytes", "1048576".to_owned()),
        ("receive.buffer.bytes", "2097152".to_owned()),
    ];
    if let Some(client_id) = given.text("clientId") {
        defaults[0].1 = client_id.to_owned();
    }
    let mut flags = vec![
        ("bootstrap.servers", servers),
        // Bytes are counted where records are looked at, and then their checksums cost little.
        ("check.crcs", "true".to_owned()),
    ];
    for (option, key) in [
        ("fetch-size", "max.partition.fetch.bytes"),
        ("socket-buffer-size", "receive.buffer.bytes"),
        ("group", "group.id"),
    ] {
        if let Some(value) = given.text(option) {
            flags.push((key, value.to_owned()));
        }
    }
    let words: Vec<String> = given.all("command-property").to_vec();
    let sources = PropertySources {
        defaults,
        file: given.first_of(&["command-config", "consumer.config"]),
        words: &words,
        flags,
    };
    sources.read(ClientRole::Consumer)
}

/// How the group is called, and whether it keeps its offsets.
struct Group {
    id: String,
    commits: bool,
}

impl ConsumerArgs {
    fn run(mut self, given: &ParsedOptions) -> ToolResult {
        let mut properties = properties(given)?;
        let include = match &self.wanted {
            ReadQuery::Topic(_) => None,
            ReadQuery::Matching(pattern) => Some(Include::parse(pattern)?),
        };
        let reset = properties.flow.remove("auto.offset.reset");
        let from_latest = given.has("from-latest") || reset.as_deref() == Some("latest");
        if self.as_of >= ToolRelease::of(4, 2, 0) && given.has("messages") {
            say::line("Warning: --messages is deprecated. Use --num-records instead.");
        }
        if !given.has("hide-header") {
            let header = self.columns.header(self.is_detailed);
            say::line(&header);
        }
        let stopping = listen()?;
        let mut cluster = connect(&properties.client, &stopping.load)?;
        let start = ReadProgress {
            at_ms: now_ms(),
            ..ReadProgress::default()
        };
        let Some(found) =
            self.find(&mut cluster, include.as_ref(), properties.excludes_internal)?
        else {
            return self.nothing_there(start, stopping.is_wanted());
        };
        let group = self.group(&mut cluster, &properties);
        let trial = self.trial(found.partitions, &properties, group.as_ref(), from_latest)?;
        drop(cluster);
        note("checksums are checked, which Kafka's tool switches off");
        let drive = Drive {
            topic: &found.topic,
            also: &found.also,
            client: &properties.client,
            stopping: &stopping,
            groups: group
                .iter()
                .map(|group| ("tool".to_owned(), group.id.clone()))
                .collect(),
            tick: Duration::from_secs(1),
        };
        let ready = drive.prepare(trial)?;
        // Joining lies before the load's clock, and within the tool's times.
        let joined_ms = u64::try_from(now_ms() - start.at_ms).unwrap_or(0);
        let clock = Clock::start();
        let mut watch = ReadWatch::new(&mut self, start, joined_ms, clock);
        let outcome = ready.run(clock, &mut watch)?;
        let (timed_out, counts) = (watch.timed_out, watch.counts);
        self.print_totals(&outcome, start, joined_ms, timed_out);
        if given.has("print-metrics") {
            for line in metrics(metric_rows(&properties, &counts, outcome.end_ns)) {
                say::line(&line);
            }
        }
        if stopping.is_wanted() {
            return Ok(ExitStatus::Interrupted);
        }
        Ok(match outcome.broken {
            true => ExitStatus::Failed,
            false => ExitStatus::Good,
        })
    }

    /// What the tool says in the end.
    fn print_totals(
        &mut self,
        outcome: &LoadOutcome,
        start: ReadProgress,
        joined_ms: u64,
        timed_out: bool,
    ) {
        if timed_out {
            let words = gave_up(self.timeout_ms, self.as_of);
            match self.as_of >= ToolRelease::of(2, 0, 0) {
                true => say::line(&words),
                false => note(&words),
            }
        }
        let flow = outcome.flows.first();
        let totals = flow.map_or_else(Totals::default, |flow| flow.totals);
        let group = flow.and_then(|flow| flow.group);
        if !self.is_detailed {
            let end = ReadProgress {
                // Waiting for what does not come is no reading; Kafka's tool counts it, so does this.
                at_ms: start.at_ms + (joined_ms + outcome.end_ns / 1_000_000).cast_signed(),
                records: totals.consumed,
                bytes: totals.logical_bytes,
                rebalance_ms: joined_ms + group.map_or(0, |group| group.rebalance_ns / 1_000_000),
            };
            let row = total(self.columns, &self.dates, start, end);
            say::line(&row);
        }
        if let Some(words) = group.and_then(|group| group.warning()) {
            note(&words);
        }
    }

    /// What there is to read, if there is something.
    fn find(
        &self,
        cluster: &mut Cluster,
        include: Option<&Include>,
        excludes_internal: bool,
    ) -> Result<Option<FoundPartitions>, ToolFailure> {
        let all = all_topics(cluster)?;
        let is_wanted = |topic: &&Topic| match (&self.wanted, include) {
            (_, Some(include)) => {
                include.fits(&topic.name) && !(excludes_internal && topic.is_internal)
            }
            (ReadQuery::Topic(name) | ReadQuery::Matching(name), None) => topic.name == *name,
        };
        let found = all.topics.iter().filter(|topic| topic.error.is_none());
        let found: Vec<&Topic> = found.filter(is_wanted).collect();
        let partitions: usize = found.iter().map(|topic| topic.partitions.len()).sum();
        let partitions = u32::try_from(partitions).unwrap_or(u32::MAX);
        let mut names: Vec<String> = found.iter().map(|topic| topic.name.clone()).collect();
        names.sort_unstable();
        if include.is_some() && !names.is_empty() {
            note(&format!("reads {}", names.join(", ")));
        }
        Ok((!names.is_empty()).then(|| FoundPartitions {
            topic: names.remove(0),
            also: names,
            partitions,
        }))
    }

    /// A topic that is not there has nothing to read: Kafka's tool waits for it until it gives up.
    fn nothing_there(&mut self, start: ReadProgress, interrupted: bool) -> ToolResult {
        note(&match &self.wanted {
            ReadQuery::Topic(topic) => format!("topic {topic} is not there"),
            ReadQuery::Matching(pattern) => format!("no topic's name matches {pattern}"),
        });
        let words = gave_up(self.timeout_ms, self.as_of);
        say::line(&words);
        if !self.is_detailed {
            let row = total(
                self.columns,
                &self.dates,
                start,
                ReadProgress {
                    at_ms: now_ms(),
                    ..start
                },
            );
            say::line(&row);
        }
        Ok(if interrupted {
            ExitStatus::Interrupted
        } else {
            ExitStatus::Good
        })
    }

    /// The group, on releases that have groups.
    fn group(&self, cluster: &mut Cluster, properties: &ToolProperties) -> Option<Group> {
        let broker = cluster.metadata().brokers.first()?.id;
        let knows = cluster
            .api_versions(broker)
            .ok()?
            .range(ApiKey::JoinGroup)
            .is_some();
        if !knows || self.is_groupless {
            return None;
        }
        Some(match &properties.group {
            Some(id) => Group {
                id: id.clone(),
                commits: true,
            },
            None => Group {
                id: format!("perf-consumer-{}", fresh_number() % 100_000),
                commits: false,
            },
        })
    }

    fn trial(
        &self,
        partitions: u32,
        properties: &ToolProperties,
        group: Option<&Group>,
        from_latest: bool,
    ) -> Result<Trial, ToolFailure> {
        let keys = json!({
            "kind": "consume",
            "consumers": self.consumers.min(partitions.max(1)),
            "from": "earliest",
            "partitions": "split",
        });
        let mut keys: Map<String, Value> = match keys {
            Value::Object(keys) => keys,
            _ => Map::new(),
        };
        let mut settings = properties.flow.clone();
        if let Some(group) = group {
            keys.remove("partitions");
            keys.insert("group".into(), "tool".into());
            if !group.commits {
                settings.insert("enable.auto.commit".to_owned(), "false".to_owned());
            }
        }
        let mut trial = flow::trial(partitions, keys, &settings)?;
        trial.stages.hold_ns = None;
        trial.stages.drain_ns_max = 1_000_000_000;
        for flow in &mut trial.flows {
            if let FlowPlan::Consume(flow) = flow {
                flow.records = ConsumeEnd::Count(self.records);
                if from_latest {
                    flow.from = StartOffset::Latest;
                }
            }
        }
        Ok(trial)
    }
}

fn now_ms() -> i64 {
    i64::try_from(unix_ms()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &str, version: &str) -> Result<ConsumerArgs, Mistake> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let given = super::super::options::read(TABLE, STYLE, &words)?;
        super::typed(&given, ToolRelease::parse(version).unwrap(), false)
    }

    #[test]
    fn the_command_lines_of_published_studies_are_understood() {
        let line = "--zookeeper z:2181 --messages 50000000 --topic test --threads 1";
        let old = typed(line, "0.8.2").unwrap();
        assert_eq!((old.records, old.consumers), (50_000_000, 1));
        assert_eq!(old.columns, Columns::FetchSize(1_048_576));
        let line = "--bootstrap-server k1:9092,k2:9092 --topic test-topic --messages 1000000";
        let new = typed(line, "4.3.1").unwrap();
        assert_eq!((new.records, new.columns), (1_000_000, Columns::Rebalance));
    }

    #[test]
    fn threads_mean_consumers_only_for_the_consumer_that_had_them() {
        let with = |more: &str| format!("--topic t --messages 1 {more}");
        assert_eq!(
            typed(&with("--zookeeper z:1"), "1.0.2").unwrap().consumers,
            10
        );
        let new = with("--broker-list a:1 --threads 4");
        assert_eq!(typed(&new, "2.8.2").unwrap().consumers, 1);
    }

    #[test]
    fn mistakes_have_the_words_of_4_3_1() {
        let said = |line: &str| typed(line, "4.3.1").unwrap_err().0;
        assert_eq!(
            said("--topic t --bootstrap-server a:1"),
            "Exactly one of the following arguments is required: [messages], [num-records]"
        );
        assert_eq!(
            said("--num-records 1 --bootstrap-server a:1"),
            "Exactly one of the following arguments is required: [topic], [include]"
        );
        assert_eq!(
            said("--topic t --num-records 10"),
            "Missing required argument \"[bootstrap-server]\""
        );
        assert_eq!(said("--nope"), "nope is not a recognized option");
        assert_eq!(
            said("--topic t --num-records x --bootstrap-server a:1"),
            "Cannot parse argument 'x' of option num-records"
        );
        assert_eq!(
            typed("--messages 1", "1.0.2").unwrap_err().0,
            "Missing required argument \"[topic]\""
        );
    }
}
