//! Checks: client quotas, set and shown by kafka-configs, felt by the performance tools.
//!
//! Kafka measures over eleven windows of a second, so the first ten seconds' worth goes through at
//! once; as much again is sent, which has to wait. The tools' own metrics report the throttle
//! times, which do not depend on the speed of the machine.

use anyhow::{Result, ensure};

use super::actions::Action;
use super::checks::{Checks, Name, Transcript};
use super::configs::{alter, describe};
use crate::kafka::{KafkaScript, Tools, output};

const CONFIGS: KafkaScript = KafkaScript::CONFIGS;
const PRODUCER: KafkaScript = KafkaScript::PRODUCER_PERF;
const CONSUMER: KafkaScript = KafkaScript::CONSUMER_PERF;

const TOPIC: &str = "interop-quotas";
const CLIENT: &str = "perf";
/// The user of clients that do not log in.
const USER: &str = "ANONYMOUS";

const RECORD_BYTES: u64 = 1_000;
const RECORDS: u64 = 2_000;
/// Bytes a second.
const RATE: u64 = 100_000;

/// 1 MB passes at once and 1 MB takes 10 s, which makes 200 records a second; a consumer, who is given
/// 1 MB or nothing, needs up to twice that time. No machine is fast enough to do more.
const THROTTLED_MAX: f64 = 250.0;
/// A machine that does other things too is slower, but not for ever.
const THROTTLED_MIN: f64 = 10.0;

const NAMED: [&str; 4] = ["--entity-type", "clients", "--entity-name", CLIENT];
const ALL_CLIENTS: [&str; 3] = ["--entity-type", "clients", "--entity-default"];
const ONE_USER: [&str; 4] = ["--entity-type", "users", "--entity-name", USER];
const ALL_USERS: [&str; 3] = ["--entity-type", "users", "--entity-default"];

/// An entity, the words that kafka-configs has for it, and what is limited.
struct Quota {
    entity: &'static [&'static str],
    words: &'static str,
    what: &'static str,
}

const QUOTAS: [(&str, Quota); 4] = [
    (
        "a client id's producer_byte_rate",
        Quota {
            entity: &NAMED,
            words: "client-id 'perf'",
            what: "producer_byte_rate",
        },
    ),
    (
        "the default client id's consumer_byte_rate",
        Quota {
            entity: &ALL_CLIENTS,
            words: "the default client-id",
            what: "consumer_byte_rate",
        },
    ),
    (
        "a user's consumer_byte_rate",
        Quota {
            entity: &ONE_USER,
            words: "user-principal 'ANONYMOUS'",
            what: "consumer_byte_rate",
        },
    ),
    (
        "the default user's producer_byte_rate",
        Quota {
            entity: &ALL_USERS,
            words: "the default user-principal",
            what: "producer_byte_rate",
        },
    ),
];

pub(super) fn run(checks: &mut Checks, tools: &Tools<'_>) -> Result<()> {
    let name = Name::tool(PRODUCER, "as fast as it goes", Action::Quotas);
    let free = checks.check(name, |log| {
        log.run(tools.create(TOPIC, 1)?)?;
        is_free(&produce(log, tools)?)
    })?;
    for (action, quota) in QUOTAS {
        let name = Name::tool(CONFIGS, action, Action::Quotas);
        let set = checks.follow(free, name, |log| set(log, tools, &quota))?;
        let is_produce = quota.what.starts_with("producer");
        let tool = if is_produce { PRODUCER } else { CONSUMER };
        let name = Name::tool(tool, action, Action::Quotas);
        checks.follow(set, name, |log| {
            is_throttled(&transfer(log, tools, is_produce)?)
        })?;
        let name = Name::tool(tool, "fast again without it", Action::Quotas);
        checks.follow(set, name, |log| {
            take_back(log, tools, &quota)?;
            is_free(&transfer(log, tools, is_produce)?)
        })?;
    }
    Ok(())
}

