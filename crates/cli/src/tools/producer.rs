//! `kafka-producer-perf-test`, 0.9 to 4.3.1: what was typed, and what it asks for.

use kgauge_scenario::RecordPlan;

use super::options::{Mistake, Opt, ParsedOptions, Style, Takes, opt};
use super::producer_lines::deprecated;
use super::producer_run::{PayloadSource, ProducerJob};
use super::properties::{ClientRole, PropertySources, ToolProperties, producer_defaults};
use super::release::ToolRelease;
use super::say;
use super::{ToolCall, ToolFailure, ToolResult, old_producer};

const STYLE: Style = Style::Argparse;

const ABOUT: &str = "Writes records to a topic and prints throughput and latency, as Kafka's \
                     ProducerPerformance does.";

const TABLE: &[Opt] = &[
    opt("help", Takes::Nothing, "this list"),
    opt("topic", Takes::One, "the topic to write to (required)"),
    opt("num-records", Takes::One, "how many records (required)"),
    opt(
        "record-size",
        Takes::One,
        "bytes of each value; or a payload option",
    ),
    opt(
        "payload-file",
        Takes::One,
        "0.10.2+: values are picked from this file",
    ),
    opt(
        "payload-delimiter",
        Takes::One,
        "0.10.2+: what ends a value in that file; \\n",
    ),
    opt(
        "payload-monotonic",
        Takes::Nothing,
        "3.9+: values are rising numbers",
    ),
    opt(
        "throughput",
        Takes::One,
        "records a second, -1 for no limit (required)",
    ),
    opt("bootstrap-server", Takes::One, "4.2+: the brokers"),
    opt(
        "producer-props",
        Takes::Many,
        "0.9+: settings, key=value ...",
    ),
    opt("command-property", Takes::Many, "4.2+: the same"),
    opt("producer.config", Takes::One, "0.10.1+: a file of settings"),
    opt("command-config", Takes::One, "4.2+: the same"),
    opt(
        "print-metrics",
        Takes::Nothing,
        "0.11+: a table of figures at the end",
    ),
    opt(
        "transactional-id",
        Takes::One,
        "0.11+: the id of the producer's transactions",
    ),
    opt(
        "transaction-duration-ms",
        Takes::One,
        "0.11+: commit after so long; from 4.0 on 3000 when there is an id",
    ),
    opt(
        "warmup-records",
        Takes::One,
        "4.2+: figures of the records after these stand in a line of their own; 0",
    ),
    opt(
        "reporting-interval",
        Takes::One,
        "4.2+: milliseconds between lines; 5000",
    ),
];

pub(super) fn run(call: &ToolCall) -> ToolResult {
    // The script of 0.8 started another tool, whose options have no name in common with these.
    if call
        .arguments
        .iter()
        .any(|word| word.starts_with("--broker-list"))
    {
        return old_producer::run(call);
    }
    let given = call.options(TABLE, STYLE, ABOUT)?;
    let as_of = call.as_of(&given)?;
    let job = job(&given, as_of).map_err(|wrong| match wrong {
        Wrong::Typed(mistake) => call.mistake(TABLE, STYLE, &mistake),
        Wrong::Other(failure) => failure,
    })?;
    job.run()
}

/// What is wrong with a call.
#[derive(Debug)]
enum Wrong {
    /// The tool prints its usage around it.
    Typed(Mistake),
    Other(ToolFailure),
}

impl From<Mistake> for Wrong {
    fn from(mistake: Mistake) -> Wrong {
        Wrong::Typed(mistake)
    }
}

impl From<ToolFailure> for Wrong {
    fn from(failure: ToolFailure) -> Wrong {
        Wrong::Other(failure)
    }
}

fn typed<T>(words: &str) -> Result<T, Wrong> {
    Err(Wrong::Typed(Mistake(words.to_owned())))
}

