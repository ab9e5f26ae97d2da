//! Checks kgauge under the names of Kafka's own tools: with the same arguments on one broker, both must end with the
//! same exit status and print the same lines on stdout, except for the figures.

use anyhow::{Result, ensure};

use super::checks::{Checks, Transcript};
use crate::kafka::{FinishedJob, KafkaScript, Tools};
use crate::kgauge::Kgauge;

/// The topics of each side; their names have the same length.
const THEIRS: &str = "drop-in-theirs";
const OURS: &str = "drop-in-kgauge";

const TOPICS: KafkaScript = KafkaScript::TOPICS;
const PRODUCER: KafkaScript = KafkaScript::PRODUCER_PERF;
const CONSUMER: KafkaScript = KafkaScript::CONSUMER_PERF;
const END_TO_END: KafkaScript = KafkaScript::END_TO_END;
const VERIFIABLE_PRODUCER: KafkaScript = KafkaScript::VERIFIABLE_PRODUCER;
const VERIFIABLE_CONSUMER: KafkaScript = KafkaScript::VERIFIABLE_CONSUMER;

/// The calls of both sides, in this order: a tool, what it does, its arguments. `TOPIC` becomes the name of a topic.
#[rustfmt::skip]
const CALLS: &[(KafkaScript, &str, &str)] = &[
    (TOPICS, "create", "--create --topic TOPIC --partitions 3 --replication-factor 1 --config retention.ms=1000000"),
    (TOPICS, "create an existing topic", "--create --topic TOPIC"),
    (TOPICS, "create unless it exists", "--create --if-not-exists --topic TOPIC"),
    (TOPICS, "list", "--list --topic TOPIC.*"),
    (TOPICS, "describe", "--describe --topic TOPIC"),
    (TOPICS, "describe overrides", "--describe --topics-with-overrides --topic TOPIC"),
    (TOPICS, "describe partitions in trouble", "--describe --under-replicated-partitions --topic TOPIC"),
    (TOPICS, "more partitions", "--alter --topic TOPIC --partitions 4"),
    (TOPICS, "fewer partitions", "--alter --topic TOPIC --partitions 2"),
    (TOPICS, "describe a missing topic", "--describe --topic TOPIC-not"),
    (TOPICS, "an unknown option", "--creat-topic TOPIC"),
    (PRODUCER, "at a rate", "--topic TOPIC --num-records 12000 --record-size 100 --throughput 2000"),
    (PRODUCER, "with old options", "--topic TOPIC --num-records 1000 --record-size 100 --throughput \
        -1 --producer-props acks=1"),
    (PRODUCER, "increasing numbers", "--topic TOPIC --num-records 1000 --payload-monotonic --throughput -1"),
    (PRODUCER, "after a warm-up", "--topic TOPIC --num-records 4000 --record-size 10 --throughput \
        1000 --warmup-records 1500 --reporting-interval 1000"),
    (PRODUCER, "without a size", "--topic TOPIC --num-records 1 --throughput -1"),
    (CONSUMER, "read", "--topic TOPIC --num-records 15000"),
    (CONSUMER, "with old options", "--topic TOPIC --messages 15000 --hide-header"),
    (CONSUMER, "no records come", "--topic TOPIC --num-records 15000 --from-latest --timeout 500"),
    (CONSUMER, "details", "--topic TOPIC --num-records 15000 --show-detailed-stats --reporting-interval 10"),
    (CONSUMER, "without a count", "--topic TOPIC"),
    (END_TO_END, "there and back", "--topic TOPIC --num-records 1100 --producer-acks 1 \
        --record-size 20 --record-key-size 4"),
    (TOPICS, "create another", "--create --topic TOPIC-one --partitions 1 --replication-factor 1"),
    (VERIFIABLE_PRODUCER, "increasing numbers", "--topic TOPIC-one --max-messages 5 --acks 1"),
    (VERIFIABLE_PRODUCER, "keys and a prefix", "--topic TOPIC-one --max-messages 4 --repeating-keys \
        2 --value-prefix 7 --throughput 10"),
    (VERIFIABLE_CONSUMER, "read and commit", "--topic TOPIC-one --group-id TOPIC --max-messages 9 --verbose"),
    (TOPICS, "delete", "--delete --topic TOPIC.*"),
    (TOPICS, "delete a missing topic", "--delete --topic TOPIC"),
];

pub(super) fn run(checks: &mut Checks, kgauge: &Kgauge<'_>, tools: &Tools<'_>) -> Result<()> {
    for &(tool, action, arguments) in CALLS {
        // A line per second: a machine that stalls for seconds leaves a tool without one.
        let is_timed = arguments.contains("--reporting-interval");
        let tries = if is_timed { 3 } else { 1 };
        checks.check((tool.name, action), |log| {
            for _ in 1..tries {
                if let Ok(words) = compare(log, tool, arguments, kgauge, tools) {
                    return Ok(words);
                }
            }
            compare(log, tool, arguments, kgauge, tools)
        })?;
    }
    Ok(())
}

