//! From options of `kafka-consumer-perf-test` to a consume flow.

use kgauge_scenario::ConsumeFlow;

use super::draft::{Draft, FlowSettings};
use crate::consumer_args::{ConsumerArgs, ReadQuery, ReadTool};
use crate::failure::ToolFailure;
use crate::option_tables::CONSUMER;
use crate::options::{self, ParsedOptions};
use crate::release::ToolRelease;

/// Of a command that reads whatever there is.
const RECORDS: u64 = 1_000_000;

/// The scenario of a command's options.
pub(super) fn draft(arguments: &[String]) -> Result<Draft, ToolFailure> {
    let given = options::read(&CONSUMER, arguments)?;
    let as_of = match given.has("zookeeper") {
        true => ToolRelease::of(1, 1, 1),
        false => ToolRelease::NEWEST,
    };
    let args = ConsumerArgs::new(&given, as_of, ReadTool::Consumer)?;
    let is_counted = given.has("messages") || given.has("num-records");
    let records = if is_counted { args.records } else { RECORDS };
    let question = "How many records per second does a consumer group read?";
    let mut draft = Draft::new("consumer-perf-test", question);
    draft.line(
        &format!("  preload: {{records: {records}, record: {{size: 1 kB}}}}"),
        "--num-records; the size is assumed",
    );
    draft.line("flows:", "");
    draft.line("  - name: readers", "");
    draft.line("    kind: consume", "");
    draft.line(&format!("    consumers: {}", args.consumers), "--threads");
    draft.line("    group: true", "as the tool does");
    draft.line("    from: earliest", "");
    draft.line("    records: all", "");
    let servers = given.first_of(&["bootstrap-server", "broker-list"]);
    if let Some(servers) = servers {
        draft.set_servers(servers);
    }
    let words = given.all("command-property");
    let option = "--fetch-size, --socket-buffer-size, --command-property";
    draft.settings(words, option, settings(&given), &|settings| {
        ConsumeFlow::from_properties("readers", Some("readers"), settings).map(drop)
    })?;
    draft.finish("0 s", "");
    leave_out(&mut draft, &given, &args.query);
    Ok(draft)
}

/// The settings that have options of their own, with the tool's defaults.
fn settings(given: &ParsedOptions) -> FlowSettings {
    let setting = |key: &str, option: &str, default: &str| {
        let value = given.text(option).unwrap_or(default);
        (key.to_owned(), value.to_owned())
    };
    FlowSettings::from([
        setting("max.partition.fetch.bytes", "fetch-size", "1048576"),
        setting("receive.buffer.bytes", "socket-buffer-size", "2097152"),
    ])
}

fn leave_out(draft: &mut Draft, given: &ParsedOptions, query: &ReadQuery) {
    let file = given.first_of(&["command-config", "consumer.config"]);
    let topic = match query {
        ReadQuery::Topic(topic) | ReadQuery::Matching(topic, _) => topic,
    };
    draft.leave_out_topic_and_file(topic, file);
    if let Some(group) = given.text("group") {
        let why = "kgauge creates a group of its own and deletes it";
        draft.leave_out(&format!("--group {group}"), why);
    }
    for (option, why) in [
        (
            "from-latest",
            "the scenario reads a backlog; for new records, add a produce flow",
        ),
        (
            "zookeeper",
            "kgauge talks only to brokers: use --target HOST:PORT",
        ),
        ("timeout", "the flow ends when all records are read"),
        ("print-metrics", "every report has more than these metrics"),
        ("show-detailed-stats", "reports have a value per second"),
    ] {
        if given.has(option) {
            draft.leave_out(&format!("--{option}"), why);
        }
    }
}
