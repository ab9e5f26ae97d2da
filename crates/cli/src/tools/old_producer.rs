//! The Scala producer tool of 0.8 to 1.x: `--broker-list --topics --messages`, one row of figures.

use kgauge_load::Totals;
use kgauge_scenario::RecordPlan;

use super::java::{DATE_FORMAT, DatePattern, fixed};
use super::options::{Opt, ParsedOptions, Style, Takes, opt};
use super::producer_run::{PayloadSource, ProducerJob};
use super::properties::{ClientRole, PropertySources};
use super::release::ToolRelease;
use super::say;
use super::{ToolCall, ToolFailure, ToolResult};
use crate::exit::ExitStatus;
use crate::run_ids::unix_ms;

const STYLE: Style = Style::Jopt;

const ABOUT: &str = "Writes records to a topic and prints throughput, as the producer tool of Kafka 0.8 \
                     did.";

const TABLE: &[Opt] = &[
    opt("broker-list", Takes::One, "the brokers (required)"),
    opt(
        "topics",
        Takes::One,
        "the topic to write to (required; one only)",
    ),
    opt("messages", Takes::One, "how many records (required here)"),
    opt("message-size", Takes::One, "bytes of each value; 100"),
    opt("batch-size", Takes::One, "records in a batch; 200"),
    opt("threads", Takes::One, "producers; 1"),
    opt("request-num-acks", Takes::One, "acks; -1"),
    opt("request-timeout-ms", Takes::One, "request.timeout.ms; 3000"),
    opt("producer-num-retries", Takes::One, "retries; 3"),
    opt(
        "producer-retry-backoff-ms",
        Takes::One,
        "retry.backoff.ms; 100",
    ),
    opt(
        "compression-codec",
        Takes::One,
        "0 none, 1 gzip, 2 snappy, 3 lz4",
    ),
    opt("sync", Takes::Nothing, "one record at a time"),
    opt(
        "new-producer",
        Takes::Nothing,
        "has no effect: there is one producer",
    ),
    opt(
        "vary-message-size",
        Takes::Nothing,
        "sizes from 1 to --message-size",
    ),
    opt(
        "initial-message-id",
        Takes::One,
        "values that hold their number, from this one on",
    ),
    opt(
        "message-send-gap-ms",
        Takes::One,
        "pause of each thread between two records; 0",
    ),
    opt("csv-reporter-enabled", Takes::Nothing, "has no effect"),
    opt("metrics-dir", Takes::One, "has no effect"),
    opt(
        "date-format",
        Takes::One,
        "a pattern of Java's SimpleDateFormat",
    ),
    opt("reporting-interval", Takes::One, "has no effect, as there"),
    opt(
        "show-detailed-stats",
        Takes::Nothing,
        "has no effect, as there",
    ),
    opt("hide-header", Takes::Nothing, "no header"),
    opt("help", Takes::Nothing, "this list"),
];

const HEADER: &str = "start.time, end.time, compression, message.size, batch.size, \
                      total.data.sent.in.MB, MB.sec, total.data.sent.in.nMsg, nMsg.sec";

pub(super) fn run(call: &ToolCall) -> ToolResult {
    let given = call.options(TABLE, STYLE, ABOUT)?;
    let as_of = call.as_of_at_most(&given, ToolRelease::of(1, 1, 1))?;
    let typed = typed(&given).map_err(|mistake| match mistake {
        Wrong::Typed(words) => call.mistake(TABLE, STYLE, &super::options::Mistake(words)),
        Wrong::Refused(words) => ToolFailure::refused(words),
    })?;
    let started_unix_ms = unix_ms();
    if !given.has("hide-header") {
        say::line(HEADER);
    }
    let mut job = typed.job(as_of)?;
    let (totals, elapsed_ns, status) = job.run_quietly()?;
    let start_ms = i64::try_from(started_unix_ms).unwrap_or(i64::MAX);
    say::line(&typed.row(&totals, start_ms, elapsed_ns));
    if status == ExitStatus::Interrupted {
        return Ok(status);
    }
    Ok(job.judged(&totals))
}

