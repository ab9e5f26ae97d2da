//! `org.apache.kafka.clients.tools.ProducerPerformance` of 0.8.1 and 0.8.2: positional arguments.

use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::failure::{ToolFailure, ToolResult};
use crate::option_tables::PRODUCER_BY_POSITION;
use crate::options;
use crate::payloads::letters;
use crate::producer_job::ProducerJob;
use crate::properties::{ClientRole, PropertySources, producer_defaults};
use crate::release::ToolRelease;

const USAGE: &str = "USAGE: java org.apache.kafka.clients.tools.ProducerPerformance topic_name \
                     num_records record_size target_records_sec [prop_name=prop_value]*";

pub(crate) fn run(call: &ToolCall, context: &ToolContext<'_>) -> ToolResult {
    let given = options::read(&PRODUCER_BY_POSITION, &call.arguments);
    let given = given.map_err(|_| ToolFailure::of(USAGE))?;
    let as_of = call.release(&given, ToolRelease::NEWEST, context)?;
    let mut job = job(&given.words, as_of, context)?;
    job.zero_on_failures = given.has("exit-zero-on-failures");
    job.run(context)
}

fn job(
    words: &[String],
    mut as_of: ToolRelease,
    context: &ToolContext<'_>,
) -> Result<ProducerJob, ToolFailure> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let in_0_8_1;
    let (topic, records, bytes, rate, settings) = match &words[..] {
        // 0.8.1: url num_records record_size; the topic is "test".
        [url, records, bytes] => {
            as_of = ToolRelease::of(0, 8, 1);
            in_0_8_1 = [format!("bootstrap.servers={url}")];
            ("test", *records, *bytes, "-1", in_0_8_1.to_vec())
        }
        [topic, records, bytes, rate, settings @ ..] => {
            let settings = settings.iter().map(|&setting| setting.to_owned());
            (*topic, *records, *bytes, *rate, settings.collect())
        }
        _ => return Err(ToolFailure::of(USAGE)),
    };
    let rate = number(rate)?;
    let sources = PropertySources {
        defaults: producer_defaults(as_of),
        words: &settings,
        ..PropertySources::default()
    };
    let (records, bytes) = (above_zero(records)?, above_zero(bytes)?);
    let properties = sources.read(ClientRole::Producer, context)?;
    Ok(ProducerJob {
        rate: (rate >= 0).then_some(rate as f64),
        value_bytes: Some(bytes),
        ..ProducerJob::new(topic, records, letters(bytes), properties, as_of)
    })
}

fn number(text: &str) -> Result<i64, ToolFailure> {
    let wrong = |_| ToolFailure::Failed(format!("{text:?} is not a whole number\n{USAGE}"));
    text.parse().map_err(wrong)
}

fn above_zero(text: &str) -> Result<u64, ToolFailure> {
    match number(text)? {
        number if number > 0 => Ok(number.unsigned_abs()),
        _ => Err(ToolFailure::Failed(format!(
            "{text} is not above zero\n{USAGE}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::{RecordedOutput, context};

    fn job(line: &str) -> Result<ProducerJob, ToolFailure> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let output = RecordedOutput::default();
        super::job(&words, ToolRelease::of(0, 8, 2), &context(&output))
    }

    #[test]
    fn the_command_of_linkedins_benchmark_is_understood() {
        let job = job(
            "test7 50000000 100 -1 acks=1 bootstrap.servers=esv4-hcl198:9092 \
             buffer.memory=67108864 batch.size=8196",
        );
        let job = job.unwrap();
        assert_eq!((job.topic.as_str(), job.records), ("test7", 50_000_000));
        assert_eq!((job.value_bytes, job.rate), (Some(100), None));
        assert_eq!(job.properties.flow["buffer.memory"], "67108864");
        assert_eq!(job.properties.flow["linger.ms"], "0", "as in 2014");
    }

    #[test]
    fn the_form_of_0_8_1_prints_as_0_8_1() {
        let job = job("localhost:9092 1000 100").unwrap();
        assert_eq!((job.topic.as_str(), job.records), ("test", 1000));
        assert_eq!(job.as_of, ToolRelease::of(0, 8, 1));
    }

    #[test]
    fn mistakes_print_the_usage() {
        for line in [
            "",
            "t 1",
            "t many 100 -1 bootstrap.servers=a:1",
            "t 1 0 -1 bootstrap.servers=a:1",
        ] {
            let error = job(line).unwrap_err().to_string();
            assert!(error.contains("USAGE:"), "{line}");
        }
    }
}
