//! The Scala producer tool of 0.8 to 1.x: `--broker-list --topics --messages`, one row of figures.

use kgauge_load::{Clock, Totals};
use kgauge_scenario::{Content, SizePlan};

use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::failure::{ToolFailure, ToolResult};
use crate::java::{DATE_FORMAT, DatePattern, fixed};
use crate::options::ParsedOptions;
use crate::payloads::{letters, size};
use crate::producer_job::ProducerJob;
use crate::producer_lines::MB;
use crate::properties::{ClientRole, PropertySources};
use crate::release::ToolRelease;

const HEADER: &str = "start.time, end.time, compression, message.size, batch.size, \
                      total.data.sent.in.MB, MB.sec, total.data.sent.in.nMsg, nMsg.sec";

const THREADS_MAX: u64 = 10_000;

pub(crate) fn run(call: &ToolCall, context: &ToolContext<'_>) -> ToolResult {
    let given = call.options(context)?;
    let as_of = call.release(&given, ToolRelease::of(1, 1, 1), context)?;
    let args = OldProducerArgs::new(&given)?;
    let start_ms = Clock::start().unix_ms(0);
    let job = args.job(&given, as_of, context)?;
    if !given.has("hide-header") {
        context.line(HEADER);
    }
    let report = job.send(false, context)?;
    job.explain(&report, context);
    context.line(&args.row(&report.totals, start_ms, report.elapsed_ns));
    Ok(job.status(&report.totals, context))
}

/// The options that the row repeats, or that others depend on.
#[derive(Debug)]
struct OldProducerArgs {
    bytes: u64,
    batch_records: u64,
    codec: u8,
    threads: u64,
    dates: DatePattern,
}

impl OldProducerArgs {
    fn new(given: &ParsedOptions) -> Result<OldProducerArgs, ToolFailure> {
        let topics = given.required(&["topics"])?;
        given.required(&["broker-list"])?;
        if topics.contains(',') {
            let message = "only one topic at a time is supported: give --topics one name";
            return Err(ToolFailure::Unsupported(message.to_owned()));
        }
        if !given.has("messages") {
            let message = "--messages is missing; without it, Kafka's tool never ended";
            return Err(ToolFailure::Unsupported(message.to_owned()));
        }
        let codec = number(given, "compression-codec", 0)?;
        let threads = number(given, "threads", 1)?.max(1);
        if threads > THREADS_MAX {
            return ToolFailure::options(format!("--threads must be at most {THREADS_MAX}"));
        }
        let pattern = given.text("date-format").unwrap_or(DATE_FORMAT);
        Ok(OldProducerArgs {
            bytes: number(given, "message-size", 100)?.max(1),
            batch_records: number(given, "batch-size", 200)?.max(1),
            codec: match codec {
                0..=3 => codec as u8,
                _ => {
                    return ToolFailure::options(format!(
                        "{codec} is an unknown compression codec"
                    ));
                }
            },
            threads,
            dates: DatePattern::parse(pattern).map_err(ToolFailure::Options)?,
        })
    }

    fn job(
        &self,
        given: &ParsedOptions,
        as_of: ToolRelease,
        context: &ToolContext<'_>,
    ) -> Result<ProducerJob, ToolFailure> {
        let sources = PropertySources {
            flags: self.settings(given)?,
            ..PropertySources::default()
        };
        let properties = sources.read(ClientRole::Producer, context)?;
        let topic = given.required(&["topics"])?;
        let messages = number(given, "messages", 0)?;
        let mut record = letters(self.bytes);
        let is_numbered = given.has("initial-message-id");
        let is_varied = given.has("vary-message-size") && !is_numbered;
        if is_numbered {
            // One sequence of numbers for all threads; in Kafka's tool each thread had its own.
            record.content = Content::Numbered {
                words: format!("Topic:{topic}:ThreadID:0:MessageID:"),
                first: number(given, "initial-message-id", 0)?,
            };
        }
        if is_varied {
            let to = size(self.bytes);
            record.sizes = Some(SizePlan::Uniform { from: 1, to });
            record.value_bytes = size(self.bytes.div_ceil(2));
        }
        // Each thread paused after each record.
        let gap_ms = number(given, "message-send-gap-ms", 0)?;
        let rate = self.threads as f64 * 1_000.0 / gap_ms as f64;
        Ok(ProducerJob {
            value_bytes: (!is_numbered && !is_varied).then_some(self.bytes),
            rate: (gap_ms > 0).then_some(rate),
            interval_ms: u64::MAX / 1_000_000,
            producers: size(self.threads),
            zero_on_failures: given.has("exit-zero-on-failures"),
            ..ProducerJob::new(topic, messages, record, properties, as_of)
        })
    }