/// What was typed.
#[derive(Debug)]
struct OldProducerArgs {
    topic: String,
    messages: u64,
    bytes: u64,
    payload: PayloadSource,
    batch_records: u64,
    threads: u32,
    codec: u8,
    gap_ms: u64,
    settings: Vec<(&'static str, String)>,
    dates: DatePattern,
    zero_on_failures: bool,
}

#[derive(Debug)]
enum Wrong {
    Typed(String),
    Refused(String),
}

impl From<super::options::Mistake> for Wrong {
    fn from(mistake: super::options::Mistake) -> Wrong {
        Wrong::Typed(mistake.0)
    }
}

fn typed(given: &ParsedOptions) -> Result<OldProducerArgs, Wrong> {
    let required = |name: &str| {
        let text = given.text(name).map(str::to_owned);
        text.ok_or_else(|| Wrong::Typed(format!("Missing required argument \"[{name}]\"")))
    };
    let topics = required("topics")?;
    let servers = required("broker-list")?;
    let number = |name: &str, otherwise: u64| -> Result<u64, Wrong> {
        Ok(given
            .number::<u64>(name, STYLE, "Long")?
            .unwrap_or(otherwise))
    };
    if topics.contains(',') {
        let words = "kgauge: one topic at a time: give --topics one name".to_owned();
        return Err(Wrong::Refused(words));
    }
    if !given.has("messages") {
        let words = "kgauge: give --messages: without it Kafka's tool never ended".to_owned();
        return Err(Wrong::Refused(words));
    }
    let codec = given
        .number::<u8>("compression-codec", STYLE, "Integer")?
        .unwrap_or(0);
    if codec > 3 {
        return Err(Wrong::Typed(format!(
            "{codec} is an unknown compression codec"
        )));
    }
    let bytes = number("message-size", 100)?.max(1);
    let payload = match (
        given.has("initial-message-id"),
        given.has("vary-message-size"),
    ) {
        // One range of numbers for all threads; there each had its own.
        (true, _) => PayloadSource::Numbered {
            words: format!("Topic:{topics}:ThreadID:0:MessageID:"),
            first: number("initial-message-id", 0)?,
            bytes,
        },
        (false, true) => PayloadSource::UpTo(bytes),
        (false, false) => PayloadSource::Size(bytes),
    };
    let batch_records = number("batch-size", 200)?.max(1);
    let batch_bytes = batch_bytes(bytes, batch_records, given.has("sync"));
    let mut settings = settings(given, codec, batch_bytes)?;
    settings.push(("bootstrap.servers", servers));
    let pattern = given.text("date-format").unwrap_or(DATE_FORMAT);
    Ok(OldProducerArgs {
        topic: topics,
        messages: number("messages", 0)?,
        bytes,
        payload,
        batch_records,
        threads: u32::try_from(number("threads", 1)?.max(1)).unwrap_or(u32::MAX),
        codec,
        gap_ms: number("message-send-gap-ms", 0)?,
        settings,
        dates: DatePattern::parse(pattern).map_err(Wrong::Typed)?,
        zero_on_failures: given.has("exit-zero-on-failures"),
    })
}

/// The producer's settings but for its servers.
fn settings(
    given: &ParsedOptions,
    codec: u8,
    batch_bytes: u64,
) -> Result<Vec<(&'static str, String)>, Wrong> {
    let number = |name: &str, otherwise: i64| -> Result<String, Wrong> {
        let number = given.number::<i64>(name, STYLE, "Integer")?;
        Ok(number.unwrap_or(otherwise).to_string())
    };
    let is_sync = given.has("sync");
    let compression = ["none", "gzip", "snappy", "lz4"][usize::from(codec)];
    let mut settings = vec![
        ("client.id", "ProducerPerformance".to_owned()),
        ("acks", number("request-num-acks", -1)?),
        ("enable.idempotence", "false".to_owned()),
        ("request.timeout.ms", number("request-timeout-ms", 3_000)?),
        ("retries", number("producer-num-retries", 3)?),
        (
            "retry.backoff.ms",
            number("producer-retry-backoff-ms", 100)?,
        ),
        ("compression.type", compression.to_owned()),
        ("linger.ms", if is_sync { "0" } else { "5" }.to_owned()),
        ("batch.size", batch_bytes.to_string()),
    ];
    if is_sync {
        settings.push(("max.in.flight.requests.per.connection", "1".to_owned()));
    }
    Ok(settings)
}

/// `batch.size` for so many records a batch, within what a request may be.
fn batch_bytes(bytes: u64, records: u64, is_sync: bool) -> u64 {
    /// Kafka's default of `max.request.size`.
    const REQUEST_BYTES_MAX: u64 = 1 << 20;
    /// A batch's header.
    const HEAD_BYTES: u64 = 61;
    /// What a record has beside its value.
    const BESIDE_BYTES: u64 = 12;
    match is_sync {
        true => 0,
        false => HEAD_BYTES
            .saturating_add(records.saturating_mul(bytes.saturating_add(BESIDE_BYTES)))
            .min(REQUEST_BYTES_MAX),
    }
}

impl OldProducerArgs {
    fn job(&self, as_of: ToolRelease) -> Result<ProducerJob, ToolFailure> {
        let sources = PropertySources {
            flags: self.settings.clone(),
            ..PropertySources::default()
        };
        // Each thread sent a record, and then waited.
        let rate = f64::from(self.threads) * 1_000.0 / self.gap_ms as f64;
        Ok(ProducerJob {
            topic: self.topic.clone(),
            records: self.messages,
            payload: self.payload.clone(),
            rate: (self.gap_ms > 0).then_some(rate),
            warm_up: 0,
            interval_ms: u64::MAX / 1_000_000,
            properties: sources
                .read(ClientRole::Producer)
                .map_err(ToolFailure::new)?,
            producers: self.threads,
            transaction_ms: None,
            print_metrics: false,
            zero_on_failures: self.zero_on_failures,
            as_of,
            record: RecordPlan::default(),
        })
    }

