//! Scenarios from command lines of Kafka's performance tools. The tools' own parsers read the options.

mod consumer;
mod draft;
mod end_to_end;
mod producer;

use kgauge_scenario::{FileRead, Files, Scenario};

use crate::call::ToolCall;
use crate::failure::ToolFailure;
use crate::names::{self, KafkaTool, RUN_CLASS};

/// The name of the text in messages.
const SOURCE: &str = "the translated scenario";

/// The tools whose commands can be translated.
const TOOLS: &str = "kafka-producer-perf-test, kafka-consumer-perf-test, kafka-e2e-latency";

/// Translates a command line, as typed in a shell, into the text of a scenario. Comments name the option of each value,
/// and what has no place in a scenario. Neither the text nor an error contains values of connection settings.
///
/// # Errors
/// The message for a line that calls none of the tools, or that its tool would refuse.
pub fn translate_command(line: &str) -> Result<String, String> {
    let call = call(line)?;
    let arguments = &call.arguments;
    let draft = match call.tool {
        KafkaTool::Producer => producer::draft(arguments),
        KafkaTool::ProducerByPosition => producer::draft_by_position(arguments),
        KafkaTool::Consumer => consumer::draft(arguments),
        KafkaTool::EndToEnd => end_to_end::draft(&call),
        KafkaTool::OldProducer
        | KafkaTool::SimpleConsumer
        | KafkaTool::Topics
        | KafkaTool::VerifiableProducer
        | KafkaTool::VerifiableConsumer => Err(ToolFailure::Unsupported(format!(
            "this tool or form cannot be translated; use {TOOLS}"
        ))),
    };
    let text = match draft {
        Ok(draft) => draft.text(&call.name),
        Err(failure) => return Err(format!("{}: {failure}", call.name)),
    };
    // The file of a payload is read when the scenario runs.
    let files = Files::by(|name| {
        Ok(FileRead {
            path: name.to_owned(),
            bytes: b"record\n".to_vec(),
        })
    });
    match Scenario::parse_with(SOURCE, &text, files) {
        Ok(_) => Ok(text),
        Err(problems) => Err(format!("the options do not make a scenario:\n{problems}")),
    }
}

/// The call of a tool in a line, whatever runs it (`sudo`, `docker exec`) and whatever follows it.
fn call(line: &str) -> Result<ToolCall, String> {
    let words = shlex::split(&line.replace("\\\n", " "));
    let words = words.ok_or("a quotation mark of the command line has no partner")?;
    let is_tool = |word: &String| {
        let name = names::bare(word);
        name == RUN_CLASS || names::script(name).is_some()
    };
    let before = words.iter().take_while(|word| !is_tool(word)).count();
    let call = words.into_iter().skip(before);
    let call: Vec<String> = call.take_while(|word| !is_shell(word)).collect();
    match ToolCall::find(&call) {
        Some(call) => call,
        None => Err(format!("the command line calls none of {TOOLS}")),
    }
}

