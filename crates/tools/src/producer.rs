//! `kafka-producer-perf-test`, 0.9 to 4.3.1: from options to a job.

use std::path::Path;

use kgauge_scenario::{Content, RecordPlan};

use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::failure::{ToolFailure, ToolResult};
use crate::options::ParsedOptions;
use crate::payloads;
use crate::producer_job::ProducerJob;
use crate::producer_lines::deprecated;
use crate::properties::{ClientRole, PropertySources, ToolProperties, producer_defaults};
use crate::release::ToolRelease;

pub(crate) fn run(call: &ToolCall, context: &ToolContext<'_>) -> ToolResult {
    let given = call.options(context)?;
    let as_of = call.release(&given, ToolRelease::NEWEST, context)?;
    job(&given, as_of, context)?.run(context)
}

/// A number above zero.
fn positive(given: &ParsedOptions, name: &str, kind: &str) -> Result<Option<u64>, ToolFailure> {
    match given.number::<i64>(name, kind)? {
        Some(number) if number <= 0 => {
            ToolFailure::options(format!("--{name} should be greater than zero."))
        }
        number => Ok(number.map(i64::unsigned_abs)),
    }
}

/// The options that set records and rate.
#[derive(Debug)]
pub(crate) struct ProducerArgs<'a> {
    pub(crate) topic: &'a str,
    pub(crate) records: u64,
    /// The option that sets the values.
    pub(crate) payload: &'static str,
    /// With `--record-size`.
    pub(crate) value_bytes: Option<u64>,
    /// Records per second; `None` is full speed.
    pub(crate) rate: Option<f64>,
}

impl ProducerArgs<'_> {
    pub(crate) fn new(given: &ParsedOptions) -> Result<ProducerArgs<'_>, ToolFailure> {
        let topic = given.required(&["topic"])?;
        given.required(&["num-records"])?;
        let records = positive(given, "num-records", "Long")?.unwrap_or(1);
        let payload = payload(given)?;
        let value_bytes = match payload {
            "record-size" => positive(given, payload, "Integer")?,
            _ => None,
        };
        given.required(&["throughput"])?;
        let rate = given.number::<f64>("throughput", "Double")?.unwrap_or(-1.0);
        Ok(ProducerArgs {
            topic,
            records,
            payload,
            value_bytes,
            rate: (rate >= 0.0).then_some(rate),
        })
    }
}

fn job(
    given: &ParsedOptions,
    as_of: ToolRelease,
    context: &ToolContext<'_>,
) -> Result<ProducerJob, ToolFailure> {
    let args = ProducerArgs::new(given)?;
    let records = args.records;
    exclusive(given, "command-property", "producer-props")?;
    exclusive(given, "command-config", "producer.config")?;
    let warm_up = given.number("warmup-records", "Long")?.unwrap_or(0);
    if warm_up >= records {
        return ToolFailure::options("--warmup-records must be less than --num-records.");
    }
    let interval_ms = positive(given, "reporting-interval", "Long")?;
    let mut properties = properties(given, as_of, context)?;
    let transaction_ms = transactional(given, as_of, &mut properties, context)?;
    if warm_up > 0 {
        context.line(&format!(
            "Warmup first {warm_up} records. Steady state results will print after the complete \
             test summary."
        ));
    }
    let record = match args.payload {
        "payload-monotonic" => RecordPlan {
            content: Content::Numbers,
            ..RecordPlan::of_values(8)
        },
        "payload-file" => {
            let path = Path::new(given.text(args.payload).unwrap_or_default());
            let delimiter = given.text("payload-delimiter").unwrap_or("\\n");
            payloads::from_file(path, delimiter, as_of, context)?
        }
        _ => payloads::letters(args.value_bytes.unwrap_or(0)),
    };
    Ok(ProducerJob {
        value_bytes: args.value_bytes,
        rate: args.rate,
        warm_up,
        interval_ms: interval_ms.unwrap_or(5_000),
        transaction_ms,
        print_metrics: given.has("print-metrics"),
        zero_on_failures: given.has("exit-zero-on-failures"),
        ..ProducerJob::new(args.topic, records, record, properties, as_of)
    })
}