    fn row(&self, totals: &Totals, start_ms: i64, elapsed_ns: u64) -> String {
        let seconds = elapsed_ns as f64 / 1e9;
        let mb = totals.logical_bytes as f64 / (1024.0 * 1024.0);
        let end_ms = start_ms + i64::try_from(elapsed_ns / 1_000_000).unwrap_or(0);
        format!(
            "{}, {}, {}, {}, {}, {}, {}, {}, {}",
            self.dates.format(start_ms),
            self.dates.format(end_ms),
            self.codec,
            self.bytes,
            self.batch_records,
            fixed(mb, 2),
            fixed(mb / seconds, 4),
            totals.acked,
            fixed(totals.acked as f64 / seconds, 4),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &str) -> Result<OldProducerArgs, Wrong> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let given = super::super::options::read(TABLE, STYLE, &words)?;
        super::typed(&given)
    }

    #[test]
    fn the_row_has_the_columns_of_0_8() {
        let typed =
            typed("--broker-list a:1 --topics t --messages 1000 --compression-codec 2").unwrap();
        let totals = Totals {
            acked: 1000,
            logical_bytes: 100_000,
            ..Totals::default()
        };
        let row = typed.row(&totals, 0, 1_605_000_000);
        let columns: Vec<&str> = row.split(", ").collect();
        assert_eq!(columns.len(), HEADER.split(", ").count());
        // As 0.8.2.2 printed them for 1,000 records of 100 bytes in 1,605 ms.
        assert_eq!(
            columns[2..],
            ["2", "100", "200", "0.10", "0.0594", "1000", "623.0530"]
        );
    }

    #[test]
    fn a_batch_is_given_in_records() {
        let typed = typed("--broker-list a:1 --topics t --messages 5 --threads 3").unwrap();
        let job = typed.job(ToolRelease::of(0, 8, 2)).unwrap();
        assert_eq!(
            job.properties.flow["batch.size"],
            (61 + 200 * 112).to_string()
        );
        assert_eq!((job.producers, job.rate), (3, None));
        let typed = self::typed("--broker-list a:1 --topics t --messages 5 --sync").unwrap();
        assert_eq!(
            typed.job(ToolRelease::of(0, 8, 2)).unwrap().properties.flow["batch.size"],
            "0"
        );
    }

    #[test]
    fn what_is_missing_or_not_supported_is_named() {
        let said = |line: &str| match typed(line).unwrap_err() {
            Wrong::Typed(words) | Wrong::Refused(words) => words,
        };
        assert_eq!(
            said("--broker-list a:1"),
            "Missing required argument \"[topics]\""
        );
        assert!(said("--broker-list a:1 --topics t").contains("--messages"));
    }
}
