//! Runs the tool of a call.

use crate::call::ToolCall;
use crate::consumer_args::ReadTool;
use crate::context::ToolContext;
use crate::failure::{ToolFailure, ToolResult, ToolStatus};
use crate::names::KafkaTool;
use crate::{
    consumer, end_to_end, old_producer, positional, producer, topics, verifiable_consumer,
    verifiable_producer,
};

impl ToolCall {
    /// Runs the tool.
    pub fn run(&self, context: &ToolContext<'_>) -> ToolStatus {
        let (status, message) = match self.run_tool(context) {
            Ok(status) => (status, None),
            Err(ToolFailure::Answered) => (ToolStatus::Good, None),
            Err(ToolFailure::Options(mistake)) => {
                (ToolStatus::Failed, Some(self.with_usage(&mistake)))
            }
            Err(ToolFailure::Failed(message)) => (ToolStatus::Failed, Some(message)),
            Err(ToolFailure::Unsupported(what)) => {
                (ToolStatus::Unsupported, Some(format!("kgauge: {what}")))
            }
        };
        if let Some(message) = message {
            context.output.message(&message);
        }
        match context.stop.is_wanted() {
            true => ToolStatus::Interrupted,
            false => status,
        }
    }

    fn run_tool(&self, context: &ToolContext<'_>) -> ToolResult {
        match self.tool {
            KafkaTool::Producer => producer::run(self, context),
            KafkaTool::ProducerByPosition => positional::run(self, context),
            KafkaTool::OldProducer => old_producer::run(self, context),
            KafkaTool::Consumer => consumer::run(self, ReadTool::Consumer, context),
            KafkaTool::SimpleConsumer => consumer::run(self, ReadTool::SimpleConsumer, context),
            KafkaTool::EndToEnd => end_to_end::run(self, context),
            KafkaTool::Topics => topics::run(self, context),
            KafkaTool::VerifiableProducer => verifiable_producer::run(self, context),
            KafkaTool::VerifiableConsumer => verifiable_consumer::run(self, context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::{RecordedOutput, context};

    #[test]
    fn each_library_prints_mistakes_and_help_in_its_own_way() {
        let run = |line: &str| {
            let output = RecordedOutput::default();
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let call = ToolCall::find(&words).unwrap().unwrap();
            let status = call.run(&context(&output));
            let text = |lines: std::cell::RefCell<Vec<String>>| lines.into_inner().join("\n");
            (status, text(output.lines), text(output.messages))
        };
        let (status, stdout, stderr) = run("kafka-producer-perf-test --nope");
        assert_eq!((status, stdout.as_str()), (ToolStatus::Failed, ""));
        assert!(stderr.starts_with("usage: kafka-producer-perf-test [options]\n--help"));
        assert!(stderr.ends_with("error: unrecognized arguments: '--nope'"));
        let (status, stdout, _) = run("kafka-verifiable-producer --help");
        assert_eq!(status, ToolStatus::Good);
        assert!(stdout.contains("\n--repeating-keys VALUE "), "{stdout}");
        let (status, _, stderr) = run("kafka-topics --help");
        assert_eq!(status, ToolStatus::Failed);
        assert!(stderr.contains("\n--exit-zero-on-failures"), "{stderr}");
        let (status, stdout, _) = run("kafka-topics --version --as-of 2.8");
        assert_eq!((status, stdout.as_str()), (ToolStatus::Good, "2.8.0"));
    }
}