fn properties(
    given: &ParsedOptions,
    as_of: ToolRelease,
    context: &ToolContext<'_>,
) -> Result<ToolProperties, ToolFailure> {
    const SOURCES: [&str; 5] = [
        "bootstrap-server",
        "producer-props",
        "command-property",
        "producer.config",
        "command-config",
    ];
    if !SOURCES.iter().any(|name| given.has(name)) {
        return ToolFailure::options(
            "At least one of --bootstrap-server, --command-property, --producer-props, \
             --producer.config or --command-config must be specified.",
        );
    }
    // Kafka's tool prints these first, also before it finds a mistake in the settings.
    for (old, new) in [
        ("producer-props", "command-property"),
        ("producer.config", "command-config"),
    ] {
        if as_of >= ToolRelease::of(4, 2, 0) && given.has(old) {
            context.line(&deprecated(old, new));
        }
    }
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
    sources.read(ClientRole::Producer, context)
}

/// The option that sets the values.
fn payload(given: &ParsedOptions) -> Result<&'static str, ToolFailure> {
    const ALL: [&str; 3] = ["record-size", "payload-file", "payload-monotonic"];
    let mut found = ALL.into_iter().filter(|name| given.has(name));
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        (Some(first), Some(second)) => ToolFailure::options(format!(
            "argument --{second}: not allowed with argument --{first}"
        )),
        (None, _) => ToolFailure::options(
            "one of the arguments --record-size --payload-file --payload-monotonic is required",
        ),
    }
}

fn exclusive(given: &ParsedOptions, new: &str, old: &str) -> Result<(), ToolFailure> {
    match given.has(new) && given.has(old) {
        true => ToolFailure::options(format!("--{new} and --{old} cannot be specified together.")),
        false => Ok(()),
    }
}

/// Adapts the settings to transactions, if the producer uses them; returns their length.
fn transactional(
    given: &ParsedOptions,
    as_of: ToolRelease,
    properties: &mut ToolProperties,
    context: &ToolContext<'_>,
) -> Result<Option<u64>, ToolFailure> {
    const ID: &str = "transactional.id";
    let Some((id, ms)) = transactions(given, as_of, properties.flow.contains_key(ID), context)?
    else {
        return Ok(None);
    };
    // A producer with an id is idempotent and waits for all replicas, unless its settings forbid it.
    for (key, value) in producer_defaults(as_of) {
        let is_default = properties.flow.get(key).is_some_and(|now| *now == value);
        if ["acks", "enable.idempotence", "retries"].contains(&key) && is_default {
            properties.flow.remove(key);
        }
    }
    properties.flow.extend(id.map(|id| (ID.to_owned(), id)));
    Ok(Some(ms))
}

/// The id of the transactions, unless a property sets it, and their length in milliseconds.
type IdAndLength = (Option<String>, u64);