/// A number above zero.
fn positive(given: &ParsedOptions, name: &'static str) -> Result<Option<u64>, Wrong> {
    let kind = match name {
        "record-size" => "Integer",
        _ => "Long",
    };
    match given.number::<i64>(name, STYLE, kind)? {
        Some(number) if number <= 0 => typed(&format!("--{name} should be greater than zero.")),
        number => Ok(number.map(i64::unsigned_abs)),
    }
}

fn required<T>(value: Option<T>, name: &str) -> Result<T, Wrong> {
    value.map_or_else(|| typed(&format!("argument --{name} is required")), Ok)
}

fn job(given: &ParsedOptions, as_of: ToolRelease) -> Result<ProducerJob, Wrong> {
    let topic = required(given.text("topic"), "topic")?.to_owned();
    let records = required(positive(given, "num-records")?, "num-records")?;
    let payload = payload(given)?;
    let rate = required(
        given.number::<f64>("throughput", STYLE, "Double")?,
        "throughput",
    )?;
    exclusive(given, "command-property", "producer-props")?;
    exclusive(given, "command-config", "producer.config")?;
    let warm_up = given
        .number::<u64>("warmup-records", STYLE, "Long")?
        .unwrap_or(0);
    if warm_up >= records {
        return typed("--warmup-records must be less than --num-records.");
    }
    let interval_ms = positive(given, "reporting-interval")?.unwrap_or(5_000);
    let has_servers = [
        "bootstrap-server",
        "producer-props",
        "command-property",
        "producer.config",
        "command-config",
    ];
    if !has_servers.iter().any(|name| given.has(name)) {
        return typed(
            "At least one of --bootstrap-server, --command-property, --producer-props, \
             --producer.config or --command-config must be specified.",
        );
    }
    notices(given, as_of);
    let words = [given.all("producer-props"), given.all("command-property")].concat();
    let servers = given.text("bootstrap-server");
    let sources = PropertySources {
        defaults: producer_defaults(as_of),
        file: given.first_of(&["command-config", "producer.config"]),
        words: &words,
        flags: servers
            .map(|servers| ("bootstrap.servers", servers.to_owned()))
            .into_iter()
            .collect(),
    };
    let mut properties = sources
        .read(ClientRole::Producer)
        .map_err(ToolFailure::new)?;
    let transaction_ms = transactional(given, as_of, &mut properties)?;
    Ok(ProducerJob {
        topic,
        records,
        payload,
        rate: (rate >= 0.0).then_some(rate),
        warm_up,
        interval_ms,
        properties,
        producers: 1,
        transaction_ms,
        print_metrics: given.has("print-metrics"),
        zero_on_failures: given.has("exit-zero-on-failures"),
        as_of,
        record: RecordPlan::default(),
    })
}

/// What is out of date, in its own words: as there, before all else, also before a mistake in the
/// settings.
fn notices(given: &ParsedOptions, as_of: ToolRelease) {
    let pairs = [
        ("producer-props", "command-property"),
        ("producer.config", "command-config"),
    ];
    for (old, new) in pairs {
        if as_of >= ToolRelease::of(4, 2, 0) && given.has(old) {
            say::line(&deprecated(old, new));
        }
    }
}

fn payload(given: &ParsedOptions) -> Result<PayloadSource, Wrong> {
    const ALL: [&str; 3] = ["record-size", "payload-file", "payload-monotonic"];
    let mut found = ALL.into_iter().filter(|name| given.has(name));
    let Some(first) = found.next() else {
        return typed(
            "one of the arguments --record-size --payload-file --payload-monotonic is required",
        );
    };
    if let Some(second) = found.next() {
        return typed(&format!(
            "argument --{second}: not allowed with argument --{first}"
        ));
    }
    Ok(match first {
        "payload-monotonic" => PayloadSource::Monotonic,
        "payload-file" => PayloadSource::File {
            path: given.text(first).unwrap_or_default().into(),
            delimiter: given.text("payload-delimiter").unwrap_or("\\n").to_owned(),
        },
        _ => PayloadSource::Size(required(positive(given, "record-size")?, first)?),
    })
}