    fn settings(&self, given: &ParsedOptions) -> Result<Vec<(&'static str, String)>, ToolFailure> {
        let number = |name: &str, default: i64| -> Result<String, ToolFailure> {
            let number = given.number::<i64>(name, "Integer")?;
            Ok(number.unwrap_or(default).to_string())
        };
        let is_sync = given.has("sync");
        let codec = ["none", "gzip", "snappy", "lz4"][usize::from(self.codec)];
        #[rustfmt::skip]
        let mut settings = vec![
            ("bootstrap.servers", given.required(&["broker-list"])?.to_owned()),
            ("client.id", "ProducerPerformance".to_owned()),
            ("acks", number("request-num-acks", -1)?),
            ("enable.idempotence", "false".to_owned()),
            ("request.timeout.ms", number("request-timeout-ms", 3_000)?),
            ("retries", number("producer-num-retries", 3)?),
            ("retry.backoff.ms", number("producer-retry-backoff-ms", 100)?),
            ("compression.type", codec.to_owned()),
            ("linger.ms", if is_sync { "0" } else { "5" }.to_owned()),
            ("batch.size", self.batch_bytes(is_sync).to_string()),
        ];
        if is_sync {
            settings.push(("max.in.flight.requests.per.connection", "1".to_owned()));
        }
        Ok(settings)
    }

    /// `batch.size` for the number of records per batch, within the limit of a request.
    fn batch_bytes(&self, is_sync: bool) -> u64 {
        /// Kafka's default of `max.request.size`.
        const REQUEST_BYTES_MAX: u64 = 1 << 20;
        const BATCH_HEAD_BYTES: u64 = 61;
        /// Of a record without its value.
        const RECORD_HEAD_BYTES: u64 = 12;
        if is_sync {
            return 0;
        }
        let record = self.bytes.saturating_add(RECORD_HEAD_BYTES);
        let records = self.batch_records.saturating_mul(record);
        records
            .saturating_add(BATCH_HEAD_BYTES)
            .min(REQUEST_BYTES_MAX)
    }

    fn row(&self, totals: &Totals, start_ms: i64, elapsed_ns: u64) -> String {
        let seconds = elapsed_ns as f64 / 1e9;
        let mb = totals.logical_bytes as f64 / MB;
        let end_ms = start_ms + (elapsed_ns / 1_000_000).cast_signed();
        let columns = [
            self.dates.format(start_ms),
            self.dates.format(end_ms),
            self.codec.to_string(),
            self.bytes.to_string(),
            self.batch_records.to_string(),
            fixed(mb, 2),
            fixed(mb / seconds, 4),
            totals.acked.to_string(),
            fixed(totals.acked as f64 / seconds, 4),
        ];
        columns.join(", ")
    }
}

fn number(given: &ParsedOptions, name: &str, default: u64) -> Result<u64, ToolFailure> {
    Ok(given.number(name, "Long")?.unwrap_or(default))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::{RecordedOutput, context};
    use crate::option_tables::OLD_PRODUCER;
    use crate::options;

    fn given(line: &str) -> ParsedOptions {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        options::read(&OLD_PRODUCER, &words).unwrap()
    }

    fn job(line: &str) -> ProducerJob {
        let given = given(line);
        let args = OldProducerArgs::new(&given).unwrap();
        let output = RecordedOutput::default();
        let job = args.job(&given, ToolRelease::of(0, 8, 2), &context(&output));
        job.unwrap()
    }

    #[test]
    fn the_row_has_the_columns_of_0_8() {
        let line = "--broker-list a:1 --topics t --messages 1000 --compression-codec 2";
        let args = OldProducerArgs::new(&given(line)).unwrap();
        let totals = Totals {
            acked: 1000,
            logical_bytes: 100_000,
            ..Totals::default()
        };
        let row = args.row(&totals, 0, 1_605_000_000);
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
        let line = "--broker-list a:1 --topics t --messages 5";
        let three = job(&format!("{line} --threads 3"));
        let bytes = (61 + 200 * 112).to_string();
        assert_eq!(three.properties.flow["batch.size"], bytes);
        assert_eq!((three.producers, three.rate), (3, None));
        let sync = job(&format!("{line} --sync"));
        assert_eq!(sync.properties.flow["batch.size"], "0");
    }

    #[test]
    fn missing_and_unsupported_options_are_named() {
        let mistake = |line: &str| OldProducerArgs::new(&given(line)).unwrap_err();
        assert_eq!(
            mistake("--broker-list a:1").to_string(),
            "Missing required argument \"[topics]\""
        );
        let endless = mistake("--broker-list a:1 --topics t");
        assert!(endless.to_string().contains("--messages"));
        let threads = "--broker-list a:1 --topics t --messages 1 --threads 10001";
        assert!(mistake(threads).to_string().contains("10000"));
    }
}
