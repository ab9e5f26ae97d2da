//! The options of the consumer tools, checked as their releases check them.

use crate::consumer_rows::Columns;
use crate::failure::ToolFailure;
use crate::java::{DATE_FORMAT, DatePattern};
use crate::options::{ParsedOptions, Style};
use crate::release::ToolRelease;
use crate::topic_pattern::{PatternMistake, TopicPattern};

/// The two tools that read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadTool {
    Consumer,
    SimpleConsumer,
}

/// The options, checked.
#[derive(Debug)]
pub(crate) struct ConsumerArgs {
    pub(crate) query: ReadQuery,
    pub(crate) records: u64,
    pub(crate) consumers: u32,
    pub(crate) interval_ms: u64,
    pub(crate) timeout_ms: u64,
    pub(crate) columns: Columns,
    pub(crate) is_detailed: bool,
    pub(crate) dates: DatePattern,
    pub(crate) as_of: ToolRelease,
    pub(crate) reader: ReadTool,
}

/// The topics to read.
#[derive(Debug)]
pub(crate) enum ReadQuery {
    Topic(String),
    /// The pattern as written, and compiled.
    Matching(String, TopicPattern),
}

fn exactly_one(given: &ParsedOptions, [one, other]: [&str; 2]) -> Result<(), ToolFailure> {
    match given.has(one) != given.has(other) {
        true => Ok(()),
        false => ToolFailure::options(format!(
            "Exactly one of the following arguments is required: [{one}], [{other}]"
        )),
    }
}

impl ConsumerArgs {
    pub(crate) fn new(
        given: &ParsedOptions,
        as_of: ToolRelease,
        reader: ReadTool,
    ) -> Result<ConsumerArgs, ToolFailure> {
        let number = |name: &str| given.number::<u64>(name, "Long");
        let is_4_2 = as_of >= ToolRelease::of(4, 2, 0);
        if is_4_2 {
            exactly_one(given, ["topic", "include"])?;
        }
        let query = match (given.text("topic"), given.text("include")) {
            (None, Some(text)) => ReadQuery::Matching(text.to_owned(), pattern(text)?),
            _ => ReadQuery::Topic(given.required(&["topic"])?.to_owned()),
        };
        if is_4_2 {
            exactly_one(given, ["messages", "num-records"])?;
        }
        let records = number("messages")?.or(number("num-records")?);
        // 0.8 to 1.x read until no more records came.
        let endless = (as_of < ToolRelease::of(2, 0, 0)).then_some(u64::MAX >> 1);
        let Some(records) = records.or(endless) else {
            return Err(Style::Jopt.missing("messages"));
        };
        let sources = ["bootstrap-server", "broker-list", "zookeeper", "server"];
        if !sources.iter().any(|name| given.has(name)) {
            return Err(Style::Jopt.missing(match as_of {
                of if of >= ToolRelease::of(2, 5, 0) => "bootstrap-server",
                of if of >= ToolRelease::of(2, 0, 0) => "broker-list",
                _ => "zookeeper",
            }));
        }
        let is_old = given.has("zookeeper");
        let fetch_bytes = given.number::<u32>("fetch-size", "Integer")?;
        let fetch_bytes = fetch_bytes.unwrap_or(1 << 20);
        let threads = number("threads")?.unwrap_or(10).max(1);
        // The consumer of 0.8 gave up after consumer.timeout.ms, which the tool set to 5,000.
        let timeout_ms = if is_old { 5_000 } else { 10_000 };
        let dates = given.text("date-format").unwrap_or(DATE_FORMAT);
        Ok(ConsumerArgs {
            query,
            records,
            consumers: match is_old {
                true => u32::try_from(threads).unwrap_or(u32::MAX),
                false => 1,
            },
            interval_ms: number("reporting-interval")?.unwrap_or(5_000),
            timeout_ms: number("timeout")?.unwrap_or(timeout_ms),
            columns: match reader {
                ReadTool::SimpleConsumer => Columns::FetchSize(fetch_bytes),
                ReadTool::Consumer => Columns::of(as_of, is_old, fetch_bytes),
            },
            is_detailed: given.has("show-detailed-stats"),
            dates: DatePattern::parse(dates).map_err(ToolFailure::Options)?,
            as_of,
            reader,
        })
    }
}

/// The pattern of `--include`.
fn pattern(text: &str) -> Result<TopicPattern, ToolFailure> {
    TopicPattern::parse(text).map_err(|mistake| match mistake {
        PatternMistake::OnlyJava(what) => ToolFailure::Unsupported(format!(
            "--include {text}: {what} is not supported; write the pattern without it"
        )),
        PatternMistake::Invalid(what) => ToolFailure::Failed(format!("--include {text}: {what}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::option_tables::CONSUMER;
    use crate::options;

    fn args(line: &str, version: &str) -> Result<ConsumerArgs, ToolFailure> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let given = options::read(&CONSUMER, &words)?;
        let as_of = ToolRelease::parse(version).unwrap();
        ConsumerArgs::new(&given, as_of, ReadTool::Consumer)
    }

    #[test]
    fn the_command_lines_of_published_studies_are_understood() {
        let line = "--zookeeper z:2181 --messages 50000000 --topic test --threads 1";
        let old = args(line, "0.8.2").unwrap();
        assert_eq!((old.records, old.consumers), (50_000_000, 1));
        assert_eq!(old.columns, Columns::FetchSize(1_048_576));
        let line = "--bootstrap-server k1:9092,k2:9092 --topic test-topic --messages 1000000";
        let new = args(line, "4.3.1").unwrap();
        assert_eq!((new.records, new.columns), (1_000_000, Columns::Rebalance));
    }

    #[test]
    fn threads_are_consumers_only_in_the_old_consumer() {
        let consumers = |more: &str, version| {
            let line = format!("--topic t --messages 1 {more}");
            args(&line, version).unwrap().consumers
        };
        assert_eq!(consumers("--zookeeper z:1", "1.0.2"), 10);
        assert_eq!(consumers("--broker-list a:1 --threads 4", "2.8.2"), 1);
    }

    #[test]
    fn mistakes_have_the_wording_of_4_3_1() {
        for (line, wording) in [
            (
                "--topic t --bootstrap-server a:1",
                "Exactly one of the following arguments is required: [messages], [num-records]",
            ),
            (
                "--num-records 1 --bootstrap-server a:1",
                "Exactly one of the following arguments is required: [topic], [include]",
            ),
            (
                "--topic t --num-records 10",
                "Missing required argument \"[bootstrap-server]\"",
            ),
            ("--nope", "nope is not a recognized option"),
            (
                "--topic t --num-records x --bootstrap-server a:1",
                "Cannot parse argument 'x' of option num-records",
            ),
        ] {
            assert_eq!(args(line, "4.3.1").unwrap_err().to_string(), wording);
        }
        assert_eq!(
            args("--messages 1", "1.0.2").unwrap_err().to_string(),
            "Missing required argument \"[topic]\""
        );
    }

    #[test]
    fn a_pattern_that_kgauge_cannot_match_is_unsupported() {
        assert!(pattern("in-.*").unwrap().matches("in-1"));
        let unsupported = pattern("(?!in).*").unwrap_err();
        assert!(matches!(unsupported, ToolFailure::Unsupported(_)));
        let invalid = pattern("(in").unwrap_err().to_string();
        assert_eq!(invalid, "--include (in: unclosed group");
    }
}