fn exclusive(given: &ParsedOptions, new: &str, old: &str) -> Result<(), Wrong> {
    if given.has(new) && given.has(old) {
        return typed(&format!(
            "--{new} and --{old} cannot be specified together."
        ));
    }
    Ok(())
}

/// Makes the settings those of a producer that writes in transactions, if it is to; gives their length.
fn transactional(
    given: &ParsedOptions,
    as_of: ToolRelease,
    properties: &mut ToolProperties,
) -> Result<Option<u64>, Wrong> {
    let by_property = properties.flow.contains_key("transactional.id");
    let Some((id, ms)) = transactions(given, as_of, by_property)? else {
        return Ok(None);
    };
    // A producer with an id is idempotent and waits for all replicas, unless it is told otherwise.
    for (key, value) in producer_defaults(as_of) {
        let is_default = properties.flow.get(key).is_some_and(|now| *now == value);
        if ["acks", "enable.idempotence", "retries"].contains(&key) && is_default {
            properties.flow.remove(key);
        }
    }
    let id = id.map(|id| ("transactional.id".to_owned(), id));
    properties.flow.extend(id);
    Ok(Some(ms))
}

/// Whether there are transactions: their id, if one is typed or has a default, and their length.
fn transactions(
    given: &ParsedOptions,
    as_of: ToolRelease,
    by_property: bool,
) -> Result<Option<(Option<String>, u64)>, Wrong> {
    let by_flag = given.text("transactional-id").map(str::to_owned);
    let duration_ms = given.number::<i64>("transaction-duration-ms", STYLE, "Long")?;
    if as_of < ToolRelease::of(4, 0, 0) {
        // An id alone began none.
        let Some(ms) = duration_ms.filter(|&ms| ms > 0) else {
            return match by_property {
                true => Err(Wrong::Other(ToolFailure::refused(
                    "kgauge: transactional.id without --transaction-duration-ms: Kafka's tool could \
                     not send then; give the duration",
                ))),
                false => Ok(None),
            };
        };
        let default = || "performance-producer-default-transactional-id".to_owned();
        return Ok(Some((
            Some(by_flag.unwrap_or_else(default)),
            ms.unsigned_abs(),
        )));
    }
    if duration_ms.is_some_and(|ms| ms <= 0) {
        return typed("--transaction-duration-ms should be greater than zero.");
    }
    if by_flag.is_none() && duration_ms.is_none() && !by_property {
        return Ok(None);
    }
    let id = match by_property {
        true => by_flag,
        false => Some(by_flag.unwrap_or_else(|| {
            format!(
                "performance-producer-{:016x}",
                crate::run_ids::fresh_number()
            )
        })),
    };
    Ok(Some((id, duration_ms.map_or(3_000, i64::unsigned_abs))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::ExitStatus;

    fn job(line: &str) -> Result<ProducerJob, Wrong> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let given = super::super::options::read(TABLE, STYLE, &words).map_err(Wrong::Typed)?;
        super::job(&given, ToolRelease::of(3, 9, 1))
    }

    fn refusal(line: &str) -> String {
        match job(line).unwrap_err() {
            Wrong::Typed(mistake) => mistake.0,
            Wrong::Other(failure) => failure.words,
        }
    }

    const GOOD: &str = "--topic t --num-records 10 --record-size 100 --throughput -1 \
                        --producer-props bootstrap.servers=a:1 acks=1";

    #[test]
    fn the_command_lines_of_published_studies_are_understood() {
        // DC/OS, "Advanced load testing Kafka": seed 001.
        let line = "--topic performancetest --num-records 10000000 --record-size 250 --throughput \
                    1000000 --producer-props acks=1 buffer.memory=67108864 compression.type=none \
                    batch.size=8196 linger.ms=0 retries=0 bootstrap.servers=k0:1025,k1:1025,k2:1025";
        let job = job(line).unwrap();
        assert_eq!(
            (job.topic.as_str(), job.records),
            ("performancetest", 10_000_000)
        );
        assert_eq!(job.payload, PayloadSource::Size(250));
        assert_eq!(job.rate, Some(1_000_000.0));
        assert_eq!(job.properties.flow["batch.size"], "8196");
        assert_eq!(job.properties.client.bootstrap_servers.len(), 3);
        assert_eq!(job.interval_ms, 5_000);
    }

    #[test]
    fn a_throughput_below_zero_is_none() {
        assert_eq!(job(GOOD).unwrap().rate, None);
        let slow = GOOD.replace("--throughput -1", "--throughput 0.5");
        assert_eq!(job(&slow).unwrap().rate, Some(0.5));
    }

    #[test]
    fn mistakes_have_the_words_of_4_3_1() {
        for (change, words) in [
            (
                ("--num-records 10", "--num-records 0"),
                "--num-records should be greater than zero.",
            ),
            (("--topic t ", ""), "argument --topic is required"),
            (
                ("--record-size 100", ""),
                "one of the arguments --record-size --payload-file --payload-monotonic is required",
            ),
            (
                ("--record-size 100", "--record-size 1 --payload-monotonic"),
                "argument --payload-monotonic: not allowed with argument --record-size",
            ),
            (
                ("--throughput -1", "--throughput -1 --warmup-records 10"),
                "--warmup-records must be less than --num-records.",
            ),
            (
                (
                    "--producer-props",
                    "--command-property x=y --producer-props",
                ),
                "--command-property and --producer-props cannot be specified together.",
            ),
        ] {
            assert_eq!(refusal(&GOOD.replace(change.0, change.1)), words);
        }
        let without = "--topic t --num-records 1 --record-size 1 --throughput 1";
        assert!(refusal(without).starts_with("At least one of --bootstrap-server"));
        assert_eq!(
            refusal(&GOOD.replace("acks=1", "acks")),
            "Invalid property: acks"
        );
    }

    fn transaction(more: &str, as_of: ToolRelease) -> (Option<String>, Option<u64>) {
        let line = format!("{GOOD} {more}").replace("acks=1", "acks=all");
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let given = super::super::options::read(TABLE, STYLE, &words).unwrap();
        let job = super::job(&given, as_of).unwrap();
        let id = job.properties.flow.get("transactional.id").cloned();
        (id, job.transaction_ms)
    }

    #[test]
    fn transactions_begin_as_in_each_release() {
        let (old, new) = (ToolRelease::of(3, 8, 0), ToolRelease::NEWEST);
        assert_eq!(transaction("", new), (None, None));
        let default = "performance-producer-default-transactional-id".to_owned();
        let by_time = "--transaction-duration-ms 100";
        assert_eq!(transaction(by_time, old), (Some(default), Some(100)));
        // An id alone began none, and begins some now.
        let by_id = "--transactional-id x";
        assert_eq!(transaction(by_id, old), (None, None));
        assert_eq!(transaction(by_id, new), (Some("x".to_owned()), Some(3_000)));
        let (id, ms) = transaction(by_time, new);
        assert!(id.unwrap().starts_with("performance-producer-"));
        assert_eq!(ms, Some(100));
        let refused = job(&format!("{GOOD} transactional.id=x")).unwrap_err();
        assert!(matches!(refused, Wrong::Other(failure) if failure.status == ExitStatus::BadInput));
    }

    #[test]
    fn a_payload_file_ends_its_values_as_told() {
        let line = GOOD.replace(
            "--record-size 100",
            "--payload-file f --payload-delimiter ;;",
        );
        let wanted = PayloadSource::File {
            path: "f".into(),
            delimiter: ";;".to_owned(),
        };
        assert_eq!(job(&line).unwrap().payload, wanted);
    }
}