/// What a tool did and felt.
struct QuotaRun {
    records_per_s: f64,
    /// The longest throttle time that a broker returned.
    throttled_ms_max: f64,
}

impl QuotaRun {
    fn words(&self) -> String {
        format!(
            "{:.0} records/s of {RECORD_BYTES} B, throttled for up to {:.0} ms",
            self.records_per_s, self.throttled_ms_max
        )
    }
}

fn is_throttled(moved: &QuotaRun) -> Result<String> {
    let words = moved.words();
    let fits = (THROTTLED_MIN..THROTTLED_MAX).contains(&moved.records_per_s);
    ensure!(fits, "{words}, at a quota of {RATE} B/s");
    ensure!(moved.throttled_ms_max > 0.0, "{words}: nobody throttled it");
    Ok(words)
}

fn is_free(moved: &QuotaRun) -> Result<String> {
    let words = moved.words();
    ensure!(moved.throttled_ms_max == 0.0, "{words}, without a quota");
    Ok(words)
}

fn set(log: &mut Transcript, tools: &Tools<'_>, quota: &Quota) -> Result<String> {
    let setting = format!("{}={RATE}", quota.what);
    alter(log, tools, quota.entity, ["--add-config", &setting])?;
    let stdout = describe(log, tools, quota.entity)?;
    let expected = format!(
        "Quota configs for {} are {}={RATE}.0",
        quota.words, quota.what
    );
    ensure!(stdout.contains(&expected), "it does not say: {expected}");
    Ok(expected)
}

fn take_back(log: &mut Transcript, tools: &Tools<'_>, quota: &Quota) -> Result<()> {
    alter(log, tools, quota.entity, ["--delete-config", quota.what])?;
    let stdout = describe(log, tools, quota.entity)?;
    ensure!(!stdout.contains(quota.what), "it is still there");
    Ok(())
}

/// Sends or reads all records.
fn transfer(log: &mut Transcript, tools: &Tools<'_>, is_produce: bool) -> Result<QuotaRun> {
    if is_produce {
        produce(log, tools)
    } else {
        consume(log, tools)
    }
}

fn produce(log: &mut Transcript, tools: &Tools<'_>) -> Result<QuotaRun> {
    let (records, bytes) = (RECORDS.to_string(), RECORD_BYTES.to_string());
    let client = format!("client.id={CLIENT}");
    let what = ["--topic", TOPIC, "--num-records", &records];
    let how = ["--record-size", &bytes, "--throughput", "-1"];
    let arguments = [
        &what[..],
        &how,
        &["--print-metrics", "--command-property", &client],
    ]
    .concat();
    let stdout = log.run_tool(tools, PRODUCER, &arguments)?;
    let sent = output::sent(&stdout)?;
    ensure!(
        sent.records == RECORDS,
        "{} of {RECORDS} sent",
        sent.records
    );
    Ok(QuotaRun {
        records_per_s: sent.records_per_s,
        throttled_ms_max: output::metric(&stdout, "produce-throttle-time-max")?,
    })
}

fn consume(log: &mut Transcript, tools: &Tools<'_>) -> Result<QuotaRun> {
    let records = RECORDS.to_string();
    let client = format!("client.id={CLIENT}");
    // The tool exits when no record arrives within its timeout, and a throttled consumer waits for many seconds.
    let patience = ["--timeout", "60000"];
    let what = ["--topic", TOPIC, "--num-records", &records];
    let how = ["--print-metrics", "--command-property", &client];
    let arguments = [&what[..], &patience, &how].concat();
    let stdout = log.run_tool(tools, CONSUMER, &arguments)?;
    let consumed = output::consumed(&stdout)?;
    ensure!(consumed >= RECORDS, "{consumed} of {RECORDS} read");
    let seconds = output::fetch_seconds(&stdout)?;
    Ok(QuotaRun {
        records_per_s: consumed as f64 / seconds,
        throttled_ms_max: output::metric(&stdout, "fetch-throttle-time-max")?,
    })
}
