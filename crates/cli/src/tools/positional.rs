//! `org.apache.kafka.clients.tools.ProducerPerformance` of 0.8.1 and 0.8.2: words in a fixed order.

use super::producer_run::{PayloadSource, ProducerJob};
use super::properties::{ClientRole, PropertySources, producer_defaults};
use super::release::ToolRelease;
use super::{ToolCall, ToolFailure, ToolResult, options};

const USAGE: &str = "USAGE: java org.apache.kafka.clients.tools.ProducerPerformance topic_name \
                     num_records record_size target_records_sec [prop_name=prop_value]*";

pub(super) fn run(call: &ToolCall) -> ToolResult {
    let given = options::read(&[], options::Style::Argparse, &call.arguments)
        .map_err(|_| ToolFailure::new(USAGE))?;
    let as_of = call.as_of(&given)?;
    job(&given.words, as_of, given.has("exit-zero-on-failures"))?.run()
}

fn job(
    words: &[String],
    as_of: ToolRelease,
    zero_on_failures: bool,
) -> Result<ProducerJob, ToolFailure> {
    let usage = || ToolFailure::new(USAGE);
    // 0.8.1: url num_records record_size, and the topic is "test".
    if let [url, records, bytes] = words {
        let servers = vec![format!("bootstrap.servers={url}")];
        return make(
            "test",
            (records, bytes, "-1"),
            &servers,
            ToolRelease::of(0, 8, 1),
            zero_on_failures,
        );
    }
    let [topic, records, bytes, rate, settings @ ..] = words else {
        return Err(usage());
    };
    make(
        topic,
        (records, bytes, rate),
        settings,
        as_of,
        zero_on_failures,
    )
}

fn make(
    topic: &str,
    (records, bytes, rate): (&str, &str, &str),
    settings: &[String],
    as_of: ToolRelease,
    zero_on_failures: bool,
) -> Result<ProducerJob, ToolFailure> {
    let number = |text: &str| {
        let number: Option<i64> = text.parse().ok();
        number.ok_or_else(|| ToolFailure::new(format!("{text:?} is no whole number\n{USAGE}")))
    };
    let above_zero = |text: &str| {
        let number = number(text)?;
        u64::try_from(number)
            .ok()
            .filter(|&number| number > 0)
            .ok_or_else(|| ToolFailure::new(format!("{text} is not above zero\n{USAGE}")))
    };
    let sources = PropertySources {
        defaults: producer_defaults(as_of),
        words: settings,
        ..PropertySources::default()
    };
    let rate = number(rate)?;
    Ok(ProducerJob {
        topic: topic.to_owned(),
        records: above_zero(records)?,
        payload: PayloadSource::Size(above_zero(bytes)?),
        rate: (rate >= 0).then_some(rate as f64),
        warm_up: 0,
        interval_ms: 5_000,
        properties: sources
            .read(ClientRole::Producer)
            .map_err(ToolFailure::new)?,
        producers: 1,
        transaction_ms: None,
        print_metrics: false,
        zero_on_failures,
        as_of,
        record: kgauge_scenario::RecordPlan::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(line: &str) -> Result<ProducerJob, ToolFailure> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        super::job(&words, ToolRelease::of(0, 8, 2), false)
    }

    #[test]
    fn the_command_of_linkedins_benchmark_is_understood() {
        let job = job(
            "test7 50000000 100 -1 acks=1 bootstrap.servers=esv4-hcl198:9092 \
             buffer.memory=67108864 batch.size=8196",
        );
        let job = job.unwrap();
        assert_eq!((job.topic.as_str(), job.records), ("test7", 50_000_000));
        assert_eq!((job.payload, job.rate), (PayloadSource::Size(100), None));
        assert_eq!(job.properties.flow["buffer.memory"], "67108864");
        assert_eq!(job.properties.flow["linger.ms"], "0", "as it was in 2014");
    }

    #[test]
    fn the_form_of_0_8_1_has_its_own_line() {
        let job = job("localhost:9092 1000 100").unwrap();
        assert_eq!((job.topic.as_str(), job.records), ("test", 1000));
        assert_eq!(job.as_of, ToolRelease::of(0, 8, 1));
    }

    #[test]
    fn too_few_words_or_no_numbers_are_told_how_it_is_called() {
        for line in [
            "",
            "t 1",
            "t many 100 -1 bootstrap.servers=a:1",
            "t 1 0 -1 bootstrap.servers=a:1",
        ] {
            assert!(job(line).unwrap_err().words.contains("USAGE:"), "{line}");
        }
    }
}