fn compare(
    log: &mut Transcript,
    tool: KafkaScript,
    arguments: &str,
    kgauge: &Kgauge<'_>,
    tools: &Tools<'_>,
) -> Result<String> {
    let words = |topic: &str| -> Vec<String> {
        let words = arguments.replace("TOPIC", topic);
        words.split_whitespace().map(str::to_owned).collect()
    };
    let theirs = log.run_any(tools.call(tool, &words(THEIRS))?)?;
    let own = words(OURS);
    let mut arguments = vec![tool.name, "--bootstrap-server", tools.servers.as_str()];
    arguments.extend(own.iter().map(String::as_str));
    let ours = log.run_any(kgauge.call(&arguments))?;
    let kinds = same_output((&theirs, THEIRS), (&ours, OURS))?;
    Ok(format!("the same status and {kinds} kinds of lines"))
}

/// Compares the exit status and the lines of Kafka's tool and kgauge; each comes with its topic. Returns the number of
/// kinds of lines.
pub(crate) fn same_output(
    (theirs, their_topic): (&FinishedJob, &str),
    (ours, our_topic): (&FinishedJob, &str),
) -> Result<usize> {
    let code = |job: &FinishedJob| job.status.and_then(|status| status.code());
    ensure!(
        code(theirs) == code(ours),
        "Kafka's tool ended with {:?} and printed\n{}\nkgauge ended with {:?} and printed\n{}",
        code(theirs),
        theirs.stderr,
        code(ours),
        ours.stderr
    );
    let (expected, got) = (
        shape(&theirs.stdout, their_topic),
        shape(&ours.stdout, our_topic),
    );
    ensure!(
        expected == got,
        "Kafka's tool prints\n{}\nkgauge prints\n{}",
        expected.join("\n"),
        got.join("\n")
    );
    Ok(expected.len())
}

/// The lines without figures, times, ids and the topic's name, which differ between runs. Equal lines in a row count
/// once.
fn shape(text: &str, topic: &str) -> Vec<String> {
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| without_figures(&line.replace(topic, "TOPIC")))
        .collect();
    lines.dedup();
    lines
}

fn without_figures(line: &str) -> String {
    let mut shape = String::new();
    let mut rest = line;
    while let Some(letter) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("TopicId: ") {
            shape.push_str("TopicId: ID");
            rest = after
                .trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        } else if letter.is_ascii_digit() {
            // Also 1.5E-4.
            let end = |c: char| !(c.is_ascii_digit() || c == '.');
            rest = rest.trim_start_matches(|c| !end(c));
            if let Some(power) = rest.strip_prefix('E') {
                rest = power.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
            }
            // What ends a sentence is no part of a number.
            let eaten = &line[..line.len() - rest.len()];
            let point = if eaten.ends_with('.') { "." } else { "" };
            // A sign before it is one of the figure's.
            if shape.ends_with(" -") {
                shape.pop();
            }
            shape.push('N');
            shape.push_str(point);
        } else {
            shape.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_no_part_of_a_shape_and_words_are() {
        let old = "29954 records sent, 5989.6 records/sec (0.57 MB/sec), 65.4 ms avg latency, 885.0 ms max latency.";
        let new = "5 records sent, 1.0 records/sec (0.00 MB/sec), 0.1 ms avg latency, 9.0 ms max latency.";
        assert_eq!(shape(old, "a-topic"), shape(new, "a-topic"));
        let other =
            "5 records sent, 1.0 records/sec (0.00 MB/sec), 0.1 ms avg latency, 9.0 max latency.";
        assert_ne!(shape(old, "a-topic"), shape(other, "a-topic"));
        assert_eq!(shape("0\t1.5E-4\n1000\t8.25", "a-topic"), ["N\tN"]);
        assert_eq!(shape("a, -293, 1.0", "a-topic"), ["a, N, N"]);
        assert_eq!(shape("99.9th.", "a-topic"), ["Nth."]);
    }

    #[test]
    fn topics_and_their_ids_are_no_part_of_it() {
        let one = shape(
            "Topic: x\tTopicId: aVUPazkET5iL5RJZroaxqA\tPartitionCount: 4",
            "x",
        );
        let other = shape(
            "Topic: y\tTopicId: nUV7-WY8_IGmvrKKH14BMg\tPartitionCount: 3",
            "y",
        );
        assert_eq!(one, other);
        assert_eq!(one, ["Topic: TOPIC\tTopicId: ID\tPartitionCount: N"]);
    }
}