/// Whether the release uses transactions with these options.
fn transactions(
    given: &ParsedOptions,
    as_of: ToolRelease,
    by_property: bool,
    context: &ToolContext<'_>,
) -> Result<Option<IdAndLength>, ToolFailure> {
    let by_option = given.text("transactional-id").map(str::to_owned);
    let duration_ms = given.number::<i64>("transaction-duration-ms", "Long")?;
    if as_of < ToolRelease::of(4, 0, 0) {
        // An id alone started none.
        return match duration_ms.filter(|&ms| ms > 0) {
            Some(ms) => {
                let default = || "performance-producer-default-transactional-id".to_owned();
                let id = by_option.unwrap_or_else(default);
                Ok(Some((Some(id), ms.unsigned_abs())))
            }
            None if by_property => Err(ToolFailure::Unsupported(
                "transactional.id without --transaction-duration-ms: Kafka's tool could not send; \
                 set the duration"
                    .to_owned(),
            )),
            None => Ok(None),
        };
    }
    if duration_ms.is_some_and(|ms| ms <= 0) {
        return ToolFailure::options("--transaction-duration-ms should be greater than zero.");
    }
    if by_option.is_none() && duration_ms.is_none() && !by_property {
        return Ok(None);
    }
    let fresh = || format!("performance-producer-{:016x}", context.seed);
    let id = match by_property {
        true => by_option,
        false => Some(by_option.unwrap_or_else(fresh)),
    };
    Ok(Some((id, duration_ms.map_or(3_000, i64::unsigned_abs))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::{RecordedOutput, context};
    use crate::option_tables::PRODUCER;
    use crate::options;

    fn job_of(line: &str, as_of: ToolRelease) -> Result<ProducerJob, ToolFailure> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let given = options::read(&PRODUCER, &words)?;
        super::job(&given, as_of, &context(&RecordedOutput::default()))
    }

    fn job(line: &str) -> Result<ProducerJob, ToolFailure> {
        job_of(line, ToolRelease::of(3, 9, 1))
    }

    const GOOD: &str = "--topic t --num-records 10 --record-size 100 --throughput -1 \
                        --producer-props bootstrap.servers=a:1 acks=1";

    #[test]
    fn the_command_lines_of_published_studies_are_understood() {
        // DC/OS, "Advanced load testing Kafka".
        let line = "--topic performancetest --num-records 10000000 --record-size 250 --throughput \
                    1000000 --producer-props acks=1 buffer.memory=67108864 compression.type=none \
                    batch.size=8196 linger.ms=0 retries=0 bootstrap.servers=k0:1025,k1:1025,k2:1025";
        let job = job(line).unwrap();
        assert_eq!(
            (job.topic.as_str(), job.records),
            ("performancetest", 10_000_000)
        );
        assert_eq!((job.value_bytes, job.record.value_bytes), (Some(250), 250));
        assert_eq!(job.rate, Some(1_000_000.0));
        assert_eq!(job.properties.flow["batch.size"], "8196");
        assert_eq!(job.properties.client.bootstrap_servers.len(), 3);
        assert_eq!(job.interval_ms, 5_000);
    }

    #[test]
    fn a_throughput_below_zero_is_no_limit() {
        assert_eq!(job(GOOD).unwrap().rate, None);
        let slow = GOOD.replace("--throughput -1", "--throughput 0.5");
        assert_eq!(job(&slow).unwrap().rate, Some(0.5));
    }

    #[test]
    fn mistakes_have_the_wording_of_4_3_1() {
        for (old, new, wording) in [
            (
                "--num-records 10",
                "--num-records 0",
                "--num-records should be greater than zero.",
            ),
            ("--topic t ", "", "argument --topic is required"),
            (
                "--record-size 100",
                "",
                "one of the arguments --record-size --payload-file --payload-monotonic is required",
            ),
            (
                "--record-size 100",
                "--record-size 1 --payload-monotonic",
                "argument --payload-monotonic: not allowed with argument --record-size",
            ),
            (
                "--throughput -1",
                "--throughput -1 --warmup-records 10",
                "--warmup-records must be less than --num-records.",
            ),
            (
                "--producer-props",
                "--command-property x=y --producer-props",
                "--command-property and --producer-props cannot be specified together.",
            ),
            ("acks=1", "acks", "Invalid property: acks"),
        ] {
            let error = job(&GOOD.replace(old, new)).unwrap_err();
            assert_eq!(error.to_string(), wording);
        }
        let without = "--topic t --num-records 1 --record-size 1 --throughput 1";
        let error = job(without).unwrap_err().to_string();
        assert!(
            error.starts_with("At least one of --bootstrap-server"),
            "{error}"
        );
    }

    #[test]
    fn transactions_begin_as_in_each_release() {
        let transaction = |more: &str, as_of| {
            let line = format!("{GOOD} {more}").replace("acks=1", "acks=all");
            let job = job_of(&line, as_of).unwrap();
            let id = job.properties.flow.get("transactional.id").cloned();
            (id, job.transaction_ms)
        };
        let (old, new) = (ToolRelease::of(3, 8, 0), ToolRelease::NEWEST);
        assert_eq!(transaction("", new), (None, None));
        let default = "performance-producer-default-transactional-id".to_owned();
        let by_time = "--transaction-duration-ms 100";
        assert_eq!(transaction(by_time, old), (Some(default), Some(100)));
        let by_id = "--transactional-id x";
        assert_eq!(transaction(by_id, old), (None, None));
        assert_eq!(transaction(by_id, new), (Some("x".to_owned()), Some(3_000)));
        let (id, ms) = transaction(by_time, new);
        assert!(id.unwrap().starts_with("performance-producer-"));
        assert_eq!(ms, Some(100));
        let refused = job(&format!("{GOOD} transactional.id=x")).unwrap_err();
        assert!(matches!(refused, ToolFailure::Unsupported(_)));
    }
}
