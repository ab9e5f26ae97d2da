//! Runs Kafka's own tools with the streams, signals and environment of this process.

use kgauge_report::printable;
use kgauge_tools::{ToolCall, ToolContext, ToolOutput, ToolStatus, ToolStop};

use crate::exit::ExitStatus;
use crate::interrupt;
use crate::print;
use kgauge_runner::fresh_number;

/// The streams of this process.
struct ProcessOutput;

impl ToolOutput for ProcessOutput {
    fn line(&self, text: &str) {
        print::line(&printable(text));
    }

    fn unchanged_line(&self, text: &str) {
        print::line(text);
    }

    fn message(&self, text: &str) {
        print::message(text);
    }

    fn is_open(&self) -> bool {
        print::is_open()
    }
}

/// Runs a tool, or reports why there is none.
pub(crate) fn run(call: Result<ToolCall, String>) -> ExitStatus {
    let stopping = interrupt::listen("stopping (press Ctrl-C again to stop at once)");
    let (call, stopping) = match (call, stopping) {
        (Ok(call), Ok(stopping)) => (call, stopping),
        (Err(message), _) => {
            print::message(&message);
            return ExitStatus::Failed;
        }
        (Ok(_), Err(error)) => {
            print::remark(&format!("{error:#}"));
            return ExitStatus::Failed;
        }
    };
    let context = ToolContext {
        output: &ProcessOutput,
        stop: ToolStop::new(stopping.load, stopping.all),
        release: std::env::var("KGAUGE_AS_OF").ok(),
        servers: std::env::var("KGAUGE_BOOTSTRAP_SERVERS").ok(),
        seed: fresh_number(),
    };
    match call.run(&context) {
        ToolStatus::Good => ExitStatus::Good,
        ToolStatus::Failed => ExitStatus::Failed,
        ToolStatus::Unsupported => ExitStatus::BadInput,
        ToolStatus::Interrupted => ExitStatus::Interrupted,
    }
}
