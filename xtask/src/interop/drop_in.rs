//! Checks: kgauge under the names of Kafka's own tools beside these tools, on one broker: the same
//! arguments, the same exit status, and on stdout the same lines but for the figures in them.

use anyhow::{Result, bail, ensure};

use super::checks::{Checks, Transcript};
use crate::kafka::{KafkaScript, Tools};
use crate::kgauge::Kgauge;

/// Whose topics are whose; one name is as long as the other.
const THEIRS: &str = "drop-in-theirs";
const OURS: &str = "drop-in-kgauge";

/// A call of one tool. `TOPIC` in its words becomes the name of a topic.
struct Call {
    tool: KafkaScript,
    action: &'static str,
    words: &'static str,
}

const TOPICS: KafkaScript = KafkaScript::TOPICS;
const PRODUCER: KafkaScript = KafkaScript::PRODUCER_PERF;
const CONSUMER: KafkaScript = KafkaScript::CONSUMER_PERF;

const fn call(tool: KafkaScript, action: &'static str, words: &'static str) -> Call {
    Call {
        tool,
        action,
        words,
    }
}

/// In this order, for both.
const CALLS: &[Call] = &[
    call(
        TOPICS,
        "create",
        "--create --topic TOPIC --partitions 3 --replication-factor 1 --config retention.ms=1000000",
    ),
    call(TOPICS, "create what is there", "--create --topic TOPIC"),
    call(
        TOPICS,
        "create if not there",
        "--create --if-not-exists --topic TOPIC",
    ),
    call(TOPICS, "list", "--list --topic TOPIC.*"),
    call(TOPICS, "describe", "--describe --topic TOPIC"),
    call(
        TOPICS,
        "describe overrides",
        "--describe --topics-with-overrides --topic TOPIC",
    ),
    call(
        TOPICS,
        "describe partitions in trouble",
        "--describe --under-replicated-partitions --topic TOPIC",
    ),
    call(
        TOPICS,
        "more partitions",
        "--alter --topic TOPIC --partitions 4",
    ),
    call(
        TOPICS,
        "fewer partitions",
        "--alter --topic TOPIC --partitions 2",
    ),
    call(TOPICS, "what is not there", "--describe --topic TOPIC-not"),
    call(TOPICS, "an unknown option", "--creat-topic TOPIC"),
    call(
        PRODUCER,
        "at a rate",
        "--topic TOPIC --num-records 12000 --record-size 100 --throughput 2000",
    ),
    call(
        PRODUCER,
        "with old options",
        "--topic TOPIC --num-records 1000 --record-size 100 --throughput -1 --producer-props acks=1",
    ),
    call(
        PRODUCER,
        "rising numbers",
        "--topic TOPIC --num-records 1000 --payload-monotonic --throughput -1",
    ),
    call(
        PRODUCER,
        "after a warm-up",
        "--topic TOPIC --num-records 4000 --record-size 10 --throughput 1000 --warmup-records 1500 \
         --reporting-interval 1000",
    ),
    call(
        PRODUCER,
        "without a size",
        "--topic TOPIC --num-records 1 --throughput -1",
    ),
    call(CONSUMER, "read", "--topic TOPIC --num-records 15000"),
    call(
        CONSUMER,
        "with old options",
        "--topic TOPIC --messages 15000 --hide-header",
    ),
    call(
        CONSUMER,
        "nothing comes",
        "--topic TOPIC --num-records 15000 --from-latest --timeout 500",
    ),
    call(
        CONSUMER,
        "details",
        "--topic TOPIC --num-records 15000 --show-detailed-stats --reporting-interval 10",
    ),
    call(CONSUMER, "without a count", "--topic TOPIC"),
    call(
        KafkaScript::END_TO_END,
        "there and back",
        "--topic TOPIC --num-records 1100 --producer-acks 1 --record-size 20 --record-key-size 4",
    ),
    call(
        TOPICS,
        "create another",
        "--create --topic TOPIC-one --partitions 1 --replication-factor 1",
    ),
    call(
        KafkaScript::VERIFIABLE_PRODUCER,
        "rising numbers",
        "--topic TOPIC-one --max-messages 5 --acks 1",
    ),
    call(
        KafkaScript::VERIFIABLE_PRODUCER,
        "keys and a prefix",
        "--topic TOPIC-one --max-messages 4 --repeating-keys 2 --value-prefix 7 --throughput 10",
    ),
    call(
        KafkaScript::VERIFIABLE_CONSUMER,
        "read and commit",
        "--topic TOPIC-one --group-id TOPIC --max-messages 9 --verbose",
    ),
    call(TOPICS, "delete", "--delete --topic TOPIC.*"),
    call(TOPICS, "delete what is not there", "--delete --topic TOPIC"),
];

pub(super) fn run(checks: &mut Checks, kgauge: &Kgauge<'_>, tools: &Tools<'_>) -> Result<()> {
    for call in CALLS {
        // A line for each second: a machine that stands still for some leaves a tool without one.
        let tries = match call.words.contains("--reporting-interval") {
            true => 3,
            false => 1,
        };
        checks.check((call.tool.name, call.action), |log| {
            for _ in 1..tries {
                if let Ok(words) = compare(log, call, kgauge, tools) {
                    return Ok(words);
                }
            }
            compare(log, call, kgauge, tools)
        })?;
    }
    Ok(())
}

fn compare(
    log: &mut Transcript,
    call: &Call,
    kgauge: &Kgauge<'_>,
    tools: &Tools<'_>,
) -> Result<String> {
    let words = |topic: &str| -> Vec<String> {
        let words = call.words.replace("TOPIC", topic);
        words.split_whitespace().map(str::to_owned).collect()
    };
    let theirs = log.run_any(tools.call(call.tool, &words(THEIRS))?)?;
    let own = words(OURS);
    let servers = tools.servers.as_str();
    let mut arguments = vec![call.tool.name, "--bootstrap-server", servers];
    arguments.extend(own.iter().map(String::as_str));
    let ours = log.run_any(kgauge.call(&arguments))?;
    let code =
        |finished: &crate::kafka::FinishedJob| finished.status.and_then(|status| status.code());
    ensure!(
        code(&theirs) == code(&ours),
        "theirs ended with {:?}, kgauge with {:?}",
        code(&theirs),
        code(&ours)
    );
    let (wanted, got) = (shape(&theirs.stdout, THEIRS), shape(&ours.stdout, OURS));
    if wanted != got {
        bail!(
            "theirs prints\n{}\nkgauge prints\n{}",
            wanted.join("\n"),
            got.join("\n")
        );
    }
    Ok(format!(
        "status {:?}, {} kinds of lines",
        code(&theirs).unwrap_or(-1),
        wanted.len()
    ))
}

/// The lines without what differs from run to run: figures, times, ids, the topic's name. Lines of one
/// kind in a row are one.
pub(crate) fn shape(text: &str, topic: &str) -> Vec<String> {
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