/// Whether a word ends a command: a pipe, a redirection, `&&`.
fn is_shell(word: &str) -> bool {
    let word = word.trim_start_matches(|letter: char| letter.is_ascii_digit());
    word.starts_with(['|', '>', '<', '&'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(line: &str) -> String {
        translate_command(line).unwrap_or_else(|error| panic!("{line}\n{error}"))
    }

    fn check(text: &str, lines: &[&str]) {
        for line in lines {
            let is_there = text.lines().any(|one| {
                let yaml = one.split("  #").next().unwrap_or(one);
                one == *line || yaml.trim_end() == *line
            });
            assert!(is_there, "{line:?} is missing in\n{text}");
        }
    }

    #[test]
    fn a_producer_command_becomes_a_produce_flow() {
        // DC/OS, "Advanced load testing Kafka", as somebody runs it.
        let text = scenario(
            "sudo -u kafka /opt/kafka/bin/kafka-producer-perf-test.sh --topic performancetest \\\n  \
             --num-records 10000000 --record-size 250 --throughput 1000000 --producer-props acks=1 \
             buffer.memory=67108864 compression.type=none batch.size=8196 linger.ms=0 retries=0 \
             bootstrap.servers=k0:1025,k1:1025 --print-metrics 2>&1 | tee log",
        );
        check(
            &text,
            &[
                "# From a command line of kafka-producer-perf-test. Comments name its options.",
                "# Run it with --target k0:1025,k1:1025",
                "#   --topic performancetest: each repeat creates its own topic",
                "#   --print-metrics: every report has more than these metrics",
                "    shape: {constant: 1000000/s}",
                "    records: 10000000",
                "    record: {size: 250 B, content: letters}",
                "      acks: 1",
                "      batch.size: 8196",
                "      retries: 0",
                "  hold: none",
            ],
        );
    }

    #[test]
    fn secrets_stay_out_of_the_file_and_of_messages() {
        let jaas = "'sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
                    username=\"u\" password=\"hunter2\";'";
        let line = |more: &str| {
            format!(
                "kafka-producer-perf-test --topic t --num-records 10 --record-size 1 --throughput -1 \
                 --producer-props bootstrap.servers=a:1 security.protocol=SASL_SSL {jaas} \
                 ssl.keystore.password=hunter2 my.password=hunter2 SHVudGVyMg== {more}"
            )
        };
        let text = scenario(&line("acks=all"));
        for secret in ["hunter2", "username", "SHVudGVyMg"] {
            assert!(!text.contains(secret), "{text}");
        }
        check(
            &text,
            &[
                "#   sasl.jaas.config, security.protocol, ssl.keystore.password: connection settings; put them \
                 into the client.properties file of --target",
                "      acks: all",
            ],
        );
        assert!(text.contains("#   my.password: "), "{text}");
        let error = translate_command(&line("password=\"hunter2\" hunter2")).unwrap_err();
        assert!(!error.contains("hunter2"), "{error}");
        let error = translate_command(&format!("{} 'x", line(""))).unwrap_err();
        assert!(!error.contains("hunter2"), "{error}");
    }

    #[test]
    fn a_consumer_command_reads_a_preloaded_topic() {
        let text = scenario(
            "kafka-consumer-perf-test.sh --bootstrap-server k1:9092 --topic t --messages 1000000 \
             --fetch-size 65536 --group mine --command-property check.crcs=false",
        );
        check(
            &text,
            &[
                "  preload: {records: 1000000, record: {size: 1 kB}}",
                "    group: true",
                "    records: all",
                "      max.partition.fetch.bytes: 65536",
                "      check.crcs: false",
                "#   --group mine: kgauge creates a group of its own and deletes it",
            ],
        );
    }

    #[test]
    fn an_end_to_end_command_becomes_an_echo_flow() {
        let named = "kafka-e2e-latency --bootstrap-server a:1 --topic t --num-records 5000 \
                     --producer-acks 1 --record-size 48 --record-key-size 8 --num-headers 2 \
                     --record-header-key-size 4 --record-header-size 8";
        for (line, record) in [
            (
                named,
                "    record: {size: 48 B, key: {sequence: {size: 8 B}}, headers: {count: 2, key-size: 4 \
                 B, value-size: 8 B}}",
            ),
            (
                "kafka-e2e-latency a:1 t 5000 1 48",
                "    record: {size: 48 B}",
            ),
            (
                "kafka-e2e-latency a:1 t 5000 1 10",
                "#   --record-size 10: values of an echo flow have at least 48 B",
            ),
        ] {
            let lines = [
                "    kind: echo",
                "      acks: 1",
                "    records: 5000",
                record,
            ];
            check(&scenario(line), &lines);
        }
    }

    #[test]
    fn every_way_to_send_is_translated() {
        let producer = "kafka-producer-perf-test --topic t --num-records 10 --bootstrap-server a:1";
        for (options, line) in [
            ("--throughput -1 --record-size 9", "    shape: max"),
            (
                "--throughput 0.5 --payload-monotonic",
                "    record: {size: 8 B}",
            ),
            (
                "--throughput -1 --payload-file 'my values.txt' --payload-delimiter ';'",
                "    record: {file: {path: \"my values.txt\", delimiter: \";\", order: random}}",
            ),
            (
                "--throughput -1 --record-size 9 --transaction-duration-ms 100",
                "    transaction: 100 ms",
            ),
            (
                "--throughput -1 --record-size 9 --transactional-id x",
                "      transactional.id: x",
            ),
            (
                "--throughput -1 --record-size 9 --command-property batch.size=2097152 \
                 max.request.size=4194304",
                "      batch.size: 2097152",
            ),
        ] {
            check(&scenario(&format!("{producer} {options}")), &[line]);
        }
        // LinkedIn's benchmark of 2014.
        let text = scenario(
            "bin/kafka-run-class.sh org.apache.kafka.clients.tools.ProducerPerformance test7 50000000 \
             100 -1 acks=1 bootstrap.servers=esv4-hcl198:9092 buffer.memory=67108864 batch.size=8196",
        );
        check(&text, &["    records: 50000000", "      batch.size: 8196"]);
    }

    #[test]
    fn what_is_no_such_command_is_refused() {
        for (line, words) in [
            ("", "calls none of kafka-producer-perf-test"),
            ("ls -l", "calls none of kafka-producer-perf-test"),
            ("kafka-topics --list", "cannot be translated"),
            ("kafka-e2e-latency 'a", "quotation mark"),
            (
                "kafka-producer-perf-test --topic t",
                "num-records is required",
            ),
            ("kafka-producer-perf-test --nope", "unrecognized arguments"),
            (
                "kafka-producer-perf-test --topic t --num-records 9 --record-size 9 --throughput 0",
                "do not make a scenario",
            ),
        ] {
            let error = translate_command(line).unwrap_err();
            assert!(error.contains(words), "{line}: {error}");
        }
    }
}
