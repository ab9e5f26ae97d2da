//! From options of `kafka-producer-perf-test` to a produce flow.

use kgauge_scenario::{ProduceFlow, RecordPlan, TransactionLength};

use super::draft::{Draft, FlowSettings, scalar};
use crate::failure::ToolFailure;
use crate::option_tables::PRODUCER;
use crate::options::{self, ParsedOptions};
use crate::producer::ProducerArgs;

const ID: &str = "transactional.id";

/// The commands of 0.8.1 and 0.8.2: `topic records size rate settings...`.
pub(super) fn draft_by_position(words: &[String]) -> Result<Draft, ToolFailure> {
    let [topic, records, bytes, rate, settings @ ..] = words else {
        return ToolFailure::options(
            "expected topic_name num_records record_size target_records_sec [prop=value]*",
        );
    };
    let mut arguments = Vec::new();
    for (name, value) in [
        ("topic", topic),
        ("num-records", records),
        ("record-size", bytes),
        ("throughput", rate),
    ] {
        arguments.push(format!("--{name}={value}"));
    }
    if !settings.is_empty() {
        arguments.push("--producer-props".to_owned());
        arguments.extend_from_slice(settings);
    }
    draft(&arguments)
}

/// The scenario of a command's options.
pub(super) fn draft(arguments: &[String]) -> Result<Draft, ToolFailure> {
    let given = options::read(&PRODUCER, arguments)?;
    let args = ProducerArgs::new(&given)?;
    let (record, what) = match (args.payload, args.value_bytes) {
        ("payload-file", _) => (file(&given), "the file's records".to_owned()),
        ("payload-monotonic", _) => ("{size: 8 B}".to_owned(), "records of 8 B".to_owned()),
        (_, bytes) => {
            let size = bytes.unwrap_or(1);
            let record = format!("{{size: {size} B, content: letters}}");
            (record, format!("records of {size} B"))
        }
    };
    let (shape, question) = match args.rate {
        None => (
            "max".to_owned(),
            format!("How many {what} per second does one producer write at full speed?"),
        ),
        Some(rate) => (
            format!("{{constant: {rate}/s}}"),
            format!("What is the latency of {what} at {rate} records per second?"),
        ),
    };
    let mut draft = Draft::new("producer-perf-test", &question);
    draft.line("flows:", "");
    draft.line("  - name: writers", "");
    draft.line("    kind: produce", "");
    draft.line(&format!("    shape: {shape}"), "--throughput");
    draft.line(&format!("    records: {}", args.records), "--num-records");
    draft.line(
        &format!("    record: {record}"),
        &format!("--{}", args.payload),
    );
    let mut settings = FlowSettings::new();
    let words = [given.all("producer-props"), given.all("command-property")].concat();
    let has_id = words.iter().any(|word| word.trim_start().starts_with(ID));
    let (id, ms) = (
        given.text("transactional-id"),
        given.text("transaction-duration-ms"),
    );
    if has_id || id.is_some() || ms.is_some() {
        // Kafka's own default since 4.0.
        let ms = given
            .number::<u64>("transaction-duration-ms", "Long")?
            .unwrap_or(3_000);
        draft.line(
            &format!("    transaction: {ms} ms"),
            "--transaction-duration-ms",
        );
        settings.extend(id.map(|id| (ID.to_owned(), id.to_owned())));
    }
    if let Some(servers) = given.text("bootstrap-server") {
        draft.set_servers(servers);
    }
    let option = match (given.has("command-property"), given.has("producer-props")) {
        (true, _) => "--command-property",
        (false, true) => "--producer-props",
        (false, false) => "--transactional-id",
    };
    draft.settings(&words, option, settings, &|settings| {
        let transaction = settings
            .contains_key(ID)
            .then_some(TransactionLength::Ns(1));
        let record = RecordPlan::of_values(1);
        ProduceFlow::from_properties("writers", record, transaction, settings).map(drop)
    })?;
    draft.finish("2 s", "the tool has none: its figures include the start");
    leave_out(&mut draft, &given, args.topic);
    Ok(draft)
}

fn leave_out(draft: &mut Draft, given: &ParsedOptions, topic: &str) {
    let file = given.first_of(&["command-config", "producer.config"]);
    draft.leave_out_topic_and_file(topic, file);
    for (option, why) in [
        ("warmup-records", "stages.warm-up takes its place"),
        ("print-metrics", "every report has more than these metrics"),
        ("reporting-interval", "reports have a value per second"),
        (
            "payload-monotonic",
            "values are random instead of increasing",
        ),
    ] {
        if given.has(option) {
            draft.leave_out(&format!("--{option}"), why);
        }
    }
}

/// The record of a payload file.
fn file(given: &ParsedOptions) -> String {
    let path = scalar(given.text("payload-file").unwrap_or_default());
    let delimiter = match given.text("payload-delimiter").unwrap_or("\\n") {
        "\\n" => "\n",
        "\\t" => "\t",
        other => other,
    };
    let delimiter = serde_json::Value::from(delimiter);
    format!("{{file: {{path: {path}, delimiter: {delimiter}, order: random}}}}")
}
