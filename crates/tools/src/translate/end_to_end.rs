//! From options of `kafka-e2e-latency` to an echo flow.

use kgauge_scenario::{ProduceFlow, RecordPlan};

use super::draft::{Draft, FlowSettings};
use crate::call::ToolCall;
use crate::end_to_end::EndToEndArgs;
use crate::failure::ToolFailure;
use crate::option_tables::END_TO_END;
use crate::options;
use crate::release::ToolRelease;

/// Slow enough for each record to arrive before the next one on most clusters.
const RATE: &str = "500/s";

/// The values of an echo flow contain timestamps, which need so many bytes.
const VALUE_BYTES_MIN: usize = 48;

/// The scenario of a command's options.
pub(super) fn draft(call: &ToolCall) -> Result<Draft, ToolFailure> {
    let given = options::read(&END_TO_END, &call.arguments)?;
    let mut args = EndToEndArgs::new(&given, call, ToolRelease::NEWEST)?;
    let requested_bytes = args.value_bytes;
    args.value_bytes = requested_bytes.max(VALUE_BYTES_MIN);
    let question = format!(
        "How long do records of {} B take from producer to consumer?",
        args.value_bytes
    );
    let mut draft = Draft::new("e2e-latency", &question);
    draft.line("flows:", "");
    draft.line("  - name: echo", "");
    draft.line("    kind: echo", "");
    let why = "assumed: the tool waits for each record before it sends the next";
    draft.line(&format!("    shape: {{constant: {RATE}}}"), why);
    draft.line(&format!("    records: {}", args.records), "--num-records");
    draft.line(&format!("    record: {}", record(&args)), "--record-size");
    draft.set_servers(&args.servers);
    let settings = FlowSettings::from([
        ("acks".to_owned(), args.acks.clone()),
        ("linger.ms".to_owned(), "0".to_owned()),
    ]);
    let option = "--producer-acks; the tool sets linger.ms";
    draft.settings(&[], option, settings, &|settings| {
        let record = RecordPlan::of_values(1);
        ProduceFlow::from_properties("echo", record, None, settings).map(drop)
    })?;
    draft.finish("1 s", "");
    draft.leave_out_topic_and_file(&args.topic, args.file.as_deref());
    if requested_bytes < VALUE_BYTES_MIN {
        let option = format!("--record-size {requested_bytes}");
        draft.leave_out(&option, "values of an echo flow have at least 48 B");
    }
    if args.header_value_bytes < 0 {
        draft.leave_out("--record-header-size -1", "header values are not null");
    }
    Ok(draft)
}

fn record(args: &EndToEndArgs) -> String {
    let mut parts = vec![format!("size: {} B", args.value_bytes)];
    if args.key_bytes > 0 {
        parts.push(format!("key: {{sequence: {{size: {} B}}}}", args.key_bytes));
    }
    if args.headers > 0 {
        parts.push(format!(
            "headers: {{count: {}, key-size: {} B, value-size: {} B}}",
            args.headers,
            args.header_name_bytes,
            args.header_value_bytes.max(0)
        ));
    }
    format!("{{{}}}", parts.join(", "))
}
